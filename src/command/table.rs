//! Tables of figures for reports, in each form of `--format`.

use crate::cli::TableFormat;
use serde::Serialize;

/// What was measured, and where: the first fields of a table in JSON.
#[derive(Serialize)]
pub struct Measurement {
    pub polyfly: &'static str,
    pub processor: Option<String>,
    pub scene: String,
    pub width: u32,
    pub height: u32,
}

/// A column: its heading, its name in CSV, and the text of its cells.
pub struct Column<Row> {
    pub heading: &'static str,
    pub key: &'static str,
    pub cell: fn(&Row) -> String,
    /// Whether its cells are words, which are aligned to the left.
    pub is_words: bool,
}

pub const fn words<Row>(heading: &'static str, key: &'static str, cell: fn(&Row) -> String) -> Column<Row> {
    Column { heading, key, cell, is_words: true }
}

pub const fn numbers<Row>(heading: &'static str, key: &'static str, cell: fn(&Row) -> String) -> Column<Row> {
    Column { heading, key, cell, is_words: false }
}

/// Writes rows under a caption. `whole` is the object for JSON.
pub fn written<Row>(
    caption: &str,
    columns: &[Column<Row>],
    rows: &[Row],
    whole: &impl Serialize,
    format: TableFormat,
) -> String {
    let cells = || rows.iter().map(|row| columns.iter().map(|column| (column.cell)(row)).collect::<Vec<_>>());
    let heads = |between: &str| columns.iter().map(|column| column.heading).collect::<Vec<_>>().join(between);
    let align = |words, numbers| columns.iter().map(|c| if c.is_words { words } else { numbers }).collect::<String>();
    match format {
        TableFormat::Md => {
            let line = |cells: Vec<String>| {
                let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
                format!("| {} |\n", escaped.join(" | "))
            };
            let lines: String = cells().map(line).collect();
            format!("{caption}\n\n| {} |\n|{}\n{lines}", heads(" | "), align("---|", "---:|"))
        }
        TableFormat::Latex => {
            let line = |cells: Vec<String>| {
                format!("{} \\\\\n", cells.iter().map(|cell| in_latex(cell)).collect::<Vec<_>>().join(" & "))
            };
            format!(
                "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\
                 \\midrule\n{}\\bottomrule\n\\end{{tabular}}\n\\caption{{{}}}\n\\end{{table}}\n",
                align("l", "r"),
                heads(" & "),
                cells().map(line).collect::<String>(),
                in_latex(caption)
            )
        }
        TableFormat::Csv => {
            let mut writer = csv::Writer::from_writer(Vec::new());
            let keys = columns.iter().map(|column| column.key.to_owned()).collect();
            // Writing to memory cannot fail.
            std::iter::once(keys).chain(cells()).for_each(|cells: Vec<String>| drop(writer.write_record(cells)));
            String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
        }
        TableFormat::Json => serde_json::to_string_pretty(whole).unwrap_or_default() + "\n",
    }
}

fn in_latex(text: &str) -> String {
    let escaped = |c: char| match c {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
        '~' => "\\textasciitilde{}".into(),
        '^' => "\\textasciicircum{}".into(),
        '\\' => "\\textbackslash{}".into(),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

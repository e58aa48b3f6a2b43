//! `polyfly particles info`: what files of particles hold.

use super::particle_files::Series;
use crate::assets::AssetError;
use crate::assets::particles::{Cell, Step, Wanted};
use crate::cli::{Failure, InfoArgs};
use crate::language::{count, msg};
use crate::output::OutputError;
use crate::report::print;
use crate::threads::shared_pool;
use serde_json::{Value, json};
use std::path::Path;

// A file's format, how many steps it has, and the first and the last of them.
struct Content {
    format: &'static str,
    steps: usize,
    first: Step,
    // Without columns.
    last: Step,
}

pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    let pool = shared_pool().map_err(OutputError::from)?;
    let read = |path: &Path| -> Result<Content, AssetError> {
        pool.install(|| {
            let series = Series::find(path)?;
            let last = series.read(series.count().saturating_sub(1), &Wanted::only([]))?;
            let first = series.read(0, &Wanted::all())?;
            Ok(Content { format: series.format, steps: series.count(), first, last })
        })
    };
    if args.json {
        let all =
            args.files.iter().map(|path| Ok(record(path, &read(path)?))).collect::<Result<Vec<_>, AssetError>>()?;
        return Ok(print(&(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"))?);
    }
    args.files.iter().try_for_each(|path| Ok(print(&text(path, &read(path)?))?))
}

// Minimum and maximum of the finite values, and how many are no numbers.
fn ends(values: impl Iterator<Item = f64>) -> (Option<[f64; 2]>, usize) {
    let (mut ends, mut unknown): (Option<[f64; 2]>, usize) = (None, 0);
    for x in values {
        match ends {
            _ if x.is_nan() => unknown += 1,
            _ if x.is_infinite() => {}
            None => ends = Some([x, x]),
            Some([low, high]) => ends = Some([x.min(low), x.max(high)]),
        }
    }
    (ends, unknown)
}

// Positions, radii and columns by name, with their ranges.
fn ranges(step: &Step) -> Vec<(String, Option<[f64; 2]>, usize)> {
    let axis = |(at, name): (usize, &str)| (name.to_owned(), ends(step.positions.iter().map(|p| p[at])));
    let own = ["x", "y", "z"].into_iter().enumerate().filter(|_| !step.positions.is_empty()).map(axis);
    let radii = (!step.radii.is_empty()).then(|| ("radius".to_owned(), ends(step.radii.iter().copied())));
    let columns = step.columns.iter().map(|column| (column.name.clone(), ends(column.values.iter().copied())));
    own.chain(radii).chain(columns).map(|(name, (ends, unknown))| (name, ends, unknown)).collect()
}

fn record(path: &Path, content: &Content) -> Value {
    let Content { format, steps, first, last } = content;
    let columns = ranges(first)
        .into_iter()
        .map(|(name, range, unknown)| json!({ "name": name, "range": range, "not_numbers": unknown }));
    let cell = |cell: Cell| json!({ "origin": cell.origin, "vectors": cell.vectors, "periodic": cell.periodic });
    json!({
        "file": path.display().to_string(),
        "format": format,
        "steps": steps,
        "times": [first.time, last.time],
        "numbers": [first.number, last.number],
        "particles": first.count(),
        "box": first.cell.map(cell),
        "columns": columns.collect::<Vec<_>>(),
        "names": first.names,
    })
}

fn text(path: &Path, content: &Content) -> String {
    let Content { format, steps, first, last } = content;
    let mut lines = vec![format!(
        "{}: {format}, {}, {}",
        path.display(),
        count!(*steps, "step", "steps"),
        count!(first.count(), "particle", "particles")
    )];
    let span = |a: String, b: String| if a == b { a } else { format!("{a} to {b}") };
    if let (Some(a), Some(b)) = (first.time, last.time) {
        lines.push(msg!("  time {span}", span = span(a.to_string(), b.to_string())).to_string());
    }
    if let (Some(a), Some(b)) = (first.number, last.number) {
        lines.push(msg!("  time step {span}", span = span(a.to_string(), b.to_string())).to_string());
    }
    if let Some(cell) = first.cell {
        let list = |v: [f64; 3]| v.map(|x| x.to_string()).join(" ");
        let [a, b, c] = cell.vectors.map(list);
        let edges = format!("{a}, {b}, {c}");
        lines.push(msg!("  box from {origin} along {edges}", origin = list(cell.origin), edges).to_string());
    }
    let all = ranges(first);
    let width = all.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    for (name, range, unknown) in &all {
        let range = range.map_or_else(|| "-".to_owned(), |[low, high]| span(low.to_string(), high.to_string()));
        let unknown = match unknown {
            0 => String::new(),
            _ => msg!(" ({count} are no numbers)", count = unknown).to_string(),
        };
        lines.push(format!("  {name:width$}  {range}{unknown}"));
    }
    let read: Vec<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
    let words: Vec<&str> = first.names.iter().map(String::as_str).filter(|name| !read.contains(name)).collect();
    if !words.is_empty() {
        lines.push(msg!("  all columns: {list}", list = first.names.join(", ")).to_string());
    }
    lines.join("\n") + "\n"
}

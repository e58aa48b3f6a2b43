//! The gallery: each sample's picture with its text.

use crate::scene::builtin::{Builtin, SAMPLES};

const HEAD: &str = "# Gallery

The samples: each is one text, and runs wherever it is copied. `polyfly scenes copy cube` writes one into the working folder,
`polyfly cube.toml --draft --video cube.mp4` makes a first film of it. This page is made of `scenes/` by `scripts/generate`, the pictures by
`scripts/stills`.
";
// A longer text is cut.
const MAX_LINES: usize = 140;

/// The page, in Markdown.
pub fn page() -> String {
    HEAD.to_owned() + &SAMPLES.iter().map(sample).collect::<String>()
}

fn sample(sample: &Builtin) -> String {
    let (name, file, about) = (sample.name(), sample.file, sample.about());
    let kind = if file.ends_with(".toml") { "toml" } else { "text" };
    let lines: Vec<&str> = sample.text().lines().collect();
    let shown = lines[..lines.len().min(MAX_LINES)].join("\n");
    let rest = match lines.len().saturating_sub(MAX_LINES) {
        0 => String::new(),
        rest => format!("\n{rest} more lines: `polyfly scenes show {name}` prints them all.\n"),
    };
    format!(
        "\n## {name}\n\n{about}\n\n<div class=\"sample\">\n\n![{name}]({name}.webp)\n\n<details>\n<summary>{file}</summary>\n\n\
         ```{kind}\n{shown}\n```\n{rest}\n</details>\n</div>\n"
    )
}

//! The gallery: each sample's picture with its text.

use crate::scene::builtin::{Builtin, SAMPLES};

const HEAD: &str = "# Gallery

The samples: each is one text, and runs wherever it is copied. `polyfly scenes copy cube` writes one into the working folder,
`polyfly cube.toml --draft --video cube.mp4` makes a first film of it. This page is made of `scenes/`, the pictures by `scripts/pictures stills`.
";
// Scenes that other programs or measurements ask for, not their pictures. They come last.
const LAST: [&str; 4] = ["cse260", "solids", "weekend", "weekend-final"];
// A longer text is cut.
const MAX_LINES: usize = 140;

pub fn page() -> String {
    let (last, first): (Vec<_>, Vec<_>) = SAMPLES.iter().partition(|one| LAST.contains(&one.name()));
    HEAD.to_owned() + &first.into_iter().chain(last).map(sample).collect::<String>()
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
        "\n## {name}\n\n{about}\n\n<div class=\"sample\">\n\n![{name}](docs/{name}.webp)\n\n<details>\n<summary>{file}</summary>\n\n\
         ```{kind}\n{shown}\n```\n{rest}\n</details>\n</div>\n"
    )
}

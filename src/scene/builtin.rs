//! The scenes that are inside the program: the samples of `scenes/`, and the templates that new scenes begin with.

use crate::scene::{Grammar, Look, ParseOptions, Scene};

/// A scene that is inside the program.
pub struct Builtin {
    /// Its file's name.
    pub file: &'static str,
    source: &'static str,
    // What it shows, where its text cannot say so: tokens have no comments.
    about: &'static str,
}

macro_rules! scenes {
    ($folder:literal: $($file:literal $($about:literal)?,)*) => {
        &[$(Builtin {
            file: $file,
            source: include_str!(concat!("../../", $folder, "/", $file)),
            about: concat!($($about)?),
        },)*]
    };
}

/// The samples: all scenes of `scenes/`.
pub const SAMPLES: &[Builtin] = scenes! { "scenes":
    "caustics.toml",
    "chess.toml",
    "clay.toml",
    "coursework.txt" "The coursework's scene in its tokens: three mirrored bodies with lamps on a chessboard.",
    "crystal.toml",
    "cse260.toml",
    "cube.toml",
    "default.txt" "The scene of `polyfly --default`: mirrors, lamps and glass, in the coursework's tokens.",
    "gallery.toml",
    "garland.toml",
    "glass.toml",
    "hall.toml",
    "heap.toml",
    "hero.toml",
    "infinity.toml",
    "inside.toml",
    "jewels.toml",
    "lagoon.toml",
    "lamps.toml",
    "last-light.toml",
    "metals.toml",
    "mist.toml",
    "neon.toml",
    "pebbles.toml",
    "poured.toml",
    "prism.toml",
    "solids.toml",
    "stage.toml",
    "table.toml",
    "walk.toml",
    "weekend-final.toml",
    "weekend.toml",
};

/// The templates of `polyfly new`; the first is the default.
pub const TEMPLATES: &[Builtin] = scenes! { "scenes/templates":
    "infinity.toml",
    "jewel.toml",
    "sea.toml",
    "particles.toml",
    "path.toml",
    "thaw.toml",
    "coursework.toml",
};

// Files that these scenes read.
const FILES: [(&str, &[u8]); 2] = [
    ("heap.csv", include_bytes!("../../scenes/heap.csv")),
    ("poured.xyz.xz", include_bytes!("../../scenes/poured.xyz.xz")),
];

impl Builtin {
    /// Its file's name without the ending.
    pub fn name(&self) -> &'static str {
        self.file.split_once('.').map_or(self.file, |(name, _)| name)
    }
    /// Its text. The editors' link to the schema is left out, because that lies beside the samples only.
    pub fn text(&self) -> &'static str {
        match self.source.split_once('\n') {
            Some((first, rest)) if first.starts_with("#:schema") => rest,
            _ => self.source,
        }
    }
    /// What it shows: the first sentence of its first comment.
    pub fn about(&self) -> String {
        let comment = self.text().lines().map_while(|line| line.strip_prefix("# "));
        let comment = comment.collect::<Vec<_>>().join(" ") + self.about;
        comment.split_once(". ").map_or(comment.clone(), |(first, _)| format!("{first}."))
    }
    /// The files that it reads: their names and contents.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &'static [u8])> {
        FILES.into_iter().filter(|(name, _)| self.source.contains(&format!("\"{name}\"")))
    }
}

pub(crate) fn named<'a>(scenes: &'a [Builtin], name: &str) -> Option<&'a Builtin> {
    scenes.iter().find(|scene| scene.name() == name)
}

/// The sample scene in the coursework's tokens: lamps, mirrors, glass and a floor.
pub(crate) const DEFAULT_TOKENS: &str = include_str!("../../scenes/default.txt");

impl Scene {
    /// The sample scene that `polyfly --default` prints.
    pub fn sample() -> Scene {
        sample_in(None)
    }
}

/// The sample scene in this grammar; in TOML in this look, of which tokens say nothing.
pub(crate) fn default_scene(grammar: Grammar, look: Option<Look>) -> String {
    match grammar {
        Grammar::Tokens => DEFAULT_TOKENS.to_owned(),
        Grammar::Toml => sample_in(look).to_toml(),
    }
}

// The sample scene in a look. A test parses it, so the default is never used.
fn sample_in(look: Option<Look>) -> Scene {
    let options = ParseOptions { look, ..ParseOptions::default() };
    crate::scene::parse(DEFAULT_TOKENS, "default.txt", options).map(|p| p.scene).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    // Scenes in a folder of the repository.
    fn in_folder(folder: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".toml") || name.ends_with(".txt")).collect()
    }

    #[test]
    fn every_scene_of_the_repository_is_inside_the_program() {
        for (folder, scenes) in [("scenes", SAMPLES), ("scenes/templates", TEMPLATES)] {
            let names: BTreeSet<String> = scenes.iter().map(|scene| scene.file.to_owned()).collect();
            assert_eq!(names, in_folder(folder));
        }
    }

    #[test]
    fn every_scene_tells_what_it_shows_in_one_sentence() {
        for scene in SAMPLES.iter().chain(TEMPLATES) {
            let about = scene.about();
            assert!(about.ends_with('.') && (20..170).contains(&about.len()), "{}: {about}", scene.file);
            assert!(!scene.text().starts_with("#:schema"), "{}", scene.file);
        }
    }

    #[test]
    fn templates_are_whole_and_plain() {
        for template in TEMPLATES {
            let parsed = crate::scene::parse(template.text(), template.file, ParseOptions::default());
            let parsed = parsed.unwrap_or_else(|e| panic!("{}: {e}", template.file));
            assert!(parsed.warnings.is_empty(), "{}", template.file);
            // A file that the scene names is written too.
            let (mut scene, mut files) = (parsed.scene, Vec::new());
            scene.visit_files(|key, path| files.push(format!("{key}: {}", path.display())));
            assert!(files.is_empty(), "{}: {files:?}", template.file);
            if let Some(particles) = scene.world.particles {
                assert_eq!(template.files().next().map(|(name, _)| Path::new(name)), Some(&*particles.path));
            }
            let comments = template.text().matches('#').count();
            assert!(comments > 10 && template.text().lines().count() < 110, "{}: {comments} comments", template.file);
        }
    }
}

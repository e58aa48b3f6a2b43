//! Suggestions for unknown names: the nearest spelling, the new place of a flag that is gone, and names of other programs.

use crate::language::{Message, msg};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind<'a> {
    /// A command of the program.
    Command,
    /// A flag, without its dashes.
    Flag,
    /// A table of a scene, or a key of one.
    Key,
    /// A value of this key.
    Value(&'a str),
}

// The kinds, the names, and the suggestion.
type Row = (&'static str, &'static str, &'static str);

// Flags that the program had.
const OLD_FLAGS: &[Row] = &[
    (
        "flag",
        "segment|encoders|encoder-threads|encoder-timeout|video-memory",
        "the encoders' settings are fixed: segments of 60 frames, as many encoders as the cores and the memory allow",
    ),
    ("flag", "limit-file|limit-picture|limit-triangles", "did you mean `--limit-memory`?"),
    ("flag", "split", "devices share whole frames, or each frame where there are few"),
    ("flag", "shard-mode", "`--frames 0-lastx4` takes every fourth frame"),
    ("flag", "quality", "did you mean `--draft`, or `--final`?"),
    ("flag", "preset", "`--encode small` makes a smaller film, `--encode fast` a larger one, faster"),
    ("flag", "show-ffmpeg", "`--dry-run` prints ffmpeg's command line"),
];

// Names of other programs: at most 40 rows. Where a table or the help lists what there is, a name needs no row.
const OTHER_NAMES: &[Row] = &[
    ("command", "render|run|make|draw", "just run `polyfly SCENE`"),
    ("command", "init|create|template|templates", "`polyfly new my.toml` writes a scene to begin with"),
    ("command", "example|examples|sample|samples|list|demo", "`polyfly scenes` lists the sample scenes"),
    (
        "command",
        "view|show|open|gui|edit|serve",
        "`polyfly studio SCENE` shows a scene in the browser, `polyfly preview SCENE` a frame in the terminal",
    ),
    ("command", "validate|lint|inspect", "did you mean `polyfly check`?"),
    ("command", "encode|join", "did you mean `polyfly stitch`?"),
    ("command", "diff|cmp|psnr|ssim", "did you mean `polyfly compare`?"),
    (
        "flag|key",
        "resolution|res|width|height|s|w|h",
        "did you mean `size`? A picture has `--size 1280x720`, or `size = [1280, 720]` in [output]",
    ),
    (
        "flag|key",
        "spp|samples-per-pixel|samples_per_pixel|aa",
        "`--samples 8` takes 8 x 8 = 64 of each pixel; the key is `samples` in [render]",
    ),
    ("flag|key", "bounces|max-depth|max_depth|max_bounces", "did you mean `depth`?"),
    ("flag|key", "seed|random_seed", "there is no seed: a scene has the same bytes in each run"),
    ("flag|key", "duration|length|seconds|time", "a clip lasts `frames` / `fps` seconds: `--set output.frames=120`"),
    (
        "flag|key",
        "background|bg|environment|world",
        "the background is the sky: `--set sky.horizon=white`, or `horizon` and `zenith` in [sky]",
    ),
    ("flag|key", "engine|renderer", "did you mean `integrator` in [render]?"),
    ("flag|key", "fov|fovy|focal_length|angle_of_view", "did you mean `fov_deg` in [camera]?"),
    ("flag|key", "alpha|opacity", "did you mean `transparency` of a material, or `transparent` in [sky]?"),
    ("flag|key", "sound|music|soundtrack", "did you mean `--audio music.mp3`?"),
    (
        "flag|key",
        "beat|beats|bpm|tempo",
        "a beat is a value over time: `lamp_intensity = {{ bpm = 120, from = 1, to = 9 }}`",
    ),
    ("flag", "j|t|jobs|cores|workers|nproc", "did you mean `--threads`?"),
    ("flag", "v|verbose|debug|json|loglevel", "`--log jsonl` logs everything; there is no other way to say more"),
    (
        "flag",
        "f|frame|range|start|end|n|e|still|image|png",
        "did you mean `--frames 0-99`, or `--frames 0 -o look.png` for a picture?",
    ),
    ("flag", "film|movie|mp4|gif|webm", "did you mean `--video film.mp4`?"),
    ("flag", "c|c:v|vcodec|encoder|b:v|bitrate", "films take `--codec h264`, `--crf 18` and `--encode small`"),
    (
        "flag",
        "device|cuda|nvidia|optix|gpus|no-gpu",
        "did you mean `--cpu` or `--gpu`, or `--devices 0,1` for several?",
    ),
    ("flag", "force|y|yes", "did you mean `--overwrite`?"),
    ("flag", "preview|fast|quick", "did you mean `--draft`?"),
    ("flag", "framerate|r", "did you mean `--fps`?"),
    ("flag", "out|dir|folder|format|d", "`-o FOLDER/%04d.png` names the folder and the format"),
    ("flag", "scene|input|i|file", "just run `polyfly SCENE`"),
    (
        "flag",
        "vf|filter|crop|region",
        "pictures are rendered whole, in their `--size`; `ffmpeg -i film.mp4 -vf FILTER out.mp4` filters a film",
    ),
    (
        "key",
        "intensity|brightness|power|energy",
        "the brightness of a light is its `color`, which may be above 1; of `material = \"light\"` it is `strength`",
    ),
    ("key", "box|cube|polyhedron|object|shape", "did you mean `[[body]]`? Its `solid` says which"),
    ("key", "rotation|rotate|orientation", "did you mean `axis` and `angle_deg`? `turns` counts turns over the clip"),
    (
        "key",
        "codec|crf|preset|threads|device|gpu|cpu",
        "encoders and machines are chosen by flags: `--codec`, `--crf`, `--threads`, `--gpu`, `--cpu`",
    ),
    ("key", "aperture|f_stop|focus_distance|dof", "did you mean `lens`, its radius, or `focus`, its distance?"),
    (
        "key",
        "albedo|base_color|diffuse|metallic|shininess|specular|gloss|mirror",
        "surfaces have a `color`, a `material`, a `roughness` and a `reflection`",
    ),
    ("key", "refraction|refractive_index", "did you mean `ior`?"),
    ("solid", "sphere|ball|plane|quad|mesh", "this is a table: `[[sphere]]`, `[[rectangle]]` or `[[mesh]]`"),
    ("material", "mirror|mirrored", "did you mean `metal`? A plain material mirrors its `reflection`"),
    ("color", "amber|honey", "no color has this name; near it are \"gold\" and \"orange\""),
];

/// All suggestions, which are patterns of messages.
#[cfg(test)]
pub fn advice() -> impl Iterator<Item = &'static str> {
    OLD_FLAGS.iter().chain(OTHER_NAMES).map(|(.., advice)| *advice)
}

/// The suggestion for a name of another program, or for a flag that is gone.
pub fn other_name(kind: NameKind, found: &str) -> Option<Message> {
    let kind = match kind {
        NameKind::Command => "command",
        NameKind::Flag => "flag",
        NameKind::Key => "key",
        NameKind::Value(key) => key,
    };
    let has = |list: &str, name: &str| list.split('|').any(|one| one.eq_ignore_ascii_case(name));
    let mut rows = OLD_FLAGS.iter().chain(OTHER_NAMES);
    let (.., english) = rows.find(|(kinds, names, _)| has(kinds, kind) && has(names, found))?;
    Some(Message::of_pattern(english, Vec::new()))
}

/// The most similar name, if it is similar enough.
pub fn nearest<'a>(found: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = |name: &&str| match name.starts_with(found) && found.len() > 2 {
        true => 0,
        false => strsim::damerau_levenshtein(found, name),
    };
    // At most a third of the characters may differ.
    known.min_by_key(far).filter(|name| 3 * far(name) <= found.chars().count().max(3) + 1)
}

/// The suggestion for an unknown name: by other programs' names, else the most similar known one.
pub fn meant<'a>(kind: NameKind, found: &str, known: impl Iterator<Item = &'a str>) -> Option<Message> {
    let near = || Some(msg!("did you mean `{name}`?", name = nearest(found, known)?));
    other_name(kind, found).or_else(near)
}

/// Dashes, as keyboards and word processors write them.
pub const DASHES: [char; 6] = ['-', '\u{2010}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];

// Letters of both alphabets that look like signs of a number, and these signs; other commas and dashes.
const LOOK_ALIKES: &str =
    "O0 o0 l1 I1 О0 о0 З3 з3 Ч4 ч4 б6 В8 І1 і1 Ӏ1 Еe еe Хx хx ,. \u{2010}- \u{2012}- \u{2013}- \u{2014}- \u{2212}-";

/// The suggestion for a number but for signs that look like those of a number: `3,9`, `1О` with a Cyrillic letter, a dash.
pub fn number_help(text: &str) -> Option<Message> {
    let pairs = || LOOK_ALIKES.split(' ').filter_map(|pair| Some((pair.chars().next()?, pair.chars().nth(1)?)));
    let sign = |letter: char| pairs().find(|(other, _)| *other == letter).map(|(_, sign)| sign);
    let letter = text.chars().find(|&letter| sign(letter).is_some())?;
    let number: String =
        text.trim().trim_end_matches(',').chars().map(|letter| sign(letter).unwrap_or(letter)).collect();
    number.parse::<f64>().ok().filter(|x| x.is_finite())?;
    let code = format_args!("{:04X}", u32::from(letter)).to_string();
    Some(msg!("`{letter}` (U+{code}) does not belong in a number: did you mean {number}?", letter, code, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_few_rows_and_each_name_has_one() {
        assert!(OTHER_NAMES.len() <= 40, "{}", OTHER_NAMES.len());
        let mut names: Vec<(&str, &str)> = OLD_FLAGS
            .iter()
            .chain(OTHER_NAMES)
            .flat_map(|(kinds, names, _)| {
                kinds.split('|').flat_map(|kind| names.split('|').map(move |name| (kind, name)))
            })
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn other_names_are_told_apart_by_what_they_name() {
        let said = |kind, name| other_name(kind, name).map(|advice| advice.to_string()).unwrap_or_default();
        assert!(said(NameKind::Value("solid"), "Sphere").contains("[[sphere]]"));
        assert_eq!(said(NameKind::Value("material"), "sphere"), "");
        assert!(said(NameKind::Flag, "j").contains("--threads") && said(NameKind::Key, "j").is_empty());
        assert_eq!(
            meant(NameKind::Key, "raduis", ["radius", "axis"].into_iter()),
            Some(msg!("did you mean `{name}`?", name = "radius"))
        );
        assert_eq!(meant(NameKind::Key, "xyzzy", ["radius", "axis"].into_iter()), None);
    }

    #[test]
    fn signs_that_look_like_those_of_a_number_are_named() {
        for (text, letter, number) in [
            ("3,9", "`,` (U+002C)", "3.9"),
            ("3.9,", "`,` (U+002C)", "3.9"),
            ("\u{2212}2", "`\u{2212}` (U+2212)", "-2"),
            ("1О", "`О` (U+041E)", "10"),
            ("1.5е-3", "`е` (U+0435)", "1.5e-3"),
            ("O.9", "`O` (U+004F)", "0.9"),
        ] {
            let expected = format!("{letter} does not belong in a number: did you mean {number}?");
            assert_eq!(number_help(text).map(|help| help.to_string()), Some(expected));
        }
        assert!(
            ["3.9", "1920x", "5 apples", "wide", "", "1,2,3", "хорошо"].iter().all(|text| number_help(text).is_none())
        );
    }
}

//! Suggestions for unknown names: one table of other programs' names for flags, commands, tables, keys and values;
//! and the nearest spelling.

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind<'a> {
    /// A command of the program.
    Job,
    /// A flag, with its dashes.
    Flag,
    /// A table of a scene, or a key of one.
    Key,
    /// A value of this key or flag.
    Value(&'a str),
}

// Names in other programs: the kind, the names, and the suggestion.
const OTHER_NAMES: &[(&str, &str, &str)] = &[
    ("job", "render|run|make|draw", "rendering needs no word of its own: `polyfly SCENE`"),
    ("job", "init|create|template|templates", "`polyfly new my.toml` writes a scene to begin with"),
    ("job", "example|examples|sample|samples|list|demo", "`polyfly scenes` lists the sample scenes"),
    ("job", "help", "`polyfly --help` lists jobs and flags"),
    ("job", "version", "`polyfly --version` prints the version"),
    ("job", "view|show|open|display", "`polyfly preview SCENE` shows a frame in the terminal"),
    ("job", "gui|edit|serve|ui", "`polyfly studio SCENE` shows a scene while its file is edited"),
    ("job", "validate|lint|inspect", "`polyfly check SCENE` tells what a scene holds and what is wrong with it"),
    ("job", "resume|continue", "`polyfly SCENE --resume` renders what is missing"),
    ("job", "encode|video|join", "`polyfly stitch FOLDER -o film.mp4` makes a film of frames"),
    ("job", "diff|cmp|psnr|ssim|flip", "`polyfly compare A B` compares pictures, folders of frames and films"),
    ("job", "benchmark|perf", "`polyfly bench` measures this machine"),
    ("flag", "--resolution|--res|--width|--height|-s", "did you mean `--size 1280x720`?"),
    ("flag", "-j|--jobs|-t|--cores|--workers", "did you mean `--threads`?"),
    ("flag", "-v|--verbose|--debug", "`--log jsonl` logs everything; there is no other way to say more"),
    ("flag", "-V", "did you mean `--version`?"),
    ("flag", "-f|--frame|--range|--start|--end", "did you mean `--frames 0-99`?"),
    (
        "flag",
        "--audio|--sound|--music",
        "films have no sound; `ffmpeg -i film.mp4 -i music.mp3 -c:v copy -shortest out.mp4` adds it",
    ),
    ("flag", "--spp|--samples-per-pixel|--aa", "did you mean `--samples`?"),
    ("flag", "--bounces|--max-depth", "did you mean `--depth`?"),
    ("flag", "--cuda|--nvidia", "did you mean `--gpu`?"),
    ("flag", "--force|-y|--yes", "did you mean `--overwrite`?"),
    ("flag", "--continue", "did you mean `--resume`?"),
    ("flag", "--preview|--fast", "did you mean `--draft`?"),
    ("flag", "--framerate|--frame-rate|-r", "did you mean `--fps`?"),
    ("flag", "--out|--outfile", "did you mean `--output`?"),
    ("flag", "--scene|--input|-i", "the scene needs no flag: `polyfly SCENE`"),
    ("flag", "--format", "the ending of `-o` is the format: `-o frame%04d.png`"),
    ("flag", "--alpha|--transparent", "`transparent = true` in [sky] makes pictures with alpha"),
    ("key", "box|cube|polyhedron|object|shape", "did you mean `[[body]]`? Its `solid` says which"),
    ("key", "ball", "did you mean `[[sphere]]`?"),
    ("key", "plane|ground", "did you mean `[floor]`?"),
    ("key", "quad|panel", "did you mean `[[rectangle]]`?"),
    ("key", "lamp|point_light", "did you mean `[[light]]`?"),
    ("key", "background|environment|world", "did you mean `[sky]`? Its colors are `zenith` and `horizon`"),
    (
        "key",
        "rotation|rotate|orientation|angle",
        "did you mean `axis` and `angle_deg`? `turns` says how often a body turns over the clip",
    ),
    ("key", "resolution|width|height", "did you mean `size = [1280, 720]` in [output]?"),
    ("key", "pos|location|origin|translate", "did you mean `center`, or of cameras and lights `position`?"),
    ("key", "spp|samples_per_pixel", "did you mean `samples`?"),
    ("key", "max_depth|bounces|max_bounces", "did you mean `depth`?"),
    ("key", "diameter", "did you mean `radius`? It is half of the diameter"),
    (
        "key",
        "brightness|power|energy|emission",
        "the brightness of a light is its `color`, which may be above 1: `color = [3, 3, 3]`",
    ),
    ("key", "refraction|refractive_index|index_of_refraction", "did you mean `ior`?"),
    ("key", "shininess|specular|gloss|glossiness", "did you mean `roughness`, or `highlight`?"),
    ("key", "alpha|opacity", "did you mean `transparency`?"),
    ("key", "mirror|reflectivity|reflectance", "did you mean `reflection`?"),
    ("key", "type|kind", "did you mean `solid`, or `material`?"),
    ("key", "lookat|look|aim", "did you mean `look_at`?"),
    ("key", "duration|length|seconds", "did you mean `frames`? A clip lasts `frames` / `fps` seconds"),
    ("solid", "sphere|ball", "a ball is a table of its own: `[[sphere]]`"),
    ("solid", "plane|rectangle|quad", "a rectangle is a table of its own: `[[rectangle]]`"),
    ("solid", "mesh|obj|ply", "a mesh is a table of its own: `[[mesh]]`"),
    ("solid", "box", "did you mean `cube`?"),
    ("solid", "pyramid", "did you mean `tetrahedron`?"),
    ("material", "mirror|mirrored|specular", "did you mean `metal`? A plain material mirrors its `reflection`"),
    ("material", "chrome|steel", "did you mean `chromium`?"),
    ("material", "aluminum", "did you mean `aluminium`?"),
    ("material", "emissive|emission|emitter|glow", "did you mean `light`?"),
    ("material", "lambert|lambertian|matte", "did you mean `diffuse`?"),
    ("material", "dielectric|crystal|water", "did you mean `glass`? Its `ior` says which"),
    ("material", "diamond", "did you mean `glass`, with `ior = 2.42` and `abbe = 55`?"),
    ("tone", "aces|hable|reinhard", "did you mean `filmic`?"),
    ("tone", "linear|none|srgb", "did you mean `clip`?"),
    ("integrator", "pathtracer|path tracing|pt|global", "did you mean `path`?"),
    ("integrator", "ray|raytracing|raytracer|rt", "did you mean `whitted`?"),
    ("--quality", "low|preview|fast", "did you mean `draft`?"),
    ("--quality", "high|best|ultra", "did you mean `final`?"),
];

/// The suggestion for another program's name, in any case.
pub fn other_name(kind: NameKind, found: &str) -> Option<&'static str> {
    let kind = match kind {
        NameKind::Job => "job",
        NameKind::Flag => "flag",
        NameKind::Key => "key",
        NameKind::Value(key) => key,
    };
    let is_it = |name: &str| if name.len() > 2 { name.eq_ignore_ascii_case(found) } else { name == found };
    let row = OTHER_NAMES.iter().find(|(of, names, _)| *of == kind && names.split('|').any(is_it));
    row.map(|(.., advice)| *advice)
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
pub fn meant<'a>(kind: NameKind, found: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let near = || Some(format!("did you mean `{}`?", nearest(found, known)?));
    other_name(kind, found).map(str::to_owned).or_else(near)
}

/// The suggestion for a number in another notation.
pub fn number_help(text: &str) -> Option<String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    if let Some(x) = number(&text.replacen(',', ".", 1)).filter(|_| text.contains(',')) {
        return Some(format!("numbers are written with a point: {x}"));
    }
    let minus = text.replace(DASHES, "-");
    if let (Some(x), true) = (number(&minus), minus != text) {
        return Some(format!("this is a dash and no minus: {x}"));
    }
    if let Some(x) = number(text.trim_end_matches("deg").trim_end_matches('°')).filter(|_| number(text).is_none()) {
        return Some(format!("a number has no unit: {x}"));
    }
    None
}

/// The dashes that word processors write instead of a minus.
pub const DASHES: [char; 5] = ['\u{2010}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_are_told_apart_by_what_they_name() {
        assert!(other_name(NameKind::Value("solid"), "Sphere").is_some_and(|advice| advice.contains("[[sphere]]")));
        assert_eq!(other_name(NameKind::Value("material"), "sphere"), None);
        assert_eq!(other_name(NameKind::Flag, "-V"), Some("did you mean `--version`?"));
        assert_eq!(
            meant(NameKind::Key, "raduis", ["radius", "axis"].into_iter()).as_deref(),
            Some("did you mean `radius`?")
        );
        assert_eq!(meant(NameKind::Key, "xyzzy", ["radius", "axis"].into_iter()), None);
    }

    #[test]
    fn numbers_of_other_places_are_read_for_their_help() {
        assert_eq!(number_help("3,9").as_deref(), Some("numbers are written with a point: 3.9"));
        assert_eq!(number_help("\u{2212}2").as_deref(), Some("this is a dash and no minus: -2"));
        assert_eq!(number_help("45deg").as_deref(), Some("a number has no unit: 45"));
        assert!(["3.9", "wide", "", "deg", "1,2,3"].iter().all(|text| number_help(text).is_none()));
    }
}

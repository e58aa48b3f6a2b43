//! Suggestions for unknown names: one table of other programs' names for flags, commands, tables, keys and values;
//! and the nearest spelling.

use crate::language::{Message, msg};
use crate::quote::brief;
use other_names::{OTHER_NAMES, OtherName};

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind<'a> {
    /// A command of the program.
    Job,
    /// A flag, with its dashes.
    Flag,
    /// A table of a scene, or a key of one.
    Key,
    /// A key of this table.
    KeyOf(&'a str),
    /// A value of this key or flag.
    Value(&'a str),
}

mod other_names;

// Those of command lines: jobs, flags and values of flags.
const OTHER_WORDS: &[OtherName] = &[
    // Flags that this program had.
    (
        "flag",
        "--segment|--encoders|--encoder-threads|--encoder-timeout|--video-memory",
        "the encoders' settings are fixed: segments of 60 frames, as many encoders as the cores and the memory allow",
    ),
    ("flag", "--limit-file|--limit-picture|--limit-triangles", "did you mean `--limit-memory`?"),
    ("flag", "--bits", "did you mean `--set output.bits=16`?"),
    ("flag", "--split", "devices share whole frames, or each frame where there are few"),
    ("flag", "--shard-mode", "`--frames 0-lastx4` takes every fourth frame"),
    ("flag", "--quality", "did you mean `--draft`, or `--final`?"),
    ("flag", "--preset", "`--encode small` makes a smaller film, `--encode fast` a larger one, faster"),
    ("flag", "--show-ffmpeg", "`--dry-run` prints ffmpeg's command line"),
    ("job", "render|run|make|draw", "rendering needs no word of its own: `polyfly SCENE`"),
    ("job", "init|create|template|templates", "`polyfly new my.toml` writes a scene to begin with"),
    ("job", "example|examples|sample|samples|list|demo", "`polyfly scenes` lists the sample scenes"),
    ("job", "help", "`polyfly --help` lists jobs and flags"),
    ("job", "version", "`polyfly --version` prints the version"),
    ("job", "view|show|open|display", "`polyfly preview SCENE` shows a frame in the terminal"),
    ("job", "gui|edit|serve|ui", "`polyfly studio SCENE` shows a scene while its file is edited"),
    ("job", "validate|lint|inspect", "`polyfly check SCENE` says what a scene holds and what is wrong with it"),
    ("job", "resume|continue", "`polyfly SCENE --resume` renders what is missing"),
    ("job", "encode|video|join", "`polyfly stitch FOLDER -o film.mp4` makes a film of frames"),
    ("job", "diff|cmp|psnr|ssim|flip", "`polyfly compare A B` compares pictures, folders of frames and films"),
    ("job", "benchmark|perf", "`polyfly bench` measures this machine"),
    (
        "flag",
        "--resolution|--res|--width|--height|-s|-W|-H|-w|+W|+H|+w|+h|-res|-s:v",
        "did you mean `--size 1280x720`?",
    ),
    (
        "flag",
        "-vf|-filter:v|--filter",
        "pictures are rendered in their size: `--size 1280x720`; `ffmpeg -i film.mp4 -vf FILTER out.mp4` filters a film",
    ),
    ("flag", "-j|--jobs|-t|--cores|--workers|--nthreads|--num-threads|--nproc|-np|+WT", "did you mean `--threads`?"),
    ("flag", "-v|--verbose|--debug", "`--log jsonl` logs everything; there is no other way to say more"),
    ("flag", "-V", "did you mean `--version`?"),
    (
        "flag",
        "-f|--frame|--range|--start|--end|-n|-e|-ss|--frame-start|--frame-end|--render-frame|+SF|+EF|+KFF|--subset",
        "did you mean `--frames 0-99`?",
    ),
    (
        "flag",
        "-a|--anim|--animation|--render-anim|-b|--background",
        "no flag is needed: a run renders all frames without a window",
    ),
    ("flag", "-E|--engine|--integrator|--renderer", "`--set render.integrator=path` chooses the integrator"),
    ("flag", "--still|--single|--image|--png", "`--frames 0 -o look.png` makes one picture"),
    ("flag", "--film|--movie|--mp4", "did you mean `--video film.mp4`?"),
    ("flag", "-c|-c:v|-vcodec|--vcodec|--encoder", "did you mean `--codec h264`?"),
    ("flag", "-pix_fmt|--pix-fmt|--bit-depth", "did you mean `--video-bits 10`, or `--set output.bits=16` for frames?"),
    ("flag", "-b:v|--bitrate|--video-quality", "did you mean `--crf 18`? Lower is better"),
    ("flag", "--seed|--random-seed", "there is no seed: a scene has the same bytes in each run"),
    (
        "flag",
        "--loop|--loops|-loop|--repeat|-stream_loop",
        "`polyfly check SCENE` says whether a clip loops, and why not; `--set output.loop=true` refuses one that does not",
    ),
    ("flag", "--camera|--cam", "a scene has one camera; `--set camera.fov_deg=50` changes a key of it"),
    ("flag", "--device", "did you mean `--cpu` or `--gpu`, or `--devices 0,1` for several?"),
    ("flag", "--no-gpu|--cpu-only|--software", "did you mean `--cpu`?"),
    ("flag", "--loglevel|--log-level|--json", "did you mean `--log jsonl`?"),
    (
        "flag",
        "-d|--dir|--folder|--output-dir|--out-dir",
        "the folder is part of the frames' names: `-o FOLDER/%04d.png`",
    ),
    ("flag", "--param|--override|-D|--define", "did you mean `--set KEY=VALUE`?"),
    ("flag", "--exposure|--fov", "this is a key of the scene: `--set film.exposure=0.5`, `--set camera.fov_deg=50`"),
    ("flag", "--gamma", "this is a key of the scene, for one tone curve: `--set film.tone=clip --set film.gamma=2.2`"),
    (
        "flag",
        "--audio|--sound|--music",
        "films have no sound; `ffmpeg -i film.mp4 -i music.mp3 -c:v copy -shortest out.mp4` adds it",
    ),
    (
        "flag",
        "--spp|--samples-per-pixel|--aa|--antialiasing|+A|-aa|--ssaa|--msaa|--supersampling|--oversampling",
        "`--samples 4` takes 4 x 4 = 16",
    ),
    ("flag", "--bounces|--max-depth", "did you mean `--depth`?"),
    ("flag", "--cuda|--nvidia|--optix|--cycles-device", "did you mean `--gpu`?"),
    ("flag", "--force|-y|--yes", "did you mean `--overwrite`?"),
    ("flag", "--continue", "did you mean `--resume`?"),
    ("flag", "--preview|--fast|--quick|-p|-pql", "did you mean `--draft`?"),
    ("flag", "--framerate|--frame-rate|-r|-framerate", "did you mean `--fps`?"),
    ("flag", "--out|--outfile|--render-output|+O|+o|--imagefile|-F", "did you mean `--output`?"),
    ("flag", "--scene|--input|-i|+I|+i|--file", "the scene needs no flag: `polyfly SCENE`"),
    ("flag", "--format", "the ending of `-o` is the format: `-o frame%04d.png`"),
    ("flag", "--alpha|--transparent", "`transparent = true` in [sky] makes pictures with alpha"),
    ("flag", "--gpus|--num-gpus|--ngpus", "did you mean `--devices all`, or `--devices 0,1`?"),
    ("flag", "--no-video|--no-film|--no-movie", "a film is made only where `--video` or the scene's `video` names it"),
    ("--codec", "libx264|x264|avc|h.264", "did you mean `h264`?"),
    ("--codec", "libx265|x265|h.265", "did you mean `h265`?"),
    ("--codec", "libvpx|libvpx-vp9|vp8", "did you mean `vp9`?"),
    ("--codec", "libaom-av1|svtav1|libsvtav1|svt-av1", "did you mean `av1`?"),
    ("--codec", "prores_ks", "did you mean `prores`?"),
    ("--codec", "mp4|mkv|mov|webm|gif|webp", "the ending of `--video` is the kind of film: `--video film.mp4`"),
    ("--threads", "all|auto|max|cores", "without `--threads`, or with `--threads 0`, all cores work"),
    ("flag", "--hd|--fullhd|--full-hd|--fhd|--1080p|--720p|--uhd|--4k", "did you mean `--size 1080p`?"),
    (
        "flag",
        "--gif|--webm|--webp|--mov|--mkv|--apng",
        "the ending of `--video` is the kind of film: `--video film.gif`",
    ),
    (
        "flag",
        "--length|--duration|--seconds|--time",
        "a clip lasts frames / fps seconds: `--set output.frames=120`, `--fps 24`",
    ),
    ("flag", "--watch|--live|--reload", "`polyfly studio SCENE` shows a scene while its file is edited"),
    ("flag", "--help-all|--usage|-?|-help", "did you mean `--help`?"),
    (
        "flag",
        "--color|--colour|--bg|--background-color|--sky",
        "this is a key of the scene: `--set \"body[0].color=red\"`, `--set sky.horizon=white`",
    ),
    (
        "flag",
        "--crop|--region|--border",
        "pictures are rendered whole; `ffmpeg -i film.mp4 -vf crop=640:360 out.mp4` cuts a film",
    ),
    ("--size", "720", "did you mean `720p`?"),
    ("--size", "1080", "did you mean `1080p`?"),
    ("--size", "2160|uhd", "did you mean `4k`?"),
    ("--lang", "russian|rus|русский|ru_RU|ru_RU.UTF-8", "did you mean `ru`?"),
    ("--lang", "english|eng|en_US|en_US.UTF-8", "did you mean `en`?"),
];

/// All suggestions, which are patterns of messages.
#[cfg(test)]
pub fn advice() -> impl Iterator<Item = &'static str> {
    OTHER_NAMES.iter().chain(OTHER_WORDS).map(|(.., advice)| *advice)
}

/// The suggestion for another program's name, in any case.
pub fn other_name(kind: NameKind, found: &str) -> Option<Message> {
    let in_brackets = |of: &str, table: &str| of.strip_prefix('[').and_then(|of| of.strip_suffix(']')) == Some(table);
    let is_kind = |of: &str| match kind {
        NameKind::Job => of == "job",
        NameKind::Flag => of == "flag",
        NameKind::Key => of == "key",
        NameKind::KeyOf(table) => of.split('|').any(|of| in_brackets(of, table)),
        NameKind::Value(key) => of == key,
    };
    let is_it = |name: &str| if name.len() > 2 { name.eq_ignore_ascii_case(found) } else { name == found };
    let is_row = |of: &str, names: &str| is_kind(of) && names.split('|').any(is_it);
    let (.., english) = OTHER_NAMES.iter().chain(OTHER_WORDS).find(|(of, names, ..)| is_row(of, names))?;
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

/// The suggestion for a number in another notation.
pub fn number_help(text: &str) -> Option<Message> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    if let Some(help) = look_alike(text, |text| number(text).is_some()) {
        return Some(help);
    }
    if let Some(x) = text.trim().strip_suffix([',', ';']).and_then(number) {
        return Some(msg!("no comma stands behind a number: {number}", number = x));
    }
    if let Some(x) = number(&text.replacen(',', ".", 1)).filter(|_| text.contains(',')) {
        return Some(msg!("numbers are written with a point: {number}", number = x));
    }
    let minus = text.replace(DASHES, "-");
    if let (Some(x), true) = (number(&minus), minus != text) {
        return Some(msg!("this is a dash, not a minus sign: {number}", number = x));
    }
    let fraction = text.trim().split_once('/').and_then(|(x, y)| Some(number(x)? / number(y)?));
    if let Some(x) = fraction.filter(|x| x.is_finite()) {
        return Some(msg!("a fraction is written as a decimal number: {number}", number = x));
    }
    let unit = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-.,".contains(c));
    let x = number(&text.trim().trim_end_matches(unit).replacen(',', ".", 1)).filter(|_| !unit.is_empty())?;
    match unit.trim().to_lowercase().as_str() {
        "rad" => Some(msg!(
            "angles are in degrees, without a unit: {degrees}",
            degrees = format_args!("{:.6}", x.to_degrees())
        )),
        unit if UNITS.contains(&unit) => Some(msg!("a number has no unit: {number}", number = x)),
        _ => None,
    }
}

// Letters, and the signs of numbers that look like them.
const LOOK_ALIKES: [(char, char); 19] = [
    ('O', '0'),
    ('o', '0'),
    ('l', '1'),
    ('I', '1'),
    ('О', '0'),
    ('о', '0'),
    ('З', '3'),
    ('з', '3'),
    ('Ч', '4'),
    ('ч', '4'),
    ('б', '6'),
    ('В', '8'),
    ('І', '1'),
    ('і', '1'),
    ('Ӏ', '1'),
    ('Е', 'e'),
    ('е', 'e'),
    ('Х', 'x'),
    ('х', 'x'),
];

/// The suggestion for a text that is what it should be but for letters that look like its signs.
pub fn look_alike(text: &str, is_meant: impl Fn(&str) -> bool) -> Option<Message> {
    let sign = |letter: char| LOOK_ALIKES.iter().find(|(other, _)| *other == letter).map(|(_, sign)| *sign);
    let (letter, meant) = text.chars().find_map(|letter| Some((letter, sign(letter)?)))?;
    let plain: String = text.chars().map(|letter| sign(letter).unwrap_or(letter)).collect();
    let code = format_args!("{:04X}", u32::from(letter)).to_string();
    let (text, plain, is_it) = (brief(text.trim()), plain.trim(), is_meant(&plain));
    is_it.then(|| match letter.is_ascii() {
        true => msg!(
            "`{text}` has the letter {letter} where the digit {meant} is meant: {number}",
            text,
            letter,
            meant,
            number = plain
        ),
        false => msg!(
            "`{text}` has a Cyrillic {letter} (U+{code}) where `{meant}` is meant: {number}",
            text,
            letter,
            code,
            meant,
            number = plain
        ),
    })
}

// Units that people write behind numbers.
const UNITS: &[&str] =
    &["deg", "degrees", "°", "grad", "px", "s", "sec", "ms", "fps", "hz", "m", "cm", "mm", "k", "f", "frames"];

/// The dashes that word processors write instead of a minus.
pub const DASHES: [char; 5] = ['\u{2010}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_command_lines_stand_apart() {
        assert!(OTHER_NAMES.iter().all(|(kind, ..)| !["job", "flag"].contains(kind) && !kind.starts_with("--")));
    }

    #[test]
    fn other_names_are_told_apart_by_what_they_name() {
        assert!(
            other_name(NameKind::Value("solid"), "Sphere")
                .is_some_and(|advice| advice.to_string().contains("[[sphere]]"))
        );
        assert_eq!(other_name(NameKind::Value("material"), "sphere"), None);
        assert_eq!(other_name(NameKind::Flag, "-V"), Some(msg!("did you mean `--version`?")));
        assert_eq!(
            meant(NameKind::Key, "raduis", ["radius", "axis"].into_iter()),
            Some(msg!("did you mean `{name}`?", name = "radius"))
        );
        assert_eq!(meant(NameKind::Key, "xyzzy", ["radius", "axis"].into_iter()), None);
    }

    #[test]
    fn numbers_of_other_places_are_read_for_their_help() {
        let number_help = |text| number_help(text).map(|help| help.to_string());
        assert_eq!(number_help("3,9").as_deref(), Some("numbers are written with a point: 3.9"));
        assert_eq!(number_help("\u{2212}2").as_deref(), Some("this is a dash, not a minus sign: -2"));
        assert_eq!(number_help("1О").as_deref(), Some("`1О` has a Cyrillic О (U+041E) where `0` is meant: 10"));
        assert_eq!(
            number_help("1.5е-3").as_deref(),
            Some("`1.5е-3` has a Cyrillic е (U+0435) where `e` is meant: 1.5e-3")
        );
        assert_eq!(number_help("O.9").as_deref(), Some("`O.9` has the letter O where the digit 0 is meant: 0.9"));
        assert_eq!(number_help("3.9,").as_deref(), Some("no comma stands behind a number: 3.9"));
        assert_eq!(number_help("45deg").as_deref(), Some("a number has no unit: 45"));
        assert_eq!(number_help("29,97fps").as_deref(), Some("a number has no unit: 29.97"));
        assert_eq!(number_help("1/4").as_deref(), Some("a fraction is written as a decimal number: 0.25"));
        assert_eq!(number_help("0.5rad").as_deref(), Some("angles are in degrees, without a unit: 28.647890"));
        assert!(
            ["3.9", "1920x", "5 apples", "wide", "", "deg", "1,2,3", "хорошо"]
                .iter()
                .all(|text| number_help(text).is_none())
        );
    }
}

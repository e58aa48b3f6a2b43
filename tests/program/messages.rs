//! Mistakes of users, and the complete messages: each ends with an exit code of its kind, or with a hint, and
//! none stays silent.

use crate::common::{folder, polyfly, text, words};
use std::path::Path;

const SMALL: [&str; 6] = ["--cpu", "--size", "16x12", "--samples", "1", "-q"];

// A name, and a scene in TOML.
pub const SCENES: &[(&str, &str)] = &[
    ("an empty file", ""),
    ("a table of numbers", "x,y,z\n1,2,3\n"),
    ("no closing quotation mark", "[output]\npath = \"a.png\n"),
    ("a key twice", "[camera]\nfov_deg = 60\nfov_deg = 50\n"),
    ("a table written as a list", "[camera]\neye = [1, 2, 3]\n"),
    ("bodies written as lists", "body = [[\"cube\"]]\n"),
    ("one pair of brackets for a list", "[body]\nsolid = \"octahedron\"\n"),
    ("a misspelt key", "[[body]]\nsolid = \"octahedron\"\nraduis = 2\n"),
    ("a misspelt table", "[camra]\nfov_deg = 60\n"),
    (
        "three misspelt keys",
        "[camera]\nfov = 60\n[film]\nexposur = 1\n[[body]]\nsolid = \"octahedron\"\ncolr = \"red\"\n",
    ),
    ("a wrong type and a wrong range", "[camera]\nfov_deg = \"wide\"\n[film]\nbloom = 3\n"),
    ("an aperture of two blades", "[camera]\naperture_blades = 2\n"),
    ("half a frame", "[output]\nframes = 2.5\n"),
    ("a decimal comma", "[[body]]\nsolid = \"octahedron\"\nradius = 1,5\n"),
    ("a color that is none", "[[body]]\nsolid = \"octahedron\"\ncolor = \"tomatoe\"\n"),
    ("a color of 0 to 255", "[[body]]\nsolid = \"octahedron\"\ncolor = [230, 128, 51]\n"),
    ("a color of two numbers", "[[body]]\nsolid = \"octahedron\"\ncolor = [1, 0]\n"),
    ("a misspelt body", "[[body]]\nsolid = \"octahedorn\"\n"),
    ("a body without a kind", "[[body]]\nradius = 1\n"),
    ("a radius below 0", "[[body]]\nsolid = \"octahedron\"\nradius = -1\n"),
    ("a misspelt integrator", "[render]\nintegrator = \"paths\"\n"),
    ("a view of 200 degrees", "[camera]\nfov_deg = 200\n"),
    ("no pixels", "[output]\nsize = [0, 10]\n"),
    ("too many pixels", "[output]\nsize = [60000, 60000]\n"),
    ("no samples", "[render]\nsamples = 0\n"),
    ("a thousand bounces", "[render]\ndepth = 1000\n"),
    ("a number that is none", "[[light]]\nposition = [0, 0, nan]\n"),
    ("a number that is too large", "[[light]]\nposition = [0, 0, 1e99]\n"),
    ("a light without a place", "[[light]]\ncolor = \"white\"\n"),
    ("glass of index 0", "[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\nmaterial = \"glass\"\nior = 0\n"),
    ("a floor of three corners", "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]\n"),
    (
        "a texture that is not there",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"wood.png\"\n",
    ),
    (
        "a texture that was never made",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"@oak\"\n",
    ),
    ("a sky that is not there", "[sky]\nimage = \"sky.hdr\"\n"),
    ("a mesh that is not there", "[[mesh]]\npath = \"bunny.obj\"\n"),
    ("particles that are not there", "[particles]\npath = \"packing.bin\"\n"),
    ("a video of no known kind", "[output]\nvideo = \"clip.avi\"\n"),
    ("frames of no known kind", "[output]\npath = \"f%d.bmp\"\n"),
    ("two numbers in a name", "[output]\npath = \"f%d-%d.png\"\n"),
    ("two cameras", "[camera]\nposition = [1, 2, 3]\n[camera.eye]\nr = 3\n"),
    (
        "keys out of order",
        "[[camera.key]]\ntime = 1\nposition = [1, 0, 0]\nlook_at = [0, 0, 0]\n[[camera.key]]\ntime = 0\nposition = [2, 0, 0]\nlook_at = [0, 0, 0]\n",
    ),
    ("a table by the name of several", "[[lights]]\nposition = [0, 0, 5]\n"),
    ("a word for a table", "sky = \"blue\"\n"),
    ("a dash for a minus", "[film]\nexposure = \u{2212}2\n"),
    ("a rotation", "[[body]]\nsolid = \"octahedron\"\nrotation = [0, 0, 45]\n"),
    ("a resolution", "[output]\nresolution = [64, 48]\n"),
    ("frames a second in another table", "[render]\nfps = 25\n"),
    ("a key like no other", "[[body]]\nsolid = \"octahedron\"\nxyzzy = 3\n"),
    ("a sphere as a body", "[[body]]\nsolid = \"sphere\"\n"),
    ("a mirror as a material", "[[body]]\nsolid = \"octahedron\"\nmaterial = \"mirror\"\n"),
    ("a range from high to low", "[render]\nsamples = \"64..2\"\n"),
    ("an exposure that is none", "[film]\nexposure = \"bright\"\n"),
    ("a color with alpha", "[[body]]\nsolid = \"octahedron\"\ncolor = \"#ff000080\"\n"),
    (
        "a bitmap as a texture",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"wood.bmp\"\n",
    ),
    (
        "a text as a texture",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"wood.txt\"\n",
    ),
    (
        "sides with the first byte last",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"swapped.data\"\n",
    ),
    (
        "a PNG by another name",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"png.data\"\n",
    ),
    ("a sky of another kind", "[sky]\nimage = \"wood.bmp\"\n"),
    ("frames outside of the folder", "[output]\npath = \"../out/%d.png\"\n"),
    ("a film outside of the folder", "[output]\nvideo = \"../film.mp4\"\n"),
    (
        "a texture outside of the folder",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"../wood.png\"\n",
    ),
    ("a loop that does not join", "[output]\nloop = true\n[camera.eye]\nr = 3\nphi_cycles = 0.5\n"),
    ("a Cyrillic letter in a key", "[[sphere]]\nr\u{430}dius = 1\n"),
    ("a size in words", "[output]\nsize = \"1920 by 1080\"\n"),
    ("a film in the place of the frames", "[output]\npath = \"film.mp4\"\n"),
    ("a place of Python for the number", "[output]\npath = \"f/{:04d}.png\"\n"),
    ("nothing but a line's end", "\n"),
    ("one side of a picture, in a scene", "[output]\nsize = 640\n"),
    ("a one for true", "[output]\nloop = 1\n"),
    ("a material as a table", "[[body]]\nsolid = \"octahedron\"\n[body.material]\ncolor = \"red\"\n"),
    ("a body on the ground", "[[body]]\nsolid = \"octahedron\"\non = \"ground\"\n"),
    ("a body on a floor that is not there", "[[body]]\nsolid = \"octahedron\"\non = \"floor\"\n"),
    (
        "a body on a wall",
        "[[body]]\nsolid = \"octahedron\"\non = \"floor\"\n[floor]\ncorners = [[0, -5, -1], [0, 5, -1], [0, 5, 9], [0, -5, 9]]\n",
    ),
    ("a light on the floor", "[[light]]\nposition = [0, 0, 1]\non = \"floor\"\n"),
    ("a color of the sky", "[sky]\ncolor = \"blue\"\n"),
    ("a position of a body", "[[body]]\nsolid = \"octahedron\"\nposition = [0, 0, 1]\n"),
    ("another solid in a loop", "[output]\nloop = true\n[[body]]\nsolid = \"tetrahedron\"\nturns = -0.25\n"),
    ("a body that drifts in a loop", "[output]\nloop = true\n[[body]]\nsolid = \"cube\"\ndrift = [1, 0, 0]\n"),
    ("a simulation in a loop", "[output]\nloop = true\n[particles]\npath = \"step%d.csv\"\n[[sphere]]\nradius = 1\n"),
    ("two bodies by one pair of brackets", "[body]\nsolid = \"cube\"\n[body]\nsolid = \"cube\"\n"),
    (
        "a texture without its sign",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"marble\"\n",
    ),
    ("frames by the name of a folder", "[output]\npath = \"frames\"\n"),
    ("a shape of pictures", "[output]\nsize = \"16:9\"\n"),
    (
        "a texture of the web",
        "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"https://example.com/wood.png\"\n",
    ),
    ("a solid that changes", "[[body]]\nsolid = { keys = [[0, \"cube\"], [1, \"octahedron\"]] }\n"),
    (
        "a camera that changes",
        "[camera]\nposition = { keys = [[0, [5, 1, 2]], [1, [4, 1, 2]]] }\nlook_at = [0, 0, 0]\n",
    ),
    ("a list that is not closed", "[[sphere]]\ncenter = [1, 2, 3\nradius = 1\n"),
    ("a list that is not closed before a table", "[camera]\nlook_at = [1, 2, 3\n[[sphere]]\nradius = 1\n"),
    ("a color of another list", "[[body]]\nsolid = \"octahedron\"\ncolor = \"amber\"\n"),
    ("a misspelt texture", "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"@wodd\"\n"),
];
// A part of the sample's tokens, and its replacement.
const TOKENS: &[(&str, &str, &str)] = &[
    ("a word where a number belongs", "1280", "wide"),
    ("a comment in tokens", "1280", "# the width\n1280"),
    ("a token too many", "", " 7"),
    ("a decimal comma in tokens", "1280 720 66", "1280 720 66,5"),
    ("a letter for a digit in tokens", "1280 720 66", "1280 72O 66"),
    ("a number out of range in tokens", "1280 720 66", "1280 720 660"),
    ("a blank in a path in tokens", "output/default/%d.png", "my frames/%d.png"),
    ("a size in one token", "1280 720 66", "1280x720 66"),
    ("a color of 0 to 255 in tokens", "0.95 0.98 1.00", "242 250 255"),
    ("a texture that is not there in tokens", "@checker", "gone.data"),
    ("a texture outside in tokens", "@checker", "../gone.data"),
];
// Texts instead of a scene in tokens.
const TEXTS: &[(&str, &str)] = &[
    ("JSON", "{\n  \"frames\": 10\n}\n"),
    ("YAML", "frames: 10\nsize: [64, 48]\n"),
    ("XML", "<scene/>\n"),
    // A value of line 4 is missing.
    (
        "a line with a value too few",
        "10\nout/%d.data\n64 48 90\n7 3 0 2 1 2 6 1 0\n2 0 0 0.5 0.1 1 4 1 0 0\n4 4 0 1 0 1 2 0.9 0.1 10\n1 1 0 1 1 0 2 0.8 0.2 5\n-2 -2 0 0 0.7 0.7 2 0.7 0.3 2\n-5 -5 -1 -5 5 -1 5 5 -1 5 -5 -1 @wood 0 1 0 0.5\n1\n5 5 5 1 1 1\n10 4\n",
    ),
    (
        "a fourth body",
        "10\nout/%d.data\n64 48 90\n7 3 0 2 1 2 6 1 0 0\n2 0 0 0.5 0.1 1 4 1 0 0\n4 4 0 1 0 1 2 0.9 0.1 10\n1 1 0 1 1 0 2 0.8 0.2 5\n-2 -2 0 0 0.7 0.7 2 0.7 0.3 2\n-2 2 0 0 0.7 0.7 2 0.7 0.3 2\n-5 -5 -1 -5 5 -1 5 5 -1 5 -5 -1 @wood 0 1 0 0.5\n1\n5 5 5 1 1 1\n10 4\n",
    ),
];
const FLAGS: &[(&str, &[&str])] = &[
    ("rays of a pixel, a square", &["scene.toml", "--spp", "64"]),
    ("the width alone, by flag", &["scene.toml", "--width", "640"]),
    ("a filter of ffmpeg", &["scene.toml", "-vf", "scale=640:-1"]),
    ("a gamma by flag", &["scene.toml", "--gamma", "2.2"]),
    ("a background by flag", &["scene.toml", "--background", "gray"]),
    ("a beat", &["explain", "beat"]),
    ("sound", &["explain", "music"]),
    ("a command that is misspelt", &["docter"]),
    ("a scene that is not there", &["scen.toml"]),
    ("a frame that the clip does not have", &["scene.toml", "--frames", "700"]),
    ("frames from last to first", &["scene.toml", "--frames", "5-2"]),
    ("a key that is misspelt in --set", &["scene.toml", "--set", "film.exposur=1"]),
    ("--set without a value", &["scene.toml", "--set", "film.exposure"]),
    ("a body that is not there in --set", &["scene.toml", "--set", "body[9].radius=1"]),
    ("one side of a picture", &["scene.toml", "--size", "640"]),
    ("a folder for frames", &["scene.toml", "-o", "."]),
    ("frames as bitmaps", &["scene.toml", "-o", "x.bmp"]),
    ("a video of no known kind, by flag", &["scene.toml", "--video", "x.avi"]),
    ("a codec that the file does not hold", &["scene.toml", "--video", "x.webm", "--codec", "h264"]),
    ("resumed and made again", &["scene.toml", "--resume", "--overwrite"]),
    ("a flag that is gone", &["scene.toml", "--quality", "best"]),
    ("a device that is none", &["scene.toml", "--devices", "gpu"]),
    ("a shard beyond the last", &["scene.toml", "--shard", "5/4"]),
    ("24 bits", &["scene.toml", "-o", "x%d.png", "--set", "output.bits=24"]),
    ("a picture as a scene", &["picture.png"]),
    ("a flag of another program", &["scene.toml", "--resolution", "64x48"]),
    ("a misspelt flag", &["scene.toml", "--sixe", "64x48"]),
    ("a flag like no other", &["scene.toml", "--xyzzy"]),
    ("threads by a letter", &["scene.toml", "-j", "4"]),
    ("threads below 0", &["scene.toml", "--threads", "-1"]),
    ("a command of another program", &["init", "x.toml"]),
    ("a sample that is not there", &["scenes/cube.toml"]),
    ("rendering as a command", &["render", "scene.toml"]),
    ("two scenes", &["scene.toml", "picture.png"]),
    ("a command behind the scene", &["scene.toml", "check"]),
    ("a flag of rendering for another command", &["check", "scene.toml", "--video", "x.mp4"]),
    ("a word too many", &["preview", "scene.toml", "more"]),
    ("a command without its folder", &["missing"]),
    ("a flag without its value", &["scene.toml", "--size"]),
    ("a flag twice", &["scene.toml", "--size", "4x3", "--size", "8x6"]),
    ("a key of tables in --set", &["scene.toml", "--set", "color=red"]),
    ("a list without a number in --set", &["scene.toml", "--set", "body.color=red"]),
    ("a film as frames", &["scene.toml", "-o", "x.mp4"]),
    ("a codec that is none", &["scene.toml", "--video", "x.mp4", "--codec", "mpeg2"]),
    ("a quality out of range", &["scene.toml", "--video", "x.mp4", "--crf", "99"]),
    ("no samples, by flag", &["scene.toml", "--samples", "0"]),
    ("samples from high to low, by flag", &["scene.toml", "--samples", "64..2"]),
    ("a rate that is none", &["scene.toml", "--fps", "30000/0"]),
    ("a depth in words", &["scene.toml", "--depth", "deep"]),
    ("a rate with a comma", &["scene.toml", "--fps", "29,97"]),
    ("particles in a picture of no known kind", &["particles", "cpu", "p.bin", "64", "48", "x.bmp"]),
    ("a folder as a scene", &["d"]),
    ("a scene without its ending", &["scene"]),
    ("an ending with a letter less", &["scene.tml"]),
    ("a path of Windows", &["C:\\Users\\me\\scene.toml"]),
    ("a size with a comma", &["scene.toml", "--size", "1920,1080"]),
    ("a long flag with one dash", &["scene.toml", "-frames", "3"]),
    ("a flag with a long dash", &["scene.toml", "\u{2013}frames", "3"]),
    ("a codec as ffmpeg takes it", &["scene.toml", "-c:v", "libx264"]),
    ("a picture without a flag", &["scene.toml", "out.png"]),
    ("a key and its value apart", &["scene.toml", "--set", "film.exposure", "2"]),
    ("the number of a GPU", &["scene.toml", "--gpu", "0"]),
    ("a seed", &["scene.toml", "--seed", "3"]),
    ("a picture without pixels", &["scene.toml", "--size", "0x0"]),
    ("a value of a flag that takes none", &["scene.toml", "--open=yes"]),
    ("JSON for its lines", &["scene.toml", "--log", "json"]),
    ("a size and sizes", &["bench", "scene.toml", "--size", "8x8", "--sizes", "8x8"]),
    ("threads of schedules", &["bench", "--balance", "--threads", "2"]),
    ("the engine of a farm", &["farm", "scene.toml", "--engine", "slurm"]),
    ("frames missing of a file", &["missing", "scene.toml"]),
    ("a template that is none", &["new", "my.toml", "--template", "cube"]),
    ("a word that is none", &["explain", "bogus"]),
    ("a scene in YAML", &["new", "my.yaml"]),
    ("an equals sign between spaces", &["scene.toml", "--set", "film.exposure", "=", "2"]),
    ("a color by flag", &["scene.toml", "--color", "red"]),
    ("a command that is misspelt, with its scene", &["rneder", "scene.toml"]),
    ("a size in two words", &["scene.toml", "--size", "96", "54"]),
    ("a sample without its verb", &["scenes", "jewels"]),
    ("a word of no use with scenes", &["scenes", "list"]),
    ("help of a page", &["help", "looks"]),
    ("a sample as a command", &["jewels"]),
    ("a template that was not written yet", &["particles.toml"]),
    ("particles without a device", &["particles", "packing.csv"]),
    ("a film without an ending", &["scene.toml", "--video", "film"]),
    ("frames by the name of a folder, by flag", &["scene.toml", "-o", "frames"]),
    ("a folder that is not there", &["scene.toml", "-o", "frames/"]),
    ("a flag that became a key", &["scene.toml", "--bits", "16"]),
    ("a misspelt texture, by flag", &["scene.toml", "--texture", "@wodd"]),
    ("bodies in --set", &["scene.toml", "--set", "bodies[0].color=red"]),
    ("the scene before the engine", &["farm", "scene.toml"]),
    ("a wrong flag of a job of a farm", &["farm", "slurm", "scene.toml", "--", "--sixe", "64x48"]),
    ("a scene in capitals", &["SCENE.TOML"]),
];
// Unusual notation that is accepted.
const TAKEN: &[(&str, &[&str])] = &[
    ("[render]\nambient = 0.1\n", &[]),
    ("[film]\ntone = \"AgX\"\nexposure = \"Auto\"\nfilter = \"Tent\"\n", &[]),
    ("", &["--set", "film.tone=AgX"]),
    // The key is there in its other spelling.
    ("", &["--set", "sphere[0].centre=[0, 0, 1]"]),
    ("", &["--size", "16X12"]),
    ("", &["--frames", "1..2"]),
    ("", &["--fps", "30000/1001"]),
    ("", &["--codec", "hevc", "--video", "v.mp4", "--set", "output.size=[64, 48]"]),
];
const HINTS: &[(&str, &str)] = &[
    (
        "an eye where it looks at",
        "[camera]\nposition = [1, 1, 1]\nlook_at = [1, 1, 1]\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n",
    ),
    (
        "nothing in sight",
        "[camera]\nposition = [5, 0, 0]\nlook_at = [9, 0, 0]\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n",
    ),
    (
        "no light",
        "[camera]\nposition = [5, 0, 0]\nlook_at = [0, 0, 0]\n[sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[render]\nambient = [0, 0, 0]\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 3\n",
    ),
    (
        "a view in radians",
        "[camera]\nposition = [9, 0, 0]\nlook_at = [0, 0, 0]\nfov_deg = 1.2\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n",
    ),
    (
        "an eye in a ball",
        "[camera]\nposition = [0, 0, 0]\nlook_at = [5, 0, 0]\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n",
    ),
];

/// A scene with something to show: most of these scenes test other keys.
pub fn whole(scene: &str) -> String {
    let is_about_it = scene.is_empty() || !scene.contains('[') || scene.contains("sphere") || scene.contains("body");
    let ball = if is_about_it { "" } else { "[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n" };
    format!("{scene}{ball}")
}

fn said(dir: &Path, args: &[&str]) -> String {
    let run = polyfly(dir, args);
    let code = run.status.code().unwrap();
    let scene = std::fs::read_to_string(dir.join("s.toml")).unwrap_or_default();
    assert!(code != 0 && !run.stderr.is_empty(), "in silence: {args:?}\n{scene}");
    assert!([64, 65, 74].contains(&code), "{code}: {}", words(&run));
    let said = words(&run);
    // One form for all messages, whichever part of the program found the mistake.
    let is_error = said.lines().any(|line| line.starts_with("error: "));
    let other = ["polyfly: error", "tip: ", "hint: ", "Usage: "].iter().find(|form| said.contains(*form));
    assert!(is_error && other.is_none(), "{args:?} {other:?}: {said}");
    format!("exit {code}\n{}", said.trim_end())
}

#[test]
fn every_mistake_is_reported() {
    let dir = folder();
    let sample = text(&polyfly(dir.path(), &["--default"]).stdout);
    std::fs::write(dir.path().join("picture.png"), [0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 13]).unwrap();
    let png = [0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 13, b'I', b'H', b'D', b'R'];
    let swapped = [&[0, 0, 0, 1, 0, 0, 0, 2][..], &[255; 8]].concat();
    for (name, bytes) in
        [("wood.bmp", &b"BM\x3a\0\0\0"[..]), ("wood.txt", b"a table"), ("png.data", &png), ("swapped.data", &swapped)]
    {
        std::fs::write(dir.path().join(name), bytes).unwrap();
    }
    std::fs::create_dir(dir.path().join("d")).unwrap();
    std::fs::write(dir.path().join("d/inner.toml"), "").unwrap();
    let mut all = Vec::new();
    let mut tell = |name: &str, said: String| all.push(format!("== {name}\n{said}"));
    for (name, scene) in SCENES {
        std::fs::write(dir.path().join("s.toml"), whole(scene)).unwrap();
        tell(name, said(dir.path(), &[&["s.toml"], &SMALL[..]].concat()));
    }
    for (name, from, to) in TOKENS {
        let changed =
            if from.is_empty() { format!("{}{to}\n", sample.trim_end()) } else { sample.replacen(from, to, 1) };
        assert_ne!(changed, sample, "{name}");
        std::fs::write(dir.path().join("s.txt"), changed).unwrap();
        tell(name, said(dir.path(), &[&["s.txt"], &SMALL[..]].concat()));
    }
    for (name, scene) in TEXTS {
        std::fs::write(dir.path().join("s.txt"), scene).unwrap();
        tell(name, said(dir.path(), &[&["s.txt"], &SMALL[..]].concat()));
    }
    let half: String = sample.chars().take(sample.len() / 2).collect();
    std::fs::write(dir.path().join("s.txt"), half).unwrap();
    tell("a file that is cut off", said(dir.path(), &[&["s.txt"], &SMALL[..]].concat()));
    for (name, flags) in FLAGS {
        tell(name, said(dir.path(), flags));
    }
    for (name, scene) in HINTS {
        std::fs::write(dir.path().join("s.toml"), scene).unwrap();
        let printed = text(&polyfly(dir.path(), &["check", "s.toml", "--frames", "0"]).stdout);
        let hints: Vec<&str> = printed.lines().filter(|l| l.starts_with("warning: ")).collect();
        assert!(!hints.is_empty(), "in silence: {name}\n{printed}");
        tell(name, hints.join("\n"));
    }
    assert!(all.len() >= 120);
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn other_ways_to_write_are_taken() {
    let dir = folder();
    let ball = "[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n";
    for (i, (scene, flags)) in TAKEN.iter().enumerate() {
        std::fs::write(dir.path().join("s.toml"), format!("[output]\nframes = 3\n{scene}{ball}")).unwrap();
        let out = format!("o{i}/%d.ppm");
        let small = ["s.toml", "--cpu", "--set", "output.size=[16, 12]", "-q", "-o", &out];
        let run = polyfly(dir.path(), &[&small[..], flags].concat());
        assert!(run.status.success(), "{scene}{flags:?}: {}", words(&run));
    }
    let grey = ["0.1", "[0.1, 0.1, 0.1]"].map(|grey| {
        let scene = format!("[output]\nframes = 1\nsize = [16, 12]\n[render]\nambient = {grey}\n{ball}");
        std::fs::write(dir.path().join("s.toml"), scene).unwrap();
        let run = polyfly(dir.path(), &["s.toml", "--cpu", "-q", "-o", "-.ppm"]);
        assert!(run.status.success(), "{}", words(&run));
        run.stdout
    });
    assert!(grey[0] == grey[1] && grey[0].len() > 16 * 12 * 3);
    let said = |size: &str| text(&polyfly(dir.path(), &["check", "s.toml", "--size", size]).stdout);
    assert!(said("1080p").contains("1 frame of 1920 x 1080") && said("4K").contains("3840 x 2160"), "{}", said("4k"));
}

#[test]
fn check_refuses_what_a_run_refuses_outside() {
    let dir = folder();
    for (scene, place) in
        [("[output]\npath = \"../out/%d.png\"\n", "s.toml:2:8"), ("[output]\nvideo = \"../film.mp4\"\n", "s.toml:2:9")]
    {
        let own = dir.path().join("own");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("s.toml"), format!("{scene}[[sphere]]\nradius = 1\n")).unwrap();
        let run = polyfly(&own, &["s.toml", "--cpu", "--size", "16x12"]);
        let check = polyfly(&own, &["check", "s.toml"]);
        assert_eq!((run.status.code(), check.status.code()), (Some(65), Some(65)), "{scene}");
        assert!(words(&run).contains(place) && words(&run) == words(&check), "{}{}", words(&run), words(&check));
        assert!(polyfly(&own, &["check", "s.toml", "--allow-outside"]).status.success());
    }
    assert_eq!(crate::common::names(dir.path()), ["own", "scene.toml"]);
}

#[test]
fn tokens_are_told_by_their_number_from_files_and_streams() {
    let dir = folder();
    let sample = text(&polyfly(dir.path(), &["--default"]).stdout).replace("@checker", "gone.data");
    std::fs::create_dir(dir.path().join("in")).unwrap();
    std::fs::write(dir.path().join("in/s.txt"), &sample).unwrap();
    let place = |said: &str| said.lines().find_map(|l| l.split_once("--> ")).map(|(_, at)| at.to_owned()).unwrap();
    let file = said(dir.path(), &[&["in/s.txt"], &SMALL[..]].concat());
    let mut child = crate::common::program(dir.path(), &[&["-"], &SMALL[..]].concat());
    let mut child = child.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), sample.as_bytes()).unwrap();
    let stream = words(&child.wait_with_output().unwrap());
    let number = sample.split_whitespace().position(|word| word == "gone.data").unwrap() + 1;
    let what = format!("error: token {number} (floor, texture): cannot read the texture");
    for (said, name) in [(&file, "in/s.txt"), (&stream, "stdin")] {
        assert!(said.contains(&what) && place(said).starts_with(&format!("{name}:")), "{said}");
    }
    assert_eq!(place(&file).replace("in/s.txt", "stdin"), place(&stream));
    // R and T above 1: a warning, with its tokens.
    let shiny = text(&polyfly(dir.path(), &["--default"]).stdout);
    let words_of: Vec<&str> = shiny.split_whitespace().collect();
    let r = words_of.iter().position(|word| *word == "3.1").unwrap() + 1;
    let bright = [&words_of[..r], &["0.9", "0.8"], &words_of[r + 2..]].concat().join(" ");
    std::fs::write(dir.path().join("in/r.txt"), bright).unwrap();
    let run = polyfly(dir.path(), &["check", "in/r.txt"]);
    let said = words(&run);
    let what =
        format!("warning: tokens {} and {} (body[0], the cube): reflection 0.9 + transparency 0.8", r + 1, r + 2);
    assert!(run.status.success() && said.contains(&what) && said.contains("--> in/r.txt:1:"), "{said}");
}

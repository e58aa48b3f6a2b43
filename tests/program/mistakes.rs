//! Mistakes that people made or will make, and every word that they are told: each ends with an exit code of its own kind, or with a hint, and
//! none in silence.

use crate::common::{folder, polyfly, text, words};
use std::path::Path;

const SMALL: [&str; 6] = ["--cpu", "--size", "16x12", "--samples", "1", "-q"];

// A name, and a scene in TOML.
const SCENES: &[(&str, &str)] = &[
    ("an empty file", ""),
    ("a table of numbers", "x,y,z\n1,2,3\n"),
    ("no closing quotation mark", "[output]\npath = \"a.png\n"),
    ("no closing bracket", "[camera\nfov_deg = 60\n"),
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
    ("half a frame", "[output]\nframes = 2.5\n"),
    ("a number without its nought", "[[body]]\nsolid = \"octahedron\"\nradius = .5\n"),
    ("a decimal comma", "[[body]]\nsolid = \"octahedron\"\nradius = 1,5\n"),
    ("a percentage where there are degrees", "[camera]\nfov_deg = 60%\n"),
    ("a colour that is cut off", "[[body]]\nsolid = \"octahedron\"\ncolor = \"#e6803\"\n"),
    ("a colour that is none", "[[body]]\nsolid = \"octahedron\"\ncolor = \"tomatoe\"\n"),
    ("a colour of 0 to 255", "[[body]]\nsolid = \"octahedron\"\ncolor = [230, 128, 51]\n"),
    ("a colour without quotation marks", "[[body]]\nsolid = \"octahedron\"\ncolor = #e68033\n"),
    ("a colour of two numbers", "[[body]]\nsolid = \"octahedron\"\ncolor = [1, 0]\n"),
    ("a misspelt body", "[[body]]\nsolid = \"octahedorn\"\n"),
    ("a body without a kind", "[[body]]\nradius = 1\n"),
    ("a radius below 0", "[[body]]\nsolid = \"octahedron\"\nradius = -1\n"),
    ("a misspelt tone curve", "[film]\ntone = \"sotf\"\n"),
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
    ("a loop that does not join", "[output]\nloop = true\n[camera.eye]\nr = 3\nphi_cycles = 0.5\n"),
];
// What stands in the sample's tokens, and what is put in its place.
const TOKENS: &[(&str, &str, &str)] = &[
    ("a word where a number belongs", "1280", "wide"),
    ("a comment in tokens", "1280", "# the width\n1280"),
    ("a token too many", "", " 7"),
];
const FLAGS: &[(&str, &[&str])] = &[
    ("a job that is misspelt", &["docter"]),
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
    ("resumed and made anew", &["scene.toml", "--resume", "--overwrite"]),
    ("a preset that is none", &["scene.toml", "--quality", "best"]),
    ("a device that is none", &["scene.toml", "--devices", "gpu"]),
    ("a shard beyond the last", &["scene.toml", "--shard", "5/4"]),
    ("24 bits", &["scene.toml", "-o", "x%d.png", "--bits", "24"]),
    ("a picture as a scene", &["picture.png"]),
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
        "an eye in a ball",
        "[camera]\nposition = [0, 0, 0]\nlook_at = [5, 0, 0]\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n",
    ),
];

fn said(dir: &Path, args: &[&str]) -> String {
    let run = polyfly(dir, args);
    let code = run.status.code().unwrap();
    assert!(code != 0 && !run.stderr.is_empty(), "in silence: {args:?}");
    assert!([64, 65, 74].contains(&code), "{code}: {}", words(&run));
    format!("exit {code}\n{}", words(&run).trim_end())
}

#[test]
fn every_mistake_is_told_of() {
    let dir = folder();
    let sample = text(&polyfly(dir.path(), &["--default"]).stdout);
    std::fs::write(dir.path().join("picture.png"), [0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 13]).unwrap();
    let mut all = Vec::new();
    let mut tell = |name: &str, said: String| all.push(format!("== {name}\n{said}"));
    for (name, scene) in SCENES {
        // A scene needs something to show, and that is not what these are about.
        let is_about_it =
            scene.is_empty() || !scene.contains('[') || scene.contains("sphere") || scene.contains("body");
        let ball = if is_about_it { "" } else { "[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n" };
        std::fs::write(dir.path().join("s.toml"), format!("{scene}{ball}")).unwrap();
        tell(name, said(dir.path(), &[&["s.toml"], &SMALL[..]].concat()));
    }
    for (name, from, to) in TOKENS {
        let changed =
            if from.is_empty() { format!("{}{to}\n", sample.trim_end()) } else { sample.replacen(from, to, 1) };
        assert_ne!(changed, sample, "{name}");
        std::fs::write(dir.path().join("s.txt"), changed).unwrap();
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
        let told = text(&polyfly(dir.path(), &["check", "s.toml", "--frames", "0"]).stdout);
        let hints: Vec<&str> = told.lines().filter(|l| l.starts_with("hint: ")).collect();
        assert!(!hints.is_empty(), "in silence: {name}\n{told}");
        tell(name, hints.join("\n"));
    }
    assert!(all.len() >= 52);
    insta::assert_snapshot!(all.join("\n\n"));
}

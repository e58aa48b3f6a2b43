//! Meshes, particles and simulations through the program: files of all kinds, pictures, time steps, videos.

use crate::common::{folder, polyfly, text, words};
use std::path::Path;

#[test]
fn real_files_of_particles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/particles");
    let files = ["interleaved-2012.bin", "versioned-2014.bin"].map(|n| folder.join(n));
    real_layouts(&files);
}

fn real_layouts(files: &[std::path::PathBuf]) {
    let dir = tempfile::tempdir().unwrap();
    let mut all = files.to_vec();
    for name in ["i.bin", "t.csv"] {
        let made = polyfly(dir.path(), &["particles", "generate", "500", name]);
        assert!(made.status.success(), "{}", text(&made.stderr));
        all.push(dir.path().join(name));
    }
    for path in all {
        let name = path.display().to_string();
        for image in ["a.png", "a.ppm", "a.data"] {
            let run = polyfly(
                dir.path(),
                &["particles", "CPU", &name, "160", "120", image, "--color-by", "velocity", "--legend"],
            );
            assert!(run.status.success(), "{name}: {}", text(&run.stderr));
            assert!(text(&run.stdout).contains("particles\tcpu"), "{}", text(&run.stdout));
        }
        let ppm = std::fs::read(dir.path().join("a.ppm")).unwrap();
        assert!(ppm.starts_with(b"P6\n160 120\n255\n") && ppm.len() == 15 + 3 * 160 * 120);
        let png = image::open(dir.path().join("a.png")).unwrap().into_rgb8();
        assert_eq!(png.as_raw()[..], ppm[15..]);
        assert!(png.pixels().filter(|p| p.0.iter().any(|&c| c > 30)).count() > 2000, "{name} shows something");
        // A file cut at any byte is refused, and no picture is written.
        let bytes = std::fs::read(&path).unwrap();
        if name.ends_with(".bin") {
            for cut in [0, 3, 50, 104, 5000, bytes.len() / 2, bytes.len() - 1] {
                std::fs::write(dir.path().join("cut.bin"), &bytes[..cut]).unwrap();
                let run = polyfly(dir.path(), &["particles", "CPU", "cut.bin", "32", "24", "cut.png"]);
                assert_eq!(run.status.code(), Some(65), "{cut}: {}", text(&run.stderr));
                assert!(text(&run.stderr).contains("byte"), "{}", text(&run.stderr));
                assert!(!dir.path().join("cut.png").exists());
            }
        }
    }
    let run = polyfly(dir.path(), &["particles", "CPU", "t.csv", "65536", "65536", "a.data"]);
    assert_eq!(run.status.code(), Some(64), "four gigapixels are refused, and do not overflow");
    assert!(String::from_utf8_lossy(&run.stderr).contains("memory limit"));
    let run = polyfly(dir.path(), &["particles", "CPU", "t.csv", "32", "24", "a.gif"]);
    assert_eq!(run.status.code(), Some(64));
    let run = polyfly(dir.path(), &["particles", "CPU", "t.csv", "0", "24", "a.png"]);
    assert_eq!(run.status.code(), Some(64));
}

#[test]
fn time_steps_become_frames_and_a_video() {
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(dir.path(), &["particles", "generate", "300", "steps/p.%03d.bin", "--steps", "8"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(dir.path().join("steps/p.007.bin").exists());
    let scene = "[output]\nframes = 8\nsize = [96, 64]\npath = \"out/%d.data\"\nvideo = \"out/v.y4m\"\n[render]\nshadows = false\n\
                 [camera]\nposition = [2.5, -3.5, 2]\nlook_at = [0.5, 0.5, 1]\n[[light]]\nposition = [9, -9, 9]\n\
                 [particles]\npath = \"steps/p.%03d.bin\"\ncolor_by = \"velocity\"\nlegend = true\n";
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    let run = polyfly(dir.path(), &["--cpu", "s.toml"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let frames: Vec<_> = (0..8).map(|n| std::fs::read(dir.path().join(format!("out/{n}.data"))).unwrap()).collect();
    assert!(frames.windows(2).all(|w| w[0] != w[1]), "every step moves something");
    assert_eq!(std::fs::metadata(dir.path().join("out/v.y4m")).unwrap().len() / (96 * 64 * 3 / 2), 8);
    // The same step alone gives the same picture: the map's ends are the first step's.
    let one = polyfly(dir.path(), &["--cpu", "s.toml", "--frames", "5", "-o", "one%d.data"]);
    assert!(one.status.success(), "{}", text(&one.stderr));
    assert_eq!(std::fs::read(dir.path().join("one5.data")).unwrap(), frames[5]);
    // Missing steps are reported before the first frame.
    for n in [3, 4, 6] {
        std::fs::rename(dir.path().join(format!("steps/p.00{n}.bin")), dir.path().join(format!("{n}"))).unwrap();
    }
    std::fs::remove_dir_all(dir.path().join("out")).unwrap();
    let run = polyfly(dir.path(), &["--cpu", "s.toml"]);
    assert_eq!(run.status.code(), Some(65), "{}", text(&run.stderr));
    let said = text(&run.stderr);
    assert!(
        said.contains("the file does not exist; frames without a file: 3-4,6") && said.contains("p.003.bin"),
        "{said}"
    );
    assert!(run.stdout.is_empty() && !dir.path().join("out").exists());
    let run = polyfly(dir.path(), &["--cpu", "s.toml", "--frames", "5", "-o", "one%d.data", "--overwrite"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    for n in [3, 4, 6] {
        std::fs::rename(dir.path().join(format!("{n}")), dir.path().join(format!("steps/p.00{n}.bin"))).unwrap();
    }
    // A broken step ends the run with its name; the frames before it are complete.
    std::fs::write(dir.path().join("steps/p.006.bin"), b"nothing").unwrap();
    let run = polyfly(dir.path(), &["--cpu", "s.toml"]);
    assert_eq!(run.status.code(), Some(65), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("p.006.bin"), "{}", text(&run.stderr));
    assert_eq!(std::fs::read(dir.path().join("out/5.data")).unwrap(), frames[5]);
    assert!(!dir.path().join("out/6.data").exists() && dir.path().join("out/v.partial.y4m").exists());
}

#[test]
fn broken_meshes_are_refused_and_nothing_is_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut cut = b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
        element face 1\nproperty list uchar int vertex_indices\nend_header\n".to_vec();
    cut.extend([0; 36]);
    cut.extend([3, 0, 0, 0, 0, 1, 0, 0, 0, 2]);
    for (name, bytes, words) in [
        ("cut.ply", &cut[..], "broken"),
        ("far.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n".as_slice(), "broken"),
        ("none.obj", b"v 0 0 0\n", "no faces"),
        ("huge.obj", b"v 0 0 0\nv 1e30 0 0\nv 0 1 0\nf 1 2 3\n", "1e12"),
        ("x.stl", b"solid", "neither .obj nor .ply"),
    ] {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let scene =
            format!("[output]\nframes = 1\nsize = [8, 8]\npath = \"out/%d.png\"\n[[mesh]]\npath = \"{name}\"\n");
        std::fs::write(dir.path().join("s.toml"), scene).unwrap();
        let run = polyfly(dir.path(), &["--cpu", "s.toml"]);
        assert_eq!(run.status.code(), Some(65), "{name}: {}", text(&run.stderr));
        assert!(text(&run.stderr).contains(words), "{name}: {}", text(&run.stderr));
        assert!(!dir.path().join("out").exists());
    }
}

#[test]
fn packings_are_read_again_whatever_they_are_called() {
    let dir = tempfile::tempdir().unwrap();
    let mut pictures = Vec::new();
    for name in ["s.bin", "s.csv", "s.txt", "s.xyzr", "S.TXT"] {
        let run = polyfly(dir.path(), &["particles", "generate", "50", name]);
        assert!(run.status.success(), "{name}: {}", text(&run.stderr));
        let run = polyfly(dir.path(), &["particles", "CPU", name, "16", "12", "a.ppm"]);
        assert!(run.status.success(), "{name}: {}", text(&run.stderr));
        pictures.push(std::fs::read(dir.path().join("a.ppm")).unwrap());
    }
    assert!(pictures.iter().all(|picture| *picture == pictures[0]));
    for (name, layout) in [("s.txt", "interleaved"), ("s.bin", "csv")] {
        let run = polyfly(dir.path(), &["particles", "generate", "50", name, "--layout", layout]);
        assert!(run.status.code() == Some(64) && text(&run.stderr).contains("such a file could not be read"), "{name}");
    }
}

#[test]
fn a_simulation_that_begins_at_rest_has_its_later_speeds_as_the_legend() {
    let dir = tempfile::tempdir().unwrap();
    for step in 0..5 {
        let rows: String = (0..4).map(|i| format!("{i},0,0,0.4,{},0,0\n", step * i)).collect();
        std::fs::write(dir.path().join(format!("{step}.csv")), format!("x,y,z,r,vx,vy,vz\n{rows}")).unwrap();
    }
    let render = |range: &str| {
        let scene = format!(
            "[output]\nframes = 5\npath = \"o/%d.ppm\"\nsize = [320, 240]\n[camera]\nposition = [1, -6, 1]\nlook_at = [1, 0, 0]\n\
             [particles]\npath = \"%d.csv\"\ncolor_by = \"velocity\"\nlegend = true\n{range}\n"
        );
        std::fs::write(dir.path().join("s.toml"), scene).unwrap();
        let run = polyfly(dir.path(), &["s.toml", "--cpu", "--overwrite", "--frames", "1"]);
        assert!(run.status.success(), "{}", text(&run.stderr));
        std::fs::read(dir.path().join("o/1.ppm")).unwrap()
    };
    // Frame 0 is at rest; the fastest particle at the clip's end has 12.
    assert!(render("") == render("range = [0, 12]"));
}

// Each file is small; the floor's map is as wide as the one and as tall as the other.
#[test]
fn maps_that_become_too_large_together_are_refused() {
    let dir = folder();
    for (name, width, height) in [("tall.png", 1, 8192), ("wide.png", 8192, 1)] {
        image::GrayImage::new(width, height).save(dir.path().join(name)).unwrap();
    }
    let scene = |roughness: &str| {
        let floor = "[floor]\ncorners = [[-5, -5, 0], [-5, 5, 0], [5, 5, 0], [5, -5, 0]]\nroughness = 0.3\n";
        let maps = format!("[floor.relief]\nbump = \"tall.png\"\ndepth = 0.1\nroughness_map = \"{roughness}\"\n");
        std::fs::write(dir.path().join("r.toml"), format!("{floor}{maps}")).unwrap();
        polyfly(dir.path(), &["check", "r.toml"])
    };
    let run = scene("wide.png");
    assert_eq!(run.status.code(), Some(65), "{}", words(&run));
    for part in ["wide.png", "8192 x 8192", "raise --limit-memory"] {
        assert!(words(&run).contains(part), "{}", words(&run));
    }
    let run = scene("tall.png");
    assert!(run.status.success(), "{}", words(&run));
}

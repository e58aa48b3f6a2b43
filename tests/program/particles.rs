//! Particles: the picture, and the messages about a file.

use crate::common::{folder, polyfly, text, words};
use std::path::Path;

fn table(dir: &Path, name: &str, rows: &str) {
    std::fs::write(dir.join(name), format!("x,y,z,r,p\n{rows}")).unwrap();
}

fn scene(dir: &Path, more: &str) {
    let text = format!(
        "[output]\nframes = 1\npath = \"o/%d.ppm\"\nsize = [48, 48]\n[camera]\nposition = [1, -5, 0]\nlook_at = [1, 0, 0]\n\
         [particles]\npath = \"g.csv\"\ncolor_by = \"pressure\"\n[[light]]\nposition = [0, -9, 9]\n{more}"
    );
    std::fs::write(dir.join("g.toml"), text).unwrap();
}

#[test]
fn a_step_of_a_series_is_chosen_and_named() {
    let dir = folder();
    let run = polyfly(dir.path(), &["particles", "generate", "30", "s%02d.bin", "--steps", "3"]);
    assert!(run.status.success(), "{}", words(&run));
    let picture = |more: &[&str]| polyfly(dir.path(), &[&["particles", "CPU", "s%02d.bin", "32", "32"], more].concat());
    let first = picture(&["a.ppm"]);
    assert!(first.status.success() && words(&first).contains("its step 0 is drawn; --step N"), "{}", words(&first));
    let zeroth = picture(&["b.ppm", "--step", "0"]);
    assert!(zeroth.status.success() && zeroth.stderr.is_empty(), "{}", words(&zeroth));
    assert!(picture(&["c.ppm", "--step", "2"]).status.success());
    let [a, b, c] = ["a.ppm", "b.ppm", "c.ppm"].map(|name| std::fs::read(dir.path().join(name)).unwrap());
    assert!(a == b && a != c);
    let missing = picture(&["d.ppm", "--step", "3"]);
    assert!(missing.status.code() == Some(65) && words(&missing).contains("s03.bin"), "{}", words(&missing));
    let single = polyfly(dir.path(), &["particles", "CPU", "s00.bin", "32", "32", "e.ppm", "--step", "1"]);
    assert!(single.status.code() == Some(65) && words(&single).contains("it has steps 0-0"), "{}", words(&single));
}

#[test]
fn converted_particles_make_the_same_picture() {
    let dir = folder();
    let done = |words: &[&str]| {
        let run = polyfly(dir.path(), &[&["particles"], words].concat());
        assert!(run.status.success(), "{}", self::words(&run));
    };
    done(&["generate", "30", "s.dump", "--steps", "3"]);
    let picture = |file: &str, more: &[&str]| {
        done(&[&["CPU", file, "32", "32", "o.ppm", "--color-by", "p"], more].concat());
        std::fs::read(dir.path().join("o.ppm")).unwrap()
    };
    let expected = picture("s.dump", &["--step", "2"]);
    for (file, one, more) in [
        ("s%d.npz", "s2.npz", &[][..]),
        ("s%d.csv", "s2.csv", &[]),
        ("s%d.bin", "s2.bin", &[]),
        ("t.xyz", "t.xyz", &["--step", "2"]),
    ] {
        done(&["convert", "s.dump", file]);
        assert!(picture(one, more) == expected, "{file}");
    }
    let refused = |words: &[&str]| self::words(&polyfly(dir.path(), &[&["particles", "convert"], words].concat()));
    assert!(refused(&["s.dump", "s.csv"]).contains("several time steps need a file name with %d"));
    assert!(refused(&["s.dump", "t.xyz"]).contains("t.xyz already exists"));
    assert!(refused(&["s.dump", "t.stl"]).contains("t.stl: no particles are written to such a file"));
    // A series of any kind becomes another one.
    done(&["convert", "s%d.npz", "u_%03d.vtp"]);
    assert!(picture("u_002.vtp", &[]) == expected);
    done(&["convert", "u_*.vtp", "all.dump"]);
    assert!(picture("all.dump", &["--step", "2"]) == expected && picture("u_*.vtp", &["--step", "2"]) == expected);
    std::fs::create_dir(dir.path().join("run")).unwrap();
    for k in 0..3 {
        std::fs::rename(dir.path().join(format!("u_00{k}.vtp")), dir.path().join(format!("run/step{}.vtp", 9 + k)))
            .unwrap();
    }
    assert!(picture("run", &["--step", "2"]) == expected);
    done(&["convert", "run", "s.gsd"]);
    let info = |file: &str| text(&polyfly(dir.path(), &["particles", "info", file]).stdout);
    assert!(info("s.gsd").starts_with("s.gsd: GSD, 3 steps, 30 particles"), "{}", info("s.gsd"));
    assert!(info("run").starts_with("run: VTK XML, 3 steps, 30 particles\n"), "{}", info("run"));
}

// Each step is a file of the folder; what is beyond the last one is refused.
#[test]
fn films_of_folders_conditions_copies_and_steps_between() {
    let dir = folder();
    std::fs::create_dir(dir.path().join("run")).unwrap();
    let step = |k: usize, rows: &str| {
        let text = format!(
            "ITEM: TIMESTEP\n{k}\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 4\n0 4\n0 4\nITEM: ATOMS id x y z radius\n{rows}"
        );
        std::fs::write(dir.path().join(format!("run/{k}.dump")), text).unwrap();
    };
    step(9, "1 0.5 2 2 0.25\n2 2.5 2 2 0.25\n");
    step(10, "2 2.5 2 2 0.25\n1 3.5 2 2 0.25\n");
    let film = |keys: &str, frames: u32, more: &str| {
        let text = format!(
            "[output]\nframes = {frames}\npath = \"o/%d.ppm\"\nsize = [40, 40]\n[camera]\nprojection = \"orthographic\"\nwidth = 8\n\
             position = [4, -9, 2]\nlook_at = [4, 0, 2]\n[particles]\npath = \"run\"\n{keys}\n[[light]]\nposition = [0, -9, 9]\n[sky]\nzenith = [0,0,0]\nhorizon = [0,0,0]\n{more}"
        );
        std::fs::write(dir.path().join("f.toml"), text).unwrap();
        let run = polyfly(dir.path(), &["f.toml", "--cpu", "--overwrite"]);
        (run.status.code().unwrap(), words(&run))
    };
    // The columns of pixels, five a unit, in which a frame shows particles.
    let lit = |frame: u32| {
        let picture = std::fs::read(dir.path().join(format!("o/{frame}.ppm"))).unwrap();
        let row = &picture[picture.len() - 3 * 40 * 20..][..3 * 40];
        let lit: Vec<usize> = (0..40).filter(|x| row[3 * x] > 8).map(|x| x / 5).collect();
        lit.iter().fold(Vec::new(), |mut all: Vec<usize>, x| {
            if all.last() != Some(x) {
                all.push(*x);
            }
            all
        })
    };
    assert_eq!(film("", 2, "").0, 0);
    assert_eq!([lit(0), lit(1)], [vec![0, 2], vec![2, 3]]);
    let (code, said) = film("", 3, "");
    assert!(code == 65 && said.contains("frame 2 needs step 2: it has steps 0-1"), "{said}");
    // Half of the way across the border, where one half of the grain lies on each side.
    assert_eq!(film("interpolate = 4", 5, "").0, 0);
    assert_eq!([lit(0), lit(1), lit(3), lit(4)], [vec![0, 2], vec![0, 2], vec![2, 3], vec![2, 3]]);
    assert_eq!(film("where = \"id == 2 || x < 0\"", 1, "").0, 0);
    assert_eq!(lit(0), [2]);
    assert_eq!(film("images = [2, 1, 1]", 1, "").0, 0);
    assert_eq!(lit(0), [0, 2, 4, 6]);
    assert_eq!(film("every = 2\nimages = [2, 1, 1]", 1, "").0, 0);
    assert_eq!(lit(0), [0, 4]);
    let (code, said) = film("where = \"id > 2\"", 1, "");
    assert!(code == 65 && said.contains("no particles with `id > 2`"), "{said}");
    let (code, said) = film("where = \"ix > 2\"", 1, "");
    assert!(code == 65 && said.contains("it has no column `ix`; it has id, x, y, z, radius"), "{said}");
    let (code, said) = film("where = \"id >\"", 1, "");
    assert!(code == 65 && said.contains("character 5 of `id >`"), "{said}");
}

#[test]
fn stats_are_tables() {
    let dir = folder();
    table(dir.path(), "g.csv", "0,0,0.5,0.5,1\n1,0,0.5,0.5,2\n0,0,1.5,0.5,4\n");
    let stats = |args: &[&str]| {
        let run = polyfly(dir.path(), &[&["particles", "stats"], args].concat());
        (run.status.code().unwrap(), text(&run.stdout), words(&run))
    };
    let (_, found, _) = stats(&["coordination", "g.csv"]);
    assert_eq!(found, "contacts,particles,share\n0,0,0\n1,2,0.6666666666666666\n2,1,0.3333333333333333\n");
    let (_, found, _) = stats(&["slices", "g.csv", "--bins", "2", "--value", "p*2"]);
    let rows: Vec<&str> = found.lines().collect();
    assert!(rows[0] == "from,to,porosity,particles,mean" && rows[1].starts_with("0,1,0.47"), "{found}");
    assert!(rows[1].ends_with(",2,3") && rows[2].ends_with(",1,8"), "{found}");
    assert_eq!(stats(&["sizes", "g.csv", "--where", "p < 4"]).1, "from,to,particles,share,volume_share\n1,1,2,1,1\n");
    let (code, _, said) = stats(&["g", "g.csv"]);
    assert!(code == 64 && said.contains("g(r) needs a box"), "{said}");
    let (code, _, said) = stats(&["sizes", "g.csv", "--step", "3"]);
    assert!(code == 65 && said.contains("there is no step 3: it has steps 0-0"), "{said}");
}

// Two grains of one size at different distances are equally large in parallel rays, and as wide as the plane says.
#[test]
fn orthographic_grains_are_as_large_near_and_far() {
    let dir = folder();
    table(dir.path(), "g.csv", "-2,0,0,1,1\n2,9,0,1,1\n");
    let widths = |more: &[&str]| {
        let args =
            ["particles", "CPU", "g.csv", "80", "20", "p.ppm", "--eye=0,-10,0", "--look-at=0,0,0", "--plane-width=8"];
        let run = polyfly(dir.path(), &[&args, more].concat());
        assert!(run.status.success(), "{}", words(&run));
        let picture = std::fs::read(dir.path().join("p.ppm")).unwrap();
        let row = &picture[picture.len() - 3 * 80 * 10..][..3 * 80];
        let lit = |half: &[u8]| half.chunks(3).filter(|pixel| pixel[0] > 0).count();
        (lit(&row[..120]), lit(&row[120..]))
    };
    assert_eq!(widths(&["--orthographic"]), (20, 20));
    let (near, far) = widths(&[]);
    assert!(near >= 20 && far < 14, "{near}, {far}");
}

#[test]
fn particles_without_a_value_are_counted() {
    let dir = folder();
    table(dir.path(), "g.csv", "0,0,0,0.5,1\n1,0,0,0.5,NaN\n2,0,0,0.5,3\n");
    scene(dir.path(), "");
    let said = "1 of 3 particles have no number for pressure";
    let run = polyfly(dir.path(), &["g.toml", "--cpu"]);
    assert!(run.status.success() && words(&run).contains(said), "{}", words(&run));
    let check = polyfly(dir.path(), &["check", "g.toml"]);
    assert!(text(&check.stdout).contains(said), "{}", text(&check.stdout));
    let run = polyfly(dir.path(), &["particles", "CPU", "g.csv", "48", "48", "p.ppm", "--color-by", "pressure"]);
    assert!(run.status.success() && words(&run).contains(said), "{}", words(&run));
    // It is gray, which is no color of the map.
    let picture = std::fs::read(dir.path().join("p.ppm")).unwrap();
    let greys = picture[picture.len() - 3 * 48 * 48..].chunks(3).filter(|p| p[0] > 40 && p[0] == p[1] && p[1] == p[2]);
    assert!(greys.count() > 10);
}

#[test]
fn files_that_are_made_can_be_read() {
    let dir = folder();
    // At most the kernels' number of particles.
    let run = polyfly(dir.path(), &["particles", "generate", "67108864", "g.bin"]);
    assert!(run.status.code() == Some(64) && words(&run).contains("67108863"), "{}", words(&run));
    let run = polyfly(dir.path(), &["particles", "generate", "9000", "g.bin"]);
    assert!(run.status.success(), "{}", words(&run));
    let picture =
        |limit: &str| polyfly(dir.path(), &["particles", "CPU", "g.bin", "8", "8", "g.ppm", "--limit-memory", limit]);
    let small = picture("1");
    assert!(small.status.code() == Some(65) && words(&small).contains("raise --limit-memory"), "{}", words(&small));
    assert!(picture("9").status.success());
}

#[test]
fn hints_tell_white_from_burnt_and_a_map_that_is_outshone() {
    let dir = folder();
    table(dir.path(), "g.csv", "0,0,0,0.5,1\n1,0,0,0.5,2\n2,0,0,0.5,3\n");
    let hints = |more: &str| {
        scene(dir.path(), more);
        let run = polyfly(dir.path(), &["check", "g.toml"]);
        assert!(run.status.success(), "{}", words(&run));
        text(&run.stdout)
    };
    let white = "[sky]\nzenith = [1, 1, 1]\nhorizon = [1, 1, 1]\n";
    let paths = "[render]\nintegrator = \"path\"\nsamples = 16\n";
    // A white background is what its author wants.
    let plain = hints(&format!("{white}[film]\ntone = \"clip\"\n"));
    assert!(!plain.contains("burnt out") && !plain.contains("leave the color map"), "{plain}");
    let bright = hints(&format!("{white}[film]\ntone = \"clip\"\nexposure = 2\n"));
    assert!(bright.contains("are burnt out"), "{bright}");
    // Path tracing takes all light of a white sky and adds the lamp's.
    let outshone = hints(&format!("{paths}{white}"));
    assert!(outshone.contains("leave the color map"), "{outshone}");
    let exposed = hints(&format!("{paths}{white}[film]\nexposure = -1.5\n"));
    assert!(!exposed.contains("leave the color map"), "{exposed}");
}

#[test]
fn a_legend_that_has_no_room_says_so() {
    let dir = folder();
    table(dir.path(), "g.csv", "0,0,0,0.5,1\n1,0,0,0.5,2\n2,0,0,0.5,3\n");
    let picture = |size: [&str; 2], name: &str| {
        let args = ["particles", "CPU", "g.csv", size[0], size[1], name, "--color-by", "pressure", "--legend"];
        let run = polyfly(dir.path(), &args);
        assert!(run.status.success(), "{}", words(&run));
        words(&run)
    };
    let said = "a picture of 64 x 48 pixels has no room for the legend, which is left out";
    assert!(picture(["64", "48"], "small.png").contains(said));
    assert_eq!(picture(["160", "120"], "large.png"), "");
    scene(dir.path(), "");
    let legend = ["g.toml", "--cpu", "--set", "particles.legend=true", "--overwrite"];
    for (size, is_left_out) in [("64x48", true), ("160x120", false)] {
        let run = polyfly(dir.path(), &[&legend[..], &["--size", size]].concat());
        assert!(run.status.success() && words(&run).contains(said) == is_left_out, "{}", words(&run));
    }
    // One particle is one.
    table(dir.path(), "one.csv", "0,0,0,0.5,1\n");
    let run = polyfly(dir.path(), &["particles", "CPU", "one.csv", "16", "16", "one.png"]);
    assert!(text(&run.stdout).starts_with("1 particle\t"), "{}", text(&run.stdout));
}

#[test]
fn files_say_what_they_hold() {
    let dir = folder();
    std::fs::write(dir.path().join("g.dat"), "x y z r T\n0 0 0 1 5\n3 0 1 2 nan\n").unwrap();
    let run = polyfly(dir.path(), &["particles", "info", "g.dat"]);
    assert!(run.status.success(), "{}", words(&run));
    let expected = "g.dat: table, 1 step, 2 particles\n  x       0 to 3\n  y       0\n  z       0 to 1\n  radius  1 to 2\n  \
                    T       5 (1 are no numbers)\n  all columns: x, y, z, r, T\n";
    assert_eq!(text(&run.stdout), expected);
    let run = polyfly(dir.path(), &["particles", "info", "--json", "g.dat"]);
    let read: serde_json::Value = serde_json::from_str(&text(&run.stdout)).unwrap();
    assert_eq!((&read[0]["particles"], &read[0]["columns"][4]["not_numbers"]), (&2.into(), &1.into()));
    // A file of particles is no scene.
    table(dir.path(), "packing.csv", "0,0,0,1,5\n");
    let made = polyfly(dir.path(), &["particles", "generate", "9", "p.bin"]);
    assert!(made.status.success(), "{}", words(&made));
    for name in ["packing.csv", "p.bin"] {
        let run = polyfly(dir.path(), &[name, "--cpu"]);
        let said = words(&run);
        assert!(
            run.status.code() == Some(64) && said.contains("holds particles") && said.contains("polyfly figure"),
            "{said}"
        );
    }
}

#[test]
fn any_column_or_expression_colours() {
    let dir = folder();
    std::fs::write(dir.path().join("g.csv"), "x,y,z,r,T,m\n0,0,0,0.5,1,9\n1,0,0,0.5,2,8\n2,0,0,0.5,4,7\n").unwrap();
    let picture = |by: &str| {
        let run = polyfly(dir.path(), &["particles", "CPU", "g.csv", "48", "48", "p.ppm", "--color-by", by]);
        (run.status.code(), words(&run), std::fs::read(dir.path().join("p.ppm")).unwrap_or_default())
    };
    assert!(picture("T").2 == picture("3*T + m - m").2 && picture("T").2 != picture("m").2);
    let (code, said, _) = picture("temperature");
    assert!(code == Some(65) && said.contains("no column `temperature`; it has x, y, z, r, T, m"), "{said}");
}

#[test]
fn one_file_of_several_steps_is_a_series() {
    use std::io::Write;
    let dir = folder();
    let mut dump = String::new();
    for step in 0..3 {
        let rows = |gap: &str| {
            let row = |i: i32| [i, step * i, 0, 1, step + i].map(|x| x.to_string()).join(gap) + "\n";
            (0..4).map(row).collect::<String>()
        };
        table(dir.path(), &format!("s{step}.csv"), &rows(","));
        let head = "ITEM: NUMBER OF ATOMS\n4\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\nITEM: ATOMS x y z radius p\n";
        dump += &format!("ITEM: TIMESTEP\n{}\n{head}{}", 100 * step, rows(" "));
    }
    std::fs::write(dir.path().join("run.dump"), &dump).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(dump.as_bytes()).unwrap();
    std::fs::write(dir.path().join("run.gz"), packed.finish().unwrap()).unwrap();
    let film = |path: &str, frames: u32, more: &str| {
        let text = format!(
            "[output]\nframes = {frames}\npath = \"o/%d.ppm\"\nsize = [48, 48]\n[camera]\nposition = [2, -9, 3]\nlook_at = [2, 0, 0]\n\
             [particles]\npath = \"{path}\"\ncolor_by = \"p\"\n{more}\n[[light]]\nposition = [0, -9, 9]\n"
        );
        std::fs::write(dir.path().join("s.toml"), text).unwrap();
        let run = polyfly(dir.path(), &["s.toml", "--cpu", "--overwrite"]);
        let frame = |n: u32| std::fs::read(dir.path().join(format!("o/{n}.ppm"))).unwrap_or_default();
        (words(&run), (0..3).map(frame).collect::<Vec<_>>())
    };
    let (said, expected) = film("s%d.csv", 3, "");
    assert!(expected[0] != expected[2] && !expected[2].is_empty(), "{said}");
    assert!(film("run.dump", 3, "").1 == expected && film("run.gz", 3, "").1 == expected);
    // Over the whole film, other colors; and one step in all frames.
    let (said, of_film) = film("run.dump", 3, "range = \"film\"");
    assert!(of_film[2] != expected[2] && of_film == film("run.dump", 3, "range = [0, 5]").1, "{said}");
    let (said, still) = film("run.dump", 3, "first = 2\nstep = 0\nrange = [0, 3]");
    assert!(still[0] == expected[2] && still[2] == expected[2], "{said}");
    let (said, _) = film("run.dump", 4, "");
    assert!(said.contains("frame 3 needs step 3: it has steps 0-2"), "{said}");
    // The 2011 program's command takes them too.
    let picture =
        |more: &[&str]| polyfly(dir.path(), &[&["particles", "CPU", "run.dump", "16", "16", "a.ppm"], more].concat());
    assert!(picture(&["--step", "2"]).status.success() && words(&picture(&[])).contains("its step 0 is drawn"));
    assert_eq!(picture(&["--step", "3"]).status.code(), Some(65));
}

// The writer waits for the picture of each step before it writes the next one.
#[cfg(unix)]
#[test]
fn pictures_of_a_pipe_are_there_before_its_next_step() {
    use std::io::Write;
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    const STEPS: usize = 4;
    let xyz = |step: usize| format!("2\nProperties=species:S:1:pos:R:3:radius:R:1\nC {step} 0 0 0.5\nO 0 0 1 0.5\n");
    let dump = |step: usize| {
        format!(
            "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS ff ff ff\n0 9\n0 9\n0 9\nITEM: ATOMS id x y z radius\n1 {step} 0 0 1\n"
        )
    };
    let steps: [(&str, &dyn Fn(usize) -> String); 2] = [("-", &xyz), ("run.fifo", &dump)];
    for (path, of) in steps {
        let dir = folder();
        scene(dir.path(), "[particles.trails]\n");
        let at = dir.path().join("g.toml");
        let text = std::fs::read_to_string(&at).unwrap().replace("g.csv", path).replace("\"pressure\"", "\"x\"");
        std::fs::write(&at, text.replace("frames = 1", "frames = 5")).unwrap();
        if path != "-" {
            assert!(std::process::Command::new("mkfifo").arg(dir.path().join(path)).status().unwrap().success());
        }
        let mut child = crate::common::program(dir.path(), &["g.toml"]);
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut pipe: Box<dyn Write> = match path {
            "-" => Box::new(stdin),
            _ => Box::new(std::fs::OpenOptions::new().write(true).open(dir.path().join(path)).unwrap()),
        };
        let begun = Instant::now();
        for step in 0..STEPS {
            pipe.write_all(of(step).as_bytes()).unwrap();
            pipe.flush().unwrap();
            while !dir.path().join(format!("o/{step}.ppm")).exists() {
                assert!(begun.elapsed() < Duration::from_secs(60), "{path}: no picture of step {step}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        // The steps end before the frames do.
        drop(pipe);
        let run = child.wait_with_output().unwrap();
        assert!(words(&run).contains("there is no step 4: it has steps 0-3"), "{}", words(&run));
        assert_eq!(run.status.code(), Some(65));
        // The same pictures as of a file.
        std::fs::write(dir.path().join("all.txt"), (0..STEPS).map(of).collect::<String>()).unwrap();
        let text = std::fs::read_to_string(&at).unwrap().replace(&format!("\"{path}\""), "\"all.txt\"");
        std::fs::write(&at, text).unwrap();
        let last = polyfly(dir.path(), &["g.toml", "--set", "output.frames=4", "--frames", "3", "-o", "p/%d.ppm"]);
        assert!(last.status.success(), "{}", words(&last));
        let [piped, read] = ["o/3.ppm", "p/3.ppm"].map(|name| std::fs::read(dir.path().join(name)).unwrap());
        assert!(piped == read, "{path}");
    }
}

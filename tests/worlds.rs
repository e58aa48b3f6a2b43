//! Balls, meshes and particles: the tree against asking everything in turn, files of all kinds, time steps, and path
//! tracing in passes.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod common;

use common::*;
use polyfly::assets::Assets;
use polyfly::device::cpu::{Cpu, Isa, meet};
use polyfly::layout::{Layout, frame};
use polyfly::particles::generate::{self, packing};
use polyfly::progressive::refine;
use polyfly::scene::{Integrator, Scene};
use std::path::Path;
use std::process::{Command, Output};

fn polyfly(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_polyfly")).current_dir(dir).args(args).output().unwrap()
}
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

struct Draws(u64);
impl Draws {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32) / (1u64 << 24) as f32
    }
    fn around(&mut self, reach: f32) -> [f32; 3] {
        [0; 3].map(|_| reach * (2.0 * self.next() - 1.0))
    }
}

// Many balls, triangles and a dozen bodies.
fn crowd(dir: &Path) -> Scene {
    let mut draws = Draws(5);
    let mut scene = String::from("[output]\nframes = 1\nsize = [8, 8]\n[camera.eye]\nr = 9\n");
    for i in 0..12 {
        let [x, y, z] = draws.around(3.0);
        let solid = ["tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"][i % 5];
        scene += &format!("[[body]]\nsolid = \"{solid}\"\ncenter = [{x}, {y}, {z}]\nradius = 0.5\n");
    }
    for _ in 0..300 {
        let [x, y, z] = draws.around(3.0);
        scene += &format!("[[sphere]]\ncenter = [{x}, {y}, {z}]\nradius = {}\n", 0.02 + 0.2 * draws.next());
    }
    let mut obj = String::new();
    for i in 0..200 {
        let [x, y, z] = draws.around(3.0);
        for _ in 0..3 {
            let [a, b, c] = draws.around(0.4);
            obj += &format!("v {} {} {}\n", x + a, y + b, z + c);
        }
        obj += &format!("f {} {} {}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3);
    }
    // A wall of squares along the axes, for rays that run in its plane and through its corners.
    for i in 0..5 {
        for j in 0..5 {
            obj += &format!("v {} {} -2\n", i - 2, j - 2);
        }
    }
    for i in 0..4 {
        for j in 0..4 {
            let at = 601 + 5 * i + j;
            obj += &format!("f {} {} {} {}\n", at, at + 5, at + 6, at + 1);
        }
    }
    std::fs::write(dir.join("crowd.obj"), obj).unwrap();
    scene += &format!("[[mesh]]\npath = \"{}\"\n", dir.join("crowd.obj").display());
    toml(&scene)
}

// Rays at random, along the axes with noughts of both signs, along boxes and grazing balls.
fn rays(scene: &Scene, n: usize) -> (Vec<f32>, Vec<f32>) {
    let mut draws = Draws(77);
    let (mut origins, mut directions) = (Vec::new(), Vec::new());
    for i in 0..n {
        let mut o = draws.around(6.0);
        let mut d = draws.around(1.0);
        match i % 5 {
            1 => {
                let axis = i / 5 % 3;
                let sign = if i / 15 % 2 == 0 { 1.0 } else { -1.0 };
                d = [0, 1, 2].map(|c| if c == axis { sign } else { 0.0 * (1.0 - 2.0 * ((i / 30 + c) % 2) as f32) });
                // On the wall's lines too.
                if i / 60 % 2 == 0 {
                    o = o.map(f32::round);
                }
            }
            2 => d[i / 5 % 3] = if i / 15 % 2 == 0 { 0.0 } else { -0.0 },
            3 => {
                // Toward a ball's rim.
                let ball = &scene.spheres[i / 5 % scene.spheres.len()];
                let to: [f64; 3] = [0, 1, 2].map(|c| ball.centre[c] - f64::from(o[c]));
                let side = polyfly::vector::normalise(polyfly::vector::cross(to, [0.3, -0.5, 0.8]));
                let near = 1.0 + f64::from(draws.next() - 0.5) * 1e-6;
                d = [0, 1, 2].map(|c| (to[c] + side[c] * ball.radius * near) as f32);
            }
            _ => {}
        }
        let length = d.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
        origins.extend(o);
        directions.extend(d.map(|x| x / length));
    }
    (origins, directions)
}

#[test]
fn the_tree_finds_what_asking_everything_finds() {
    let dir = tempfile::tempdir().unwrap();
    let scene = crowd(dir.path());
    let layout = Layout::new(&scene, &Assets::load(&scene).unwrap());
    assert!(!layout.world.nodes.is_empty());
    let mut first: Option<(Vec<f32>, Vec<i32>)> = None;
    for isa in Isa::available() {
        // Two million on the widest lanes, a part of them on the others.
        let n = if first.is_none() { 2_000_000 } else { 200_000 };
        let (origins, directions) = rays(&scene, n);
        let tree = meet(isa, &layout, &origins, &directions, false);
        let all = meet(isa, &layout, &origins, &directions, true);
        for i in 0..n {
            let ray = (&origins[3 * i..3 * i + 3], &directions[3 * i..3 * i + 3]);
            assert_eq!((tree.1[i], tree.0[i].to_bits()), (all.1[i], all.0[i].to_bits()), "{isa:?}, ray {i}: {ray:?}");
        }
        let met = tree.1.iter().filter(|&&s| s != -1).count();
        assert!(met > n / 4 && met < n, "{met} of {n} rays meet something");
        match &first {
            None => first = Some(tree),
            Some(widest) => assert!(widest.0[..n] == tree.0[..] && widest.1[..n] == tree.1[..], "{isa:?}"),
        }
    }
}

#[test]
fn obj_and_ply_say_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let points = [[-1.0f32, -1.0, 0.0], [1.0, -1.0, 0.2], [1.0, 1.0, -0.3], [-1.0, 1.0, 0.4], [0.0, 0.0, 1.2]];
    let faces = [vec![0usize, 1, 2, 3], vec![0, 1, 4], vec![1, 2, 4], vec![2, 3, 4]];
    let mut obj = String::new();
    for [x, y, z] in points {
        obj += &format!("v {x} {y} {z}\n");
    }
    for face in &faces {
        obj += &format!("f {}\n", face.iter().map(|i| (i + 1).to_string()).collect::<Vec<_>>().join(" "));
    }
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment a tent\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n\
             property uchar red\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n"
        )
    };
    let mut ascii = header("ascii").into_bytes();
    let (mut little, mut big) = (header("binary_little_endian").into_bytes(), header("binary_big_endian").into_bytes());
    for p in points {
        ascii.extend(format!("{} {} {} 7\n", p[0], p[1], p[2]).bytes());
        p.iter().for_each(|x| little.extend(x.to_le_bytes()));
        p.iter().for_each(|x| big.extend(x.to_be_bytes()));
        little.push(7);
        big.push(7);
    }
    for face in &faces {
        ascii.extend(
            format!("{} {}\n", face.len(), face.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")).bytes(),
        );
        little.push(face.len() as u8);
        big.push(face.len() as u8);
        face.iter().for_each(|&i| little.extend((i as i32).to_le_bytes()));
        face.iter().for_each(|&i| big.extend((i as i32).to_be_bytes()));
    }
    let mut pictures = Vec::new();
    for (name, bytes) in [("a.obj", obj.into_bytes()), ("b.ply", ascii), ("c.ply", little.clone()), ("d.ply", big)] {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let scene = format!(
            "[output]\nframes = 1\nsize = [64, 48]\n[[mesh]]\npath = \"{}\"\ncolor = [0.9, 0.5, 0.2]\n[camera.eye]\nr = 4\nz = 2\n\
             [[light]]\nposition = [3, 2, 5]\n",
            dir.path().join(name).display()
        );
        pictures.push(render(&toml(&scene), 0));
    }
    assert!(pictures[0].chunks(4).any(|p| p[0] > 100));
    assert!(pictures.iter().all(|p| *p == pictures[0]));

    // Broken ones are refused, and nothing is left behind.
    for (name, bytes, words) in [
        ("cut.ply", &little[..little.len() - 3], "broken"),
        ("far.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n".as_slice(), "broken"),
        ("none.obj", b"v 0 0 0\n", "no faces"),
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
fn real_files_of_particles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/inputs/particles");
    if !folder.exists() {
        // A checkout without the input files has the generator's own, below.
        return real_layouts(&[]);
    }
    let files = ["interleaved-2012.bin", "versioned-2014.bin"].map(|n| folder.join(n));
    for (path, time, radii) in [(&files[0], None, 0.05..0.2), (&files[1], Some(5.800000296761987), 0.0080..0.0120)] {
        let set = polyfly::particles::read(path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((set.radii.len(), set.velocities.len(), set.pressures.len()), (1000, 1000, 1000));
        assert!(set.radii.iter().all(|r| radii.contains(r) || *r == radii.end), "{:?}", &set.radii[..4]);
        assert!(time.is_none() || set.time == time, "{:?}", set.time);
    }
    real_layouts(&files);
}

fn real_layouts(files: &[std::path::PathBuf]) {
    let dir = tempfile::tempdir().unwrap();
    let mut all = files.to_vec();
    for (layout, name) in [(generate::Layout::Interleaved, "i.bin"), (generate::Layout::Csv, "t.csv")] {
        let path = dir.path().join(name);
        std::fs::write(&path, generate::write(&packing(500, 1, 0.0), layout)).unwrap();
        all.push(path);
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
        // Cut short anywhere, it is refused, and no picture is left.
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
    // The same step alone is the same picture: the map's ends are the first step's.
    let one = polyfly(dir.path(), &["--cpu", "s.toml", "--frames", "5", "-o", "one%d.data"]);
    assert!(one.status.success(), "{}", text(&one.stderr));
    assert_eq!(std::fs::read(dir.path().join("one5.data")).unwrap(), frames[5]);
    // A broken step ends the run with its name; the frames before it are whole.
    std::fs::write(dir.path().join("steps/p.006.bin"), b"nothing").unwrap();
    std::fs::remove_dir_all(dir.path().join("out")).unwrap();
    let run = polyfly(dir.path(), &["--cpu", "s.toml"]);
    assert_eq!(run.status.code(), Some(65), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("p.006.bin"), "{}", text(&run.stderr));
    assert_eq!(std::fs::read(dir.path().join("out/5.data")).unwrap(), frames[5]);
    assert!(!dir.path().join("out/6.data").exists() && dir.path().join("out/v.partial.y4m").exists());
}

fn path_scene(samples: u32, noise: f64) -> Scene {
    let mut scene = sized(own("weekend.toml"), 48, 27, 1);
    scene.integrator = Integrator::Path { samples, noise };
    scene
}

fn refined(scene: &Scene, isa: Isa) -> (Vec<u8>, f64, u32) {
    let layout = Layout::new(scene, &Assets::default());
    let cpu = Cpu::new(isa, 0, scene, layout).unwrap();
    let mut rgba = vec![0; 4 * 48 * 27];
    let stats = refine(&mut &cpu, scene, cpu.layout(), isa, 0, &mut rgba).unwrap();
    (rgba, stats.noise, stats.samples)
}

#[test]
fn passes_add_up_to_the_picture_made_at_once() {
    for samples in [1, 7, 16, 100, 129] {
        let at_once = render(&path_scene(samples, 0.0), 0);
        for isa in Isa::available() {
            let (rgba, _, taken) = refined(&path_scene(samples, 1e-9), isa);
            assert_eq!(taken, samples);
            assert_eq!(first_difference(&at_once, &rgba, 48), None, "{samples} samples, {isa:?}");
        }
    }
}

#[test]
fn path_tracing_stops_when_the_noise_is_low_enough() {
    let sets = Isa::available();
    let (rgba, noise, taken) = refined(&path_scene(4096, 2.5), sets[0]);
    assert!(noise <= 2.5 && taken < 4096 && taken > 16, "{noise} after {taken}");
    for &isa in &sets[1..] {
        assert_eq!(refined(&path_scene(4096, 2.5), isa), (rgba.clone(), noise, taken), "{isa:?}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "--nocapture shows the convergence")]
fn path_tracing_converges() {
    // Against a long reference, four times the samples halve the error; the estimate says so without the reference.
    let reference = render(&path_scene(16_384, 0.0), 0);
    let error = |rgba: &[u8]| {
        let square: u32 = rgba.iter().zip(&reference).map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum();
        (f64::from(square) / (3.0 * 48.0 * 27.0)).sqrt()
    };
    let mut last = f64::MAX;
    for samples in [16, 64, 256, 1024] {
        let (rgba, noise, _) = refined(&path_scene(samples, 1e-9), Isa::available()[0]);
        let error = error(&rgba);
        println!("{samples} samples: error {error:.3} codes, estimated {noise:.3}");
        assert!(error < 0.65 * last, "{samples} samples: {error} after {last}");
        assert!((0.6..1.6).contains(&(noise / error)), "{samples} samples: estimated {noise}, in truth {error}");
        last = error;
    }
}

#[test]
fn a_moving_camera_draws_other_numbers() {
    let scene = path_scene(4, 0.0);
    assert_ne!(frame(&scene, 0), frame(&scene, 1));
}

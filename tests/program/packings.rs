//! Packings of balls on a GPU that fills the cells of a grid itself, and builds no tree: the CPU's bytes, by its tree.

use crate::common::{program, text};
use crate::devices::{polyfly, same_on_gpu, stub};
use std::fmt::Write;
use std::path::Path;

// Balls around the places of a lattice: x, y, z, radius, value.
fn packing([nx, ny, nz]: [usize; 3], jitter: f64, radius: f64) -> Vec<[f64; 5]> {
    let draw = |i: usize, k: usize| ((i * (7919 + 104 * k) + 31 * k) % 1009) as f64 / 1009.0;
    let place = |i: usize, k: usize, n: usize| n as f64 + jitter * (draw(i, k) - 0.5);
    let ball = |i: usize| {
        let at = [i % nx, i / nx % ny, i / nx / ny];
        let [x, y, z] = [0, 1, 2].map(|k| place(i, k, at[k]));
        [x, y, z, radius * (1.0 + jitter * draw(i, 3)), draw(i, 4)]
    };
    (0..nx * ny * nz).map(ball).collect()
}

fn table(path: &Path, balls: &[[f64; 5]]) {
    let mut rows = String::from("x,y,z,r,p\n");
    for [x, y, z, r, p] in balls {
        writeln!(rows, "{x},{y},{z},{r},{p}").unwrap();
    }
    std::fs::write(path, rows).unwrap();
}

// Loose ones, of which some are in the same place with another color; touching ones on a lattice that is seen along its axis, where many
// rays meet two balls at the same distance; and a layer with large ones.
fn packings() -> Vec<(&'static str, Vec<[f64; 5]>)> {
    let mut loose = packing([18, 17, 16], 0.6, 0.25);
    let twins: Vec<_> = loose.iter().step_by(3).map(|&[x, y, z, r, p]| [x, y, z, r, 1.0 - p]).collect();
    loose.extend(twins);
    let lattice = packing([17, 17, 17], 0.0, 0.5);
    let mut layer = packing([70, 62, 1], 0.5, 0.2);
    layer.extend([[35.0, 30.0, -1000.0, 999.5, 0.5], [20.0, 20.0, 2.0, 3.0, 0.1], [20.0, 20.0, 2.0, 3.0, 0.9]]);
    vec![("a loose packing", loose), ("a lattice", lattice), ("a layer", layer)]
}

fn scene(file: &str, render: &str, frames: u32, more: &str) -> String {
    format!(
        "[output]\nframes = {frames}\nsize = [56, 48]\n[render]\n{render}\n[camera]\nposition = [8, -30, 8]\nlook_at = [8, 8, 8]\n\
         [[light]]\nposition = [40, -30, 60]\n[particles]\npath = \"{file}\"\ncolor_by = \"pressure\"\n{more}"
    )
}

const INTEGRATORS: [&str; 3] =
    ["samples = 2", "integrator = \"ao\"\nsamples = 4", "integrator = \"path\"\nsamples = 4\ndepth = 4"];

#[test]
fn gpus_that_fill_the_grid_give_the_cpus_bytes() {
    let dir = tempfile::tempdir().unwrap();
    for (name, balls) in packings() {
        let file = dir.path().join("g.csv");
        table(&file, &balls);
        let file = file.display().to_string();
        for render in INTEGRATORS {
            same_on_gpu(&format!("{name}, {render}"), &scene(&file, render, 1, ""), "", &["-o", "%d.data"]);
        }
        let floor = "[floor]\ncorners = [[-9,-9,-3],[-9,30,-3],[30,30,-3],[30,-9,-3]]\ntexture = \"@checker\"\n";
        let text = scene(&file, "samples = 2", 2, floor).replace("[8, -30, 8]", "[8, -30, 8]\nlens = 0.1");
        same_on_gpu(&format!("{name} through a lens"), &text, "", &["-o", "%d.exr", "--video", "v.y4m"]);
    }
}

// Balls of very different sizes, far ones that leave most cells empty, and more in a cell than its code can count.
fn unsuitable() -> Vec<(&'static str, Vec<[f64; 5]>)> {
    let mut sizes = packing([17, 17, 17], 0.5, 0.1);
    sizes.iter_mut().step_by(20).for_each(|ball| ball[3] = 4.0);
    let mut far = packing([17, 17, 17], 0.5, 0.4);
    far.push([500.0, 500.0, 500.0, 0.5, 0.5]);
    let mut heap = packing([18, 18, 18], 0.5, 0.3);
    heap.extend((0..40).map(|i| [8.0, -1.0, 8.0, 0.3 + 0.001 * f64::from(i), f64::from(i) / 40.0]));
    vec![("many sizes", sizes), ("a far ball", far), ("a heap in a cell", heap)]
}

#[test]
fn packings_that_suit_no_grid_get_their_tree_after_all() {
    let dir = tempfile::tempdir().unwrap();
    for (name, balls) in unsuitable() {
        let file = dir.path().join("g.csv");
        table(&file, &balls);
        let text = scene(&file.display().to_string(), "samples = 2", 2, "");
        same_on_gpu(name, &text, "", &["-o", "%d.data"]);
    }
}

#[test]
fn time_steps_may_suit_a_grid_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let [good, bad] = [packings(), unsuitable()].map(|all| all.into_iter().map(|(_, balls)| balls));
    let good: Vec<_> = good.collect();
    let steps = [good[0].clone(), good[1].clone()].into_iter().chain(bad).chain([good[2].clone()]);
    for (i, balls) in steps.enumerate() {
        table(&dir.path().join(format!("p{i}.csv")), &balls);
    }
    let text = scene(&dir.path().join("p%d.csv").display().to_string(), "samples = 2", 6, "");
    same_on_gpu("steps", &text, "", &["-o", "%d.data", "--frames", "0-5"]);
    same_on_gpu("steps from an unsuitable one on", &text, "", &["-o", "%d.data", "--frames", "4,5,0,1"]);
    // All devices, one of which fails; only the stub is sure to have two.
    std::fs::write(dir.path().join("s.toml"), &text).unwrap();
    let run = |devices: &str, fault: &str| {
        let args = ["s.toml", "--allow-outside", "--devices", devices, "--overwrite", "-o", "o%d.data"];
        let mut command = program(dir.path(), &args);
        command.env("LD_LIBRARY_PATH", stub()).env("POLYFLY_STUB", "");
        if !fault.is_empty() {
            command.env("POLYFLY_FAULT", fault);
        }
        let run = command.output().unwrap();
        assert!(run.status.success(), "{devices} {fault}: {}", text_of(&run));
        (0..6).map(|n| std::fs::read(dir.path().join(format!("o{n}.data"))).unwrap()).collect::<Vec<_>>()
    };
    let expected = run("cpu", "");
    for (devices, fault) in [("0,1", ""), ("0,1", "1:2"), ("0,cpu", ""), ("0,cpu", "0:2")] {
        assert!(run(devices, fault) == expected, "{devices} {fault}");
    }
}

// A surface with hills over the packings, of more triangles than a host makes a thorough tree for.
fn hills() -> String {
    let mut obj = String::new();
    for i in 0..=80 {
        for j in 0..=80 {
            writeln!(obj, "v {} {} {}", 0.3 * f64::from(i), 0.3 * f64::from(j), f64::from((i * i + 3 * j) % 17) / 9.0)
                .unwrap();
        }
    }
    for i in 0..80 {
        for j in 1..=80 {
            let at = 81 * i + j;
            writeln!(obj, "f {} {} {} {}", at, at + 1, at + 82, at + 81).unwrap();
        }
    }
    obj
}

#[test]
fn gpus_that_make_trees_give_the_cpus_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut balls = packing([22, 22, 22], 0.0, 0.5);
    balls.extend([[35.0, 30.0, -1000.0, 990.0, 0.5], [20.0, 20.0, 2.0, 3.0, 0.1]]);
    for step in 0..3 {
        table(&dir.path().join(format!("p{step}.csv")), &balls);
        balls.iter_mut().step_by(step + 2).for_each(|ball| ball[0] += 0.7);
    }
    std::fs::write(dir.path().join("hills.obj"), hills()).unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let pane =
        |material: &str| format!("{material}\n[[mesh]]\npath = \"{}\"\ncolor = [0.4, 0.9, 0.6]\n", file("hills.obj"));
    let mesh = pane("") + "transparency = 0.5\n";
    for render in INTEGRATORS {
        let text = scene(&file("p1.csv"), render, 1, &pane("material = \"glass\""));
        same_on_gpu(&format!("glass, {render}"), &text, "", &["-o", "%d.data"]);
    }
    let text = scene(&file("p%d.csv"), "samples = 2", 3, &mesh);
    same_on_gpu("steps", &text, "", &["-o", "%d.data", "--frames", "0-2"]);
    // A GPU without the memory for its own tree gets the host's.
    same_on_gpu("little memory", &text, "memory:9000000", &["-o", "%d.data", "--frames", "1"]);
    std::fs::write(dir.path().join("s.toml"), &text).unwrap();
    let args = ["s.toml", "--allow-outside", "--gpu", "-o", "o%d.data"];
    let run = polyfly(dir.path(), Some(&stub()), "tree", &args);
    assert_eq!(run.status.code(), Some(69), "{}", text_of(&run));
}

fn text_of(run: &std::process::Output) -> String {
    text(&run.stderr).to_owned()
}

// A driver whose kernels of cells fail is asked for them where all devices are GPUs. The CPU takes over with its tree.
#[test]
fn only_runs_on_gpus_alone_leave_out_the_tree() {
    let dir = tempfile::tempdir().unwrap();
    table(&dir.path().join("g.csv"), &packings().swap_remove(0).1);
    std::fs::write(dir.path().join("s.toml"), scene("g.csv", "samples = 1", 1, "")).unwrap();
    let run = |behaviour: &str, name: &str, devices: &[&str]| {
        let args = [&["s.toml", "-o", name][..], devices].concat();
        let run = polyfly(dir.path(), Some(&stub()), behaviour, &args);
        (run.status.code(), std::fs::read(dir.path().join(name.replace("%d", "0"))).ok(), text_of(&run))
    };
    let (_, expected, _) = run("", "c%d.data", &["--cpu"]);
    assert!(expected.is_some());
    let (code, _, said) = run("cells", "g%d.data", &["--gpu"]);
    assert!(code == Some(69) && said.contains("illegal memory access"), "{said}");
    let (code, picture, said) = run("cells", "a%d.data", &[]);
    assert!(code == Some(0) && said.contains("rendering on the CPU") && picture == expected, "{said}");
    let (code, picture, said) = run("cells", "m%d.data", &["--devices", "0,cpu"]);
    assert!(code == Some(0) && !said.contains("illegal") && picture == expected, "{said}");
    let (code, picture, said) = run("empty", "e%d.data", &[]);
    assert!(code == Some(0) && picture == expected, "{said}");
}

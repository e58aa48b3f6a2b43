//! Devices through the program: a stub driver that is missing, old, empty or failing, or whose launches run
//! on the CPU; and the output of `doctor` and `verify`.
//!
//! With POLYFLY_TEST_CUDA=1 the runs that should succeed use the machine's driver and GPU.

use crate::common::{compiled, program, text};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

// The stub driver's folder (tests/stub/cuda.cpp). Its library has the name that is looked for first, so that no real driver is found
// in its place.
pub(crate) fn stub() -> PathBuf {
    let folder = compiled("stub", "libcuda.so", &["tests/stub", "tests/domain", "kernels"], |library| {
        let mut command = Command::new("c++");
        // A second level takes a minute more to compile.
        command.args(["-std=c++17", "-shared", "-fPIC", "-O1", "-ffp-contract=off", "-fno-math-errno", "-w"]);
        // With a GPU's operations: a reciprocal or square root outside of their domain is NaN.
        command.args(["-DPOLYFLY_DOMAIN=\"../tests/domain/domain.cuh\"", "-o"]).arg(library);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stub/cuda.cpp"));
        command
    });
    // Another process may have been faster.
    let _ = std::fs::hard_link(folder.join("libcuda.so"), folder.join("libcuda.so.1"));
    folder
}

pub(crate) fn polyfly(folder: &Path, library: Option<&Path>, behaviour: &str, args: &[&str]) -> Output {
    let mut command = program(folder, args);
    command.env("POLYFLY_STUB", behaviour);
    if let Some(library) = library {
        command.env("LD_LIBRARY_PATH", library);
    }
    command.output().unwrap()
}

// A working driver: the stub, or the machine's driver on request.
fn working() -> Option<PathBuf> {
    std::env::var_os("POLYFLY_TEST_CUDA").is_none().then(stub)
}

// Runs the program until its GPU or the run itself fails, at most twenty times: on a busy machine a CPU may leave the GPU beside it no work.
fn until_the_gpu_fails(start: impl Fn() -> Output) -> Output {
    let fails = |run: &Output| !run.status.success() || text(&run.stderr).contains("illegal memory access");
    (1..20).map(|_| start()).find(fails).unwrap_or_else(&start)
}

fn scene(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(name).display().to_string()
}

#[test]
fn unusable_gpus_are_69_with_gpu_and_the_cpu_without() {
    let scene = scene("infinity.toml");
    for (behaviour, words) in [
        ("old", "too old"),
        ("init", "cuInit"),
        ("empty", "sees no GPU"),
        ("memory:100", "out of memory"),
        ("ptx", "ptxas fatal: stub does not like line 7"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let args = ["--size", "24x16", "--frames", "0", "--depth", "2", "-o", "%d.data", &scene];
        let run = polyfly(dir.path(), Some(&stub()), behaviour, &[&["--gpu"], &args[..]].concat());
        assert_eq!(run.status.code(), Some(69), "{behaviour}: {}", text(&run.stderr));
        assert!(text(&run.stderr).contains(words), "{behaviour}: {}", text(&run.stderr));
        assert!(!dir.path().join("0.data").exists());
        // Without a flag: one remark, and the CPU.
        let run = polyfly(dir.path(), Some(&stub()), behaviour, &args);
        assert!(run.status.success(), "{behaviour}: {}", text(&run.stderr));
        assert!(text(&run.stderr).contains("rendering on the CPU"), "{behaviour}: {}", text(&run.stderr));
        assert!(dir.path().join("0.data").exists());
        // With --cpu the driver is not opened at all.
        let run = polyfly(dir.path(), Some(&stub()), behaviour, &[&["--cpu", "--overwrite"], &args[..]].concat());
        assert_eq!((run.status.code(), text(&run.stderr).lines().count()), (Some(0), 1), "{behaviour}");
    }
}

#[test]
fn a_driver_that_lacks_a_function_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("driver.c");
    std::fs::write(&source, "int cuDriverGetVersion(int* version) { *version = 12080; return 0; }\n").unwrap();
    let library = dir.path().join("libcuda.so");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(compiled.success());
    std::fs::copy(&library, dir.path().join("libcuda.so.1")).unwrap();
    let scene = scene("infinity.toml");
    let args = ["--size", "24x16", "--frames", "0", "--depth", "2", "-o", "%d.data", &scene];
    let run = polyfly(dir.path(), Some(dir.path()), "", &[&["--gpu"], &args[..]].concat());
    assert_eq!(run.status.code(), Some(69), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("no function cuCtxSetCurrent"), "{}", text(&run.stderr));
    let run = polyfly(dir.path(), Some(dir.path()), "", &args);
    assert!(run.status.success() && dir.path().join("0.data").exists(), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("rendering on the CPU"), "{}", text(&run.stderr));
}

#[test]
fn a_gpu_number_that_is_not_there_is_69() {
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(dir.path(), Some(&stub()), "", &["--devices", "0,7", "--allow-outside", &scene("infinity.toml")]);
    assert_eq!(run.status.code(), Some(69));
    assert!(text(&run.stderr).contains("no GPU 7"), "{}", text(&run.stderr));
    let run = polyfly(dir.path(), Some(&stub()), "", &["--devices", "tpu", "--allow-outside", &scene("infinity.toml")]);
    assert_eq!(run.status.code(), Some(64));
}

#[test]
fn doctor_tells_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    // A driver without GPUs replaces the GPUs of this machine.
    let run = polyfly(dir.path(), Some(&stub()), "empty", &["doctor"]);
    let words = text(&run.stdout);
    assert!(run.status.success(), "{words}{}", text(&run.stderr));
    for part in ["polyfly\t", "gpu", "cpu\t", "threads", "ffmpeg\t", "libx264"] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    let sets = words.lines().filter(|l| l.starts_with("cpu ")).count();
    assert!(sets >= 2 && words.matches("byte for byte").count() == sets, "{words}");
    let broken = polyfly(dir.path(), Some(&stub()), "ptx", &["doctor"]);
    // It has made no picture, so it has made no other bytes.
    assert_eq!(broken.status.code(), Some(69));
    assert!(text(&broken.stdout).contains("stub does not like line 7"), "{}", text(&broken.stdout));
    let old = polyfly(dir.path(), Some(&stub()), "old", &["doctor"]);
    assert!(old.status.success() && text(&old.stdout).contains("too old"), "{}", text(&old.stdout));
}

#[test]
fn verify_compares_all_devices() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        polyfly(dir.path(), None, "", &["verify", "--size", "33x21", &scene("coursework.txt"), &scene("garland.toml")]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let words = text(&run.stdout);
    assert_eq!(words.lines().count(), 2);
    assert!(words.contains("2 frames") && words.contains("cpu scalar"), "{words}");
    let said = text(&run.stderr);
    assert!(said.contains("coursework.txt: equal bytes on ") && said.contains(" devices: 2 of "), "{said}");
}

// Renders a scene on the GPU and on the CPU, and compares all output files.
pub(crate) fn same_on_gpu(name: &str, scene: &str, behaviour: &str, args: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.toml");
    std::fs::write(&path, scene).unwrap();
    let path = path.display().to_string();
    let files = |device: &str| {
        let folder = dir.path().join(device.trim_start_matches('-'));
        std::fs::create_dir(&folder).unwrap();
        let run =
            polyfly(&folder, working().as_deref(), behaviour, &[&[device, "--allow-outside", &path], args].concat());
        assert!(run.status.success(), "{name} {device}: {}", text(&run.stderr));
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|e| e.unwrap())
            .filter(|e| e.file_name() != ".polyfly" && e.file_name() != "manifest.json")
            .map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).unwrap()))
            .collect();
        files.sort();
        assert!(!files.is_empty());
        (files, run)
    };
    let ((cpu, _), (gpu, run)) = (files("--cpu"), files("--gpu"));
    assert_eq!(cpu.len(), gpu.len(), "{name}");
    for ((a, cpu), (b, gpu)) in cpu.iter().zip(&gpu) {
        assert!(a == b && cpu == gpu, "{name}: {a} differs");
    }
    run
}

// A GPU's square root of 0 was visible on floors of clear metal with a relief.
#[test]
fn a_relief_on_clear_metal_is_the_same_on_the_gpu() {
    let scene = "[output]\nframes = 1\nsize = [80, 60]\n[render]\nsamples = 2\ndepth = 3\n\
        [camera]\nposition = [0, -5, 1.5]\nlook_at = [0, 0, 0]\n[[sphere]]\ncenter = [0, 0, 0.5]\nradius = 0.6\n\
        [floor]\ncorners = [[-6,-6,-1],[-6,6,-1],[6,6,-1],[6,-6,-1]]\ntexture = \"none\"\nsize = \"infinite\"\nmaterial = \"gold\"\n\
        [floor.relief]\nbump = \"@tiles\"\ndepth = 0.2\ntiles = 4\n[[light]]\nposition = [3, -4, 5]\n";
    same_on_gpu("a relief", scene, "", &["-o", "%d.data"]);
}

const FEW: &str = "[output]\nframes = 7\nsize = [75, 50]\n[render]\nsamples = 2\ndepth = 6\n[camera.eye]\nr = 6\nz = 2\nphi_cycles = 1\n\
    [[body]]\nsolid = \"cube\"\nreflection = 0.5\ntransparency = 0.4\nlamps = 5\n[[light]]\nposition = [4, 3, 6]\n\
    [floor]\ncorners = [[-5,-5,-1],[-5,5,-1],[5,5,-1],[5,-5,-1]]\ntexture = \"@checker\"\nreflection = 0.2\n";

#[test]
fn the_gpus_path_gives_the_cpus_bytes() {
    let balls: String = (0..40)
        .map(|i| format!("[[sphere]]\ncenter = [{}, {}, {}]\nradius = 0.4\n", i % 5, i / 5 % 4, i / 20))
        .collect();
    let path = format!(
        "[output]\nframes = 2\nsize = [48, 34]\n[render]\nintegrator = \"path\"\nsamples = 64\nnoise = 6\n{balls}\
         [[sphere]]\ncenter = [2, 2, 6]\nmaterial = \"light\"\nstrength = 6\n"
    );
    // The ring with files and a video, few bodies in parameters.
    same_on_gpu("few bodies", FEW, "", &["-o", "%d.data", "--video", "v.y4m"]);
    // Arrays and the tree; odd sides.
    same_on_gpu("a tree", &format!("{}{balls}", FEW.replace("[75, 50]", "[33, 41]")), "", &["-o", "%d.png"]);
    // Deeper than the small stack.
    same_on_gpu("deep", &FEW.replace("depth = 6", "depth = 30"), "", &["-o", "%d.data", "--frames", "2"]);
    // Rounds of samples until the noise is low, bands of rows, and both.
    same_on_gpu("rounds", &path, "", &["-o", "%d.data"]);
    same_on_gpu("tiles", FEW, "", &["-o", "%d.data", "test:tiles=1", "--frames", "0-2"]);
    same_on_gpu("rounds in tiles", &path, "", &["-o", "%d.data", "test:tiles=1"]);
    // Linear light with layers.
    same_on_gpu("EXR", FEW, "", &["-o", "%d.exr", "--frames", "0,3"]);
    same_on_gpu("EXR of paths", &path, "", &["-o", "%d.exr", "--frames", "0"]);
    // Ambient occlusion, of a plain scene and of one that is not.
    let occlusion = path.replace("\"path\"", "\"ao\"\nao_reach = 2");
    same_on_gpu("occlusion", &occlusion, "", &["-o", "%d.data", "--frames", "0"]);
    let lens = format!("{occlusion}[camera]\nposition = [9, -9, 5]\nlook_at = [2, 2, 1]\nlens = 0.1\n");
    same_on_gpu("EXR of occlusion through a lens", &lens, "", &["-o", "%d.exr", "--frames", "0"]);
}

// The GPU runs the film's post steps, from sums that never leave it to the picture and the video's planes.
#[test]
fn films_on_the_gpu_are_the_cpus() {
    let all = "exposure = \"auto\"\nwhite_balance = 4500\nglare = 0.2\nstreak = 0.1\nbloom = 0.1\nvignette = 0.2\ngrain = 0.1\ntone = \"agx\"\n";
    let sized = |film: &str, size: &str| format!("{}\n[film]\n{film}", FEW.replace("[75, 50]", size));
    for film in [
        "bloom = 0.3\n",
        "glare = 0.3\n",
        "streak = 0.2\n",
        "vignette = 0.4\n",
        "grain = 0.3\n",
        "dither = true\n",
        "exposure = -1\n",
        all,
    ] {
        same_on_gpu(film, &sized(film, "[75, 50]"), "", &["-o", "%d.data", "--frames", "0-1"]);
    }
    for tone in ["neutral", "filmic", "clip"] {
        let film = format!("tone = \"{tone}\"\nexposure = 2\nbloom = 0.1\ndither = false\n");
        same_on_gpu(tone, &sized(&film, "[31, 22]"), "", &["-o", "%d.data", "--frames", "0-1"]);
    }
    // Odd sides, a pyramid that ends at one pixel, files and a video in one go, and a video alone.
    let far = format!("{all}bloom_radius = 1\nglare_length = 1\n");
    for size in ["[75, 51]", "[33, 17]", "[2, 31]", "[1, 1]"] {
        same_on_gpu(size, &sized(&far, size), "", &["-o", "%d.data", "--video", "v.y4m", "--frames", "0-2"]);
    }
    // Glare works on a coarser level of a higher picture.
    let rays = "glare = 0.3\nglare_rays = 5\n";
    same_on_gpu("glare on a high picture", &sized(rays, "[40, 500]"), "", &["-o", "%d.data", "--frames", "0"]);
    same_on_gpu("a video", &sized(all, "[75, 50]"), "", &["--no-frames", "--video", "v.y4m"]);
    // What the host finishes: linear light beside the picture, bands, a shutter that is open.
    same_on_gpu("EXR", &sized(all, "[75, 50]"), "", &["-o", "%d.exr", "--frames", "0"]);
    same_on_gpu("tiles", &sized(all, "[75, 80]"), "", &["-o", "%d.data", "test:tiles=1", "--frames", "0-1"]);
    let moving = sized(all, "[75, 50]").replace("[camera.eye]", "[camera]\nshutter = 0.5\n[camera.eye]");
    same_on_gpu("shutter", &moving, "", &["-o", "%d.data", "--frames", "0-1"]);
    // Arrays in place of parameters, paths, and geometry that moves.
    let path = format!(
        "[output]\nframes = 2\nsize = [48, 34]\n[render]\nintegrator = \"path\"\nsamples = 16\n[film]\n{all}\
         [[sphere]]\ncenter = [2, 2, 1]\n[[sphere]]\ncenter = [2, 2, 6]\nmaterial = \"light\"\nstrength = 6\n"
    );
    same_on_gpu("paths", &path, "", &["-o", "%d.data", "--video", "v.y4m"]);
    let turning = sized(all, "[40, 30]").replace("lamps = 5", "lamps = 5\nturns = 1");
    same_on_gpu("turning", &turning, "", &["-o", "%d.data", "--frames", "0-2"]);
}

// Where nobody wants linear light, the steps run on the GPU indeed, and else they do not.
#[test]
fn a_film_takes_its_post_steps_on_the_gpu() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.toml"), format!("{FEW}\n[film]\nbloom = 0.1\n")).unwrap();
    for (output, code) in [("%d.data", 69), ("%d.exr", 0)] {
        let args = ["s.toml", "--gpu", "--frames", "0-1", "-o", output];
        let run = polyfly(dir.path(), Some(&stub()), "post", &args);
        assert_eq!(run.status.code(), Some(code), "{output}: {}", text(&run.stderr));
    }
}

// A path-traced clip with a body that turns, a ball, a lamp and a floor, seen by a camera that moves.
fn denoised(film: &str, size: &str, samples: &str) -> String {
    format!(
        "[output]\nframes = 9\nsize = {size}\n[render]\nintegrator = \"path\"\ndepth = 3\nsamples = {samples}\n[film]\ndenoise = \"guided\"\n\
         {film}\n[camera.orbit]\ncenter = [0, 0, 0.2]\ndistance = 6\nelevation_deg = 20\nturns = 0.2\n\
         [[body]]\nsolid = \"cube\"\nreflection = 0.1\nturns = 0.3\n[[sphere]]\ncenter = [0, 2, 0]\nradius = 0.8\n\
         [[sphere]]\ncenter = [4, -4, 6]\nmaterial = \"light\"\nstrength = 30\n\
         [floor]\ncorners = [[-5, -5, -0.8], [-5, 5, -0.8], [5, 5, -0.8], [5, -5, -0.8]]\n"
    )
}

// Halves, features, the filter and the light of other frames stay on the GPU.
#[test]
fn films_that_the_gpu_denoises_are_the_cpus() {
    let all = "exposure = 0.5\nglare = 0.2\nbloom = 0.1\ntone = \"filmic\"\ngrain = 0.1";
    let steady = "denoise_frames = 2";
    for size in ["[48, 34]", "[33, 17]", "[1, 1]", "[2, 31]"] {
        same_on_gpu(size, &denoised(all, size, "8"), "", &["-o", "%d.data", "--frames", "0-1", "--video", "v.y4m"]);
        same_on_gpu(size, &denoised(steady, size, "4"), "", &["-o", "%d.data", "--frames", "0-1,3,8"]);
    }
    for samples in ["1", "3", "\"4..16\""] {
        same_on_gpu(samples, &denoised("", "[31, 40]", samples), "", &["-o", "%d.data", "--frames", "0"]);
        same_on_gpu(samples, &denoised(steady, "[31, 40]", samples), "", &["-o", "%d.data", "--frames", "4-5"]);
    }
    let clip = denoised(&format!("{all}\n{steady}"), "[48, 34]", "9");
    same_on_gpu("a clip", &clip, "", &["-o", "%d.data", "--video", "v.y4m"]);
    let ring = clip.replace("turns = 0.2", "turns = 1").replace("turns = 0.3", "turns = 0.25");
    same_on_gpu("a loop", &ring.replace("frames = 9", "frames = 9\nloop = true"), "", &["-o", "%d.data"]);
    let still = clip.replace("turns = 0.3", "");
    same_on_gpu("a camera that moves alone", &still, "", &["-o", "%d.data"]);
    let open = clip.replace("[camera.orbit]", "[camera]\nshutter = 0.5\n[camera.orbit]");
    same_on_gpu("a shutter", &open, "", &["-o", "%d.data", "--frames", "2-4"]);
    // Frames with few moments and with many lend each other light.
    let hasty = open.replace("turns = 0.2", "turns = 3\nease = 1").replace("shutter = 0.5", "shutter = 1");
    same_on_gpu("some frames are fast", &hasty, "", &["-o", "%d.data"]);
    // The host denoises what it gathers of tiles.
    same_on_gpu("tiles", &clip, "", &["-o", "%d.data", "test:tiles=1", "--frames", "0-1"]);
    same_on_gpu("tiles and a shutter", &open, "", &["-o", "%d.data", "test:tiles=1", "--frames", "2-3"]);
    // What the host denoises: layers beside the picture, samples until the noise is low.
    same_on_gpu("layers", &clip, "", &["-o", "%d.exr", "--frames", "0-1"]);
    same_on_gpu("rounds", &denoised("", "[31, 40]", "32\nnoise = 4"), "", &["-o", "%d.data", "--frames", "0"]);
}

#[test]
fn the_gpu_runs_the_denoiser() {
    let dir = tempfile::tempdir().unwrap();
    for steady in ["", "denoise_frames = 1"] {
        std::fs::write(dir.path().join("s.toml"), denoised(steady, "[24, 33]", "2")).unwrap();
        for split in ["test:tiles=0", "test:tiles=1"] {
            // GPUs denoise whole frames. The CPU takes over from those that cannot, and keeps no light for other frames.
            let (is_whole, is_alone) = (split == "test:tiles=0", steady.is_empty());
            for (devices, output, is_asked, has_cpu) in [
                ("0", "a%d.data", is_whole, false),
                ("0", "b%d.exr", false, false),
                ("0,cpu", "c%d.data", is_whole && is_alone, true),
                ("0,1", "d%d.data", is_whole, false),
            ] {
                let code = if is_asked && !has_cpu { 69 } else { 0 };
                let args = ["s.toml", "--devices", devices, split, "--overwrite", "--frames", "0-1", "-o", output];
                let start = || polyfly(dir.path(), Some(&stub()), "denoise", &args);
                let run = if is_asked { until_the_gpu_fails(start) } else { start() };
                assert_eq!(run.status.code(), Some(code), "{devices} {output} {steady}: {}", text(&run.stderr));
                assert_eq!(
                    is_asked,
                    text(&run.stderr).contains("illegal memory access"),
                    "{devices} {output}: {}",
                    text(&run.stderr)
                );
            }
        }
    }
}

#[test]
fn devices_share_denoised_frames_and_one_may_fail() {
    let dir = tempfile::tempdir().unwrap();
    for steady in ["", "denoise_frames = 1"] {
        std::fs::write(dir.path().join("s.toml"), denoised(steady, "[24, 16]", "4")).unwrap();
        let run = |devices: &str, split: &str, fault: &str| {
            let args = ["s.toml", "--devices", devices, split, "--overwrite", "-o", "%d.data"];
            let mut command = program(dir.path(), &args);
            command.env("LD_LIBRARY_PATH", stub()).env("POLYFLY_STUB", "");
            if !fault.is_empty() {
                command.env("POLYFLY_FAULT", fault);
            }
            let run = command.output().unwrap();
            assert!(run.status.success(), "{devices} {fault}: {}", text(&run.stderr));
            let file = |n: u32| std::fs::read(dir.path().join(format!("{n}.data"))).unwrap();
            let rays =
                text(&run.stdout).lines().map(|line| line.split('\t').nth(2).unwrap().parse::<u64>().unwrap()).sum();
            ((0..9).map(file).collect::<Vec<_>>(), rays)
        };
        let (expected, rays): (_, u64) = run("cpu", "test:tiles=0", "");
        for (devices, faults) in [("0,1", ["", "1:3"]), ("0,1,cpu", ["", "1:9"]), ("0,cpu", ["0:2", "0:11"])] {
            for (fault, split) in
                faults.into_iter().flat_map(|fault| [(fault, "test:tiles=0"), (fault, "test:tiles=1")])
            {
                assert_eq!(expected, run(devices, split, fault).0, "{devices} {split} {fault} {steady}");
            }
        }
        // Each of two GPUs renders frames in a row, and one more on each side at most.
        let more = run("0,1", "test:tiles=0", "").1 as f64 / rays as f64;
        assert!((1.0..1.5).contains(&more), "{more} {steady}");
    }
}

// With less memory there are fewer tasks in flight, then smaller bands, and then the host denoises.
#[test]
fn denoised_films_on_gpus_of_little_memory_are_the_cpus() {
    for bytes in [16_000_000, 8_000_000, 5_000_000, 2_500_000] {
        let clip = denoised("denoise_frames = 1\nbloom = 0.1", "[96, 112]", "2");
        same_on_gpu("short memory", &clip, &format!("memory:{bytes}"), &["-o", "%d.data", "--frames", "0-2"]);
    }
}

// With less memory fewer frames are in flight, then bands are smaller, then the host runs the steps.
#[test]
fn films_on_gpus_of_little_memory_are_the_cpus() {
    let film = FEW.replace("[75, 50]", "[320, 240]").replace("samples = 2", "samples = 1").replace("@checker", "none");
    let film = format!("{film}\n[film]\nbloom = 0.1\ntone = \"filmic\"\n");
    for bytes in [20_000_000, 6_000_000, 2_500_000, 1_200_000, 900_000] {
        let args = ["-o", "%d.data", "--frames", "0-2", "--video", "v.y4m"];
        same_on_gpu("a film and short memory", &film, &format!("memory:{bytes}"), &args);
    }
}

#[test]
fn several_devices_share_the_frames_of_a_film() {
    let dir = tempfile::tempdir().unwrap();
    let film = format!("{FEW}\n[film]\nbloom = 0.1\ngrain = 0.1\ntone = \"agx\"\n");
    std::fs::write(dir.path().join("s.toml"), film).unwrap();
    let run = |devices: &[&str], name: &str| {
        let args = [&["s.toml", "-o", name][..], devices].concat();
        let run = polyfly(dir.path(), Some(&stub()), "", &args);
        assert!(run.status.success(), "{}", text(&run.stderr));
        (0..7).map(|n| std::fs::read(dir.path().join(name.replace("%d", &n.to_string()))).unwrap()).collect::<Vec<_>>()
    };
    let expected = run(&["--cpu"], "c%d.data");
    assert_eq!(expected, run(&["--devices", "all", "test:tiles=0"], "a%d.data"));
    assert_eq!(expected, run(&["--devices", "0,1,cpu", "test:tiles=0"], "f%d.data"));
    assert_eq!(expected, run(&["--devices", "cpu,1", "test:tiles=1"], "t%d.data"));
}

#[test]
fn time_steps_on_the_gpu_are_the_cpus() {
    let dir = tempfile::tempdir().unwrap();
    let steps = dir.path().join("p%d.bin").display().to_string();
    let run = polyfly(dir.path(), None, "", &["particles", "generate", "200", &steps, "--steps", "5"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let scene = format!(
        "[output]\nframes = 5\nsize = [64, 48]\n[camera]\nposition = [2.5, -3.5, 2]\nlook_at = [0.5, 0.5, 1]\n\
         [[light]]\nposition = [9, -9, 9]\n[particles]\npath = \"{steps}\"\ncolor_by = \"velocity\"\nlegend = true\n"
    );
    same_on_gpu("time steps", &scene, "", &["-o", "%d.data"]);
    same_on_gpu("time steps in tiles", &scene, "", &["-o", "%d.data", "test:tiles=1"]);
}

#[test]
fn several_gpus_and_the_cpu_share_frames_and_tiles() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.toml"), FEW).unwrap();
    let run = |devices: &[&str], name: &str| {
        let args = [&["s.toml", "--frames", "0-4", "-o", name][..], devices].concat();
        // Two GPUs: only the stub is sure to have them.
        let run = polyfly(dir.path(), Some(&stub()), "", &args);
        assert!(run.status.success(), "{}", text(&run.stderr));
        (0..5).map(|n| std::fs::read(dir.path().join(name.replace("%d", &n.to_string()))).unwrap()).collect::<Vec<_>>()
    };
    let expected = run(&["--cpu"], "c%d.data");
    assert_eq!(expected, run(&["--devices", "all"], "a%d.data"));
    assert_eq!(expected, run(&["--devices", "0,1,cpu", "test:tiles=0"], "f%d.data"));
    assert_eq!(expected, run(&["--devices", "cpu,1", "test:tiles=1"], "t%d.data"));
}

#[test]
fn short_memory_means_fewer_tasks_in_flight_then_smaller_bands() {
    // A picture of 1.2 MB; the scene's arrays take some 13 MB with the wood texture.
    let scene = FEW.replace("[75, 50]", "[640, 480]").replace("samples = 2", "samples = 1").replace("@checker", "none");
    for bytes in [6_000_000, 1_500_000, 700_000] {
        same_on_gpu(
            "short memory",
            &scene,
            &format!("memory:{bytes}"),
            &["-o", "%d.data", "--frames", "0-2", "--video", "v.y4m"],
        );
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    let run = polyfly(dir.path(), Some(&stub()), "memory:20000", &["--gpu", "s.toml", "-o", "%d.data"]);
    assert_eq!(run.status.code(), Some(69));
    assert!(
        text(&run.stderr).contains("out of memory") && text(&run.stderr).contains("--size"),
        "{}",
        text(&run.stderr)
    );
}

#[test]
fn a_gpu_that_is_lost_in_mid_run_hands_its_frames_over() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.toml"), FEW).unwrap();
    let args = ["--devices", "0,cpu", "s.toml", "--overwrite", "-o", "%d.data"];
    let run = until_the_gpu_fails(|| polyfly(dir.path(), Some(&stub()), "lost:4", &args));
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("illegal memory access") && text(&run.stderr).contains("others took"));
    let cpu = polyfly(dir.path(), None, "", &["--cpu", "s.toml", "-o", "c%d.data"]);
    assert!(cpu.status.success());
    for n in 0..7 {
        let read = |name: String| std::fs::read(dir.path().join(name)).unwrap();
        assert_eq!(read(format!("{n}.data")), read(format!("c{n}.data")), "frame {n}");
    }
    let alone = polyfly(dir.path(), Some(&stub()), "lost:4", &["--gpu", "s.toml", "-o", "x%d.data"]);
    assert_eq!(alone.status.code(), Some(69), "{}", text(&alone.stderr));
}

#[test]
fn doctor_and_verify_try_the_gpus() {
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(dir.path(), working().as_deref(), "", &["doctor"]);
    assert!(run.status.success(), "{}{}", text(&run.stdout), text(&run.stderr));
    assert!(text(&run.stdout).contains("cuda:0"), "{}", text(&run.stdout));
    let args = ["verify", "--size", "33x21", "--frames", "0,3", &scene("infinity.toml"), &scene("cse260.toml")];
    let run = polyfly(dir.path(), working().as_deref(), "", &args);
    assert!(run.status.success() && text(&run.stdout).contains("cuda:0"), "{}{}", text(&run.stdout), text(&run.stderr));
}

// Adaptive rounds over lists of pixels: finished pictures, and sums with counts for the film.
#[test]
fn adaptive_samples_are_the_same_on_gpus() {
    let dir = tempfile::tempdir().unwrap();
    let mut scenes = Vec::new();
    for (name, film) in [("whitted", ""), ("path", ""), ("ao", ""), ("developed", "[film]\nbloom = 0.1\n")] {
        let integrator = if name == "developed" { String::new() } else { format!("integrator = \"{name}\"\n") };
        let text = format!(
            "[output]\nframes = 1\nsize = [53, 41]\n[render]\nsamples = \"2..12\"\nnoise = 1\ndepth = 5\n{integrator}{film}\
             [camera]\nposition = [3, -4, 2]\nlook_at = [0, 0, 0]\nfov_deg = 50\n\
             [[body]]\nsolid = \"icosahedron\"\nreflection = 0.4\ntransparency = 0.3\nlamps = 3\n\
             [[sphere]]\ncenter = [1.2, -1.2, -0.5]\nradius = 0.5\nreflection = 0.2\n\
             [floor]\ntexture = \"@checker\"\ncorners = [[-4, -4, -1], [-4, 4, -1], [4, 4, -1], [4, -4, -1]]\n\
             [[light]]\nposition = [3, -4, 6]\n"
        );
        std::fs::write(dir.path().join(format!("{name}.toml")), text).unwrap();
        scenes.push(format!("{name}.toml"));
    }
    let run = polyfly(
        dir.path(),
        working().as_deref(),
        "",
        &["verify", "--size", "53x41", &scenes[0], &scenes[1], &scenes[2]],
    );
    assert!(run.status.success() && text(&run.stdout).contains("cuda:0"), "{}{}", text(&run.stdout), text(&run.stderr));
    for scene in &scenes {
        let rendered = |device: &str, name: &str| {
            let run = polyfly(dir.path(), working().as_deref(), "", &[device, "-q", "--overwrite", "-o", name, scene]);
            assert!(run.status.success(), "{}", text(&run.stderr));
            std::fs::read(dir.path().join(name.replace("%d", "0"))).unwrap()
        };
        assert!(rendered("--gpu", "gpu%d.data") == rendered("--cpu", "cpu%d.data"), "{scene}");
        assert!(rendered("--gpu", "gpu%d.exr") == rendered("--cpu", "cpu%d.exr"), "{scene}");
    }
}

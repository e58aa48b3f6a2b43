//! Devices without a GPU: a driver of our own making that is missing, old, empty or failing; workers
//! that fail; and what `doctor` and `verify` say.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod common;

use common::{own, sized};
use polyfly::assets::Assets;
use polyfly::device::cpu::{Cpu, CpuWorker, Isa};
use polyfly::device::{DeviceError, FrameStats};
use polyfly::error::Error;
use polyfly::layout::{FrameData, Layout};
use polyfly::pipeline::{self, Deal, Job, Share, Worker};
use polyfly::report::{LogFormat, Reporter, RunFacts};
use polyfly::scene::Pattern;
use polyfly::sink::FrameFiles;
use polyfly::tiles::{Device, Tiles};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

// A libcuda whose behaviour POLYFLY_STUB chooses. Every call up to the failure is there.
const STUB: &str = r#"
#include <stdlib.h>
#include <string.h>
static int is(const char *s) { const char *m = getenv("POLYFLY_STUB"); return m && !strcmp(m, s); }
int cuDriverGetVersion(int *v) { *v = is("old") ? 12020 : 12080; return 0; }
int cuInit(unsigned f) { return is("init") ? 999 : 0; }
int cuDeviceGetCount(int *n) { *n = is("empty") ? 0 : 2; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *s, int n, int d) { strncpy(s, "Stub GPU", n); return 0; }
int cuDeviceTotalMem_v2(size_t *b, int d) { *b = 8ull << 30; return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)16; return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuGetErrorString(int e, const char **s) { *s = e == 2 ? "out of memory" : e == 218 ? "a PTX JIT compilation failed" : "stub failure"; return 0; }
int cuMemAlloc_v2(unsigned long long *p, size_t n) { if (is("memory")) return 2; *p = (unsigned long long)malloc(n); return 0; }
int cuMemFree_v2(unsigned long long p) { free((void *)p); return 0; }
int cuMemcpyHtoD_v2(unsigned long long d, const void *s, size_t n) { memcpy((void *)d, s, n); return 0; }
int cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *o, void **v) {
  if (!is("ptx")) return 999;
  strcpy((char *)v[0], "ptxas fatal: stub does not like line 7");
  return 218;
}
"#;

fn stub() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("cuda.c");
    std::fs::write(&source, STUB).unwrap();
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(dir.path().join("libcuda.so.1"))
        .arg(&source)
        .status();
    assert!(made.expect("a C compiler is needed").success());
    dir
}

fn polyfly(folder: &Path, library: Option<&Path>, behaviour: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polyfly"));
    command.args(args).current_dir(folder).env("POLYFLY_STUB", behaviour);
    if let Some(library) = library {
        command.env("LD_LIBRARY_PATH", library);
    }
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn scene(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(name).display().to_string()
}

#[test]
fn unusable_gpus_are_69_with_gpu_and_the_cpu_without() {
    let library = stub();
    let scene = scene("infinity.toml");
    for (behaviour, words) in [
        ("old", "too old"),
        ("init", "cuInit"),
        ("empty", "sees no GPU"),
        ("memory", "out of memory"),
        ("ptx", "ptxas fatal: stub does not like line 7"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let args = ["--size", "24x16", "--frames", "0", "--depth", "2", "-o", "%d.data", &scene];
        let run = polyfly(dir.path(), Some(library.path()), behaviour, &[&["--gpu"], &args[..]].concat());
        assert_eq!(run.status.code(), Some(69), "{behaviour}: {}", text(&run.stderr));
        assert!(text(&run.stderr).contains(words), "{behaviour}: {}", text(&run.stderr));
        assert!(!dir.path().join("0.data").exists());
        // Without a flag: one remark, and the CPU.
        let run = polyfly(dir.path(), Some(library.path()), behaviour, &args);
        assert!(run.status.success(), "{behaviour}: {}", text(&run.stderr));
        assert!(text(&run.stderr).contains("rendering on the CPU"), "{behaviour}: {}", text(&run.stderr));
        assert!(dir.path().join("0.data").exists());
        // And with --cpu, nothing is asked of the driver at all.
        let run = polyfly(dir.path(), Some(library.path()), behaviour, &[&["--cpu"], &args[..]].concat());
        assert_eq!((run.status.code(), text(&run.stderr)), (Some(0), String::new()), "{behaviour}");
    }
}

#[test]
fn a_gpu_number_that_is_not_there_is_69() {
    let library = stub();
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(dir.path(), Some(library.path()), "", &["--devices", "0,7", &scene("infinity.toml")]);
    assert_eq!(run.status.code(), Some(69));
    assert!(text(&run.stderr).contains("no GPU 7"), "{}", text(&run.stderr));
    let run = polyfly(dir.path(), Some(library.path()), "", &["--devices", "tpu", &scene("infinity.toml")]);
    assert_eq!(run.status.code(), Some(64));
}

#[test]
fn doctor_tells_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    // A driver without GPUs stands in for whatever this machine has.
    let library = stub();
    let run = polyfly(dir.path(), Some(library.path()), "empty", &["doctor"]);
    let words = text(&run.stdout);
    assert!(run.status.success(), "{words}{}", text(&run.stderr));
    for part in ["polyfly\t", "gpu", "cpu\t", "threads", "ffmpeg\t", "libx264"] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    assert_eq!(words.matches("byte for byte").count(), Isa::available().len(), "{words}");
    let broken = polyfly(dir.path(), Some(stub().path()), "ptx", &["doctor"]);
    assert_eq!(broken.status.code(), Some(70));
    assert!(text(&broken.stdout).contains("stub does not like line 7"), "{}", text(&broken.stdout));
    let old = polyfly(dir.path(), Some(stub().path()), "old", &["doctor"]);
    assert!(old.status.success() && text(&old.stdout).contains("too old"), "{}", text(&old.stdout));
}

#[test]
fn verify_compares_all_devices() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        polyfly(dir.path(), None, "", &["verify", "--size", "33x21", &scene("default.txt"), &scene("garland.toml")]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let words = text(&run.stdout);
    assert_eq!(words.lines().count(), 2);
    assert!(words.contains("2 frames") && words.contains("cpu scalar"), "{words}");
}

// A device that paints the frame's number, slowly or not, and fails when told.
struct Painter {
    name: String,
    frames: usize,
    delay: std::time::Duration,
}

impl Worker for Painter {
    fn name(&self) -> &str {
        &self.name
    }
    fn in_flight(&self) -> usize {
        2
    }
    fn run(&mut self, deal: &Deal) -> Result<(), (DeviceError, Vec<usize>)> {
        while let Some((mut hand, mut picture)) = deal.take(true) {
            let (index, frame) = hand.keep();
            if self.frames == 0 {
                return Err((DeviceError::Cuda("painter is out of paint".into()), vec![index]));
            }
            self.frames -= 1;
            std::thread::sleep(self.delay);
            picture.rgba.sized(16).fill(frame as u8);
            deal.finish(index, frame, picture, FrameStats::default());
        }
        Ok(())
    }
    fn shares(&self) -> Vec<Share> {
        vec![Share::new(&self.name)]
    }
}

fn paint(painters: &[(usize, u64)], folder: &Path) -> Result<(), Error> {
    let mut workers: Vec<Box<dyn Worker>> = Vec::new();
    for (i, &(frames, delay)) in painters.iter().enumerate() {
        workers.push(Box::new(Painter {
            name: format!("painter {i}"),
            frames,
            delay: std::time::Duration::from_millis(delay),
        }));
    }
    run_workers(&mut workers, (2, 2), 60, folder)
}

fn run_workers(
    workers: &mut [Box<dyn Worker + '_>],
    (width, height): (u32, u32),
    frames: u32,
    folder: &Path,
) -> Result<(), Error> {
    let frames: Vec<u32> = (0..frames).collect();
    let pattern = Pattern::parse(&folder.join("%d.data").display().to_string()).unwrap().0;
    let files = Some(FrameFiles::open(pattern, 0).unwrap());
    let facts = RunFacts {
        scene: String::new(),
        frames: frames.len(),
        width,
        height,
        samples: 1,
        samples_per_pixel: 1,
        depth: 1,
        device: String::new(),
        threads: 1,
    };
    let mut reporter = Reporter::start(LogFormat::Text, true, facts, 2);
    let job =
        Job { frames: &frames, width, height, files, video: None, isa: Isa::available()[0], writers: 2, legend: None };
    pipeline::run(workers, job, &mut reporter, &AtomicBool::new(false)).map(|_| ())
}

fn painted(folder: &Path) -> usize {
    (0..60u8).filter(|n| std::fs::read(folder.join(format!("{n}.data"))).is_ok_and(|b| b[8..] == [*n; 16])).count()
}

#[test]
fn frames_are_dealt_to_whoever_is_free() {
    let dir = tempfile::tempdir().unwrap();
    paint(&[(1000, 0), (1000, 3), (1000, 1)], dir.path()).unwrap();
    assert_eq!(painted(dir.path()), 60);
}

#[test]
fn a_failed_device_hands_its_frames_to_the_others() {
    for painters in [[(5, 0), (1000, 1)], [(0, 0), (1000, 0)], [(1000, 2), (59, 0)]] {
        let dir = tempfile::tempdir().unwrap();
        paint(&painters, dir.path()).unwrap();
        assert_eq!(painted(dir.path()), 60, "{painters:?}");
    }
}

#[test]
fn the_run_fails_when_no_device_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let e = paint(&[(5, 0), (7, 0)], dir.path()).unwrap_err();
    assert!(matches!(e, Error::Device(_)), "{e}");
    assert_eq!(painted(dir.path()), 12, "what was finished is kept");
}

// The CPU under another name, which fails after some bands.
struct Mortal<'a> {
    inner: CpuWorker<'a>,
    bands: AtomicUsize,
}

impl Worker for Mortal<'_> {
    fn name(&self) -> &str {
        "mortal"
    }
    fn in_flight(&self) -> usize {
        1
    }
    fn run(&mut self, deal: &Deal) -> Result<(), (DeviceError, Vec<usize>)> {
        self.inner.run(deal)
    }
    fn shares(&self) -> Vec<Share> {
        self.inner.shares()
    }
}

impl Device for Mortal<'_> {
    fn lanes(&self) -> usize {
        2
    }
    fn rows(&self, lane: usize, camera: &FrameData, top: u32, rgba: &mut [u8]) -> Result<FrameStats, DeviceError> {
        let left = self.bands.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        left.map_err(|_| DeviceError::Cuda("its time has come".into()))?;
        self.inner.rows(lane, camera, top, rgba)
    }
}

// Renders six frames in tiles shared by devices that live for so many bands.
fn share_tiles(lives: &[usize], folder: &Path) -> Result<(), Error> {
    let scene = sized(own("default.txt"), 97, 131, 1);
    let sets = Isa::available();
    let cpus: Vec<Cpu> = (0..lives.len())
        .map(|i| Cpu::new(sets[i % sets.len()], 1, &scene, Layout::new(&scene, &Assets::default())).unwrap())
        .collect();
    let devices = lives.iter().zip(&cpus).map(|(&n, cpu)| {
        let inner = CpuWorker::new(cpu, &scene);
        Box::new(Mortal { inner, bands: AtomicUsize::new(n) }) as Box<dyn Device>
    });
    let mut workers: Vec<Box<dyn Worker>> = vec![Box::new(Tiles::new(devices.collect(), &scene))];
    run_workers(&mut workers, (97, 131), 6, folder)?;
    for n in 0..6 {
        let (mut whole, file) = (Vec::new(), std::fs::read(folder.join(format!("{n}.data"))).unwrap());
        cpus[0].render(&polyfly::layout::frame(&scene, n), &mut whole);
        assert_eq!(file[8..], whole, "frame {n}");
    }
    let shares = workers[0].shares();
    assert_eq!(shares.iter().map(|s| s.pieces).sum::<usize>(), 6 * 131usize.div_ceil(32));
    Ok(())
}

#[test]
fn tiles_of_a_frame_are_shared() {
    for lives in [&[1000][..], &[1000, 1000], &[1000, 3, 1000], &[0, 1000], &[7, 29]] {
        let dir = tempfile::tempdir().unwrap();
        share_tiles(lives, dir.path()).unwrap_or_else(|e| panic!("{lives:?}: {e}"));
    }
}

#[test]
fn tiles_fail_when_no_device_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let e = share_tiles(&[4, 9], dir.path()).unwrap_err();
    assert!(matches!(e, Error::Device(_)), "{e}");
    assert!(dir.path().join("0.data").exists(), "what was finished is kept");
    assert!(!dir.path().join("5.data").exists());
}

#[test]
fn split_does_not_show_in_the_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let scene = scene("infinity.toml");
    let run = |split: &str, name: &str| {
        let output = format!("{name}%d.data");
        let run = polyfly(
            dir.path(),
            None,
            "",
            &[&scene, "--cpu", "--size", "75x50", "--frames", "0-2", "--split", split, "-o", &output],
        );
        assert!(run.status.success(), "{}", text(&run.stderr));
        (0..3).map(|n| std::fs::read(dir.path().join(format!("{name}{n}.data"))).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(run("frames", "f"), run("tiles", "t"));
}

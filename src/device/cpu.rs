//! The CPU device: the shared kernel in the widest lanes this machine has, tiles over a work-stealing pool.
#![expect(unsafe_code, reason = "calls the kernels through their C entries")]

use super::{DeviceError, FrameStats, Schedule, balance};
use crate::layout::{Array, Counts, FrameData, Layout, SceneData, World};
use crate::pipeline::{Deal, Memory, Share, Worker};
use crate::scene::Scene;
use crate::tiles::Device;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Pixels along a tile's side; kernels/wave.cuh says the same.
pub const TILE: u32 = 16;

type ScratchBytes = unsafe extern "C" fn(*const SceneData) -> u64;
type TraceTile = unsafe extern "C" fn(*const SceneData, *const FrameData, i32, i32, *mut u32, *mut u8, *mut Counts);
type Convert = unsafe extern "C" fn(*const u32, i32, i32, i32, i32, *mut u8, *mut u8, *mut u8);
type LightPoints = unsafe extern "C" fn(
    *const SceneData,
    *const f32,
    i32,
    *const f32,
    *const f32,
    *const f32,
    i32,
    i32,
    f32,
    *mut f32,
);
type Develop = unsafe extern "C" fn(*const SceneData, *const i64, i64, f32, *mut u32);
type Meet = unsafe extern "C" fn(*const SceneData, *const f32, *const f32, i32, i32, *mut f32, *mut i32);
type Fused = unsafe extern "C" fn(*const f32, *const f32, *const f32, *mut f32, i32);

/// One compiled instruction set of the kernels.
#[derive(Clone, Copy)]
pub struct Isa {
    /// `avx512`, `avx2`, `baseline`, `neon` or `scalar`.
    pub name: &'static str,
    /// Rays traced at once.
    pub lanes: usize,
    scratch_bytes: ScratchBytes,
    trace_tile: TraceTile,
    convert: Convert,
    light_points: LightPoints,
    fused: Fused,
    develop: Develop,
    meet: Meet,
}

impl std::fmt::Debug for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} lanes)", self.name, self.lanes)
    }
}

macro_rules! isa {
    ($name:literal, $lanes:literal, $scratch:ident, $trace:ident, $convert:ident, $light:ident, $fused:ident, $develop:ident, $meet:ident) => {{
        unsafe extern "C" {
            fn $scratch(scene: *const SceneData) -> u64;
            fn $trace(
                s: *const SceneData,
                f: *const FrameData,
                left: i32,
                top: i32,
                rgba: *mut u32,
                scratch: *mut u8,
                counts: *mut Counts,
            );
            fn $convert(
                rgba: *const u32,
                width: i32,
                height: i32,
                first: i32,
                end: i32,
                y: *mut u8,
                u: *mut u8,
                v: *mut u8,
            );
            fn $light(
                s: *const SceneData,
                p: *const f32,
                n: i32,
                normal: *const f32,
                lamps: *const f32,
                colours: *const f32,
                count: i32,
                from: i32,
                softening: f32,
                light: *mut f32,
            );
            fn $fused(a: *const f32, b: *const f32, c: *const f32, r: *mut f32, n: i32);
            fn $develop(s: *const SceneData, sums: *const i64, n: i64, scale: f32, rgba: *mut u32);
            fn $meet(
                s: *const SceneData,
                o: *const f32,
                d: *const f32,
                n: i32,
                in_turn: i32,
                t: *mut f32,
                surface: *mut i32,
            );
        }
        Isa {
            name: $name,
            lanes: $lanes,
            scratch_bytes: $scratch,
            trace_tile: $trace,
            convert: $convert,
            light_points: $light,
            fused: $fused,
            develop: $develop,
            meet: $meet,
        }
    }};
}

impl Isa {
    /// The instruction sets that this machine can run, widest first; the last is the GPU's own driver on one lane.
    pub fn available() -> Vec<Isa> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let wide = ["avx512f", "avx512dq", "avx512bw", "avx512vl"];
            let has = |name: &str| match name {
                "avx512f" => is_x86_feature_detected!("avx512f"),
                "avx512dq" => is_x86_feature_detected!("avx512dq"),
                "avx512bw" => is_x86_feature_detected!("avx512bw"),
                _ => is_x86_feature_detected!("avx512vl"),
            };
            if wide.into_iter().all(has) {
                sets.push(isa!(
                    "avx512",
                    16,
                    polyfly_scratch_bytes_avx512,
                    polyfly_trace_tile_avx512,
                    polyfly_convert_avx512,
                    polyfly_light_points_avx512,
                    polyfly_fused_avx512,
                    polyfly_develop_avx512,
                    polyfly_meet_avx512
                ));
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                sets.push(isa!(
                    "avx2",
                    8,
                    polyfly_scratch_bytes_avx2,
                    polyfly_trace_tile_avx2,
                    polyfly_convert_avx2,
                    polyfly_light_points_avx2,
                    polyfly_fused_avx2,
                    polyfly_develop_avx2,
                    polyfly_meet_avx2
                ));
            }
        }
        #[cfg(target_arch = "aarch64")]
        sets.push(isa!(
            "neon",
            4,
            polyfly_scratch_bytes_neon,
            polyfly_trace_tile_neon,
            polyfly_convert_neon,
            polyfly_light_points_neon,
            polyfly_fused_neon,
            polyfly_develop_neon,
            polyfly_meet_neon
        ));
        #[cfg(not(target_arch = "aarch64"))]
        sets.push(isa!(
            "baseline",
            4,
            polyfly_scratch_bytes_baseline,
            polyfly_trace_tile_baseline,
            polyfly_convert_baseline,
            polyfly_light_points_baseline,
            polyfly_fused_baseline,
            polyfly_develop_baseline,
            polyfly_meet_baseline
        ));
        sets.push(isa!(
            "scalar",
            1,
            polyfly_scratch_bytes_scalar,
            polyfly_trace_tile_scalar,
            polyfly_convert_scalar,
            polyfly_light_points_scalar,
            polyfly_fused_scalar,
            polyfly_develop_scalar,
            polyfly_meet_scalar
        ));
        sets
    }

    /// One lane that counts its floating-point operations; slow, and never for pictures.
    pub fn counting() -> Isa {
        isa!(
            "counting",
            1,
            polyfly_scratch_bytes_counting,
            polyfly_trace_tile_counting,
            polyfly_convert_counting,
            polyfly_light_points_counting,
            polyfly_fused_counting,
            polyfly_develop_counting,
            polyfly_meet_counting
        )
    }

    /// The widest, or the one that `POLYFLY_ISA` names.
    pub fn pick() -> Result<Isa, DeviceError> {
        let sets = Isa::available();
        match std::env::var("POLYFLY_ISA") {
            Ok(asked) if !asked.is_empty() => sets.iter().find(|s| s.name == asked).copied().ok_or_else(|| {
                DeviceError::Isa { asked, available: sets.iter().map(|s| s.name).collect::<Vec<_>>().join(", ") }
            }),
            _ => Ok(sets[0]),
        }
    }

    /// Fused multiply-add of each triple, for tests; the length must be a multiple of the lanes.
    pub fn fused(&self, a: &[f32], b: &[f32], c: &[f32]) -> Vec<f32> {
        let n = a.len();
        assert!(b.len() == n && c.len() == n && n.is_multiple_of(self.lanes));
        let mut r = vec![0.0; n];
        // SAFETY: all four arrays hold n floats, and the kernel touches only whole groups of lanes below n.
        unsafe { (self.fused)(a.as_ptr(), b.as_ptr(), c.as_ptr(), r.as_mut_ptr(), n as i32) };
        r
    }
}

// Memory for one thread's tile, aligned for the widest lanes.
struct Scratch(Vec<[u64; 8]>);

impl Scratch {
    fn new(bytes: u64) -> Scratch {
        Scratch(vec![[0; 8]; (bytes as usize).div_ceil(64) + 1])
    }
    fn aligned(&mut self) -> *mut u8 {
        let start = self.0.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.align_offset(64))
    }
}

// Shares a picture among threads that write different pixels of it.
#[derive(Clone, Copy)]
struct Pixels(*mut u32);
// SAFETY: every tile writes its own pixels only, and the picture outlives the pool's work on it.
unsafe impl Sync for Pixels {}
// SAFETY: as above.
unsafe impl Send for Pixels {}
impl Pixels {
    fn start(self) -> *mut u32 {
        self.0
    }
}

/// The CPU with a scene on it.
pub struct Cpu {
    isa: Isa,
    pool: rayon::ThreadPool,
    layout: Layout,
    scratch: Vec<Mutex<Scratch>>,
}

impl Cpu {
    /// Starts `threads` threads (0 = one a core) and works out the lamp light of `layout`.
    pub fn new(isa: Isa, threads: usize, scene: &Scene, layout: Layout) -> Result<Cpu, DeviceError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("trace-{i}"))
            .build()
            .map_err(|e| DeviceError::Threads(threads, e.to_string()))?;
        let mut cpu = Cpu { isa, pool, layout, scratch: Vec::new() };
        cpu.light_floor(scene);
        let host = cpu.layout.host();
        // SAFETY: the struct is whole; the entry reads its depth only.
        let bytes = unsafe { (isa.scratch_bytes)(&host) };
        cpu.scratch = (0..cpu.pool.current_num_threads()).map(|_| Mutex::new(Scratch::new(bytes))).collect();
        Ok(cpu)
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.isa
    }
    /// Threads that trace.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
    /// Puts other particles in place of those that are there.
    pub fn show(&mut self, world: World) {
        self.layout.set_world(world);
    }
    /// The arrays, lamp light included.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Renders one frame into `rgba`, which is resized to width x height x 4 bytes.
    pub fn render(&self, frame: &FrameData, rgba: &mut Vec<u8>) -> FrameStats {
        let scene = self.layout.host();
        rgba.resize(4 * scene.rest.width as usize * scene.rest.height as usize, 0);
        self.render_rows(frame, 0, rgba)
    }

    /// Renders the rows of a frame that `rgba` holds; the first is row `top`, a multiple of the tile's 16.
    pub fn render_rows(&self, frame: &FrameData, top: u32, rgba: &mut [u8]) -> FrameStats {
        let start = Instant::now();
        let scene = self.layout.host();
        let row = 4 * scene.rest.width as usize;
        let (width, bottom) = (scene.rest.width as u32, top + (rgba.len() / row) as u32);
        let last = bottom == scene.rest.height as u32;
        assert!(rgba.len().is_multiple_of(row) && top.is_multiple_of(TILE) && (last || bottom.is_multiple_of(TILE)));
        let (across, first, end) = (width.div_ceil(TILE), top / TILE, bottom.div_ceil(TILE));
        assert!(rgba.as_ptr().cast::<u32>().is_aligned(), "the allocator aligns pictures");
        // Tiles count rows from the picture's start.
        let pixels = Pixels(rgba.as_mut_ptr().wrapping_sub(row * top as usize).cast());
        let work: Vec<AtomicU64> = self.scratch.iter().map(|_| AtomicU64::new(0)).collect();
        let counts = self.pool.install(|| {
            (across * first..across * end)
                .into_par_iter()
                .with_min_len(4)
                .map(|tile| {
                    let thread = rayon::current_thread_index().unwrap_or(0);
                    let counts = self.tile(&scene, frame, (tile % across, tile / across), pixels, thread);
                    work[thread].fetch_add(counts.rays, Ordering::Relaxed);
                    counts
                })
                .reduce(Counts::default, |mut a, b| {
                    a.rays += b.rays;
                    a.shadow_rays += b.shadow_rays;
                    a
                })
        });
        let time = start.elapsed();
        let work: Vec<u64> = work.into_iter().map(AtomicU64::into_inner).collect();
        FrameStats {
            time,
            kernel: time,
            rays: counts.rays,
            shadow_rays: counts.shadow_rays,
            balance: balance(&work),
            ..FrameStats::default()
        }
    }

    // Traces one tile with a thread's own scratch memory.
    fn tile(&self, scene: &SceneData, frame: &FrameData, (x, y): (u32, u32), pixels: Pixels, thread: usize) -> Counts {
        let mut scratch = self.scratch[thread].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut counts = Counts::default();
        let (left, top) = ((x * TILE) as i32, (y * TILE) as i32);
        // SAFETY: the scene's arrays live in self.layout; the picture holds width x height pixels and the
        // tile writes those of its own that lie inside; scratch has the size that this instruction set
        // asked for and is this thread's while it holds the lock.
        unsafe { (self.isa.trace_tile)(scene, frame, left, top, pixels.start(), scratch.aligned(), &mut counts) };
        counts
    }

    /// Traces samples first .. first + count of each pixel of a path-traced frame, and leaves their light in `sums`:
    /// three numbers a pixel.
    pub fn pass(&self, frame: &FrameData, first: u32, count: u32, sums: &mut [i64]) -> FrameStats {
        let start = Instant::now();
        let mut scene = self.layout.host();
        let (width, height) = (scene.rest.width as u32, scene.rest.height as u32);
        assert_eq!(sums.len(), 3 * width as usize * height as usize);
        scene.sums = Array::new(sums.as_mut_ptr(), sums.len());
        (scene.rest.first_sample, scene.rest.each) = (first as i32, count as i32);
        let across = width.div_ceil(TILE);
        // Passes make no picture.
        let nowhere = Pixels(std::ptr::null_mut());
        let counts = self.pool.install(|| {
            let tiles = (0..across * height.div_ceil(TILE)).into_par_iter();
            let traced = tiles.map(|tile| {
                let thread = rayon::current_thread_index().unwrap_or(0);
                self.tile(&scene, frame, (tile % across, tile / across), nowhere, thread)
            });
            traced.map(|c| (c.rays, c.shadow_rays)).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
        });
        let time = start.elapsed();
        FrameStats { time, kernel: time, rays: counts.0, shadow_rays: counts.1, ..FrameStats::default() }
    }

    /// Floating-point operations of a frame: an addition, multiplication, division or root is one, a fused
    /// multiply-add two. The device must be of [`Isa::counting`].
    pub fn flops(&self, frame: &FrameData) -> u64 {
        unsafe extern "C" {
            fn polyfly_flops_counting() -> u64;
        }
        // SAFETY: reads a counter of the calling thread.
        let so_far = || unsafe { polyfly_flops_counting() };
        let scene = self.layout.host();
        let (width, height) = (scene.rest.width as u32, scene.rest.height as u32);
        let mut rgba = vec![0u32; width as usize * height as usize];
        let pixels = Pixels(rgba.as_mut_ptr());
        let across = width.div_ceil(TILE);
        self.pool.install(|| {
            let tiles = (0..across * height.div_ceil(TILE)).into_par_iter();
            let counted = tiles.map(|tile| {
                let before = so_far();
                let thread = rayon::current_thread_index().unwrap_or(0);
                self.tile(&scene, frame, (tile % across, tile / across), pixels, thread);
                so_far() - before
            });
            counted.sum()
        })
    }

    /// Renders a frame with its tiles dealt out in a given way to plain threads, for comparing the ways. Gives the rays
    /// of each thread too.
    pub fn render_scheduled(&self, frame: &FrameData, schedule: Schedule, threads: usize) -> (FrameStats, Vec<u64>) {
        let scene = self.layout.host();
        let (width, height) = (scene.rest.width as u32, scene.rest.height as u32);
        let mut rgba = vec![0u8; 4 * width as usize * height as usize];
        let (across, down) = (width.div_ceil(TILE), height.div_ceil(TILE));
        let (tiles, threads) = ((across * down) as usize, threads.clamp(1, self.scratch.len()));
        assert!(rgba.as_ptr().cast::<u32>().is_aligned(), "the allocator aligns pictures");
        let pixels = Pixels(rgba.as_mut_ptr().cast());
        let (next, share) = (AtomicUsize::new(0), tiles.div_ceil(threads));
        let start = Instant::now();
        let counts: Vec<Counts> = std::thread::scope(|scope| {
            let (next, scene) = (&next, &scene);
            let handles: Vec<_> = (0..threads)
                .map(|thread| {
                    scope.spawn(move || {
                        let mut sum = Counts::default();
                        let mut take = |tile: usize| {
                            let tile = tile as u32;
                            let counts = self.tile(scene, frame, (tile % across, tile / across), pixels, thread);
                            sum.rays += counts.rays;
                            sum.shadow_rays += counts.shadow_rays;
                        };
                        match schedule {
                            Schedule::Static => (thread * share..((thread + 1) * share).min(tiles)).for_each(&mut take),
                            Schedule::Cyclic => (thread..tiles).step_by(threads).for_each(&mut take),
                            Schedule::Dynamic => {
                                std::iter::from_fn(|| {
                                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&t| t < tiles)
                                })
                                .for_each(&mut take);
                            }
                        }
                        sum
                    })
                })
                .collect();
            handles.into_iter().map(|h| h.join().unwrap_or_default()).collect()
        });
        let time = start.elapsed();
        let work: Vec<u64> = counts.iter().map(|c| c.rays).collect();
        let shadow_rays = counts.iter().map(|c| c.shadow_rays).sum();
        let stats = FrameStats {
            time,
            kernel: time,
            rays: work.iter().sum(),
            shadow_rays,
            balance: balance(&work),
            ..FrameStats::default()
        };
        (stats, work)
    }

    // Lamp light on the floor, once for all frames: bodies and lamps do not move.
    fn light_floor(&mut self, scene: &Scene) {
        let Some(plan) = self.layout.glow_plan(scene) else { return };
        let host = self.layout.host();
        let mut light = vec![0.0f32; 3 * plan.points.len()];
        const CHUNK: usize = 256;
        self.pool.install(|| {
            light.par_chunks_mut(3 * CHUNK).zip(plan.points.par_chunks(CHUNK)).for_each(|(light, points)| {
                for (patch, normal) in plan.normals.iter().enumerate() {
                    let chosen: Vec<usize> = (0..points.len()).filter(|&i| points[i].1 == patch).collect();
                    let flat: Vec<f32> = chosen.iter().flat_map(|&i| points[i].0).collect();
                    let mut out = vec![0.0f32; flat.len()];
                    // SAFETY: points, lamps and colours hold three floats each as counted, and `out` as many as points.
                    unsafe {
                        (self.isa.light_points)(
                            &host,
                            flat.as_ptr(),
                            chosen.len() as i32,
                            normal.as_ptr(),
                            plan.lamps.as_ptr(),
                            plan.colours.as_ptr(),
                            (plan.lamps.len() / 3) as i32,
                            FROM_FLOOR + patch as i32,
                            plan.softening,
                            out.as_mut_ptr(),
                        );
                    }
                    for (k, &i) in chosen.iter().enumerate() {
                        light[3 * i..3 * i + 3].copy_from_slice(&out[3 * k..3 * k + 3]);
                    }
                }
            });
        });
        self.layout.set_glow(plan.size, &light);
    }
}

const FROM_FLOOR: i32 = -4;

/// The picture of `samples` samples' sums, as every device develops it. `rgba` holds 4 bytes a pixel.
pub fn develop(isa: Isa, layout: &Layout, sums: &[i64], samples: u32, rgba: &mut [u8]) {
    let pixels = rgba.len() / 4;
    assert!(sums.len() == 3 * pixels && rgba.as_ptr().cast::<u32>().is_aligned());
    let scale = 1.0 / (FIXED_ONE * samples as f32);
    // SAFETY: three sums and four bytes for each pixel; the scene's curve lives in `layout`.
    unsafe { (isa.develop)(&layout.host(), sums.as_ptr(), pixels as i64, scale, rgba.as_mut_ptr().cast()) };
}

/// What each of some rays meets first: the distance, and the surface's number. For tests: with the tree, or by asking
/// everything in turn. Origins and directions are x, y, z each.
pub fn meet(isa: Isa, layout: &Layout, origins: &[f32], directions: &[f32], in_turn: bool) -> (Vec<f32>, Vec<i32>) {
    assert_eq!(origins.len(), directions.len());
    let n = origins.len() / 3;
    let (mut t, mut surfaces) = (vec![0.0; n], vec![0; n]);
    // SAFETY: three numbers for each ray, one distance and one surface; the scene's arrays live in `layout`.
    unsafe {
        (isa.meet)(
            &layout.host(),
            origins.as_ptr(),
            directions.as_ptr(),
            n as i32,
            i32::from(in_turn),
            t.as_mut_ptr(),
            surfaces.as_mut_ptr(),
        );
    }
    (t, surfaces)
}

const FIXED_ONE: f32 = 1_048_576.0;

/// Converts RGBA to planar YUV 4:2:0, BT.709 limited range, with the kernels' own arithmetic.
/// Odd sizes are padded by one pixel. `yuv` is resized to hold the planes.
pub fn convert(isa: Isa, rgba: &[u8], width: u32, height: u32, yuv: &mut Vec<u8>) {
    let (wide, tall) = (width.next_multiple_of(2) as usize, height.next_multiple_of(2) as usize);
    assert_eq!(rgba.len(), 4 * width as usize * height as usize);
    yuv.resize(wide * tall * 3 / 2, 0);
    let (y, chroma) = yuv.split_at_mut(wide * tall);
    let (u, v) = chroma.split_at_mut(wide * tall / 4);
    assert!(rgba.as_ptr().cast::<u32>().is_aligned(), "the allocator aligns pictures");
    // SAFETY: rgba holds width x height pixels; the planes hold the padded picture, a quarter of it for
    // the two of chroma; rows 0 .. tall / 2 are all there are.
    unsafe {
        (isa.convert)(
            rgba.as_ptr().cast(),
            width as i32,
            height as i32,
            0,
            (tall / 2) as i32,
            y.as_mut_ptr(),
            u.as_mut_ptr(),
            v.as_mut_ptr(),
        );
    }
}

/// The CPU as one of the pipeline's workers.
pub struct CpuWorker<'a> {
    cpu: &'a Cpu,
    // For the camera.
    scene: &'a Scene,
    share: Share,
}

impl<'a> CpuWorker<'a> {
    /// The device, with the scene that is on it.
    pub fn new(cpu: &'a Cpu, scene: &'a Scene) -> CpuWorker<'a> {
        CpuWorker { cpu, scene, share: Share::new("cpu") }
    }
}

impl Worker for CpuWorker<'_> {
    fn name(&self) -> &str {
        "cpu"
    }
    fn in_flight(&self) -> usize {
        1
    }
    fn run(&mut self, deal: &Deal) -> Result<(), (DeviceError, Vec<usize>)> {
        let bytes = 4 * self.scene.width as usize * self.scene.height as usize;
        while let Some((mut hand, mut picture)) = deal.take(true) {
            let stats =
                self.cpu.render_rows(&crate::layout::frame(self.scene, hand.frame()), 0, picture.rgba.sized(bytes));
            self.share.add(&stats);
            // A GPU may have used this memory: its planes are another frame's.
            picture.yuv = Memory::default();
            let (index, frame) = hand.keep();
            deal.finish(index, frame, picture, stats);
        }
        Ok(())
    }
    fn shares(&self) -> Vec<Share> {
        vec![self.share.clone()]
    }
}

impl Device for CpuWorker<'_> {
    fn lanes(&self) -> usize {
        1
    }
    fn rows(&self, _: usize, camera: &FrameData, top: u32, rgba: &mut [u8]) -> Result<FrameStats, DeviceError> {
        Ok(self.cpu.render_rows(camera, top, rgba))
    }
}

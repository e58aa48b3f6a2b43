//! The compiled kernels: a table of entry points for each instruction set of this machine's CPU.
#![expect(unsafe_code, reason = "calls the kernels through their C entries")]

pub(crate) mod denoise;
pub(crate) mod develop;

use crate::device_scene::shapes::origin_outside;
use crate::device_scene::{DeviceScene, HostScene, lightmap};
use crate::gpu_types::{Counts, FilmBuffers, FrameParams, Launch, SHAPE_FLOOR, SmallScene, TILE};
use crate::scene::Scene as SceneDescription;
use rayon::prelude::*;

/// One compiled instruction set of the kernels.
#[derive(Clone, Copy)]
pub struct Isa {
    /// `avx512`, `avx2`, `baseline`, `neon`, `simd128` (WebAssembly) or `scalar`.
    pub name: &'static str,
    /// The number of rays traced at once.
    pub lanes: usize,
    pub(crate) entries: Entries,
}

// The struct of entry points, and a macro that fills it, generated from kernels/entries.def by build.rs.
pub(crate) mod entries {
    include!(concat!(env!("OUT_DIR"), "/entries.rs"));
    pub(super) use entries;
}
use entries::Entries;

macro_rules! isa {
    ($name:literal, $lanes:literal) => {
        Isa { name: $name, lanes: $lanes, entries: entries::entries!($name) }
    };
}

impl std::fmt::Debug for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} lanes)", self.name, self.lanes)
    }
}

impl Isa {
    /// The instruction sets that this machine supports, the widest first. The last one runs the GPU's driver on one
    /// lane.
    pub fn available() -> Vec<Isa> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
            {
                sets.push(isa!("avx512", 16));
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                sets.push(isa!("avx2", 8));
            }
        }
        #[cfg(target_arch = "aarch64")]
        sets.push(isa!("neon", 4));
        #[cfg(target_arch = "wasm32")]
        sets.push(isa!("simd128", 4));
        #[cfg(not(any(target_arch = "aarch64", target_arch = "wasm32")))]
        sets.push(isa!("baseline", 4));
        #[cfg(not(target_arch = "wasm32"))]
        sets.push(isa!("scalar", 1));
        sets
    }

    /// The sets that tests compare: all that this machine supports, and `domain` (tests/domain). The latter has one
    /// lane with a GPU's operations, and returns NaN where a GPU's reciprocal or square root may differ from a CPU's.
    #[cfg(any(test, feature = "domain"))]
    pub fn tested() -> Vec<Isa> {
        // A fuzzer links the package itself.
        #[cfg(test)]
        use polyfly_domain as _;
        let mut sets = Isa::available();
        sets.push(isa!("domain", 1));
        sets
    }

    /// One lane that counts floating-point operations, for who links benches/kernels: inlined, so that nobody else needs the set.
    #[inline]
    pub fn counting() -> Isa {
        isa!("counting", 1)
    }

    /// The instruction set of this name; the widest one by default.
    pub fn pick(asked: Option<&str>) -> Result<Isa, UnknownIsa> {
        #[cfg(not(any(test, feature = "domain")))]
        let sets = Isa::available();
        #[cfg(any(test, feature = "domain"))]
        let sets = Isa::tested();
        match asked {
            None => Ok(sets[0]),
            Some(name) => sets.iter().find(|s| s.name == name).copied().ok_or_else(|| UnknownIsa {
                asked: name.to_owned(),
                available: sets.iter().map(|s| s.name).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// Bytes of scratch memory that [`Isa::trace_tile`] needs.
    pub fn scratch_bytes(&self, scene: &HostScene) -> usize {
        // SAFETY: the struct is whole; the entry reads its depth only.
        (unsafe { (self.entries.scratch_bytes)(&scene.arrays) }) as usize
    }

    /// Traces the tile whose first pixel is (left, top), multiples of [`TILE`], into the film.
    ///
    /// # Safety
    /// Each of the film's pointers is null or points to memory for all pixels of the tile that lie inside the
    /// picture, from row `film.first_row`. No other thread may access these pixels meanwhile.
    pub unsafe fn trace_tile(&self, job: &FrameJob, (left, top): (i32, i32), scratch: &mut Scratch) -> Counts {
        let mut counts = Counts::default();
        let (scene, small) = (&job.scene.arrays, job.small.as_ref().map_or(std::ptr::null(), std::ptr::from_ref));
        assert!(scratch.len() >= self.scratch_bytes(&job.scene));
        let (frame, launch, film, memory) = (job.frame, &job.launch, &job.film, scratch.aligned());
        // SAFETY: the scene's arrays are borrowed; scratch is as large as asked for and this call's alone; the film is the
        // caller's promise.
        unsafe { (self.entries.trace_tile)(scene, small, frame, launch, film, left, top, memory, &mut counts) };
        counts
    }

    /// Applies the tone curve to a row of linear light, r, g, b for each pixel. With a number in `dither`, the row is
    /// dithered.
    pub fn tone_map(&self, scene: &HostScene, linear: &[f32], dither: Option<i32>, rgba: &mut [u32]) {
        assert_eq!(linear.len(), 3 * rgba.len());
        // SAFETY: three numbers for each of rgba's pixels.
        unsafe {
            let (n, row) = (rgba.len() as i64, dither.unwrap_or(0));
            let dither = i32::from(dither.is_some());
            (self.entries.tone_map)(&scene.arrays, linear.as_ptr(), n, dither, row, rgba.as_mut_ptr());
        };
    }

    /// Converts RGBA to planar YUV 4:2:0, BT.709 limited range, with the kernels' own arithmetic.
    /// Odd sizes are padded by one pixel. `yuv` is resized to hold the planes.
    pub fn convert(&self, rgba: &[u8], width: u32, height: u32, yuv: &mut Vec<u8>) {
        let (wide, tall) = (width.next_multiple_of(2) as usize, height.next_multiple_of(2) as usize);
        let pixels: &[u32] = bytemuck::cast_slice(rgba);
        assert_eq!(pixels.len(), width as usize * height as usize);
        yuv.resize(wide * tall * 3 / 2, 0);
        let (y, chroma) = yuv.split_at_mut(wide * tall);
        let (u, v) = chroma.split_at_mut(wide * tall / 4);
        // SAFETY: the pixels are width x height; the planes hold the padded picture, a quarter of it for
        // the two of chroma; rows 0 .. tall / 2 are all there are.
        unsafe {
            (self.entries.convert)(
                pixels.as_ptr(),
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

    /// Computes the light map of lamps on the floor, in the current thread pool.
    pub fn bake_lightmap(&self, device_scene: &mut DeviceScene, scene: &SceneDescription) {
        const CHUNK: usize = 256;
        let Some(plan) = lightmap::plan(&scene.seen_from(device_scene.origin)) else { return };
        let host = device_scene.host();
        let mut light = vec![0.0f32; 3 * plan.points.len()];
        light.par_chunks_mut(3 * CHUNK).zip(plan.points.par_chunks(CHUNK)).for_each(|(light, points)| {
            for (quad, normal) in plan.normals.iter().enumerate() {
                let chosen: Vec<usize> = (0..points.len()).filter(|&i| points[i].1 == quad).collect();
                let flat: Vec<f32> = chosen.iter().flat_map(|&i| points[i].0).collect();
                let mut out = vec![0.0f32; flat.len()];
                // SAFETY: points, lamps and colors hold three floats each as counted, and `out` as many as points.
                unsafe {
                    (self.entries.light_points)(
                        &host.arrays,
                        flat.as_ptr(),
                        chosen.len() as i32,
                        normal.as_ptr(),
                        plan.lamps.as_ptr(),
                        plan.lamp_normals.as_ptr(),
                        plan.colours.as_ptr(),
                        (plan.lamps.len() / 3) as i32,
                        origin_outside(SHAPE_FLOOR, quad),
                        plan.softening,
                        out.as_mut_ptr(),
                    );
                }
                for (k, &i) in chosen.iter().enumerate() {
                    light[3 * i..3 * i + 3].copy_from_slice(&out[3 * k..3 * k + 3]);
                }
            }
        });
        device_scene.set_lightmap(plan.size, &light);
    }
}

/// The instruction set does not exist on this machine.
#[derive(Debug, thiserror::Error)]
#[error("POLYFLY_ISA={asked}: this machine has {available}")]
pub struct UnknownIsa {
    /// The requested name.
    pub asked: String,
    /// The available names.
    pub available: String,
}

/// What to trace of a frame, tile by tile.
pub struct FrameJob<'a> {
    pub scene: HostScene<'a>,
    /// The scene by value, for the one-lane kernels, which then trace it as a GPU does.
    pub small: Option<SmallScene>,
    pub frame: &'a FrameParams,
    pub launch: Launch,
    /// The destination of the light.
    pub film: FilmBuffers,
}
// SAFETY: only trace_tile uses the film's addresses, and its callers promise that no two threads write the same pixels.
unsafe impl Sync for FrameJob<'_> {}

/// Pixels along a tile's side.
pub const TILE_SIDE: u32 = TILE as u32;

/// Memory for one thread's tile, aligned for the widest lanes.
pub struct Scratch(Vec<[u64; 8]>);

impl Scratch {
    /// Memory of at least this many bytes.
    pub fn new(bytes: usize) -> Scratch {
        Scratch(vec![[0; 8]; bytes.div_ceil(64) + 1])
    }
    fn len(&self) -> usize {
        64 * (self.0.len() - 1)
    }
    fn aligned(&mut self) -> *mut u8 {
        let start = self.0.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.align_offset(64))
    }
}

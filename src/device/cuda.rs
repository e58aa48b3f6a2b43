//! The CUDA device: the embedded PTX on NVIDIA GPUs, a ring of frames in flight, copies over kernels.
#![expect(unsafe_code, reason = "calls the CUDA driver interface")]

use super::driver::{Context, DeviceMemory, GpuFacts, Pinned, check, launch, load_module};
use super::{DeviceError, FrameStats, Schedule};
use crate::layout::{Array, Counts, FrameData, Layout, Place, SceneData, SmallScene, World};
use crate::pipeline::{Deal, Memory, Picture, Share, Wants, Worker};
use crate::scene::{Integrator, Scene};
use crate::tiles::Device;
use cudarc::driver::sys;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The kernels for any GPU from Turing on; scripts/ptx makes them, a test says when they are stale.
/// This one takes the scene in its parameters.
pub const PTX: &str = include_str!("../../kernels/polyfly.ptx");
/// And this one takes scenes of any size, in arrays.
pub const PTX_LARGE: &str = include_str!("../../kernels/polyfly-large.ptx");

// As kernels/render.cu and types.cuh say.
const THREADS: u32 = 128;
const MIN_BLOCKS: u32 = 5;
const COUNTERS: usize = 64;
const COUNT_BYTES: usize = COUNTERS * size_of::<Counts>();
// Frames in flight on one GPU: as many as fit the byte limit, within these bounds.
const RING: usize = 4;
const RING_BYTES: usize = 1 << 28;
// Pictures larger than this are rendered in bands, so that memory on the device stays bounded.
const BAND_PIXELS: usize = 1 << 25;

// A frame in flight: its memory on the device and the marks that tell when it is done.
struct Slot {
    rgba: DeviceMemory,
    yuv: Option<DeviceMemory>,
    counts: DeviceMemory,
    host_counts: Pinned,
    // Before and after the kernels, before and after the copies.
    marks: [sys::CUevent; 4],
}

struct Flying {
    index: usize,
    frame: u32,
    picture: Picture,
    slot: usize,
}

/// One GPU with a scene on it.
pub struct Gpu {
    name: String,
    context: Context,
    trace: sys::CUfunction,
    convert: sys::CUfunction,
    deal: sys::CUfunction,
    // Blocks that the GPU holds at once.
    blocks: u32,
    compute: sys::CUstream,
    copy: sys::CUstream,
    scene: SceneData,
    // The same with its arrays in place, if it is small.
    small: Option<SmallScene>,
    // Keeps the scene's arrays alive; those of the particles shown last are apart.
    _arrays: Vec<DeviceMemory>,
    shown: Vec<DeviceMemory>,
    slots: Vec<Slot>,
    wants: Wants,
    camera: Scene,
    // Rows rendered at once.
    band: u32,
    // The frame or band at which a test wants it to fail, and how many there were.
    fault: Option<u32>,
    begun: AtomicU32,
    // Held while a band is put on the streams, so that its marks stand around it alone.
    turn: Mutex<()>,
    share: Share,
}
// SAFETY: all handles belong to `context`, which whoever uses them makes current on its thread.
unsafe impl Send for Gpu {}
// SAFETY: the driver's interface may be called from several threads; of the slots, which are all that
// changes, rows() uses its own lane's only.
unsafe impl Sync for Gpu {}

// The addresses of a kernel's arguments, in their order; one that is an address already comes first.
macro_rules! arguments {
    ($first:expr; $($name:ident),*) => { [$first, $((&raw mut $name).cast::<c_void>()),*] };
    ($($name:ident),*) => { [$((&raw mut $name).cast::<c_void>()),*] };
}

impl Gpu {
    /// Puts a scene on GPU `facts.ordinal`. `layout` carries the lamp light already.
    pub fn new(facts: &GpuFacts, scene: &Scene, layout: &Layout, wants: Wants) -> Result<Gpu, DeviceError> {
        let mut device = 0;
        check!(cuDeviceGet(&mut device, facts.ordinal))?;
        let mut raw = std::ptr::null_mut();
        check!(cuDevicePrimaryCtxRetain(&mut raw, device))?;
        let context = Context(raw);
        context.enter()?;
        let function = |module: sys::CUmodule, name: &std::ffi::CStr| {
            let mut function = std::ptr::null_mut();
            check!(cuModuleGetFunction(&mut function, module, name.as_ptr())).map(|()| function)
        };
        let stream = || {
            let mut stream = std::ptr::null_mut();
            check!(cuStreamCreate(&mut stream, sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32)).map(|()| stream)
        };
        let mut upload = Upload { arrays: Vec::new(), context };
        let data = layout.place(&mut upload)?;
        let small = SmallScene::new(layout, &data);
        let module = load_module(if small.is_some() { PTX } else { PTX_LARGE })?;
        let name = match (scene.integrator, scene.depth) {
            (Integrator::Path { .. }, _) => c"polyfly_path",
            (_, 0..=16) => c"polyfly_trace_16",
            _ => c"polyfly_trace_128",
        };
        let trace = function(module, name)?;
        let convert = function(module, c"polyfly_convert")?;
        let deal = function(module, c"polyfly_schedule")?;
        let mut multiprocessors = 0;
        check!(cuDeviceGetAttribute(
            &mut multiprocessors,
            sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
            device
        ))?;
        let band = (BAND_PIXELS / scene.width as usize / 8 * 8).max(8).min(scene.height as usize) as u32;
        let pixels = scene.width as usize * band as usize;
        let ring = (RING_BYTES / (4 * scene.width as usize * scene.height as usize)).clamp(1, RING);
        let slots = (0..ring)
            .map(|_| {
                let mut marks = [std::ptr::null_mut(); 4];
                for mark in &mut marks {
                    check!(cuEventCreate(mark, sys::CUevent_flags::CU_EVENT_DEFAULT as u32))?;
                }
                Ok(Slot {
                    rgba: DeviceMemory::new(4 * pixels, context)?,
                    yuv: wants
                        .yuv
                        .then(|| DeviceMemory::new(Planes::of(scene.width, band).bytes(), context))
                        .transpose()?,
                    counts: DeviceMemory::new(COUNT_BYTES + 16, context)?,
                    host_counts: Pinned::new(COUNT_BYTES, context)?,
                    marks,
                })
            })
            .collect::<Result<Vec<_>, DeviceError>>()?;
        let name = format!("cuda:{} {}", facts.ordinal, facts.name);
        Ok(Gpu {
            context,
            trace,
            convert,
            deal,
            blocks: multiprocessors as u32 * MIN_BLOCKS,
            compute: stream()?,
            copy: stream()?,
            scene: data,
            small,
            _arrays: upload.arrays,
            shown: Vec::new(),
            slots,
            wants,
            camera: scene.clone(),
            band,
            fault: planned_fault(facts.ordinal),
            begun: AtomicU32::new(0),
            turn: Mutex::new(()),
            share: Share::new(&name),
            name,
        })
    }

    fn bytes(&self) -> usize {
        4 * self.camera.width as usize * self.camera.height as usize
    }

    // Starts a frame on a slot: kernels on one stream, copies on another that waits for them, band by band.
    fn launch(&self, slot: usize, frame: &FrameData, picture: &mut Picture) -> Result<(), DeviceError> {
        let slot = &self.slots[slot];
        check!(cuMemsetD8Async(slot.counts.address, 0, COUNT_BYTES, self.compute))?;
        check!(cuEventRecord(slot.marks[0], self.compute))?;
        for top in (0..self.camera.height).step_by(self.band as usize) {
            if top > 0 {
                // The band before must have left the device's memory.
                check!(cuStreamWaitEvent(self.compute, slot.marks[3], 0))?;
            }
            self.launch_band(slot, frame, top, self.band_rows(top))?;
            check!(cuEventRecord(slot.marks[1], self.compute))?;
            check!(cuStreamWaitEvent(self.copy, slot.marks[1], 0))?;
            if top == 0 {
                check!(cuEventRecord(slot.marks[2], self.copy))?;
            }
            self.fetch_band(slot, picture, top)?;
            check!(cuEventRecord(slot.marks[3], self.copy))?;
        }
        check!(cuMemcpyDtoHAsync_v2(slot.host_counts.at(0), slot.counts.address, COUNT_BYTES, self.copy))?;
        check!(cuEventRecord(slot.marks[3], self.copy))
    }

    fn band_rows(&self, top: u32) -> u32 {
        self.band.min(self.camera.height - top)
    }

    // Traces the band's rows, and converts them where a video wants it. Bands start at multiples of 8 rows.
    fn launch_band(&self, slot: &Slot, frame: &FrameData, top: u32, mut rows: u32) -> Result<(), DeviceError> {
        let mut width = self.camera.width;
        let tiles = width.div_ceil(8);
        let mut first = tiles * (top / 8) * 64;
        let mut end = first + tiles * rows.div_ceil(8) * 64;
        // As many blocks as the GPU holds at once: they stay, and take work until there is none.
        let samples = u64::from(end - first) * u64::from(self.camera.samples_a_pixel());
        let blocks = samples.div_ceil(u64::from(THREADS)).min(u64::from(self.blocks)) as u32;
        // The queue follows the counters.
        let mut queue = slot.counts.address + COUNT_BYTES as u64;
        check!(cuMemsetD8Async(queue, 0, 4, self.compute))?;
        let (mut arrays, mut small, mut frame) = (self.scene, self.small, *frame);
        let scene = scene_argument(&mut arrays, &mut small);
        // The kernel counts pixels from the picture's start, of which the device holds only the band.
        let mut rgba = slot.rgba.address.wrapping_sub(4 * u64::from(top) * u64::from(width));
        let mut counts = slot.counts.address;
        let mut arguments = arguments![scene; frame, first, end, rgba, queue, counts];
        launch(self.trace, (blocks, 1), (THREADS, 1), self.compute, &mut arguments)?;
        let Some(yuv) = &slot.yuv else { return Ok(()) };
        let planes = Planes::of(width, rows);
        let (mut y, mut u, mut v) =
            (yuv.address, yuv.address + planes.luma as u64, yuv.address + (planes.luma + planes.chroma) as u64);
        let mut rgba = slot.rgba.address;
        let mut arguments = arguments![rgba, width, rows, y, u, v];
        let (across, down) = (planes.wide.div_ceil(64) as u32, planes.tall.div_ceil(8) as u32);
        launch(self.convert, (across, down), (32, 4), self.compute, &mut arguments)
    }

    // Copies the band to its place in the picture.
    fn fetch_band(&self, slot: &Slot, picture: &mut Picture, top: u32) -> Result<(), DeviceError> {
        let fetch = |memory: &mut Memory, at: usize, from: sys::CUdeviceptr, len: usize| {
            let Memory::Pinned(host) = memory else { return Ok(()) };
            assert!(at + len <= host.len(), "a band lies within its picture");
            check!(cuMemcpyDtoHAsync_v2(host.at(at), from, len, self.copy))
        };
        let (width, rows, top) = (self.camera.width as usize, self.band_rows(top), top as usize);
        if self.wants.rgba {
            fetch(&mut picture.rgba, 4 * width * top, slot.rgba.address, 4 * width * rows as usize)?;
        }
        if let Some(yuv) = &slot.yuv {
            let (whole, band) =
                (Planes::of(self.camera.width, self.camera.height), Planes::of(self.camera.width, rows));
            let chroma_at = top / 2 * whole.wide / 2;
            let from = yuv.address;
            fetch(&mut picture.yuv, top * whole.wide, from, band.luma)?;
            fetch(&mut picture.yuv, whole.luma + chroma_at, from + band.luma as u64, band.chroma)?;
            fetch(
                &mut picture.yuv,
                whole.luma + whole.chroma + chroma_at,
                from + (band.luma + band.chroma) as u64,
                band.chroma,
            )?;
        }
        Ok(())
    }

    // Fails where the test wants it to.
    fn strike(&self) -> Result<(), DeviceError> {
        let begun = 1 + self.begun.fetch_add(1, Ordering::Relaxed);
        if self.fault.is_some_and(|n| begun >= n) {
            return Err(DeviceError::Cuda("the failure that POLYFLY_FAULT asked for".into()));
        }
        Ok(())
    }

    /// Renders one frame and waits for it: RGBA, and the video's planes if they are wanted.
    pub fn still(&mut self, camera: &FrameData) -> Result<(Picture, FrameStats), DeviceError> {
        let mut picture = Picture::default();
        let stats = self.still_into(camera, &mut picture)?;
        Ok((picture, stats))
    }

    /// Puts other particles in place of those that are there; nothing may be in flight.
    pub fn show(&mut self, world: &World) -> Result<(), DeviceError> {
        self.context.enter()?;
        // What was shown before goes first: two sets need not fit.
        self.shown.clear();
        let mut upload = Upload { arrays: Vec::new(), context: self.context };
        let placed = world.place(&mut upload, &self.scene)?;
        self.scene = placed;
        self.shown = upload.arrays;
        Ok(())
    }

    /// Renders one frame into a picture and waits for it.
    pub fn still_into(&mut self, camera: &FrameData, picture: &mut Picture) -> Result<FrameStats, DeviceError> {
        self.context.enter()?;
        self.strike()?;
        self.pin(picture)?;
        self.launch(0, camera, picture)?;
        self.wait(0)
    }

    // Gives a picture page-locked memory of the right size, once.
    fn pin(&self, picture: &mut Picture) -> Result<(), DeviceError> {
        let ensure = |memory: &mut Memory, len: usize| {
            if !matches!(memory, Memory::Pinned(p) if p.len() == len) {
                *memory = Memory::Pinned(Pinned::new(len, self.context)?);
            }
            Ok::<(), DeviceError>(())
        };
        if self.wants.rgba {
            ensure(&mut picture.rgba, self.bytes())?;
        }
        if self.wants.yuv {
            ensure(&mut picture.yuv, Planes::of(self.camera.width, self.camera.height).bytes())?;
        }
        Ok(())
    }

    // Waits until a slot's frame is in host memory.
    fn wait(&self, slot: usize) -> Result<FrameStats, DeviceError> {
        let slot = &self.slots[slot];
        check!(cuEventSynchronize(slot.marks[3]))?;
        let between = |a: usize, b: usize| {
            let mut ms = 0.0f32;
            check!(cuEventElapsedTime(&mut ms, slot.marks[a], slot.marks[b]))
                .map(|()| Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3))
        };
        let (kernel, copy) = (between(0, 1)?, between(2, 3)?);
        Ok(read_counts(&slot.host_counts, kernel, kernel + copy, u64::from(self.blocks) * u64::from(THREADS)))
    }

    /// Traces samples first .. first + count of each pixel of a path-traced frame, and leaves their light in `sums`:
    /// three numbers a pixel.
    pub fn pass(
        &mut self,
        camera: &FrameData,
        first: u32,
        count: u32,
        sums: &mut [i64],
    ) -> Result<FrameStats, DeviceError> {
        self.context.enter()?;
        self.strike()?;
        let slot = &self.slots[0];
        let memory = DeviceMemory::of(sums, self.context)?;
        let mut scene = self.scene;
        scene.sums = memory.array(sums.len());
        (scene.rest.first_sample, scene.rest.each) = (first as i32, count as i32);
        let (mut from, mut end) = (0, self.camera.width.div_ceil(8) * self.camera.height.div_ceil(8) * 64);
        let (mut frame, mut rgba, mut counts) = (*camera, slot.rgba.address, slot.counts.address);
        let mut queue = slot.counts.address + COUNT_BYTES as u64;
        check!(cuMemsetD8Async(slot.counts.address, 0, COUNT_BYTES + 4, self.compute))?;
        check!(cuEventRecord(slot.marks[0], self.compute))?;
        let mut arguments = arguments![scene, frame, from, end, rgba, queue, counts];
        launch(self.trace, (self.blocks, 1), (THREADS, 1), self.compute, &mut arguments)?;
        check!(cuEventRecord(slot.marks[1], self.compute))?;
        check!(cuMemcpyDtoHAsync_v2(slot.host_counts.at(0), slot.counts.address, COUNT_BYTES, self.compute))?;
        let bytes = size_of_val(sums);
        check!(cuMemcpyDtoHAsync_v2(sums.as_mut_ptr().cast(), memory.address, bytes, self.compute))?;
        check!(cuStreamSynchronize(self.compute))?;
        let mut ms = 0.0f32;
        check!(cuEventElapsedTime(&mut ms, slot.marks[0], slot.marks[1]))?;
        let time = Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3);
        Ok(read_counts(&slot.host_counts, time, time, u64::from(self.blocks) * u64::from(THREADS)))
    }

    /// Renders a frame without a picture, its samples dealt out in a given way to as many threads as the GPU
    /// holds, or each to a thread of its own where no schedule is given.
    pub fn schedule(&mut self, camera: &FrameData, schedule: Option<Schedule>) -> Result<FrameStats, DeviceError> {
        self.context.enter()?;
        let slot = &self.slots[0];
        let queue = DeviceMemory::of(&[0i32], self.context)?;
        let (mut arrays, mut small, mut frame) = (self.scene, self.small, *camera);
        let scene = scene_argument(&mut arrays, &mut small);
        // A thread a sample is cyclic dealing with that many threads.
        let mut mode = schedule.unwrap_or(Schedule::Cyclic) as i32;
        let (mut queue_at, mut counts) = (queue.address, slot.counts.address);
        let mut arguments = arguments![scene; frame, mode, queue_at, counts];
        check!(cuMemsetD8Async(slot.counts.address, 0, COUNT_BYTES, self.compute))?;
        check!(cuEventRecord(slot.marks[0], self.compute))?;
        let samples =
            self.camera.width.div_ceil(8) * self.camera.height.div_ceil(8) * 64 * self.camera.samples_a_pixel();
        let blocks = if schedule.is_some() { self.blocks } else { samples.div_ceil(THREADS) };
        launch(self.deal, (blocks, 1), (THREADS, 1), self.compute, &mut arguments)?;
        check!(cuEventRecord(slot.marks[1], self.compute))?;
        check!(cuMemcpyDtoHAsync_v2(slot.host_counts.at(0), slot.counts.address, COUNT_BYTES, self.compute))?;
        check!(cuStreamSynchronize(self.compute))?;
        let mut ms = 0.0f32;
        check!(cuEventElapsedTime(&mut ms, slot.marks[0], slot.marks[1]))?;
        let time = Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3);
        Ok(read_counts(&slot.host_counts, time, time, u64::from(blocks) * u64::from(THREADS)))
    }
}

// Puts a scene's arrays into the device's memory.
struct Upload {
    arrays: Vec<DeviceMemory>,
    context: Context,
}

impl Place for Upload {
    type Error = DeviceError;
    fn put<T>(&mut self, values: &[T]) -> Result<Array<T>, DeviceError> {
        let memory = DeviceMemory::of(values, self.context)?;
        let array = memory.array(values.len());
        self.arrays.push(memory);
        Ok(array)
    }
}

// What the kernel takes as its scene: in place if it is small, else its arrays' addresses.
fn scene_argument(arrays: &mut SceneData, small: &mut Option<SmallScene>) -> *mut c_void {
    match small {
        Some(small) => std::ptr::from_mut(small).cast(),
        None => std::ptr::from_mut(arrays).cast(),
    }
}

// Sums the counters; `threads` shared the work.
fn read_counts(bytes: &[u8], kernel: Duration, time: Duration, threads: u64) -> FrameStats {
    let words: Vec<u64> = bytes.chunks_exact(8).map(|w| w.try_into().map_or(0, u64::from_le_bytes)).collect();
    let column = |which: usize| words.chunks_exact(4).map(move |c| c[which]);
    let (rays, most) = (column(0).sum::<u64>(), column(2).max().unwrap_or(0));
    let balance = if most == 0 { 0.0 } else { rays as f64 / threads as f64 / most as f64 };
    FrameStats { time, kernel, rays, shadow_rays: column(1).sum(), balance, ..FrameStats::default() }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // Nothing may be freed under a running kernel.
        let _ = self.context.enter().and_then(|()| check!(cuCtxSynchronize()));
        for mark in self.slots.iter().flat_map(|s| s.marks) {
            let _ = check!(cuEventDestroy_v2(mark));
        }
        let _ = check!(cuStreamDestroy_v2(self.compute));
        let _ = check!(cuStreamDestroy_v2(self.copy));
    }
}

// The planes of a 4:2:0 picture with even sides.
struct Planes {
    wide: usize,
    tall: usize,
    luma: usize,
    chroma: usize,
}

impl Planes {
    fn of(width: u32, height: u32) -> Planes {
        let (wide, tall) = (width.next_multiple_of(2) as usize, height.next_multiple_of(2) as usize);
        Planes { wide, tall, luma: wide * tall, chroma: wide * tall / 4 }
    }
    fn bytes(&self) -> usize {
        self.luma + 2 * self.chroma
    }
}

// POLYFLY_FAULT=1:5 makes GPU 1 fail at its fifth frame, for trying what others do then.
fn planned_fault(ordinal: i32) -> Option<u32> {
    let text = std::env::var("POLYFLY_FAULT").ok()?;
    let (gpu, frames) = text.split_once(':')?;
    (gpu.parse() == Ok(ordinal)).then(|| frames.parse().ok()).flatten()
}

impl Worker for Gpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn in_flight(&self) -> usize {
        self.slots.len()
    }

    fn run(&mut self, deal: &Deal) -> Result<(), (DeviceError, Vec<usize>)> {
        let mut flying: VecDeque<Flying> = VecDeque::new();
        let mut free: Vec<usize> = (0..self.slots.len()).collect();
        let result = self.context.enter().and_then(|()| {
            loop {
                // Fill the ring; wait for work only when nothing is in flight.
                while let Some(&slot) = free.last() {
                    let Some((mut hand, mut picture)) = deal.take(flying.is_empty()) else { break };
                    let started = self.strike().and_then(|()| self.pin(&mut picture)).and_then(|()| {
                        let camera = crate::layout::frame(&self.camera, hand.frame());
                        self.launch(slot, &camera, &mut picture)
                    });
                    let (index, frame) = hand.keep();
                    flying.push_back(Flying { index, frame, picture, slot });
                    free.pop();
                    started?;
                }
                let Some(oldest) = flying.front() else { return Ok(()) };
                let stats = self.wait(oldest.slot)?;
                if let Some(done) = flying.pop_front() {
                    free.push(done.slot);
                    self.share.add(&stats);
                    deal.finish(done.index, done.frame, done.picture, stats);
                }
            }
        });
        result.map_err(|e| {
            // What was in flight may still be written to by the GPU: wait before the memory goes back.
            let _ = check!(cuCtxSynchronize());
            (e, flying.iter().map(|f| f.index).collect())
        })
    }

    fn shares(&self) -> Vec<Share> {
        vec![self.share.clone()]
    }
}

impl Device for Gpu {
    // One computes while the other's rows are copied.
    fn lanes(&self) -> usize {
        self.slots.len().min(2)
    }

    fn rows(&self, lane: usize, camera: &FrameData, top: u32, rgba: &mut [u8]) -> Result<FrameStats, DeviceError> {
        let rows = (rgba.len() / (4 * self.camera.width as usize)) as u32;
        assert!(rows <= self.band, "a band fits the device's memory");
        self.strike()?;
        self.context.enter()?;
        let slot = &self.slots[lane];
        {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            check!(cuMemsetD8Async(slot.counts.address, 0, COUNT_BYTES, self.compute))?;
            check!(cuEventRecord(slot.marks[0], self.compute))?;
            self.launch_band(slot, camera, top, rows)?;
            check!(cuEventRecord(slot.marks[1], self.compute))?;
        }
        check!(cuStreamWaitEvent(self.copy, slot.marks[1], 0))?;
        check!(cuEventRecord(slot.marks[2], self.copy))?;
        check!(cuMemcpyDtoHAsync_v2(rgba.as_mut_ptr().cast(), slot.rgba.address, rgba.len(), self.copy))?;
        check!(cuMemcpyDtoHAsync_v2(slot.host_counts.at(0), slot.counts.address, COUNT_BYTES, self.copy))?;
        check!(cuEventRecord(slot.marks[3], self.copy))?;
        // When it fails, the rows are not given back while a copy may still write them.
        self.wait(lane).inspect_err(|_| {
            let _ = check!(cuCtxSynchronize());
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ptx_is_as_new_as_its_sources() {
        use sha2::{Digest, Sha256};
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        let mut found = std::collections::BTreeMap::new();
        let mut queue = vec!["render.cu".to_owned()];
        while let Some(name) = queue.pop() {
            let text = std::fs::read_to_string(folder.join(&name)).unwrap();
            let included = text.lines().filter_map(|l| l.strip_prefix("#include \"")?.strip_suffix('"'));
            queue.extend(included.filter(|n| !found.contains_key(*n)).map(str::to_owned));
            found.insert(name, text);
        }
        let mut state = Sha256::new();
        for (name, text) in &found {
            state.update(name.as_bytes());
            state.update([0]);
            state.update(text.as_bytes());
            state.update([0]);
        }
        let digest: String = state.finalize().iter().map(|b| format!("{b:02x}")).collect();
        for ptx in [super::PTX, super::PTX_LARGE] {
            let header = ptx.lines().next().unwrap_or_default();
            assert_eq!(header, format!("// sources {digest}"), "kernels/ changed: run scripts/ptx");
        }
    }
}

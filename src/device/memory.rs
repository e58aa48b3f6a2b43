//! Memory for light on its way from a device to the film.

use super::task::{DeviceNeeds, TRIAL_BYTES, Task, TaskOutput};
use crate::gpu_types::ActivePixel;

/// Bytes of a pixel that adaptive sampling lists.
pub const LISTED_BYTES: usize = size_of::<ActivePixel>();
// Tasks in flight on one GPU: as many as fit the byte limit, within these bounds.
const RING: usize = 4;
const RING_BYTES: usize = 1 << 28;

/// Bytes a pixel of what a task leaves on a GPU, at most, and of the largest that is held for it there. Post steps have
/// memory of their own, for as many tasks as there are streams.
pub fn held(needs: DeviceNeeds) -> (usize, usize) {
    let output = match needs {
        DeviceNeeds { features: true, .. } => TaskOutput::Features,
        DeviceNeeds { linear: true, post: None, .. } => TaskOutput::Sums,
        _ => TaskOutput::Picture,
    };
    // Sums of adaptive sampling have the numbers of their samples beside them.
    let counts = if needs.adaptive && output == TaskOutput::Sums { size_of::<u32>() } else { 0 };
    let max = output.bytes_a_pixel() + counts;
    (max, if needs.adaptive { max.max(TRIAL_BYTES + 2 * LISTED_BYTES) } else { max })
}

/// Tasks in flight on a GPU that has the memory for them.
pub fn ring((width, height): (u32, u32), needs: DeviceNeeds) -> usize {
    (RING_BYTES / (held(needs).1 * width as usize * height as usize)).clamp(1, RING)
}

/// Page-locked memory of a GPU's driver, which copies reach without the CPU.
pub trait PinnedMemory: Send + Sync {
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// Bytes in host memory, aligned to 8: ordinary, or page-locked for a GPU's copies.
pub enum Memory {
    /// From the allocator: words, and how many bytes of them are used.
    Heap(Vec<u64>, usize),
    /// From a GPU's driver.
    Pinned(Box<dyn PinnedMemory>),
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::Heap(Vec::new(), 0)
    }
}

impl Memory {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Memory::Heap(words, len) => &bytemuck::cast_slice(words)[..*len],
            Memory::Pinned(pinned) => pinned.bytes(),
        }
    }
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Heap(words, len) => &mut bytemuck::cast_slice_mut(words)[..*len],
            Memory::Pinned(pinned) => pinned.bytes_mut(),
        }
    }
    /// The bytes, `len` of them; memory of another size is replaced.
    pub fn sized(&mut self, len: usize) -> &mut [u8] {
        if self.bytes().len() != len {
            *self = Memory::Heap(vec![0; len.div_ceil(8)], len);
        }
        self.bytes_mut()
    }
    /// The sums that a task left here, and of how many samples each pixel's are, if it tells.
    pub fn sums_and_counts(&self, task: &Task) -> (&[i64], &[u32]) {
        let bytes = self.bytes();
        let (sums, counts) = bytes.split_at(bytes.len() / task.bytes_a_pixel() * task.output.bytes_a_pixel());
        (bytemuck::cast_slice(sums), bytemuck::cast_slice(counts))
    }
}

/// A task's part of the film, used again and again.
#[derive(Default)]
pub struct FilmSlice {
    /// The rows' RGBA, sums or features, as the task says.
    pub pixels: Memory,
    /// The rows' YUV 4:2:0 planes; empty where the device makes none.
    pub planes: Memory,
}

impl FilmSlice {
    pub fn is_empty(&self) -> bool {
        self.pixels.bytes().is_empty() && self.planes.bytes().is_empty()
    }
}

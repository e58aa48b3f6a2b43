//! Host memory for the results of tasks.

use super::task::{DeviceNeeds, TRIAL_BYTES, Task, TaskOutput};
use crate::gpu_types::ActivePixel;

/// Bytes per pixel in the lists of adaptive sampling.
pub const LISTED_BYTES: usize = size_of::<ActivePixel>();
// The number of tasks in flight on a GPU: as many as fit into the byte limit, within these bounds.
const RING: usize = 4;
const RING_BYTES: usize = 1 << 28;

/// Bytes per pixel of a task's largest result on a GPU, and of the largest buffer there. Post steps have memory of
/// their own, for as many tasks as there are streams.
pub fn held(needs: &DeviceNeeds) -> (usize, usize) {
    let output = match needs {
        DeviceNeeds { features: true, .. } => TaskOutput::Features,
        DeviceNeeds { linear: true, post: None, .. } => TaskOutput::Sums,
        _ => TaskOutput::Picture,
    };
    // Sums of adaptive sampling include the sample counts of all pixels.
    let counts = if needs.adaptive && output == TaskOutput::Sums { size_of::<u32>() } else { 0 };
    let max = output.bytes_a_pixel() + counts;
    (max, if needs.adaptive { max.max(TRIAL_BYTES + 2 * LISTED_BYTES) } else { max })
}

/// The number of tasks in flight on a GPU with enough memory.
pub fn ring((width, height): (u32, u32), needs: &DeviceNeeds) -> usize {
    (RING_BYTES / (held(needs).1 * width as usize * height as usize)).clamp(1, RING)
}

/// Page-locked memory of a GPU's driver, for copies without the CPU.
pub trait PinnedMemory: Send + Sync {
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// Bytes in host memory, aligned to 8. They are ordinary, or page-locked for a GPU's copies.
pub enum Memory {
    /// From the allocator: words, and the number of bytes in use.
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
    /// A buffer of `len` bytes. Memory of another size is replaced.
    pub fn sized(&mut self, len: usize) -> &mut [u8] {
        if self.bytes().len() != len {
            *self = Memory::Heap(vec![0; len.div_ceil(8)], len);
        }
        self.bytes_mut()
    }
    /// The sums of a task, and the sample counts of its pixels if it writes them.
    pub fn sums_and_counts(&self, task: &Task) -> (&[i64], &[u32]) {
        let bytes = self.bytes();
        let (sums, counts) = bytes.split_at(bytes.len() / task.bytes_a_pixel() * task.output.bytes_a_pixel());
        (bytemuck::cast_slice(sums), bytemuck::cast_slice(counts))
    }
}

/// A task's part of the film. It is reused.
#[derive(Default)]
pub struct FilmSlice {
    /// The rows' RGBA, sums or features, depending on the task.
    pub pixels: Memory,
    /// The rows' YUV 4:2:0 planes; empty if the device makes none.
    pub planes: Memory,
}

impl FilmSlice {
    pub fn is_empty(&self) -> bool {
        self.pixels.bytes().is_empty() && self.planes.bytes().is_empty()
    }
}

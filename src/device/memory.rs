//! Memory for light on its way from a device to the film.

use super::Task;
use super::driver::Pinned;

/// Bytes in host memory, aligned to 8: ordinary, or page-locked for a GPU's copies.
pub enum Memory {
    /// From the allocator: words, and how many bytes of them are used.
    Heap(Vec<u64>, usize),
    /// From the CUDA driver.
    Pinned(Pinned),
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::Heap(Vec::new(), 0)
    }
}

impl Memory {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Memory::Heap(words, len) => &bytemuck::cast_slice(words)[..*len],
            Memory::Pinned(bytes) => bytes,
        }
    }
    /// The bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Heap(words, len) => &mut bytemuck::cast_slice_mut(words)[..*len],
            Memory::Pinned(bytes) => bytes,
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
    /// Whether it has no memory yet.
    pub fn is_empty(&self) -> bool {
        self.pixels.bytes().is_empty() && self.planes.bytes().is_empty()
    }
}

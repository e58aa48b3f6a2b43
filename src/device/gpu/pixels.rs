//! Launches of a thread for each pixel: those of post steps.
#![expect(unsafe_code, reason = "launches kernels, whose arguments the compiler cannot check")]

use super::api::{Api, Arguments, Stream};
use crate::device::DeviceError;

/// Threads of a block in x and y.
pub const BLOCK: (u32, u32) = (32, 8);

/// Launches one thread for each pixel of an image of this size.
pub fn launch<A: Api>(
    stream: &A::Stream,
    kernel: A::Function,
    (width, height): (u32, u32),
    mut arguments: Arguments,
) -> Result<(), DeviceError> {
    let blocks = (width.div_ceil(BLOCK.0), height.div_ceil(BLOCK.1));
    // SAFETY: the callers (post.rs, denoise.rs) give the arguments of kernels/entry/post.cuh and denoise.cuh in their order; the memory
    // lives until the task has been waited for.
    unsafe { stream.launch(kernel, blocks, BLOCK, &mut arguments) }
}

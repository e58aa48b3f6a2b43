//! Devices execute tasks. All devices return the same bytes.

pub mod cpu;
#[cfg(not(target_family = "wasm"))]
mod cuda;
mod error;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod gpu;
mod interface;
#[cfg_attr(target_family = "wasm", path = "device/no_gpus.rs")]
mod list;
pub(crate) mod memory;
#[cfg(not(target_family = "wasm"))]
mod opencl;
mod task;

pub use error::DeviceError;
#[cfg(test)]
pub use gpu::cell_plan;
pub use interface::{Device, DeviceInfo, GpuDevice, GpuInfo, KernelScene, SampleCounter};
pub use list::{first, has_driver, list, open};
pub use memory::{FilmSlice, Memory};
pub use task::{
    AdaptiveTask, BAND_STEP, DeviceNeeds, DeviceStats, GuidedTask, Moment, PixelSet, TRIAL_BYTES, Task, TaskOutput,
    TaskStats, Ticket, balance,
};

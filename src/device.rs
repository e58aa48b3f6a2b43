//! Devices: what turns a frame's camera into a picture. Every one of them gives the same bytes.

pub mod cpu;
pub mod cuda;

use std::time::Duration;

/// What a frame took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameStats {
    /// Time on the device until the frame is in host memory.
    pub time: Duration,
    /// The part of it that the device computed.
    pub kernel: Duration,
    /// Camera, reflected and transmitted rays.
    pub rays: u64,
    /// Rays from surfaces to lights.
    pub shadow_rays: u64,
}

/// Why a device cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// No instruction set of that name here.
    #[error("POLYFLY_ISA={asked}: this machine has {available}")]
    Isa {
        /// What was asked for.
        asked: String,
        /// What there is.
        available: String,
    },
    /// No usable GPU, or one that failed.
    #[error("{0}")]
    Cuda(String),
    /// The thread pool did not start.
    #[error("cannot start {0} threads: {1}")]
    Threads(usize, String),
}

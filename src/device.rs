//! Devices: what turns a frame's camera into a picture. Every one of them gives the same bytes.

pub mod cpu;
pub mod cuda;
pub mod driver;

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
    /// Rays of the average thread over rays of the busiest one: 1 when all had as much to do
    /// ("parallel efficiency" in the 2009 CSE260 report). 0 where nobody counted.
    pub balance: f64,
    /// Noise of a path-traced picture, in steps of 8-bit codes, and the samples of each pixel that it took; 0 where
    /// nobody asked.
    pub noise: f64,
    /// See `noise`.
    pub samples: u32,
}

/// The average over the largest; 0 for nothing.
pub fn balance(work: &[u64]) -> f64 {
    let most = work.iter().copied().max().unwrap_or(0);
    if most == 0 { 0.0 } else { work.iter().sum::<u64>() as f64 / work.len() as f64 / most as f64 }
}

/// Ways to deal a frame's work out to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Each thread an even share, side by side.
    Static,
    /// Each thread every n-th piece.
    Cyclic,
    /// Each thread the next piece when it is free.
    Dynamic,
}

impl Schedule {
    /// All of them, with their names.
    pub const ALL: [(Schedule, &str); 3] =
        [(Schedule::Static, "static"), (Schedule::Cyclic, "cyclic"), (Schedule::Dynamic, "dynamic")];
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
    /// What a frame is made of cannot be read.
    #[error("{0}")]
    Input(String),
    /// The thread pool did not start.
    #[error("cannot start {0} threads: {1}")]
    Threads(usize, String),
}

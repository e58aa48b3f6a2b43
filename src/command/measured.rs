//! Renders frames for measurements and discards them.

use crate::output::{OutputError, PixelFormats, RenderedFrame, RunInfo, Sink};
use crate::render::stats::{FrameReport, Progress};
use std::time::Duration;

/// The statistics of a run's devices and frames.
#[derive(Default)]
pub struct Measured {
    pub devices: Vec<String>,
    pub frames: Vec<FrameReport>,
}

impl Progress for Measured {
    fn start(&mut self, _: &RunInfo, devices: &[String], _: usize) {
        self.devices = devices.to_vec();
    }
    fn frame(&mut self, report: &FrameReport) {
        self.frames.push(*report);
    }
}

impl Measured {
    pub fn time(&self) -> Duration {
        self.frames.iter().map(|report| report.stats.time).sum()
    }
    /// Camera, reflected and transmitted rays of all frames.
    pub fn rays(&self) -> u64 {
        self.frames.iter().map(|report| report.stats.rays).sum()
    }
}

/// A sink that requests these pixel formats and discards frames.
pub struct Discard(pub PixelFormats);

impl Sink for Discard {
    fn needs(&self) -> PixelFormats {
        self.0
    }
    fn frame(&mut self, _: &RenderedFrame) -> Result<(), OutputError> {
        Ok(())
    }
}

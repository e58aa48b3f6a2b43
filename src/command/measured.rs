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

/// The median, the mean of the two in the middle of an even number; sorts `times`, of which there is at least one.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let (below, above) = (times[(times.len() - 1) / 2], times[times.len() / 2]);
    (below + above) / 2.0
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

#[cfg(test)]
#[test]
fn the_median_is_the_middle() {
    let medians = [median(&mut [3.0, 1.0, 2.0]), median(&mut [4.0, 1.0, 2.0, 3.0]), median(&mut [7.0])];
    assert_eq!(medians, [2.0, 2.5, 7.0]);
}

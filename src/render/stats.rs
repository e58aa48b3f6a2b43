//! Statistics of a run, and the trait that receives its progress.

use crate::device::{DeviceStats, TaskStats};
use crate::language::Message;
use crate::output::RunInfo;
use std::path::PathBuf;
use std::time::Duration;

/// What a frame cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameStats {
    /// Time on devices until the frame is in host memory. If a frame has several tasks, it spans from the first to
    /// the last.
    pub time: Duration,
    /// Computing time of the devices, a part of `time`.
    pub kernel: Duration,
    /// Camera, reflected and transmitted rays.
    pub rays: u64,
    /// Rays from surfaces to lights.
    pub shadow_rays: u64,
    /// The rays of the average thread divided by those of the busiest one; 0 if they were not counted.
    pub balance: f64,
    /// Noise of a path-traced picture in 8-bit codes, if a limit was requested.
    pub noise: Option<f64>,
    /// Samples taken per pixel.
    pub samples: u32,
}

impl FrameStats {
    /// Adds a task's counts. The caller sets the time.
    pub fn add(&mut self, task: &TaskStats) {
        self.kernel += task.kernel;
        self.rays += task.rays;
        self.shadow_rays += task.shadow_rays;
        if task.balance > 0.0 {
            self.balance = task.balance;
        }
    }
}

/// Time of a frame in each stage, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct StageTimes {
    /// On the device, until the frame is in host memory.
    pub render_ms: f64,
    /// Computing time of the device, a part of `render_ms`.
    pub kernel_ms: f64,
    /// Conversion to YUV.
    pub convert_ms: f64,
    /// In sinks that take frames in order, such as an encoder.
    pub encode_ms: f64,
    /// In file sinks, including compression.
    pub write_ms: f64,
    /// Closing of sinks after the last frame, such as joining a video's segments. It is set for a run, not for a
    /// frame.
    pub finish_ms: f64,
}

impl StageTimes {
    /// The name of the stage that took longest per worker.
    pub fn bottleneck(&self, writers: usize) -> &'static str {
        let stages = [
            ("render", self.render_ms),
            ("encode", self.convert_ms + self.encode_ms),
            ("write", self.write_ms / writers.max(1) as f64),
            ("finish", self.finish_ms),
        ];
        stages.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("render", |s| s.0)
    }
    /// The times of a run's frames, with those of the run itself.
    #[must_use]
    pub fn with(&self, run: &RunReport) -> StageTimes {
        StageTimes { finish_ms: ms(run.finishing), ..*self }
    }
    /// Adds the times of another frame.
    pub fn add(&mut self, other: &StageTimes) {
        self.render_ms += other.render_ms;
        self.kernel_ms += other.kernel_ms;
        self.convert_ms += other.convert_ms;
        self.encode_ms += other.encode_ms;
        self.write_ms += other.write_ms;
        self.finish_ms += other.finish_ms;
    }
}

/// The report of a frame that all sinks have taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameReport {
    /// The frame's number in the clip.
    pub frame: u32,
    /// What the frame cost.
    pub stats: FrameStats,
    /// The time in each stage.
    pub stages: StageTimes,
    /// The number of threads that write files.
    pub writers: usize,
}

/// The report of a finished run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// The number of frames that all sinks have taken.
    pub frames: usize,
    /// The number of frames that all sinks already had.
    pub skipped: usize,
    /// Paths of single files that sinks have made, such as a video.
    pub files: Vec<PathBuf>,
    /// The statistics of each device.
    pub devices: Vec<DeviceStats>,
    /// Time that devices were busy.
    pub time: Duration,
    /// Time from the last frame until the slowest sink was closed.
    pub finishing: Duration,
    /// Why the run ended early or lacks a file, in a sentence.
    pub failure: Option<String>,
}

impl RunReport {
    /// The speed of all devices together, relative to the fastest one alone; None for one device.
    pub fn speed_up(&self) -> Option<f64> {
        let all: u64 = self.devices.iter().map(|s| s.rays).sum();
        let rate = |s: &DeviceStats| s.rays as f64 / s.busy.as_secs_f64().max(1e-9);
        let best = self.devices.iter().map(rate).fold(0.0, f64::max);
        (self.devices.len() > 1 && best > 0.0).then(|| all as f64 / self.time.as_secs_f64().max(1e-9) / best)
    }
}

/// Receives the progress of a run. The default methods do nothing.
pub trait Progress {
    /// Outputs are open and devices are prepared. `devices` has their names, `threads` the number of CPU threads.
    fn start(&mut self, _run: &RunInfo, _devices: &[String], _threads: usize) {}
    /// A frame is finished. Frames come in order.
    fn frame(&mut self, _frame: &FrameReport) {}
    /// A remark for the user, such as a failed device whose tasks others took over.
    fn remark(&mut self, _text: &Message) {}
    /// The run has ended, even if it failed.
    fn end(&mut self, _run: &RunReport) {}
}

impl Progress for () {}

/// A duration in milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

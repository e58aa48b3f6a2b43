//! What a run tells while it runs and afterwards.

use crate::device::{DeviceStats, TaskStats};
use crate::output::RunInfo;
use std::path::PathBuf;
use std::time::Duration;

/// What a frame took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameStats {
    /// Time on the device until the frame is in host memory; of a frame in several tasks, from the first to the last.
    pub time: Duration,
    /// The part of it that devices computed.
    pub kernel: Duration,
    /// Camera, reflected and transmitted rays.
    pub rays: u64,
    /// Rays from surfaces to lights.
    pub shadow_rays: u64,
    /// Rays of the average thread over rays of the busiest one; 0 where nobody counted.
    pub balance: f64,
    /// Noise of a path-traced picture, in steps of 8-bit codes, where a limit was asked for.
    pub noise: Option<f64>,
    /// Samples of each pixel that were taken.
    pub samples: u32,
}

impl FrameStats {
    /// Counts a task; the time is left to whoever knows when the frame began.
    pub fn add(&mut self, task: &TaskStats) {
        self.kernel += task.kernel;
        self.rays += task.rays;
        self.shadow_rays += task.shadow_rays;
        self.balance = task.balance;
    }
}

/// Time a frame spent in each stage, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct StageTimes {
    /// On the device, until the frame is in host memory.
    pub render_ms: f64,
    /// The part of it that the device computed.
    pub kernel_ms: f64,
    /// To the video's colours.
    pub convert_ms: f64,
    /// Into sinks that take frames in order, such as the encoder.
    pub encode_ms: f64,
    /// Into files, compression included.
    pub write_ms: f64,
    /// Until the sinks were closed, once they had the last frame: an encoder's end, and what makes one video of its segments.
    /// Of a run, and of no frame.
    pub finish_ms: f64,
}

impl StageTimes {
    /// The stage that took longest per worker.
    pub fn bottleneck(&self, writers: usize) -> &'static str {
        let stages = [
            ("render", self.render_ms),
            ("encode", self.convert_ms + self.encode_ms),
            ("write", self.write_ms / writers.max(1) as f64),
            ("finish", self.finish_ms),
        ];
        stages.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("render", |s| s.0)
    }
    /// The same with what a whole run took beside its frames.
    #[must_use]
    pub fn with(&self, run: &RunReport) -> StageTimes {
        StageTimes { finish_ms: ms(run.finishing), ..*self }
    }
    /// Adds another frame's.
    pub fn add(&mut self, other: &StageTimes) {
        self.render_ms += other.render_ms;
        self.kernel_ms += other.kernel_ms;
        self.convert_ms += other.convert_ms;
        self.encode_ms += other.encode_ms;
        self.write_ms += other.write_ms;
        self.finish_ms += other.finish_ms;
    }
}

/// A frame that all sinks have taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameReport {
    /// Its number in the clip.
    pub frame: u32,
    /// What it took.
    pub stats: FrameStats,
    /// Where the time went.
    pub stages: StageTimes,
    /// Threads that write files.
    pub writers: usize,
}

/// A run that is over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// Frames that all sinks have taken.
    pub frames: usize,
    /// Frames that they had already.
    pub skipped: usize,
    /// Files that sinks have made and named, such as the video.
    pub files: Vec<PathBuf>,
    /// What each device did.
    pub devices: Vec<DeviceStats>,
    /// Time that devices were at work.
    pub time: Duration,
    /// Time until the slowest sink was closed, once it had the last frame.
    pub finishing: Duration,
    /// Why it ended early or lacks a file, in a sentence.
    pub failure: Option<String>,
}

impl RunReport {
    /// How much faster all devices were together than the fastest of them computes alone; None for one device.
    pub fn speed_up(&self) -> Option<f64> {
        let all: u64 = self.devices.iter().map(|s| s.rays).sum();
        let rate = |s: &DeviceStats| s.rays as f64 / s.busy.as_secs_f64().max(1e-9);
        let best = self.devices.iter().map(rate).fold(0.0, f64::max);
        (self.devices.len() > 1 && best > 0.0).then(|| all as f64 / self.time.as_secs_f64().max(1e-9) / best)
    }
}

/// Whoever wants to hear of a run while it runs. Every method has a default that does nothing.
pub trait Progress {
    /// Outputs are open and devices ready. `devices`: their names; `threads`: the CPU's.
    fn start(&mut self, _run: &RunInfo, _devices: &[String], _threads: usize) {}
    /// A frame is done, in order.
    fn frame(&mut self, _frame: &FrameReport) {}
    /// Something worth a line: a device that failed and others took over, a video that failed while frames go on.
    fn remark(&mut self, _text: &str) {}
    /// The run is over; also after a failure.
    fn end(&mut self, _run: &RunReport) {}
}

impl Progress for () {}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

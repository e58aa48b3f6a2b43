//! The records of the log as JSON lines, and what they add up to.

use crate::device::DeviceStats;
use crate::render::stats::{FrameReport, RunReport, StageTimes};
use crate::scene::Scene;
use serde::Serialize;
use std::time::Instant;

/// The version of the records: it changes when a key is gone or means something else.
pub const SCHEMA: u32 = 1;

/// What of a scene the log's first record tells.
#[derive(Clone, Debug, Serialize)]
pub struct SceneFacts {
    pub scene: String,
    /// Where frames go, if they go to files.
    pub path: Option<String>,
    pub width: u32,
    pub height: u32,
    pub samples: u32,
    pub samples_per_pixel: u32,
    pub depth: u32,
    /// Outside the promise of equal bytes.
    pub denoised: bool,
}

impl SceneFacts {
    pub fn of(name: &str, scene: &Scene) -> SceneFacts {
        let render = &scene.render;
        SceneFacts {
            scene: name.to_owned(),
            path: Some(scene.output.files.to_string()),
            width: render.width,
            height: render.height,
            samples: render.own_samples(),
            samples_per_pixel: render.samples_per_pixel(),
            depth: render.depth,
            denoised: false,
        }
    }
}

pub struct Totals {
    pub frames: usize,
    pub writers: usize,
    pub rays: u64,
    pub shadow_rays: u64,
    pub times: StageTimes,
    pub started: Instant,
}

impl Totals {
    pub fn add(&mut self, report: &FrameReport) {
        self.writers = report.writers;
        self.frames += 1;
        self.rays += report.stats.rays;
        self.shadow_rays += report.stats.shadow_rays;
        self.times.add(&report.stages);
    }
}

/// The first record: what is rendered, and where.
#[derive(Serialize)]
pub struct Start {
    pub schema: u32,
    pub version: &'static str,
    pub frames: usize,
    pub device: String,
    pub threads: usize,
    #[serde(flatten)]
    pub facts: SceneFacts,
}

#[derive(Serialize)]
pub struct FrameRow {
    pub frame: u32,
    pub ms: f64,
    pub rays: u64,
    pub shadow_rays: u64,
    pub balance: f64,
    // Where path tracing worked in passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    pub stages: StageTimes,
    pub bottleneck: &'static str,
}

/// The last record: how a run ended.
#[derive(Serialize)]
pub struct End {
    pub status: &'static str,
    pub error: Option<String>,
    pub exit_code: u8,
    pub path: Option<String>,
    pub frames: usize,
    pub seconds: f64,
    pub frames_per_second: f64,
    pub rays: u64,
    pub shadow_rays: u64,
    pub mrays_per_second: f64,
    pub stages: StageTimes,
    pub bottleneck: &'static str,
    pub video: Option<String>,
    // Empty for one device.
    pub devices: Vec<DeviceShare>,
    pub speed_up: Option<f64>,
}

impl End {
    pub fn of(run: &RunReport, totals: &Totals, facts: &SceneFacts, exit_code: u8) -> End {
        let (seconds, times) = (totals.started.elapsed().as_secs_f64(), totals.times.with(run));
        let speed_up = run.speed_up();
        End {
            status: if run.failure.is_none() { "complete" } else { "failed" },
            error: run.failure.clone(),
            exit_code,
            path: facts.path.clone(),
            frames: run.frames,
            seconds,
            frames_per_second: run.frames as f64 / seconds,
            rays: totals.rays,
            shadow_rays: totals.shadow_rays,
            mrays_per_second: totals.rays as f64 / (times.render_ms / 1e3).max(1e-9) / 1e6,
            stages: times,
            bottleneck: times.bottleneck(totals.writers),
            video: run.files.first().map(|v| v.display().to_string()),
            devices: if speed_up.is_some() { shares(run) } else { Vec::new() },
            speed_up,
        }
    }
}

/// What one of several devices has done.
#[derive(Serialize)]
pub struct DeviceShare {
    pub device: String,
    // Frames, or bands and rounds of frames.
    pub tasks: usize,
    // Of all rays.
    pub share: f64,
    pub busy_seconds: f64,
}

pub fn shares(run: &RunReport) -> Vec<DeviceShare> {
    let all: u64 = run.devices.iter().map(|s| s.rays).sum();
    let share = |s: &DeviceStats| DeviceShare {
        device: s.device.clone(),
        tasks: s.tasks,
        share: s.rays as f64 / all.max(1) as f64,
        busy_seconds: s.busy.as_secs_f64(),
    };
    run.devices.iter().map(share).collect()
}

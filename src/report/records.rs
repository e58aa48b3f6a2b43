//! The log's records as JSON lines.

use crate::render::stats::{FrameReport, RunReport, StageTimes, ms};
use crate::run::RunPlan;
use serde::Serialize;

// The version of the records. It changes when a key is removed or changes its meaning.
const SCHEMA: u32 = 1;

/// The facts about a scene in the log's first record.
#[derive(Clone, Debug, Serialize)]
pub struct SceneFacts {
    pub scene: String,
    /// The path of the frames, if they go to files.
    pub path: Option<String>,
    pub width: u32,
    pub height: u32,
    pub samples: u32,
    pub samples_per_pixel: u32,
    pub depth: u32,
    /// Denoised frames need not be equal byte for byte.
    pub denoised: bool,
}

impl SceneFacts {
    pub fn of(name: &str, plan: &RunPlan) -> SceneFacts {
        let render = &plan.request.scene.render;
        SceneFacts {
            scene: name.to_owned(),
            path: plan.claim.as_ref().map(|_| plan.request.scene.output.files.to_string()),
            width: render.width,
            height: render.height,
            samples: render.own_samples(),
            samples_per_pixel: render.samples_per_pixel(),
            depth: render.depth,
            denoised: plan.request.options.denoise.is_some(),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Record<'a> {
    /// The scene and the devices.
    Start {
        schema: u32,
        version: &'static str,
        frames: usize,
        device: String,
        threads: usize,
        #[serde(flatten)]
        facts: &'a SceneFacts,
    },
    /// A finished frame.
    Frame {
        frame: u32,
        ms: f64,
        rays: u64,
        shadow_rays: u64,
        balance: f64,
        // The samples of path tracing in rounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        samples: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        noise: Option<f64>,
        stages: StageTimes,
        bottleneck: &'static str,
    },
    /// How the run ended.
    End {
        status: &'static str,
        error: Option<&'a str>,
        exit_code: u8,
        path: Option<&'a str>,
        frames: usize,
        seconds: f64,
        frames_per_second: f64,
        rays: u64,
        shadow_rays: u64,
        mrays_per_second: f64,
        stages: StageTimes,
        bottleneck: &'static str,
        video: Option<String>,
        // Empty if there is one device.
        devices: Vec<DeviceShare<'a>>,
        speed_up: Option<f64>,
    },
}

impl<'a> Record<'a> {
    pub fn start(frames: usize, devices: &[String], threads: usize, facts: &'a SceneFacts) -> Record<'a> {
        let (version, device) = (env!("CARGO_PKG_VERSION"), devices.join(", "));
        Record::Start { schema: SCHEMA, version, frames, device, threads, facts }
    }

    pub fn frame(FrameReport { frame, stats, stages, writers }: &FrameReport) -> Record<'a> {
        Record::Frame {
            frame: *frame,
            ms: ms(stats.time),
            rays: stats.rays,
            shadow_rays: stats.shadow_rays,
            balance: stats.balance,
            samples: stats.noise.map(|_| stats.samples),
            noise: stats.noise,
            stages: *stages,
            bottleneck: stages.bottleneck(*writers),
        }
    }
}

/// What one of several devices did.
#[derive(Serialize)]
pub struct DeviceShare<'a> {
    pub device: &'a str,
    // Frames, or bands and rounds of frames.
    pub tasks: usize,
    // The fraction of all rays.
    pub share: f64,
    pub busy_seconds: f64,
}

/// The work of each device, and the speed of all relative to the fastest one alone; None for a single device.
pub fn shares(run: &RunReport) -> Option<(f64, Vec<DeviceShare<'_>>)> {
    let all: u64 = run.devices.iter().map(|s| s.rays).sum();
    let shares = run.devices.iter().map(|s| DeviceShare {
        device: &s.device,
        tasks: s.tasks,
        share: s.rays as f64 / all.max(1) as f64,
        busy_seconds: s.busy.as_secs_f64(),
    });
    Some((run.speed_up()?, shares.collect()))
}

//! What the run says while it runs: the log on stdout, the bar and remarks on stderr.

use crate::device::FrameStats;
use crate::pipeline::Share;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// `frame<TAB>ms<TAB>rays`, a line a frame.
    Text,
    /// JSON, a record a line: start, each frame, end.
    Jsonl,
}

/// What a run is, for the log's first record.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are the log's own keys")]
pub struct RunFacts {
    pub scene: String,
    pub frames: usize,
    pub width: u32,
    pub height: u32,
    pub samples: u32,
    pub samples_per_pixel: u32,
    pub depth: u32,
    pub device: String,
    pub threads: usize,
}

/// Time a frame spent in each stage.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StageTimes {
    /// On the device, until the frame is in host memory.
    pub render_ms: f64,
    /// The part of it that the device computed.
    pub kernel_ms: f64,
    /// To the video's colours.
    pub convert_ms: f64,
    /// Into the encoder.
    pub encode_ms: f64,
    /// Into a file, compression included.
    pub write_ms: f64,
}

impl StageTimes {
    /// The stage that took longest per worker.
    pub fn bottleneck(&self, writers: usize) -> &'static str {
        let stages = [
            ("render", self.render_ms),
            ("encode", self.convert_ms + self.encode_ms),
            ("write", self.write_ms / writers.max(1) as f64),
        ];
        stages.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("render", |s| s.0)
    }
    fn add(&mut self, other: &StageTimes) {
        self.render_ms += other.render_ms;
        self.kernel_ms += other.kernel_ms;
        self.convert_ms += other.convert_ms;
        self.encode_ms += other.encode_ms;
        self.write_ms += other.write_ms;
    }
}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Writes the log and moves the bar.
pub struct Reporter {
    format: LogFormat,
    // None once nobody reads the log: a closed pipe stops the log, not the rendering.
    out: Option<Box<dyn Write + Send>>,
    bar: ProgressBar,
    both_terminals: bool,
    started: Instant,
    facts: RunFacts,
    writers: usize,
    frames: usize,
    rays: u64,
    shadow_rays: u64,
    times: StageTimes,
    shares: Vec<DeviceShare>,
    speed_up: Option<f64>,
    quiet: bool,
}

impl Reporter {
    /// Starts the log; the bar shows only on a terminal and not when `quiet`.
    pub fn start(format: LogFormat, quiet: bool, facts: RunFacts, writers: usize) -> Reporter {
        let hidden = quiet || !std::io::stderr().is_terminal();
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} frames  {per_sec}  {elapsed} gone, {eta} to go")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(facts.frames as u64), target).with_style(style);
        let mut reporter = Reporter {
            format,
            out: Some(Box::new(std::io::stdout())),
            both_terminals: !hidden && std::io::stdout().is_terminal(),
            bar,
            started: Instant::now(),
            facts,
            writers,
            frames: 0,
            rays: 0,
            shadow_rays: 0,
            times: StageTimes::default(),
            shares: Vec::new(),
            speed_up: None,
            quiet,
        };
        if format == LogFormat::Jsonl {
            let facts = reporter.facts.clone();
            reporter.json("start", &Start { version: env!("CARGO_PKG_VERSION"), facts });
        }
        reporter
    }

    /// A frame is done, in order.
    pub fn frame(&mut self, n: u32, stats: &FrameStats, times: &StageTimes) {
        self.frames += 1;
        self.rays += stats.rays;
        self.shadow_rays += stats.shadow_rays;
        self.times.add(times);
        match self.format {
            LogFormat::Text => self.line(&format!("{n}\t{:.3}\t{}", ms(stats.time), stats.rays)),
            LogFormat::Jsonl => {
                let bottleneck = times.bottleneck(self.writers);
                self.json(
                    "frame",
                    &Frame {
                        frame: n,
                        ms: ms(stats.time),
                        rays: stats.rays,
                        shadow_rays: stats.shadow_rays,
                        balance: stats.balance,
                        samples: (stats.samples > 0).then_some(stats.samples),
                        noise: (stats.samples > 0).then_some(stats.noise),
                        stages: *times,
                        bottleneck,
                    },
                );
            }
        }
        self.bar.inc(1);
    }

    /// What each device did in `time`; told where there are several.
    pub fn shares(&mut self, shares: Vec<Share>, time: Duration) {
        let all: u64 = shares.iter().map(|s| s.rays).sum();
        let rate = |s: &Share| s.rays as f64 / s.busy.as_secs_f64().max(1e-9);
        let best = shares.iter().map(rate).fold(0.0, f64::max);
        if shares.len() < 2 || best == 0.0 {
            return;
        }
        self.speed_up = Some(all as f64 / time.as_secs_f64().max(1e-9) / best);
        self.shares = shares
            .into_iter()
            .map(|s| DeviceShare {
                pieces: s.pieces,
                share: s.rays as f64 / all.max(1) as f64,
                busy_seconds: s.busy.as_secs_f64(),
                device: s.device,
            })
            .collect();
    }

    /// The run is over.
    pub fn end(&mut self, video: Option<&std::path::Path>) {
        self.bar.finish_and_clear();
        if self.format == LogFormat::Jsonl {
            let seconds = self.started.elapsed().as_secs_f64();
            let device_seconds = self.times.render_ms / 1e3;
            let end = End {
                frames: self.frames,
                seconds,
                frames_per_second: self.frames as f64 / seconds,
                rays: self.rays,
                shadow_rays: self.shadow_rays,
                mrays_per_second: self.rays as f64 / device_seconds.max(1e-9) / 1e6,
                stages: self.times,
                bottleneck: self.times.bottleneck(self.writers),
                video: video.map(|v| v.display().to_string()),
                devices: std::mem::take(&mut self.shares),
                speed_up: self.speed_up,
            };
            self.json("end", &end);
        } else if let Some(speed_up) = self.speed_up.filter(|_| !self.quiet) {
            for s in &self.shares {
                let percent = 100.0 * s.share;
                remark(&format!("{}: {percent:.1} % of the rays, {:.2} s busy", s.device, s.busy_seconds));
            }
            remark(&format!("together {speed_up:.2} times as fast as the fastest of them computes alone"));
        }
    }

    fn json<T: Serialize>(&mut self, kind: &str, record: &T) {
        let tagged = Tagged { kind, record };
        if let Ok(line) = serde_json::to_string(&tagged) {
            self.line(&line);
        }
    }

    fn line(&mut self, line: &str) {
        let Some(out) = &mut self.out else { return };
        let mut write = || writeln!(out, "{line}").and_then(|()| out.flush());
        let result = if self.both_terminals { self.bar.suspend(write) } else { write() };
        if result.is_err() {
            self.out = None;
        }
    }
}

/// A remark on stderr, one line.
pub fn remark(text: &str) {
    // Nobody may be reading; that is no reason to stop.
    let _ = writeln!(std::io::stderr(), "polyfly: {text}");
}

/// Prints a text on stdout; a reader who has left is no error.
pub fn print(text: &str) -> std::io::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[derive(Serialize)]
struct Tagged<'a, T> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(flatten)]
    record: &'a T,
}
#[derive(Serialize)]
struct Start {
    version: &'static str,
    #[serde(flatten)]
    facts: RunFacts,
}
#[derive(Serialize)]
struct Frame {
    frame: u32,
    ms: f64,
    rays: u64,
    shadow_rays: u64,
    balance: f64,
    // Where path tracing worked in passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<f64>,
    stages: StageTimes,
    bottleneck: &'static str,
}
#[derive(Serialize)]
struct End {
    frames: usize,
    seconds: f64,
    frames_per_second: f64,
    rays: u64,
    shadow_rays: u64,
    mrays_per_second: f64,
    stages: StageTimes,
    bottleneck: &'static str,
    video: Option<String>,
    // Empty for one device.
    devices: Vec<DeviceShare>,
    speed_up: Option<f64>,
}
#[derive(Serialize)]
struct DeviceShare {
    device: String,
    // Frames, or bands of frames.
    pieces: usize,
    // Of all rays.
    share: f64,
    busy_seconds: f64,
}

//! polyfly renders flythroughs of polyhedra: a scene goes in, frames and a video come out, byte for
//! byte the same on every device.
//!
//! A [`Scene`] is loaded or built. A [`Renderer`] renders [`Image`]s of it, or passes the frames of an animation to
//! [`Sink`]s: files, a video, your own. A [`RunRequest`] renders into a folder as the program does, with a manifest
//! that lets a later run resume. [`Progress`] observes both, and [`Cancel`] ends them early. The library reads no
//! environment variables, writes nothing to standard streams and handles no signals. Only the program does
//! (`command`, `report`), which requires the feature `cli`.
//!
//! docs/architecture.md has the map, the life of a frame, and how to add a camera path, a material, a light, a format or a device.

#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports, reason = "the program uses it"))]

mod assets;
mod cancel;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod command;
mod device;
mod device_scene;
mod error;
mod film;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
#[path = "tests/fuzz_targets.rs"]
pub mod fuzz_targets;
mod gpu_types;
mod kernels;
mod language;
mod math;
mod output;
mod quote;
mod render;
#[cfg(feature = "cli")]
mod report;
mod run;
pub mod scene;
mod setters;
mod system;
#[cfg(test)]
mod tests;
mod threads;

pub use cancel::Cancel;
pub use error::Error;
pub use film::image::{Image, Layers};
pub use film::post::denoise::DenoiserLibrary;
pub use output::capture::{CapturedFrame, MemorySink};
pub use output::files::FileSink;
pub use output::video::{Encode, VideoOptions, VideoSink};
pub use output::{Outcome, OutputError, PixelFormats, RenderedFrame, RunInfo, Sink};
pub use render::frames::FrameList;
pub use render::plan::Split;
pub use render::stats::{FrameReport, FrameStats, Progress, RunReport, StageTimes};
pub use render::steps::FrameSteps;
pub use render::{Devices, RenderOptions, Renderer};
pub use run::golden::GoldenDifference;
pub use run::stitch::{StitchPlan, StitchRequest};
pub use run::{Existing, Run, RunPlan, RunRequest, Shard};
pub use scene::Scene;
// Types in the signatures of the items above.
pub use assets::AssetError;
pub use assets::source::Limits;
pub use device::{DeviceError, DeviceStats};
pub use device_scene::TooMany;
pub use language::Message;
pub use threads::NoThread;

/// Particles in memory: [`RenderOptions::particles`].
pub mod particles {
    pub use crate::assets::particles::memory::StepSource;
    pub use crate::assets::particles::shape::{Polyhedron, Shape};
    pub use crate::assets::particles::{Cell, Column, Step};
}

// For benches/.
#[doc(hidden)]
pub use render::tiles;

// The program's entry point, and the function that its allocator calls.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use command::{main as command_line, stop::out_of_memory};

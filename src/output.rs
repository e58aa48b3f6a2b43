//! Where frames go: files, each whole or not there, videos, memory, and whatever else takes frames.

pub mod capture;
mod error;
pub mod files;
pub mod formats;
pub mod opaque;
mod sink;
pub mod store;
pub mod stream;
pub mod video;

pub use error::OutputError;
pub(crate) use sink::Converted;
pub use sink::{Already, Outcome, PixelFormats, RenderedFrame, RunInfo, Sink};

//! Outputs of frames: picture files, videos, streams, memory, and the trait that they share.

mod bytes;
pub mod capture;
pub mod documents;
mod error;
pub mod files;
pub mod formats;
pub mod opaque;
mod sink;
pub mod store;
pub mod stream;
pub mod video;

pub(crate) use error::NameFile;
pub use error::OutputError;
pub use sink::{Already, Outcome, PixelFormats, RenderedFrame, RunInfo, Sink};

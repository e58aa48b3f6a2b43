//! Why rendering ends early.

use crate::assets::AssetError;
use crate::device::DeviceError;
use crate::device_scene::TooMany;
use crate::output::OutputError;

/// Why rendering ended early.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A file that the scene names is missing or broken.
    #[error("{0}")]
    Asset(#[from] AssetError),
    /// The scene has more elements than the kernels count.
    #[error("{0}")]
    TooMany(#[from] TooMany),
    /// No such device, or all have failed.
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// A sink failed.
    #[error("{0}")]
    Output(#[from] OutputError),
    /// It was asked to stop.
    #[error("interrupted after {done} of {total} frames; what is written is whole")]
    Interrupted {
        /// Frames that were finished.
        done: usize,
        /// Frames that there were to be.
        total: usize,
    },
    /// A frame that the clip does not have.
    #[error("there is no frame {frame}: the scene has frames 0-{last}")]
    NoFrame {
        /// The one that was asked for.
        frame: u32,
        /// The last that there is.
        last: u32,
    },
}

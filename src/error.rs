//! What can end a run, and the exit code that says so (the numbers are those of sysexits.h).

use crate::assets::MeshError;
use crate::device::DeviceError;
use crate::diagnostic::Problems;
use crate::particles::ParticleError;
use crate::sink::SinkError;
use crate::texture::TextureError;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line makes no sense; exit 64.
    #[error("{0}")]
    Usage(String),
    /// The scene is wrong; exit 65.
    #[error("{0}")]
    Scene(#[from] Box<Problems>),
    /// The scene is no text; exit 65.
    #[error(
        "{0}: byte {1} is no text: a scene is written in tokens or TOML (`polyfly --default` prints one); is this a picture?"
    )]
    NotText(String, usize),
    /// The scene has more elements than the kernels can count; exit 65.
    #[error("{0}")]
    TooMany(#[from] crate::layout::TooMany),
    /// The scene's texture is missing or broken; exit 65.
    #[error("{0}")]
    Texture(#[from] TextureError),
    /// A mesh is missing or broken; exit 65.
    #[error("{0}")]
    Mesh(#[from] MeshError),
    /// A file of particles is missing or broken; exit 65.
    #[error("{0}")]
    Particles(#[from] ParticleError),
    /// The scene cannot be written in the grammar asked for; exit 65.
    #[error("this scene cannot be written as tokens:\n{}", .0.iter().map(|r| format!("  - {r}")).collect::<Vec<_>>().join("\n"))]
    Unsayable(Vec<String>),
    /// No such device; exit 69.
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// Frames or video could not be written; exit 74.
    #[error("{0}")]
    Sink(#[from] SinkError),
    /// Something could not be read; exit 74.
    #[error("cannot read {0}: {1}")]
    Read(String, std::io::Error),
    /// Devices disagree; exit 70.
    #[error("devices disagree:\n{}", .0.join("\n"))]
    Differs(Vec<String>),
    /// Ctrl-C; exit 130.
    #[error("interrupted after {0} of {1} frames; what is written is whole")]
    Interrupted(usize, usize),
}

impl Error {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 64,
            Error::Scene(_)
            | Error::NotText(..)
            | Error::TooMany(_)
            | Error::Texture(_)
            | Error::Mesh(_)
            | Error::Particles(_)
            | Error::Unsayable(_) => 65,
            Error::Device(DeviceError::Input(_)) => 65,
            Error::Device(_) => 69,
            Error::Differs(_) => 70,
            Error::Sink(_) | Error::Read(..) => 74,
            Error::Interrupted(..) => 130,
        }
    }
}

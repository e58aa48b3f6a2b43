//! The limits of scenes, and their defaults.

use crate::quote::listed;

/// Maximum side of a picture, pixels.
pub const MAX_SIDE: u32 = 65_536;
/// Maximum size of a picture in memory, pixels (4 bytes each, a few pictures in flight).
pub const MAX_PIXELS: u64 = 1 << 28;
/// Maximum number of bounces; kernels/types.def says the same.
pub const MAX_DEPTH: u32 = 128;
/// Maximum samples per pixel of path tracing. It keeps a tile's items exact in single precision.
pub const MAX_PATH_SAMPLES: u32 = 65_535;
/// Maximum samples along a pixel's side. It keeps a tile's items exact in single precision.
pub const MAX_SAMPLES: u32 = 64;
/// Maximum shadow rays to one light from one point.
pub const MAX_LIGHT_SAMPLES: u32 = 256;
/// Maximum number of frames in a clip.
pub const MAX_FRAMES: u32 = 100_000_000;
/// Maximum number of lamps on an edge.
pub const MAX_LAMPS: u32 = 10_000;
/// Maximum number of particles in a file: the kernels' maximum of spheres.
pub const MAX_PARTICLES: u32 = (1 << 26) - 1;
/// Maximum repetitions of a floor's relief along one side.
pub const MAX_TILES: u32 = 10_000;
/// Maximum coordinate, units; a sun in meters is at 1.5e11.
pub const FARTHEST: f64 = 1e12;
/// Minimum radius of a body or sphere, and minimum focus distance, units.
pub const MIN_LENGTH: f64 = 1e-9;
/// Maximum color of a light, sRGB.
pub const MAX_BRIGHTNESS: f64 = 1e6;

/// Extensions of picture files; src/output/formats.rs has a file for each.
pub const PICTURES: [&str; 7] = ["data", "png", "ppm", "exr", "jpg", "webp", "tiff"];

/// Extensions of videos. src/output/video/containers.rs describes all but the last one.
pub const VIDEOS: [&str; 7] = ["mp4", "mov", "mkv", "webm", "gif", "webp", "y4m"];

/// Extensions in a sentence: `.png, .ppm or .exr`.
pub fn endings(extensions: &[&str]) -> String {
    listed(&extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>(), "or")
}

/// The main extension of a picture format, for an alternative one; in lower case.
pub fn ordinary_extension(extension: &str) -> &str {
    match extension {
        "jpeg" => "jpg",
        "tif" => "tiff",
        other => other,
    }
}

/// Defaults of both grammars.
pub mod defaults {
    use crate::math::vec3::Vec3;
    /// Frames in a clip.
    pub const FRAMES: u32 = 120;
    /// Picture size, pixels.
    pub const SIZE: (u32, u32) = (1280, 720);
    /// Maximum number of bounces.
    pub const DEPTH: u32 = 10;
    /// Samples along a pixel's side.
    pub const SAMPLES: u32 = 1;
    /// Shadow rays to a spherical light.
    pub const LIGHT_SAMPLES: u32 = 4;
    /// Minimum weight of a ray: half a step of the darkest 8-bit sRGB codes times the brightest lamps.
    pub const CUTOFF: f64 = 0.002;
    /// Ambient light, sRGB.
    pub const AMBIENT: Vec3 = [0.3, 0.3, 0.32];
    /// Weight of the highlight.
    pub const HIGHLIGHT: f64 = 0.35;
    /// The sky at the zenith, sRGB.
    pub const ZENITH: Vec3 = [0.015, 0.02, 0.05];
    /// The sky at the horizon, sRGB.
    pub const HORIZON: Vec3 = [0.1, 0.12, 0.19];
    /// Frames per second of a video.
    pub const FPS: f64 = 30.0;
}

//! What a scene may ask for at most, and what it gets where it does not ask.

use crate::quote::listed;

/// Longest side of a picture, pixels.
pub const MAX_SIDE: u32 = 65_536;
/// Largest picture held in memory, pixels (4 bytes each, a few pictures in flight).
pub const MAX_PIXELS: u64 = 1 << 28;
/// Maximum number of bounces; kernels/types.def says the same.
pub const MAX_DEPTH: u32 = 128;
/// Most samples of a pixel in path tracing; keeps a tile's items exact in single precision.
pub const MAX_PATH_SAMPLES: u32 = 65_535;
/// Most samples along a pixel's side; keeps a tile's items exact in single precision.
pub const MAX_SAMPLES: u32 = 64;
/// Most shadow rays to one light from one point.
pub const MAX_LIGHT_SAMPLES: u32 = 256;
/// Most frames in a clip.
pub const MAX_FRAMES: u32 = 100_000_000;
/// Most lamps on an edge.
pub const MAX_LAMPS: u32 = 10_000;

/// Most times that a floor's relief lies along one of its sides.
pub const MAX_TILES: u32 = 10_000;
/// Largest distance in a scene, units; a sun in metres is 1.5e11.
pub const FARTHEST: f64 = 1e12;
/// Smallest size of a body, a sphere or a distance of focus, units.
pub const SHORTEST: f64 = 1e-9;
/// Brightest colour of a light, sRGB.
pub const BRIGHTEST: f64 = 1e6;

/// Extensions of picture files; src/output/formats.rs has a file for each.
pub const PICTURES: [&str; 7] = ["data", "png", "ppm", "exr", "jpg", "webp", "tiff"];

/// Extensions of videos; src/output/container.rs tells what is in them, but for the last one.
pub const VIDEOS: [&str; 7] = ["mp4", "mov", "mkv", "webm", "gif", "webp", "y4m"];

/// Extensions as a sentence lists them: `.png, .ppm or .exr`.
pub fn endings(extensions: &[&str]) -> String {
    listed(&extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>(), "or")
}

/// The extension that a picture's other one stands for, or the same: both in small letters.
pub fn ordinary_extension(extension: &str) -> &str {
    match extension {
        "jpeg" => "jpg",
        "tif" => "tiff",
        other => other,
    }
}

/// Defaults where neither grammar says otherwise.
pub mod defaults {
    use crate::math::vec3::Vec3;
    /// Frames in a clip.
    pub const FRAMES: u32 = 120;
    /// Picture size, pixels.
    pub const SIZE: (u32, u32) = (1280, 720);
    /// Most bounces.
    pub const DEPTH: u32 = 10;
    /// Samples along a pixel's side.
    pub const SAMPLES: u32 = 1;
    /// Shadow rays to a ball of light.
    pub const LIGHT_SAMPLES: u32 = 4;
    /// Lightest ray: half a step of the darkest 8-bit sRGB codes times the brightest lamps.
    pub const CUTOFF: f64 = 0.002;
    /// Light from everywhere, sRGB.
    pub const AMBIENT: Vec3 = [0.3, 0.3, 0.32];
    /// Weight of the highlight.
    pub const HIGHLIGHT: f64 = 0.35;
    /// The sky straight up, sRGB.
    pub const ZENITH: Vec3 = [0.015, 0.02, 0.05];
    /// The sky at the horizon, sRGB.
    pub const HORIZON: Vec3 = [0.1, 0.12, 0.19];
    /// Frames a second of a video.
    pub const FPS: f64 = 30.0;
}

/// Most particles in a file: as many spheres as the kernels count.
pub const MAX_PARTICLES: u32 = (1 << 26) - 1;

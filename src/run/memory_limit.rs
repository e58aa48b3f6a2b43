//! The memory of a run, estimated before it begins, because a failed allocation aborts the program.

use crate::assets::source::{self, Limits};
use crate::error::Error;
use crate::language::msg;
use crate::output::PixelFormats;
use crate::output::formats::{Format, FormatOptions};
use crate::output::video::Settings;
use crate::output::video::job::VideoJob;
pub use crate::render::footprint::limit;
use crate::render::{RenderOptions, footprint};
use crate::scene::Scene;

// Bytes of the program, the scene and the drivers.
const BASE: u64 = 256 << 20;
// Bytes per frame in a video's list of frames.
const LISTED: u64 = 72;
// Bytes per pixel of a picture, with its mip levels and its decoded source; bytes per byte of a mesh file.
const TEXTURE: u64 = 20;
const SKY: u64 = 26;
const RELIEF: u64 = 40;
const MESH: u64 = 12;
// Bytes per pixel of a frame that is read for a video: decoded, as linear light or 8-bit codes, and as YUV planes.
const DECODED: u64 = 24;

/// What a picture format and a video together need of each frame.
pub(crate) fn needs_of(picture: Option<&(&'static Format, FormatOptions)>, video: Option<&Settings>) -> PixelFormats {
    let picture = picture.map_or_else(PixelFormats::default, |(format, options)| format.needs(options));
    video.map_or(picture, |settings| picture.union(settings.needs()))
}

/// Maximum bytes that rendering takes. `scripts/measure/memory` compares the estimate with real runs.
pub fn estimate(
    scene: &Scene,
    options: &RenderOptions,
    picture: Option<&(&'static Format, FormatOptions)>,
    video: Option<&VideoJob>,
) -> u64 {
    let needs = needs_of(picture, video.map(|job| &job.settings));
    let sinks = usize::from(picture.is_some()) + usize::from(video.is_some());
    BASE + footprint::peak_bytes(scene, needs, options, sinks) + video.map_or(0, of_encoding)
}

// Bytes of a video's encoders and of its list of frames.
fn of_encoding(job: &VideoJob) -> u64 {
    job.peak_memory() + LISTED * job.frames.len() as u64
}

/// Bytes that a video of existing frames takes.
pub fn of_film(job: &VideoJob) -> u64 {
    let (width, height) = job.size;
    BASE + DECODED * u64::from(width) * u64::from(height) + of_encoding(job)
}

/// Bytes that the scene's files take in memory. Unreadable files count as 0: reading them reports the error.
pub fn files(scene: &Scene, limits: Limits) -> u64 {
    let (mut bytes, mut reliefs, mut widest, mut tallest) = (0, 0, 0, 0);
    scene.clone().visit_files(|key, path| {
        let sides = |kind: &str| source::sides(kind, path, limits);
        let area = |(width, height): (u64, u64)| width * height;
        bytes += match key.as_str() {
            key if key.ends_with(".texture") => TEXTURE * area(sides("texture")),
            "sky.image" => SKY * area(sides("sky")),
            key if key.starts_with("body[") => RELIEF * area(sides("relief")),
            key if key.starts_with("floor.relief") => {
                let (width, height) = sides("relief");
                (widest, tallest) = (width.max(widest), height.max(tallest));
                reliefs += area((width, height));
                0
            }
            _ => MESH * std::fs::metadata(path).map_or(0, |what| what.len().min(limits.file)),
        };
    });
    // Relief maps share one size: the widest width and the tallest height.
    bytes + RELIEF * reliefs.max(widest * tallest)
}

/// Refuses a run that takes more than `limit`, or more than nine tenths of the free memory.
pub fn check(bytes: u64, limit: Option<u64>, size: (u32, u32)) -> Result<(), Error> {
    match self::limit(limit) {
        Some(max) if bytes > max => {
            let what = msg!(
                "a run of {width} x {height} pixels takes about {takes} MiB of memory, and may take {may}: ask for a smaller --size, for no .exr or --denoise, for smaller textures and meshes, or raise --limit-memory",
                width = size.0,
                height = size.1,
                takes = bytes >> 20,
                may = max >> 20
            );
            Err(Error::TooLittleMemory(what))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_figure() {
        assert!(check(6400 << 20, Some(6400 << 20), (1, 1)).is_ok());
        let refused = check(6400 << 20, Some(6399 << 20), (7, 5)).unwrap_err().to_string();
        assert!(
            refused.contains("7 x 5 pixels takes about 6400 MiB") && refused.contains("--limit-memory"),
            "{refused}"
        );
        if cfg!(any(target_os = "linux", windows)) {
            assert!(check(u64::MAX, None, (1, 1)).is_err() && check(1, None, (1, 1)).is_ok());
        }
    }
}

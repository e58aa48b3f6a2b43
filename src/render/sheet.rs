//! Contact sheets: small frames from all over a clip in one picture.

use super::frames::FrameList;
use super::{RenderOptions, Renderer};
use crate::error::Error;
use crate::film::image::Image;
use crate::output::PixelFormats;
use crate::scene::Scene;

/// The default number of frames.
pub const SHEET: u32 = 20;
// The longer side of a frame, pixels.
const SIDE: u32 = 256;
// The gap between frames, pixels.
const GAP: u32 = 6;
// Samples per path-traced pixel.
const SAMPLES: u32 = 16;
const PAPER: [u8; 4] = [24, 24, 26, 255];

/// A sheet of these frames, in RGBA. The first frame is at the top left; there are as many columns as rows, or one more.
pub fn sheet(scene: &Scene, frames: &FrameList, options: &RenderOptions) -> Result<Image<u8>, Error> {
    Ok(composed(&small(scene, frames, options)?))
}

/// These frames, each as small as on a sheet.
pub fn small(scene: &Scene, frames: &FrameList, options: &RenderOptions) -> Result<Vec<Image<u8>>, Error> {
    let mut small = scene.clone();
    (small.render.width, small.render.height) = small_sides((scene.render.width, scene.render.height));
    let own = scene.render.own_samples();
    small.render.set_samples(small.render.integrator.own(own.min(2), own.min(SAMPLES)));
    let frames = Renderer::prepare(small, options.clone())?.capture(frames, PixelFormats::RGBA8, &mut ())?;
    Ok(frames.into_iter().filter_map(|frame| frame.rgba8).collect())
}

/// The size of a frame on a sheet.
pub fn small_sides((width, height): (u32, u32)) -> (u32, u32) {
    let longer = width.max(height);
    let side = |n: u32| ((u64::from(n) * u64::from(SIDE.min(longer))).div_ceil(u64::from(longer)) as u32).max(1);
    (side(width), side(height))
}

/// The columns of a sheet of so many frames.
pub fn columns(count: u32) -> u32 {
    (1..).find(|c| c * c >= count).unwrap_or(1)
}

/// Arranges pictures of one size in a grid, in RGBA. The first one is at the top left; there are as many columns as
/// rows, or one more.
pub fn composed(frames: &[Image<u8>]) -> Image<u8> {
    let count = frames.len().max(1) as u32;
    let (width, height) = frames.first().map_or((1, 1), |frame| (frame.width(), frame.height()));
    let columns = columns(count);
    let rows = count.div_ceil(columns);
    let (wide, tall) = (columns * (width + GAP) + GAP, rows * (height + GAP) + GAP);
    let mut data: Vec<u8> = PAPER.repeat(wide as usize * tall as usize);
    for (i, frame) in (0..).zip(frames) {
        let (left, top) = (GAP + i % columns * (width + GAP), GAP + i / columns * (height + GAP));
        for (y, line) in (top..).zip(frame.data().chunks_exact(4 * width as usize)) {
            let at = 4 * (y as usize * wide as usize + left as usize);
            data[at..at + line.len()].copy_from_slice(line);
        }
    }
    Image::new(wide, tall, 4, data)
}

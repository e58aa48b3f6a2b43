//! The moments of a frame that its samples are spread over while the shutter is open.

use crate::device::PixelSet;
use crate::math::vec3::add;
use crate::scene::{Body, Projection, Scene};

// Maximum number of a pixel's moments.
const MAX: u32 = 16;
// Bright things that move further than this between two moments of a pixel, in pixels, would show as copies, in mirrors of mirrors first.
const LONGEST_STEP: f64 = 4.0;
// Pixels with fewer samples would show each other's moments as noise.
const FEWEST_SAMPLES: u32 = 4;
// Positions in a block of 2 x 2, in the order of their moments.
const POSITIONS: [u32; 4] = [0, 2, 3, 1];

/// The moments of a frame. Where things move fast, each pixel of a block has its own moments, so that bright things make streaks, not
/// copies (Keller and Heidrich, "Interleaved sampling", 2001). Blocks cost time: rays that go side by side are further apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    // The number of a pixel's moments.
    of_pixel: u32,
    is_open: bool,
    // Block size for interleaved sampling: each pixel of a block has its own moments; 1: all pixels have the same.
    block: u32,
}

impl Moments {
    pub fn of(scene: &Scene, frame: u32) -> Moments {
        if !scene.has_shutter() {
            return Moments { of_pixel: 1, is_open: false, block: 1 };
        }
        let of_pixel = scene.render.samples_per_pixel().min(MAX);
        // Where shapes move, each moment has arrays of all shapes, so those of files do not get so many.
        let has_files = scene.world.particles.is_some() || !scene.world.meshes.is_empty();
        let is_large = scene.lamps_move() && has_files;
        let is_fast = || largest_motion(scene, f64::from(frame)) > LONGEST_STEP * f64::from(of_pixel);
        let block = if of_pixel >= FEWEST_SAMPLES && !is_large && is_fast() { 2 } else { 1 };
        Moments { of_pixel, is_open: true, block }
    }

    /// The number of moments, of all pixels of a block.
    pub fn count(self) -> u32 {
        self.of_pixel * self.pixels(0).positions()
    }

    /// The pixels that see a moment. The moments of a block's pixels follow one another.
    pub fn pixels(self, moment: u32) -> PixelSet {
        PixelSet { block: self.block, position: moment % (self.block * self.block) }
    }

    /// The time of a moment, in frames since the clip's start. A pixel's moments are evenly spaced while the shutter is open, in an
    /// order that is unrelated to the samples' positions.
    pub fn time(self, scene: &Scene, frame: u32, moment: u32) -> f64 {
        if !self.is_open {
            return f64::from(frame);
        }
        // A stride near the golden ratio that is coprime to the count visits all moments.
        let shared = |mut a: u32, mut b: u32| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let (count, positions) = (self.of_pixel, self.pixels(0).positions());
        let stride = (0..count).map(|i| (count * 5 / 8 + i).max(1)).find(|&s| shared(s, count) == 1).unwrap_or(1);
        let within = (f64::from(POSITIONS[(moment % positions) as usize]) + 0.5) / f64::from(positions);
        let place = (f64::from(moment / positions * stride % count) + within) / f64::from(count);
        f64::from(frame) + scene.camera_at(f64::from(frame)).shutter * (place - 0.5)
    }
}

// The largest distance, in pixels, that something in the picture moves while the shutter is open: of bodies' vertices, centers of balls, the
// floor's corners, and what is far away.
fn largest_motion(scene: &Scene, frame: f64) -> f64 {
    let (frames, width, height) = (scene.output.frames, scene.render.width, scene.render.height);
    let camera = scene.camera_at(frame);
    let ahead = camera.view_at(frame, frames);
    // Parallel rays see the sky the same in all pixels.
    let far = (ahead.projection != Projection::Orthographic).then(|| ahead.ahead(1e9));
    let places = |moment| {
        let (here, view) = (scene.at(moment), scene.camera_at(moment).view_at(moment, frames));
        let world = &here.world;
        let vertices = |body: &Body| body.vertices().into_iter().map(|v| add(body.centre, v)).collect::<Vec<_>>();
        let bodies = world.bodies.iter().flat_map(vertices);
        let balls = world.spheres.iter().map(|ball| ball.centre).chain(world.ellipsoids.iter().map(|one| one.centre));
        let corners = world.floor.iter().flat_map(|floor| floor.corners);
        bodies
            .chain(balls)
            .chain(corners)
            .chain(far)
            .map(|point| view.project(point, (width, height)))
            .collect::<Vec<_>>()
    };
    let inside = |[x, y]: [f64; 2]| 2.0 * x.abs() <= f64::from(width) && 2.0 * y.abs() <= f64::from(height);
    let distance = |(before, after): (Option<[f64; 2]>, Option<[f64; 2]>)| {
        let (a, b) = (before?, after?);
        // What goes around the back of a panorama comes in at its other end.
        let is_near = !ahead.projection.is_round() || (a[0] - b[0]).abs() < 0.5 * f64::from(width);
        (is_near && (inside(a) || inside(b))).then(|| libm::hypot(a[0] - b[0], a[1] - b[1]))
    };
    let [before, after] = [-0.5, 0.5].map(|part| places(frame + part * camera.shutter));
    before.into_iter().zip(after).filter_map(distance).fold(0.0, f64::max)
}

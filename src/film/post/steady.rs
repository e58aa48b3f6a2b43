//! Noise that does not flicker: before a frame is filtered, it takes over light of the frames before and after it. A pixel's first
//! surface is followed to where it was seen in the other frame, by the camera and by the motion of its body, which are known exactly.
//! Light counts as far as surfaces are alike (as for the filter of a single frame), and as far as both frames, filtered, have the same
//! light around there within their noise: what mirrors and glass show moves in other ways than they do.
//!
//! A frame depends on a fixed number of others, which are not denoised themselves. So its bytes are the same in any run.

use super::guided::Noisy;
use crate::gpu_types::{BodyMotion, FrameParams, LendingView, PROJECTION_ORTHOGRAPHIC};
use crate::kernels::Isa;
use crate::kernels::denoise::{GUIDES, LIGHT, SAMPLES, SUMS, SeenSlices};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::{Body, Scene};
use rayon::prelude::*;
use std::sync::Arc;

/// The camera and the bodies of a frame.
pub struct View {
    eye: Vec3,
    // The middle of the picture, and a pixel to the right and down.
    forward: Vec3,
    right: Vec3,
    down: Vec3,
    projection: i32,
    bodies: Vec<Pose>,
}

// A body's place, and its axes.
struct Pose {
    centre: Vec3,
    axes: [Vec3; 3],
}

impl Pose {
    fn of(body: &Body, origin: Vec3) -> Pose {
        let turned = body.turned(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        let axes = [0, 1, 2].map(|i| scale(turned[i], body.radius));
        Pose { centre: sub(body.centre, origin), axes }
    }
    // The motion to another pose of the same body, for vectors from one eye to those from the other.
    fn motion(&self, there: &Pose, eyes: [Vec3; 2]) -> BodyMotion {
        // In the body's own units, and out again.
        let row = |c: usize| {
            let parts =
                self.axes.iter().zip(there.axes).map(|(here, there)| scale(*here, there[c] / dot(*here, *here)));
            parts.fold([0.0; 3], add)
        };
        let turn = [0, 1, 2].map(row);
        let from = sub(eyes[0], self.centre);
        let shift = sub(add(turn.map(|row| dot(row, from)), there.centre), eyes[1]);
        // Axes have the length of the body's radius, which may differ.
        let normal = length(self.axes[0]) / length(there.axes[0]);
        BodyMotion { turn: std::array::from_fn(|i| turn[i / 3][i % 3]), shift, normal }
    }
}

impl View {
    /// The camera, and the bodies of the scene at its time, relative to the origin.
    pub fn new(scene: &Scene, origin: Vec3, camera: &FrameParams) -> View {
        let wide = |v: [f32; 3]| v.map(f64::from);
        View {
            eye: wide(camera.eye),
            forward: wide(camera.forward),
            right: wide(camera.right),
            down: wide(camera.down),
            projection: camera.projection,
            bodies: scene.world.bodies.iter().map(|body| Pose::of(body, origin)).collect(),
        }
    }

    /// Maps this frame's points into another frame: first the static scene's motion, then each body's.
    pub fn lending(&self, other: &View, (width, height): (usize, usize)) -> (LendingView, Vec<BodyMotion>) {
        let rest = BodyMotion {
            turn: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            shift: sub(self.eye, other.eye),
            normal: 1.0,
        };
        let eyes = [self.eye, other.eye];
        let bodies = self.bodies.iter().zip(&other.bodies).map(|(here, there)| here.motion(there, eyes));
        let motions: Vec<_> = std::iter::once(rest).chain(bodies).collect();
        // The picture is a pixel away where rays are parallel.
        let is_parallel = self.projection == PROJECTION_ORTHOGRAPHIC;
        let [forward, middle] = [self.forward, other.forward].map(|f| if is_parallel { normalise(f) } else { f });
        // Cramer's rule for the other picture's plane.
        let all = dot(middle, cross(other.right, other.down));
        let of = |a: Vec3, b: Vec3| scale(cross(a, b), 1.0 / all);
        let view = LendingView {
            forward,
            right: self.right,
            down: self.down,
            across: of(other.down, middle),
            along: of(middle, other.right),
            ahead: of(other.right, other.down),
            width: width as i32,
            height: height as i32,
            bodies: motions.len() as i32 - 1,
            projection: self.projection,
        };
        (view, motions)
    }
}

/// A frame for its own denoising, and for that of its neighbors.
pub struct Seen {
    noisy: Noisy,
    // The luminance of the filtered light.
    filtered: Vec<f32>,
    view: Arc<View>,
}

/// Bytes per pixel of a [`Seen`].
pub const BYTES: usize = size_of::<f32>() * (LIGHT + GUIDES + 1);
/// Bytes per pixel while frames are blended: samples, sums and the result.
pub const BLEND_BYTES: usize = size_of::<f32>() * (SAMPLES + SUMS + LIGHT + GUIDES);

impl Seen {
    pub fn new(noisy: Noisy, view: Arc<View>, isa: Isa) -> Seen {
        let (width, light) = (noisy.width.max(1), noisy.filtered(isa));
        let mut filtered = vec![0.0; light.len() / LIGHT];
        let rows = filtered.par_chunks_mut(width).zip(light.par_chunks(LIGHT * width));
        rows.for_each(|(row, light)| isa.denoise_luminance(light, row));
        Seen { noisy, filtered, view }
    }

    fn slices(&self) -> SeenSlices<'_> {
        SeenSlices { light: &self.noisy.light, guides: &self.noisy.guides, filtered: &self.filtered }
    }

    /// The frame with the light of its neighbors.
    pub fn blended<'a>(&self, others: impl IntoIterator<Item = &'a Seen>, isa: Isa) -> Noisy {
        let size @ (width, height) = (self.noisy.width, self.noisy.height);
        let (mut samples, mut sums) = (vec![0.0; SAMPLES * width * height], Vec::new());
        let row = |channels: usize| (channels * width).max(1);
        for other in others {
            let (view, motions) = self.view.lending(&other.view, size);
            let rows = samples.par_chunks_mut(row(SAMPLES)).enumerate();
            rows.for_each(|(y, row)| isa.look_up((&view, &motions), &self.slices(), &other.slices(), y, row));
            let begins = sums.is_empty();
            sums.resize(SUMS * width * height, 0.0);
            let rows = sums.par_chunks_mut(row(SUMS)).zip(self.noisy.light.par_chunks(row(LIGHT))).enumerate();
            rows.for_each(|(y, (row, light))| isa.blend(&samples, light, size, (y, begins), row));
        }
        let mut noisy = self.noisy.clone();
        let rows = noisy.light.par_chunks_mut(row(LIGHT)).zip(sums.par_chunks(row(SUMS)));
        rows.for_each(|(row, sums)| isa.share(sums, row));
        noisy
    }
}

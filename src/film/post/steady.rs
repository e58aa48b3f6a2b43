//! Noise that does not flicker: before a frame is filtered, it takes over light of the frames before and after it. A pixel's first
//! surface is followed to where it was seen in the other frame, by the camera and by the motion of its body, which are known exactly.
//! Light counts as far as surfaces are alike (as for the filter of a single frame), and as far as both frames, filtered, have the same
//! light around there within their noise: what mirrors and glass show moves in other ways than they do.
//!
//! A frame depends on a fixed number of others, which are not denoised themselves. So its bytes are the same in any run.

use super::guided::{Noisy, luminance};
use crate::gpu_types::{DENOISE_GUIDES, DENOISE_LIGHT, FrameParams};
use crate::kernels::Isa;
use crate::math::vec3::{Vec3, add, cross, dot, length, scale, sub};
use crate::scene::{Body, Scene};
use rayon::prelude::*;

const LIGHT: usize = DENOISE_LIGHT as usize;
const GUIDES: usize = DENOISE_GUIDES as usize;
// Tolerated squared difference of the filtered light around a pixel, over the variance of both frames' noise.
const TOLERANCE: f32 = 0.05;
// Pixels to each side whose difference counts.
const AROUND: usize = 2;

/// The camera and the bodies of a frame.
pub struct View {
    eye: Vec3,
    // The middle of the picture, and a pixel to the right and down.
    forward: Vec3,
    right: Vec3,
    down: Vec3,
    bodies: Vec<Pose>,
}

// A body's place, and its axes.
struct Pose {
    centre: Vec3,
    axes: [Vec3; 3],
}

impl Pose {
    fn of(body: &Body, origin: Vec3) -> Pose {
        let turned = |axis: Vec3| scale(body.rotation.apply(axis), body.radius);
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(turned);
        Pose { centre: sub(body.centre, origin), axes }
    }
    // A vector in the body's own units.
    fn own(&self, v: Vec3) -> Vec3 {
        self.axes.map(|axis| dot(axis, v) / dot(axis, axis))
    }
    fn outside(&self, [x, y, z]: Vec3) -> Vec3 {
        let [a, b, c] = self.axes;
        add(add(scale(a, x), scale(b, y)), scale(c, z))
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
            bodies: scene.world.bodies.iter().map(|body| Pose::of(body, origin)).collect(),
        }
    }

    // The point of a pixel's first surface, at this distance; None if the surface is infinitely far.
    fn point(&self, direction: Vec3, inverse_distance: f32) -> Option<Vec3> {
        let far = 1.0 / f64::from(inverse_distance);
        (inverse_distance > 0.0).then(|| add(self.eye, scale(direction, far / length(direction))))
    }

    // Where a vector from the eye crosses the picture, in pixels from its middle.
    fn project(&self, v: Vec3) -> Option<[f64; 2]> {
        let forward = dot(v, cross(self.right, self.down));
        let all = dot(self.forward, cross(self.right, self.down));
        let at = |u: Vec3, w: Vec3| dot(v, cross(u, w)) / forward;
        (forward / all > 0.0).then(|| [at(self.down, self.forward), at(self.forward, self.right)])
    }
}

/// A frame for its own denoising, and for that of its neighbors.
pub struct Seen {
    noisy: Noisy,
    // The luminance of the filtered light.
    filtered: Vec<f32>,
    // The number of each pixel's body, or -1.
    bodies: Vec<i32>,
    view: View,
}

/// Bytes per pixel of a [`Seen`].
pub const BYTES: usize = size_of::<f32>() * (LIGHT + GUIDES + 2);
/// Bytes per pixel while frames are blended: sums, and a neighbor as seen from here.
pub const BLEND_BYTES: usize = size_of::<f32>() * (2 * LIGHT + 2 * (LIGHT + 2));

// About exp(-d): 1 at 0, and 0 from 4 on.
fn falloff(d: f32) -> f32 {
    let rest = (1.0 - 0.25 * d).max(0.0);
    let square = rest * rest;
    square * square
}

// Another frame's pixel as seen through one of this frame.
#[derive(Clone, Copy, Default)]
struct Sample {
    // How alike the surfaces are.
    weight: f32,
    light: [f32; LIGHT],
    // The difference of the filtered luminance.
    off: f32,
}

impl Seen {
    /// A frame: `bodies` has the number of each pixel's body, or -1.
    pub fn new(noisy: Noisy, bodies: Vec<i32>, view: View, isa: Isa) -> Seen {
        let (width, light) = (noisy.width.max(1), noisy.filtered(isa));
        let rows = light.par_chunks(LIGHT * width);
        let filtered = rows.flat_map_iter(|row| (0..width).map(|x| luminance(row, width, x))).collect();
        Seen { noisy, filtered, bodies, view }
    }

    /// The frame with the light that others lend it.
    pub fn blended<'a>(&self, others: impl IntoIterator<Item = &'a Seen>) -> Noisy {
        let (width, height) = (self.noisy.width, self.noisy.height);
        let mut sums = self.noisy.light.clone();
        let mut weights = vec![1.0_f32; width * height];
        if sums.is_empty() {
            return self.noisy.clone();
        }
        let mut samples = vec![Sample::default(); width * height];
        for other in others {
            samples.par_chunks_mut(width).enumerate().for_each(|(y, row)| self.look_up(other, y, row));
            let rows = sums.par_chunks_mut(LIGHT * width).zip(weights.par_chunks_mut(width)).enumerate();
            rows.for_each(|(y, (sums, weights))| self.add(&samples, y, sums, weights));
        }
        let rows = sums.par_chunks_mut(LIGHT * width).zip(weights.par_chunks(width));
        rows.for_each(|(row, weights)| {
            for (x, weight) in weights.iter().enumerate() {
                let share = 1.0 / weight;
                (0..3).for_each(|c| row[c * width + x] *= share);
                row[3 * width + x] *= share * share;
            }
        });
        Noisy { width, height, light: sums, guides: self.noisy.guides.clone() }
    }

    // A pixel's values in a picture with this number of channels.
    fn values<const N: usize, const ALL: usize>(&self, of: &[f32], first: usize, x: usize, y: usize) -> [f32; N] {
        let row = ALL * self.noisy.width * y;
        std::array::from_fn(|c| of[row + (first + c) * self.noisy.width + x])
    }

    // The other frame's pixels where the surfaces of row y are seen there.
    fn look_up(&self, other: &Seen, y: usize, row: &mut [Sample]) {
        let (width, height) = (self.noisy.width, self.noisy.height);
        let half = [0.5 * width as f64 - 0.5, 0.5 * height as f64 - 0.5];
        for (x, sample) in row.iter_mut().enumerate() {
            *sample = Sample::default();
            let guide = self.values::<7, GUIDES>(&self.noisy.guides, 0, x, y);
            let across = scale(self.view.right, x as f64 - half[0]);
            let direction = add(self.view.forward, add(across, scale(self.view.down, y as f64 - half[1])));
            let point = self.view.point(direction, guide[6]);
            let body = self.bodies[width * y + x];
            let poses = usize::try_from(body).ok().and_then(|k| self.view.bodies.get(k).zip(other.view.bodies.get(k)));
            let mut normal = [guide[3], guide[4], guide[5]];
            let v = match (point, poses) {
                (Some(point), Some((here, there))) => {
                    let turned = there.outside(here.own(normal.map(f64::from)));
                    // Axes have the length of the body's radius, which may differ.
                    let grown = length(here.axes[0]) / length(there.axes[0]);
                    normal = scale(turned, grown).map(|c| c as f32);
                    let own = here.own(sub(point, here.centre));
                    sub(add(there.centre, there.outside(own)), other.view.eye)
                }
                (Some(point), None) => sub(point, other.view.eye),
                (None, _) => direction,
            };
            let near = if point.is_some() { (1.0 / length(v)) as f32 } else { 0.0 };
            let Some([right, down]) = other.view.project(v) else { continue };
            let (at_x, at_y) = (right + half[0], down + half[1]);
            if !(-1.0..=width as f64).contains(&at_x) || !(-1.0..=height as f64).contains(&at_y) {
                continue;
            }
            let expected = [guide[0], guide[1], guide[2], normal[0], normal[1], normal[2], near];
            *sample = other.sample([at_x as f32, at_y as f32], &expected);
            sample.off -= self.filtered[width * y + x];
        }
    }

    // Light and filtered luminance around a place, in pixels, as far as the surfaces there are as expected.
    fn sample(&self, at: [f32; 2], expected: &[f32; 7]) -> Sample {
        let (width, height) = (self.noisy.width as i32, self.noisy.height as i32);
        let first = at.map(f32::floor);
        let mut all = Sample::default();
        for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let (x, y) = (first[0] + i as f32, first[1] + j as f32);
            let (dx, dy) = (x - at[0], y - at[1]);
            let near = (1.0 - dx.abs()) * (1.0 - dy.abs());
            let (x, y) = (x as i32, y as i32);
            if near < 1e-3 || x < 0 || y < 0 || x >= width || y >= height {
                continue;
            }
            let (x, y) = (x as usize, y as usize);
            let guide = self.values::<GUIDES, GUIDES>(&self.noisy.guides, 0, x, y);
            let squared = |c: usize| {
                let off = guide[c] - expected[c];
                off * off
            };
            let albedo = squared(0) + squared(1) + squared(2);
            let normal = squared(3) + squared(4) + squared(5);
            let (across, down) = (dx * guide[7], dy * guide[8]);
            let off = guide[6] - (expected[6] + (across + down));
            let tolerated = 0.5 * (across.abs() + down.abs()) + 0.02 * expected[6] + 1e-9;
            let distance = 80.0 * albedo + 60.0 * normal + off * off / (tolerated * tolerated);
            let weight = near * falloff(distance);
            let light = self.values::<LIGHT, LIGHT>(&self.noisy.light, 0, x, y);
            all.weight += weight;
            (0..LIGHT).for_each(|c| all.light[c] += weight * light[c]);
            all.off += weight * self.filtered[self.noisy.width * y + x];
        }
        if all.weight > 0.0 {
            let share = 1.0 / all.weight;
            all.light = all.light.map(|c| c * share);
            all.off *= share;
        }
        all
    }

    // Adds the samples of row y, as far as the light around them is this frame's.
    fn add(&self, samples: &[Sample], y: usize, sums: &mut [f32], weights: &mut [f32]) {
        let (width, height) = (self.noisy.width, self.noisy.height);
        let rows = y.saturating_sub(AROUND)..(y + AROUND + 1).min(height);
        // The samples of a column of rows: their weight, and their weighted difference.
        let columns: Vec<[f32; 2]> = (0..width)
            .map(|x| {
                rows.clone().fold([0.0, 0.0], |[weight, off], y| {
                    let sample = &samples[width * y + x];
                    [weight + sample.weight, off + sample.weight * sample.off]
                })
            })
            .collect();
        for x in 0..width {
            let sample = &samples[width * y + x];
            if sample.weight <= 0.0 {
                continue;
            }
            let near = &columns[x.saturating_sub(AROUND)..(x + AROUND + 1).min(width)];
            let [weight, off] = near.iter().fold([0.0, 0.0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
            let off = off / weight;
            let variance = self.values::<1, LIGHT>(&self.noisy.light, 3, x, y)[0] + sample.light[3];
            let weight = sample.weight * falloff(off * off / (TOLERANCE * variance + 1e-10));
            weights[x] += weight;
            (0..3).for_each(|c| sums[c * width + x] += weight * sample.light[c]);
            sums[3 * width + x] += weight * weight * sample.light[3];
        }
    }
}

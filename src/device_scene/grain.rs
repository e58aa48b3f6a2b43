//! The grain of brushed metal in the kernels' format: how its facets stretch, and what they do not reflect at once.

use super::film::Films;
use crate::gpu_types::{FILM_LAST, Material as GpuMaterial};
use crate::math::vec3::{Vec3, add, dot, normalise, scale, sub, to_f32};
use crate::scene::Grain;
use crate::threads::lock;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::{Arc, Mutex};

/// The rough metal with its grain, if it has one.
pub fn with_grain(grain: Grain, bare: GpuMaterial, films: &mut Films) -> GpuMaterial {
    let alpha = f64::from(bare.alpha);
    // Alpha along the grain over alpha across it, and alpha is nowhere above 1.
    let stretch = (1.0 - 0.9 * grain.anisotropy).sqrt().max(alpha);
    if grain.anisotropy == 0.0 || alpha == 0.0 || stretch > 0.999 {
        return bare;
    }
    let lost = Lost::of(alpha, stretch);
    GpuMaterial {
        grain: to_f32(normalise(grain.along)),
        stretch: stretch as f32,
        lost: films.of_grain(alpha, stretch, &lost.table),
        lost_mean: lost.mean,
        ..bare
    }
}

// What facets do not reflect at once.
struct Lost {
    table: Vec<[f32; 3]>,
    mean: f32,
}

impl Lost {
    // A table takes ten milliseconds, so those of the frame before are kept.
    fn of(alpha: f64, stretch: f64) -> Arc<Lost> {
        const KEPT: usize = 256;
        static ALL: Mutex<BTreeMap<[u64; 2], Arc<Lost>>> = Mutex::new(BTreeMap::new());
        let key = [alpha, stretch].map(f64::to_bits);
        if let Some(known) = lock(&ALL).get(&key) {
            return Arc::clone(known);
        }
        let facets = Facets { along: alpha * stretch, across: alpha / stretch };
        let table = facets.table();
        let lost = Arc::new(Lost { mean: facets.whole_mean(&table) as f32, table });
        let mut all = lock(&ALL);
        if all.len() == KEPT {
            all.clear();
        }
        all.insert(key, Arc::clone(&lost));
        lost
    }
}

/// GGX's alphas along the grain and across it, the smaller one first.
pub(super) struct Facets {
    pub along: f64,
    pub across: f64,
}

impl Facets {
    fn square(&self, v: Vec3) -> f64 {
        self.along * self.along * v[0] * v[0] + self.across * self.across * v[1] * v[1]
    }
    fn lambda(&self, v: Vec3) -> f64 {
        0.5 * ((1.0 + self.square(v) / (v[2] * v[2])).sqrt() - 1.0)
    }

    /// Calls back for facets that a direction sees (Dupuy and Benyoub, "Sampling visible GGX normals with spherical caps", 2023): with
    /// the cosine of the direction in which each reflects, its weight, and the share of its light that is not shadowed.
    pub fn for_each_seen(&self, eye: Vec3, steps: i32, mut f: impl FnMut(f64, f64, f64)) {
        let middle = |i: i32| (f64::from(i) + 0.5) / f64::from(steps);
        let stretched = |v: Vec3| [v[0] * self.along, v[1] * self.across, v[2]];
        let (round, hidden) = (normalise(stretched(eye)), 1.0 + self.lambda(eye));
        for j in 0..steps {
            // The steepest facets lose most.
            let rest = 1.0 - middle(j);
            let (z, weight) = (rest * rest * rest * (1.0 + round[2]) - round[2], rest * rest);
            let r = (1.0 - z * z).max(0.0).sqrt();
            for i in 0..steps {
                let turn = 2.0 * PI * middle(i);
                let visible = add([r * libm::cos(turn), r * libm::sin(turn), z], round);
                let facet = normalise(stretched([visible[0], visible[1], visible[2].max(1e-9)]));
                let out = sub(scale(facet, 2.0 * dot(facet, eye)), eye);
                f(out[2], weight, if out[2] > 1e-9 { hidden / (hidden + self.lambda(out)) } else { 0.0 });
            }
        }
    }
    // The share of light from a direction that facets do not reflect at once, where they absorb nothing.
    fn lost(&self, eye: Vec3) -> f64 {
        let (mut lost, mut weights) = (0.0, 0.0);
        self.for_each_seen(eye, 48, |_, weight, kept| {
            lost += weight * (1.0 - kept);
            weights += weight;
        });
        lost / weights
    }

    // For each cosine, the share that is lost as a polynomial of where alpha, in the direction, is between the smaller and the
    // larger one.
    fn table(&self) -> Vec<[f32; 3]> {
        let last = f64::from(FILM_LAST);
        let row = |i: i32| {
            let cosine = (f64::from(i) / last).clamp(2e-3, 1.0 - 1e-9);
            let [low, half, high] = [0.0, 0.5, 1.0].map(|t| {
                let alpha = self.along + t * (self.across - self.along);
                let square =
                    (alpha * alpha - self.along * self.along) / (self.across * self.across - self.along * self.along);
                let (r, along, across) =
                    ((1.0 - cosine * cosine).sqrt(), (1.0 - square).max(0.0).sqrt(), square.max(0.0).sqrt());
                self.lost([r * along, r * across, cosine])
            });
            let bend = 2.0 * (low + high - 2.0 * half);
            [low, high - low - bend, bend].map(|x| x as f32)
        };
        (0..=FILM_LAST).map(row).collect()
    }

    // The mean over all directions, by their cosines, of a table between whose entries lies a line.
    fn whole_mean(&self, table: &[[f32; 3]]) -> f64 {
        let step = 1.0 / f64::from(FILM_LAST);
        let means: Vec<f64> = table.iter().map(|entry| self.mean(*entry)).collect();
        let part = |(i, pair): (usize, &[f64])| {
            let cosine = i as f64 * step;
            step * (pair[0] * (cosine + step / 3.0) + pair[1] * (cosine + step * 2.0 / 3.0))
        };
        means.windows(2).enumerate().map(part).sum()
    }
    // The mean of an entry over all azimuths.
    fn mean(&self, [low, slope, bend]: [f32; 3]) -> f64 {
        const STEPS: i32 = 64;
        let at = |i: i32| {
            let azimuth = 0.5 * PI * (f64::from(i) + 0.5) / f64::from(STEPS);
            let alpha = self.square([libm::cos(azimuth), libm::sin(azimuth), 0.0]).sqrt();
            let t = (alpha - self.along) / (self.across - self.along);
            (f64::from(low) + t * (f64::from(slope) + t * f64::from(bend))).clamp(0.0, 1.0)
        };
        (0..STEPS).map(at).sum::<f64>() / f64::from(STEPS)
    }
}

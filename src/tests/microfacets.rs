//! What GGX says of rough mirrors, in f64, by sums over facets.

use crate::math::vec3::{Vec3, add, dot, normalise};
use std::f64::consts::PI;

/// A rough mirror.
pub(super) struct Rough {
    a2: f64,
    // The share of light that leaves at the first facet, by the cosine of its direction, from 0 to 1; and its mean.
    at_once: Vec<f64>,
    mean: f64,
}

impl Rough {
    pub(super) fn new(roughness: f64) -> Rough {
        let mut rough = Rough { a2: roughness.powi(4), at_once: Vec::new(), mean: 0.0 };
        let steps = 64;
        let cosine = |i: i32| (f64::from(i) / f64::from(steps)).max(1e-3);
        rough.at_once = (0..=steps).map(|i| rough.reflected_at_once(cosine(i), 1.0)).collect();
        let parts = 512;
        let middle = |i: i32| (f64::from(i) + 0.5) / f64::from(parts);
        rough.mean = (0..parts).map(|i| 2.0 * middle(i) * rough.kept(middle(i))).sum::<f64>() / f64::from(parts);
        rough
    }

    fn lambda(&self, z: f64) -> f64 {
        0.5 * ((1.0 + self.a2 * (1.0 - z * z) / (z * z)).sqrt() - 1.0)
    }

    /// The light of a uniform sky that facets reflect at once: D G2 F / (4 cos) integrated over all directions, with
    /// Schlick's F of this reflectance.
    pub(super) fn reflected_at_once(&self, cosine: f64, reflectance: f64) -> f64 {
        let eye = [(1.0 - cosine * cosine).max(0.0).sqrt(), 0.0, cosine];
        // Over facets, whose distribution is the narrow one: d out = 4 (eye . facet) d facet.
        let (rings, turns) = (400, 180);
        let mut sum = 0.0;
        for i in 0..rings {
            let t = (f64::from(i) + 0.5) / f64::from(rings);
            // Rings by the cumulated share of the facets.
            let z2 = (1.0 - t) / (1.0 + (self.a2 - 1.0) * t);
            let (z, r) = (z2.sqrt(), (1.0 - z2).sqrt());
            for j in 0..turns {
                let phi = 2.0 * PI * (f64::from(j) + 0.5) / f64::from(turns);
                let facing = dot(eye, [r * phi.cos(), r * phi.sin(), z]);
                let out = 2.0 * facing * z - cosine;
                if facing > 0.0 && out > 0.0 {
                    let mirrored = reflectance + (1.0 - reflectance) * (1.0 - facing).powi(5);
                    // D cos(facet) is the density over rings and azimuths.
                    sum += mirrored * facing / (cosine * z) / (1.0 + self.lambda(cosine) + self.lambda(out));
                }
            }
        }
        sum / f64::from(rings * turns)
    }

    // The share that leaves at once.
    fn kept(&self, cosine: f64) -> f64 {
        let place = cosine * (self.at_once.len() - 1) as f64;
        let i = (place as usize).min(self.at_once.len() - 2);
        let t = place - i as f64;
        self.at_once[i] * (1.0 - t) + self.at_once[i + 1] * t
    }

    /// The light of a uniform sky that a metal of this reflectance mirrors: at once, and at further facets (Kulla and
    /// Conty, "Revisiting physically based shading at Imageworks", 2017).
    pub(super) fn mirrored(&self, cosine: f64, reflectance: f64) -> f64 {
        let facet = reflectance + (1.0 - reflectance) / 21.0;
        let left = facet * facet * self.mean / (1.0 - facet * (1.0 - self.mean));
        self.reflected_at_once(cosine, reflectance) + left * (1.0 - self.kept(cosine))
    }

    /// BRDF times cosine of a white metal: light from `l` to `eye`, with the normal along z.
    pub(super) fn scattered(&self, l: Vec3, eye: Vec3) -> f64 {
        if l[2] <= 0.0 {
            return 0.0;
        }
        let h = normalise(add(eye, l));
        let d = self.a2 / (PI * (h[2] * h[2] * (self.a2 - 1.0) + 1.0).powi(2));
        let wide = (1.0 - self.kept(eye[2])) * (1.0 - self.kept(l[2])) / (PI * (1.0 - self.mean));
        d / (4.0 * eye[2]) / (1.0 + self.lambda(eye[2]) + self.lambda(l[2])) + wide * l[2]
    }
}

/// Brushed metal, white, with its normal along z and its grain along x.
pub(super) struct Brushed {
    alphas: [f64; 2],
    mean: f64,
}

impl Brushed {
    pub(super) fn new(roughness: f64, anisotropy: f64) -> Brushed {
        let stretch = (1.0 - 0.9 * anisotropy).sqrt();
        let mut brushed = Brushed { alphas: [roughness.powi(2) * stretch, roughness.powi(2) / stretch], mean: 0.0 };
        let (cosines, azimuths) = (48, 24);
        for i in 0..cosines {
            let z = (f64::from(i) + 0.5) / f64::from(cosines);
            for j in 0..azimuths {
                let (y, x) = (0.5 * PI * (f64::from(j) + 0.5) / f64::from(azimuths)).sin_cos();
                let r = (1.0 - z * z).sqrt();
                brushed.mean += 2.0 * z * brushed.lost([r * x, r * y, z]) / f64::from(cosines * azimuths);
            }
        }
        brushed
    }

    fn lambda(&self, v: Vec3) -> f64 {
        let [x, y] = [self.alphas[0] * v[0], self.alphas[1] * v[1]];
        0.5 * ((1.0 + (x * x + y * y) / (v[2] * v[2])).sqrt() - 1.0)
    }

    // The share of light that does not leave at the first facet, by a sum over all facets, whose slopes are GGX's.
    fn lost(&self, eye: Vec3) -> f64 {
        let (rings, turns) = (160, 80);
        let mut sum = 0.0;
        for i in 0..rings {
            let t = (f64::from(i) + 0.5) / f64::from(rings);
            let steep = (t / (1.0 - t)).sqrt();
            for j in 0..turns {
                let (y, x) = (2.0 * PI * (f64::from(j) + 0.5) / f64::from(turns)).sin_cos();
                let facet = normalise([steep * self.alphas[0] * x, steep * self.alphas[1] * y, 1.0]);
                let facing = dot(eye, facet);
                let out = [0, 1, 2].map(|c| 2.0 * facing * facet[c] - eye[c]);
                if facing > 0.0 && out[2] > 0.0 {
                    sum += facing / (eye[2] * facet[2]) / (1.0 + self.lambda(eye) + self.lambda(out));
                }
            }
        }
        1.0 - sum / f64::from(rings * turns)
    }

    /// BRDF times cosine: light from `l` to `eye`.
    pub(super) fn scattered(&self, l: Vec3, eye: Vec3) -> f64 {
        let h = normalise(add(eye, l));
        let [x, y] = [h[0] / self.alphas[0], h[1] / self.alphas[1]];
        let d = 1.0 / (PI * self.alphas[0] * self.alphas[1] * (x * x + y * y + h[2] * h[2]).powi(2));
        let wide = self.lost(eye) * self.lost(l) / (PI * self.mean);
        d / (4.0 * eye[2]) / (1.0 + self.lambda(eye) + self.lambda(l)) + wide * l[2]
    }
}

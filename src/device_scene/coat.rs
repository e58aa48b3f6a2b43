//! Clear coats in the kernels' format: means over directions, and what rough mirrors below them lose.

use super::film::Films;
use super::grain::Facets;
use crate::gpu_types::{FILM_LAST, Material as GpuMaterial};
use crate::scene::Coat;

/// The material with its coat, if it has one: an opaque material without a thin film.
pub fn with_coat(coat: Coat, bare: GpuMaterial, films: &mut Films) -> GpuMaterial {
    if !coat.is_there() || bare.transparency > 0.0 || bare.film > 0 {
        return bare;
    }
    let below = bare.mirror.iter().fold(0.0_f64, |largest, &share| largest.max(share.into()));
    let (passes, inside) = means(coat, below);
    GpuMaterial {
        coat: coat.share as f32,
        coat_ior: (1.0 / coat.ior) as f32,
        coat_inside: inside as f32,
        coat_norm: (1.0 / passes) as f32,
        coat_kept: if bare.alpha > 0.0 { films.of_coat(coat, &bare, || kept(coat, &bare)) } else { 0 },
        ..bare
    }
}

// The factors of what the kernels' `coat_leaves` leaves of the light that a rough mirror below a coat reflects between two directions, one of each
// direction, by its cosine: with both, a direction gets back as much as from a clear mirror.
fn kept(coat: Coat, bare: &GpuMaterial) -> Vec<[f32; 3]> {
    const ENTRIES: usize = FILM_LAST as usize + 1;
    let (alpha, last) = (f64::from(bare.alpha), f64::from(FILM_LAST));
    let facets = Facets { along: alpha, across: alpha };
    let cosines: [f64; ENTRIES] = std::array::from_fn(|i| (i as f64 / last).clamp(2e-3, 1.0 - 1e-9));
    let shares = cosines.map(|cosine| coat.share * fresnel(coat.ior, cosine));
    // The light that a direction gets from each other one below no coat, from white facets: at once, and later.
    let mut gets = cosines.map(|cosine| {
        let (mut from, mut weights) = ([0.0; ENTRIES], 0.0);
        facets.for_each_seen([(1.0 - cosine * cosine).sqrt(), 0.0, cosine], 16, |out, weight, kept| {
            let x = (out * last).clamp(0.0, last);
            let entry = (x as usize).min(ENTRIES - 2);
            from[entry] += weight * kept * (1.0 - (x - entry as f64));
            from[entry + 1] += weight * kept * (x - entry as f64);
            weights += weight;
        });
        from.map(|share| share / weights)
    });
    let again = gets.map(|from| (1.0 - from.iter().sum::<f64>()).max(0.0));
    let all: f64 = cosines.iter().zip(again).map(|(cosine, again)| cosine * again).sum();
    for (from, own) in gets.iter_mut().zip(again) {
        for i in 0..ENTRIES {
            from[i] += own * cosines[i] * again[i] / all.max(1e-20);
        }
    }
    let colours = bare.mirror.map(|below| {
        let leaves = |share: f64| (1.0 - share) * (1.0 - share) / (1.0 - share * f64::from(below)).max(1e-6);
        let mut kept = [1.0; ENTRIES];
        for _ in 0..16 {
            let before = kept;
            for (k, own) in kept.iter_mut().enumerate() {
                let from = |i: usize| gets[k][i] * before[i] * leaves(shares[k].max(shares[i]));
                let now = before[k] * (0..ENTRIES).map(from).sum::<f64>();
                *own *= (leaves(shares[k]) / now.max(1e-6)).sqrt();
            }
        }
        kept
    });
    (0..ENTRIES).map(|i| [0, 1, 2].map(|c| colours[c][i] as f32)).collect()
}

// Fresnel's reflectance for unpolarized light from air.
fn fresnel(ior: f64, cosine: f64) -> f64 {
    let behind = (1.0 - (1.0 - cosine * cosine) / (ior * ior)).sqrt();
    let across = (cosine - ior * behind) / (cosine + ior * behind);
    let along = (ior * cosine - behind) / (ior * cosine + behind);
    0.5 * (across * across + along * along)
}

// Over a mirror of the share `below`: the mean, over the cosines of all directions, of the light that passes the coat, after all
// reflections between coat and mirror; and that of diffuse light which comes down again. Below the coat, directions beyond the
// critical angle send all light down; the others are those in air, closer together by the square of the index of refraction.
fn means(coat: Coat, below: f64) -> (f64, f64) {
    const STEPS: u32 = 512;
    let below = below.min(1.0 - 1e-6);
    let back = |share: f64| 1.0 / (1.0 - below * share);
    let (mut passes, mut returns) = (0.0, 0.0);
    for i in 0..STEPS {
        // Even steps of the squared cosine.
        let square = (f64::from(i) + 0.5) / f64::from(STEPS);
        let share = coat.share * fresnel(coat.ior, square.sqrt());
        passes += (1.0 - share) * back(share) / f64::from(STEPS);
        returns += share * back(share) / f64::from(STEPS);
    }
    let within = 1.0 / (coat.ior * coat.ior);
    (passes, within * returns + (1.0 - within) * coat.share * back(coat.share))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Egan and Hilgeman, "Optical properties of inhomogeneous materials", 1979, give fits of the mean reflectance of diffuse light
    // from outside and from inside.
    #[test]
    fn means_are_the_published_ones() {
        for ior in [1.2, 1.35, 1.5, 1.8] {
            let (passes, inside) = means(Coat { share: 1.0, ior }, 0.0);
            let inner = -1.4399 / (ior * ior) + 0.7099 / ior + 0.6681 + 0.0636 * ior;
            assert!((inside - inner).abs() < 0.006, "{ior}: {inside}, expected {inner}");
            // What goes in comes out again.
            assert!((passes / (ior * ior) - (1.0 - inside)).abs() < 1e-3, "{ior}: {passes} {inside}");
        }
        let (passes, inside) = means(Coat { share: 0.0, ior: 1.5 }, 0.3);
        assert!((passes - 1.0).abs() < 1e-12 && inside == 0.0);
    }
}

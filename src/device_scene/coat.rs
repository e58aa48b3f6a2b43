//! Clear coats in the kernels' format: means over directions.

use crate::gpu_types::Material as GpuMaterial;
use crate::scene::Coat;

/// The material with its coat, if it has one: an opaque material without a thin film.
pub fn with_coat(coat: Coat, bare: GpuMaterial) -> GpuMaterial {
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
        ..bare
    }
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

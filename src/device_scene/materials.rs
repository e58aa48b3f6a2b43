//! Materials as the kernels take them.

use super::{feature, linear_colour};
use crate::gpu_types::{FEATURE_EMITTERS, FEATURE_MATERIALS, Material as GpuMaterial};
use crate::math::srgb::linear;
use crate::math::vec3::Vec3;
use crate::scene::{Material, MaterialKind, Scene};

/// A material of spheres or triangles.
pub fn flatten(scene: &Scene, m: &Material) -> GpuMaterial {
    let colour = linear_colour(m.colour);
    let times = |x: f64| colour.map(|c| (f64::from(c) * x) as f32);
    let all = |x: f64| [x as f32; 3];
    let highlight = m.highlight.unwrap_or(scene.world.highlight);
    let none = GpuMaterial {
        ior: 1.0,
        alpha: alpha(m.roughness),
        stops_shadow_rays: i32::from(stops_shadow_rays(scene, m)),
        ..GpuMaterial::default()
    };
    match m.kind {
        MaterialKind::Plain { reflection, transparency, ior } => {
            let local = (1.0 - reflection - transparency).max(0.0);
            GpuMaterial {
                albedo: times(local),
                highlight_weight: (local * highlight) as f32,
                mirror: all(reflection),
                transmit: times(transparency),
                transparency: transparency as f32,
                ior: ior as f32,
                ..none
            }
        }
        MaterialKind::Metal { fuzz, measured } => {
            GpuMaterial { mirror: colour, fuzz: fuzz as f32, edge: f32::from(u8::from(measured.is_some())), ..none }
        }
        MaterialKind::Glass { ior, .. } => GpuMaterial {
            transmit: surface_tint(m),
            transparency: 1.0,
            ior: ior as f32,
            glass: 1,
            dispersion: dispersion(m),
            absorb: absorption(m),
            ..none
        },
        MaterialKind::Light { strength } => GpuMaterial { emission: times(strength), ..none },
    }
}

/// What of a material not all kernels know, in bits of Constants::features.
pub fn features(scene: &Scene, m: &Material) -> i32 {
    let shines = scene.render.is_path() && matches!(m.kind, MaterialKind::Light { .. });
    feature(!m.is_simple(), FEATURE_MATERIALS) | feature(shines, FEATURE_EMITTERS)
}

/// Whether path tracing's shadow rays end at it: light bends there, or is tinted on a way that a shadow ray does not know,
/// and paths find it. The kernels ask nothing else, neither of shadow rays nor of paths, so that both are of one mind.
pub fn stops_shadow_rays(scene: &Scene, m: &Material) -> bool {
    let is_tinted_inside = matches!(m.kind, MaterialKind::Glass { tint_distance: Some(_), .. });
    scene.render.is_path() && (m.ior() != 1.0 || is_tinted_inside)
}

/// GGX's alpha.
pub fn alpha(roughness: f64) -> f32 {
    (roughness * roughness) as f32
}

/// What glass takes from a unit of length, as an exponent (Beer and Lambert): after `tint_distance` light has the colour.
pub fn absorption(m: &Material) -> [f32; 3] {
    match m.kind {
        MaterialKind::Glass { tint_distance: Some(distance), .. } => {
            // Nothing at all would be left of light at the first step otherwise.
            m.colour.map(|c| (-libm::log(linear(c).max(1e-9)) / distance) as f32)
        }
        _ => [0.0; 3],
    }
}

/// The tint of light at the surface: none where the way through the glass tints it.
pub fn surface_tint(m: &Material) -> [f32; 3] {
    let is_tinted_inside = matches!(m.kind, MaterialKind::Glass { tint_distance: Some(_), .. });
    if is_tinted_inside { [1.0; 3] } else { linear_colour(m.colour) }
}

// Wavelengths in micrometres of Fraunhofer's lines F, d and C, which Abbe's number is of.
const LINES: Vec3 = [0.486_134, 0.587_562, 0.656_281];

/// By Cauchy's equation ior is n + b (1 / wavelength^2 - 1 / d^2): this is b, in square micrometres.
pub fn dispersion(m: &Material) -> f32 {
    match m.kind {
        MaterialKind::Glass { ior, abbe: Some(abbe), .. } => {
            let [f, _, c] = LINES.map(|w| 1.0 / (w * w));
            ((ior - 1.0) / (abbe * (f - c))) as f32
        }
        _ => 0.0,
    }
}

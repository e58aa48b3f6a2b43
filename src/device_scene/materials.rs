//! Materials as the kernels take them.

use super::linear_colour;
use crate::gpu_types::Material as GpuMaterial;
use crate::scene::{Material, MaterialKind, Scene};

/// A material of spheres or triangles.
pub fn flatten(scene: &Scene, m: &Material) -> GpuMaterial {
    let colour = linear_colour(m.colour);
    let times = |x: f64| colour.map(|c| (f64::from(c) * x) as f32);
    let all = |x: f64| [x as f32; 3];
    let highlight = m.highlight.unwrap_or(scene.world.highlight);
    let none = GpuMaterial { ior: 1.0, ..GpuMaterial::default() };
    match m.kind {
        MaterialKind::Plain { reflection, transparency, ior } => {
            let local = (1.0 - reflection - transparency).max(0.0);
            GpuMaterial {
                albedo: times(local),
                highlight_weight: (local * highlight) as f32,
                mirror: all(reflection),
                transmit: times(transparency),
                ior: ior as f32,
                ..none
            }
        }
        MaterialKind::Metal { fuzz } => GpuMaterial { mirror: colour, fuzz: fuzz as f32, ..none },
        MaterialKind::Glass { ior } => GpuMaterial { transmit: colour, ior: ior as f32, glass: 1, ..none },
        MaterialKind::Light { strength } => GpuMaterial { emission: times(strength), ..none },
    }
}

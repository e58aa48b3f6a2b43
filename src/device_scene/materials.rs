//! Materials in the kernels' format.

use super::coat::with_coat;
use super::film::Films;
use super::grain::with_grain;
use crate::gpu_types::{
    FEATURE_BRUSHED, FEATURE_COAT, FEATURE_EMITTERS, FEATURE_FILMS, FEATURE_MATERIALS, FEATURE_REFRACTION,
    FEATURE_ROUGHNESS, FEATURE_TINTS, FeatureSet, MATERIAL_GLASS, MATERIAL_METAL, Material as GpuMaterial,
};
use crate::math::srgb::{linear, linear_colour};
use crate::math::vec3::{Vec3, scale};
use crate::scene::{Body, Grain, Material, MaterialKind, Scene};

/// The material of a shape other than a polyhedron or the floor.
pub fn flatten(scene: &Scene, m: &Material, films: &mut Films) -> GpuMaterial {
    with_grain(m.grain, with_coat(m.coat, films.with_film(m, without_film(scene, m)), films), films)
}

fn without_film(scene: &Scene, m: &Material) -> GpuMaterial {
    let colour = linear_colour(m.colour);
    let times = |x: f64| colour.map(|c| (f64::from(c) * x) as f32);
    let all = |x: f64| [x as f32; 3];
    let highlight = m.highlight.unwrap_or(scene.world.highlight);
    let none = GpuMaterial {
        ior: 1.0,
        inverse_ior: 1.0,
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
                inverse_ior: 1.0 / ior as f32,
                ..none
            }
        }
        MaterialKind::Metal { fuzz, measured } => GpuMaterial {
            mirror: colour,
            kind: MATERIAL_METAL,
            fuzz: fuzz as f32,
            edge: f32::from(u8::from(measured.is_some())),
            ..none
        },
        MaterialKind::Glass { ior, .. } => GpuMaterial {
            transmit: surface_tint(m),
            transparency: 1.0,
            ior: ior as f32,
            inverse_ior: 1.0 / ior as f32,
            kind: MATERIAL_GLASS,
            dispersion: dispersion(m),
            absorb: absorption(m),
            ..none
        },
        MaterialKind::Light { strength } => GpuMaterial { emission: times(strength), ..none },
    }
}

/// The features that a material needs from kernels, as bits of Constants::features.
pub fn features(scene: &Scene, m: &Material) -> FeatureSet {
    let samples_emitters = scene.render.integrator.capabilities().samples_emitters;
    let shines = samples_emitters && matches!(m.kind, MaterialKind::Light { .. });
    (FeatureSet::from(!m.is_simple()) * FEATURE_MATERIALS) | (FeatureSet::from(shines) * FEATURE_EMITTERS)
}

/// The features that a material in the kernels' format needs.
pub fn features_of(m: &GpuMaterial) -> FeatureSet {
    (FeatureSet::from(m.alpha > 0.0 || m.edge > 0.0) * FEATURE_ROUGHNESS)
        | (FeatureSet::from(m.kind == MATERIAL_GLASS || m.ior != 1.0) * FEATURE_REFRACTION)
        | (FeatureSet::from(m.coat > 0.0) * FEATURE_COAT)
        | (FeatureSet::from(m.stretch > 0.0) * FEATURE_BRUSHED)
        | (FeatureSet::from(m.film != 0) * FEATURE_FILMS)
        | (FeatureSet::from(m.dispersion > 0.0 || m.absorb != [0.0; 3] || m.film != 0) * FEATURE_TINTS)
}

/// The materials of a polyhedron's faces, seen from outside and from inside.
pub fn sides(scene: &Scene, body: &Body, films: &mut Films) -> [GpuMaterial; 2] {
    let m = &body.material;
    let (colour, base) = (surface_tint(m), without_film(scene, m));
    let highlight = m.highlight.unwrap_or(scene.world.highlight);
    let [mut outer, inner] = [m.shares(), body.shares_inside()].map(|(reflection, transparency)| {
        let local = (1.0 - reflection - transparency).max(0.0);
        let side = GpuMaterial {
            albedo: colour.map(|c| c * local as f32),
            highlight_weight: (local * highlight) as f32,
            mirror: if base.kind == MATERIAL_METAL { base.mirror } else { [reflection as f32; 3] },
            transmit: colour.map(|c| c * transparency as f32),
            transparency: transparency as f32,
            emission: [0.0; 3],
            inverse_ior: (1.0 / m.ior()) as f32,
            bevel: body
                .bevel_width()
                .map_or(0.0, |width| (1.0 / width) as f32 * if body.is_round() { 1.0 } else { -1.0 }),
            ..base
        };
        let grain = Grain { along: body.turned(&[m.grain.along])[0], ..m.grain };
        with_grain(grain, films.with_film(m, side), films)
    });
    outer = with_coat(m.coat, outer, films);
    [outer, inner]
}

/// The floor's material. It emits no light and does not refract: glass is a thin sheet.
pub fn floor(scene: &Scene, m: &Material, films: &mut Films) -> GpuMaterial {
    let colour = linear_colour(m.colour);
    let none = GpuMaterial { ior: 1.0, inverse_ior: 1.0, alpha: alpha(m.roughness), ..GpuMaterial::default() };
    let floor = match m.kind {
        MaterialKind::Plain { reflection, transparency, .. } => {
            let local = (1.0 - reflection as f32 - transparency as f32).max(0.0);
            GpuMaterial {
                albedo: colour.map(|c| c * local),
                highlight_weight: m.highlight.unwrap_or(scene.world.highlight) as f32 * local,
                mirror: [reflection as f32; 3],
                transmit: colour.map(|c| c * transparency as f32),
                transparency: transparency as f32,
                ..none
            }
        }
        MaterialKind::Metal { .. } => without_film(scene, m),
        MaterialKind::Glass { ior, .. } => GpuMaterial { transmit: colour, sheet: 1.0 / ior as f32, ..none },
        MaterialKind::Light { .. } => GpuMaterial { albedo: colour, ..none },
    };
    with_grain(m.grain, with_coat(m.coat, films.with_film(m, floor), films), films)
}

/// The materials of the ground below a floor and of the sides of its slab.
pub fn ground(scene: &Scene, colour: Vec3, films: &mut Films) -> [GpuMaterial; 2] {
    const REFLECTION: f64 = 0.15;
    // How dark the sides are, beside the ground.
    const SIDES: f64 = 0.55;
    [1.0, SIDES].map(|share| floor(scene, &Material::plain(scale(colour, share), REFLECTION, 0.0), films))
}

/// The index of a material. It is added unless one of the last few is equal.
pub fn index(materials: &mut Vec<GpuMaterial>, m: GpuMaterial) -> i32 {
    let recent = materials.len().saturating_sub(16);
    let known = materials[recent..].iter().position(|x| *x == m).map(|i| recent + i);
    known.unwrap_or_else(|| {
        materials.push(m);
        materials.len() - 1
    }) as i32
}

/// Whether path tracing's shadow rays end at the material, because light bends there, is tinted over a distance, or passes by an
/// angle that a shadow ray does not know. Paths find that light instead. The kernels use this flag for shadow rays and for
/// paths, so that no light is counted twice or lost.
pub fn stops_shadow_rays(scene: &Scene, m: &Material) -> bool {
    let is_tinted_inside = matches!(m.kind, MaterialKind::Glass { tint_distance: Some(_), .. });
    scene.render.integrator.capabilities().bends_light && (m.ior() != 1.0 || is_tinted_inside || m.film.is_there())
}

/// GGX's alpha.
pub fn alpha(roughness: f64) -> f32 {
    (roughness * roughness) as f32
}

/// The absorption per unit of length, as an exponent (Beer and Lambert). After `tint_distance`, light has the
/// material's color.
pub fn absorption(m: &Material) -> [f32; 3] {
    match m.kind {
        MaterialKind::Glass { tint_distance: Some(distance), .. } => {
            // A limit, because a color of zero would absorb all light at the first step.
            m.colour.map(|c| (-libm::log(linear(c).max(1e-9)) / distance) as f32)
        }
        _ => [0.0; 3],
    }
}

/// The tint at the surface; white if the glass tints over a distance.
pub fn surface_tint(m: &Material) -> [f32; 3] {
    let is_tinted_inside = matches!(m.kind, MaterialKind::Glass { tint_distance: Some(_), .. });
    if is_tinted_inside { [1.0; 3] } else { linear_colour(m.colour) }
}

// Wavelengths of Fraunhofer's lines F, d and C, which define Abbe's number, in micrometres.
const LINES: Vec3 = [0.486_134, 0.587_562, 0.656_281];

/// Cauchy's b, in square micrometres: the index of refraction is n + b (1 / wavelength^2 - 1 / d^2).
pub fn dispersion(m: &Material) -> f32 {
    match m.kind {
        MaterialKind::Glass { ior, abbe: Some(abbe), .. } => {
            let [f, _, c] = LINES.map(|w| 1.0 / (w * w));
            ((ior - 1.0) / (abbe * (f - c))) as f32
        }
        _ => 0.0,
    }
}

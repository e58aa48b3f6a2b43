//! The flat arrays that the kernels read, filled from a scene and its files. Some stay for a whole run; a time step
//! replaces the others.

mod beams;
mod coat;
mod emitters;
mod film;
mod finish;
pub mod fixed;
pub mod floor;
mod frame;
pub mod geometry;
mod glow;
mod grain;
pub mod kept;
pub mod lazy;
pub mod lightmap;
pub mod lights;
pub mod materials;
pub mod shapes;
mod sky;
pub mod upload;

use crate::assets::Assets;
use crate::assets::particles::StepMoment;
use crate::gpu_types::{
    Array, BVH_STACK, Constants, FAR, FEATURE_ADAPTIVE, FEATURE_AO, FEATURE_CAUSTICS, FEATURE_EMITTERS, FEATURE_FILTER,
    FEATURE_FOG, FEATURE_LENS, FEATURE_LIGHTMAP, FEATURE_NO_SHADOWS, FEATURE_PROJECTION, FILTER_LAST,
    FIRST_BODY_MATERIAL, FeatureSet, FrameParams, INTEGRATOR_AO, INTEGRATOR_PATH, INTEGRATOR_WHITTED, Inline,
    MAX_DEPTH, Material, SMALL_FEATURES, Scene as GpuScene, SmallScene, TONE_LUT_LAST,
};
use crate::language::{Message, msg};
use crate::math::srgb::linear_colour;
use crate::math::vec3::{Vec3, to_f32};
use crate::scene::{
    Exposure, Filter, Integrator, LampSamples, Lamps, Projection, Sampling, Scene, Stereo, Tone, limits,
};
use fixed::FixedArrays;
pub use frame::frame_params_at;
use geometry::Geometry;
use lazy::LazyTrees;
use lights::Lights;
use std::marker::PhantomData;
use std::sync::Arc;
use upload::ArrayUploader;

/// A scene's arrays in host memory.
#[derive(Clone, Debug)]
pub struct DeviceScene {
    /// The arrays that stay for a whole run, shared by all time steps.
    pub fixed: Arc<FixedArrays>,
    /// Shapes and their tree. Time steps share it if no shape moves.
    pub geometry: Arc<Geometry>,
    /// Point lights and the sun, and their beams through bodies. Time steps share them if none changes.
    pub lights: Arc<Lights>,
    /// Constants that all rays share.
    pub constants: Constants,
    /// The point of the scene that is the origin of the arrays' coordinates.
    pub origin: Vec3,
    /// The threads that build trees, of other time steps too, if those are lazy.
    pub lazy: LazyTrees,
    /// The time step of the particles.
    pub moment: StepMoment,
}

/// The maximum number of bodies; spheres and triangles have [`MAX_PRIMITIVES`]. Codes of leaves and surfaces limit
/// them (kernels/types.def).
pub const MAX_BODIES: usize = 1 << 20;
/// See [`MAX_BODIES`].
pub const MAX_PRIMITIVES: usize = limits::MAX_PARTICLES as usize;

// The maximum number of lights that stand for the bodies' lamps, at a hundred bytes each.
const MAX_LAMPS: usize = 8_000_000;

/// A scene with more elements than the kernels can count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct TooMany {
    /// The kind of element.
    pub what: Message,
    /// The number of elements.
    pub count: usize,
    /// The maximum.
    pub limit: usize,
}

impl TooMany {
    pub(crate) fn message(&self) -> Message {
        msg!(
            "the scene has {count} {what}; at most {limit} can be rendered",
            count = self.count,
            what = self.what,
            limit = self.limit
        )
    }
}

// Checks the counts against the kernels' 32-bit codes.
fn check_counts(bodies: usize, spheres: usize, triangles: usize, lamps: usize) -> Result<(), TooMany> {
    let kinds = [
        (msg!("bodies"), bodies, MAX_BODIES),
        (msg!("spheres"), spheres, MAX_PRIMITIVES),
        (msg!("triangles"), triangles, MAX_PRIMITIVES),
        (msg!("lights along the edges of bodies"), lamps, MAX_LAMPS),
    ];
    match kinds.into_iter().find(|(_, count, limit)| count > limit) {
        Some((what, count, limit)) => Err(TooMany { what, count, limit }),
        None => Ok(()),
    }
}

fn check(scene: &Scene, assets: &Assets) -> Result<(), TooMany> {
    let particles =
        assets.particles.as_ref().map_or(0, |p| p.spheres.len() + p.shaped.placed.len() + p.shaped.rods.len());
    let triangles = assets.meshes.iter().map(|mesh| mesh.corners.len()).sum();
    let lamps = lights::most_lamps(scene);
    check_counts(scene.world.bodies.len(), scene.world.spheres.len() + particles, triangles, lamps)
}

// The number of rays from the camera into one state of the shapes.
fn camera_rays(scene: &Scene) -> u64 {
    let render = &scene.render;
    let frames = if scene.geometry_moves() { 1 } else { u64::from(scene.output.frames) };
    let a_frame = u64::from(render.width) * u64::from(render.height) * u64::from(render.samples_per_pixel());
    a_frame.saturating_mul(frames)
}

// The shapes of a scene, including its emitters.
fn geometry(scene: &Scene, assets: &Assets, lazy: &LazyTrees) -> Geometry {
    let mut geometry = Geometry::new(scene, assets, features(scene), lazy);
    if scene.render.integrator.capabilities().samples_emitters || scene.render.lamp_samples != LampSamples::Floor {
        emitters::add(scene, assets, &mut geometry);
    }
    geometry.add_grid(features(scene), camera_rays(scene));
    geometry
}

impl DeviceScene {
    /// The arrays of a scene, with all trees.
    #[cfg(test)]
    pub fn new(scene: &Scene, assets: &Assets) -> Result<DeviceScene, TooMany> {
        DeviceScene::with_trees(scene, assets, None, None)
    }

    /// Flattens a scene and its files. Pictures that `before` has are not flattened again. The light map is empty; kernels.rs bakes it.
    pub fn with_trees(
        scene: &Scene,
        assets: &Assets,
        lazy: LazyTrees,
        before: Option<&FixedArrays>,
    ) -> Result<DeviceScene, TooMany> {
        check(scene, assets)?;
        let origin = assets.origin();
        let scene = &*scene.seen_from(origin);
        let geometry = geometry(scene, assets, &lazy);
        let fixed = FixedArrays {
            floor: scene.world.floor.as_ref().map(floor::flatten).unwrap_or_default(),
            tone_lut: tone_lut(scene.film.tone),
            filter: filter_places(scene.film.filter),
            ..before.cloned().unwrap_or_default()
        }
        .with_pictures(assets);
        let constants = constants(scene, assets, &geometry);
        let lights = Arc::new(Lights::new(scene, assets, &geometry, glow::air_lights(scene, &geometry)));
        let (fixed, geometry, moment) = (Arc::new(fixed), Arc::new(geometry), moment(assets));
        Ok(DeviceScene { fixed, constants, geometry, lights, origin, lazy, moment })
    }

    /// The scene at another time: that of `scene`, with the particles, the sky and the reliefs of `assets`. The light map and an automatic exposure stay.
    pub fn at_time(&self, scene: &Scene, assets: &Assets) -> Result<DeviceScene, TooMany> {
        check(scene, assets)?;
        let scene = &*scene.seen_from(self.origin);
        let geometry = match scene.geometry_moves() {
            true => {
                Arc::new(Geometry { lightmap: self.geometry.lightmap.clone(), ..geometry(scene, assets, &self.lazy) })
            }
            false => Arc::clone(&self.geometry),
        };
        let lights = match scene.geometry_moves() || !scene.tracks.is_empty() {
            true => Some(Lights::new(scene, assets, &geometry, glow::air_lights(scene, &geometry)))
                .filter(|lights| *lights != *self.lights),
            false => None,
        };
        let lights = lights.map_or_else(|| Arc::clone(&self.lights), Arc::new);
        let constants = if scene.tracks.is_empty() {
            let [relief_u, relief_v] = floor::relief_offset(scene.world.floor.as_ref());
            let sky_distance = sky::distance(&scene.world.air, geometry.reach);
            Constants { bvh_root: geometry.root, sky_distance, relief_u, relief_v, ..self.constants }
        } else {
            let now = constants(scene, assets, &geometry);
            let Constants { lightmap_scale, lightmap_size, .. } = self.constants;
            let cutoffs = match scene.film.exposure {
                Exposure::Stops(_) => (now.cutoff, now.light_cutoff),
                Exposure::Auto => (self.constants.cutoff, self.constants.light_cutoff),
            };
            Constants { lightmap_scale, lightmap_size, cutoff: cutoffs.0, light_cutoff: cutoffs.1, ..now }
        };
        let fixed = match self.fixed.are_of(assets) {
            true => Arc::clone(&self.fixed),
            false => Arc::new((*self.fixed).clone().with_pictures(assets)),
        };
        let lazy = self.lazy.clone();
        Ok(DeviceScene { fixed, geometry, lights, constants, origin: self.origin, lazy, moment: moment(assets) })
    }

    /// The scene with this exposure, in stops.
    pub fn exposed(&self, scene: &Scene, assets: &Assets, stops: f64) -> DeviceScene {
        let [cutoff, light_cutoff] = lights::cutoffs(scene, assets, stops).map(|c| c as f32);
        DeviceScene { constants: Constants { cutoff, light_cutoff, ..self.constants }, ..self.clone() }
    }

    /// The scene before its automatic exposure is measured.
    pub fn unexposed(&self, scene: &Scene, assets: &Assets) -> DeviceScene {
        self.exposed(scene, assets, lights::stops_to_white(scene, assets))
    }

    /// The scene with the size, samples and bounces of `scene`.
    pub fn resized(&self, scene: &Scene) -> DeviceScene {
        DeviceScene { constants: of_picture(scene, self.constants), ..self.clone() }
    }

    /// The camera of frame n.
    pub fn frame_params(&self, scene: &Scene, n: u32) -> FrameParams {
        frame_params_at(scene, self.origin, n, f64::from(n))
    }

    pub fn size(&self) -> (u32, u32) {
        (self.constants.width as u32, self.constants.height as u32)
    }

    /// The kernels' struct with addresses in host memory. The tree is built if it was left out.
    pub fn host(&self) -> HostScene<'_> {
        self.placed(self.geometry.with_tree())
    }
    /// The same for kernels that trace no ray, which need no tree.
    pub fn host_for_film(&self) -> HostScene<'_> {
        self.placed(&self.geometry)
    }
    fn placed<'a>(&'a self, geometry: &'a Geometry) -> HostScene<'a> {
        struct Host;
        impl ArrayUploader for Host {
            type Error = std::convert::Infallible;
            fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, Self::Error> {
                Ok(Array::new(values.as_ptr(), values.len()))
            }
        }
        let placed = self.upload_fixed(&mut Host).and_then(|fixed| {
            let lit = self.lights.place(&mut Host, &fixed)?;
            geometry.place(&mut Host, &lit)
        });
        match placed {
            Ok(arrays) => HostScene { arrays, moment: self.moment, borrow: PhantomData },
            Err(never) => match never {},
        }
    }

    /// Uploads the arrays that stay for a whole run.
    pub fn upload_fixed<P: ArrayUploader>(&self, to: &mut P) -> Result<GpuScene, P::Error> {
        let fixed = &*self.fixed;
        Ok(GpuScene {
            floor: to.push(&fixed.floor)?,
            mip_levels: to.push(&fixed.pictures.mip_levels)?,
            finish_levels: to.push(&fixed.pictures.finish_levels)?,
            texels: to.push(&fixed.pictures.texels)?,
            tone_lut: to.push(&fixed.tone_lut)?,
            sky: to.push(&fixed.dome.sky)?,
            filter: to.push(&fixed.filter)?,
            stars: to.push(&fixed.dome.stars)?,
            star_cells: to.push(&fixed.dome.star_cells)?,
            constants: self.constants,
            ..GpuScene::default()
        })
    }

    /// The scene by value, if it has few bodies; its larger arrays stay at the addresses of `placed`.
    pub fn small(&self, placed: &GpuScene) -> Option<SmallScene> {
        (placed.constants.features & !SMALL_FEATURES == 0).then_some(())?;
        let geometry = &self.geometry;
        // Those of the floor and of its ground come first; the materials of bodies follow.
        let of_floor =
            (0..FIRST_BODY_MATERIAL as usize).map(|i| geometry.materials.get(i).copied().unwrap_or_default());
        let of_bodies = geometry.bodies.iter().map(|body| geometry.materials[body.material as usize]);
        let materials: Vec<Material> = of_floor.chain(of_bodies).collect();
        Some(SmallScene {
            slabs: Inline::of(&geometry.slabs)?,
            bodies: Inline::of(&geometry.bodies)?,
            lights: Inline::of(&self.lights.points)?,
            floor: Inline::of(&self.fixed.floor)?,
            materials: Inline::of(&materials)?,
            mip_levels: placed.mip_levels,
            texels: placed.texels,
            lightmap: placed.lightmap,
            tone_lut: placed.tone_lut,
            sky: placed.sky,
            constants: placed.constants,
        })
    }
}

/// A scene for the CPU's kernels. It must not outlive the arrays that it points to.
pub struct HostScene<'a> {
    pub arrays: GpuScene,
    pub moment: StepMoment,
    borrow: PhantomData<&'a DeviceScene>,
}

fn moment(assets: &Assets) -> StepMoment {
    assets.particles.as_ref().map_or_else(StepMoment::default, |particles| particles.moment)
}

// The number of cells along a pixel's side, for samples on a grid; 0 for random positions.
fn grid(scene: &Scene) -> u32 {
    match scene.render.sampling {
        Sampling::PerAxis(n) if !scene.render.integrator.capabilities().random_samples => n,
        _ => 0,
    }
}

// The bits that number a pixel's samples. 14 more number the pixel in a square of 128 x 128 pixels
// (kernels/shading/sampler.cuh).
fn sample_bits(scene: &Scene) -> i32 {
    (u32::BITS - (scene.render.samples_per_pixel() - 1).leading_zeros()).cast_signed()
}
const _: () = assert!(limits::MAX_PATH_SAMPLES < 1 << 18 && limits::MAX_SAMPLES * limits::MAX_SAMPLES < 1 << 18);

// Whether any glass disperses light.
fn is_dispersive(scene: &Scene) -> bool {
    let world = &scene.world;
    let bodies = world.bodies.iter().map(|b| &b.material);
    bodies.chain(world.materials()).any(|m| materials::dispersion(m) > 0.0)
}

// The features of everything but the geometry, which adds its own.
fn features(scene: &Scene) -> FeatureSet {
    let (world, render, camera) = (&scene.world, &scene.render, &scene.camera);
    world.floor.as_ref().map_or(0, floor::features)
        | sky::features(&world.sky)
        | lights::features(&world.lights)
        | (FeatureSet::from(scene.camera.lens > 0.0 || scene.tracks.change("camera.lens")) * FEATURE_LENS)
        | (FeatureSet::from(camera.projection != Projection::Perspective || camera.stereo != Stereo::None)
            * FEATURE_PROJECTION)
        | (FeatureSet::from(scene.film.filter != Filter::Box) * FEATURE_FILTER)
        | (FeatureSet::from(render.sampling.is_adaptive()) * FEATURE_ADAPTIVE)
        | (FeatureSet::from(render.lamp_samples != LampSamples::Floor) * FEATURE_EMITTERS)
        | (FeatureSet::from(world.air.is_foggy()) * FEATURE_FOG)
        | glow::features(scene)
        | (FeatureSet::from(render.caustics && !world.bodies.is_empty()) * FEATURE_CAUSTICS)
        | (FeatureSet::from(render.integrator == Integrator::Whitted && render.ao_samples > 0) * FEATURE_AO)
        | (FeatureSet::from(!render.shadows) * FEATURE_NO_SHADOWS)
        | (FeatureSet::from(world.bodies.iter().any(|body| body.lamps != Lamps::Each(0))) * FEATURE_LIGHTMAP)
}

// How far a surface occludes ambient light. Whitted's occlusion rays end beyond all objects, and where fog hides what occludes.
fn occlusion_reach(scene: &Scene, geometry: &Geometry) -> f32 {
    let reach = scene.render.ao_reach.map_or(FAR, |reach| reach as f32);
    let density = scene.world.air.density as f32;
    let seen = if density > 0.0 { 10.0 / density } else { FAR };
    match scene.render.integrator {
        Integrator::Whitted => reach.min(4.0 * geometry.reach).min(seen),
        Integrator::Path | Integrator::AmbientOcclusion => reach,
    }
}

// The constants of a picture's size, samples and bounces, together with the others.
fn of_picture(scene: &Scene, others: Constants) -> Constants {
    let (render, grid) = (&scene.render, grid(scene));
    Constants {
        width: render.width as i32,
        height: render.height as i32,
        samples: grid as i32,
        sample_step: (1.0 / f64::from(grid.max(1))) as f32,
        sample_bits: sample_bits(scene),
        depth: render.depth as i32,
        ..others
    }
}

fn constants(scene: &Scene, assets: &Assets, geometry: &Geometry) -> Constants {
    let (sky, relief) = (sky::map(scene, assets), assets.relief.as_deref());
    let [zenith, horizon] = sky::gradient(scene);
    let (world, render) = (&scene.world, &scene.render);
    let floor = world.floor.as_ref();
    let from_below = world.sky.from_below;
    let [relief_u, relief_v] = floor::relief_offset(floor);
    // An automatic exposure is not known yet: the trial frames measure it.
    let stops = match scene.film.exposure {
        Exposure::Stops(stops) => stops,
        Exposure::Auto => lights::stops_to_white(scene, assets),
    };
    let [cutoff, light_cutoff] = lights::cutoffs(scene, assets, stops);
    let disc = sky::disc(sky);
    let others = Constants {
        ambient: linear_colour(world.ambient),
        cutoff: cutoff as f32,
        light_cutoff: light_cutoff as f32,
        starlight: sky.map_or([0.0; 3], |s| to_f32(s.starlight)),
        sun_sharpness: disc.sun_sharpness,
        sun_direction: disc.sun_direction,
        sun_radiance: disc.sun_radiance,
        zenith,
        highlight: world.highlight as f32,
        horizon,
        fog_density: world.air.density as f32,
        fog_colour: linear_colour(world.air.colour),
        fog_top: world.air.height.map_or(FAR, |height| height as f32),
        lightmap_scale: 0.0,
        lightmap_size: 0,
        knee: scene.film.tone.knee().unwrap_or(1.0) as f32,
        sky_slope: if from_below { 0.5 } else { 1.0 },
        sky_base: if from_below { 0.5 } else { 0.0 },
        integrator: match render.integrator {
            Integrator::Whitted => INTEGRATOR_WHITTED,
            Integrator::Path => INTEGRATOR_PATH,
            Integrator::AmbientOcclusion => INTEGRATOR_AO,
        },
        ao_reach: occlusion_reach(scene, geometry),
        ao_samples: render.ao_samples.cast_signed(),
        lamp_samples: match render.lamp_samples {
            LampSamples::Floor => 0,
            LampSamples::Drawn(n) => n as i32,
            LampSamples::All => -1,
        },
        bvh_root: geometry.root,
        shadows: i32::from(render.shadows),
        sky_side: sky.map_or(0, |s| s.side as i32),
        sky_distance: sky::distance(&world.air, geometry.reach),
        floor_fade: floor.filter(|f| f.fade > 0.0).map_or(0.0, |f| (1.0 / (f.fade * f.fade)) as f32),
        features: features(scene),
        clamp: render.clamp as f32,
        dispersive: i32::from(is_dispersive(scene)),
        relief_u,
        relief_v,
        transparent: i32::from(world.sky.transparent),
        ..floor.map_or_else(Constants::default, |f| floor::constants(f, relief))
    };
    of_picture(scene, others)
}

// The limits of scenes must match those of the kernels.
const _: () = assert!(limits::MAX_DEPTH as i32 == MAX_DEPTH && crate::math::bvh::MAX_DEPTH < BVH_STACK as usize);

// A table from the square root of linear light to 256 times the 8-bit code after the tone curve.
fn tone_lut(tone: Tone) -> Vec<i32> {
    let code = |i| {
        let root = f64::from(i) / f64::from(TONE_LUT_LAST);
        (tone.encode(root * root) * 255.0 * 256.0).floor() as i32
    };
    (0..=TONE_LUT_LAST).map(code).collect()
}

// Distances from a pixel's center at equal steps of the filter's integral: its inverse cumulative distribution.
fn filter_places(filter: Filter) -> Vec<f32> {
    const STEPS: usize = 4096;
    if filter == Filter::Box {
        return Vec::new();
    }
    let radius = filter.radius();
    let x = |i: f64| radius * (2.0 * i / STEPS as f64 - 1.0);
    let mut sums = vec![0.0];
    for i in 0..STEPS {
        sums.push(sums[i] + filter.weight(x(i as f64 + 0.5)));
    }
    let all = sums[STEPS];
    let at = |k: i32| {
        let wanted = all * f64::from(k) / f64::from(FILTER_LAST);
        let i = sums.partition_point(|&s| s < wanted).clamp(1, STEPS);
        let within = (wanted - sums[i - 1]) / (sums[i] - sums[i - 1]).max(1e-300);
        x((i - 1) as f64 + within.clamp(0.0, 1.0)) as f32
    };
    (0..=FILTER_LAST).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_types::{SHAPE_FLOOR, SURFACE_INDEX_MASK};

    #[test]
    fn counts_beyond_the_codes_are_refused() {
        assert_eq!(check_counts(MAX_BODIES, MAX_PRIMITIVES, MAX_PRIMITIVES, MAX_LAMPS), Ok(()));
        for (bodies, balls, triangles, what) in
            [(MAX_BODIES + 1, 0, 0, "bodies"), (0, 1 << 26, 0, "spheres"), (0, 0, 1 << 26, "triangles")]
        {
            assert_eq!(check_counts(bodies, balls, triangles, 0).map_err(|e| e.what.to_string()), Err(what.to_owned()));
        }
        let lit = check_counts(1, 0, 0, MAX_LAMPS + 1).unwrap_err().to_string();
        assert!(lit.contains("8000001 lights along the edges of bodies"), "{lit}");
        // The largest indices fit into the codes of leaves, rays and surfaces (kernels/types.def).
        let last = MAX_PRIMITIVES as i64 - 1;
        assert!(last <= i64::from(SURFACE_INDEX_MASK));
        let numbers = [last << 5 | 31, i64::from(SHAPE_FLOOR) << 28 | last << 2 | 3, 12 * (last + 1)];
        assert!(numbers.iter().all(|&n| n <= i64::from(i32::MAX)), "{numbers:?}");
    }
}

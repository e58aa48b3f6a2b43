//! The view of a figure: an orthographic camera that shows all particles, and leaves room for what stands beside them.

use crate::assets::particles::ColouredSpheres;
use crate::assets::{AssetError, Assets};
use crate::film::furniture::{Furniture, MapShown};
use crate::gpu_types::Sphere;
use crate::language::msg;
use crate::math::vec3::{Vec3, add, dot, scale, sub};
use crate::scene::limits::FARTHEST;
use crate::scene::{
    Camera, CameraPath, ColourBy, Figure, FigureView, Light, Orbit, Particles, Projection, Scene, View,
};
use rayon::prelude::*;
use std::sync::Arc;

/// How far the particles of a clip reach to the right, upwards and into the picture of a figure: least and most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent([[f64; 2]; 3]);

// The distance of the headlight over that of the eye: its rays are parallel.
const FAR: f64 = 1000.0;
// A headlight without shadows stands to the left of the eye and above it, by these shares of its distance.
const ASIDE: [f64; 2] = [-0.3, 0.45];
// The eye's distance from the middle over the depth of the particles. More than half of it is enough.
const AWAY: f64 = 2.0;

/// The map of a scene's particles as a legend shows it.
pub fn map_shown(scene: &Scene, assets: &Assets) -> Option<MapShown> {
    let (particles, read) = (scene.world.particles.as_ref()?, assets.particles.as_ref()?);
    let (range, scale, classes) = (read.range?, particles.scale, read.classes.clone());
    let (colours, outside) = match particles.map.is_categorical() {
        false => (particles.map.colours(), read.outside),
        true => (classes.iter().map(|&value| particles.map.colour(value)).collect(), [false; 2]),
    };
    Some(MapShown { range, colours: Arc::new(colours), outside, scale, classes })
}

fn camera(view: FigureView, centre: Vec3, distance: f64, width: Option<f64>) -> Camera {
    let FigureView { azimuth: azimuth_deg, elevation: elevation_deg } = view;
    let orbit = Orbit { centre, distance, elevation_deg, azimuth_deg, turns: 0.0, ease: 0.0 };
    Camera { projection: Projection::Orthographic, width, path: CameraPath::Orbit(orbit), ..Camera::default() }
}

/// Refuses a label with the time where the particles' file has none.
pub fn check_time(scene: &Scene, assets: &Assets) -> Result<(), AssetError> {
    let label = scene.figure.as_ref().map_or("", |figure| figure.time_label.as_str());
    match (scene.world.particles.as_ref(), &assets.particles) {
        (Some(particles), Some(read)) if label.contains("{time") && read.moment.time.is_none() => {
            let what = msg!("it has no time, which `time_label` shows");
            let remedy = Some(msg!("the number of the time step is {key}", key = "{step}"));
            Err(AssetError { remedy, ..AssetError::new(&particles.file(0), what) })
        }
        _ => Ok(()),
    }
}

impl Extent {
    /// Measures the particles of a figure that is framed by itself: of a clip's first, middle and last frame.
    pub fn of(scene: &Scene, assets: &Assets) -> Result<Option<Extent>, AssetError> {
        let view = scene.figure.as_ref().and_then(|figure| figure.view);
        let Some(((view, particles), first)) = view.zip(scene.world.particles.as_ref()).zip(assets.particles.as_ref())
        else {
            return Ok(None);
        };
        let view = camera(view, [0.0; 3], 1.0, None).view(0, 1);
        let mut all = reach(&view, first);
        let frames = scene.output.frames;
        if particles.is_animated() && !assets.files.is_in_order() {
            let plain = Particles { colour_by: ColourBy::default(), ..particles.clone() };
            for frame in [frames / 2, frames - 1].into_iter().filter(|&frame| frame > 0) {
                // A missing step is reported at its own frame.
                if let Ok(later) = ColouredSpheres::load(&plain, frame, frames, Some(first), &assets.files) {
                    let later = later.without_cut_away(scene.cuts_at_rest());
                    all = wider(all, reach(&view, &later));
                }
            }
        }
        Ok(Some(Extent(all)))
    }

    /// Sets the camera, and a headlight if the scene has no light.
    pub fn frame(&self, scene: &mut Scene, map: Option<MapShown>) {
        let Some(view) = scene.figure.as_ref().and_then(|figure| figure.view) else { return };
        let Extent([x, y, z]) = *self;
        scene.camera = camera(view, [0.0; 3], 1.0, None);
        let picture = [scene.render.width, scene.render.height].map(f64::from);
        let [left, top, width, height] =
            Furniture::laid_out(scene, map).map_or([0.0, 0.0, picture[0], picture[1]], |furniture| furniture.room());
        let unit = ((x[1] - x[0]) / width).max((y[1] - y[0]) / height);
        let middle = |[low, high]: [f64; 2]| 0.5 * (low + high);
        // The middle of the room lies so many pixels to the right of the picture's, and above it.
        let aside = [left + 0.5 * (width - picture[0]), 0.5 * (picture[1] - height) - top];
        let View { right, up, forward, .. } = scene.camera.view(0, 1);
        let at = [middle(x) - unit * aside[0], middle(y) - unit * aside[1], middle(z)];
        let look_at = add(add(scale(right, at[0]), scale(up, at[1])), scale(forward, at[2]));
        let distance = AWAY * (z[1] - z[0]);
        scene.camera = camera(view, look_at, distance, Some(unit * picture[0]));
        if scene.world.lights.is_empty() {
            // From the eye it casts no shadow that can be seen.
            let [across, above] = if scene.render.shadows { [0.0; 2] } else { ASIDE };
            let aside = add(scale(right, across), scale(up, above));
            let far = (FAR * distance).min(0.5 * FARTHEST).max(AWAY * distance);
            let position = add(look_at, scale(sub(aside, forward), far));
            let colour = Figure::headlight(scene.world.ambient);
            scene.world.lights.push(Light { position, colour, radius: 0.0 });
        }
    }
}

fn wider(a: [[f64; 2]; 3], b: [[f64; 2]; 3]) -> [[f64; 2]; 3] {
    [0, 1, 2].map(|i| [a[i][0].min(b[i][0]), a[i][1].max(b[i][1])])
}

fn reach(view: &View, particles: &ColouredSpheres) -> [[f64; 2]; 3] {
    let axes = [view.right, view.up, view.forward];
    let of = |sphere: Sphere| {
        let (centre, radius) = (sphere.centre.map(f64::from), f64::from(sphere.radius));
        axes.map(|axis| [dot(centre, axis) - radius, dot(centre, axis) + radius])
    };
    let none = || [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    let all = particles.balls().map(of).reduce(none, wider);
    let mut i = axes.into_iter();
    all.map(|ends| {
        let base = i.next().map_or(0.0, |axis| dot(particles.origin, axis));
        ends.map(|end| end + base)
    })
}

//! Looks: values for the keys that a scene does not give.

use super::toml::write_without;
use super::{CameraPath, Exposure, FloorShape, LampShape, Look, Scene, Sky, SkySource, Tone, is_parallelogram};
use crate::math::vec3::Vec3;
use std::cell::RefCell;

/// The width of bars in the look of film, in circumradii.
const BAR: f64 = 0.024;
const BAR_COLOUR: Vec3 = [0.06, 0.06, 0.065];
/// The bevel of bodies without bars in the look of film, in circumradii. Bars hide the edges.
const BEVEL: f64 = 0.02;
const AMBIENT: Vec3 = [0.14, 0.14, 0.17];
/// The light of the sky.
const SKY: f64 = 0.4;
/// The distance at which a bent floor is half faded, over that of its farthest corner from the axis.
const BENT_FADE: f64 = 0.7;
/// Samples along a pixel's side.
const SAMPLES: u32 = 3;
/// The fewest samples of a pixel that an open shutter makes a streak of.
const MOMENTS: u32 = SAMPLES * SAMPLES;
/// The distance at which the floor is half faded, over the largest distance of the camera from the axis.
const FADE: f64 = 3.4;

impl Look {
    /// Whether tokens that end with the number of samples give a key that a look may decide.
    pub(crate) fn tokens_give(key: &str) -> bool {
        key == "render.samples"
    }
    /// Gives the look's value to every key that the scene's text has not given. `is_given` says of a key, such as
    /// `film.bloom` or `body.0.bar`, whether the text gives it.
    pub(crate) fn apply(self, scene: &mut Scene, is_given: &dyn Fn(&str) -> bool) {
        let is_dithered = scene.film.is_dithered();
        if self == Look::Film {
            film(scene, is_given);
        }
        for (i, body) in scene.world.bodies.iter_mut().enumerate() {
            let set = |key: &str, field: &mut dyn FnMut()| {
                if !is_given(&format!("body.{i}.{key}")) {
                    field();
                }
            };
            let has_lamps = body.has_lamps();
            match self {
                Look::Plain if has_lamps => {
                    set("lamp_shape", &mut || body.lamp_shape = LampShape::Disc);
                    set("lamp_core", &mut || body.lamp_core = 1.0);
                }
                Look::Film if body.bar > 0.0 => {
                    set("bar", &mut || body.bar = BAR);
                    set("bar_color", &mut || body.bar_colour = BAR_COLOUR);
                    if has_lamps {
                        set("lamp_intensity", &mut || body.lamp_intensity = 7.0);
                    }
                }
                Look::Film => set("bevel", &mut || body.bevel = BEVEL),
                Look::Plain => {}
            }
        }
        scene.film.dither = is_given("film.dither").then_some(is_dithered);
        scene.film = scene.film.canonical();
    }
}

impl Look {
    /// A scene to which the look is not applied yet, in TOML: with the look's name, and without the keys that the look decides.
    pub(crate) fn text(self, scene: &Scene, is_given: &dyn Fn(&str) -> bool) -> String {
        let own = RefCell::new(Vec::new());
        self.apply(&mut scene.clone(), &|key| {
            let is_given = is_given(key);
            own.borrow_mut().extend((!is_given).then(|| key.to_owned()));
            is_given
        });
        let mut named = scene.clone();
        named.film.look = Some(self);
        write_without(&named, &own.into_inner())
    }
}

// The look of film for all but the bodies.
fn film(scene: &mut Scene, is_given: &dyn Fn(&str) -> bool) {
    let Scene { world, camera, render, film, output, .. } = scene;
    let set = |key: &str, field: &mut dyn FnMut()| {
        if !is_given(key) {
            field();
        }
    };
    set("film.tone", &mut || film.tone = Tone::Agx { contrast: 1.15, saturation: 1.2 });
    set("film.exposure", &mut || film.exposure = Exposure::Stops(0.3));
    set("film.bloom", &mut || film.bloom = 0.1);
    set("film.bloom_radius", &mut || film.bloom_radius = 0.14);
    set("film.vignette", &mut || film.vignette = 0.3);
    // A sky that mirrors have something of. One that the scene gives stays.
    if !is_given("sky") {
        world.sky = Sky { image: Some(SkySource::Dusk), intensity: SKY, ..Sky::default() };
    }
    set("render.ambient", &mut || world.ambient = AMBIENT);
    // With one, edges and lamps are jagged. Path tracing has samples enough.
    if !render.integrator.capabilities().random_samples {
        set("render.samples", &mut || render.set_samples(SAMPLES));
    }
    // A frame has a moment for each sample: fewer would show as copies.
    if output.frames > 1
        && render.samples_per_pixel() >= MOMENTS
        && !render.sampling.is_adaptive()
        && !world.sky.transparent
    {
        set("camera.shutter", &mut || camera.shutter = 0.5);
    }
    let far = match &camera.path {
        CameraPath::Cylinder { eye, .. } => eye.r0.abs() + eye.ar.abs(),
        _ => 8.0,
    };
    let Some(floor) = &mut world.floor else { return };
    // A bent floor cannot go on to the horizon. It fades into the land.
    if !is_parallelogram(&floor.corners) {
        let reach = floor.corners.iter().map(|[x, y, _]| libm::hypot(*x, *y)).fold(0.0, f64::max);
        // Within bounds, a coated floor does not fade.
        if !floor.material.coat.is_there() {
            set("floor.fade", &mut || floor.fade = (10.0 * BENT_FADE * reach).round() / 10.0);
        }
        return;
    }
    set("floor.size", &mut || floor.shape = FloorShape::Endless);
    if floor.shape == FloorShape::Endless {
        set("floor.fade", &mut || floor.fade = (FADE * far).round());
    }
}

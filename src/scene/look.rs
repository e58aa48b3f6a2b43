//! Looks: values for the keys that a scene does not give.

use super::keys::names::Names;
use super::text::toml::write_without;
use super::{
    Body, CameraPath, Exposure, Floor, FloorShape, LampShape, Light, Look, Sampling, Scene, Sky, SkySource, Tone,
};
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, cross, dot, normalise, scale, sub};
use std::cell::RefCell;

/// The width of bars in the look of film, in circumradii.
const BAR: f64 = 0.024;
const BAR_COLOUR: Vec3 = [0.06, 0.06, 0.065];
/// The bevel of bodies without bars in the look of film, in circumradii. Bars hide the edges.
const BEVEL: f64 = 0.02;
const LAMP_INTENSITY: f64 = 14.0;
/// The least saturation of the light of lamps, which have the hue of their body.
const SATURATION: f64 = 0.6;
/// Bodies of less saturation count as colorless. Their lamps are of a warm white.
const COLOURLESS: f64 = 0.12;
const WARM_WHITE: Vec3 = [1.0, 0.72, 0.42];
const AMBIENT: Vec3 = [0.08, 0.08, 0.11];
/// The light of the sky.
const SKY: f64 = 0.44;
const GROUND: Vec3 = [0.14, 0.15, 0.19];
/// Moments of the clip at which the camera's height is compared with the ground's.
const HEIGHTS: u32 = 256;
/// The smallest weight of a ray.
const CUTOFF: f64 = 0.005;
/// The radius of a light over its distance from the floor.
const LIGHT: f64 = 1.0 / 15.0;
/// Samples along a pixel's side.
const SAMPLES: u32 = 3;
/// The fewest samples of a pixel that an open shutter makes a streak of.
const MOMENTS: u32 = SAMPLES * SAMPLES;
/// The distance at which the ground is half faded, over the largest distance of the camera from the axis.
const FADE: f64 = 3.4;
/// The same over the distance of the farthest corner from the floor's middle, at least.
const FADE_OF_CORNERS: f64 = 1.5;

// Sets the keys that the scene's text does not give.
struct Open<'a> {
    is_given: &'a dyn Fn(&str) -> bool,
}

impl Open<'_> {
    fn set(&self, key: &str, field: impl FnOnce()) {
        if !(self.is_given)(key) {
            field();
        }
    }
}

impl Look {
    /// Whether tokens that end with the number of samples give a key that a look may decide.
    pub(crate) fn tokens_give(key: &str) -> bool {
        key == "render.samples"
    }
    /// Gives the look's value to every key that the scene's text has not given. `is_given` says of a key, such as
    /// `film.bloom` or `body.0.bar`, whether the text gives it.
    pub(crate) fn apply(self, scene: &mut Scene, is_given: &dyn Fn(&str) -> bool) {
        let (is_dithered, open) = (scene.film.is_dithered(), Open { is_given });
        match self {
            Look::Film => film(scene, &open),
            Look::Plain => {}
            Look::Bare => bare(scene, &open),
        }
        for (i, body) in scene.world.bodies.iter_mut().enumerate() {
            let set = |key: &str, field: &mut dyn FnMut()| open.set(&format!("body.{i}.{key}"), field);
            let has_lamps = body.has_lamps();
            match self {
                Look::Plain | Look::Bare if has_lamps => {
                    set("lamp_shape", &mut || body.lamp_shape = LampShape::Disc);
                    set("lamp_core", &mut || body.lamp_core = 1.0);
                }
                Look::Film if body.bar > 0.0 => {
                    set("bar", &mut || body.bar = BAR);
                    set("bar_color", &mut || body.bar_colour = BAR_COLOUR);
                    if has_lamps {
                        set("lamp_intensity", &mut || body.lamp_intensity = LAMP_INTENSITY);
                        set("lamp_color", &mut || body.lamp_colour = lamp_colour(body));
                    }
                }
                Look::Film => set("bevel", &mut || body.bevel = BEVEL),
                Look::Plain | Look::Bare => {}
            }
        }
        scene.film.dither = is_given("film.dither").then_some(is_dithered);
        scene.film = scene.film.canonical();
    }
}

impl Look {
    /// What it gives a scene, in a few words, and the flags for the other looks.
    pub(crate) fn told(self, scene: &Scene) -> Message {
        let (render, world) = (&scene.render, &scene.world);
        let side = libm::sqrt(f64::from(render.samples_per_pixel()));
        let has_ground = world.floor.as_ref().is_some_and(Floor::has_ground);
        let parts = [
            (render.sampling == Sampling::PerAxis(side as u32)).then(|| msg!("{side}x{side} samples", side)),
            (world.sky.image == Some(SkySource::Dusk)).then(|| msg!("dusk")),
            has_ground.then(|| msg!("slab")),
            (scene.camera.shutter > 0.0).then(|| msg!("open shutter")),
            (!render.shadows).then(|| msg!("no shadows")),
        ];
        let parts = Message::list(parts.into_iter().flatten(), ", ");
        let flag =
            |look: Look| if look == Look::Plain { "--plain".to_owned() } else { format!("--look {}", look.name()) };
        let others = Look::NAMES.iter().filter(|(look, ..)| *look != self).map(|(look, ..)| flag(*look));
        msg!(
            "look: {name}: {parts}; {others}",
            name = self.name(),
            parts,
            others = others.collect::<Vec<_>>().join(", ")
        )
    }
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

// The hue of the body, at its brightest.
fn lamp_colour(body: &Body) -> Vec3 {
    let colour = body.material.colour;
    let (least, most) = colour.iter().fold((f64::MAX, 0.0_f64), |(a, b), &c| (a.min(c), b.max(c)));
    let saturation = if most > 0.0 { 1.0 - least / most } else { 0.0 };
    if saturation < COLOURLESS {
        return WARM_WHITE;
    }
    let wanted = saturation.max(SATURATION);
    let hundredths = |c: f64| (100.0 * c).round() / 100.0;
    colour.map(|c| hundredths(1.0 - wanted * (most - c) / (most - least)))
}

// The seed of the coursework's programs: only what its formulas have.
fn bare(scene: &mut Scene, open: &Open) {
    let Scene { world, render, film, .. } = scene;
    const BLACK: Vec3 = [0.0; 3];
    open.set("sky", || world.sky = Sky { zenith: BLACK, horizon: BLACK, ..Sky::default() });
    open.set("render.shadows", || render.shadows = false);
    open.set("render.highlight", || world.highlight = 0.0);
    open.set("film.tone", || film.tone = Tone::Clip { gamma: 0.0 });
    if !render.integrator.capabilities().random_samples {
        open.set("render.samples", || render.set_samples(1));
    }
}

// The look of film for all but the bodies.
fn film(scene: &mut Scene, open: &Open) {
    let ground = ground_fits(scene, open);
    let Scene { world, camera, render, film, output, .. } = scene;
    open.set("film.tone", || {
        let (mut contrast, mut saturation) = (1.25, 1.2);
        if let Tone::Agx { contrast: given_contrast, saturation: given_saturation } = film.tone {
            contrast = if (open.is_given)("film.contrast") { given_contrast } else { contrast };
            saturation = if (open.is_given)("film.saturation") { given_saturation } else { saturation };
        }
        film.tone = Tone::Agx { contrast, saturation };
    });
    open.set("film.exposure", || film.exposure = Exposure::Stops(-0.1));
    open.set("film.bloom", || film.bloom = 0.1);
    open.set("film.bloom_radius", || film.bloom_radius = 0.14);
    // A panorama has no corners.
    open.set("film.vignette", || film.vignette = if camera.projection.is_round() { 0.0 } else { 0.3 });
    // A sky that mirrors have something of. One that the scene gives stays.
    open.set("sky", || world.sky = Sky { image: Some(SkySource::Dusk), intensity: SKY, ..Sky::default() });
    open.set("render.ambient", || world.ambient = AMBIENT);
    // With one, edges and lamps are jagged. Path tracing has samples enough.
    if !render.integrator.capabilities().random_samples {
        open.set("render.samples", || render.set_samples(SAMPLES));
    }
    let samples = render.samples_per_pixel();
    // A frame has a moment for each sample: fewer would show as copies.
    if output.frames > 1 && samples >= MOMENTS && !render.sampling.is_adaptive() && !world.sky.transparent {
        open.set("camera.shutter", || camera.shutter = 0.5);
    }
    // Lamps are bright enough for fainter reflections than anyone sees.
    open.set("render.cutoff", || render.cutoff = CUTOFF);
    let far = match &camera.path {
        CameraPath::Cylinder { eye, .. } => eye.r0.abs() + eye.ar.abs(),
        _ => 8.0,
    };
    let Some(floor) = &mut world.floor else { return };
    for (i, light) in world.lights.iter_mut().enumerate() {
        open.set(&format!("light.{i}.radius"), || light.radius = light_radius(light, floor));
    }
    // The samples of a pixel see different points of a light.
    if samples >= MOMENTS && world.lights.iter().any(|light| light.radius > 0.0) {
        open.set("render.light_samples", || render.light_samples = 1);
    }
    if ground {
        open.set("floor.ground", || floor.ground = Some(GROUND));
    }
    if floor.has_ground() || floor.shape == FloorShape::Endless {
        let far = (FADE * far).max(FADE_OF_CORNERS * floor.farthest_corner());
        open.set("floor.fade", || floor.fade = far.round());
    }
}

// Whether a look may add ground: what the scene gives stands above it, and does not look through the floor's own fading.
fn ground_fits(scene: &Scene, open: &Open) -> bool {
    let Scene { world, camera, output, .. } = scene;
    let Some(floor) = &world.floor else { return false };
    let level = floor.ground_level();
    let eye = |i: u32| {
        let moment = f64::from(i) / f64::from(HEIGHTS) * f64::from(output.frames);
        camera.view_at(moment, output.frames).eye
    };
    let bodies = world.bodies.iter().map(|body| body.centre);
    let mut given = world.lights.iter().map(|light| light.position).chain(bodies).chain((0..HEIGHTS).map(eye));
    floor.shape != FloorShape::Endless && !(open.is_given)("floor.fade") && given.all(|point| point[2] > level)
}

// In hundredths.
fn light_radius(light: &Light, floor: &Floor) -> f64 {
    let [a, b, c, d] = floor.corners;
    let normal = normalise(cross(sub(c, a), sub(d, b)));
    let middle = scale(add(add(a, b), add(c, d)), 0.25);
    (100.0 * LIGHT * dot(sub(light.position, middle), normal).abs()).round() / 100.0
}

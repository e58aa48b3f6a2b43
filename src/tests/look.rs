//! Looks: what tokens and TOML hold in the keys that they do not give.

use super::common::*;
use crate::Scene;
use crate::scene::builtin::DEFAULT_TOKENS;
use crate::scene::{
    self, Body, Exposure, FilmSettings, FloorShape, LampShape, Look, ParseOptions, SkySource, Tone, tokens,
};

const REDUCED: &str = "5\nx_%d.data\n64 48 100\n7 3 0 2 1 2 6 1 0 0\n2 0 0 .5 .1 1 4 1 0 0\n\
    -2 -2 0 2 200 0 0\n-2 2 0 2 0 255 0\n2 0 0 2 0 0 255\n-4 -4 -1 -4 4 -1 4 -4 -1 4 4 -1 102 62 0";

const LOOKS: [Look; 3] = [Look::Film, Look::Plain, Look::Bare];

fn read(text: &str, look: Option<Look>) -> Scene {
    scene::parse(text, "test", ParseOptions { look, ..ParseOptions::default() }).unwrap_or_else(|e| panic!("{e}")).scene
}

#[test]
fn tokens_with_lamps_get_a_film_and_shorter_ones_stay_plain() {
    let film = read(DEFAULT_TOKENS, None);
    assert_eq!(film, read(DEFAULT_TOKENS, Some(Look::Film)));
    assert!(matches!(film.film.tone, Tone::Agx { contrast, saturation } if contrast > 1.0 && saturation > 1.0));
    assert!(film.film.bloom > 0.0 && film.film.vignette > 0.0 && film.film.is_dithered() && film.camera.shutter == 0.5);
    let floor = film.world.floor.as_ref().unwrap();
    assert!(floor.shape == FloorShape::Square && floor.ground.is_some() && floor.fade > 10.0);
    assert_eq!(film.world.sky.image, Some(SkySource::Dusk));
    for body in &film.world.bodies {
        assert_eq!((body.lamp_intensity, body.lamp_shape, body.lamp_core), (14.0, LampShape::Dome, 0.0));
        assert!(body.bar < Body::BAR && body.bar_colour < Body::BAR_COLOUR);
    }
    assert_eq!(read(REDUCED, None), read(REDUCED, Some(Look::Plain)));
    assert_ne!(read(REDUCED, Some(Look::Film)).film, FilmSettings::default());
}

#[test]
fn the_look_of_film_has_nine_samples_where_the_text_gives_none() {
    let samples = |text: &str, look| read(text, Some(look)).render.samples_per_pixel();
    assert_eq!((samples(REDUCED, Look::Film), samples(REDUCED, Look::Plain)), (9, 1));
    let without = DEFAULT_TOKENS.trim_end().strip_suffix("24 3").unwrap();
    assert_eq!(samples(without, Look::Film), 9);
    let one = format!("{without}24 1");
    assert_eq!(samples(&one, Look::Film), 1);
    let in_toml = tokens::in_toml(&one, ParseOptions::default()).unwrap();
    assert!(in_toml.contains("look = \"film\"") && read(&in_toml, None).render.samples_per_pixel() == 1, "{in_toml}");
}

// What the tokens meant before they had looks.
#[test]
fn the_plain_look_is_flat() {
    let plain = read(DEFAULT_TOKENS, Some(Look::Plain));
    assert_eq!((plain.film, plain.camera.shutter), (FilmSettings::default(), 0.0));
    assert_eq!(plain.world.sky, scene::Sky::default());
    assert_eq!(plain.world.ambient, [0.3, 0.3, 0.32]);
    assert_eq!(plain.world.floor.as_ref().unwrap().shape, FloorShape::Square);
    for body in &plain.world.bodies {
        let lamps = (body.lamp_shape, body.lamp_core, body.lamp_intensity, body.bar, body.bar_colour);
        assert_eq!(lamps, (LampShape::Disc, 1.0, 1.0, Body::BAR, Body::BAR_COLOUR));
    }
}

#[test]
fn a_still_has_no_shutter_and_a_bent_floor_has_ground_too() {
    let still = read(&DEFAULT_TOKENS.replacen("600", "1", 1), None);
    assert_eq!(still.camera.shutter, 0.0);
    let bent = read(&DEFAULT_TOKENS.replacen("-12.0 12.0 -1.85", "-12.0 12.0 -1.5", 1), None);
    let floor = bent.world.floor.unwrap();
    assert!(floor.shape == FloorShape::Square && floor.ground.is_some() && floor.fade > 10.0);
}

// The keys in TOML are those of the look, and mean the same without it.
#[test]
fn the_scene_in_toml_has_every_key_of_its_look() {
    for look in LOOKS {
        let scene = read(DEFAULT_TOKENS, Some(look));
        let text = scene.to_toml();
        assert_eq!(read(&text, None), scene, "{look:?}");
        let keys = match look {
            Look::Film => &[
                "tone",
                "contrast",
                "saturation",
                "exposure",
                "bloom",
                "bloom_radius",
                "vignette",
                "ambient",
                "shutter",
                "ground",
                "fade",
                "radius",
                "light_samples",
                "cutoff",
                "image",
                "intensity",
                "lamp_intensity",
                "lamp_color",
                "bar",
                "bar_color",
            ][..],
            Look::Plain => &["lamp_shape", "lamp_core"],
            Look::Bare => &["lamp_shape", "lamp_core", "shadows", "highlight", "tone", "zenith", "horizon"],
        };
        for key in keys {
            assert!(text.lines().any(|line| line.starts_with(&format!("{key} = "))), "{look:?}, {key}:\n{text}");
        }
        assert!(!text.contains("look ="));
    }
}

#[test]
fn a_look_leaves_what_the_text_gives() {
    let text = "[film]\nlook = \"film\"\nvignette = 0\ndither = false\n[floor]\ncorners = [[-5,-5,-1],[-5,5,-1],[5,5,-1],[5,-5,-1]]\n\
        [[body]]\nsolid = \"cube\"\nlamps = 3\nbar_colour = [1, 0, 0]\n[[body]]\nsolid = \"cube\"\nlamps = 3\nbar = 0.1\nlamp_shape = \"disc\"\n[[body]]\nsolid = \"cube\"\nbar = 0\n";
    let scene = toml(text);
    assert_eq!((scene.film.vignette, scene.film.is_dithered(), scene.film.look), (0.0, false, None));
    assert!(scene.film.bloom > 0.0 && scene.film.exposure != Exposure::Stops(0.0));
    let [first, second, third] = &scene.world.bodies[..] else { panic!("three bodies") };
    assert_eq!((first.bar_colour, second.bar, second.lamp_shape), ([1.0, 0.0, 0.0], 0.1, LampShape::Disc));
    assert!(first.bar < second.bar && second.bar_colour != first.bar_colour && third.bar == 0.0);
    // Bars hide the edges; a body without them has bevels, of its own width where the text gives one.
    assert_eq!((first.bevel, second.bevel, third.bevel), (0.0, 0.0, 0.02));
    assert_eq!(toml(&text.replace("bar = 0\n", "bar = 0\nbevel = 0\n")).world.bodies[2].bevel, 0.0);
    // A flag overrides the key.
    let plain = read(text, Some(Look::Plain));
    assert_eq!((plain.film.bloom, plain.world.bodies[0].lamp_core, plain.world.bodies[2].bevel), (0.0, 1.0, 0.0));
    assert_eq!(read(&text.replace("look = \"film\"\n", ""), None).film.bloom, 0.0);
}

#[test]
fn tokens_say_each_look() {
    for (look, flag) in [(Look::Film, None), (Look::Plain, Some("plain")), (Look::Bare, Some("bare"))] {
        let scene = read(DEFAULT_TOKENS, Some(look));
        let text = tokens::write(&scene).unwrap_or_else(|why| panic!("{look:?}: {why:?}"));
        assert_eq!((read(&text, Some(look)), tokens::look_flag(&scene)), (scene, flag));
    }
    let mut own = read(DEFAULT_TOKENS, None);
    own.film.bloom = 0.5;
    let why = tokens::write(&own).unwrap_err();
    assert!(why.len() == 1 && why[0].to_string().contains("its film"), "{why:?}");
}

// A look that is named decides what it would of the tokens themselves, and gives way to what excludes one of its keys.
#[test]
fn the_look_of_tokens_stays_a_look_in_toml() {
    for look in LOOKS {
        for tokens in [DEFAULT_TOKENS, REDUCED] {
            let options = ParseOptions { look: Some(look), ..ParseOptions::default() };
            let text = tokens::in_toml(tokens, options).unwrap();
            assert_eq!(read(&text, None), read(tokens, Some(look)), "{text}");
            assert!(text.contains(&format!("look = \"{}\"", look.name())));
            assert!(!text.contains("\nbloom = ") || look != Look::Film, "{text}");
        }
    }
    let text = tokens::in_toml(DEFAULT_TOKENS, ParseOptions::default()).unwrap();
    let with = |key: &str, value: &str| {
        let scene = read(&scene::text::edit::set(&text, key, Some(value)).unwrap(), None);
        (scene.camera.shutter, scene.film.bloom)
    };
    assert_eq!(with("film.grain", "0.1"), (0.5, 0.1));
    assert_eq!(with("sky.transparent", "true"), (0.0, 0.1));
    assert_eq!(with("render.samples", "4..64"), (0.0, 0.1));
    assert_eq!(with("render.samples", "1"), (0.0, 0.1), "a streak needs samples");
    assert_eq!(with("film.bloom", "0.3"), (0.5, 0.3));
}

// A look fills in what the text leaves open: corners, lights, colors, samples and bounces are those of the text in all of them.
#[test]
fn what_a_scene_gives_holds_in_every_look() {
    // One of them must be refused.
    for path in inputs().into_iter().filter(|path| !path.ends_with("leading-blank-light-and-samples-on-one-line.txt")) {
        let given = |look| {
            let scene = load_with(&path, Some(look));
            let Scene { world, render, .. } = &scene;
            let floor = world.floor.as_ref().unwrap();
            let bodies = world.bodies.iter().map(|b| (b.centre, b.radius, b.material, b.lamps, b.solid));
            let lights = world.lights.iter().map(|l| (l.position, l.colour));
            let floor = (floor.corners, floor.shape, floor.material, floor.texture.clone());
            let has_samples =
                std::fs::read_to_string(&path).unwrap().trim_end().lines().last().unwrap().split_whitespace().count()
                    < 3;
            let samples = has_samples.then(|| render.samples_per_pixel());
            (
                floor,
                bodies.collect::<Vec<_>>(),
                lights.collect::<Vec<_>>(),
                render.depth,
                samples,
                scene.camera.path.clone(),
            )
        };
        let plain = given(Look::Plain);
        assert!(LOOKS.into_iter().all(|look| given(look) == plain), "{}", path.display());
    }
}

#[test]
fn lamps_have_the_hue_of_their_body() {
    let lamp = |colour: &str| {
        toml(&format!("[film]\nlook = \"film\"\n[[body]]\nsolid = \"cube\"\nlamps = 3\ncolor = {colour}\n"))
            .world
            .bodies[0]
            .lamp_colour
    };
    const WARM: [f64; 3] = [1.0, 0.72, 0.42];
    assert_eq!((lamp("[0.95, 0.98, 1.0]"), lamp("0"), lamp("1")), (WARM, WARM, WARM));
    assert_eq!(lamp("[0.7, 0.7, 0]"), [1.0, 1.0, 0.0]);
    assert_eq!(lamp("[0.4, 0.5, 0.5]"), [0.4, 1.0, 1.0], "at least 0.6");
    assert_eq!(lamp("[1, 0.45, 0.3]"), [1.0, 0.45, 0.3]);
    assert_eq!(lamp("\"red\"\nlamp_color = [0.1, 0.2, 0.3]"), [0.1, 0.2, 0.3]);
}

// What stands below the ground would be hidden by it.
#[test]
fn the_look_of_film_adds_no_ground_above_what_is_given() {
    let ground = |text: &str| read(text, Some(Look::Film)).world.floor.unwrap().ground;
    let default = DEFAULT_TOKENS;
    assert!(ground(default).is_some());
    for (from, to) in [
        ("6.0 -5.0 8.0", "6.0 -5.0 -8.0"),
        ("5.4 0.6 -1.0472", "5.4 -3.6 -1.0472"),
        ("5.4  1.5 -0.10", "5.4  1.5 -9.0"),
    ] {
        let changed = default.replacen(from, to, 1);
        assert!(changed != default && ground(&changed).is_none(), "{to}");
    }
    let toml = |keys: &str| {
        ground(&format!(
            "[floor]\ncorners = [[-5,-5,-1],[-5,5,-1],[5,5,-1],[5,-5,-1]]\n{keys}\n[camera.orbit]\ncenter = [0, 0, 0]\n"
        ))
    };
    assert!(toml("").is_some());
    for given in ["ground = \"none\"", "size = \"infinite\"", "fade = 7"] {
        assert_eq!(toml(given), None, "{given}");
    }
    assert_eq!(toml("ground = [1, 0, 0]\nfade = 7"), Some([1.0, 0.0, 0.0]));
}

#[test]
fn the_look_of_film_takes_a_contrast_of_its_own() {
    let tone = |keys: &str, look| read(&format!("[film]\n{keys}\n[[body]]\nsolid = \"cube\"\n"), look).film.tone;
    let agx = |contrast, saturation| Tone::Agx { contrast, saturation };
    assert_eq!(tone("look = \"film\"\ncontrast = 1.3", None), agx(1.3, 1.2));
    assert_eq!(tone("look = \"film\"\nsaturation = 0.9", None), agx(1.25, 0.9));
    assert_eq!(tone("saturation = 0.9", Some(Look::Film)), agx(1.25, 0.9));
    assert_eq!(tone("look = \"film\"\ncontrast = 1.3", Some(Look::Plain)), agx(1.3, 1.0));
    let refused = |keys: &str| {
        scene::parse(&format!("[film]\n{keys}\n[[body]]\nsolid = \"cube\"\n"), "test", ParseOptions::default()).is_err()
    };
    assert!(refused("contrast = 1.3") && refused("look = \"plain\"\ncontrast = 1.3"));
    assert!(refused("look = \"film\"\ntone = \"soft\"\ncontrast = 1.3"));
}

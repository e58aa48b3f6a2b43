//! Floors that go up and down: against the surface that the map describes, found by tiny steps in double precision.
use super::common::*;
use crate::scene::Scene;
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

const DEPTH: f64 = 0.6;
const HALF: f64 = 4.0;

// Waves in three directions, 0 to 1.
fn height(u: f64, v: f64) -> f64 {
    let wave = |i: f64, j: f64, at: f64| (TAU * (i * u + j * v + at)).sin();
    0.5 + (wave(2.0, 1.0, 0.1) + wave(-1.0, 3.0, 0.4) + wave(3.0, -2.0, 0.8)) / 6.0
}
fn map(folder: &Path, name: &str, height: impl Fn(f64, f64) -> f64) -> PathBuf {
    let path = folder.join(name);
    let place = |i: u32| (f64::from(i) + 0.5) / 256.0;
    let gray = |x: u32, y: u32| image::Luma([(height(place(x), place(y)) * 65535.0).round() as u16]);
    image::DynamicImage::ImageLuma16(image::ImageBuffer::from_fn(256, 256, gray)).save(&path).unwrap();
    path
}
// A floor whose picture is its own coordinates: red along u, which is +y, and green along v, which is +x.
fn coordinates(folder: &Path) -> PathBuf {
    let path = folder.join("coordinates.png");
    let code = |i: u32| (f64::from(i) / 255.0 * 65535.0).round() as u16;
    let pixels = image::ImageBuffer::from_fn(256, 256, |x, y| image::Rgb([code(x), code(y), 0]));
    image::DynamicImage::ImageRgb16(pixels).save(&path).unwrap();
    path
}
// One pixel of the floor's own color, seen from `eye` towards `at`.
fn seen(eye: [f64; 3], at: [f64; 3], size: u32, picture: &Path, relief: &str) -> Scene {
    toml(&format!(
        "[output]\nsize = [{size}, {size}]\n[render]\nsamples = 1\ncutoff = 0\nambient = [1, 1, 1]\nhighlight = 0\n\
         [sky]\nzenith = [0, 0, 1]\nhorizon = [0, 0, 1]\n[camera]\nposition = {eye:?}\nlook_at = {at:?}\nfov_deg = 0.01\n\
         [floor]\ncorners = [[-{HALF},-{HALF},0],[-{HALF},{HALF},0],[{HALF},{HALF},0],[{HALF},-{HALF},0]]\n\
         texture = '{}'\n{relief}\n",
        picture.display()
    ))
}
// The place of a color on the floor, its y and its x.
fn place(light: &[f32]) -> [f64; 2] {
    let share = |linear: f32| {
        let code = crate::math::srgb::srgb(f64::from(linear));
        // Texels hold their number in 255ths at their middle.
        (code * 255.0 + 0.5) / 256.0
    };
    [share(light[0]), share(light[1])].map(|s| (2.0 * s - 1.0) * HALF)
}

// Of 300 rays from 10 to 75 degrees off the normal nearly all meet the surface where the map has it; a few graze a crest, and may pass it.
#[test]
fn a_displaced_floor_is_met_where_its_map_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let (map, picture) = (map(dir.path(), "waves.png", height), coordinates(dir.path()));
    let relief = format!("[floor.relief]\nbump = '{}'\ndepth = {DEPTH}\ndisplaced = true", map.display());
    let mut random = Draws(7);
    let (mut worst, mut off, mut sum) = (0.0_f64, 0, 0.0);
    for i in 0..300 {
        let angle = (10.0 + 65.0 * f64::from(i) / 299.0).to_radians();
        let (side, up) = (TAU * f64::from(random.next())).sin_cos();
        let at = random.around(1.0).map(f64::from);
        let (at, d) = ([at[0], at[1], 0.0], [angle.sin() * side, angle.sin() * up, -angle.cos()]);
        let eye = [0, 1, 2].map(|k| at[k] - 3.0 * d[k]);
        let got = place(&light(&seen(eye, at, 1, &picture, &relief)));
        // The first of small steps that lies below the surface.
        let along = |t: f64| [0, 1, 2].map(|k| at[k] + t * d[k]);
        let below = |t: f64| {
            let [x, y, z] = along(t);
            z < -DEPTH * (1.0 - height((y + HALF) / (2.0 * HALF), (x + HALF) / (2.0 * HALF)))
        };
        let steps = 20_000;
        let end = DEPTH / angle.cos();
        let t = (0..=steps).map(|k| end * f64::from(k) / f64::from(steps)).find(|&t| below(t)).unwrap_or(end);
        let [x, y, _] = along(t);
        let apart = (got[0] - y).hypot(got[1] - x);
        if apart > 0.03 {
            off += 1;
        } else {
            sum += apart;
        }
        worst = worst.max(apart);
    }
    assert!(
        off <= 3 && sum / 300.0 < 0.001,
        "{off} of 300 are off, by {worst} at most, the others by {} on average",
        sum / 300.0
    );
}

// A map of one height is a flat floor, as far below the plane as black lies below white.
#[test]
fn a_map_of_one_height_lowers_the_floor() {
    let dir = tempfile::tempdir().unwrap();
    let picture = coordinates(dir.path());
    for level in [0.0, 0.25, 1.0] {
        let map = map(dir.path(), "level.png", |_, _| level);
        for drift in ["", "drift = [1, 0]\n"] {
            let relief =
                format!("[floor.relief]\nbump = '{}'\ndepth = {DEPTH}\n{drift}displaced = true", map.display());
            let got = place(&light(&seen([-3.0, 1.0, 2.0], [0.5, 0.25, 0.0], 1, &picture, &relief)));
            // Two layers of waves share the slope, so they are sqrt(2) times as high.
            let below = DEPTH * (1.0 - level) * if drift.is_empty() { 1.0 } else { 2.0_f64.sqrt() };
            let t = (2.0 + below) / 2.0;
            let expected = [1.0 - 0.75 * t, -3.0 + 3.5 * t];
            assert!(
                (got[0] - expected[0]).abs() < 0.02 && (got[1] - expected[1]).abs() < 0.02,
                "{level} {drift}: {got:?}, expected {expected:?}"
            );
        }
    }
}

// Bodies stand in the waves: below the plane a ball is lit as above it, down to the troughs.
#[test]
fn light_reaches_what_stands_in_the_troughs() {
    let dir = tempfile::tempdir().unwrap();
    let (black, picture) = (map(dir.path(), "black.png", |_, _| 0.0), coordinates(dir.path()));
    let ball = "[[sphere]]\nradius = 0.5\ncolor = [1, 1, 1]\n[[light]]\nposition = [3, 0, 3]\n";
    let look = |relief: &str| {
        let mut scene = seen([3.0, 0.0, 1.0], [0.5, 0.0, -0.15], 1, &picture, &format!("{ball}{relief}"));
        scene.world.ambient = [0.0; 3];
        mean(&light(&scene))
    };
    // Without a floor's relief the plane hides that point.
    let relief = format!("[floor.relief]\nbump = '{}'\ndepth = {DEPTH}\ndisplaced = true", black.display());
    assert!(look("") < 0.2 && look(&relief) > 0.3, "{} {}", look(""), look(&relief));
}

// Rays within a body that stands in the waves ask for them, also where the body does not reach the floor's plane.
#[test]
fn waves_reach_into_bodies_below_the_plane() {
    let look = |ball: [f64; 3]| {
        render(
            &toml(&format!(
                "[output]\nsize = [96, 72]\n[render]\nsamples = 1\nambient = [0.4, 0.4, 0.4]\n[camera]\nposition = [3, 0, 2]\nlook_at = [0, 0, -0.5]\n\
                 [floor]\ncorners = [[-4,-4,0],[-4,4,0],[4,4,0],[4,-4,0]]\nsize = \"infinite\"\n\
                 [floor.relief]\nbump = \"@ripples\"\ndepth = 0.6\ndisplaced = true\n\
                 [[body]]\nsolid = \"cube\"\ncenter = [0, 0, -0.53]\nradius = 0.9\nreflection = 0\ntransparency = 1\nbar = 0\nlamps = 0\n\
                 [[sphere]]\ncenter = {ball:?}\nradius = 0.001\n"
            )),
            0,
        )
    };
    // A tiny ball in the body has rays ask for all.
    let (without, within) = (look([0.0, 0.0, -8.0]), look([0.3, 0.3, -0.9]));
    let apart = without.iter().zip(&within).filter(|(a, b)| a.abs_diff(**b) > 2).count();
    assert!(apart < 12, "{apart} codes differ");
}

#[test]
fn all_sets_agree_on_waves() {
    for keys in ["reflection = 0.4\n", "reflection = 0.4\nsize = \"infinite\"\nfade = 9\n", "material = \"glass\"\n"] {
        let scene = toml(&format!(
            "[output]\nsize = [48, 32]\nframes = 4\n[render]\nsamples = 2\n[camera]\nposition = [5, 1, 0.6]\nlook_at = [0, 0, 0]\nfov_deg = 60\n\
             [[sphere]]\nradius = 0.5\nreflection = 0.5\n[[body]]\nsolid = \"cube\"\ncenter = [0, 1.5, 0.2]\n[[light]]\nposition = [3, 0, 3]\n\
             [floor]\ncorners = [[-4,-4,0],[-4,4,0],[4,4,0],[4,-4,0]]\n{keys}\
             [floor.relief]\nbump = \"@ripples\"\ndepth = 0.3\ntiles = 2\ndrift = [1, 0]\ndisplaced = true\n"
        ));
        assert_eq!(toml(&scene.to_toml()), scene);
        same_on_every_set(keys, &scene, 1);
        let mut by_paths = scene;
        by_paths.render.set_paths(4);
        same_on_every_set(keys, &by_paths, 1);
    }
}

//! The furnace: under a uniform sky of 0.5, white materials without absorption show 0.5, and no material shows more. Tested
//! for each material, in both integrators, on bodies, balls and meshes.

use super::common::*;
use crate::scene::Scene;
use std::fmt::Write;

const SKY: f64 = 0.5;

// The allowed loss of a material: none; a known share; or any, if it absorbs light.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    None,
    UpTo(f64),
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Body,
    Ball,
    Ellipsoid,
    Mesh,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Whitted,
    Path,
}

// A uniform sky as a color of the scene.
fn furnace(how: How, depth: u32, things: &str) -> Scene {
    let grey = crate::math::srgb::srgb(SKY);
    let how = match how {
        // Dispersing glass samples one wavelength per sample.
        How::Whitted if things.contains("abbe") => "samples = 12\ncutoff = 1e-5",
        How::Whitted if things.contains("roughness") => "samples = 64\ncutoff = 1e-5",
        How::Whitted => "samples = 2\ncutoff = 1e-5",
        How::Path => "integrator = \"path\"\nsamples = 256",
    };
    // Whitted's diffuse light comes from the lights and a constant ambient term, which stands for the sky here.
    toml(&format!(
        "[output]\nsize = [12, 9]\n[render]\n{how}\ndepth = {depth}\nhighlight = 0\nambient = [{grey}, {grey}, {grey}]\n\
         [sky]\nzenith = [{grey}, {grey}, {grey}]\nhorizon = [{grey}, {grey}, {grey}]\n\
         [camera]\nposition = [3, -3, 2]\nlook_at = [0, 0, 0]\nfov_deg = {}\n{things}",
        // A pixel samples the spectrum evenly only if all of its samples see glass.
        if things.contains("abbe") { 11 } else { 24 }
    ))
}

fn thing(shape: Shape, mesh: &std::path::Path, keys: &str) -> String {
    match shape {
        Shape::Body => format!("[[body]]\nsolid = \"icosahedron\"\nbar = 0\n{keys}\n"),
        Shape::Ball => format!("[[sphere]]\n{keys}\n"),
        Shape::Ellipsoid => {
            format!("[[ellipsoid]]\nradii = [1.2, 0.7, 0.9]\naxis = [1, 1, 0]\nangle_deg = 40\n{keys}\n")
        }
        Shape::Mesh => format!("[[mesh]]\npath = '{}'\n{keys}\n", mesh.display()),
    }
}

// The mean per channel, and the maximum, relative to the sky.
fn seen(scene: &Scene) -> ([f64; 3], f64) {
    let pixels = light(scene);
    let mut sums = [0.0; 3];
    let mut max: f64 = 0.0;
    for (i, &x) in pixels.iter().enumerate() {
        sums[i % 3] += f64::from(x) / SKY;
        max = max.max(f64::from(x) / SKY);
    }
    (sums.map(|sum| sum / (pixels.len() / 3) as f64), max)
}

// All failures at once, each with its scene's name.
struct Faults(String);
impl Faults {
    fn check(&mut self, name: &str, scene: &Scene, loss: Loss, noise: f64) {
        let (mean, max) = seen(scene);
        let min = mean.into_iter().fold(f64::INFINITY, f64::min);
        let brightest = mean.into_iter().fold(0.0, f64::max);
        let lost = match loss {
            Loss::None => 0.0,
            Loss::UpTo(share) => share,
            Loss::Any => 1.0,
        };
        // Noise makes bright pixels; without noise there are none.
        let too_bright = brightest > 1.0 + noise || noise <= QUIET && max > 1.0 + 2.0 * noise;
        if too_bright || min < 1.0 - lost - noise {
            writeln!(self.0, "{name}: {mean:.4?} of the sky, a pixel {max:.4}").unwrap();
        }
    }
}
impl Drop for Faults {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.0.is_empty(), "\n{}", self.0);
    }
}

// Rounding, roulette, and the light left after the last bounce; and the noise of wavelengths and of the colors of films.
const QUIET: f64 = 0.002;
const COLOURFUL: f64 = 0.003;
// The light that total reflection traps and that is still under way after the last bounce.
const CAUGHT: Loss = Loss::UpTo(0.045);

const WHITE: &str = "color = [1, 1, 1]\n";

#[test]
fn no_material_makes_or_loses_light() {
    let dir = tempfile::tempdir().unwrap();
    let mesh = dir.path().join("octahedron.obj");
    let corners = "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\n";
    let faces = "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
    std::fs::write(&mesh, format!("{corners}{faces}")).unwrap();

    let mut materials: Vec<(String, Loss, f64)> = Vec::new();
    for (r, t) in [(0.0, 0.0), (0.3, 0.0), (0.3, 0.3), (0.1, 0.85), (0.0, 1.0), (0.5, 0.5), (0.0, 0.6)] {
        for ior in [1.0, 1.5, 2.4, 0.7] {
            let keys = format!("reflection = {r}\ntransparency = {t}\nior = {ior}\n");
            let loss = if ior > 2.0 && t > 0.0 { CAUGHT } else { Loss::None };
            materials.push((format!("{WHITE}{keys}"), loss, QUIET));
            materials.push((format!("color = [0.9, 0.5, 0.2]\n{keys}"), Loss::Any, QUIET));
        }
    }
    for ior in [1.0, 1.0 + 1e-9, 1.5, 2.4, 0.7] {
        for rest in ["", "tint_distance = 2\n", "abbe = 30\n", "abbe = 8\n", "abbe = 8\ntint_distance = 2\n"] {
            let noise = if rest.contains("abbe") { COLOURFUL } else { QUIET };
            let keys = format!("material = \"glass\"\nior = {ior}\n{rest}");
            materials.push((format!("{WHITE}{keys}"), Loss::None, noise));
            materials.push((format!("color = [0.9, 0.5, 0.2]\n{keys}"), Loss::Any, noise));
        }
    }
    for film in ["film_nm = 1\n", "film_nm = 380\n", "film_nm = 500\nfilm_ior = 2.4\n"] {
        for (keys, loss) in [
            ("material = \"glass\"\nior = 1.5\n", Loss::None),
            ("material = \"glass\"\nior = 0.7\n", Loss::None),
            ("material = \"glass\"\nior = 1.5\nabbe = 30\n", Loss::None),
            ("", Loss::None),
            ("transparency = 1\n", Loss::None),
            ("reflection = 0.3\n", Loss::None),
            ("reflection = 0.1\ntransparency = 0.5\nior = 0.7\n", Loss::None),
            ("reflection = 0.3\ntransparency = 0.7\nior = 1.5\n", CAUGHT),
            ("material = \"metal\"\n", Loss::None),
            ("material = \"titanium\"\n", Loss::Any),
        ] {
            let white = if keys.contains("titanium") { "" } else { WHITE };
            // A path takes one of the ways, by its brightest color.
            materials.push((format!("{white}{keys}{film}"), loss, COLOURFUL));
        }
    }
    // Coats: what they hold back comes out later. A path takes one of the ways.
    for coat in ["coat = 1\n", "coat = 0.4\n", "coat = 1\ncoat_ior = 1.2\n", "coat = 1\ncoat_ior = 2.4\n"] {
        for (keys, loss, noise) in [
            ("", Loss::None, 0.015),
            ("reflection = 0.3\n", Loss::None, 0.015),
            ("material = \"diffuse\"\n", Loss::None, 0.015),
            ("material = \"metal\"\n", Loss::None, QUIET),
            ("material = \"metal\"\nroughness = 0.15\n", Loss::None, 0.015),
            ("material = \"metal\"\nroughness = 0.5\n", Loss::None, 0.015),
            ("material = \"metal\"\nroughness = 1\n", Loss::None, 0.015),
            ("reflection = 0.5\nroughness = 0.5\n", Loss::None, 0.015),
            ("material = \"titanium\"\n", Loss::Any, QUIET),
        ] {
            let white = if keys.contains("titanium") { "" } else { WHITE };
            materials.push((format!("{white}{keys}{coat}"), loss, noise));
        }
    }
    // Facets reflect light several times. Their share is a fit.
    for roughness in [0.05, 0.2, 0.4, 0.7, 1.0] {
        for grain in
            ["anisotropy = 0.3\n", "anisotropy = 0.8\ngrain = [1, 2, 3]\n", "anisotropy = 1\ngrain = [0, 0, 1]\n"]
        {
            let keys = format!("{WHITE}material = \"metal\"\nroughness = {roughness}\n{grain}");
            materials.push((keys, Loss::None, 0.015));
        }
    }
    for roughness in [0.0, 0.05, 0.15, 0.3, 0.6, 1.0] {
        for keys in
            ["material = \"metal\"\n", "reflection = 0.7\n", "reflection = 0.4\ntransparency = 0.3\nior = 1.5\n"]
        {
            materials.push((format!("{WHITE}{keys}roughness = {roughness}\n"), Loss::None, 0.015));
        }
        for (_, name) in crate::scene::MeasuredMetal::ALL {
            materials.push((format!("material = \"{name}\"\nroughness = {roughness}\n"), Loss::Any, 0.015));
        }
    }
    let mut faults = Faults(String::new());
    for how in [How::Whitted, How::Path] {
        for (keys, loss, noise) in materials.iter().filter(|(keys, ..)| keys.starts_with(WHITE)) {
            let keys = format!("{keys}bevel = 0.1\n");
            let scene = furnace(how, 128, &thing(Shape::Body, &mesh, &keys));
            let loss = match loss {
                Loss::None if keys.contains("transparency") => CAUGHT,
                Loss::None if keys.contains("glass") => Loss::UpTo(0.01),
                loss => *loss,
            };
            faults.check(&format!("{how:?}: {}", keys.replace('\n', "; ")), &scene, loss, *noise);
        }
        for shape in [Shape::Body, Shape::Ball, Shape::Ellipsoid, Shape::Mesh] {
            for (keys, loss, noise) in &materials {
                // A mesh has no inside for secondary rays: both sides of its faces count.
                let scene = furnace(how, 128, &thing(shape, &mesh, keys));
                faults.check(&format!("{how:?}, {shape:?}: {}", keys.replace('\n', "; ")), &scene, *loss, *noise);
            }
        }
    }
}

// A relief widens the spread of brushed metal alike in all directions, or makes it smoother: a little light is lost.
#[test]
fn brushed_metal_with_a_relief_makes_no_light() {
    let mut faults = Faults(String::new());
    for how in [How::Whitted, How::Path] {
        for (roughness, anisotropy) in [(0.2, 0.9), (0.5, 0.5), (0.9, 0.2)] {
            for relief in ["bump = \"@brushed\"\ndepth = 0.002\ntiles = 300", "roughness_map = \"@dust\"\ntiles = 3"] {
                let keys = format!(
                    "{WHITE}material = \"metal\"\nroughness = {roughness}\nanisotropy = {anisotropy}\n[body.relief]\n{relief}\n"
                );
                let scene = furnace(how, 128, &thing(Shape::Body, "".as_ref(), &keys));
                faults.check(&format!("{how:?}: {}", keys.replace('\n', "; ")), &scene, Loss::UpTo(0.05), 0.015);
            }
        }
    }
}

// A relief makes a fuzzy mirror rough; its coat counts once. Paths lose the rays of fuzz that would enter the surface.
#[test]
fn a_coat_over_fuzz_with_a_relief_keeps_the_light() {
    let mut faults = Faults(String::new());
    for (how, fuzz, loss) in [(How::Whitted, 0.5, Loss::None), (How::Path, 0.05, Loss::UpTo(0.04))] {
        for coat in ["coat = 0.3", "coat = 1\ncoat_ior = 2.4"] {
            let keys = format!(
                "{WHITE}material = \"metal\"\nfuzz = {fuzz}\n{coat}\n[body.relief]\nbump = \"@slate\"\ndepth = 0.01\ntiles = 30\n"
            );
            let scene = furnace(how, 128, &thing(Shape::Body, "".as_ref(), &keys));
            faults.check(&format!("{how:?}: {}", keys.replace('\n', "; ")), &scene, loss, 0.015);
        }
    }
}

// One-way mirrors return all light, whatever they reflect inside.
#[test]
fn one_way_mirrors_make_no_light() {
    let mut faults = Faults(String::new());
    for how in [How::Whitted, How::Path] {
        for (r, t, inside) in [(0.1, 0.85, 0.95), (0.0, 1.0, 0.9), (0.5, 0.4, 0.2), (0.2, 0.3, 0.9), (0.6, 0.4, 0.6)] {
            for (ior, loss) in [(1.0, Loss::None), (1.5, CAUGHT)] {
                let keys =
                    format!("{WHITE}reflection = {r}\ntransparency = {t}\nreflection_inside = {inside}\nior = {ior}\n");
                let scene = furnace(how, 128, &thing(Shape::Body, "".as_ref(), &keys));
                faults.check(&format!("{how:?}: {}", keys.replace('\n', "; ")), &scene, loss, QUIET);
            }
        }
    }
}

// Nested materials, and a floor below them: products of shares add up to one as well.
#[test]
fn things_inside_of_things_keep_the_light() {
    let inner = [
        "reflection = 0.2\ntransparency = 0.3\nior = 1.5\n",
        "material = \"glass\"\nior = 1.5\n",
        "material = \"glass\"\nior = 1.0\n",
        "material = \"metal\"\n",
        "",
    ];
    let outer = [
        "reflection = 0.3\ntransparency = 0.5\n",
        "reflection = 0.1\ntransparency = 0.6\nreflection_inside = 0.5\n",
        "material = \"glass\"\nior = 1.4\n",
        "material = \"glass\"\nior = 1.0\n",
    ];
    let mut faults = Faults(String::new());
    for (outside, inside) in outer.iter().flat_map(|o| inner.iter().map(move |i| (o, i))) {
        let things = format!(
            "[[body]]\nsolid = \"cube\"\nradius = 1.4\nbar = 0\n{WHITE}{outside}\n[[sphere]]\nradius = 0.4\n{WHITE}{inside}\n\
             [floor]\ncorners = [[-9,-9,-1],[-9,9,-1],[9,9,-1],[9,-9,-1]]\ntint = [1, 1, 1]\nreflection = 0.3\n\
             texture = \"none\"\nsize = \"infinite\"\n"
        );
        let scene = furnace(How::Path, 128, &things);
        faults.check(&format!("{outside} around {inside}").replace('\n', "; "), &scene, Loss::None, 0.004);
    }
}

// Glass with index 1 is invisible: a light behind it lights a floor as if the glass were absent, in path tracing too,
// where surfaces sample lights.
#[test]
fn glass_that_bends_nothing_casts_no_shadow() {
    let floor = |between: &str, source: &str| {
        let scene = toml(&format!(
            "[output]\nsize = [16, 12]\n[render]\nintegrator = \"path\"\nsamples = 1024\ndepth = 8\nhighlight = 0\n\
             [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
             [camera]\nposition = [0, -4, 0.5]\nlook_at = [0, 0, -1]\nfov_deg = 16\n\
             [floor]\ncorners = [[-5,-5,-1],[-5,5,-1],[5,5,-1],[5,-5,-1]]\ntexture = \"none\"\n{source}{between}"
        ));
        mean(&light(&scene))
    };
    let dir = tempfile::tempdir().unwrap();
    let mesh = dir.path().join("pane.obj");
    std::fs::write(&mesh, "v -3 -3 1\nv 3 -3 1\nv 3 3 1\nv -3 3 1\nf 1 2 3\nf 1 3 4\n").unwrap();
    for source in [
        "[[sphere]]\ncenter = [0, 0, 4]\nradius = 0.5\nmaterial = \"light\"\nstrength = 20\n",
        "[[ellipsoid]]\ncenter = [0, 0, 4]\nradii = [0.9, 0.4, 0.5]\nmaterial = \"light\"\nstrength = 20\n",
        "[[light]]\nposition = [0, 0, 4]\nradius = 0.4\n",
    ] {
        let open = floor("", source);
        assert!(open > 0.01, "{open}");
        for shape in [
            "[[sphere]]\ncenter = [0, 0, 1]\nradius = 1.5\n".to_owned(),
            "[[body]]\nsolid = \"octahedron\"\ncenter = [0, 0, 1]\nradius = 1.6\nbar = 0\n".to_owned(),
            format!("[[mesh]]\npath = '{}'\n", mesh.display()),
        ] {
            let through = floor(&format!("{shape}{WHITE}material = \"glass\"\nior = 1.0\n"), source);
            assert!((through / open - 1.0).abs() < 0.02, "{through} of {open} behind {shape}");
        }
    }
    // Refracting tinted glass has no straight shadow ray; paths find the light.
    let source = "[[sphere]]\ncenter = [0, 0, 4]\nradius = 1.2\nmaterial = \"light\"\nstrength = 6\n";
    let ball = "[[sphere]]\ncenter = [0, 0, 1]\nradius = 1.5\nmaterial = \"glass\"\nior = 1.0\ntint_distance = 1\n";
    let through = floor(&format!("{ball}{WHITE}"), source);
    let open = floor("", source);
    assert!((through / open - 1.0).abs() < 0.05, "{through} of {open}");
}

// `check` and every run report shares above one, and the correction.
#[test]
fn the_share_that_is_too_much_is_named() {
    let warnings = |keys: &str| {
        let text = format!("[[body]]\nsolid = \"cube\"\n{keys}\n");
        let parsed = crate::scene::parse(&text, "t.toml", crate::scene::ParseOptions::default()).unwrap();
        parsed.warnings.into_iter().map(|warning| format!("{}; {}", warning.what, warning.expected)).collect::<Vec<_>>()
    };
    let one_way = warnings("reflection = 0.1\ntransparency = 0.85\nreflection_inside = 0.95");
    assert_eq!(one_way.len(), 1);
    for part in ["reflection_inside 0.95 + transparency 0.85 is above 1", "from inside only 0.05 passes"] {
        assert!(one_way[0].contains(part), "{one_way:?}");
    }
    let bright = warnings("reflection = 0.5\ntransparency = 0.85");
    assert_eq!(bright.len(), 1);
    assert!(bright[0].contains("reflection 0.5 + transparency 0.85 is above 1"), "{bright:?}");
    assert!(warnings("reflection = 0.1\ntransparency = 0.85\nreflection_inside = 0.15").is_empty());
}

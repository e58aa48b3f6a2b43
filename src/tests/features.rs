//! Each thing that a scene may have, alone: kernels that ask for the features of a scene leave out nothing that it needs. The sets of one
//! lane ask as a GPU's kernels do.

use super::common::*;

const HEAD: &str = "[output]\nframes = 2\nsize = [24, 20]\n";
const CAMERA: &str = "position = [1, -5, 2.5]\nlook_at = [0, 0, 0.3]\nfov_deg = 50\n";
const BALL: &str = "[[sphere]]\ncenter = [0.2, 0, 0.2]\nradius = 0.8\n";
const BRUSHED: &str = "material = \"metal\"\nroughness = 0.5\nanisotropy = 0.7\ngrain = [1, 2, 0]\n";
const CUBE: &str = "[[body]]\nsolid = \"cube\"\nradius = 1.1\nbar = 0\n";
const FLOOR: &str = "[floor]\ncorners = [[-6, -6, -1], [-6, 6, -1], [6, 6, -1], [6, -6, -1]]\n";
const LIGHT: &str = "[[light]]\nposition = [3, -4, 5]\n";

#[test]
fn one_thing_alone_has_the_same_bytes_on_every_set() {
    let table = |header: &str, keys: &str| format!("[{header}]\n{keys}\n");
    let of = |parts: &[&str]| parts.concat();
    let caustics = table("render", "caustics = true");
    let things = [
        ("a sky's picture", of(&[BALL, &table("sky", "image = \"@studio\"")])),
        ("stars", of(&[BALL, "reflection = 0.6\n", &table("sky", "image = \"@night\"")])),
        ("the sun", of(&[BALL, FLOOR, &table("sky", "image = \"@sun\"")])),
        ("a ball that shines", of(&[BALL, "material = \"light\"\n", FLOOR])),
        (
            "a panel that shines",
            of(&[
                "[[rectangle]]\ncenter = [0, 0, 3]\nsize = [1, 1]\nfacing = [0, 0, -1]\nmaterial = \"light\"\n",
                FLOOR,
            ]),
        ),
        ("an ellipsoid", of(&["[[ellipsoid]]\ncenter = [0, 0, 0]\nradii = [1, 0.5, 0.3]\n", LIGHT])),
        ("a panel", of(&["[[rectangle]]\ncenter = [0, 0, 0]\nsize = [2, 1]\nfacing = [0, -1, 0.2]\n", LIGHT])),
        ("balls", of(&[BALL, LIGHT])),
        ("a ball of glass", of(&[BALL, "material = \"glass\"\n", FLOOR, LIGHT])),
        ("glass that disperses", of(&[CUBE, "material = \"glass\"\nabbe = 12\n", FLOOR, LIGHT])),
        (
            "glass that absorbs",
            of(&[CUBE, "material = \"glass\"\ncolor = \"teal\"\ntint_distance = 0.5\n", FLOOR, LIGHT]),
        ),
        ("a pane with an index", of(&[CUBE, "reflection = 0.2\ntransparency = 0.7\nior = 1.3\n", FLOOR, LIGHT])),
        ("a one-way mirror", of(&[CUBE, "reflection = 0.1\nreflection_inside = 0.8\ntransparency = 0.6\n", LIGHT])),
        ("brushed metal", of(&[FLOOR, BRUSHED, CUBE, BRUSHED, LIGHT])),
        ("a rough metal", of(&[CUBE, "material = \"metal\"\nroughness = 0.4\n", LIGHT])),
        ("a measured metal", of(&[CUBE, "material = \"gold\"\n", LIGHT])),
        ("fuzz", of(&[BALL, "material = \"metal\"\nfuzz = 0.3\n", LIGHT])),
        ("a film on a metal", of(&[BALL, "material = \"gold\"\nfilm_nm = 300\n", LIGHT])),
        ("a film on glass", of(&[CUBE, "material = \"glass\"\nfilm_nm = 380\n", FLOOR, LIGHT])),
        ("a soap bubble", of(&[BALL, "transparency = 1\nfilm_nm = 380\n", FLOOR, LIGHT])),
        ("a floor with a film", of(&[FLOOR, "transparency = 0.5\nfilm_nm = 380\n", BALL, LIGHT])),
        ("a coat", of(&[BALL, "coat = 1\n", FLOOR, LIGHT])),
        ("a coat over a rough metal", of(&[CUBE, "material = \"gold\"\nroughness = 0.5\ncoat = 0.7\n", FLOOR, LIGHT])),
        (
            "a coat, rough metal and bars",
            of(&[
                "[[body]]\nsolid = \"cube\"\nmaterial = \"metal\"\nroughness = 0.5\ncoat = 0.7\nlamps = 3\n",
                FLOOR,
                LIGHT,
            ]),
        ),
        ("a coat over fuzz", of(&[BALL, "material = \"metal\"\nfuzz = 0.3\ncoat = 1\ncoat_ior = 1.8\n", LIGHT])),
        (
            "a floor with a coat",
            of(&[FLOOR, "reflection = 0.2\ncoat = 1\n[floor.relief]\nbump = \"@tiles\"\ndepth = 0.1\n", BALL, LIGHT]),
        ),
        ("a bevel", of(&[CUBE, "bevel = 0.05\nreflection = 0.5\n", LIGHT])),
        ("a bevel in the shading alone", of(&[CUBE, "bevel = 0.02\nreflection = 0.5\n", LIGHT])),
        (
            "bars and lamps",
            of(&["[[body]]\nsolid = \"cube\"\nlamps = 4\nreflection = 0.4\ntransparency = 0.3\n", FLOOR]),
        ),
        (
            "a strip that is one-sided",
            of(&["[[body]]\nsolid = \"cube\"\nlamps = \"strip\"\nlamp_sides = \"outside\"\n", FLOOR]),
        ),
        ("lamps that run", of(&["[[body]]\nsolid = \"cube\"\nlamps = 9\nlamp_pattern = \"chase\"\n", FLOOR])),
        ("a texture on a body", of(&[CUBE, "texture = \"@wood\"\ntransparency = 0.4\n", FLOOR, LIGHT])),
        ("a relief on a body", of(&[CUBE, "reflection = 0.6\n[body.relief]\nbump = \"@tiles\"\ndepth = 0.1\n", LIGHT])),
        ("a floor's texture", of(&[FLOOR, "texture = \"@checker\"\n", LIGHT])),
        (
            "a floor's relief",
            of(&[FLOOR, "reflection = 0.5\n[floor.relief]\nbump = \"@ripples\"\ndepth = 0.1\n", LIGHT]),
        ),
        (
            "a floor that glitters",
            of(&[FLOOR, "reflection = 0.5\n[floor.relief]\nbump = \"@ripples\"\ndepth = 0.1\nglitter = 0.9\n", LIGHT]),
        ),
        ("a floor that is rough", of(&[FLOOR, "reflection = 0.5\nroughness = 0.4\n", BALL, LIGHT])),
        ("a floor to the horizon", of(&[FLOOR, "size = \"infinite\"\nfade = 4\n", BALL, LIGHT])),
        ("a square floor that fades", of(&[FLOOR, "fade = 4\n", BALL, LIGHT])),
        ("a round floor of glass", of(&[FLOOR, "size = \"round\"\nmaterial = \"glass\"\n", BALL, LIGHT])),
        ("fog", of(&[BALL, LIGHT, &table("air", "density = 0.2")])),
        ("the sky through fog", of(&[BALL, LIGHT, &table("air", "density = 0.2\nheight = 3")])),
        ("a light with a size", of(&[BALL, FLOOR, LIGHT, "radius = 0.7\n"])),
        ("no shadows", of(&[BALL, FLOOR, LIGHT, &table("render", "shadows = false")])),
        ("adaptive samples", of(&[BALL, FLOOR, LIGHT, &table("render", "samples = \"2..6\"")])),
        (
            "all lamps sampled",
            of(&["[[body]]\nsolid = \"cube\"\nlamps = 3\n", BALL, &table("render", "lamp_samples = 2")]),
        ),
        ("a filter", of(&[BALL, LIGHT, &table("film", "filter = \"tent\"")])),
        ("caustics of a coat", of(&[CUBE, "color = \"teal\"\ncoat = 1\n", FLOOR, LIGHT, &caustics])),
        ("caustics of a film", of(&[CUBE, "reflection = 0.9\nfilm_nm = 380\n", FLOOR, LIGHT, &caustics])),
        (
            "ambient occlusion",
            of(&[CUBE, "transparency = 0.5\n", FLOOR, LIGHT, &table("render", "ao_samples = 3\nao_reach = 1.5")]),
        ),
        ("caustics", of(&[CUBE, "reflection = 0.9\n", FLOOR, LIGHT, &caustics])),
        ("the sun's caustics", of(&[CUBE, "reflection = 0.9\n", FLOOR, &table("sky", "image = \"@sun\""), &caustics])),
    ];
    for (what, text) in &things {
        by_every_integrator(what, text);
    }
}

// By every integrator that takes it, and with a lens.
fn by_every_integrator(what: &str, text: &str) {
    for integrator in ["whitted", "path", "ao"] {
        // Paths ask a lamp at each bounce anyway, and ambient occlusion asks none.
        let is_refused = match integrator {
            "path" => text.contains("lamp_samples"),
            "ao" => text.contains("lamp_samples") || text.contains("caustics"),
            _ => false,
        };
        if is_refused {
            continue;
        }
        // A table of the scene may be given once.
        let (render, rest) = match text.split_once("[render]\n") {
            Some((before, after)) => (after.to_owned(), before.to_owned()),
            None => ("samples = 2\n".to_owned(), text.to_owned()),
        };
        let head = format!("{HEAD}[render]\nintegrator = \"{integrator}\"\ndepth = 5\n{render}");
        let parallel = "projection = \"orthographic\"\nwidth = { keys = [[0, 3], [1, 5]] }\n";
        for lens in ["", "lens = 0.1\n", "lens = { keys = [[0, 0], [1, 0.3]] }\n", parallel] {
            if !lens.is_empty() && !what.starts_with("balls") {
                continue;
            }
            let scene = toml(&format!("{head}[camera]\n{CAMERA}{lens}{rest}"));
            same_on_every_set(&format!("{what} by {integrator} {lens}"), &scene, 1);
        }
    }
}

#[test]
fn what_particles_are_beside_spheres_has_the_same_bytes_on_every_set() {
    let grains = format!("[particles]\npath = \"{}/tests/particles/sphere.data\"\n", env!("CARGO_MANIFEST_DIR"));
    let cut = "[[particles.cut]]\npoint = [0.5, -0.5, 0]\nnormal = [0, -1, 0.2]\n";
    let of = |parts: &[&str]| parts.concat();
    for (what, text) in [
        ("capsules", of(&[&grains, "shape = \"capsule\"\n", LIGHT])),
        ("bonds in a mirror", of(&[&grains, "reflection = 0.3\n[particles.bonds]\n", FLOOR, LIGHT])),
        ("cut balls", of(&[&grains, "transparency = 0.4\n", cut, FLOOR, LIGHT])),
        ("cut polyhedra", of(&[&grains, "shape = \"cube\"\n", cut, FLOOR, LIGHT])),
    ] {
        by_every_integrator(what, &text);
    }
}

#[test]
fn what_glows_in_the_air_has_the_same_bytes_on_every_set() {
    for (what, parts) in [
        ("lamps", ["[[body]]\nsolid = \"cube\"\nlamps = 3\nreflection = 0.5\n", "[air]\nglow = 0.2\n"]),
        ("a ball in fog", [&[BALL, "material = \"light\"\n"].concat(), "[air]\nglow = 0.2\ndensity = 0.1\n"]),
    ] {
        by_every_integrator(what, &[parts[0], FLOOR, parts[1]].concat());
    }
}

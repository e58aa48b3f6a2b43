//! Materials against optics: rough and measured metals, glass with tint and dispersion.
use super::common::*;
use super::microfacets::Rough;
use crate::math::srgb::{linear, srgb};
use crate::scene::{Material, MaterialKind, MeasuredMetal, Scene, Sphere, ThinFilm};
use std::f64::consts::PI;

// The mean of all pixels, per channel.
pub(super) fn mean_colour(pixels: &[f32]) -> [f64; 3] {
    let sum = |c| pixels.chunks_exact(3).map(|p: &[f32]| f64::from(p[c])).sum::<f64>();
    [0, 1, 2].map(|c| sum(c) / (pixels.len() / 3) as f64)
}
pub(super) fn near(what: &str, got: [f64; 3], expected: [f64; 3], within: f64) {
    for (g, e) in got.into_iter().zip(expected) {
        assert!((g - e).abs() < within, "{what}: {got:?}, expected {expected:?}");
    }
}
// A wall that fills the picture, seen at an angle to its normal under a uniform white sky.
pub(super) fn wall(material: &str, angle_deg: f64, path: bool) -> Scene {
    let (sine, cosine) = angle_deg.to_radians().sin_cos();
    let how = if path { "integrator = \"path\"\nsamples = 1024" } else { "samples = 32" };
    toml(&format!(
        "[output]\nsize = [4, 4]\n[render]\n{how}\ndepth = 1\ncutoff = 0\nambient = [0, 0, 0]\n\
         [sky]\nzenith = [1, 1, 1]\nhorizon = [1, 1, 1]\nfrom_below = true\n\
         [camera]\nposition = [{}, 0, {}]\nlook_at = [0, 0, 0]\nfov_deg = 1\n\
         [[body]]\nsolid = \"cube\"\ncenter = [0, 0, -50]\nradius = {}\nbar = 0\n{material}\n",
        3.0 * sine,
        3.0 * cosine,
        50.0 * 3.0_f64.sqrt()
    ))
}

// At any roughness a metal reflects its color of a white sky. The facets of a measured metal take their share each time.
#[test]
fn rough_metal_mirrors_what_ggx_says() {
    for (roughness, angle) in [(0.3, 0.0), (0.7, 0.0), (0.7, 60.0), (1.0, 30.0)] {
        let facets = Rough::new(roughness);
        let gold = MeasuredMetal::Gold.colour().map(linear);
        let mirrored = gold.map(|reflectance| facets.mirrored(f64::to_radians(angle).cos(), reflectance));
        for (material, expected) in [
            ("material = \"metal\"\ncolor = [1, 1, 1]", [1.0; 3]),
            ("material = \"metal\"\ncolor = [1, 0.735357, 0]", [1.0, 0.5, 0.0]),
            ("material = \"gold\"", mirrored),
        ] {
            for path in [true, false] {
                let what = format!("{material} of roughness {roughness} at {angle} degrees, path {path}");
                let scene = wall(&format!("{material}\nroughness = {roughness}"), angle, path);
                near(&what, mean_colour(&light(&scene)), expected, 0.01);
            }
        }
    }
    // The full light of a clear mirror, and half of it on a plain surface.
    near(
        "plain",
        mean_colour(&light(&wall("reflection = 0.5\ncolor = [0, 0, 0]\nroughness = 0.1", 20.0, true))),
        [0.5; 3],
        0.002,
    );
}

#[test]
fn measured_metals_have_their_colour_and_a_white_rim() {
    for (metal, name) in MeasuredMetal::ALL {
        let colour = metal.colour().map(linear);
        for angle in [0.0f64, 80.0] {
            let rim = (1.0 - angle.to_radians().cos()).powi(5);
            let expected = colour.map(|c| c + (1.0 - c) * rim);
            near(name, mean_colour(&light(&wall(&format!("material = \"{name}\""), angle, true))), expected, 0.005);
        }
    }
}

// The colors of metals equal Fresnel's equations with measured constants, n and k at 630, 532 and 465 nm (from the sources
// that MeasuredMetal::colour names).
#[test]
fn measured_metals_mirror_what_their_constants_say() {
    for (metal, n, k) in [
        (MeasuredMetal::Chromium, [3.56, 2.98, 2.13], [4.36, 4.45, 4.30]),
        (MeasuredMetal::Titanium, [2.476, 2.208, 1.947], [3.096, 2.898, 2.695]),
        (MeasuredMetal::Iron, [2.391, 2.126, 1.818], [3.317, 3.138, 2.969]),
        (MeasuredMetal::Platinum, [2.314, 2.038, 1.879], [4.160, 3.612, 3.223]),
    ] {
        for (c, shown) in metal.colour().map(linear).into_iter().enumerate() {
            let (n, k): (f64, f64) = (n[c], k[c]);
            let expected = ((n - 1.0).powi(2) + k * k) / ((n + 1.0).powi(2) + k * k);
            assert!((shown / expected - 1.0).abs() < 0.05, "{} {c}: {shown}, measured {expected}", metal.name());
        }
    }
}

// Through a length d of glass, light keeps its color to the power of d / tint_distance (Beer and Lambert).
#[test]
fn glass_tints_by_distance() {
    let colour = [0.8, 0.5, 0.2];
    for (path, thing) in [(true, "body"), (false, "body"), (true, "sphere")] {
        let how = if path { "integrator = \"path\"\nsamples = 4096" } else { "samples = 4" };
        let shape = if thing == "body" {
            "[[body]]\nsolid = \"cube\"\nradius = 1.7320508\nbar = 0"
        } else {
            "[[sphere]]\nradius = 1"
        };
        let scene = |distance: f64| {
            toml(&format!(
                "[output]\nsize = [4, 4]\n[render]\n{how}\ndepth = 64\ncutoff = 0\nambient = [0, 0, 0]\n\
                 [sky]\nzenith = [1, 1, 1]\nhorizon = [1, 1, 1]\nfrom_below = true\n\
                 [camera]\nposition = [3, 0, 0]\nlook_at = [0, 0, 0]\nfov_deg = 0.5\n\
                 {shape}\nmaterial = \"glass\"\nior = 1.5\ncolor = [{}, {}, {}]\ntint_distance = {distance}\n",
                srgb(colour[0]),
                srgb(colour[1]),
                srgb(colour[2])
            ))
        };
        // At normal incidence through a length of two: each time 1 - F leaves the glass, and F is reflected back.
        let f = 0.04;
        for distance in [0.5, 2.0] {
            let expected = colour.map(|c: f64| {
                let through = c.powf(2.0 / distance);
                f + (1.0 - f) * (1.0 - f) * through / (1.0 - f * through)
            });
            near(&format!("{thing}, path {path}, {distance}"), mean_colour(&light(&scene(distance))), expected, 0.004);
        }
    }
    // The same for light that passes on its way to a surface.
    let shadow = |how: &str| {
        toml(&format!(
            "[output]\nsize = [4, 4]\n[render]\nsamples = 1\ndepth = 0\nambient = [0, 0, 0]\nhighlight = 0\n\
             [camera]\nposition = [3, 0, -1.5]\nlook_at = [0, 0, -2]\nfov_deg = 0.1\n\
             [floor]\ncorners = [[-5, -5, -2], [-5, 5, -2], [5, 5, -2], [5, -5, -2]]\n\
             [[light]]\nposition = [0, 0, 100]\n{how}"
        ))
    };
    let glass = format!(
        "[[body]]\nsolid = \"cube\"\nradius = 1.7320508\nbar = 0\nmaterial = \"glass\"\ncolor = [{}, {}, {}]\ntint_distance = 1\n",
        srgb(0.8),
        srgb(0.5),
        srgb(0.2)
    );
    let (open, tinted) = (mean_colour(&light(&shadow(""))), mean_colour(&light(&shadow(&glass))));
    near("shadow", [0, 1, 2].map(|i| tinted[i] / open[i]), colour.map(|c| c * c), 0.004);
}

// White light through dispersing glass is the integral over the spectrum of pictures through glass with one index each,
// weighted by that wavelength's share of red, green and blue.
#[test]
fn dispersion_is_the_sum_over_the_spectrum() {
    let scene = |path: bool, samples: u32| {
        let how = if path { format!("integrator = \"path\"\nsamples = {samples}") } else { "samples = 16".into() };
        toml(&format!(
            "[output]\nsize = [40, 30]\n[render]\n{how}\ndepth = 8\ncutoff = 0\nambient = [0, 0, 0]\n\
             [sky]\nzenith = [0, 0, 0]\nhorizon = [1, 1, 1]\n\
             [camera]\nposition = [5, 0, 1]\nlook_at = [0, 0, 0]\nfov_deg = 40\n\
             [[body]]\nsolid = \"icosahedron\"\nradius = 1\nbar = 0\nmaterial = \"glass\"\nior = 1.7\nabbe = 8\n\
             [[sphere]]\ncenter = [0, 1.4, 0]\nradius = 0.5\nmaterial = \"glass\"\nior = 1.5\nabbe = 8\n"
        ))
    };
    for path in [false, true] {
        let whole = light(&scene(path, 1024));
        let lines = 48;
        let mut sum = vec![0.0f64; whole.len()];
        for i in 0..lines {
            let u = (f64::from(i) + 0.5) / f64::from(lines);
            let hat = |x: f64| x.clamp(0.0, 1.0);
            let (red, blue) = (hat(3.0 * u - 1.5), hat(1.5 - 3.0 * u));
            let response = [3.0 * red, 3.0 * (1.0 - red - blue), 3.0 * blue];
            let um = 0.42 + 0.26 * u;
            let cauchy = |ior: f64| {
                let line = |w: f64| 1.0 / (w * w);
                ior + (ior - 1.0) / (8.0 * (line(0.486_134) - line(0.656_281))) * (line(um) - line(0.587_562))
            };
            let mut one = scene(path, 64);
            let bent = |kind: MaterialKind| match kind {
                MaterialKind::Glass { ior, .. } => {
                    MaterialKind::Glass { ior: cauchy(ior), abbe: None, tint_distance: None }
                }
                other => other,
            };
            one.world.bodies[0].material.kind = bent(one.world.bodies[0].material.kind);
            one.world.spheres[0].material.kind = bent(one.world.spheres[0].material.kind);
            for (k, x) in light(&one).into_iter().enumerate() {
                // Light that has not passed glass has no wavelength.
                sum[k] += f64::from(x) * response[k % 3] / f64::from(lines);
            }
        }
        let off =
            (whole.iter().zip(&sum).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>() / sum.len() as f64).sqrt();
        assert!(off < 0.012, "path {path}: {off}");
        let sum: Vec<f32> = sum.iter().map(|&x| x as f32).collect();
        near(&format!("path {path}"), mean_colour(&whole), mean_colour(&sum), 0.002);
        // The picture has colors, although the scene has none.
        let colourful = whole.chunks_exact(3).filter(|p| (p[0] - p[2]).abs() > 0.03).count();
        assert!(colourful > 40, "{colourful}");
    }
}

#[test]
fn keys_of_other_materials_are_refused() {
    for (thing, keys, key) in [
        ("[[body]]\nsolid = \"cube\"", "material = \"glass\"\nreflection = 0.5", "reflection"),
        ("[[body]]\nsolid = \"cube\"", "material = \"gold\"\ncolor = [1, 0, 0]", "color"),
        ("[[body]]\nsolid = \"cube\"", "abbe = 30", "abbe"),
        ("[[sphere]]", "material = \"diffuse\"\nroughness = 0.5", "roughness"),
        ("[[sphere]]", "material = \"light\"\ntint_distance = 1", "tint_distance"),
    ] {
        let text = format!("{thing}\n{keys}\n");
        let problems = Scene::parse(&text, "s.toml", std::path::Path::new("")).err().unwrap();
        assert_eq!(problems.list.len(), 1, "{text}");
        assert!(problems.to_string().contains(&format!("this material has no `{key}`")), "{problems}");
    }
    let inside = "[[body]]\nsolid = \"cube\"\nmaterial = \"metal\"\nreflection_inside = 0.5\n";
    let refused = Scene::parse(inside, "s.toml", std::path::Path::new("")).err().unwrap().to_string();
    assert!(
        refused.contains("`reflection_inside` changes nothing") && refused.contains("`material = \"plain\"`"),
        "{refused}"
    );
    let both = Scene::parse(
        "[[sphere]]\nmaterial = \"metal\"\nfuzz = 0.1\nroughness = 0.1\n",
        "s.toml",
        std::path::Path::new(""),
    );
    assert!(both.err().unwrap().to_string().contains("expected one of them"));
    let bright = Scene::parse("[[body]]\nsolid = \"cube\"\nmaterial = \"light\"\n", "s.toml", std::path::Path::new(""));
    let bright = bright.err().unwrap().to_string();
    assert!(bright.contains("\"glass\", \"gold\"") && !bright.contains("of \"light\""), "{bright}");
}

// A ball of triangles with normals, in OBJ and in PLY.
fn ball_files(dir: &std::path::Path) -> [std::path::PathBuf; 2] {
    use std::fmt::Write;
    let (rings, turns) = (16u32, 32u32);
    let points: Vec<[f64; 3]> = (0..=rings)
        .flat_map(|i| (0..turns).map(move |j| (i, j)))
        .map(|(i, j)| {
            let (down, across) = (PI * f64::from(i) / f64::from(rings)).sin_cos();
            let (y, x) = (2.0 * PI * f64::from(j) / f64::from(turns)).sin_cos();
            [down * x, down * y, across]
        })
        .collect();
    let faces: Vec<[u32; 3]> = (0..rings)
        .flat_map(|i| (0..turns).map(move |j| (i, j)))
        .flat_map(|(i, j)| {
            let at = |i: u32, j: u32| i * turns + j % turns;
            [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
        })
        // At the poles one of the two vanishes.
        .filter(|&[a, b, c]| !(a / turns == 0 && c / turns == 0 || b / turns == rings && c / turns == rings))
        .collect();
    let (mut obj, mut ply) = (String::new(), String::new());
    writeln!(ply, "ply\nformat ascii 1.0\nelement vertex {}", points.len()).unwrap();
    for name in ["x", "y", "z", "nx", "ny", "nz"] {
        writeln!(ply, "property float {name}").unwrap();
    }
    writeln!(ply, "element face {}\nproperty list uchar int vertex_indices\nend_header", faces.len()).unwrap();
    for [x, y, z] in &points {
        writeln!(obj, "v {x} {y} {z}\nvn {x} {y} {z}").unwrap();
        writeln!(ply, "{x} {y} {z} {x} {y} {z}").unwrap();
    }
    for [a, b, c] in faces {
        writeln!(obj, "f {0}//{0} {1}//{1} {2}//{2}", a + 1, b + 1, c + 1).unwrap();
        writeln!(ply, "3 {a} {b} {c}").unwrap();
    }
    let paths = ["ball.obj", "ball.ply"].map(|name| dir.join(name));
    std::fs::write(&paths[0], obj).unwrap();
    std::fs::write(&paths[1], ply).unwrap();
    paths
}

// With normals a ball of triangles looks like a ball, also in its reflections; without normals it does not.
#[test]
fn normals_make_meshes_smooth() {
    let dir = tempfile::tempdir().unwrap();
    let scene = |thing: &str| {
        toml(&format!(
            "[output]\nsize = [64, 48]\n[render]\nsamples = 4\ndepth = 4\n[sky]\nimage = \"@dusk\"\n\
             [camera]\nposition = [3, 1, 1]\nlook_at = [0, 0, 0]\nfov_deg = 45\n\
             [[light]]\nposition = [5, 4, 6]\n{thing}\ncolor = [0.9, 0.6, 0.3]\nreflection = 0.5\n"
        ))
    };
    let round = light(&scene("[[sphere]]"));
    let off = |image: &[f32]| {
        (image.iter().zip(&round).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>() / round.len() as f64).sqrt()
    };
    for path in ball_files(dir.path()) {
        let mesh = |smooth: bool| scene(&format!("[[mesh]]\npath = '{}'\nsmooth = {smooth}", path.display()));
        let (smooth, facets) = (off(&light(&mesh(true))), off(&light(&mesh(false))));
        assert!(smooth < 0.5 * facets && smooth < 0.05, "{}: {smooth}, facets {facets}", path.display());
        same_on_every_set("a smooth ball", &mesh(true), 0);
    }
}

// However bright a lamp is, it keeps its hue.
#[test]
fn a_bright_lamp_keeps_its_hue() {
    for strength in [0.5, 1999.0, 50_000.0, 1e6] {
        for render in ["samples = 2", "integrator = \"path\"\nsamples = 4"] {
            let scene = toml(&format!(
                "[output]\nsize = [8, 8]\n[render]\n{render}\n[camera]\nposition = [0, -9, 0]\nlook_at = [0, 0, 0]\nfov_deg = 3\n\
                 [[sphere]]\nmaterial = \"light\"\nstrength = {strength}\ncolor = [1, 0.735357, 0.349190]\n"
            ));
            let seen = mean_colour(&light(&scene)).map(|x| x / strength);
            near(&format!("{strength}, {render}"), seen, [1.0, 0.5, 0.1], 1e-4);
        }
    }
    same_on_every_set(
        "a bright lamp",
        &toml(
            "[output]\nsize = [20, 8]\n[film]\nexposure = -12\n[[sphere]]\nmaterial = \"light\"\nstrength = 3000\ncolor = \"orange\"\n[[body]]\nsolid = \"cube\"\nlamps = 4\n",
        ),
        0,
    );
}

// Helmholtz reciprocity: light from a lamp to the eye equals light from the eye to the lamp. Radiance over the cosine of the
// light's direction stays the same when both change places.
#[test]
fn materials_mirror_as_much_one_way_as_the_other() {
    let seen = |material: &str, eye_deg: f64, lamp_deg: f64| {
        let (sine, cosine) = lamp_deg.to_radians().sin_cos();
        let mut scene = wall(material, eye_deg, true);
        scene.world.sky.zenith = [0.0; 3];
        scene.world.sky.horizon = [0.0; 3];
        let lamp = Material { kind: MaterialKind::Light { strength: 50.0 }, ..Material::default() };
        let radius = 40.0 * 5.0_f64.to_radians().sin();
        scene.world.spheres =
            vec![Sphere { centre: [-40.0 * sine, 0.0, 40.0 * cosine], radius, material: lamp, on: None }];
        scene.render.set_paths(1 << 14);
        mean_colour(&light(&scene))[1] / cosine
    };
    for (material, angles) in [
        ("material = \"metal\"\nroughness = 0.6\ncolor = [0.9, 0.9, 0.9]", [20.0, 60.0]),
        ("material = \"gold\"\nroughness = 0.7", [35.0, 70.0]),
        ("material = \"gold\"\nroughness = 0.6\nanisotropy = 0.9\ngrain = [1, 1, 0]", [20.0, 60.0]),
        ("material = \"diffuse\"\ncolor = [0.8, 0.8, 0.8]", [10.0, 65.0]),
        ("material = \"diffuse\"\ncolor = [0.8, 0.8, 0.8]\ncoat = 1\ncoat_ior = 1.8", [10.0, 75.0]),
        ("reflection = 0.4\ncolor = [0.8, 0.8, 0.8]\ncoat = 0.6", [10.0, 75.0]),
        ("material = \"gold\"\nroughness = 0.7\ncoat = 1\ncoat_ior = 2", [35.0, 70.0]),
    ] {
        let [a, b] = angles;
        let (there, back) = (seen(material, a, b), seen(material, b, a));
        assert!(there > 0.04 && (there / back - 1.0).abs() < 0.03, "{material}: {there} {back}");
    }
}

// A metal floor reflects a uniform sky with its tint times its texture; a named metal has its own color; a diffuse floor has
// no highlight.
#[test]
fn floors_are_of_metal_or_diffuse() {
    let floor = |keys: &str, highlight: &str| {
        let scene = toml(&format!(
            "[output]\nsize = [16, 12]\n[render]\nsamples = 4\ncutoff = 0\nambient = [0, 0, 0]\n{highlight}\n\
             [sky]\nzenith = [1, 1, 1]\nhorizon = [1, 1, 1]\n\
             [camera]\nposition = [0, -0.2, 4]\nlook_at = [0, 0, -1]\nfov_deg = 30\n\
             [floor]\ncorners = [[-9,-9,-1],[-9,9,-1],[9,9,-1],[9,-9,-1]]\n{keys}\n[[light]]\nposition = [0, 0, 9]\n"
        ));
        mean_colour(&light(&scene))
    };
    let gold = MeasuredMetal::Gold.colour().map(linear);
    near("gold", floor("material = \"gold\"\nroughness = 0", "highlight = 3"), gold, 0.01);
    near("tinted", floor("material = \"metal\"\ntint = [1, 0.5, 0.25]", ""), [1.0, 0.5, 0.25].map(linear), 0.01);
    let checker = floor("material = \"metal\"\ntexture = \"@checker\"", "");
    assert!(checker[0] > 0.1 && checker[0] < 0.9, "{checker:?}");
    let dull = floor("material = \"diffuse\"", "highlight = 3");
    near("diffuse", dull, floor("", "highlight = 0"), 1e-6);
    for (keys, key) in
        [("material = \"gold\"\ntint = [1, 0, 0]", "tint"), ("material = \"diffuse\"\nroughness = 0.1", "roughness")]
    {
        let text = format!("[floor]\ncorners = [[-9,-9,-1],[-9,9,-1],[9,9,-1],[9,-9,-1]]\n{keys}\n");
        let error =
            crate::scene::parse(&text, "t.toml", crate::scene::ParseOptions::default()).err().unwrap().to_string();
        assert!(error.contains(&format!("has no `{key}`")), "{error}");
    }
}

// What a film mirrors at the cosine of incidence, in red, green and blue.
pub(super) fn film_share(film: ThinFilm, base: f64, cosine: f64) -> [f64; 3] {
    // The observer's functions x, y and z of 1931, by the CIE's table from 380 nm in steps of 10 nm, up to where they are below 0.001.
    const OBSERVER: [[f64; 33]; 3] = [
        [
            0.0014, 0.0042, 0.0143, 0.0435, 0.1344, 0.2839, 0.3483, 0.3362, 0.2908, 0.1954, 0.0956, 0.0320, 0.0049,
            0.0093, 0.0633, 0.1655, 0.2904, 0.4334, 0.5945, 0.7621, 0.9163, 1.0263, 1.0622, 1.0026, 0.8544, 0.6424,
            0.4479, 0.2835, 0.1649, 0.0874, 0.0468, 0.0227, 0.0114,
        ],
        [
            0.0000, 0.0001, 0.0004, 0.0012, 0.0040, 0.0116, 0.0230, 0.0380, 0.0600, 0.0910, 0.1390, 0.2080, 0.3230,
            0.5030, 0.7100, 0.8620, 0.9540, 0.9950, 0.9950, 0.9520, 0.8700, 0.7570, 0.6310, 0.5030, 0.3810, 0.2650,
            0.1750, 0.1070, 0.0610, 0.0320, 0.0170, 0.0082, 0.0041,
        ],
        [
            0.0065, 0.0201, 0.0679, 0.2074, 0.6456, 1.3856, 1.7471, 1.7721, 1.6692, 1.2876, 0.8130, 0.4652, 0.2720,
            0.1582, 0.0782, 0.0422, 0.0203, 0.0087, 0.0039, 0.0021, 0.0017, 0.0011, 0.0008, 0.0003, 0.0002, 0.0000,
            0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000,
        ],
    ];
    let (mut sum, mut white) = ([0.0; 3], [0.0; 3]);
    for i in 0..320 {
        let (entry, part) = (i as usize / 10, (f64::from(i % 10) + 0.5) / 10.0);
        let [x, y, z] = OBSERVER.map(|column| column[entry] + part * (column[entry + 1] - column[entry]));
        let colour = [
            3.2406 * x - 1.5372 * y - 0.4986 * z,
            -0.9689 * x + 1.8758 * y + 0.0415 * z,
            0.0557 * x - 0.2040 * y + 1.0570 * z,
        ];
        let within = (1.0 - (1.0 - cosine * cosine) / (film.ior * film.ior)).sqrt();
        let behind = (1.0 - (1.0 - cosine * cosine) / (base * base)).sqrt();
        let turn = 4.0 * std::f64::consts::PI * film.ior * film.nm * within / (380.5 + f64::from(i));
        // Both sides of the layer as one: the matrix method. The tilted index of each medium, for both polarizations.
        let mut share = 0.0;
        for [outer, layer, inner] in
            [[cosine, film.ior * within, base * behind], [1.0 / cosine, film.ior / within, base / behind]]
        {
            let (sine, half) = (0.5 * turn).sin_cos();
            // (B, C) = (cos + i sin inner / layer, inner cos + i layer sin); r = (outer B - C) / (outer B + C).
            let (b, c) = ([half, sine * inner / layer], [inner * half, layer * sine]);
            let square = |sign: f64| (outer * b[0] + sign * c[0]).powi(2) + (outer * b[1] + sign * c[1]).powi(2);
            share += 0.5 * square(-1.0) / square(1.0);
        }
        for c in 0..3 {
            sum[c] += colour[c] * share;
            white[c] += colour[c];
        }
    }
    [0, 1, 2].map(|c| (sum[c] / white[c]).max(0.0))
}

// A wall with a film under a white sky, by the matrix method: glass, shares and metals, in both integrators, at several angles.
#[test]
fn films_mirror_what_the_matrix_method_says() {
    let film = ThinFilm { nm: 380.0, ior: 1.33 };
    let keys = format!("film_nm = {}\nfilm_ior = {}", film.nm, film.ior);
    let index = |share: f64| (1.0 + share.sqrt()) / (1.0 - share.sqrt());
    // Oil on dark water, and soap, by the observer: not by three bands of the spectrum.
    near("oil", film_share(ThinFilm { nm: 450.0, ior: 1.5 }, index(0.15), 0.82), [0.184, 0.050, 0.087], 0.003);
    near("soap", film_share(film, 1.0, 1.0), [0.078, 0.013, 0.037], 0.004);
    let mut colourful = 0;
    for angle in [5.0_f64, 40.0, 70.0] {
        let cosine = angle.to_radians().cos();
        for path in [false, true] {
            for (material, bases) in [
                ("color = [0, 0, 0]".to_owned(), [1.0; 3]),
                ("color = [0, 0, 0]\nreflection = 0.2".to_owned(), [index(0.2); 3]),
                (
                    format!("material = \"metal\"\ncolor = [{}, {}, {}]", srgb(0.9), srgb(0.5), srgb(0.2)),
                    [0.9, 0.5, 0.2].map(index),
                ),
            ] {
                let got = mean_colour(&light(&wall(&format!("{material}\n{keys}"), angle, path)));
                let shares = bases.map(|base| film_share(film, base, cosine));
                let expected = [0, 1, 2].map(|c| shares[c][c]);
                near(&format!("{material} {angle} {path}"), got, expected, 0.004);
                colourful += usize::from((expected[0] - expected[2]).abs() > 0.02);
            }
        }
    }
    assert!(colourful > 6, "{colourful}");
}

//! Caustics of flat faces: against closed forms, against light that is traced forward in f64, and against paths that hit
//! a small light by chance.
use super::common::*;
use super::materials::film_share;
use crate::math::platonic::Solid;
use crate::math::vec3::{Vec3, add, dot, length, normalise, scale, sub};
use crate::scene::{Body, Scene, ThinFilm};

// A table at height 0 around the origin, white, seen straight from above, dark but for what is given. The picture shows a
// square of the table around (x, y).
fn table([x, y]: [f64; 2], side: f64, render: &str, rest: &str) -> Scene {
    let away = 60.0;
    let fov = 2.0 * (0.5 * side / away).atan().to_degrees();
    toml(&format!(
        "[output]\nsize = [64, 64]\n[render]\ncutoff = 0\nhighlight = 0\nambient = [0, 0, 0]\n{render}\n\
         [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
         [camera]\nposition = [{x}, {}, {away}]\nlook_at = [{x}, {y}, 0]\nfov_deg = {fov}\n\
         [[rectangle]]\nsize = [60, 60]\nmaterial = \"diffuse\"\ncolor = [1, 1, 1]\n{rest}\n",
        y - 1e-4
    ))
}
const WHITTED: &str = "samples = 2\ncaustics = true";
const PATH: &str = "integrator = \"path\"\nsamples = 4\ndepth = 0\ncaustics = true";

fn planes(body: &Body) -> (Vec<Vec3>, f64) {
    (body.normals(), body.solid.inradius() * body.radius)
}
fn is_in_face(normals: &[Vec3], reach: f64, face: usize, q: Vec3) -> bool {
    normals.iter().enumerate().all(|(i, &n)| i == face || dot(n, q) < reach)
}

// The irradiance at p of the light at l mirrored at a body's faces, over that of a light of color 1 straight above.
fn mirrored(body: &Body, p: Vec3, l: Vec3) -> f64 {
    let (normals, reach) = planes(body);
    let mut sum = 0.0;
    for (i, &n) in normals.iter().enumerate() {
        let height = |x: Vec3| dot(n, sub(x, body.centre)) - reach;
        if height(p) <= 0.0 || height(l) <= 0.0 {
            continue;
        }
        let image = sub(l, scale(n, 2.0 * height(l)));
        let to = sub(image, p);
        let q = sub(add(p, scale(to, height(p) / (height(p) + height(l)))), body.centre);
        if is_in_face(&normals, reach, i, q) {
            sum += normalise(to)[2].max(0.0);
        }
    }
    sum
}

// A facet throws the lamp's mirror image onto the table: its cosine times the reflectance, in the same pixels.
#[test]
fn a_mirror_facet_lights_like_the_mirrored_lamp() {
    let lamp = [0.4, -4.0, 5.0];
    let mut lit = 0;
    for (solid, angle) in [("cube", 25), ("cube", -10), ("dodecahedron", 25), ("octahedron", 60), ("icosahedron", 0)] {
        let rest = format!(
            "[[body]]\nsolid = \"{solid}\"\ncenter = [0.2, 1.9, 1.2]\nradius = 1\naxis = [0.3, 0.2, 1]\nangle_deg = {angle}\n\
             bar = 0\nreflection = 0.8\ntransparency = 0\n[[light]]\nposition = {lamp:?}\ncolor = [1, 1, 1]\n"
        );
        for render in [WHITTED, PATH] {
            let (middle, side) = ([0.0, -1.3], 4.0);
            let mut scene = table(middle, side, render, &rest);
            let on = light(&scene);
            scene.render.caustics = false;
            let off = light(&scene);
            let (mut sum, mut wanted) = (0.0, 0.0);
            for at in 0..64 * 64 {
                let place = |k: usize| (k as f64 + 0.5) / 64.0 - 0.5;
                let p = [middle[0] + side * place(at % 64), middle[1] - side * place(at / 64), 0.0];
                let expected = 0.8 * mirrored(&scene.world.bodies[0], p, lamp);
                let got = f64::from(on[3 * at] - off[3 * at]);
                lit += usize::from(expected > 0.0);
                let parts = (0..16).map(|k| {
                    let part = |k: usize| ((k % 4) as f64 - 1.5) / 4.0 * side / 64.0;
                    0.8 * mirrored(&scene.world.bodies[0], [p[0] + part(k), p[1] + part(k / 4), 0.0], lamp)
                });
                (sum, wanted) = (sum + got, wanted + parts.sum::<f64>() / 16.0);
                // Pixels on a patch's border are lit in part.
                let around = [[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]].map(|[x, y]| {
                    let step = side / 64.0;
                    mirrored(&scene.world.bodies[0], [p[0] + x * step, p[1] + y * step, 0.0], lamp) > 0.0
                });
                if around.iter().all(|&a| a == (expected > 0.0)) {
                    assert!((got - expected).abs() < 0.002, "{solid} {render} {p:?}: {got}, expected {expected}");
                }
            }
            assert!((sum - wanted).abs() < 0.02 * wanted + 0.1, "{solid} {render}: {sum} of {wanted}");
        }
    }
    assert!(lit > 2000, "{lit} pixels");
}

// Straight through a slab of glass the lamp seems nearer by t - t / n.
#[test]
fn a_slab_of_glass_brings_the_lamp_nearer() {
    let (ior, radius, height) = (1.5, 1.2, 5.0);
    let film = ThinFilm { nm: 380.0, ior: 1.33 };
    let bare = ((ior - 1.0) / (ior + 1.0_f64)).powi(2);
    for (render, nm, mirrors) in ["samples = 1\ncaustics = true", PATH]
        .into_iter()
        .flat_map(|render| [(render, 0.0, [bare; 3]), (render, film.nm, film_share(film, ior, 1.0))])
    {
        let rest = format!(
            "[[body]]\nsolid = \"cube\"\ncenter = [0, 0, 2]\nradius = {radius}\nbar = 0\nmaterial = \"glass\"\nior = {ior}\n\
             film_nm = {nm}\n[[light]]\nposition = [0, 0, {height}]\ncolor = [1, 1, 1]\n"
        );
        let mut scene = table([0.0, 0.0], 0.02, render, &rest);
        scene.camera.path = crate::scene::CameraPath::Fixed { position: [0.0, -8.0, 1.0], look_at: [0.0, 0.0, 0.0] };
        let thickness = 2.0 * Solid::Hexahedron.inradius() * radius;
        let nearer = height / (height - thickness + thickness / ior);
        let passes = mirrors.map(|share| ((1.0 - share) * nearer).powi(2));
        let (got, expected) = (mean(&light(&scene)), passes.iter().sum::<f64>() / 3.0);
        assert!((got / expected - 1.0).abs() < 1e-3, "{render} {nm}: {got}, expected {expected}");
    }
}

// The share that a dielectric reflects.
fn fresnel(cosine: f64, from: f64, to: f64) -> Option<(f64, f64)> {
    let sine2 = (from / to).powi(2) * (1.0 - cosine * cosine);
    (sine2 < 1.0).then(|| {
        let behind = (1.0 - sine2).sqrt();
        let across = (from * cosine - to * behind) / (from * cosine + to * behind);
        let along = (from * behind - to * cosine) / (from * behind + to * cosine);
        ((across * across + along * along) / 2.0, behind)
    })
}

// Light of the lamp that a ray brings to the table: the points, and the irradiance times the square of the way.
fn landed(body: &Body, l: Vec3, d: Vec3, ior: f64, mut add_light: impl FnMut(Vec3, f64)) {
    let (normals, reach) = planes(body);
    let mut land = |o: Vec3, d: Vec3, before: f64, share: f64| {
        let t = -o[2] / d[2];
        if d[2] < 0.0 && o[2] > 0.0 {
            add_light(add(o, scale(d, t)), share * (before + t).powi(2));
        }
    };
    let q = sub(l, body.centre);
    let crossing = |q: Vec3, d: Vec3, enters: bool| {
        let of = |&(i, n): &(usize, Vec3)| ((reach - dot(n, q)) / dot(n, d), i);
        let faces = normals.iter().copied().enumerate().filter(|(_, n)| (dot(*n, d) < 0.0) == enters);
        let times: Vec<(f64, usize)> = faces.map(|f| of(&f)).collect();
        match enters {
            true => times.into_iter().fold((f64::NEG_INFINITY, 0), |a, b| if b.0 > a.0 { b } else { a }),
            false => times.into_iter().fold((f64::INFINITY, 0), |a, b| if b.0 < a.0 { b } else { a }),
        }
    };
    let ((enter, first), (leave, _)) = (crossing(q, d, true), crossing(q, d, false));
    if enter >= leave || enter <= 0.0 {
        return land(l, d, 0.0, 1.0);
    }
    let n = normals[first];
    let at = add(q, scale(d, enter));
    let cosine = -dot(n, d);
    let Some((share, behind)) = fresnel(cosine, 1.0, ior) else { return };
    land(add(at, body.centre), add(d, scale(n, 2.0 * cosine)), enter, share);
    let mut inside = add(scale(d, 1.0 / ior), scale(n, cosine / ior - behind));
    let (mut at, mut before, mut left) = (at, enter, 1.0 - share);
    // By the second face, or mirrored there and by the third one.
    for _ in 0..2 {
        let (through, face) = crossing(at, inside, false);
        let n = normals[face];
        (at, before) = (add(at, scale(inside, through)), before + through);
        let cosine = dot(n, inside);
        let leaves = fresnel(cosine, ior, 1.0);
        if let Some((back, behind)) = leaves {
            let d = add(scale(inside, ior), scale(n, behind - ior * cosine));
            land(add(at, body.centre), d, before, left * (1.0 - back));
        }
        left *= leaves.map_or(1.0, |(back, _)| back);
        inside = sub(inside, scale(n, 2.0 * cosine));
    }
}

// Rays of the lamp, refracted and reflected in f64, bring to each part of the table what the renderer shows there: light
// beside the body, light mirrored by it, and light that has passed two of its faces, with a reflection within the body or without.
#[test]
fn glass_throws_the_light_that_traced_rays_bring() {
    for (solid, ior, middle) in [
        ("octahedron", 1.6, [-0.8, 0.9]),
        ("cube", 1.5, [-0.6, 1.0]),
        ("icosahedron", 1.45, [-0.8, 1.0]),
        ("tetrahedron", 1.5, [-0.8, 0.8]),
    ] {
        let (lamp, side) = ([1.4, -1.7, 4.2], 4.0);
        let rest = format!(
            "[[body]]\nsolid = \"{solid}\"\ncenter = [0.6, -0.6, 1.8]\nradius = 0.9\nbar = 0\nmaterial = \"glass\"\nior = {ior}\n\
             axis = [0.2, 0.5, 1]\nangle_deg = 20\n[[light]]\nposition = {lamp:?}\ncolor = [1, 1, 1]\n"
        );
        let scene = table(middle, side, WHITTED, &rest);
        let body = &scene.world.bodies[0];
        // Rays through the cells of a fine grid over the table: each has the solid angle of its cell, and where the body
        // takes them, they land elsewhere. The grid is wider than the picture.
        const CELLS: usize = 16;
        let (wide, fine) = (14.0, 1400);
        let step = wide / fine as f64;
        let mut expected = vec![0.0; CELLS * CELLS];
        for k in 0..fine * fine {
            let place = |k: usize| (k as f64 + 0.5) / fine as f64 - 0.5;
            let aim = [middle[0] + wide * place(k % fine), middle[1] + wide * place(k / fine), 0.0];
            let way = sub(aim, lamp);
            let solid_angle = step * step * lamp[2] / length(way).powi(3);
            landed(body, lamp, normalise(way), ior, |p, light| {
                let x = ((p[0] - middle[0]) / side + 0.5) * CELLS as f64;
                let y = (0.5 - (p[1] - middle[1]) / side) * CELLS as f64;
                if (0.0..CELLS as f64).contains(&x) && (0.0..CELLS as f64).contains(&y) {
                    expected[y as usize * CELLS + x as usize] += light * solid_angle;
                }
            });
        }
        let cell = (side / CELLS as f64).powi(2);
        expected.iter_mut().for_each(|e| *e /= cell);
        // The body hides a part of the table from the camera.
        let pixels = light(&scene);
        let mut straight = scene.clone();
        straight.render.caustics = false;
        let straight = light(&straight);
        let mut off = Vec::new();
        for (at, &wanted) in expected.iter().enumerate() {
            let (x, y) = (at % CELLS, at / CELLS);
            let p = [
                middle[0] + side * ((x as f64 + 0.5) / CELLS as f64 - 0.5),
                middle[1] - side * ((y as f64 + 0.5) / CELLS as f64 - 0.5),
            ];
            if (p[0] - 0.6).hypot(p[1] + 0.6) < 1.15 {
                continue;
            }
            let seen = |pixels: &[f32]| {
                let pixel = |i: usize| f64::from(pixels[3 * ((4 * y + i / 4) * 64 + 4 * x + i % 4)]);
                (0..16).map(pixel).sum::<f64>() / 16.0
            };
            off.push((seen(&pixels), wanted, seen(&straight)));
        }
        let total = |of: fn(&(f64, f64, f64)) -> f64| off.iter().map(of).sum::<f64>() / off.len() as f64;
        let (got, wanted) = (total(|o| o.0), total(|o| o.1));
        let rmse = total(|o| (o.0 - o.1).powi(2)).sqrt();
        let without = total(|o| (o.2 - o.1).powi(2)).sqrt();
        assert!((got / wanted - 1.0).abs() < 0.005, "{solid}: {got} of {wanted}, {rmse}");
        assert!(rmse < 0.01 && rmse < 0.1 * without, "{solid}: rmse {rmse}, of straight light {without}");
    }
}

// A ball of light far away, found by paths that hit it by chance, throws what the same light gives as a disc whose paths
// through the glass are found.
#[test]
fn chance_finds_the_same_caustic() {
    let (at, radius): (Vec3, f64) = ([40.0, -50.0, 77.0], 7.0);
    let glass = "[[body]]\nsolid = \"octahedron\"\ncenter = [0.6, -0.6, 1.8]\nradius = 0.9\nbar = 0\nmaterial = \"glass\"\nior = 1.5\n";
    let shared = "integrator = \"path\"\ndepth = 4\n";
    let ball = format!(
        "{glass}[[sphere]]\ncenter = {at:?}\nradius = {radius}\nmaterial = \"light\"\ncolor = [1, 1, 1]\nstrength = {}\n",
        dot(at, at) / (radius * radius)
    );
    let lamp = format!("{glass}[[light]]\nposition = {at:?}\ncolor = [1, 1, 1]\nradius = {radius}\n");
    let (middle, side) = ([-0.33, 0.57], 0.9);
    let dark =
        "[[rectangle]]\nsize = [61, 61]\ncenter = [0, 0, 0.001]\nmaterial = \"diffuse\"\ncolor = [0.4, 0.4, 0.4]\n";
    let seen = |samples: u32, more: &str, rest: &str| {
        let mut scene = table(middle, side, &format!("{shared}samples = {samples}\n{more}"), &format!("{dark}{rest}"));
        (scene.render.width, scene.render.height) = (16, 16);
        mean(&light(&scene))
    };
    let (chance, found) = (seen(16384, "", &ball), seen(64, "caustics = true", &lamp));
    let none = seen(64, "", &lamp);
    assert!((found / chance - 1.0).abs() < 0.02 && none < 0.6 * chance, "{found}, by chance {chance}, without {none}");
}

// The sun's light through glass and from mirrors onto a diffuse and onto a rough surface, by paths: found on purpose, and by chance,
// since its disc is large here. No path counts it twice. Through balls it still shines by chance.
#[test]
fn paths_find_the_suns_caustics() {
    let glass = "[[body]]\nsolid = \"octahedron\"\ncenter = [0.6, -0.6, 1.8]\nradius = 0.9\nbar = 0\nmaterial = \"glass\"\nior = 1.5\n";
    let mirror =
        "[[body]]\nsolid = \"cube\"\ncenter = [-2, 2, 1]\nradius = 1.2\nbar = 0\nreflection = 0.9\ntransparency = 0\n";
    let ball = "[[sphere]]\ncenter = [0.6, -0.6, 1.8]\nradius = 0.7\nmaterial = \"glass\"\nior = 1.5\n";
    let black = "[[body]]\nsolid = \"cube\"\ncenter = [0, 0, -9]\nradius = 1\nreflection = 0\ntransparency = 0\n";
    let grey = "material = \"diffuse\"\ncolor = [0.4, 0.4, 0.4]\n";
    let rough = "material = \"metal\"\nroughness = 0.7\ncolor = [0.9, 0.9, 0.9]\n";
    for (what, things, middle, is_caustic) in [
        ("glass", glass.to_owned(), [-0.33, 0.57], true),
        ("a mirror", mirror.to_owned(), [-0.8, 2.3], true),
        ("a ball", format!("{ball}{black}"), [-0.33, 0.57], false),
    ] {
        for surface in [grey, rough] {
            let seen = |samples: u32, caustics: bool| {
                let mut scene = table(
                    middle,
                    0.9,
                    &format!("integrator = \"path\"\ndepth = 4\nsamples = {samples}\ncaustics = {caustics}"),
                    &format!("[[rectangle]]\nsize = [61, 61]\ncenter = [0, 0, 0.001]\n{surface}{things}"),
                );
                scene.world.sky = crate::scene::Sky {
                    image: Some(crate::scene::SkySource::Sun),
                    sun_elevation_deg: 50.0,
                    sun_size_deg: 20.0,
                    rotation_deg: -52.0,
                    ..crate::scene::Sky::default()
                };
                (scene.render.width, scene.render.height) = (16, 16);
                light(&scene)
            };
            let (reference, found) = (seen(4096, false), seen(256, true));
            let (chance, got) = (mean(&reference), mean(&found));
            assert!((got / chance - 1.0).abs() < 0.02, "{what} {surface}: {got}, by chance {chance}");
            let noise = |pixels: &[f32]| {
                let off = pixels.iter().zip(&reference).map(|(a, b)| f64::from(a - b).powi(2));
                (off.sum::<f64>() / reference.len() as f64).sqrt()
            };
            let (by_chance, on_purpose) = (noise(&seen(256, false)), noise(&found));
            assert!(!is_caustic || on_purpose < 0.5 * by_chance, "{what} {surface}: noise {on_purpose}, {by_chance}");
        }
    }
}

// A ball of light is mirrored as a point far away is, if lamps are asked.
#[test]
fn facets_mirror_emitters_that_are_sampled() {
    let lamp = [0.4, -4.0, 5.0];
    let rest = format!(
        "[[body]]\nsolid = \"cube\"\ncenter = [0.2, 1.9, 1.2]\nradius = 1\nbar = 0\nreflection = 0.8\ntransparency = 0\n\
         [[sphere]]\ncenter = {lamp:?}\nradius = 0.05\nmaterial = \"light\"\ncolor = [1, 1, 1]\nstrength = 4000\n"
    );
    let p = [0.2, 0.2, 0.0];
    let mut scene = table([p[0], p[1]], 0.02, "samples = 2\ncaustics = true\nlamp_samples = \"all\"", &rest);
    scene.camera.path = crate::scene::CameraPath::Fixed { position: [0.2, -6.0, 1.0], look_at: p };
    let on = mean(&light(&scene));
    scene.render.caustics = false;
    let off = mean(&light(&scene));
    let body = &scene.world.bodies[0];
    let (_, reach) = planes(body);
    // The front face mirrors the ball to behind it.
    let image = [lamp[0], 2.0 * (body.centre[1] - reach) - lamp[1], lamp[2]];
    let square = dot(sub(image, p), sub(image, p));
    let expected = 0.8 * mirrored(body, p, lamp) * 4000.0 * 0.05 * 0.05 / square;
    assert!(expected > 0.05 && ((on - off) / expected - 1.0).abs() < 0.01, "{} {expected}", on - off);
}

// Bars stop the light of a facet, and so do bodies in the way.
#[test]
fn bars_and_bodies_stop_caustics() {
    let lamp = [0.2, -4.0, 4.0];
    let seen = |bar: f64, more: &str| {
        let rest = format!(
            "[[body]]\nsolid = \"cube\"\ncenter = [0.2, 1.9, 1.2]\nradius = 1\nbar = {bar}\nreflection = 1\ntransparency = 0\n\
             bar_reflection = 0\n[[light]]\nposition = {lamp:?}\ncolor = [1, 1, 1]\n{more}"
        );
        let mut scene = table([0.2, -1.0], 4.0, WHITTED, &rest);
        let on = mean(&light(&scene));
        scene.render.caustics = false;
        on - mean(&light(&scene))
    };
    let (whole, barred) = (seen(0.0, ""), seen(0.1, ""));
    // Bars take a tenth of the circumradius from each side of a face, which is 2 / sqrt(3) wide.
    let left = (1.0 - 0.1 * 3f64.sqrt()).powi(2);
    assert!((barred / whole / left - 1.0).abs() < 0.05, "{barred} of {whole}: {left}");
    let board = "[[rectangle]]\nsize = [3, 3]\ncenter = [0.2, 0.6, 1.5]\nfacing = [0, 1, 0]\nmaterial = \"diffuse\"\n";
    assert!(seen(0.0, board).abs() < 1e-6, "{}", seen(0.0, board));
}

#[test]
fn ambient_occlusion_takes_no_caustics() {
    let text = "[render]\nintegrator = \"ao\"\ncaustics = true\n[[sphere]]\n";
    let error = crate::scene::parse(text, "t.toml", Default::default()).err().unwrap().to_string();
    assert!(error.contains("`caustics` changes nothing"), "{error}");
}

//! Textures and reliefs of bodies: against a body of that color, against leaning mirrors, and where a picture lies on a face.
use super::common::*;
use crate::scene::Scene;

// A cube four units wide, whose face towards the camera fills the picture, under a sky whose light grows from below to above.
fn cube(keys: &str) -> Scene {
    toml(&format!(
        "[output]\nsize = [16, 16]\n[render]\nsamples = 2\ncutoff = 0\nambient = [0.3, 0.3, 0.3]\nhighlight = 0\n\
         [sky]\nzenith = [1, 1, 1]\nhorizon = [0, 0, 0]\nfrom_below = true\n\
         [camera]\nposition = [0, -9, 0]\nlook_at = [0, 0, 0]\nfov_deg = 12\n[[light]]\nposition = [3, -8, 4]\n\
         [[body]]\nsolid = \"cube\"\nradius = 3.4641016\nbar = 0\n{keys}\n"
    ))
}
fn by_paths(mut scene: Scene) -> Scene {
    scene.render.set_paths(64);
    scene
}
fn file(pixels: &image::RgbImage) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("picture.png");
    pixels.save(&path).unwrap();
    let path = path.display().to_string();
    (dir, path)
}

// A texture of one color is that color: of what is scattered, of what passes, of shadows, of a metal's reflections.
#[test]
fn a_texture_of_one_color_dyes_as_the_color_does() {
    let (_dir, path) = file(&image::RgbImage::from_pixel(3, 2, image::Rgb([200, 120, 40])));
    let colour = [200, 120, 40].map(|c| f64::from(c) / 255.0);
    let plain = format!("color = {colour:?}");
    let dyed = format!("texture = '{path}'\ncolor = [1, 1, 1]");
    for keys in ["", "transparency = 0.6", "reflection = 0.2\ntransparency = 0.5\nior = 1.3", "material = \"metal\""] {
        let of = |colours: &str| {
            let mut scene = cube(&format!(
                "{colours}\n{keys}\n[floor]\ncorners = [[-9, -9, -3], [-9, 9, -3], [9, 9, -3], [9, -9, -3]]"
            ));
            // The floor below shows the shadow.
            scene.camera.fov_deg = 50.0;
            scene
        };
        for (how, [a, b]) in
            [("Whitted", [of(&dyed), of(&plain)]), ("paths", [by_paths(of(&dyed)), by_paths(of(&plain))])]
        {
            let (a, b) = (light(&a), light(&b));
            let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off < 2e-4, "{how} {keys}: {off}");
        }
    }
}

fn rgba_file(pixels: &image::RgbaImage) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("picture.png");
    pixels.save(&path).unwrap();
    let path = path.display().to_string();
    (dir, path)
}

fn assert_alike(what: &str, a: &Scene, b: &Scene) {
    let (a, b) = (light(a), light(b));
    let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < 2e-4, "{what}: {off}");
}

// Opaque paint is a dull surface of its color, whatever it lies on, and clear paint is none: in pictures and in shadows.
#[test]
fn paint_covers_by_its_alpha() {
    let floor = "\n[floor]\ncorners = [[-9, -9, -3], [-9, 9, -3], [9, 9, -3], [9, -9, -3]]";
    let colour = [200, 120, 40].map(|c| f64::from(c) / 255.0);
    let wide = |mut scene: Scene| {
        scene.camera.fov_deg = 50.0;
        scene
    };
    let body = |keys: &str| wide(cube(&format!("{keys}{floor}")));
    let panel = |keys: &str| {
        let far = "center = [0, 90, 0]\n[[rectangle]]\nsize = [4, 3]\nfacing = [0, -1, 0]\n";
        wide(cube(&format!("{far}{keys}{floor}")))
    };
    for alpha in [0, 255] {
        let (_dir, path) = rgba_file(&image::RgbaImage::from_pixel(3, 2, image::Rgba([200, 120, 40, alpha])));
        let paint = format!("texture = '{path}'\n");
        for keys in [
            "reflection = 0.2\ntransparency = 0.6",
            "material = \"metal\"",
            "material = \"glass\"",
            "reflection = 0.5\nroughness = 0.4",
        ] {
            for (what, of) in [("body", &body as &dyn Fn(&str) -> Scene), ("panel", &panel)] {
                let bare = if alpha == 0 { keys.to_owned() } else { format!("color = {colour:?}") };
                let pair = [format!("{paint}{keys}"), bare].map(|keys| of(&keys));
                assert_alike(&format!("{what} {keys} {alpha}"), &pair[0], &pair[1]);
                let [a, b] = pair.map(by_paths);
                assert_alike(&format!("{what} {keys} {alpha}, paths"), &a, &b);
            }
        }
    }
}

// A rectangle shows its picture upright, and mirrored from behind.
#[test]
fn a_rectangle_shows_its_picture() {
    let clear = image::Rgba([255, 255, 255, 0]);
    let corner = |x, y| if x < 32 && y < 32 { image::Rgba([255, 0, 0, 255]) } else { clear };
    let (_dir, path) = rgba_file(&image::RgbaImage::from_fn(64, 64, corner));
    for (facing, column) in [("[0, -1, 0]", 3), ("[0, 1, 0]", 12)] {
        let text = format!(
            "center = [0, 90, 0]\n[[rectangle]]\nsize = [1.8, 1.8]\nfacing = {facing}\ntransparency = 1\ntexture = '{path}'\n"
        );
        let seen = light(&cube(&text));
        let red = |x: usize, y: usize| seen[(y * 16 + x) * 3] - seen[(y * 16 + x) * 3 + 2];
        assert!(red(column, 3) > 0.1, "{facing}: {}", red(column, 3));
        for (x, y) in [(15 - column, 3), (3, 12), (12, 12)] {
            assert!(red(x, y).abs() < 1e-3, "{facing}: {x} {y} {}", red(x, y));
        }
    }
    let refused = "[[rectangle]]\nmaterial = \"light\"\ntexture = \"@wood\"\n";
    let faults = crate::scene::toml::parse(refused, crate::scene::ParseOptions::default()).unwrap_err();
    assert!(faults[0].what.to_string().contains("a light has no picture"), "{}", faults[0].what);
}

// A normal map that leans everywhere by the same angle makes the mirror of a body that is turned by it.
#[test]
fn a_leaning_normal_turns_the_mirror() {
    // Green points up in the picture. Pictures are turned and mirrored from face to face, so one of four directions is that
    // of the sky's gradient.
    let seen = |normal: [u8; 3]| {
        let (_dir, path) = file(&image::RgbImage::from_pixel(1, 1, image::Rgb(normal)));
        mean(&light(&cube(&format!("material = \"metal\"\n[body.relief]\nnormal_map = '{path}'"))))
    };
    let flat = mean(&light(&cube("material = \"metal\"")));
    assert!((seen([128, 128, 255]) - flat).abs() < 0.004);
    // sin 10 degrees in 127.5ths around the middle.
    let (side, up) = (22.14, 125.56);
    let around = |x: f64, y: f64| [127.5 + side * x, 127.5 + side * y, 127.5 + up].map(|c| c.round() as u8);
    let mut off: Vec<f64> =
        [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)].map(|(x, y)| seen(around(x, y)) - flat).to_vec();
    off.sort_by(f64::total_cmp);
    // A mirror that leans by 10 degrees turns the ray by 20: the sky's light changes by its sine, to the sides by nothing.
    let expected = flat * 20f64.to_radians().sin();
    assert!((off[3] - expected).abs() < 0.006 && (off[0] + expected).abs() < 0.006, "{off:?} {expected}");
    assert!(off[1].abs() < 0.004 && off[2].abs() < 0.004, "{off:?}");
}

// The picture is as wide as the circumscribed sphere, and its middle is that of the face.
#[test]
fn a_picture_lies_on_the_middle_of_a_face() {
    // A dark ring on white: between 0.2 and 0.25 of the width from the middle.
    let pixels = image::RgbImage::from_fn(512, 512, |x, y| {
        let r = (f64::from(x) + 0.5 - 256.0).hypot(f64::from(y) + 0.5 - 256.0) / 512.0;
        image::Rgb([if (0.2..0.25).contains(&r) { 0 } else { 255 }; 3])
    });
    let (_dir, path) = file(&pixels);
    let mut scene = cube(&format!("texture = '{path}'"));
    (scene.render.width, scene.render.height, scene.camera.fov_deg) = (65, 65, 32.0);
    let image = light(&scene);
    // Seven units before the face, 65 pixels see this many units.
    let seen = 2.0 * 7.0 * 16f64.to_radians().tan();
    let dark: Vec<f64> = (33..65)
        .filter(|&x| image[3 * (65 * 32 + x)] < 0.5 * image[3 * (65 * 32 + 32)])
        .map(|x| (x as f64 - 32.0) / 65.0 * seen / (2.0 * 3.464_101_6))
        .collect();
    assert!(!dark.is_empty() && dark.iter().all(|r| (0.194..0.256).contains(r)), "{dark:?}");
    assert!(dark[0] < 0.21 && dark[dark.len() - 1] > 0.24, "{dark:?}");
}

#[test]
fn reliefs_of_bodies_neither_drift_nor_glitter() {
    for (keys, expected) in [
        ("[body.relief]\nbump = \"@brushed\"\ndepth = 0.01\ndrift = [1, 0]", "the relief of a body does not drift"),
        ("[body.relief]\nbump = \"@brushed\"\ndepth = 0.01\nglitter = 0.9", "the relief of a body does not glitter"),
        ("[body.relief]\nroughness_map = \"@dust\"", "a share of the surface's `roughness`, which is 0"),
    ] {
        let text = format!("[[body]]\nsolid = \"cube\"\n{keys}\n");
        let error = crate::scene::parse(&text, "t.toml", crate::scene::ParseOptions::default()).err().unwrap();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

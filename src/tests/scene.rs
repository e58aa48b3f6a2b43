//! Scenes: both grammars, their round trip, and the messages about faulty ones.

mod particles;

use super::common::{inputs, own};
use crate::scene::{
    self, Body, Bumps, Camera, CameraKey, CameraPath, Coat, CylindricalPath, Denoise, Exposure, FilmSettings, Filter,
    Floor, Grain, Grammar, Integrator, LampAnimation, LampPattern, LampSamples, Lamps, Light, Look, MapSource,
    Material, MaterialKind, MeasuredMetal, Mesh, Motion, Orbit, Output, ParseOptions, Pattern, Rectangle, Relief,
    RenderSettings, Rotation, Sampling, Scene, Sky, SkySource, Solid, Sphere, TextureSource, ThinFilm, Tone, World,
    defaults, tokens,
};
use particles::particles;
use proptest::prelude::*;

fn read(text: &str) -> Result<Scene, String> {
    scene::parse(text, "scene", ParseOptions::default()).map(|p| p.scene).map_err(|e| e.to_string())
}

fn finite() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![-100.0..100.0, Just(0.0), Just(1.0), (-1e6..1e6), (-1e-6..1e-6)]
}
fn triple(of: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = [f64; 3]> {
    [of.clone(), of.clone(), of]
}
fn fraction() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![Just(0.0), Just(1.0), 0.0..1.0]
}
fn path() -> impl Strategy<Value = CylindricalPath> {
    ([finite(), finite(), finite(), finite(), finite()], [finite(), finite(), finite(), finite(), finite()]).prop_map(
        |(a, b)| CylindricalPath {
            r0: a[0],
            z0: a[1],
            phi0: scene::snap_angle(a[2]),
            ar: a[3],
            az: a[4],
            wr: b[0],
            wz: b[1],
            wphi: b[2],
            pr: scene::snap_angle(b[3]),
            pz: scene::snap_angle(b[4]),
        },
    )
}
fn body(plain: bool) -> impl Strategy<Value = Body> {
    let parts = (
        triple(finite()),
        triple(fraction()),
        0.01..50.0,
        fraction(),
        fraction(),
        0u32..50,
        prop::sample::select(&Solid::ALL[..]),
    );
    (parts, ((triple(0.0..4.0f64), 0.0..1000.0), fraction(), (triple(fraction()), fraction()), 0.5..3.0)).prop_map(
        move |(
            (centre, colour, radius, reflection, transparency, lamps, solid),
            ((lamp_colour, lamp_intensity), bar, (bar_colour, bar_reflection), ior),
        )| Body {
            solid,
            centre,
            material: Material {
                kind: MaterialKind::Plain { reflection, transparency, ior: if plain { 1.0 } else { ior } },
                ..Material::plain(colour, reflection, transparency)
            },
            radius,
            lamps: if !plain && lamps % 2 == 1 { Lamps::Strip } else { Lamps::Each(lamps) },
            lamp_colour: if plain { Body::LAMP_COLOUR } else { lamp_colour },
            bar: if plain { Body::BAR } else { bar },
            bar_colour: if plain { Body::BAR_COLOUR } else { bar_colour },
            lamp_intensity: if plain { 1.0 } else { lamp_intensity },
            bar_reflection: if plain { Body::BAR_REFLECTION } else { bar_reflection },
            ..Body::default()
        },
    )
}
// Orientation and motion of bodies.
fn motion() -> impl Strategy<Value = (Rotation, Motion, LampPattern, Option<f64>)> {
    let turn = (triple(0.1..2.0f64), -400.0..400.0f64).prop_map(|(axis, angle_deg)| Rotation { axis, angle_deg });
    let go = (-3.0..3.0f64, triple(finite()), prop::option::of(path()));
    let go = go.prop_map(|(turns, drift, path)| Motion { turns, drift, path });
    let moving = prop::sample::select(vec![LampAnimation::Pulse, LampAnimation::Hue, LampAnimation::Chase]);
    let moving = (moving, 0.1..9.0f64, -2.0..2.0f64);
    let moving = moving.prop_map(|(animation, cycles, phase)| LampPattern { animation, cycles, phase });
    let lamps = prop_oneof![Just(LampPattern::default()), moving];
    (turn, go, lamps, prop::option::of(fraction()))
}
fn material() -> impl Strategy<Value = Material> {
    let kind = prop_oneof![
        (fraction(), fraction(), 0.5..3.0).prop_map(|(reflection, transparency, ior)| MaterialKind::Plain {
            reflection,
            transparency,
            ior
        }),
        fraction().prop_map(|fuzz| MaterialKind::Metal { fuzz, measured: None }),
        prop::sample::select(MeasuredMetal::ALL.map(|(metal, _)| metal).to_vec())
            .prop_map(|metal| MaterialKind::Metal { fuzz: 0.0, measured: Some(metal) }),
        (0.5..3.0, prop::option::of(5.0..200.0), prop::option::of(0.01..9.0))
            .prop_map(|(ior, abbe, tint_distance)| MaterialKind::Glass { ior, abbe, tint_distance }),
        (0.0..50.0).prop_map(|strength| MaterialKind::Light { strength }),
    ];
    let film = (prop_oneof![Just(0.0), 1.0..2000.0], prop_oneof![Just(1.33), 1.0..4.0]);
    (triple(fraction()), kind, prop::option::of(0.0..3.0), fraction(), film, fraction()).prop_map(
        |(colour, kind, highlight, rough, (film_nm, film_ior), coat)| {
            let mirrors = match kind {
                MaterialKind::Plain { .. } => true,
                MaterialKind::Metal { fuzz, .. } => fuzz == 0.0,
                _ => false,
            };
            let colour =
                if let MaterialKind::Metal { measured: Some(metal), .. } = kind { metal.colour() } else { colour };
            let film = ThinFilm { nm: film_nm, ior: film_ior };
            let film = if matches!(kind, MaterialKind::Light { .. }) { ThinFilm::default() } else { film };
            let opaque = matches!(kind, MaterialKind::Plain { transparency: 0.0, .. } | MaterialKind::Metal { .. });
            let opaque = opaque && !film.is_there();
            let coat = if opaque { Coat { share: coat, ior: 1.0 + 3.0 * coat } } else { Coat::default() };
            let grain = match kind {
                MaterialKind::Metal { .. } => Grain { anisotropy: rough, along: [1.0, rough, -2.0] },
                _ => Grain::default(),
            };
            Material { colour, kind, highlight, roughness: if mirrors { rough } else { 0.0 }, film, coat, grain }
        },
    )
}
fn sphere() -> impl Strategy<Value = Sphere> {
    (triple(finite()), 0.01..50.0, material()).prop_map(|(centre, radius, material)| Sphere {
        centre,
        radius,
        material,
        on: None,
    })
}
fn rectangle() -> impl Strategy<Value = Rectangle> {
    (triple(finite()), [0.01..50.0, 0.01..50.0], triple(0.1..1.0f64), -400.0..400.0, material()).prop_map(
        |(centre, size, facing, angle_deg, material)| Rectangle {
            centre,
            size,
            facing,
            angle_deg,
            material,
            ..Rectangle::default()
        },
    )
}
fn mesh() -> impl Strategy<Value = Mesh> {
    ("[a-z]{1,8}\\.(obj|ply)", material(), 0.01..9.0, triple(finite()), any::<bool>()).prop_map(
        |(path, material, scale, offset, z_up)| Mesh {
            path: path.into(),
            material,
            scale,
            offset,
            z_up,
            on: None,
            smooth: scale > 1.0,
        },
    )
}
fn film() -> impl Strategy<Value = FilmSettings> {
    let tone = prop_oneof![
        prop::sample::select(Tone::ALL.to_vec()),
        (0.0..3.0).prop_map(|gamma| Tone::Clip { gamma }),
        (0.25..4.0, 0.0..4.0).prop_map(|(contrast, saturation)| Tone::Agx { contrast, saturation })
    ];
    let exposure = prop_oneof![Just(Exposure::Auto), (-20.0..20.0).prop_map(Exposure::Stops)];
    (exposure, 2000.0..25000.0, fraction(), fraction(), fraction(), fraction(), tone).prop_map(
        |(exposure, white_balance, bloom, bloom_radius, vignette, grain, tone)| {
            FilmSettings {
                filter: Filter::ALL[(vignette * 2.99) as usize].0,
                exposure,
                white_balance,
                bloom,
                bloom_radius,
                vignette,
                grain,
                dither: (grain > 0.5).then_some(bloom > 0.5),
                tone,
                look: None,
                denoise: if bloom > 0.5 { Denoise::Guided } else { Denoise::None },
                denoise_frames: (grain * 8.0) as u32,
                glare: grain,
                glare_length: vignette,
                glare_rays: (bloom * 32.0) as u32,
                streak: vignette,
                streak_length: 4.0 * grain,
            }
            .canonical()
        },
    )
}
// The parts of a scene that only TOML can express.
fn with_world(scene: impl Strategy<Value = Scene>) -> impl Strategy<Value = Scene> {
    let sampling = prop_oneof![
        Just(None),
        (1u32..5000).prop_map(|n| Some(Sampling::PerPixel(n))),
        (1u32..5000, 0.1..9.0).prop_map(|(max, noise)| Some(Sampling::UntilNoise { max, noise })),
        (16u32..50, 50u32..5000, 0.1..9.0).prop_map(|(min, max, noise)| Some(Sampling::Adaptive { min, max, noise })),
    ];
    let key = (triple(finite()), triple(finite()), 1.0..179.0);
    let keys = (prop::collection::vec(key, 2..6), any::<bool>());
    let path = prop_oneof![
        Just(None),
        (triple(finite()), triple(finite()))
            .prop_map(|(position, look_at)| Some(CameraPath::Fixed { position, look_at })),
        (triple(finite()), 0.1..50.0, -90.0..90.0f64, -400.0..400.0f64, -3.0..3.0f64, fraction()).prop_map(
            |(centre, distance, elevation_deg, azimuth_deg, turns, ease)| {
                Some(CameraPath::Orbit(Orbit { centre, distance, elevation_deg, azimuth_deg, turns, ease }))
            }
        ),
        keys.prop_map(|(keys, closed)| {
            let n = keys.len() as f64;
            let keys = keys.into_iter().enumerate().map(|(i, (position, look_at, fov_deg))| CameraKey {
                time: i as f64 / n,
                position,
                look_at,
                fov_deg,
            });
            Some(CameraPath::Keys { keys: keys.collect(), closed })
        }),
    ];
    let camera = (path, fraction(), 0.1..50.0, fraction(), motion());
    let things =
        (prop::collection::vec(sphere(), 0..4), prop::collection::vec(mesh(), 0..3), prop::option::of(particles()));
    let things = (things, prop::collection::vec(rectangle(), 0..3));
    let bits = prop::option::of(prop::sample::select(vec![8u32, 16, 32]));
    (scene, sky(), any::<bool>(), sampling, film(), camera, things, bits).prop_map(
        |(
            mut scene,
            (from_below, image, rotation_deg, intensity, fade),
            shadows,
            sampling,
            film,
            (path, lens, focus, shutter, (rotation, motion, pattern, inside)),
            things,
            bits,
        )| {
            let sky = &mut scene.world.sky;
            (sky.from_below, sky.image, sky.rotation_deg, sky.intensity) = (from_below, image, rotation_deg, intensity);
            if let Some(floor) = &mut scene.world.floor {
                floor.fade = fade;
                (floor.material, floor.relief) = floor_surface(fade * 20.0);
            }
            (scene.render.shadows, scene.film) = (shadows, film);
            if let Some(path) = path {
                scene.camera.path = path;
            }
            (scene.camera.lens, scene.camera.focus, scene.output.bits) = (lens, focus, bits);
            scene.camera.shutter = shutter;
            (scene.camera.aperture_blades, scene.camera.aperture_ratio) = (3 + (shutter * 13.0) as u32, 0.1 + lens);
            scene.camera.aperture_rotation_deg = focus;
            let body = &mut scene.world.bodies[0];
            (body.rotation, body.motion, body.lamp_pattern) = (rotation, motion, pattern);
            body.reflection_inside = inside;
            body.lamp_sides =
                if inside.is_some() { crate::scene::LampSides::Inside } else { crate::scene::LampSides::Both };
            ((scene.world.spheres, scene.world.meshes, scene.world.particles), scene.world.rectangles) = things;
            if let Some(sampling) = sampling {
                (scene.render.integrator, scene.render.sampling) = (Integrator::Path, sampling);
                if sampling.is_adaptive() {
                    scene.camera.shutter = 0.0;
                }
            } else if let Some(inside) = inside {
                let few = inside < 0.5;
                scene.render.lamp_samples = if few { LampSamples::Drawn(3) } else { LampSamples::All };
            }
            scene
        },
    )
}
fn sky() -> impl Strategy<Value = (bool, Option<SkySource>, f64, f64, f64)> {
    let image = prop_oneof![
        Just(None),
        prop::sample::select(SkySource::BUILTIN.map(|(s, _)| Some(s)).to_vec()),
        "[a-z]{1,8}/[a-z]{1,8}\\.hdr".prop_map(|p| Some(SkySource::File(p.into()))),
    ];
    (any::<bool>(), image, -720.0..720.0f64, 0.0..9.0f64, prop_oneof![Just(0.0), 0.1..100.0f64])
}
fn texture() -> impl Strategy<Value = Option<TextureSource>> {
    prop_oneof![
        Just(None),
        Just(Some(TextureSource::Checker)),
        Just(Some(TextureSource::Wood)),
        "[a-z]{1,8}/[a-z]{1,8}\\.data".prop_map(|p| Some(TextureSource::File(p.into()))),
    ]
}
// The material of a floor, by a number from 0 on.
fn floor_surface(number: f64) -> (Material, Option<Relief>) {
    let share = number.fract();
    let metal = |measured: Option<MeasuredMetal>| Material {
        colour: measured.map_or([share; 3], MeasuredMetal::colour),
        kind: MaterialKind::Metal { fuzz: 0.0, measured },
        roughness: share,
        highlight: None,
        film: ThinFilm { nm: 500.0 * share, ..ThinFilm::default() },
        // A floor that fades within its bounds has none.
        coat: Coat::default(),
        grain: Grain { anisotropy: share, ..Grain::default() },
    };
    let plain = Material::plain([share; 3], share, 1.0 - share);
    let glass = MaterialKind::Glass { ior: 1.0 + share, abbe: None, tint_distance: None };
    let materials = [
        Material { roughness: 0.25, highlight: Some(share), ..plain },
        Material { highlight: Some(0.0), ..Material::plain([share; 3], 0.0, 0.0) },
        metal(None),
        metal(Some(MeasuredMetal::ALL[(share * 7.99) as usize].0)),
        Material { kind: glass, ..plain },
    ];
    let maps = [MapSource::Ripples, MapSource::Tiles, MapSource::Puddles, MapSource::File("bumps.png".into())];
    let map = maps[(share * 3.99) as usize].clone();
    let material = materials[number as usize % materials.len()];
    let bumps = match number as usize % 4 {
        0 => return (material, None),
        1 => Bumps::Flat,
        2 => Bumps::Heights { map: map.clone(), depth: 0.1 + share },
        _ => Bumps::Normals("normals.png".into()),
    };
    let roughness_map = (material.roughness > 0.0).then_some(map);
    let drift = if roughness_map.is_some() { [0.0; 2] } else { [share, -2.0] };
    (
        material,
        Some(Relief {
            bumps,
            roughness_map,
            tiles: 1 + (share * 9.0) as u32,
            drift,
            offset: [0.0, share],
            // Only floors with parallel sides are.
            displaced: false,
            glitter: share,
        }),
    )
}
fn any_scene(plain: bool) -> impl Strategy<Value = Scene> {
    let bodies = if plain { 3..=3 } else { 1..=6usize };
    let lights = if plain { 0..=4 } else { 0..=7usize };
    let corner = || triple(-50.0..50.0f64);
    let floor = ([corner(), corner(), corner(), corner()], texture(), triple(fraction()), fraction()).prop_filter_map(
        "the floor has area",
        |(corners, texture, tint, reflection)| {
            let corners = scene::perimeter_order(corners);
            // Reading the written order must give that order again.
            (scene::has_area(&corners) && scene::perimeter_order(corners) == corners).then_some(Floor {
                corners,
                texture,
                material: Material::plain(tint, reflection, 0.0),
                ..Floor::default()
            })
        },
    );
    let radius = if plain { (0.0..=0.0f64).boxed() } else { (0.0..3.0f64).boxed() };
    let light = (triple(finite()), triple(0.0..3.0f64), radius);
    let light = light.prop_map(|(position, colour, radius)| Light { position, colour, radius });
    let head = (
        1u32..5000,
        "[a-z]{1,6}/(%d|%0[1-9]d)\\.(png|data)",
        1u32..5000,
        1u32..3000,
        1u32..=64,
        0u32..=128,
        1.0..179.0,
        path(),
        path(),
    );
    let extra =
        (1e-6..0.1, 0.0..1.0, triple(fraction()), triple(fraction()), triple(fraction()), 1.0..120.0, any::<bool>());
    (head, prop::collection::vec(body(plain), bodies), floor, prop::collection::vec(light, lights), extra).prop_map(
        move |(
            (frames, pattern, width, height, samples, depth, fov_deg, eye, target),
            bodies,
            floor,
            lights,
            extra,
        )| {
            let (cutoff, highlight, ambient, zenith, horizon, fps, video) = extra;
            let video = (video && !plain).then(|| "clip \"one\".mp4".into());
            let mut scene = Scene {
                world: World {
                    bodies,
                    floor: Some(floor),
                    lights,
                    ambient,
                    highlight,
                    sky: Sky { zenith, horizon, ..Sky::default() },
                    ..World::default()
                },
                camera: Camera { fov_deg, path: CameraPath::Cylinder { eye, target }, ..Camera::default() },
                render: RenderSettings {
                    width,
                    height,
                    sampling: Sampling::PerAxis(samples),
                    depth,
                    cutoff,
                    ..RenderSettings::default()
                },
                film: FilmSettings::default(),
                output: Output {
                    frames,
                    files: Pattern::parse(&pattern).unwrap().0,
                    bits: None,
                    video,
                    fps: if plain { defaults::FPS } else { fps },
                    is_loop: false,
                    poster: None,
                },
                ..Scene::default()
            };
            if plain {
                scene.render.cutoff = defaults::CUTOFF;
                (scene.world.highlight, scene.world.ambient) = (defaults::HIGHLIGHT, defaults::AMBIENT);
                scene.world.sky = Sky::default();
            }
            scene
        },
    )
}

proptest! {
    #[test]
    fn toml_reads_back_as_the_same_scene(scene in with_world(any_scene(false))) {
        prop_assert_eq!(read(&scene.to_toml()), Ok(scene));
    }

    #[test]
    fn tokens_read_back_as_the_same_scene(scene in any_scene(true), is_film in any::<bool>()) {
        let (mut scene, look) = (scene, if is_film { Look::Film } else { Look::Plain });
        look.apply(&mut scene, &Look::tokens_give);
        let text = tokens::write(&scene).unwrap();
        let solids = [0, 1, 2].map(|i| scene.world.bodies[i].solid);
        let again = scene::parse(&text, "scene", ParseOptions { solids, look: Some(look), ..ParseOptions::default() }).map(|p| p.scene).map_err(|e| e.to_string());
        prop_assert_eq!(again, Ok(scene.clone()));
        // And by way of TOML.
        prop_assert_eq!(read(&scene.to_toml()), Ok(scene));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[ -~\\n]{0,300}", words in prop::collection::vec(prop_oneof!["[0-9.e+-]{1,6}", "[a-z%./]{1,8}"], 0..90)) {
        let _ = read(&text);
        let _ = read(&words.join(" "));
    }
}

#[test]
fn real_files_convert_and_mean_the_same() {
    for file in inputs() {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(scene) = read(&text) else {
            assert_eq!(name, "leading-blank-light-and-samples-on-one-line.txt");
            continue;
        };
        assert_eq!(read(&scene.to_toml()).as_ref(), Ok(&scene), "{name}");
    }
}

#[test]
fn dialects_are_recognised() {
    let camera = "7 3 0 2 1 2 6 1 0 0\n2 0 0 .5 .1 1 4 1 0 0\n";
    let reduced = format!(
        "5\nx_% d.data\n64 48 100\n{camera}-2 -2 0 2 200 0 0\n-2 2 0 2 0 255 0\n2 0 0 2 0 0 255\n-4 -4 -1 -4 4 -1 4 -4 -1 4 4 -1 102 62 0"
    );
    let scene = read(&reduced).unwrap();
    assert_eq!(
        scene.world.bodies.iter().map(|b| b.solid).collect::<Vec<_>>(),
        [Solid::Icosahedron, Solid::Hexahedron, Solid::Octahedron]
    );
    assert_eq!(scene.world.lights, [Light { position: [-2.0, 0.0, 4.0], colour: [1.0; 3], radius: 0.0 }]);
    assert_eq!(scene.output.files.to_string(), "x_%d.data");
    let seven = format!(
        "5\nx%d.data\n64 48 100\n{camera}0 0 2 1 .1 .1 1.75\n0 2.8 .7 .1 .1 1 1.75\n0 -2.8 .5 .1 1 .1 1.5\n-5 -5 -1 -5 5 -1 5 5 -1 5 -5 -1 .5 .9 .4\n-10 -10 15 .3 .2 .1\n"
    );
    assert_eq!(read(&seven).unwrap().render.own_samples(), 1);
    let with_samples = read(&format!("{seven}4")).unwrap();
    assert_eq!((with_samples.render.own_samples(), with_samples.world.bodies[1].solid), (4, Solid::Octahedron));
    assert_eq!(own("coursework.txt").world.bodies[2].solid, Solid::Icosahedron);
}

#[test]
fn built_in_scene_is_the_same_in_both_grammars() {
    let tokens = read(&scene::builtin::default_scene(Grammar::Tokens, None)).unwrap();
    assert_eq!(read(&scene::builtin::default_scene(Grammar::Toml, None)), Ok(tokens));
}

fn broken(what: &str, change: impl Fn(&mut Vec<String>)) -> String {
    let mut lines: Vec<String> = scene::builtin::DEFAULT_TOKENS.lines().map(str::to_owned).collect();
    change(&mut lines);
    let message = read(&lines.join("\n")).expect_err(what);
    format!("== {what}\n{message}\n")
}

#[test]
fn token_errors() {
    let mut all = String::new();
    let mut put = |what: &str, line: usize, text: &str| {
        all += &broken(what, |lines| lines[line] = text.to_owned());
    };
    put("frame count missing", 0, "");
    put("no frames", 0, "0");
    put("not a number", 0, "many");
    put("printf in the path", 1, "out/%s.data");
    put("two numbers in the path", 1, "out/%d%d.data");
    put("foreign extension", 1, "out/%d.bmp");
    put("too wide", 2, "70000 960 90");
    put("above the memory limit", 2, "65536 65536 90");
    put("fov", 2, "1240 960 180");
    put("nan", 3, "nan 3.2 0 1.2 .8 2 2 1 0 0");
    put("radius", 5, "2.3 0 .55 .95 .35 .75 0 .62 .34 8");
    put("lamps", 5, "2.3 0 .55 .95 .35 .75 2 .62 .34 -1");
    put("colour", 6, "-1.3 2.2 0.6 0.3 1.9 1.0 1.7 .58 .38 7");
    put("texture", 8, "-7 -7 -1 -7 7 -1 7 7 -1 7 -7 -1 @lava .85 .9 1 .35");
    put("flat floor", 8, "0 0 0 1 0 0 2 0 0 3 0 0 none .85 .9 1 .35");
    put("light count", 9, "5");
    put("left over", 12, "16 4 9");
    put("cut short", 12, "16");
    all += &broken("empty", |lines| lines.clear());
    insta::assert_snapshot!(all);
}

#[test]
fn toml_errors_come_together() {
    let text = "\
[output]
frames = 0
size = [640, 0]
path = \"out/%x.png\"

[camera]
fov_deg = 200

[[body]]
solid = \"sphere\"
radius = -1.0
color = [1.0, 2.0, 0.0]

[floor]
corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
texture = \"@lava\"

[[light]]
color = [1.0, 1.0, 1.0]
";
    let unknown = "[camera]\nfov = 90\n";
    let four = "[[light]]\nposition = [1, 2, 3, 4]\n";
    let not_toml = "[camera\n";
    let empty = "# nothing\n";
    let all: Vec<String> = [text, unknown, four, not_toml, empty].iter().map(|t| read(t).unwrap_err()).collect();
    insta::assert_snapshot!(all.join("\n\n====\n\n"));
}

#[test]
fn what_tokens_cannot_say_is_listed() {
    let reasons = tokens::write(&own("infinity.toml")).unwrap_err();
    assert!(reasons.len() >= 3, "{reasons:?}");
}

#[test]
fn camera_key_errors() {
    let key = |rest: &str| format!("[[camera.key]]\nposition = [4, 0, 2]\nlook_at = [0, 0, 0]\n{rest}\n");
    let body = "[[body]]\nsolid = \"cube\"\n";
    let texts = [
        key("time = 0.5"),
        key("time = 0.0") + &key("time = 2.0"),
        key("time = 0.5") + &key("time = 0.5"),
        key("time = 0.0") + &key("fov_deg = 300"),
        "[camera]\nclosed = true\n".to_owned() + &key("time = 0.0") + &key("time = 1.0"),
        "[camera]\nposition = [1, 1, 1]\nlook_at = [0, 0, 0]\n".to_owned() + &key("time = 0.0") + &key("time = 0.5"),
        "[camera]\nclosed = true\n".to_owned(),
    ];
    let all: Vec<String> = texts.iter().map(|t| read(&(t.clone() + body)).unwrap_err()).collect();
    insta::assert_snapshot!(all.join("\n\n====\n\n"));
}

#[test]
fn numbers_of_a_scene_that_is_built_in_code_are_checked_by_the_rules_of_their_keys() {
    let wrong = |change: fn(&mut Scene)| {
        let mut scene = Scene::sample();
        assert!(scene.check().is_ok());
        change(&mut scene);
        scene.check().unwrap_err().list.iter().map(|problem| problem.what.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(wrong(|scene| scene.world.bodies[0].radius = f64::NAN), ["`radius` is NaN"]);
    assert_eq!(wrong(|scene| scene.world.bodies[1].centre[2] = -f64::INFINITY), ["`center` holds -inf"]);
    assert_eq!(
        wrong(|scene| (scene.camera.fov_deg, scene.film.bloom) = (180.0, -1.0)),
        ["`bloom` is -1", "`fov_deg` is 180"]
    );
}

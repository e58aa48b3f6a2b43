//! Values over time: how they are read and written, and that each frame is that of a scene with the values of its time.
use super::common::*;
use crate::output::PixelFormats;
use crate::render::plan::{Finish, FrameNeeds, Split};
use crate::scene::keys::reference::keys;
use crate::scene::{ParseOptions, Scene, toml as grammar};
use crate::{RenderOptions, Renderer};

const FRAMES: u32 = 8;

// A scene with a table of each kind that has values over time.
const ALL: &str = "[output]\nframes = 8\nsize = [48, 36]\n[render]\nsamples = 2\ndepth = 4\nlamp_samples = 2\n\
    [film]\nexposure = 0.5\nvignette = 0.1\n[sky]\nzenith = 0.2\n[air]\ndensity = 0\n\
    [camera]\nlens = 0.01\nfocus = 5\naperture_blades = 3\n[camera.orbit]\ndistance = 5\n[camera.shake]\nangle_deg = 0.2\n\
    [[body]]\nsolid = \"cube\"\nlamps = 3\nlamp_pattern = \"chase\"\nreflection = 0.3\nreflection_inside = 0.2\nroughness = 0.1\n\
    [[sphere]]\ncenter = [1, 1, 1]\nradius = 0.4\n\
    [[ellipsoid]]\ncenter = [-1, 1, 1]\nradii = [0.3, 0.4, 0.5]\n\
    [[rectangle]]\ncenter = [0, 0, 3]\nmaterial = \"light\"\n\
    [[light]]\nposition = [4, 2, 6]\nradius = 0.3\n\
    [floor]\ncorners = [[-3, -3, -1], [-3, 3, -1], [3, 3, -1], [3, -3, -1]]\nfade = 9\n\
    [floor.relief]\nbump = \"@ripples\"\ndepth = 0.1\n";

fn faults(text: &str) -> Vec<String> {
    let faults = grammar::parse(text, ParseOptions::default()).err().unwrap_or_default();
    faults.into_iter().map(|p| format!("{}: {}; {}", &text[p.span], p.what, p.expected)).collect()
}

#[test]
fn values_over_time_are_read_and_written() {
    let text = "[output]\nframes = 8\n[[body]]\nsolid = \"cube\"\nlamps = 3\n\
        lamp_intensity = { keys = [[0.25, 1], [0.5, 3, \"hold\"], [0.75, 7]], ease = \"linear\", closed = true }\n\
        lamp_color = { keys = [[0, \"red\"], [1, [0, 0, 1]]] }\ncenter = { keys = [[0, [0, 0, 0]], [1, [2, 4, 8]]], ease = 'in' }\n\
        reflection = { keys = [[0, '10%'], [0.5, 0.9]] }\n[film]\nexposure = { keys = [[0, -1], [0.5, 1]] }\n";
    let scene = toml(text);
    let body = |moment: f64| scene.at(moment).world.bodies[0].clone();
    assert_eq!([2.0, 3.0, 4.0, 5.9, 6.0].map(|m| body(m).lamp_intensity), [1.0, 2.0, 3.0, 3.0, 7.0]);
    assert_eq!((body(0.0).lamp_colour, body(8.0).lamp_colour), ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]));
    assert_eq!((body(4.0).centre, body(2.0).material.shares().0), ([0.5, 1.0, 2.0], 0.5));
    assert_eq!(scene.world.bodies[0].lamp_intensity, 4.0, "the value at the start, on the way back to the first key");
    let again = toml(&scene.to_toml());
    assert_eq!(again, scene);
    assert!(
        scene
            .to_toml()
            .contains("keys = [[0.25, 1.0], [0.5, 3.0, \"hold\"], [0.75, 7.0]], ease = \"linear\", closed = true")
    );
    scene.check().unwrap();
}

#[test]
fn values_jump_at_beats_and_fall_back() {
    // Four seconds of sixteen frames: two beats a second.
    let scene = |value: &str, rest: &str| {
        format!(
            "[output]\nframes = 16\nfps = 4\n{rest}[[body]]\nsolid = \"cube\"\nlamps = 3\nlamp_intensity = {value}\n"
        )
    };
    let seen = |text: &str, frames: &[f64]| -> Vec<f64> {
        let scene = toml(text);
        assert_eq!(toml(&scene.to_toml()), scene, "{text}");
        frames.iter().map(|&frame| scene.at(frame).world.bodies[0].lamp_intensity).collect()
    };
    let pulse = scene("{ bpm = 60, from = 1, to = 9, decay = 0.5 }", "loop = true\n");
    assert_eq!(seen(&pulse, &[0.0, 1.0, 2.0, 3.0, 4.0, 12.0, 16.0]), [9.0, 3.0, 1.0, 1.0, 9.0, 9.0, 9.0]);
    let late = scene("{ bpm = 60, from = 1, to = 9, attack = 0.25, decay = 0.5, offset = 0.5 }", "loop = true\n");
    assert_eq!(seen(&late, &[0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0]), [3.0, 1.0, 1.0, 5.0, 9.0, 3.0, 1.0, 9.0]);
    // The next beat ends a fall; colors and lists fall too.
    let fast = scene("{ bpm = 240, from = 1, to = 9, decay = 100 }", "");
    assert_eq!(seen(&fast, &[0.0, 1.0, 7.0]), [9.0; 3]);
    // Beats one by one: at rest before the first, and round the end if they are closed.
    let some = scene("{ beats = [0.5, 3.75], from = 1, to = 9, decay = 0.5 }", "");
    assert_eq!(seen(&some, &[0.0, 1.0, 2.0, 3.0, 15.0, 16.0]), [1.0, 1.0, 9.0, 3.0, 9.0, 3.0]);
    let closed = some.replace("decay = 0.5", "decay = 0.5, closed = true");
    assert_eq!(seen(&closed, &[0.0, 1.0, 2.0, 16.0]), [3.0, 1.0, 9.0, 3.0]);
    // A beat that is moved before the start falls at the end.
    let moved = toml(&closed.replace("[0.5, 3.75]", "[0.25, 4.3]").replace("closed", "offset = -0.5, closed"));
    assert!(moved.tracks.all()[0].keys.is_sorted_by(|a, b| a.time < b.time), "{:?}", moved.tracks.all()[0].keys);
    assert_eq!(moved.at(15.0).world.bodies[0].lamp_intensity, 9.0);
    // Another frame rate moves the beats.
    let mut slow = toml(&pulse);
    slow.output.fps = 2.0;
    slow.beat();
    assert_eq!([0.0, 1.0, 2.0].map(|frame| slow.at(frame).world.bodies[0].lamp_intensity), [9.0, 1.0, 9.0]);
    // A metronome that does not fit is mended.
    let odd = faults(&pulse.replace("bpm = 60", "bpm = 50"));
    assert!(odd[0].contains("has another value at the end of the clip"), "{odd:?}");
    let mend = &toml(&pulse.replace("bpm = 60", "bpm = 50").replace("loop = true", "")).loop_problems()[0].mend;
    assert!(mend[0].1.as_ref().unwrap().contains("bpm = 45.0"), "{mend:?}");
    for (value, what) in [
        ("{ bpm = 0, from = 1, to = 9 }", "0: `bpm` is 0; expected a number from 1 to 1000"),
        ("{ bpm = 60, from = 1 }", "`to`"),
        ("{ bpm = 60, from = 1, to = -9 }", "-9: `lamp_intensity` is -9; expected"),
        ("{ beats = [2, 1], from = 1, to = 9 }", "times in seconds that grow from beat to beat"),
        ("{ beats = [1], bpm = 60, from = 1, to = 9 }", "and no `bpm`"),
        ("{ bpm = 60, keys = [[0, 1], [1, 2]], from = 1, to = 9 }", "`keys`"),
    ] {
        let found = faults(&scene(value, ""));
        assert!(found.iter().any(|fault| fault.contains(what)), "{value}: {found:?}");
    }
}

// By beats, light runs from lamp to lamp; a whole cycle is none, so that no picture jumps back.
#[test]
fn lamps_run_at_beats() {
    let scene = |lines: &str| {
        toml(&format!(
            "[output]\nframes = 16\nfps = 4\nloop = true\n[[body]]\nsolid = \"cube\"\nlamps = 8\nbar = 0.1\n{lines}"
        ))
    };
    let beats = "lamp_phase = { bpm = 60, from = 1, to = 0, decay = 0.5 }\n";
    let chase = scene(&format!("lamp_pattern = \"chase\"\nlamp_cycles = 0\n{beats}"));
    let phase = |moment: f64| chase.at(moment).world.bodies[0].lamp_pattern.phase;
    assert_eq!([0.0, 1.0, 2.0, 3.0, 4.0, 16.0].map(phase), [0.0, 0.75, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(toml(&chase.to_toml()), chase);
    let options = || RenderOptions::on_cpu();
    let still = scene("lamp_pattern = \"chase\"\nlamp_cycles = 0\nlamp_phase = 0.75\n");
    let seen = [0, 1, 2, 4].map(|frame| picture(&chase, frame, options()));
    assert!(seen[0] == seen[2] && seen[0] == seen[3] && seen[0] != seen[1], "a whole cycle is none");
    assert!(seen[1] == picture(&still, 9, options()), "as a phase that stays");
    // Light that pulses and turns through its hues has phases too.
    let of = |pattern: &str| scene(&format!("lamp_pattern = \"{pattern}\"\nlamp_phase = 0.5\n"));
    let body = |scene: &Scene, moment: f64| scene.at(moment).world.bodies[0].clone();
    let (pulse, hue) = (of("pulse"), of("hue"));
    let near = |x: f64, y: f64| (x - y).abs() < 1e-12;
    assert!(near(body(&pulse, 0.0).lamp_intensity, 0.1) && near(body(&pulse, 8.0).lamp_intensity, 1.0));
    assert_ne!(body(&hue, 0.0).lamp_colour, hue.world.bodies[0].lamp_colour);
    let lost = faults("[[body]]\nsolid = \"cube\"\nlamps = 8\nlamp_phase = 0.5\n");
    assert!(lost[0].contains("lamp_phase"), "{lost:?}");
}

#[test]
fn faults_of_values_over_time_have_a_place() {
    let of = |line: &str| faults(&format!("[[body]]\nsolid = \"cube\"\n{line}\n"));
    for (line, start) in [
        (
            "radius = { keys = [[0.5, 1], [0.2, 2]] }",
            "0.2: this key's time, 0.2, is not after the one before, 0.5; expected times that grow",
        ),
        ("radius = { keys = [[0, 1], [1.2, 2]] }", "1.2: `time` is 1.2; expected a number from 0 to 1"),
        ("radius = { keys = [[0, 1], [1, -2]] }", "-2: `radius` is -2; expected"),
        ("radius = { keys = [[0, 1]] }", "[[0, 1]]: `radius` has one key; expected at least two"),
        ("radius = { keys = [] }", "[]: `radius` has no keys; expected"),
        ("radius = { keys = 3 }", "3: `keys` is the number `3`; expected a list of keys"),
        ("radius = { keys = [[0, 1], 3] }", "3: key 2 of `radius` is not a pair; expected `[time, value]`"),
        (
            "radius = { keys = [[0, 1], [1, 2]], closed = true }",
            "[[0, 1], [1, 2]]: no time is left to close the loop; expected",
        ),
        (
            "radius = { keys = [[0, 1], [1, 2]], ease = 'slow' }",
            "'slow': `ease` is \"slow\"; expected one of \"smooth\"",
        ),
        ("radius = { keys = [[0, 1, 'fast'], [1, 2]] }", "'fast': `ease` is \"fast\"; expected one of"),
        ("radius = { keys = [[0, 1], [1, 2]], eas = 'in' }", "eas: unknown key `eas`; did you mean `ease`?"),
        ("radius = { ease = 'in' }", "{ ease = 'in' }: this value over time has no `keys`; expected"),
        (
            "lamps = { keys = [[0, 1], [1, 2]] }",
            "{ keys = [[0, 1], [1, 2]] }: `lamps` cannot change over the clip; expected one value",
        ),
    ] {
        let all = of(line);
        assert!(all.len() == 1 && all[0].starts_with(start), "{line}: {all:#?}");
    }
    let auto = faults("[[sphere]]\n[film]\nexposure = { keys = [[0, 'auto'], [1, 0]] }\n");
    assert!(auto[0].starts_with("'auto': `exposure` is \"auto\"; expected a number"), "{auto:?}");
    // Faults of a clip that should loop, and light that is made of nothing.
    let text = "[output]\nloop = true\n[[body]]\nsolid = \"cube\"\nradius = { keys = [[0, 1], [0.5, 2]] }\n";
    assert!(faults(text)[0].contains("`body[0].radius` has another value at the end"), "{:?}", faults(text));
    let lamps = text
        .replace("radius = { keys = [[0, 1], [0.5, 2]] }", "lamps = 3\nlamp_intensity = { keys = [[0, 1], [1, 2]] }");
    assert!(
        faults(&lamps).len() == 1 && faults(&lamps)[0].contains("`body[0].lamp_intensity` has"),
        "{:?}",
        faults(&lamps)
    );
    let closed = text.replace("2]] }", "2]], closed = true }");
    assert_eq!(faults(&closed), Vec::<String>::new());
    assert_eq!(
        faults(&closed.replace(
            "radius = { keys = [[0, 1], [0.5, 2]], closed = true }",
            "angle_deg = { keys = [[0, 0], [1, 90]] }"
        )),
        Vec::<String>::new(),
        "a quarter turn of a cube"
    );
    let bright = "[[body]]\nsolid = \"cube\"\ntransparency = 0.5\nreflection = { keys = [[0, 0.5], [0.5, 0.7]] }\n";
    let (_, _, warnings) = grammar::parse(bright, ParseOptions::default()).unwrap();
    assert!(
        warnings.len() == 1
            && warnings[0].what.to_string().starts_with("at time 0.5 reflection 0.7 + transparency 0.5 is above 1")
    );
}

// The text with a key of a table, such as `lens` of `[camera]`, given again.
fn with(text: &str, header: &str, key: &str, value: &str) -> String {
    let (before, rest) = text.split_once(&format!("{header}\n")).unwrap();
    let end = rest.find("\n[").map_or(rest.len(), |end| end + 1);
    let own = rest[..end].lines().filter(|line| line.split(' ').next() != Some(key));
    format!("{before}{header}\n{key} = {value}\n{}\n{}", own.collect::<Vec<_>>().join("\n"), &rest[end..])
}

// The keys that may change, by table: what the schema says of them and a header.
fn animated() -> Vec<(String, &'static str, bool)> {
    let schema = &*grammar::SCHEMA;
    let mut all = Vec::new();
    for (table, definition) in schema["definitions"].as_object().unwrap() {
        // The relief here is a floor's, which may glitter.
        let header = definition["x-header"].as_str().unwrap().replace("[body.relief]", "[floor.relief]");
        if header.contains("mesh") || header.contains("particles") {
            continue;
        }
        for key in keys(definition).into_iter().filter(|key| definition["properties"][*key]["x-animated"] == true) {
            // Keys of other materials than the table's.
            let is_of = |material: &str| {
                definition["x-materials"][material].as_array().is_none_or(|all| all.iter().any(|one| one == key))
            };
            let material = if table == "rectangle" { "light" } else { "plain" };
            // A floor that fades, as this one does, has no coat.
            if header == "[floor]" && key.starts_with("coat") {
                continue;
            }
            let is_own = ["highlight", "bevel"].contains(&key)
                || is_of(material)
                || !crate::scene::keys::reference::material_keys(schema).contains(&key);
            if is_own {
                let property = &definition["properties"][key];
                let is_colour = property["format"] == "color" || property["type"] == "array";
                all.push((header.clone(), key, is_colour));
            }
        }
    }
    all
}

// Whatever changes over the clip: at each moment the scene is the one that has these values.
#[test]
fn a_scene_at_a_moment_is_the_scene_with_the_values_of_that_moment() {
    let all = animated();
    assert!(all.len() > 60, "{all:?}");
    for (header, key, is_colour) in all {
        // Halfway between these the value is that of the middle.
        let value = |x: f64| if is_colour { format!("[{x}, {x}, {x}]") } else { format!("{x}") };
        let (low, middle, high) = match key {
            "white_balance" => (4000.0, 5000.0, 9000.0),
            "fov_deg" => (40.0, 50.0, 60.0),
            "abbe" => (20.0, 30.0, 50.0),
            "film_ior" | "coat_ior" => (1.2, 1.4, 2.4),
            "turbidity" => (1.5, 2.0, 4.0),
            _ => (0.25, 0.5, 0.9),
        };
        let all = match (header.as_str(), key) {
            ("[sky]", _) => sunny(ALL),
            ("[camera]", "width") => ALL.replace("lens = 0.01\n", "projection = \"orthographic\"\n"),
            ("[camera]", "eye_distance" | "convergence") => ALL.replace("lens = 0.01\n", "stereo = \"over-under\"\n"),
            _ => ALL.to_owned(),
        };
        let keys = keys_of([&value(low), &value(middle), &value(high)]);
        let changing = toml(&with(&all, &header, key, &keys));
        let still = toml(&with(&all, &header, key, &value(middle)));
        let (moment, mut here) = (f64::from(FRAMES) / 2.0, changing.at(f64::from(FRAMES) / 2.0).into_owned());
        // An angle of a body counts from there.
        assert_eq!(
            changing.camera_at(moment).view_at(moment, FRAMES),
            still.camera_at(moment).view_at(moment, FRAMES),
            "{header} {key}"
        );
        assert_eq!(here.film, changing.film_at(moment));
        assert!(!here.tracks.is_empty() && here.is_animated(), "{header} {key}");
        here.tracks = still.tracks.clone();
        let mut expected = still.at(moment).into_owned();
        if header == "[film]" {
            expected.film.dither = here.film.dither;
        }
        assert_eq!(here, expected, "{header} {key}");
        assert_eq!(toml(&changing.to_toml()), changing, "{header} {key}");
    }
}

// A value at the start, in the middle and at the end of the clip.
fn keys_of([first, middle, last]: [&str; 3]) -> String {
    format!("{{ keys = [[0, {first}], [0.5, {middle}], [1, {last}]] }}")
}

fn sunny(text: &str) -> String {
    text.replace("zenith = 0.2\n", "image = \"@sun\"\n")
}

// The sky's picture, its sun and its share of the light of paths; fog that hides it for a part of the clip.
#[test]
fn the_sky_changes() {
    let paths = ALL.replace("samples = 2\ndepth = 4\nlamp_samples = 2\n", "integrator = \"path\"\nsamples = 4\n");
    let layer = "density = 0.1\nheight = 3\n";
    for (fog, header, key, values) in [
        ("", "[sky]", "intensity", ["0", "0.7", "1"]),
        ("", "[sky]", "rotation_deg", ["0", "100", "200"]),
        ("", "[sky]", "sun_elevation_deg", ["-5", "30", "2"]),
        ("", "[sky]", "turbidity", ["2", "5", "2"]),
        ("", "[air]", "density", ["0.2", "0", "0.1"]),
        ("", "[air]", "density", ["0", "0.2", "0"]),
        (layer, "[air]", "density", ["0", "0.1", "0.4"]),
        (layer, "[air]", "height", ["2", "5", "30"]),
        (layer, "[air]", "color", ["0.2", "0.8", "'tan'"]),
        (layer, "[sky]", "sun_elevation_deg", ["9", "50", "2"]),
        (layer, "[sky]", "zenith", ["0", "1", "0"]),
    ] {
        for text in [ALL, &*paths].map(|text| if key == "zenith" { text.to_owned() } else { sunny(text) }) {
            let text = text.replace("[air]\ndensity = 0\n", &format!("[air]\n{fog}"));
            let keys = keys_of(values);
            let [changing, still, first] =
                [&*keys, values[1], values[0]].map(|value| toml(&with(&text, header, key, value)));
            let [here, expected, other] =
                [changing, still, first].map(|scene| picture(&scene, FRAMES / 2, RenderOptions::on_cpu()));
            assert!(here == expected && here != other, "{key}");
        }
    }
}

// The reliefs of a body and of a floor whose surface itself goes up and down; the body's texture stays.
#[test]
fn reliefs_change() {
    let of_body = "roughness = 0.1\ntexture = \"@wood\"\n[body.relief]\nbump = \"@slate\"\ndepth = 0.02\n";
    let all = ALL.replace("roughness = 0.1\n", of_body).replace("fade = 9\n", "reflection = 0.5\n");
    let displaced = all.replace("@ripples\"", "@ripples\"\ndisplaced = true");
    for (text, header, key, values) in [
        (&all, "[floor.relief]", "depth", ["0.1", "0.5", "1"]),
        (&displaced, "[floor.relief]", "depth", ["0.1", "0.5", "1"]),
        (&all, "[floor.relief]", "glitter", ["0", "0.9", "1"]),
        (&all, "[floor]", "roughness", ["0.1", "0.5", "0.6"]),
        (&all, "[body.relief]", "depth", ["0.02", "0.2", "0.1"]),
        (&all, "[[body]]", "roughness", ["0.1", "0.6", "0.7"]),
        (&all, "[[body]]", "radius", ["0.5", "1.2", "2"]),
    ] {
        let [changing, still, first] =
            [&*keys_of(values), values[1], values[0]].map(|value| toml(&with(text, header, key, value)));
        let [here, expected, other] =
            [changing, still, first].map(|scene| picture(&scene, FRAMES / 2, RenderOptions::on_cpu()));
        assert!(here == expected && here != other, "{header} {key}");
    }
}

fn picture(scene: &Scene, frame: u32, options: RenderOptions) -> Vec<u8> {
    Renderer::with_options(scene.clone(), options).unwrap().still(frame).unwrap().data().to_vec()
}

// Its pictures too, on all instruction sets, whole and in parts.
#[test]
fn a_frame_is_the_frame_of_the_scene_with_its_values() {
    for (header, key, values) in [
        ("[[body]]", "lamp_intensity", ["0", "7", "9"]),
        ("[[body]]", "reflection", ["0", "0.8", "0.9"]),
        ("[[body]]", "radius", ["0.5", "1.2", "2"]),
        ("[[sphere]]", "center", ["[0, 0, 2]", "[2, -1, 0.5]", "[3, 0, 0]"]),
        ("[[rectangle]]", "strength", ["0", "3", "1"]),
        ("[[light]]", "color", ["'red'", "'#88ff88'", "'blue'"]),
        ("[[light]]", "position", ["[4, 2, 6]", "[-4, 2, 3]", "[4, 2, 6]"]),
        ("[floor]", "tint", ["'red'", "'green'", "'blue'"]),
        ("[floor]", "fade", ["9", "2", "1"]),
        ("[sky]", "horizon", ["0", "'tomato'", "1"]),
        ("[air]", "density", ["0", "0.3", "1"]),
        ("[air]", "glow", ["0", "0.3", "1"]),
        ("[render]", "ambient", ["0", "0.7", "1"]),
        ("[film]", "exposure", ["0.5", "2", "-1"]),
        ("[film]", "bloom", ["0", "0.4", "0"]),
        ("[film]", "glare", ["0", "0.5", "0"]),
        ("[film]", "streak", ["0.1", "0.5", "0"]),
        ("[camera]", "aperture_rotation_deg", ["0", "30", "60"]),
        ("[camera]", "lens", ["0", "0.2", "0"]),
        ("[camera]", "focus", ["5", "2", "9"]),
        ("[camera]", "shutter", ["0", "0.8", "0"]),
        ("[camera]", "fov_deg", ["70", "30", "90"]),
    ] {
        let keys = keys_of(values);
        let (changing, still) = (toml(&with(ALL, header, key, &keys)), toml(&with(ALL, header, key, values[1])));
        let here = picture(&changing, FRAMES / 2, RenderOptions::on_cpu());
        assert!(here == picture(&still, FRAMES / 2, RenderOptions::on_cpu()), "{key}");
        assert!(
            here != picture(&toml(&with(ALL, header, key, values[0])), FRAMES / 2, RenderOptions::on_cpu()),
            "{key}"
        );
        let scalar = RenderOptions { isa: Some("scalar".into()), threads: 1, ..RenderOptions::on_cpu() };
        let tiles = RenderOptions { split: Split::Tiles, ..RenderOptions::on_cpu() };
        assert!(
            here == picture(&changing, FRAMES / 2, scalar) && here == picture(&changing, FRAMES / 2, tiles),
            "{key}"
        );
    }
}

// Adaptive samples go where the noise shows at the frame's own exposure.
#[test]
fn noise_is_judged_by_the_exposure_of_its_frame() {
    let scene = |exposure: &str| {
        let text = with(ALL, "[film]", "exposure", exposure);
        toml(&with(&text, "[render]", "samples", "\"4..64\""))
    };
    let changing = scene("{ keys = [[0, -6], [0.5, 2], [1, -6]] }");
    let [changing, still] = [changing, scene("2")].map(|scene| picture(&scene, FRAMES / 2, RenderOptions::on_cpu()));
    assert!(changing == still);
}

// Sums of light stay on the device. Its memory suits each frame's bloom.
#[test]
fn devices_finish_films_that_change() {
    for keys in
        ["bloom = { keys = [[0, 0], [1, 0.4]] }", "bloom = 0.2\nbloom_radius = { keys = [[0, 0.01], [1, 0.4]] }"]
    {
        let scene = toml(&ALL.replace("[film]\n", &format!("[film]\n{keys}\n")));
        let renderer = Renderer::with_options(scene, RenderOptions::on_cpu()).unwrap();
        let needs = FrameNeeds::of(renderer.scene(), PixelFormats::RGBA8, &renderer.post().into());
        assert_eq!(needs.finish, Finish::Device);
        let post = needs.device.post.unwrap();
        let params = [0, FRAMES - 1].map(|frame| post.of_frame(frame).params(64, 48).unwrap());
        assert!(params[0].bloom_levels < params[1].bloom_levels, "{params:?}");
        assert!(params.iter().all(|p| p.bloom_levels.unsigned_abs() as usize <= post.pyramid_levels(48)));
    }
}

// The shutter is open while a ball jumps from dark to bright: it has half of the light.
#[test]
fn an_open_shutter_sees_values_change() {
    let ball = |strength: &str| {
        toml(&format!(
            "[output]\nframes = 8\nsize = [24, 24]\n[render]\nsamples = 4\n[sky]\nzenith = 0\nhorizon = 0\n[camera]\nshutter = 1\n\
             position = [4, 0, 0]\nlook_at = [0, 0, 0]\n[[sphere]]\nmaterial = \"light\"\ncolor = 1\nstrength = {strength}\n"
        ))
    };
    let middle = |scene: &Scene| light_of(scene, 4)[3 * (12 * 24 + 12)];
    let jump = middle(&ball("{ keys = [[0, 0], [0.5, 2]], ease = 'hold' }"));
    let (dark, bright) = (middle(&ball("0")), middle(&ball("2")));
    assert!(dark == 0.0 && bright == 2.0 && (jump - 1.0).abs() < 0.01, "{dark} {jump} {bright}");
}

#[test]
fn what_stands_on_the_floor_stands_at_any_size() {
    let text = ALL.replace(
        "solid = \"cube\"\n",
        "solid = \"cube\"\non = \"floor\"\nradius = { keys = [[0, 0.5], [1, 2]], ease = 'linear' }\n",
    );
    let scene = toml(&text);
    for moment in [0.0, 3.0, 8.0] {
        let now = scene.at(moment);
        let body = &now.world.bodies[0];
        let low = body.vertices().iter().map(|v| v[2] + body.centre[2]).fold(f64::MAX, f64::min);
        assert!((low + 1.0).abs() < 1e-3, "{moment}: {low}");
    }
}

#[test]
fn one_camera_is_held_by_hand_and_loops() {
    let scene = toml(ALL);
    let view = |moment| scene.camera.view_at(moment, FRAMES);
    let mut steady = scene.camera.clone();
    steady.shake = None;
    assert_ne!(view(3.0).forward, steady.view_at(3.0, FRAMES).forward);
    assert_eq!(view(3.0).eye, steady.view_at(3.0, FRAMES).eye);
    let apart = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max);
    assert!(apart(view(0.0).forward, view(8.0).forward) < 1e-9);
    let looped = ALL.replace("frames = 8\n", "frames = 8\nloop = true\n");
    toml(&looped);
}

//! Random scenes of all features, with magnitudes up to the limits: every instruction set gives the same bytes, and
//! moderate scenes agree with the oracle.
//!
//! Seeds start at POLYFLY_RANDOM_SEED, and POLYFLY_RANDOM_SCENES of them are tested. With POLYFLY_TEST_CUDA=1 the GPU is
//! one more device; scripts/measure/gpu-random does that for thousands of scenes.

mod maker;

use super::common::*;
use super::entries::strays;
use super::second_opinion::agree;
use crate::kernels::Isa;
use crate::render::{Devices, RenderOptions, Renderer};
use crate::scene::{self, ParseOptions, Scene};
use maker::{Made, make};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The scene of a seed, as a text and its files in `dir`.
pub fn random_scene(seed: u64, wild: bool, dir: &Path) -> Scene {
    read(&make(seed, wild, dir), dir)
}

fn read(made: &Made, dir: &Path) -> Scene {
    let reading = ParseOptions { folder: dir, ..ParseOptions::default() };
    scene::parse(&made.text, "random.toml", reading).unwrap_or_else(|e| panic!("{e}\n{}", made.text)).scene
}

fn number<T: std::str::FromStr>(name: &str, usual: T) -> T {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

// The devices whose pictures are compared, the first with each of the others.
fn devices() -> Vec<(String, RenderOptions)> {
    let threads = number("POLYFLY_RANDOM_THREADS", 0);
    let plain = RenderOptions { threads, ..RenderOptions::on_cpu() };
    let cpu = |isa: Isa| (isa.name.to_owned(), RenderOptions { isa: Some(isa.name.into()), ..plain.clone() });
    let mut devices: Vec<_> = Isa::tested().into_iter().map(cpu).collect();
    if std::env::var_os("POLYFLY_TEST_CUDA").is_some() {
        devices.push(("GPU".to_owned(), RenderOptions { devices: Devices::List(vec![0], false), ..plain }));
    }
    devices
}

// The finished picture, and the linear light before the film's steps.
fn picture_and_light(mut renderer: Renderer, frame: u32) -> (Vec<u8>, Vec<f32>) {
    let picture = renderer.still(frame).unwrap_or_else(|e| panic!("{e}")).data().to_vec();
    let light = renderer.still_linear(frame).unwrap_or_else(|e| panic!("{e}")).0.data().to_vec();
    (picture, light)
}

// The failure of a scene, or its picture.
fn compared(scene: &Scene, frame: u32) -> Result<Vec<u8>, String> {
    let devices = devices();
    let (first, others) = devices.split_first().unwrap();
    let renderer = Renderer::prepare(scene.clone(), first.1.clone()).unwrap_or_else(|e| panic!("{e}"));
    let on = |options: &RenderOptions| renderer.elsewhere(options.clone()).unwrap_or_else(|e| panic!("{e}"));
    let (picture, light) = picture_and_light(on(&first.1), frame);
    if let Some(bad) = light.iter().find(|x| !x.is_finite() || **x < 0.0) {
        return Err(format!("light is {bad}"));
    }
    for (name, options) in others {
        let before = strays();
        let (other, other_light) = picture_and_light(on(options), frame);
        let pixels = first_difference(&picture, &other, scene.render.width);
        let unequal = light.iter().zip(&other_light).position(|(a, b)| a.to_bits() != b.to_bits());
        let light = unequal.map(|i| format!("number {i} of the light is {} and {}", light[i], other_light[i]));
        if let Some(difference) = pixels.or(light) {
            return Err(format!("{} against {name}: {difference}{}", first.0, since(&before)));
        }
        let nan = nan_since(&before);
        if !nan.is_empty() {
            return Err(format!("{name}: {nan}"));
        }
    }
    Ok(picture)
}

// Keeps the scene's folder unless all devices agree, and prints a line before and after each scene; for
// scripts/measure/gpu-random.
struct Record(std::path::PathBuf);

impl Record {
    fn asked() -> Option<Record> {
        std::env::var_os("POLYFLY_RANDOM_KEEP").map(|folder| Record(folder.into()))
    }
    fn begin(&self, seed: u64, dir: &Path, made: &Made) {
        let to = self.0.join(seed.to_string());
        std::fs::create_dir_all(&to).unwrap();
        for file in std::fs::read_dir(dir).unwrap().flatten() {
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
        std::fs::write(to.join("scene.toml"), &made.text).unwrap();
        eprintln!("scene {seed} begins");
    }
    fn end(&self, seed: u64, seconds: f64, outcome: &Result<Vec<u8>, String>) {
        if outcome.is_ok() {
            std::fs::remove_dir_all(self.0.join(seed.to_string())).unwrap();
        }
        let outcome = outcome.as_ref().map_or_else(|e| format!("differs: {e}"), |_| "is equal".to_owned());
        eprintln!("scene {seed} took {seconds:.2} s and {outcome}");
    }
}

// Ends the program when a scene takes longer than POLYFLY_RANDOM_LIMIT seconds. Returns the number of the observed scene.
fn watchdog() -> Arc<AtomicU64> {
    let now = Arc::new(AtomicU64::new(u64::MAX));
    let (watched, limit) = (Arc::clone(&now), number("POLYFLY_RANDOM_LIMIT", u64::MAX));
    let watch = move || {
        let (mut scene, mut seconds) = (u64::MAX, 0);
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let seen = watched.load(Ordering::Relaxed);
            seconds = if seen == scene { seconds + 1 } else { 0 };
            scene = seen;
            if seconds > limit && scene != u64::MAX {
                eprintln!("scene {scene} is late: it takes longer than {limit} s");
                std::process::exit(1);
            }
        }
    };
    crate::threads::spawn("watchdog", watch).unwrap();
    now
}

#[test]
fn random_scenes_have_the_same_bytes_on_every_device() {
    let (start, scenes) = (number("POLYFLY_RANDOM_SEED", 0), number("POLYFLY_RANDOM_SCENES", 40));
    let (record, now) = (Record::asked(), watchdog());
    let (mut eventful, mut failures) = (0, Vec::new());
    for seed in start..start + scenes {
        let dir = tempfile::tempdir().unwrap();
        let made = make(seed, true, dir.path());
        if let Some(record) = &record {
            record.begin(seed, dir.path(), &made);
        }
        now.store(seed, Ordering::Relaxed);
        let began = Instant::now();
        let outcome = compared(&read(&made, dir.path()), made.frame);
        now.store(u64::MAX, Ordering::Relaxed);
        if let Some(record) = &record {
            record.end(seed, began.elapsed().as_secs_f64(), &outcome);
        }
        match outcome {
            Ok(picture) => {
                let colours: std::collections::HashSet<&[u8]> = picture.chunks(4).collect();
                eventful += u64::from(colours.len() > 12);
            }
            Err(failure) => failures.push(format!("random scene {seed}, frame {}: {failure}", made.frame)),
        }
    }
    assert!(failures.is_empty(), "{} of {scenes} scenes:\n{}", failures.len(), failures.join("\n"));
    assert!(eventful * 3 > scenes, "{eventful} of {scenes} scenes show more than a few colors");
}

#[test]
fn random_tame_scenes_are_what_the_oracle_sees() {
    for seed in 0..12 {
        let dir = tempfile::tempdir().unwrap();
        let scene = random_scene(seed, false, dir.path());
        agree(&format!("random scene {seed}"), &scene, 0);
    }
}

// Keys of the schema that no random scene has, and why.
const NOT_DRAWN: [(&str, &str); 10] = [
    ("output.path", "says where files go"),
    ("output.video", "says where a video goes"),
    ("output.bits", "says how files hold the picture"),
    ("output.fps", "says how fast a video runs"),
    ("output.poster", "says what stands for a video"),
    ("output.loop", "only checks whether the clip closes"),
    ("body.strength", "is of things made of light, and bodies are not"),
    ("floor.strength", "is of things made of light, and floors are not"),
    ("floor.abbe", "is of solid glass, and a floor is a sheet"),
    ("floor.tint_distance", "is of solid glass, and a floor is a sheet"),
];

// Adds the keys of a table and of its inner tables, as `table.key` by the table's name in the schema.
fn add_keys(schema: &serde_json::Value, place: &serde_json::Value, table: &toml::Table, to: &mut BTreeSet<String>) {
    let (name, definition) = definition_of(schema, place);
    for (key, value) in table {
        to.insert(format!("{name}.{key}"));
        let inner = &definition["properties"][key];
        match value {
            toml::Value::Table(inside) => add_keys(schema, inner, inside, to),
            toml::Value::Array(list) => {
                list.iter().filter_map(|one| one.as_table()).for_each(|one| add_keys(schema, inner, one, to));
            }
            _ => {}
        }
    }
}

// The target of a reference, or of a list of them, and its name; the scene itself has none.
fn definition_of<'a>(schema: &'a serde_json::Value, place: &'a serde_json::Value) -> (&'a str, &'a serde_json::Value) {
    let inside = [&place["$ref"], &place["allOf"][0]["$ref"], &place["items"]["$ref"]];
    let Some(reference) = inside.into_iter().find_map(|r| r.as_str()) else { return ("", place) };
    let name = reference.rsplit('/').next().unwrap_or_default();
    (name, &schema["definitions"][name])
}

// A forgotten key is a key that no device is compared on.
#[test]
fn every_key_of_a_scene_is_drawn() {
    let schema = &*crate::scene::text::toml::SCHEMA;
    let mut missing: BTreeSet<String> = BTreeSet::new();
    for (table, definition) in schema["definitions"].as_object().unwrap() {
        missing.extend(definition["properties"].as_object().unwrap().keys().map(|key| format!("{table}.{key}")));
    }
    missing.extend(schema["properties"].as_object().unwrap().keys().map(|key| format!(".{key}")));
    assert!(missing.len() > 150, "{missing:?}");
    for (key, why) in NOT_DRAWN {
        assert!(missing.remove(key), "there is no `{key}`, which need not be drawn since it {why}");
    }
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..4000 {
        let made = make(seed, true, dir.path());
        let mut drawn = BTreeSet::new();
        add_keys(schema, schema, &made.text.parse().unwrap(), &mut drawn);
        missing.retain(|key| !drawn.contains(key));
        // None of them is refused.
        read(&made, dir.path());
        if missing.is_empty() && seed > 1000 {
            return;
        }
    }
    panic!("of 4,000 random scenes none has {missing:?}: draw them in src/tests/random_scenes/maker.rs");
}

//! A scene in TOML: its tables, reading and writing.

use super::diagnostic::{Problem, Rule};
use super::keys::kinds::Kind;
use super::keys::read::{Context, Table, TomlValue};
use super::keys::write::Lines;
use super::keys::{Field, Key, Keys, keys};
use super::limits::{MAX_PIXELS, MAX_SIDE};
use super::suggest;
use super::{
    Air, Body, Camera, Ellipsoid, FilmSettings, Floor, Light, Mesh, Output, ParseOptions, Particles, Rectangle,
    RenderSettings, Scene, Sky, Sphere, World, defaults,
};
use crate::math::vec3::Vec3;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

keys! {
    // A scene's tables.
    #[derive(Clone, Debug, PartialEq)]
    pub(super) struct SceneKeys in "scene" {
        /// Frames, their size, and where they go.
        output: OutputKeys = OutputKeys::default();
        /// How light is traced.
        render: RenderKeys = RenderKeys::default();
        /// The film: from exposure to the tone curve.
        film: FilmSettings = FilmSettings::default();
        /// The background and environment light: a gradient, or a picture.
        sky: Sky = Sky::default();
        /// The air: clear, or a uniform fog.
        air: Air = Air::default();
        /// The camera and its path: fixed (`position` and `look_at`), on cylinders (`eye` and `target`), on an orbit, or through keys.
        camera: Camera = Camera::default();
        /// A Platonic solid with bars, lamps and a motion.
        bodies as "body": Vec<Body> = Vec::new();
        /// A ball.
        spheres as "sphere": Vec<Sphere> = Vec::new();
        /// An ellipsoid.
        ellipsoids as "ellipsoid": Vec<Ellipsoid> = Vec::new();
        /// A rectangle; with material `light` it is a panel that emits on both sides.
        rectangles as "rectangle": Vec<Rectangle> = Vec::new();
        /// Triangles from a file.
        meshes as "mesh": Vec<Mesh> = Vec::new();
        /// Spheres from the files of a simulation.
        particles: Option<Particles> = None;
        /// The floor.
        floor: Option<Floor> = None;
        /// A point light, or a spherical light.
        lights as "light": Vec<Light> = Vec::new();
    }

    fn check(&mut self, table: &mut Table) {
        let (sampling, shutter) = (self.render.settings.sampling, self.camera.shutter);
        let is_uneven = sampling.is_adaptive() || sampling.noise_limit() > 0.0 || shutter > 0.0;
        if let (Some(told), true, true) = (table.place_in("sky", "transparent"), self.sky.transparent, is_uneven) {
            let expected = "expected no range of `samples`, no `noise` and no `shutter`: all samples of a pixel count alike in its alpha";
            table.problem(told, "`transparent` needs the same samples everywhere", expected);
        }
        if let (Some(told), true, true) =
            (table.place_in("sky", "transparent"), self.sky.transparent, self.air.is_foggy())
        {
            table.problem(told, "fog hides the sky, which is `transparent`", "expected clear air, or an opaque sky");
        }
        if let (Some(told), true) = (table.place_in("render", "samples"), sampling.is_adaptive() && shutter > 0.0) {
            let what = "`samples` is a range, and the camera has a `shutter`";
            table.problem(told, what, "expected a number: an open shutter spreads all samples over its moments");
        }
    }
}

// Picture size, pixels: written in [output], and held in the render settings.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size(u32, u32);

impl Kind for Size {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<Size> {
        let [width, height] = context.numbers(key, value)?;
        if !key.rule.allows(width) || !key.rule.allows(height) {
            let expected = format!("expected two values, each {}", key.rule.expected());
            context.problem(value.span(), format!("`size` is {width} x {height}"), expected);
        } else if width * height > MAX_PIXELS as f64 {
            context.problems.push(super::too_large(value.span(), width as u32, height as u32));
        } else {
            return Some(Size(width as u32, height as u32));
        }
        None
    }
    fn text(&self, _: &Key) -> String {
        format!("[{}, {}]", self.0, self.1)
    }
    fn schema(key: &Key) -> serde_json::Value {
        let mut schema = <[f64; 2]>::schema(key);
        schema["items"]["type"] = "integer".into();
        schema
    }
}

// [output]: the size stands among where the frames go.
#[derive(Clone, Debug, PartialEq)]
struct OutputKeys {
    output: Output,
    size: Size,
}

impl Default for OutputKeys {
    fn default() -> OutputKeys {
        OutputKeys { output: Output::default(), size: Size(defaults::SIZE.0, defaults::SIZE.1) }
    }
}

impl Keys for OutputKeys {
    const TABLE: &'static str = "output";
    fn fields(&mut self) -> Vec<Field<'_>> {
        const SIZE: Key = Key::new("size", "Width and height.")
            .rule(Rule::Whole(1, MAX_SIDE))
            .unit("pixels")
            .group("Files")
            .spelled();
        let mut fields = self.output.fields();
        fields.insert(2, (&SIZE, &mut self.size));
        fields
    }
    fn check(&mut self, table: &mut Table) {
        self.output.check(table);
    }
}
keys!(@table OutputKeys);

keys! {
    // [render]: the light without a place stands there too.
    #[derive(Clone, Debug, PartialEq)]
    struct RenderKeys in "render" {
        /// How a scene is rendered.
        settings: RenderSettings = RenderSettings::default(), flat();
        /// Weight of the Blinn-Phong highlight.
        highlight: f64 = defaults::HIGHLIGHT, rule(Rule::Brightness), slider(0.0, 2.0), group("Light"), spelled();
        /// Ambient light (Whitted).
        ambient: Vec3 = defaults::AMBIENT, colour(), rule(Rule::Brightness), spelled();
    }
}

/// Keys that stood in another table once, and still may: the table, the key, and where it stands now.
pub(super) const MOVED: [(&str, &str, &str); 2] = [("render", "tone", "film"), ("render", "gamma", "film")];

impl From<&Scene> for SceneKeys {
    fn from(scene: &Scene) -> SceneKeys {
        let Scene { world, camera, render, film, output } = scene.clone();
        SceneKeys {
            output: OutputKeys { output, size: Size(render.width, render.height) },
            render: RenderKeys { settings: render, highlight: world.highlight, ambient: world.ambient },
            film,
            sky: world.sky,
            air: world.air,
            camera,
            bodies: world.bodies,
            spheres: world.spheres,
            ellipsoids: world.ellipsoids,
            rectangles: world.rectangles,
            meshes: world.meshes,
            particles: world.particles,
            floor: world.floor,
            lights: world.lights,
        }
    }
}

impl From<SceneKeys> for Scene {
    fn from(keys: SceneKeys) -> Scene {
        let OutputKeys { output, size: Size(width, height) } = keys.output;
        let RenderKeys { settings, highlight, ambient } = keys.render;
        Scene {
            world: World {
                bodies: keys.bodies,
                spheres: keys.spheres,
                ellipsoids: keys.ellipsoids,
                rectangles: keys.rectangles,
                meshes: keys.meshes,
                particles: keys.particles,
                floor: keys.floor,
                lights: keys.lights,
                ambient,
                highlight,
                sky: keys.sky,
                air: keys.air,
            },
            camera: keys.camera,
            render: RenderSettings { width, height, ..settings },
            film: keys.film,
            output,
        }
    }
}

/// The scene in TOML.
pub fn write(scene: &Scene) -> String {
    let mut text = String::new();
    Lines::of(&SceneKeys::from(scene)).write("", &mut text);
    text
}

/// Reads a scene; its paths start at the options' folder.
pub fn parse(text: &str, options: ParseOptions) -> Result<(Scene, Vec<Problem>), Vec<Problem>> {
    let mut document = DeTable::parse(text).map_err(|e| vec![no_toml(text, &e)])?;
    let mut context = Context { options, problems: Vec::new(), warnings: Vec::new() };
    move_keys(document.get_mut(), &mut context);
    let mut keys = SceneKeys::default();
    let mut table = Table::new(&mut context, document.get_ref(), 0..0, "scene");
    table.read(&mut keys);
    let told = table.place_in("output", "loop");
    table.finish();
    let scene = Scene::from(keys);
    let world = &scene.world;
    let is_empty = world.bodies.is_empty() && world.materials().next().is_none() && world.floor.is_none();
    if is_empty && context.problems.is_empty() {
        let end = text.trim_end().len();
        let expected =
            "expected a [[body]], [[sphere]], [[ellipsoid]], [[rectangle]], [[mesh]], [particles] or a [floor]";
        let problem = Problem::new(end..end, "the scene is empty", expected);
        context.problems.push(problem.help("`polyfly --default toml` prints a whole scene"));
    }
    if let (Some(told), true, true) = (told, scene.output.is_loop, context.problems.is_empty()) {
        for what in scene.loop_problems() {
            context.problem(told.clone(), what, "expected a clip whose last frame leads to its first");
        }
    }
    if context.problems.is_empty() {
        return Ok((scene, context.warnings));
    }
    context.problems.sort_by_key(|problem| problem.span.start);
    Err(context.problems)
}

// Puts keys of older scenes where they stand now.
fn move_keys(document: &mut DeTable, context: &mut Context) {
    for (from, name, to) in MOVED {
        let Some(DeValue::Table(table)) = document.get_mut(from).map(|value| value.get_mut()) else { continue };
        let Some((key, value)) = table.remove_entry(name) else { continue };
        let span = value.span();
        let place = toml::Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
        let target = document.entry(toml::Spanned::new(span.clone(), to.into())).or_insert(place);
        match target.get_mut() {
            DeValue::Table(table) if table.contains_key(name) => {
                let what = format!("`{name}` stands in [{to}] and in [{from}]");
                context.problem(span, what, format!("expected it in [{to}] only"));
            }
            DeValue::Table(table) => drop(table.insert(key, value)),
            // What stands there is told of as such.
            _ => {}
        }
    }
}

// What is wrong with a text that is no TOML.
fn no_toml(text: &str, e: &toml::de::Error) -> Problem {
    let span = e.span().unwrap_or(text.len()..text.len());
    let problem = Problem::new(span.clone(), "this is not TOML", e.message().to_owned());
    match syntax_help(text, &span).filter(|_| !e.message().contains("duplicate")) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

// What an author of broken TOML may have meant.
fn syntax_help(text: &str, span: &Range<usize>) -> Option<String> {
    let line_start = text[..span.start.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let line = text[line_start..].lines().next()?;
    let value = line.split_once('=').map(|(_, value)| value.trim())?;
    let bare = value.split('#').next().unwrap_or_default().trim();
    let number = |text: &str| text.trim().parse::<f64>().ok();
    const CURLED: [char; 8] =
        ['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{201a}', '\u{ab}', '\u{bb}'];
    if value.starts_with(CURLED) {
        return Some(format!("quotation marks are straight: \"{}\"", bare.trim_matches(CURLED)));
    }
    if value.starts_with('"') && value.contains('\\') {
        let name = bare.trim_matches('"');
        return Some(format!(
            "a backslash in double quotes begins a special letter; single quotes leave it as it is: '{name}'"
        ));
    }
    if value.starts_with('#') {
        return Some(format!("a colour stands in quotes: \"{value}\""));
    }
    if let Some(x) = bare.strip_suffix('%').and_then(number) {
        return Some(format!("a share is a number from 0 to 1: {}", x / 100.0));
    }
    if let Some(help) = suggest::number_help(bare) {
        return Some(help);
    }
    if bare.starts_with('[') && bare.contains(suggest::DASHES) {
        return Some(format!("these are dashes and no minus signs: {}", bare.replace(suggest::DASHES, "-")));
    }
    if let (Some(x), true) = (number(bare), bare.starts_with(['.', '+', '-']) || bare.ends_with('.')) {
        return Some(format!("digits stand on both sides of the point: {x:?}"));
    }
    let is_word = !bare.is_empty() && bare.chars().all(|c| c.is_alphanumeric() || "_-./@~".contains(c));
    is_word.then(|| format!("a text stands in quotes: \"{bare}\""))
}

//! A scene in TOML: the same meaning as the tokens, any number of bodies and lights, keys with names.

use super::diagnostic::{Problem, Rule};
use super::limits::{
    MAX_DEPTH, MAX_FRAMES, MAX_LAMPS, MAX_LIGHT_SAMPLES, MAX_PATH_SAMPLES, MAX_PIXELS, MAX_SAMPLES, MAX_SIDE, SHORTEST,
};
use super::toml_keys::*;
use super::toml_material::MaterialUse;
use super::toml_structure;
use super::toml_values::{At, Number, NumberOrWord, Numbers, Text, ThreeNumbers, Triple};
use super::{
    Adaptive, Body, ColourBy, Integrator, LampPattern, LampSamples, LampSides, Light, MaterialKind, Mesh, Motion,
    ParseOptions, Particles, Rectangle, RenderSettings, Rotation, Scene, Sky, SkySource, Solid, Sphere, World,
    defaults,
};
use crate::math::vec3::{Vec3, length};
use toml::Spanned;

// Checks values and gathers what is wrong with them.
#[derive(Default)]
pub struct Validator {
    pub problems: Vec<Problem>,
    // What may not be meant, and is done.
    pub warnings: Vec<Problem>,
    // Some of its keys made no sense: what is not there may be among them.
    pub is_partial: bool,
    // The table that is looked at, and what its keys may be, for who asks.
    table: &'static str,
    notes: Option<Vec<KeyInfo>>,
}

/// What a key may be.
pub struct KeyInfo {
    /// Its table, by the name in the schema.
    pub table: &'static str,
    /// The key.
    pub key: String,
    /// Its values.
    pub values: Values,
}

/// What values may be.
pub enum Values {
    /// Numbers, or lists of them; what holds where there is none.
    Numbers(Rule, Option<Vec<f64>>),
    /// Some words; the one that holds where there is none.
    Words(Vec<&'static str>, Option<&'static str>),
}

// A number as its author may have written it: without a hundred noughts.
fn shown(x: f64) -> String {
    if x.abs() >= 1e15 { format!("{x:e}") } else { x.to_string() }
}

impl Validator {
    // Looks at a table of that name.
    pub fn within<T>(&mut self, table: &'static str, look: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.table, table);
        let value = look(self);
        self.table = outer;
        value
    }
    pub fn note(&mut self, key: &str, values: impl FnOnce() -> Values) {
        let table = self.table;
        if let Some(notes) = &mut self.notes {
            notes.push(KeyInfo { table, key: key.to_owned(), values: values() });
        }
    }
    // What is not given stays open.
    pub fn optional(&mut self, key: &str, value: &Number, rule: Rule) -> Option<f64> {
        self.note(key, || Values::Numbers(rule, None));
        value.as_ref().map(|_| self.given(key, value, 0.0, rule))
    }
    pub fn number(&mut self, key: &str, value: &Number, default: f64, rule: Rule) -> f64 {
        self.note(key, || Values::Numbers(rule, Some(vec![default])));
        self.given(key, value, default, rule)
    }
    fn given(&mut self, key: &str, value: &Number, default: f64, rule: Rule) -> f64 {
        let Some(value) = value else { return default };
        let x = value.get_ref().0;
        if !rule.allows(x) {
            self.problems.push(Problem::new(
                value.span(),
                format!("`{key}` is {x}"),
                format!("expected {}", rule.expected()),
            ));
            return default;
        }
        x
    }
    pub fn whole(&mut self, key: &str, value: &Number, default: u32, min: u32, max: u32) -> u32 {
        self.number(key, value, f64::from(default), Rule::Whole(min, max)) as u32
    }
    pub fn triple<T: ThreeNumbers>(&mut self, key: &str, value: &Option<At<T>>, default: Vec3, rule: Rule) -> Vec3 {
        self.note(key, || Values::Numbers(rule, Some(default.to_vec())));
        let Some(value) = value else { return default };
        self.vector(key, value, rule)
    }
    pub fn vector<T: ThreeNumbers>(&mut self, key: &str, value: &Spanned<T>, rule: Rule) -> Vec3 {
        let v = value.get_ref().values();
        if let Some(bad) = v.iter().find(|&&x| !rule.allows(x)) {
            let expected = format!("expected three values, each {}", rule.expected());
            let mut problem = Problem::new(value.span(), format!("`{key}` holds {}", shown(*bad)), expected);
            if key.contains("color") && v.iter().all(|x| x.fract() == 0.0 && (0.0..=255.0).contains(x)) && *bad > 3.0 {
                let code = v.map(|x| format!("{:02x}", x as u8)).concat();
                problem = problem.help(format!("codes of 0 to 255 are written as \"#{code}\""));
            }
            self.problems.push(problem);
        }
        v
    }
    pub fn require<T>(&mut self, key: &str, table: &str, span: std::ops::Range<usize>, value: &Option<T>) {
        if value.is_none() && !self.is_partial {
            self.problems.push(Problem::new(
                span,
                format!("this {table} has no `{key}`"),
                format!("expected `{key} = ...` in it"),
            ));
        }
    }
    pub fn angle(&mut self, key: &str, value: &Number) -> f64 {
        super::snap_angle((self.number(key, value, 0.0, Rule::Finite) % 360.0).to_radians())
    }
    // In pixels.
    fn size(&mut self, raw: &Option<At<Numbers<2>>>) -> (u32, u32) {
        let Some(size) = raw else { return defaults::SIZE };
        let rule = Rule::Whole(1, MAX_SIDE);
        let [w, h] = size.get_ref().0;
        let problem = if !rule.allows(w) || !rule.allows(h) {
            let expected = format!("expected two values, each {}", rule.expected());
            Problem::new(size.span(), format!("`size` is {w} x {h}"), expected)
        } else if w * h > MAX_PIXELS as f64 {
            super::too_large(size.span(), w as u32, h as u32)
        } else {
            return (w as u32, h as u32);
        };
        self.problems.push(problem);
        defaults::SIZE
    }
    fn render(&mut self, raw: &RawRender, size: &Option<At<Numbers<2>>>) -> RenderSettings {
        let (width, height) = self.size(size);
        let path_traced = self.one_of("integrator", &raw.integrator, &[(false, "whitted"), (true, "path")]);
        let noise = self.optional("noise", &raw.noise, Rule::NotNegative);
        let integrator = match path_traced {
            true => Integrator::Path { samples: 100, noise: noise.unwrap_or(0.0) },
            false => Integrator::Whitted,
        };
        let mut settings = RenderSettings {
            width,
            height,
            depth: self.whole("depth", &raw.depth, defaults::DEPTH, 0, MAX_DEPTH),
            cutoff: self.number("cutoff", &raw.cutoff, defaults::CUTOFF, Rule::NotNegative),
            light_samples: self.whole(
                "light_samples",
                &raw.light_samples,
                defaults::LIGHT_SAMPLES,
                1,
                MAX_LIGHT_SAMPLES,
            ),
            lamp_samples: self.lamp_samples(raw, path_traced),
            clamp: self.number("clamp", &raw.clamp, 0.0, Rule::NotNegative),
            shadows: raw.shadows.unwrap_or(true),
            integrator,
            samples: if path_traced { 1 } else { defaults::SAMPLES },
            adaptive: None,
        };
        self.note("samples", || Values::Numbers(Rule::Whole(1, MAX_PATH_SAMPLES), None));
        if let Some(samples) = &raw.samples {
            self.samples(samples, noise, &mut settings);
        }
        settings
    }
    // How many, or all.
    fn lamp_samples(&mut self, raw: &RawRender, path_traced: bool) -> LampSamples {
        let rule = Rule::Whole(0, MAX_LIGHT_SAMPLES);
        self.note("lamp_samples", || Values::Numbers(rule, Some(vec![0.0])));
        let Some(given) = &raw.lamp_samples else { return LampSamples::Floor };
        let (what, expected) = match given.get_ref() {
            _ if path_traced => (
                "`lamp_samples` beside `integrator = \"path\"`".into(),
                "expected it without: paths ask a lamp at each bounce".into(),
            ),
            NumberOrWord::Number(0.0) => return LampSamples::Floor,
            NumberOrWord::Number(n) if rule.allows(*n) => return LampSamples::Drawn(*n as u32),
            NumberOrWord::Word(word) if word == "all" => return LampSamples::All,
            other => (format!("`lamp_samples` is {other}"), format!("expected {}, or \"all\"", rule.expected())),
        };
        self.problems.push(Problem::new(given.span(), what, expected));
        LampSamples::Floor
    }
    // A number, or a range for adaptive sampling.
    fn samples(&mut self, raw: &Spanned<NumberOrWord>, noise: Option<f64>, settings: &mut RenderSettings) {
        let all = settings.most_samples();
        let own = if settings.is_path() { all } else { MAX_SAMPLES };
        let (what, expected) = match raw.get_ref() {
            NumberOrWord::Number(n) => {
                let rule = Rule::Whole(1, own);
                if rule.allows(*n) {
                    return settings.set_samples(*n as u32);
                }
                (format!("`samples` is {n}"), format!("expected {}, or a range such as \"4..64\"", rule.expected()))
            }
            NumberOrWord::Word(word) => match Adaptive::parse_range(word, all) {
                Ok((min, max)) => {
                    let noise = noise.unwrap_or(Adaptive::NOISE);
                    return settings.set_adaptive(Adaptive { min, max, noise });
                }
                Err(expected) => {
                    (format!("`samples` is \"{word}\""), format!("expected a whole number, or {expected}"))
                }
            },
        };
        self.problems.push(Problem::new(raw.span(), what, expected));
    }
    fn lamp_pattern(&mut self, raw: &RawBody) -> LampPattern {
        let cycles = self.number("lamp_cycles", &raw.lamp_cycles, 1.0, Rule::Finite);
        let patterns = [
            (LampPattern::Steady, "steady"),
            (LampPattern::Pulse(cycles), "pulse"),
            (LampPattern::Hue(cycles), "hue"),
            (LampPattern::Chase(cycles), "chase"),
        ];
        let pattern = self.one_of("lamp_pattern", &raw.lamp_pattern, &patterns);
        if let (Some(given), LampPattern::Steady) = (&raw.lamp_cycles, pattern) {
            let expected = "expected `lamp_pattern` beside it: \"pulse\", \"hue\" or \"chase\"";
            self.problems.push(Problem::new(given.span(), "steady lamps have no `lamp_cycles`", expected));
        }
        pattern
    }
    fn direction(&mut self, key: &str, value: &Triple, default: Vec3) -> Vec3 {
        let direction = self.triple(key, value, default, Rule::Coordinate);
        // Shorter ones have no square.
        if let (Some(given), true) = (value, length(direction) < SHORTEST) {
            let what = format!("`{key}` has no direction");
            self.problems.push(Problem::new(given.span(), what, format!("expected a vector longer than {SHORTEST:e}")));
        }
        direction
    }
    fn rotation(&mut self, raw: &RawBody) -> Rotation {
        let plain = Rotation::default();
        let axis = self.direction("axis", &raw.axis, plain.axis);
        Rotation { axis, angle_deg: self.number("angle_deg", &raw.angle_deg, 0.0, Rule::Finite) }
    }
    fn body(&mut self, spanned: &Spanned<RawBody>) -> Body {
        let raw = spanned.get_ref();
        self.require("solid", "body", spanned.span(), &raw.solid);
        self.note("solid", || Values::Words([&Solid::ALL.map(Solid::name)[..], &["cube"]].concat(), None));
        let solid = raw.solid.as_ref().and_then(|name| {
            let solid = Solid::from_name(name.get_ref());
            if solid.is_none() {
                let names = Solid::ALL.map(Solid::name).join(", ");
                let problem = Problem::new(
                    name.span(),
                    format!("there is no solid `{}`", name.get_ref()),
                    format!("expected one of {names}"),
                );
                self.problems.push(problem.with_suggestion("solid", name.get_ref(), Solid::ALL.map(Solid::name)));
            }
            solid
        });
        let (lamps, strip) = self.lamps(&raw.lamps);
        let material = self.material(&raw.material(), MaterialUse::Body);
        if let (Some(value), false) = (&raw.reflection_inside, matches!(material.kind, MaterialKind::Plain { .. })) {
            self.problems.push(Problem::new(
                value.span(),
                "this material has no `reflection_inside`",
                "expected it beside a plain material's `reflection`",
            ));
        }
        let (reflection, transparency) = material.shares();
        if let Some(what) = super::material::adds_light(reflection, transparency) {
            let span =
                raw.transparency.as_ref().or(raw.reflection.as_ref()).map_or(spanned.span(), |value| value.span());
            self.warnings.push(Problem::new(span, what, super::material::ADDS_LIGHT));
        }
        if let Some(value) = &raw.reflection_inside
            && let Some((what, so)) = super::material::passes_less(value.get_ref().0, transparency)
        {
            self.warnings.push(Problem::new(value.span(), what, so));
        }
        Body {
            material,
            solid: solid.unwrap_or(Solid::Hexahedron),
            centre: self.triple("center", &raw.center, [0.0; 3], Rule::Coordinate),
            radius: self.number("radius", &raw.radius, 1.0, Rule::Length),
            reflection_inside: self.optional("reflection_inside", &raw.reflection_inside, Rule::Fraction),
            lamps,
            strip,
            lamp_colour: self.triple("lamp_color", &raw.lamp_color, Body::LAMP_COLOUR, Rule::Brightness),
            lamp_intensity: self.number(
                "lamp_intensity",
                &raw.lamp_intensity,
                1.0,
                Rule::Within(0.0, Body::MAX_LAMP_INTENSITY),
            ),
            bar_reflection: self.number("bar_reflection", &raw.bar_reflection, Body::BAR_REFLECTION, Rule::Fraction),
            bar: self.number("bar", &raw.bar, Body::BAR, Rule::Fraction),
            bar_colour: self.triple("bar_color", &raw.bar_color, Body::BAR_COLOUR, Rule::Fraction),
            rotation: self.rotation(raw),
            motion: Motion {
                turns: self.number("turns", &raw.turns, 0.0, Rule::Finite),
                drift: self.triple("drift", &raw.drift, [0.0; 3], Rule::Coordinate),
                path: raw.path.as_ref().map(|path| self.within("path", |c| c.path(path, 0.0, 0.0))),
            },
            lamp_sides: self.one_of("lamp_sides", &raw.lamp_sides, &LampSides::ALL),
            lamp_pattern: self.lamp_pattern(raw),
        }
    }
    // How many on an edge, or a strip.
    fn lamps(&mut self, raw: &Option<At<NumberOrWord>>) -> (u32, bool) {
        let rule = Rule::Whole(0, MAX_LAMPS);
        self.note("lamps", || Values::Numbers(rule, Some(vec![0.0])));
        let Some(raw) = raw else { return (0, false) };
        match raw.get_ref() {
            NumberOrWord::Word(word) if word == "strip" => (0, true),
            NumberOrWord::Number(n) if rule.allows(*n) => (*n as u32, false),
            other => {
                let expected = format!("expected {}, or \"strip\"", rule.expected());
                self.problems.push(Problem::new(raw.span(), format!("`lamps` is {other}"), expected));
                (0, false)
            }
        }
    }
    fn sky(&mut self, raw: &RawSky, reading: ParseOptions) -> Sky {
        let image =
            raw.image.as_ref().and_then(|text| match SkySource::parse(text.get_ref(), reading.folder, reading.home) {
                Ok(image) => image,
                Err(expected) => {
                    let what = format!("there is no built-in sky `{}`", text.get_ref());
                    self.problems.push(Problem::new(text.span(), what, format!("expected {expected}")));
                    None
                }
            });
        Sky {
            zenith: self.triple("zenith", &raw.zenith, defaults::ZENITH, Rule::Brightness),
            horizon: self.triple("horizon", &raw.horizon, defaults::HORIZON, Rule::Brightness),
            from_below: raw.from_below.unwrap_or(false),
            image,
            rotation_deg: self.number("rotation_deg", &raw.rotation_deg, 0.0, Rule::Finite),
            intensity: self.number("intensity", &raw.intensity, 1.0, Rule::Brightness),
            transparent: raw.transparent.as_ref().is_some_and(|t| *t.get_ref()),
        }
    }
    // One of some words.
    pub fn one_of<T: Copy>(&mut self, key: &str, text: &Text, words: &[(T, &'static str)]) -> T {
        self.note(key, || Values::Words(words.iter().map(|(_, word)| *word).collect(), Some(words[0].1)));
        let Some(text) = text else { return words[0].0 };
        if let Some((value, _)) = words.iter().find(|(_, w)| w.eq_ignore_ascii_case(text.get_ref())) {
            return *value;
        }
        let all = words.iter().map(|(_, w)| format!("\"{w}\"")).collect::<Vec<_>>().join(", ");
        let what = format!("`{key}` is \"{}\"", text.get_ref());
        let problem = Problem::new(text.span(), what, format!("expected one of {all}"));
        self.problems.push(problem.with_suggestion(key, text.get_ref(), words.iter().map(|(_, word)| *word)));
        words[0].0
    }
    fn sphere(&mut self, spanned: &Spanned<RawSphere>) -> Sphere {
        let raw = spanned.get_ref();
        Sphere {
            centre: self.triple("center", &raw.center, [0.0; 3], Rule::Coordinate),
            radius: self.number("radius", &raw.radius, 1.0, Rule::Length),
            material: self.material(&raw.material(), MaterialUse::Thing),
        }
    }
    fn rectangle(&mut self, spanned: &Spanned<RawRectangle>) -> Rectangle {
        let (raw, plain) = (spanned.get_ref(), Rectangle::default());
        let size = raw.size.as_ref().map_or(plain.size, |s| s.get_ref().0);
        if let (Some(given), false) = (&raw.size, size.iter().all(|&s| Rule::Length.allows(s))) {
            let expected = format!("expected two values, each {}", Rule::Length.expected());
            self.problems.push(Problem::new(given.span(), format!("`size` is {} x {}", size[0], size[1]), expected));
        }
        Rectangle {
            centre: self.triple("center", &raw.center, plain.centre, Rule::Coordinate),
            size,
            facing: self.direction("facing", &raw.facing, plain.facing),
            angle_deg: self.number("angle_deg", &raw.angle_deg, 0.0, Rule::Finite),
            material: self.material(&raw.material(), MaterialUse::Thing),
        }
    }
    fn mesh(&mut self, spanned: &Spanned<RawMesh>, reading: ParseOptions) -> Mesh {
        let raw = spanned.get_ref();
        self.require("path", "mesh", spanned.span(), &raw.path);
        let path = raw.path.as_ref().map_or("", |p| p.get_ref());
        Mesh {
            path: reading.folder.join(super::expand_home(path, reading.home)),
            material: self.material(&raw.material(), MaterialUse::Thing),
            scale: self.number("scale", &raw.scale, 1.0, Rule::Length),
            offset: self.triple("offset", &raw.offset, [0.0; 3], Rule::Coordinate),
            z_up: raw.z_up.unwrap_or(true),
            smooth: raw.smooth.unwrap_or(true),
        }
    }
    fn particles(&mut self, spanned: &Spanned<RawParticles>, reading: ParseOptions) -> Particles {
        let raw = spanned.get_ref();
        self.require("path", "particles", spanned.span(), &raw.path);
        let path = raw.path.as_ref().map_or("", |p| p.get_ref());
        if let Some(range) = &raw.range
            && range.get_ref().0[0].partial_cmp(&range.get_ref().0[1]) != Some(std::cmp::Ordering::Less)
        {
            self.problems.push(Problem::new(range.span(), "`range` is empty", "expected two numbers, the lower first"));
        }
        Particles {
            path: reading.folder.join(super::expand_home(path, reading.home)).display().to_string(),
            first: self.whole("first", &raw.first, 0, 0, MAX_FRAMES),
            step: self.whole("step", &raw.step, 1, 1, MAX_FRAMES),
            colour_by: self.one_of("color_by", &raw.color_by, &ColourBy::ALL),
            range: raw.range.as_ref().map(|r| r.get_ref().0),
            material: self.material(&raw.material(), MaterialUse::Thing),
            legend: raw.legend.unwrap_or(false),
        }
    }
    fn light(&mut self, spanned: &Spanned<RawLight>) -> Light {
        let raw = spanned.get_ref();
        self.require("position", "light", spanned.span(), &raw.position);
        Light {
            position: self.triple("position", &raw.position, [0.0; 3], Rule::Coordinate),
            colour: self.triple("color", &raw.color, [1.0; 3], Rule::Brightness),
            radius: self.number("radius", &raw.radius, 0.0, Rule::NotNegative),
        }
    }
}

impl Validator {
    fn scene(&mut self, raw: &RawScene, reading: ParseOptions) -> Scene {
        let (ambient, highlight) = self.within("render", |c| {
            let ambient = c.triple("ambient", &raw.render.ambient, defaults::AMBIENT, Rule::Brightness);
            (ambient, c.number("highlight", &raw.render.highlight, defaults::HIGHLIGHT, Rule::Brightness))
        });
        Scene {
            world: World {
                bodies: self.within("body", |c| raw.body.iter().map(|b| c.body(b)).collect()),
                spheres: self.within("sphere", |c| raw.sphere.iter().map(|s| c.sphere(s)).collect()),
                rectangles: self.within("rectangle", |c| raw.rectangle.iter().map(|r| c.rectangle(r)).collect()),
                meshes: self.within("mesh", |c| raw.mesh.iter().map(|m| c.mesh(m, reading)).collect()),
                particles: self.within("particles", |c| raw.particles.as_ref().map(|p| c.particles(p, reading))),
                floor: self.within("floor", |c| raw.floor.as_ref().map(|f| c.floor(f, reading))),
                lights: self.within("light", |c| raw.light.iter().map(|l| c.light(l)).collect()),
                ambient,
                highlight,
                sky: self.within("sky", |c| c.sky(&raw.sky, reading)),
            },
            camera: self.within("camera", |c| c.camera(&raw.camera)),
            render: self.within("render", |c| c.render(&raw.render, &raw.output.size)),
            film: self.within("film", |c| c.film(&raw.film, &raw.render)),
            output: self.within("output", |c| c.output(&raw.output, reading)),
        }
    }
}

/// What every key that the rules look at may be.
pub fn notes() -> Vec<KeyInfo> {
    // A table of each kind; what is missing in them is of no interest here.
    const ALL: &str = "[camera.orbit]\n[[camera.key]]\n[body.path]\n[floor.relief]\n[particles]\n[[sphere]]\n[[sphere]]\nmaterial = \"glass\"\n[[sphere]]\nmaterial = \"metal\"\n[[sphere]]\nmaterial = \"light\"\n[[rectangle]]\n[[mesh]]\n[[light]]\n";
    let text = format!("[[body]]\n{ALL}");
    let (Some(raw), _) = toml_structure::read(&text) else { return Vec::new() };
    let mut c = Validator { notes: Some(Vec::new()), ..Validator::default() };
    c.scene(&raw, ParseOptions::default());
    c.notes.unwrap_or_default()
}

/// Reads a scene; its paths start at `folder`.
pub fn parse(text: &str, reading: ParseOptions) -> Result<(Scene, Vec<Problem>), Vec<Problem>> {
    let (raw, problems) = toml_structure::read(text);
    let Some(raw) = raw else { return Err(problems) };
    let mut c = Validator { is_partial: !problems.is_empty(), problems, ..Validator::default() };
    let things = raw.body.len() + raw.sphere.len() + raw.rectangle.len() + raw.mesh.len();
    if things == 0 && raw.floor.is_none() && raw.particles.is_none() && !c.is_partial {
        let end = text.trim_end().len();
        c.problems.push(
            Problem::new(
                end..end,
                "the scene is empty",
                "expected a [[body]], [[sphere]], [[rectangle]], [[mesh]], [particles] or a [floor]",
            )
            .help("`polyfly --default toml` prints a whole scene"),
        );
    }
    let scene = c.scene(&raw, reading);
    let is_noisy = scene.render.integrator.noise() > 0.0;
    let uneven = scene.render.adaptive.is_some() || scene.camera.shutter > 0.0 || is_noisy;
    if let (Some(told), true, true) = (&raw.sky.transparent, scene.world.sky.transparent, uneven) {
        let expected = "expected no range of `samples`, no `noise` and no `shutter`: all samples of a pixel count alike in its alpha";
        c.problems.push(Problem::new(told.span(), "`transparent` needs the same samples everywhere", expected));
    }
    if let (Some(told), Some(_), true) = (&raw.render.samples, scene.render.adaptive, scene.camera.shutter > 0.0) {
        let what = "`samples` is a range, and the camera has a `shutter`";
        let expected = "expected a number: an open shutter spreads all samples over its moments";
        c.problems.push(Problem::new(told.span(), what, expected));
    }
    if let (Some(told), true, true) = (&raw.output.is_loop, scene.output.is_loop, c.problems.is_empty()) {
        for what in scene.loop_problems() {
            c.problems.push(Problem::new(told.span(), what, "expected a clip whose last frame leads to its first"));
        }
    }
    if c.problems.is_empty() {
        Ok((scene, c.warnings))
    } else {
        c.problems.sort_by_key(|p| p.span.start);
        Err(c.problems)
    }
}

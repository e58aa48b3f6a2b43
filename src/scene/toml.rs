//! A scene in TOML: the same meaning as the tokens, any number of bodies and lights, keys with names.

use super::{
    Body, ColourBy, Floor, Integrator, Light, Material, MaterialKind, Mesh, Output, Particles, Pattern, Scene, Sphere,
    TextureSource, Tone, defaults,
};
use crate::camera::{Camera, CylindricalPath};
use crate::diagnostic::{Problem, Rule};
use crate::solid::Solid;
use crate::vector::Vec3;
use serde::Deserialize;
use serde::de::{self, SeqAccess, Visitor};
use std::path::Path;
use toml::Spanned;

type Number = Option<Spanned<f64>>;
type Text = Option<Spanned<String>>;
type Triple = Option<Spanned<Numbers<3>>>;

// Just N numbers: serde's own arrays would silently drop a fourth.
struct Numbers<const N: usize>([f64; N]);

impl<'de, const N: usize> Deserialize<'de> for Numbers<N> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seq<const N: usize>;
        impl<'de, const N: usize> Visitor<'de> for Seq<N> {
            type Value = Numbers<N>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "a list of {N} numbers")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = [0.0; N];
                for (i, value) in values.iter_mut().enumerate() {
                    *value = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(i, &self))?;
                }
                match seq.next_element::<de::IgnoredAny>()? {
                    Some(_) => Err(de::Error::invalid_length(N + 1, &self)),
                    None => Ok(Numbers(values)),
                }
            }
        }
        deserializer.deserialize_seq(Seq)
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawScene {
    output: RawOutput,
    render: RawRender,
    sky: RawSky,
    camera: RawCamera,
    body: Vec<Spanned<RawBody>>,
    sphere: Vec<Spanned<RawSphere>>,
    mesh: Vec<Spanned<RawMesh>>,
    particles: Option<Spanned<RawParticles>>,
    floor: Option<Spanned<RawFloor>>,
    light: Vec<Spanned<RawLight>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawOutput {
    frames: Number,
    path: Text,
    size: Option<Spanned<Numbers<2>>>,
    video: Text,
    fps: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawRender {
    samples: Number,
    depth: Number,
    cutoff: Number,
    highlight: Number,
    ambient: Triple,
    integrator: Text,
    noise: Number,
    tone: Text,
    gamma: Number,
    shadows: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawSky {
    zenith: Triple,
    horizon: Triple,
    from_below: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawCamera {
    fov_deg: Number,
    eye: RawPath,
    target: RawPath,
    position: Triple,
    look_at: Triple,
    lens: Number,
    focus: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawPath {
    r: Number,
    z: Number,
    phi_deg: Number,
    r_amplitude: Number,
    z_amplitude: Number,
    r_cycles: Number,
    z_cycles: Number,
    phi_cycles: Number,
    r_phase_deg: Number,
    z_phase_deg: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawBody {
    solid: Text,
    #[serde(alias = "centre")]
    center: Triple,
    #[serde(alias = "colour")]
    color: Triple,
    radius: Number,
    reflection: Number,
    transparency: Number,
    lamps: Number,
    #[serde(alias = "lamp_colour")]
    lamp_color: Triple,
    bar: Number,
    #[serde(alias = "bar_colour")]
    bar_color: Triple,
    ior: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawFloor {
    corners: Option<Spanned<Vec<Spanned<Numbers<3>>>>>,
    texture: Text,
    tint: Triple,
    reflection: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawLight {
    position: Triple,
    #[serde(alias = "colour")]
    color: Triple,
}

// How a ball, a mesh or particles look: keys of their tables.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawSphere {
    #[serde(alias = "centre")]
    center: Triple,
    radius: Number,
    #[serde(alias = "colour")]
    color: Triple,
    material: Text,
    reflection: Number,
    transparency: Number,
    ior: Number,
    fuzz: Number,
    strength: Number,
    highlight: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawMesh {
    path: Text,
    scale: Number,
    offset: Triple,
    z_up: Option<bool>,
    #[serde(alias = "colour")]
    color: Triple,
    material: Text,
    reflection: Number,
    transparency: Number,
    ior: Number,
    fuzz: Number,
    strength: Number,
    highlight: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawParticles {
    path: Text,
    first: Number,
    step: Number,
    #[serde(alias = "colour_by")]
    color_by: Text,
    range: Option<Spanned<Numbers<2>>>,
    legend: Option<bool>,
    #[serde(alias = "colour")]
    color: Triple,
    material: Text,
    reflection: Number,
    transparency: Number,
    ior: Number,
    fuzz: Number,
    strength: Number,
    highlight: Number,
}

// The keys of a material, wherever they stand.
macro_rules! look {
    ($raw:expr) => {
        Look {
            colour: &$raw.color,
            kind: &$raw.material,
            reflection: &$raw.reflection,
            transparency: &$raw.transparency,
            ior: &$raw.ior,
            fuzz: &$raw.fuzz,
            strength: &$raw.strength,
            highlight: &$raw.highlight,
        }
    };
}
struct Look<'a> {
    colour: &'a Triple,
    kind: &'a Text,
    reflection: &'a Number,
    transparency: &'a Number,
    ior: &'a Number,
    fuzz: &'a Number,
    strength: &'a Number,
    highlight: &'a Number,
}

// Checks values and gathers what is wrong with them.
struct Checker {
    problems: Vec<Problem>,
}

impl Checker {
    fn number(&mut self, key: &str, value: &Number, default: f64, rule: Rule) -> f64 {
        let Some(value) = value else { return default };
        let x = *value.get_ref();
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
    fn whole(&mut self, key: &str, value: &Number, default: u32, least: u32, most: u32) -> u32 {
        self.number(key, value, f64::from(default), Rule::Whole(least, most)) as u32
    }
    fn triple(&mut self, key: &str, value: &Triple, default: Vec3, rule: Rule) -> Vec3 {
        let Some(value) = value else { return default };
        self.vector(key, value, rule)
    }
    fn vector(&mut self, key: &str, value: &Spanned<Numbers<3>>, rule: Rule) -> Vec3 {
        let v = value.get_ref().0;
        if let Some(bad) = v.iter().find(|&&x| !rule.allows(x)) {
            self.problems.push(Problem::new(
                value.span(),
                format!("`{key}` holds {bad}"),
                format!("expected three values, each {}", rule.expected()),
            ));
        }
        v
    }
    fn needed<T>(&mut self, key: &str, table: &str, span: std::ops::Range<usize>, value: &Option<T>) {
        if value.is_none() {
            self.problems.push(Problem::new(
                span,
                format!("this {table} has no `{key}`"),
                format!("expected `{key} = ...` in it"),
            ));
        }
    }
    fn angle(&mut self, key: &str, value: &Number) -> f64 {
        super::snap_angle((self.number(key, value, 0.0, Rule::Finite) % 360.0).to_radians())
    }
    fn path(&mut self, raw: &RawPath, r: f64, z: f64) -> CylindricalPath {
        CylindricalPath {
            r0: self.number("r", &raw.r, r, Rule::Coordinate),
            z0: self.number("z", &raw.z, z, Rule::Coordinate),
            phi0: self.angle("phi_deg", &raw.phi_deg),
            ar: self.number("r_amplitude", &raw.r_amplitude, 0.0, Rule::Coordinate),
            az: self.number("z_amplitude", &raw.z_amplitude, 0.0, Rule::Coordinate),
            wr: self.number("r_cycles", &raw.r_cycles, 0.0, Rule::Finite),
            wz: self.number("z_cycles", &raw.z_cycles, 0.0, Rule::Finite),
            wphi: self.number("phi_cycles", &raw.phi_cycles, 0.0, Rule::Finite),
            pr: self.angle("r_phase_deg", &raw.r_phase_deg),
            pz: self.angle("z_phase_deg", &raw.z_phase_deg),
        }
    }
    fn body(&mut self, spanned: &Spanned<RawBody>) -> Body {
        let raw = spanned.get_ref();
        self.needed("solid", "body", spanned.span(), &raw.solid);
        let solid = raw.solid.as_ref().and_then(|name| {
            let solid = Solid::from_name(name.get_ref());
            if solid.is_none() {
                let names = Solid::ALL.map(Solid::name).join(", ");
                self.problems.push(Problem::new(
                    name.span(),
                    format!("there is no solid `{}`", name.get_ref()),
                    format!("expected one of {names}"),
                ));
            }
            solid
        });
        Body {
            solid: solid.unwrap_or(Solid::Hexahedron),
            centre: self.triple("center", &raw.center, [0.0; 3], Rule::Coordinate),
            colour: self.triple("color", &raw.color, [0.8; 3], Rule::Fraction),
            radius: self.number("radius", &raw.radius, 1.0, Rule::Length),
            reflection: self.number("reflection", &raw.reflection, 0.0, Rule::Fraction),
            transparency: self.number("transparency", &raw.transparency, 0.0, Rule::Fraction),
            lamps: self.whole("lamps", &raw.lamps, 0, 0, super::MAX_LAMPS),
            lamp_colour: self.triple("lamp_color", &raw.lamp_color, Body::LAMP_COLOUR, Rule::Brightness),
            bar: self.number("bar", &raw.bar, Body::BAR, Rule::Fraction),
            bar_colour: self.triple("bar_color", &raw.bar_color, Body::BAR_COLOUR, Rule::Fraction),
            ior: self.number("ior", &raw.ior, 1.0, Rule::Index),
        }
    }
    fn floor(&mut self, spanned: &Spanned<RawFloor>, folder: &Path) -> Floor {
        let raw = spanned.get_ref();
        self.needed("corners", "floor", spanned.span(), &raw.corners);
        let mut corners = [[-5.0, -5.0, -1.0], [-5.0, 5.0, -1.0], [5.0, 5.0, -1.0], [5.0, -5.0, -1.0]];
        if let Some(list) = &raw.corners {
            let points: Vec<Vec3> =
                list.get_ref().iter().map(|p| self.vector("corners", p, Rule::Coordinate)).collect();
            match points.try_into() {
                Ok(points) => corners = super::perimeter_order(points),
                Err(points) => self.problems.push(Problem::new(
                    list.span(),
                    format!("the floor has {} corners", points.len()),
                    "expected four points",
                )),
            }
            if !super::has_area(&corners) {
                self.problems.push(Problem::new(
                    list.span(),
                    "the floor's corners lie on a line",
                    "expected four corners of a floor",
                ));
            }
        }
        let texture = raw.texture.as_ref().and_then(|text| match TextureSource::parse(text.get_ref(), folder) {
            Ok(texture) => texture,
            Err(expected) => {
                self.problems.push(Problem::new(
                    text.span(),
                    format!("there is no built-in texture `{}`", text.get_ref()),
                    format!("expected {expected}"),
                ));
                None
            }
        });
        Floor {
            corners,
            texture,
            tint: self.triple("tint", &raw.tint, [1.0; 3], Rule::Fraction),
            reflection: self.number("reflection", &raw.reflection, 0.0, Rule::Fraction),
        }
    }
    // One of some words.
    fn word<T: Copy>(&mut self, key: &str, text: &Text, words: &[(T, &str)]) -> T {
        let Some(text) = text else { return words[0].0 };
        if let Some((value, _)) = words.iter().find(|(_, w)| w == text.get_ref()) {
            return *value;
        }
        let all = words.iter().map(|(_, w)| format!("\"{w}\"")).collect::<Vec<_>>().join(", ");
        self.problems.push(Problem::new(
            text.span(),
            format!("`{key}` is \"{}\"", text.get_ref()),
            format!("expected one of {all}"),
        ));
        words[0].0
    }
    fn material(&mut self, look: &Look) -> Material {
        let kind = self.word("material", look.kind, &[(0, "plain"), (1, "metal"), (2, "glass"), (3, "light")]);
        let fuzz = self.number("fuzz", look.fuzz, 0.0, Rule::Fraction);
        let strength = self.number("strength", look.strength, 1.0, Rule::Brightness);
        let ior = self.number("ior", look.ior, if kind == 2 { 1.5 } else { 1.0 }, Rule::Index);
        let reflection = self.number("reflection", look.reflection, 0.0, Rule::Fraction);
        let transparency = self.number("transparency", look.transparency, 0.0, Rule::Fraction);
        // A key that this material does not have would be ignored: better to say so.
        let has = |key: &str| match kind {
            0 => ["reflection", "transparency", "ior"].contains(&key),
            1 => key == "fuzz",
            2 => key == "ior",
            _ => key == "strength",
        };
        let given = [
            ("fuzz", look.fuzz),
            ("strength", look.strength),
            ("ior", look.ior),
            ("reflection", look.reflection),
            ("transparency", look.transparency),
        ];
        for (key, value) in given {
            if let (Some(value), false) = (value, has(key)) {
                self.problems.push(Problem::new(
                    value.span(),
                    format!("this material has no `{key}`"),
                    "plain has reflection, transparency and ior; metal has fuzz; glass has ior; light has strength",
                ));
            }
        }
        Material {
            colour: self.triple("color", look.colour, if kind == 2 { [1.0; 3] } else { [0.8; 3] }, Rule::Fraction),
            kind: match kind {
                0 => MaterialKind::Plain { reflection, transparency, ior },
                1 => MaterialKind::Metal { fuzz },
                2 => MaterialKind::Glass { ior },
                _ => MaterialKind::Light { strength },
            },
            highlight: look.highlight.as_ref().map(|_| self.number("highlight", look.highlight, 0.0, Rule::Brightness)),
        }
    }
    fn sphere(&mut self, spanned: &Spanned<RawSphere>) -> Sphere {
        let raw = spanned.get_ref();
        Sphere {
            centre: self.triple("center", &raw.center, [0.0; 3], Rule::Coordinate),
            radius: self.number("radius", &raw.radius, 1.0, Rule::Length),
            material: self.material(&look!(raw)),
        }
    }
    fn mesh(&mut self, spanned: &Spanned<RawMesh>, folder: &Path) -> Mesh {
        let raw = spanned.get_ref();
        self.needed("path", "mesh", spanned.span(), &raw.path);
        let path = raw.path.as_ref().map_or("", |p| p.get_ref());
        Mesh {
            path: folder.join(super::expand_home(path)),
            material: self.material(&look!(raw)),
            scale: self.number("scale", &raw.scale, 1.0, Rule::Length),
            offset: self.triple("offset", &raw.offset, [0.0; 3], Rule::Coordinate),
            z_up: raw.z_up.unwrap_or(true),
        }
    }
    fn particles(&mut self, spanned: &Spanned<RawParticles>, folder: &Path) -> Particles {
        let raw = spanned.get_ref();
        self.needed("path", "particles", spanned.span(), &raw.path);
        let path = raw.path.as_ref().map_or("", |p| p.get_ref());
        if let Some(range) = &raw.range
            && range.get_ref().0[0].partial_cmp(&range.get_ref().0[1]) != Some(std::cmp::Ordering::Less)
        {
            self.problems.push(Problem::new(range.span(), "`range` is empty", "expected two numbers, the lower first"));
        }
        Particles {
            path: folder.join(super::expand_home(path)).display().to_string(),
            first: self.whole("first", &raw.first, 0, 0, super::MAX_FRAMES),
            step: self.whole("step", &raw.step, 1, 1, super::MAX_FRAMES),
            colour_by: self.word("color_by", &raw.color_by, &ColourBy::ALL),
            range: raw.range.as_ref().map(|r| r.get_ref().0),
            material: self.material(&look!(raw)),
            legend: raw.legend.unwrap_or(false),
        }
    }
    fn light(&mut self, spanned: &Spanned<RawLight>) -> Light {
        let raw = spanned.get_ref();
        self.needed("position", "light", spanned.span(), &raw.position);
        Light {
            position: self.triple("position", &raw.position, [0.0; 3], Rule::Coordinate),
            colour: self.triple("color", &raw.color, [1.0; 3], Rule::Brightness),
        }
    }
    fn output(&mut self, raw: &RawOutput, folder: &Path, warnings: &mut Vec<String>) -> Output {
        let mut frames = Pattern::parse("frame_%04d.png").map(|(p, _)| p.below(folder));
        if let Some(path) = &raw.path {
            frames =
                Pattern::parse(&super::expand_home(path.get_ref()).display().to_string()).map(|(pattern, made_up)| {
                    if made_up {
                        warnings.push(format!(
                            "the output path `{}` does not say where the frame number goes: writing {pattern}",
                            path.get_ref()
                        ));
                    }
                    pattern.below(folder)
                });
            if let Err(e) = &frames {
                self.problems.push(Problem::new(path.span(), format!("`path` is `{}`", path.get_ref()), e.to_string()));
            }
        }
        Output {
            frames: frames.unwrap_or_else(|_| Pattern { before: String::new(), after: ".png".into(), digits: 4 }),
            video: raw.video.as_ref().map(|v| folder.join(super::expand_home(v.get_ref()))),
            fps: self.number("fps", &raw.fps, defaults::FPS, Rule::Positive),
        }
    }
}

// Tables that are written as lists: serde would take their values in the order of the keys.
fn tables_as_lists(text: &str) -> Result<Vec<Problem>, toml::de::Error> {
    use toml::de::{DeTable, DeValue};
    let document = DeTable::parse(text)?;
    let mut problems = Vec::new();
    let mut want_table = |name: &str, value: &Spanned<DeValue>| {
        if value.get_ref().is_array() {
            let what = format!("`{name}` is a list");
            problems.push(Problem::new(value.span(), what, "expected a table, whose values have names"));
        }
    };
    for (key, value) in document.get_ref() {
        let name: &str = key.get_ref();
        match (name, value.get_ref()) {
            ("body" | "sphere" | "mesh" | "light", DeValue::Array(all)) => {
                all.iter().for_each(|one| want_table(name, one));
            }
            ("camera", DeValue::Table(camera)) => {
                for (key, value) in camera.iter().filter(|(key, _)| matches!(key.get_ref().as_ref(), "eye" | "target"))
                {
                    want_table(&format!("camera.{}", key.get_ref()), value);
                }
            }
            _ => want_table(name, value),
        }
    }
    problems.sort_by_key(|p| p.span.start);
    Ok(problems)
}

/// Reads a scene; its paths start at `folder`.
pub fn parse(text: &str, folder: &Path) -> Result<(Scene, Vec<String>), Vec<Problem>> {
    let wrong = |e: toml::de::Error| {
        let span = e.span().unwrap_or(text.len()..text.len());
        vec![Problem::new(span, "this is not a scene in TOML", e.message().to_owned())]
    };
    let lists = tables_as_lists(text).map_err(wrong)?;
    if !lists.is_empty() {
        return Err(lists);
    }
    let raw: RawScene = toml::from_str(text).map_err(wrong)?;
    let mut warnings = Vec::new();
    let mut c = Checker { problems: Vec::new() };
    let (mut width, mut height) = (1280, 720);
    if let Some(size) = &raw.output.size {
        let rule = Rule::Whole(1, super::MAX_SIDE);
        let [w, h] = size.get_ref().0;
        if !rule.allows(w) || !rule.allows(h) {
            c.problems.push(Problem::new(
                size.span(),
                format!("`size` is {w} x {h}"),
                format!("expected two values, each {}", rule.expected()),
            ));
        } else if w * h > super::MAX_PIXELS as f64 {
            c.problems.push(super::too_large(size.span(), w as u32, h as u32));
        } else {
            (width, height) = (w as u32, h as u32);
        }
    }
    let things = raw.body.len() + raw.sphere.len() + raw.mesh.len();
    if things == 0 && raw.floor.is_none() && raw.particles.is_none() {
        let end = text.trim_end().len();
        c.problems.push(
            Problem::new(
                end..end,
                "the scene is empty",
                "expected a [[body]], [[sphere]], [[mesh]], [particles] or a [floor]",
            )
            .help("`polyfly --default toml` prints a whole scene"),
        );
    }
    let path_traced = c.word("integrator", &raw.render.integrator, &[(false, "whitted"), (true, "path")]);
    let integrator = match path_traced {
        true => Integrator::Path {
            samples: c.whole("samples", &raw.render.samples, 100, 1, super::MAX_PATH_SAMPLES),
            noise: c.number("noise", &raw.render.noise, 0.0, Rule::NotNegative),
        },
        false => Integrator::Whitted,
    };
    let clipped = c.word("tone", &raw.render.tone, &[(false, "soft"), (true, "clip")]);
    let gamma = c.number("gamma", &raw.render.gamma, 0.0, Rule::NotNegative);
    let fixed = [&raw.camera.position, &raw.camera.look_at];
    for (key, value, other) in [("look_at", 0, 1), ("position", 1, 0)] {
        if let (Some(given), None) = (fixed[value], fixed[other]) {
            c.problems.push(Problem::new(
                given.span(),
                format!("the camera has no `{key}`"),
                "expected both `position` and `look_at`, or neither and the paths",
            ));
        }
    }
    let scene = Scene {
        frames: c.whole("frames", &raw.output.frames, 120, 1, super::MAX_FRAMES),
        output: c.output(&raw.output, folder, &mut warnings),
        width,
        height,
        samples: match path_traced {
            true => 1,
            false => c.whole("samples", &raw.render.samples, defaults::SAMPLES, 1, super::MAX_SAMPLES),
        },
        depth: c.whole("depth", &raw.render.depth, defaults::DEPTH, 0, super::MAX_DEPTH),
        cutoff: c.number("cutoff", &raw.render.cutoff, defaults::CUTOFF, Rule::Positive),
        camera: Camera {
            fov_deg: c.number("fov_deg", &raw.camera.fov_deg, 70.0, Rule::FieldOfView),
            eye: c.path(&raw.camera.eye, 7.0, 3.0),
            target: c.path(&raw.camera.target, 0.0, 0.0),
            fixed: raw.camera.position.as_ref().zip(raw.camera.look_at.as_ref()).map(|(position, look_at)| {
                [c.vector("position", position, Rule::Coordinate), c.vector("look_at", look_at, Rule::Coordinate)]
            }),
            lens: c.number("lens", &raw.camera.lens, 0.0, Rule::NotNegative),
            focus: c.number("focus", &raw.camera.focus, 1.0, Rule::Length),
        },
        bodies: raw.body.iter().map(|b| c.body(b)).collect(),
        floor: raw.floor.as_ref().map(|f| c.floor(f, folder)),
        lights: raw.light.iter().map(|l| c.light(l)).collect(),
        ambient: c.triple("ambient", &raw.render.ambient, defaults::AMBIENT, Rule::Brightness),
        highlight: c.number("highlight", &raw.render.highlight, defaults::HIGHLIGHT, Rule::Brightness),
        zenith: c.triple("zenith", &raw.sky.zenith, defaults::ZENITH, Rule::Brightness),
        horizon: c.triple("horizon", &raw.sky.horizon, defaults::HORIZON, Rule::Brightness),
        sky_from_below: raw.sky.from_below.unwrap_or(false),
        shadows: raw.render.shadows.unwrap_or(true),
        integrator,
        tone: if clipped { Tone::Clip { gamma } } else { Tone::Soft },
        spheres: raw.sphere.iter().map(|s| c.sphere(s)).collect(),
        meshes: raw.mesh.iter().map(|m| c.mesh(m, folder)).collect(),
        particles: raw.particles.as_ref().map(|p| c.particles(p, folder)),
    };
    if c.problems.is_empty() {
        Ok((scene, warnings))
    } else {
        c.problems.sort_by_key(|p| p.span.start);
        Err(c.problems)
    }
}

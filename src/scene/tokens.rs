//! The coursework's token text, in its full, reduced and seven-value dialects.
//!
//! The letters are those of the coursework: r0 z0 phi0 Ar Az wr wz wphi pr pz, R, T.

mod write;

use super::diagnostic::{Problem, Rule};
use super::keys::Keys;
use super::keys::kinds::snap_angle;
use super::keys::read::percent;
use super::limits::{MAX_SAMPLES, PICTURES, endings};
use super::material::{ADDS_LIGHT, above_one};
use super::size::Size;
use super::suggest::number_help;
use super::{
    Body, Camera, CameraPath, CylindricalPath, Floor, Lamps, Light, Material, Output, ParseOptions, Pattern,
    RenderSettings, Sampling, Scene, Solid, TextureSource, World, defaults,
};
use crate::math::vec3::Vec3;
use std::ops::Range;
use std::path::Path;
pub use write::{solids_flag, write};

// The order of bodies in the reduced dialect, which has a fixed light and colours as bytes.
const REDUCED_SOLIDS: [Solid; 3] = [Solid::Icosahedron, Solid::Hexahedron, Solid::Octahedron];
const REDUCED_LIGHT: Light = Light { position: [-2.0, 0.0, 4.0], colour: [1.0, 1.0, 1.0], radius: 0.0 };
// 0.2 of full light, as sRGB. The program of the reduced dialect added it before it wrote bytes.
const REDUCED_AMBIENT: Vec3 = [0.2; 3];
const MAX_LIGHTS: u32 = 4;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Dialect {
    Full,
    Reduced,
    SevenValue,
}

impl Dialect {
    // The dialects differ in length, and in whether the floor has a texture.
    fn of(tokens: &[Token]) -> Dialect {
        match tokens.len() {
            _ if names_texture(tokens) => Dialect::Full,
            0..=61 => Dialect::Reduced,
            62..=68 => Dialect::SevenValue,
            _ => Dialect::Full,
        }
    }
    // The name of the dialect, and a short form.
    fn names(self) -> [&'static str; 2] {
        match self {
            Dialect::Full => ["full dialect", "full"],
            Dialect::Reduced => ["reduced dialect", "reduced (61 tokens)"],
            Dialect::SevenValue => ["dialect of seven values a body", "seven-value"],
        }
    }
}

struct Token<'a> {
    text: std::borrow::Cow<'a, str>,
    span: Range<usize>,
}

// Tokens are separated by white space. The two parts of `% d` are joined.
fn split(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        let at = text.len() - rest.len() + start;
        let length = rest[start..].find(char::is_whitespace).unwrap_or(rest.len() - start);
        let (word, span) = (&rest[start..start + length], at..at + length);
        match tokens.last_mut() {
            Some(last) if last.text.ends_with('%') && word.starts_with('d') => {
                last.text = format!("{}{word}", last.text).into();
                last.span.end = span.end;
            }
            _ => tokens.push(Token { text: word.into(), span }),
        }
        rest = &rest[start + length..];
    }
    tokens
}

// A stream of tokens that records each token's number and meaning.
struct Reader<'a> {
    text: &'a str,
    dialect: Dialect,
    tokens: Vec<Token<'a>>,
    next: usize,
    end: usize,
    warnings: Vec<Problem>,
}

impl Reader<'_> {
    // The span of all tokens read since token `at`.
    fn span_since(&self, at: usize) -> Range<usize> {
        self.tokens[at].span.start..self.tokens[self.next - 1].span.end
    }
    // Width and height, pixels.
    fn size(&mut self) -> Result<(u32, u32), Problem> {
        let at = self.next;
        let width = self.whole("width", Size::SIDE)?;
        let height = self.whole("height", Size::SIDE)?;
        if !Size(width, height).fits() {
            return Err(Problem::too_large(self.span_since(at), width, height));
        }
        Ok((width, height))
    }
    fn problem(&self, what: &str, expected: String) -> Problem {
        let number = self.next + 1;
        let (span, what) = match self.tokens.get(self.next) {
            Some(t) => (t.span.clone(), format!("token {number} ({what}) is `{}`", t.text)),
            None => (self.end..self.end, format!("the scene ends before token {number} ({what})")),
        };
        Problem::new(span, what, format!("expected {expected}"))
    }
    fn text(&mut self, what: &str, expected: &str) -> Result<(String, Range<usize>), Problem> {
        let problem = self.problem(what, expected.to_owned());
        let token = self.tokens.get(self.next).ok_or(problem)?;
        self.next += 1;
        Ok((token.text.clone().into_owned(), token.span.clone()))
    }
    fn number(&mut self, what: &str, rule: Rule) -> Result<f64, Problem> {
        let text = self.tokens.get(self.next).map_or("", |t| &*t.text);
        let value = value_of(text);
        if let Some(x) = value.filter(|&x| rule.allows(x)) {
            self.next += 1;
            return Ok(x);
        }
        let problem = self.problem(what, rule.expected());
        // Unambiguous faults come first.
        let is_code = |x: &f64| rule == Rule::Fraction && what.contains("colour") && Rule::Whole(2, 255).allows(*x);
        let code = |code: f64| format!("a code of 0 to 255 is divided by 255: {:.3}", code / 255.0);
        let help = number_help(text)
            .or_else(|| odd_line(self.text, &self.tokens, self.dialect, problem.span.start))
            .or_else(|| value.filter(is_code).map(code));
        Err(match help {
            Some(help) => problem.help(help),
            None => problem,
        })
    }
    fn whole(&mut self, what: &str, rule: Rule) -> Result<u32, Problem> {
        Ok(self.number(what, rule)? as u32)
    }
    fn triple(&mut self, what: &str, parts: [&str; 3], rule: Rule) -> Result<Vec3, Problem> {
        let mut v = [0.0; 3];
        for (x, part) in v.iter_mut().zip(parts) {
            *x = self.number(&format!("{what} {part}"), rule)?;
        }
        Ok(v)
    }
    fn point(&mut self, what: &str) -> Result<Vec3, Problem> {
        self.triple(what, ["x", "y", "z"], Rule::Coordinate)
    }
    fn colour(&mut self, what: &str, rule: Rule) -> Result<Vec3, Problem> {
        self.triple(&format!("{what}, colour"), ["r", "g", "b"], rule)
    }
    fn byte_colour(&mut self, what: &str) -> Result<Vec3, Problem> {
        Ok(self.colour(what, Rule::Whole(0, 255))?.map(|c| c / 255.0))
    }
    fn path(&mut self, of: &str) -> Result<CylindricalPath, Problem> {
        let mut part = |name: &str, key: &str| self.number(&format!("{of}, {name}"), rule::<CylindricalPath>(key));
        Ok(CylindricalPath {
            r0: part("r0", "r")?,
            z0: part("z0", "z")?,
            phi0: snap_angle(part("phi0", "phi_deg")?),
            ar: part("Ar", "r_amplitude")?,
            az: part("Az", "z_amplitude")?,
            wr: part("wr", "r_cycles")?,
            wz: part("wz", "z_cycles")?,
            wphi: part("wphi", "phi_cycles")?,
            pr: snap_angle(part("pr", "r_phase_deg")?),
            pz: snap_angle(part("pz", "z_phase_deg")?),
        })
    }
    fn body(&mut self, solid: Solid, n: usize) -> Result<Body, Problem> {
        let what = format!("body {n}, {}", solid.name());
        let mut body = Body { solid, centre: self.point(&format!("{what}, centre"))?, bar: 0.0, ..Body::default() };
        let radius = |reader: &mut Self| reader.number(&format!("{what}, circumradius"), rule::<Body>("radius"));
        if self.dialect == Dialect::Reduced {
            body.radius = radius(self)?;
            body.material.colour = self.byte_colour(&what)?;
            return Ok(body);
        }
        body.material.colour = self.colour(&what, Rule::Fraction)?;
        body.radius = radius(self)?;
        if self.dialect == Dialect::Full {
            let at = self.next;
            let reflection = self.number(&format!("{what}, reflection R"), Rule::Fraction)?;
            let transparency = self.number(&format!("{what}, transparency T"), Rule::Fraction)?;
            if let Some(why) = above_one("reflection", reflection, transparency) {
                let why = format!("tokens {} and {} ({what}): {why}", at + 1, at + 2);
                self.warnings.push(Problem::new(self.span_since(at), why, ADDS_LIGHT));
            }
            body.material = Material::plain(body.material.colour, reflection, transparency);
            body.lamps = Lamps::Each(self.whole(&format!("{what}, lamps on an edge"), rule::<Body>("lamps"))?);
            body.bar = Body::BAR;
        }
        Ok(body)
    }
    fn floor(&mut self, home: Option<&Path>) -> Result<Floor, Problem> {
        let start = self.next;
        let mut corners = [[0.0; 3]; 4];
        for (i, corner) in corners.iter_mut().enumerate() {
            *corner = self.point(&format!("floor, point {}", i + 1))?;
        }
        let corners = super::perimeter_order(corners);
        if !super::has_area(&corners) {
            let expected = "expected four corners of a floor";
            return Err(Problem::new(self.span_since(start), "the floor's points lie on a line", expected));
        }
        let mut floor = Floor { corners, ..Floor::default() };
        match self.dialect {
            Dialect::Reduced => floor.material.colour = self.byte_colour("floor")?,
            Dialect::SevenValue => floor.material.colour = self.colour("floor", Rule::Fraction)?,
            Dialect::Full => {
                let (text, span) = self.text("floor, texture", &TextureSource::expected())?;
                // Paths start in the working directory.
                let options = ParseOptions { home, ..ParseOptions::default() };
                floor.texture = TextureSource::parse(&text, &options).map_err(|e| {
                    Problem::new(span, format!("there is no built-in texture `{text}`"), format!("expected {e}"))
                })?;
                let tint = self.colour("floor", Rule::Fraction)?;
                floor.material = Material::plain(tint, self.number("floor, reflection R", Rule::Fraction)?, 0.0);
            }
        }
        Ok(floor)
    }
    fn light(&mut self, n: u32) -> Result<Light, Problem> {
        let position = self.point(&format!("light {n}, position"))?;
        let colour = self.colour(&format!("light {n}"), rule::<Light>("color"))?;
        Ok(Light { position, colour, ..Light::default() })
    }
}

// The rule of a TOML key, which also applies to tokens.
fn rule<T: Keys>(key: &str) -> Rule {
    let mut found = None;
    T::default().visit(&mut |declared, _| found = found.or((declared.name == key).then_some(declared.rule)));
    debug_assert!(found.is_some(), "{} has no `{key}`", T::TABLE);
    found.unwrap_or(Rule::Finite)
}

// A number, or a percentage such as `60%`.
fn value_of(token: &str) -> Option<f64> {
    token.parse().ok().or_else(|| percent(token))
}

fn names_texture(tokens: &[Token]) -> bool {
    tokens.iter().skip(2).any(|t| value_of(&t.text).is_none())
}

/// The name of the token at a position, if it names a file: `token 61 (floor, texture)`.
pub fn name_at(text: &str, place: usize) -> Option<String> {
    let number = split(text).iter().position(|token| token.span.start == place)? + 1;
    Some(format!("token {number} ({})", if number == 2 { "output path" } else { "floor, texture" }))
}

/// Parses a scene.
pub fn parse(text: &str, reading: ParseOptions) -> Result<(Scene, Vec<Problem>), Vec<Problem>> {
    read(text, reading).map_err(|problem| {
        if problem.help.is_some() {
            return vec![problem];
        }
        let tokens = split(text);
        let dialect = Dialect::of(&tokens);
        let help = odd_line(text, &tokens, dialect, problem.span.start).unwrap_or_else(|| {
            let texture = if names_texture(&tokens) { "a texture" } else { "no texture" };
            format!("read as the {}: {} tokens, {texture} among them", dialect.names()[0], tokens.len())
        });
        vec![problem.help(help)]
    })
}

// A line before a position that has too many or too few values, if all lines before it are complete. A missing value
// is only noticed later than its line.
fn odd_line(text: &str, tokens: &[Token], dialect: Dialect, place: usize) -> Option<String> {
    const FEW: usize = 3;
    let (body, floor) = if dialect == Dialect::Full { (10, 17) } else { (7, 15) };
    let groups = [
        ("the frame count", 1),
        ("the output path", 1),
        ("size and field of view", 3),
        ("the camera's path", 10),
        ("the path of the look-at point", 10),
        ("body 1", body),
        ("body 2", body),
        ("body 3", body),
        ("the floor", floor),
    ];
    let before = &tokens[..tokens.partition_point(|token| token.span.start <= place)];
    let mut lines: Vec<&[Token]> = before.chunk_by(|a, b| !text[a.span.end..b.span.start].contains('\n')).collect();
    // The last line is not complete.
    lines.pop();
    let odd = lines.iter().zip(groups).position(|(line, (_, group))| line.len() != group).filter(|&i| i > 0)?;
    let (count, (name, group)) = (lines[odd].len(), groups[odd]);
    let line = text[..lines[odd][0].span.start].matches('\n').count() + 1;
    (count.abs_diff(group) <= FEW).then(|| format!("line {line} has {count} values, and {name} takes {group}"))
}

// The name of another language, if the text looks like it.
fn other_language(text: &str) -> Option<&'static str> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let is_yaml = |line: &str| {
        let key = line.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' ')).map(|(key, _)| key);
        key.is_some_and(|key| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)))
    };
    match first {
        _ if first.starts_with('{') || first == "[" || first.starts_with("[{") => Some("JSON"),
        _ if first.starts_with('<') => Some("XML"),
        _ if first == "---" || is_yaml(first) => Some("YAML"),
        _ => None,
    }
}

const WHOLE_SCENE: &str = "`polyfly --default toml` prints a whole scene";

fn read(text: &str, reading: ParseOptions) -> Result<(Scene, Vec<Problem>), Problem> {
    let tokens = split(text);
    let expected = "expected a scene in TOML, or in the coursework's tokens";
    if tokens.is_empty() {
        return Err(Problem::new(0..0, "the scene is empty", expected).help(WHOLE_SCENE));
    }
    if let (Some(language), Some(token)) = (other_language(text), tokens.first()) {
        let what = format!("this looks like {language}");
        return Err(Problem::new(token.span.clone(), what, expected).help(WHOLE_SCENE));
    }
    let is_comment = |token: &&Token| token.text.starts_with(['#', ';']) || token.text.starts_with("//");
    if let Some(comment) = tokens.iter().find(is_comment) {
        let expected = "expected words and numbers alone: tokens know no comments";
        return Err(Problem::new(comment.span.clone(), "this is a comment", expected)
            .help("take it out, or write the scene in TOML (`polyfly convert`), which knows them"));
    }
    let dialect = Dialect::of(&tokens);
    let mut r = Reader { text, dialect, tokens, next: 0, end: text.trim_end().len(), warnings: Vec::new() };
    let frames = r.whole("frame count", rule::<Output>("frames")).map_err(|p| match r.tokens.first() {
        Some(t) if t.text.contains('%') || t.text.contains('/') => {
            p.help("the frame count is missing: write it before the output path")
        }
        _ if p.help.is_some() => p,
        _ => p.help("`polyfly --default` prints a whole scene; docs/scenes.md names every token"),
    })?;
    let (path, span) = r.text("output path", &format!("a path with %d, ending in {}", endings(&PICTURES)))?;
    let (files, made_up) = Pattern::parse(&super::expand_home(&path, reading.home).display().to_string())
        .map_err(|e| Problem::new(span.clone(), format!("token 2 (output path) is `{path}`"), e.to_string()))?;
    if made_up {
        let what = format!("token 2 (output path) is `{path}`, which does not say where the frame's number goes");
        r.warnings.push(Problem::new(span, what, format!("frames are written as {files}")));
    }
    let (width, height) = r.size()?;
    let fov_deg = r.number("field of view", rule::<Camera>("fov_deg"))?;
    let path = CameraPath::Cylinder { eye: r.path("camera")?, target: r.path("look-at point")? };
    let solids = if dialect == Dialect::Reduced { REDUCED_SOLIDS } else { reading.solids };
    let mut world = World::default();
    for (i, solid) in solids.into_iter().enumerate() {
        world.bodies.push(r.body(solid, i + 1)?);
    }
    world.floor = Some(r.floor(reading.home)?);
    let (mut depth, mut samples) = (defaults::DEPTH, defaults::SAMPLES);
    match dialect {
        Dialect::Reduced => {
            world.lights.push(REDUCED_LIGHT);
            world.ambient = REDUCED_AMBIENT;
        }
        Dialect::SevenValue => world.lights.push(r.light(1)?),
        Dialect::Full => {
            for n in 1..=r.whole("light count", Rule::Whole(0, MAX_LIGHTS))? {
                world.lights.push(r.light(n)?);
            }
        }
    }
    if dialect != Dialect::Reduced && r.next < r.tokens.len() {
        if dialect == Dialect::Full {
            depth = r.whole("depth", rule::<RenderSettings>("depth"))?;
        }
        samples = r.whole("samples along a pixel's side", Rule::Whole(1, MAX_SAMPLES))?;
    }
    if let Some(t) = r.tokens.get(r.next) {
        let what = format!("token {} is `{}`, and the scene is already complete", r.next + 1, t.text);
        let help = format!("this was read as the {} dialect; is the light count right?", dialect.names()[1]);
        return Err(Problem::new(t.span.clone(), what, "expected the end of the scene").help(help));
    }
    let sampling = Sampling::PerAxis(samples);
    let scene = Scene {
        world,
        camera: Camera { fov_deg, path, ..Camera::default() },
        render: RenderSettings { width, height, sampling, depth, ..RenderSettings::default() },
        output: Output { frames, files, ..Output::default() },
        ..Scene::default()
    };
    Ok((scene, r.warnings))
}

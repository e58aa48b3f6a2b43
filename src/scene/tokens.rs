//! The coursework's token text, in its full, reduced and seven-value dialects.
//!
//! The letters are those of the coursework: r0 z0 phi0 Ar Az wr wz wphi pr pz, R, T.

mod write;

use super::diagnostic::{Problem, Rule};
use super::keys::Keys;
use super::keys::kinds::snap_angle;
use super::keys::read::percent;
use super::limits::{MAX_SAMPLES, PICTURES};
use super::material::is_above_one;
use super::size::Size;
use super::suggest::{look_alike, number_help};
use super::{
    Body, Camera, CameraPath, CylindricalPath, Floor, Lamps, Light, Look, Material, Output, ParseOptions, Pattern,
    RenderSettings, Sampling, Scene, Solid, TextureSource, World, defaults, element,
};
use crate::language::Language;
use crate::math::vec3::Vec3;
use std::ops::Range;
use std::path::Path;
pub use write::{look_flag, solids_flag, write};

// The order of bodies in the reduced dialect, which has a fixed light and colors as bytes.
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
    // The solids of the bodies, in their order.
    fn solids(self, reading: ParseOptions) -> [Solid; 3] {
        if self == Dialect::Reduced { REDUCED_SOLIDS } else { reading.solids }
    }
    // Whether a scene of this dialect may have this many tokens. The last ones, depth and samples, may be missing.
    fn may_have(self, count: usize) -> bool {
        match self {
            Dialect::Full => (0..=MAX_LIGHTS as usize).any(|n| [73 + 6 * n, 75 + 6 * n].contains(&count)),
            Dialect::Reduced => count == 61,
            Dialect::SevenValue => [67, 68].contains(&count),
        }
    }
    // The name of the dialect, and a short form.
    fn names(self, language: Language) -> [String; 2] {
        match self {
            Dialect::Full => [language.full_dialect(), language.full()],
            Dialect::Reduced => [language.reduced_dialect(), language.reduced()],
            Dialect::SevenValue => [language.seven_value_dialect(), language.seven_value()],
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
    language: Language,
    dialect: Dialect,
    // Of the bodies, in their order.
    solids: [Solid; 3],
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
        let width = self.whole(&self.language.width(), Size::SIDE)?;
        let height = self.whole(&self.language.height(), Size::SIDE)?;
        if !Size(width, height).fits() {
            return Err(Problem::too_large(self.language, self.span_since(at), width, height));
        }
        Ok((width, height))
    }
    fn problem(&self, name: &str, expected: &str) -> Problem {
        let number = self.next + 1;
        let (span, what) = match self.tokens.get(self.next) {
            Some(t) => (t.span.clone(), self.language.token_is(number, name, &t.text)),
            None => (self.end..self.end, self.language.scene_ends(number, name)),
        };
        Problem::new(span, what, self.language.expected(expected))
    }
    fn text(&mut self, what: &str, expected: &str) -> Result<(String, Range<usize>), Problem> {
        let problem = self.problem(what, expected);
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
        let problem = self.problem(what, &rule.expected(self.language));
        // Unambiguous faults come first.
        let is_code =
            |x: &f64| rule == Rule::Fraction && what.contains(&self.language.color()) && Rule::Whole(2, 255).allows(*x);
        let code = |code: f64| self.language.code(format_args!("{:.3}", code / 255.0));
        let help = number_help(self.language, text)
            .or_else(|| two_sides(self.language, text))
            .or_else(|| self.spaced_path())
            .or_else(|| odd_line(self.language, self.solids, self.text, &self.tokens, self.dialect, problem.span.start))
            .or_else(|| value.filter(is_code).map(code));
        Err(match help {
            Some(help) => problem.help(help),
            None => problem,
        })
    }
    // `my frames/%d.png`: a path with blanks, whose second word stands in the place of the width.
    fn spaced_path(&self) -> Option<String> {
        let words = self.tokens.iter().skip(1).map(|token| &*token.text).take_while(|text| value_of(text).is_none());
        let words: Vec<&str> = words.collect();
        let is_pattern = Pattern::parse(words.last()?).is_ok_and(|(_, made_up)| !made_up);
        (self.next == 2 && words.len() > 1 && is_pattern).then(|| self.language.no_blanks_in_path(words.join("_")))
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
        self.triple(&format!("{what}, {}", self.language.color()), ["r", "g", "b"], rule)
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
        let language = self.language;
        let what = element(language, "body", n, Some(solid));
        let centre = self.point(&format!("{what}, {}", language.center()))?;
        let mut body = Body { solid, centre, bar: 0.0, ..Body::default() };
        let radius =
            |reader: &mut Self| reader.number(&format!("{what}, {}", language.circumradius()), rule::<Body>("radius"));
        if self.dialect == Dialect::Reduced {
            body.radius = radius(self)?;
            body.material.colour = self.byte_colour(&what)?;
            return Ok(body);
        }
        body.material.colour = self.colour(&what, Rule::Fraction)?;
        body.radius = radius(self)?;
        if self.dialect == Dialect::Full {
            let at = self.next;
            let reflection = self.number(&format!("{what}, {}", language.reflection()), Rule::Fraction)?;
            let transparency = self.number(&format!("{what}, {}", language.transparency()), Rule::Fraction)?;
            if is_above_one(reflection, transparency) {
                let why = language.above_one(reflection, transparency);
                let why = language.sum_above_one(at + 1, at + 2, &what, why);
                self.warnings.push(Problem::new(self.span_since(at), why, language.adds_light()));
            }
            body.material = Material::plain(body.material.colour, reflection, transparency);
            body.lamps =
                Lamps::Each(self.whole(&format!("{what}, {}", language.lamps_on_an_edge()), rule::<Body>("lamps"))?);
            body.bar = Body::BAR;
        }
        Ok(body)
    }
    fn floor(&mut self, home: Option<&Path>) -> Result<Floor, Problem> {
        let (start, language) = (self.next, self.language);
        let mut corners = [[0.0; 3]; 4];
        for (i, corner) in corners.iter_mut().enumerate() {
            *corner = self.point(&language.floor_point(i + 1))?;
        }
        let corners = super::perimeter_order(corners);
        if !super::has_area(&corners) {
            let expected = language.expected(language.four_corners());
            return Err(Problem::new(self.span_since(start), language.points_on_a_line(), expected));
        }
        let mut floor = Floor { corners, ..Floor::default() };
        match self.dialect {
            Dialect::Reduced => floor.material.colour = self.byte_colour(&language.floor())?,
            Dialect::SevenValue => floor.material.colour = self.colour(&language.floor(), Rule::Fraction)?,
            Dialect::Full => {
                let expected = TextureSource::expected(language);
                let (text, span) = self.text(&language.floor_texture(), &expected)?;
                // Paths start in the working directory.
                let options = ParseOptions { home, ..ParseOptions::default() };
                floor.texture = TextureSource::parse(&text, &options)
                    .map_err(|_| Problem::new(span, language.no_such_texture(&text), language.expected(expected)))?;
                let tint = self.colour(&language.floor(), Rule::Fraction)?;
                floor.material = Material::plain(tint, self.number(&language.floor_reflection(), Rule::Fraction)?, 0.0);
            }
        }
        Ok(floor)
    }
    fn light(&mut self, n: usize) -> Result<Light, Problem> {
        let what = element(self.language, "light", n, None);
        let position = self.point(&format!("{what}, {}", self.language.position()))?;
        let colour = self.colour(&what, rule::<Light>("color"))?;
        Ok(Light { position, colour, ..Light::default() })
    }
}

// The rule of a TOML key, which also applies to tokens.
fn rule<T: Keys>(key: &str) -> Rule {
    let mut found = None;
    T::default().visit(&mut |declared, _| found = found.or((declared.name == key).then_some(declared.rule)));
    debug_assert!(found.is_some(), "{}.{key}", T::TABLE);
    found.unwrap_or(Rule::Finite)
}

// A number, or a percentage such as `60%`.
fn value_of(token: &str) -> Option<f64> {
    token.parse().ok().or_else(|| percent(token))
}

fn names_texture(tokens: &[Token]) -> bool {
    // A number with a Cyrillic letter in it is a misspelt number.
    let is_number = |text: &str| value_of(text).is_some();
    let is_meant = |text: &str| look_alike(Language::English, text, is_number).is_some();
    tokens.iter().skip(2).any(|t| !is_number(&t.text) && !is_meant(&t.text))
}

/// The name of the token at a position, if it names a file: `token 61 (floor, texture)`.
pub fn name_at(text: &str, place: usize, language: Language) -> Option<String> {
    let number = split(text).iter().position(|token| token.span.start == place)? + 1;
    Some(language.token(number, if number == 2 { language.output_path() } else { language.floor_texture() }))
}

/// Parses a scene.
pub fn parse(text: &str, reading: ParseOptions) -> Result<(Scene, Option<Look>, Vec<Problem>), Vec<Problem>> {
    let Plain { mut scene, look, is_given, warnings } = parse_plain(text, reading)?;
    look.apply(&mut scene, &is_given);
    Ok((scene, Some(look), warnings))
}

/// A scene in TOML whose look is named, without the keys that the look decides.
pub fn in_toml(text: &str, reading: ParseOptions) -> Result<String, Vec<Problem>> {
    parse_plain(text, reading).map(|plain| plain.look.text(&plain.scene, &plain.is_given))
}

// A scene without its look.
struct Plain {
    scene: Scene,
    look: Look,
    // Whether tokens give a key that a look may decide.
    is_given: fn(&str) -> bool,
    warnings: Vec<Problem>,
}

fn parse_plain(text: &str, reading: ParseOptions) -> Result<Plain, Vec<Problem>> {
    read(text, reading).map_err(|problem| {
        if problem.help.is_some() {
            return vec![problem];
        }
        let tokens = split(text);
        let dialect = Dialect::of(&tokens);
        let language = reading.language;
        let (solids, end) = (dialect.solids(reading), problem.span.end.saturating_sub(1));
        let help = odd_line(language, solids, text, &tokens, dialect, end).or_else(|| {
            let ([name, _], count) = (dialect.names(language), language.count_tokens(tokens.len()));
            // Nobody doubts the dialect of a scene that has all its tokens.
            (!dialect.may_have(tokens.len())).then(|| match names_texture(&tokens) {
                true => language.read_with_texture(name, count),
                false => language.read_without_texture(name, count),
            })
        });
        vec![match help {
            Some(help) => problem.help(help),
            None => problem,
        }]
    })
}

// A line before a position that has too many or too few values, if all lines before it are complete. A missing value
// is only noticed later than its line.
fn odd_line(
    language: Language,
    solids: [Solid; 3],
    text: &str,
    tokens: &[Token],
    dialect: Dialect,
    place: usize,
) -> Option<String> {
    const FEW: usize = 3;
    let (body, floor) = if dialect == Dialect::Full { (10, 17) } else { (7, 15) };
    let name = |i: usize| element(language, "body", i, Some(solids[i]));
    let groups = [
        (language.the_frame_count(), 1),
        (language.the_output_path(), 1),
        (language.size_and_view(), 3),
        (language.the_cameras_path(), 10),
        (language.the_points_path(), 10),
        (name(0), body),
        (name(1), body),
        (name(2), body),
        (language.the_floor(), floor),
    ];
    let before = &tokens[..tokens.partition_point(|token| token.span.start <= place)];
    let mut lines: Vec<&[Token]> = before.chunk_by(|a, b| !text[a.span.end..b.span.start].contains('\n')).collect();
    // The last line is not complete.
    lines.pop();
    let odd = lines.iter().zip(&groups).position(|(line, (_, group))| line.len() != *group).filter(|&i| i > 0)?;
    let (count, (name, group)) = (lines[odd].len(), &groups[odd]);
    let line = text[..lines[odd][0].span.start].matches('\n').count() + 1;
    if odd + 1 == groups.len() && count == body {
        return Some(language.fourth_body(line, count));
    }
    (count.abs_diff(*group) <= FEW).then(|| language.odd_line(line, count, name, group))
}

// `1280x720` in the place of a width.
fn two_sides(language: Language, text: &str) -> Option<String> {
    let side = |text: &str| text.parse::<u32>().ok();
    let (width, height) = text.split_once(['x', 'X', '*', ':'])?;
    Some(language.two_tokens(side(width)?, side(height)?))
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

// Reads a scene without its look, and its look.
fn read(text: &str, reading: ParseOptions) -> Result<Plain, Problem> {
    let tokens = split(text);
    let language = reading.language;
    let (expected, whole_scene) = (language.expected(language.a_scene()), language.prints_a_scene());
    if tokens.is_empty() {
        return Err(Problem::new(0..0, language.empty_scene(), expected).help(whole_scene));
    }
    if let (Some(other), Some(token)) = (other_language(text), tokens.first()) {
        return Err(Problem::new(token.span.clone(), language.looks_like(other), expected).help(whole_scene));
    }
    let is_comment = |token: &&Token| token.text.starts_with(['#', ';']) || token.text.starts_with("//");
    if let Some(comment) = tokens.iter().find(is_comment) {
        let expected = language.expected(language.no_comments());
        let problem = Problem::new(comment.span.clone(), language.a_comment(), expected);
        return Err(problem.help(language.no_comments_help()));
    }
    let dialect = Dialect::of(&tokens);
    let (solids, end) = (dialect.solids(reading), text.trim_end().len());
    let mut r = Reader { text, language, dialect, solids, tokens, next: 0, end, warnings: Vec::new() };
    let frames = r.whole(&language.frame_count(), rule::<Output>("frames")).map_err(|p| match r.tokens.first() {
        Some(t) if t.text.contains('%') || t.text.contains('/') => p.help(language.no_frame_count()),
        _ if p.help.is_some() => p,
        _ => p.help(language.names_every_token()),
    })?;
    let (path, span) =
        r.text(&language.output_path(), &language.a_path(language.one_of(&PICTURES.map(|e| format!(".{e}")))))?;
    let (files, made_up) =
        Pattern::parse(&super::expand_home(&path, reading.home).display().to_string()).map_err(|e| {
            Problem::new(span.clone(), language.token_is(2, language.output_path(), &path), e.in_language(language))
        })?;
    if made_up {
        let what = language.no_number_in_path(&path);
        r.warnings.push(Problem::new(span, what, language.frames_are_written_as(&files)));
    }
    let (width, height) = r.size()?;
    let fov_deg = r.number(&language.field_of_view(), rule::<Camera>("fov_deg"))?;
    let path = CameraPath::Cylinder { eye: r.path(&language.camera())?, target: r.path(&language.look_at_point())? };
    let mut world = World::default();
    for (i, solid) in solids.into_iter().enumerate() {
        world.bodies.push(r.body(solid, i)?);
    }
    world.floor = Some(r.floor(reading.home)?);
    let (mut depth, mut samples) = (defaults::DEPTH, defaults::SAMPLES);
    match dialect {
        Dialect::Reduced => {
            world.lights.push(REDUCED_LIGHT);
            world.ambient = REDUCED_AMBIENT;
        }
        Dialect::SevenValue => world.lights.push(r.light(0)?),
        Dialect::Full => {
            for n in 0..r.whole(&language.light_count(), Rule::Whole(0, MAX_LIGHTS))? {
                world.lights.push(r.light(n as usize)?);
            }
        }
    }
    let has_samples = dialect != Dialect::Reduced && r.next < r.tokens.len();
    if has_samples {
        if dialect == Dialect::Full {
            depth = r.whole(&language.depth(), rule::<RenderSettings>("depth"))?;
        }
        samples = r.whole(&language.samples(), Rule::Whole(1, MAX_SAMPLES))?;
    }
    if let Some(t) = r.tokens.get(r.next) {
        let [_, dialect] = dialect.names(language);
        let expected = language.expected(language.the_end());
        let problem = Problem::new(t.span.clone(), language.scene_is_complete(r.next + 1, &t.text), expected);
        return Err(problem.help(language.is_the_light_count_right(dialect)));
    }
    let sampling = Sampling::PerAxis(samples);
    let scene = Scene {
        world,
        camera: Camera { fov_deg, path, ..Camera::default() },
        render: RenderSettings { width, height, sampling, depth, ..RenderSettings::default() },
        output: Output { frames, files, ..Output::default() },
        ..Scene::default()
    };
    // The programs of the two shorter dialects know no lamps and shade plainly.
    let own = if dialect == Dialect::Full { Look::Film } else { Look::Plain };
    let is_given = if has_samples { Look::tokens_give } else { |_: &str| false };
    Ok(Plain { scene, look: reading.look.unwrap_or(own), is_given, warnings: r.warnings })
}

//! The coursework's token text, in its full, reduced and seven-value dialects.
//!
//! The letters are those of the coursework: r0 z0 phi0 Ar Az wr wz wphi pr pz, R, T.

mod write;

use crate::language::{Message, count, msg};
use crate::math::vec3::Vec3;
use crate::scene::keys::Keys;
use crate::scene::keys::kinds::snap_angle;
use crate::scene::keys::read::percent;
use crate::scene::limits::{MAX_SAMPLES, PICTURES};
use crate::scene::size::Size;
use crate::scene::text::diagnostic::{Problem, Rule};
use crate::scene::text::suggest::number_help;
use crate::scene::world::material::is_above_one;
use crate::scene::{
    Body, Camera, CameraPath, CylindricalPath, Floor, Lamps, Light, Look, Material, Output, ParseOptions, Pattern,
    RenderSettings, Sampling, Scene, Solid, TextureSource, World, defaults, element,
};
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
    fn names(self) -> [Message; 2] {
        match self {
            Dialect::Full => [msg!("full dialect"), msg!("full")],
            Dialect::Reduced => [msg!("reduced dialect"), msg!("reduced (61 tokens)")],
            Dialect::SevenValue => [msg!("dialect of seven values a body"), msg!("seven-value")],
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
        let width = self.whole(&msg!("width"), Size::SIDE)?;
        let height = self.whole(&msg!("height"), Size::SIDE)?;
        if !Size(width, height).fits() {
            return Err(Problem::too_large(self.span_since(at), width, height));
        }
        Ok((width, height))
    }
    fn problem(&self, name: &Message, expected: &Message) -> Problem {
        let number = self.next + 1;
        let (span, what) = match self.tokens.get(self.next) {
            Some(t) => (t.span.clone(), msg!("token {number} ({name}) is `{text}`", number, name, text = t.text)),
            None => (self.end..self.end, msg!("the scene ends before token {number} ({name})", number, name)),
        };
        Problem::expected(span, what, expected)
    }
    fn text(&mut self, what: &Message, expected: &Message) -> Result<(String, Range<usize>), Problem> {
        let problem = self.problem(what, expected);
        let token = self.tokens.get(self.next).ok_or(problem)?;
        self.next += 1;
        Ok((token.text.clone().into_owned(), token.span.clone()))
    }
    fn number(&mut self, what: &Message, rule: Rule) -> Result<f64, Problem> {
        let text = self.tokens.get(self.next).map_or("", |t| &*t.text);
        let value = value_of(text);
        if let Some(x) = value.filter(|&x| rule.allows(x)) {
            self.next += 1;
            return Ok(x);
        }
        let problem = self.problem(what, &rule.expected());
        // Unambiguous faults come first.
        let is_code =
            |x: &f64| rule == Rule::Fraction && what.to_string().contains("color") && Rule::Whole(2, 255).allows(*x);
        let code = |code: f64| {
            msg!("a code of 0 to 255 is divided by 255: {fraction}", fraction = format_args!("{:.3}", code / 255.0))
        };
        let help = number_help(text)
            .or_else(|| two_sides(text))
            .or_else(|| self.spaced_path())
            .or_else(|| odd_line(self.solids, self.text, &self.tokens, self.dialect, problem.span.start))
            .or_else(|| value.filter(is_code).map(code));
        Err(problem.help(help))
    }
    // `my frames/%d.png`: a path with blanks, whose second word stands where the width is expected.
    fn spaced_path(&self) -> Option<Message> {
        let words = self.tokens.iter().skip(1).map(|token| &*token.text).take_while(|text| value_of(text).is_none());
        let words: Vec<&str> = words.collect();
        let is_pattern = Pattern::parse(words.last()?).is_ok_and(|(_, made_up)| !made_up);
        (self.next == 2 && words.len() > 1 && is_pattern)
            .then(|| msg!("a path in tokens has no blanks: {path}", path = words.join("_")))
    }
    fn whole(&mut self, what: &Message, rule: Rule) -> Result<u32, Problem> {
        Ok(self.number(what, rule)? as u32)
    }
    fn triple(&mut self, what: &Message, parts: [&str; 3], rule: Rule) -> Result<Vec3, Problem> {
        let mut v = [0.0; 3];
        for (x, part) in v.iter_mut().zip(parts) {
            *x = self.number(&Message::list([what.clone(), Message::text(part)], " "), rule)?;
        }
        Ok(v)
    }
    fn point(&mut self, what: &Message) -> Result<Vec3, Problem> {
        self.triple(what, ["x", "y", "z"], Rule::Coordinate)
    }
    fn colour(&mut self, what: &Message, rule: Rule) -> Result<Vec3, Problem> {
        self.triple(&part_of(what, msg!("color")), ["r", "g", "b"], rule)
    }
    fn byte_colour(&mut self, what: &Message) -> Result<Vec3, Problem> {
        Ok(self.colour(what, Rule::Whole(0, 255))?.map(|c| c / 255.0))
    }
    fn path(&mut self, of: &Message) -> Result<CylindricalPath, Problem> {
        let mut part =
            |name: &str, key: &str| self.number(&part_of(of, Message::text(name)), rule::<CylindricalPath>(key));
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
        let what = element("body", n, Some(solid));
        let centre = self.point(&part_of(&what, msg!("center")))?;
        let mut body = Body { solid, centre, bar: 0.0, ..Body::default() };
        let radius = |reader: &mut Self| reader.number(&part_of(&what, msg!("circumradius")), rule::<Body>("radius"));
        if self.dialect == Dialect::Reduced {
            body.radius = radius(self)?;
            body.material.colour = self.byte_colour(&what)?;
            return Ok(body);
        }
        body.material.colour = self.colour(&what, Rule::Fraction)?;
        body.radius = radius(self)?;
        if self.dialect == Dialect::Full {
            let at = self.next;
            let reflection = self.number(&part_of(&what, msg!("reflection R")), Rule::Fraction)?;
            let transparency = self.number(&part_of(&what, msg!("transparency T")), Rule::Fraction)?;
            if is_above_one(reflection, transparency) {
                let why =
                    msg!("reflection {reflection} + transparency {transparency} is above 1", reflection, transparency);
                let why = msg!(
                    "tokens {first} and {second} ({name}): {why}",
                    first = at + 1,
                    second = at + 2,
                    name = what,
                    why
                );
                self.warnings.push(Problem::new(self.span_since(at), why, msg!("the body adds light of its own")));
            }
            body.material = Material::plain(body.material.colour, reflection, transparency);
            body.lamps = Lamps::Each(self.whole(&part_of(&what, msg!("lamps on an edge")), rule::<Body>("lamps"))?);
            body.bar = Body::BAR;
        }
        Ok(body)
    }
    fn floor(&mut self, home: Option<&Path>) -> Result<Floor, Problem> {
        let start = self.next;
        let mut corners = [[0.0; 3]; 4];
        for (i, corner) in corners.iter_mut().enumerate() {
            *corner = self.point(&msg!("floor, point {number}", number = i + 1))?;
        }
        let corners = crate::scene::perimeter_order(corners);
        if !crate::scene::has_area(&corners) {
            let expected = msg!("four corners of a floor");
            return Err(Problem::expected(self.span_since(start), msg!("the floor's points lie on a line"), expected));
        }
        let mut floor = Floor { corners, ..Floor::default() };
        match self.dialect {
            Dialect::Reduced => floor.material.colour = self.byte_colour(&msg!("floor"))?,
            Dialect::SevenValue => floor.material.colour = self.colour(&msg!("floor"), Rule::Fraction)?,
            Dialect::Full => {
                let expected = TextureSource::expected();
                let (text, span) = self.text(&msg!("floor, texture"), &expected)?;
                // Paths start in the working directory.
                let options = ParseOptions { home, ..ParseOptions::default() };
                floor.texture = TextureSource::parse(&text, &options).map_err(|_| {
                    Problem::expected(span, msg!("there is no built-in texture `{name}`", name = text), expected)
                })?;
                let tint = self.colour(&msg!("floor"), Rule::Fraction)?;
                floor.material = Material::plain(tint, self.number(&msg!("floor, reflection R"), Rule::Fraction)?, 0.0);
            }
        }
        Ok(floor)
    }
    fn light(&mut self, n: usize) -> Result<Light, Problem> {
        let what = element("light", n, None);
        let position = self.point(&part_of(&what, msg!("position")))?;
        let colour = self.colour(&what, rule::<Light>("color"))?;
        Ok(Light { position, colour, ..Light::default() })
    }
}

// The name of a thing and of its part.
fn part_of(what: &Message, part: Message) -> Message {
    Message::list([what.clone(), part], ", ")
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
    tokens.iter().skip(2).any(|t| value_of(&t.text).is_none() && number_help(&t.text).is_none())
}

/// The name of the token at a position, if it names a file: `token 61 (floor, texture)`.
pub fn name_at(text: &str, position: usize) -> Option<Message> {
    let number = split(text).iter().position(|token| token.span.start == position)? + 1;
    Some(msg!(
        "token {number} ({name})",
        number,
        name = if number == 2 { msg!("output path") } else { msg!("floor, texture") }
    ))
}

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
        let (solids, end) = (dialect.solids(reading), problem.span.end.saturating_sub(1));
        let help = odd_line(solids, text, &tokens, dialect, end).or_else(|| {
            let ([name, _], count) = (dialect.names(), count!(tokens.len(), "token", "tokens"));
            // Nobody doubts the dialect of a scene that has all its tokens.
            (!dialect.may_have(tokens.len())).then(|| match names_texture(&tokens) {
                true => msg!("read as the {dialect}: {count}, a texture among them", dialect = name, count),
                false => msg!("read as the {dialect}: {count}, no texture among them", dialect = name, count),
            })
        });
        vec![problem.help(help)]
    })
}

// A line before a position that has too many or too few values, if all lines before it are complete. A missing value
// is only noticed later than its line.
fn odd_line(solids: [Solid; 3], text: &str, tokens: &[Token], dialect: Dialect, position: usize) -> Option<Message> {
    const FEW: usize = 3;
    let (body, floor) = if dialect == Dialect::Full { (10, 17) } else { (7, 15) };
    let name = |i: usize| element("body", i, Some(solids[i]));
    let groups = [
        (msg!("the frame count"), 1),
        (msg!("the output path"), 1),
        (msg!("size and field of view"), 3),
        (msg!("the camera's path"), 10),
        (msg!("the path of the look-at point"), 10),
        (name(0), body),
        (name(1), body),
        (name(2), body),
        (msg!("the floor"), floor),
    ];
    let before = &tokens[..tokens.partition_point(|token| token.span.start <= position)];
    let mut lines: Vec<&[Token]> = before.chunk_by(|a, b| !text[a.span.end..b.span.start].contains('\n')).collect();
    // The last line is not complete.
    lines.pop();
    let odd = lines.iter().zip(&groups).position(|(line, (_, group))| line.len() != *group).filter(|&i| i > 0)?;
    let (count, (name, group)) = (lines[odd].len(), &groups[odd]);
    let line = text[..lines[odd][0].span.start].matches('\n').count() + 1;
    if odd + 1 == groups.len() && count == body {
        return Some(msg!(
            "line {line} has {count} values too many: tokens hold three bodies, and a scene in TOML any number",
            line,
            count
        ));
    }
    (count.abs_diff(*group) <= FEW).then(|| {
        msg!("line {line} has {count} values; expected {expected} ({name})", line, count, name, expected = group)
    })
}

// `1280x720` where a width is expected.
fn two_sides(text: &str) -> Option<Message> {
    let side = |text: &str| text.parse::<u32>().ok();
    let (width, height) = text.split_once(['x', 'X', '*', ':'])?;
    Some(msg!("these are two tokens: {width} {height}", width = side(width)?, height = side(height)?))
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
    let no_scene = |span, what: Message| {
        let problem = Problem::expected(span, what, msg!("a scene in TOML, or in the coursework's tokens"));
        Err(problem.help(msg!("`polyfly --default toml` prints a whole scene")))
    };
    if tokens.is_empty() {
        return no_scene(0..0, msg!("the scene is empty"));
    }
    if let (Some(other), Some(token)) = (other_language(text), tokens.first()) {
        return no_scene(token.span.clone(), msg!("this looks like {language}", language = other));
    }
    let is_comment = |token: &&Token| token.text.starts_with(['#', ';']) || token.text.starts_with("//");
    if let Some(comment) = tokens.iter().find(is_comment) {
        let expected = msg!("only words and numbers: tokens have no comments");
        let problem = Problem::expected(comment.span.clone(), msg!("this is a comment"), expected);
        return Err(problem.help(msg!("remove it, or write the scene in TOML (`polyfly convert`), which has them")));
    }
    let dialect = Dialect::of(&tokens);
    let (solids, end) = (dialect.solids(reading), text.trim_end().len());
    let mut r = Reader { text, dialect, solids, tokens, next: 0, end, warnings: Vec::new() };
    let frames = r.whole(&msg!("frame count"), rule::<Output>("frames")).map_err(|p| match r.tokens.first() {
        Some(t) if t.text.contains('%') || t.text.contains('/') => {
            p.help(msg!("the frame count is missing: write it before the output path"))
        }
        _ if p.help.is_some() => p,
        _ => p.help(msg!("`polyfly --default` prints a whole scene; docs/scenes.md names every token")),
    })?;
    let (path, span) = r.text(
        &msg!("output path"),
        &msg!("a path with %d, ending in {endings}", endings = Message::one_of(&PICTURES.map(|e| format!(".{e}")))),
    )?;
    let (files, made_up) = Pattern::parse(&crate::scene::expand_home(&path, reading.home).display().to_string())
        .map_err(|e| {
            Problem::new(
                span.clone(),
                msg!("token {number} ({name}) is `{text}`", number = 2, name = msg!("output path"), text = path),
                e.message(),
            )
        })?;
    if made_up {
        let what = msg!("token 2 (output path) is `{path}`, which does not say where the frame's number goes", path);
        r.warnings.push(Problem::new(span, what, msg!("frames are written as {pattern}", pattern = files)));
    }
    let (width, height) = r.size()?;
    let fov_deg = r.number(&msg!("field of view"), Rule::FieldOfView)?;
    let path = CameraPath::Cylinder { eye: r.path(&msg!("camera"))?, target: r.path(&msg!("look-at point"))? };
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
            for n in 0..r.whole(&msg!("light count"), Rule::Whole(0, MAX_LIGHTS))? {
                world.lights.push(r.light(n as usize)?);
            }
        }
    }
    let has_samples = dialect != Dialect::Reduced && r.next < r.tokens.len();
    if has_samples {
        if dialect == Dialect::Full {
            depth = r.whole(&msg!("depth"), rule::<RenderSettings>("depth"))?;
        }
        samples = r.whole(&msg!("samples along a pixel's side"), Rule::Whole(1, MAX_SAMPLES))?;
    }
    if let Some(t) = r.tokens.get(r.next) {
        let [_, dialect] = dialect.names();
        let number = r.next + 1;
        let what = msg!("token {number} is `{text}`, and the scene is already complete", number, text = t.text);
        let problem = Problem::expected(t.span.clone(), what, msg!("the end of the scene"));
        return Err(problem.help(msg!("this was read as the {dialect} dialect; is the light count right?", dialect)));
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

//! Reads and writes scenes in TOML, and makes their schema.

use super::suggest;
use crate::language::{Message, msg};
use crate::scene::animation::LoopProblem;
use crate::scene::keys::read::{Context, Table};
use crate::scene::keys::track::TimedValue;
use crate::scene::keys::{Keys, over_time, schema};
use crate::scene::text::diagnostic::Problem;
use crate::scene::world::material::above_one;
use crate::scene::world::round::ROUND_FROM;
use crate::scene::{Air, Body, Denoise, Integrator, Lamps, Look, ParseOptions, Scene, Sky, Tone, Tracks};
use std::ops::Range;
use std::sync::LazyLock;
use toml::de::{DeTable, DeValue};

// Keys that have moved and are still accepted in the old table: the old table, the key, the new table.
const MOVED: [(&str, &str, &str); 2] = [("render", "tone", "film"), ("render", "gamma", "film")];

/// The schema of scenes. JSON Schema draft 7 has the best support in editors.
pub(crate) static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| {
    let mut schema = schema::schema_of(Scene::default().lines());
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = "A scene of polyfly".into();
    schema["description"] = "What polyfly renders, in TOML: tables, keys, ranges and defaults.".into();
    for (from, name, to) in MOVED {
        let mut key = schema["definitions"][to]["properties"][name].clone();
        (key["description"], key["deprecated"]) = (format!("As in [{to}].").into(), true.into());
        let table = &mut schema["definitions"][from];
        table["properties"][name] = key;
        let group = table["x-groups"].as_array_mut().and_then(|groups| groups.last_mut());
        group.and_then(|group| group["keys"].as_array_mut()).into_iter().for_each(|keys| keys.push(name.into()));
    }
    schema
});

/// The scene in TOML.
pub fn write(scene: &Scene) -> String {
    write_without(scene, &[])
}

/// The scene in TOML without the keys and tables of these paths.
pub fn write_without(scene: &Scene, paths: &[String]) -> String {
    let mut text = String::new();
    let over_time = scene.tracks.all().iter().map(|track| (track.path.as_str(), over_time::text(track)));
    let left_out = paths.iter().map(|path| (path.as_str(), String::new()));
    scene.written().write(&over_time.chain(left_out).collect(), &mut text);
    text
}

/// Parses a scene. Relative paths start in the options' folder.
pub fn parse(text: &str, options: ParseOptions) -> Result<(Scene, Option<Look>, Vec<Problem>), Vec<Problem>> {
    let mut document = DeTable::parse(text).map_err(|e| vec![no_toml(text, &e)])?;
    let mut context = Context::new(options, &SCHEMA);
    move_keys(document.get_mut(), &mut context);
    let mut scene = Scene::default();
    let mut table = Table::new(&mut context, document.get_ref(), 0..0, Scene::TABLE);
    scene.read_keys(&mut table);
    let span = table.span_of("output.loop");
    let look = options.look.or(scene.film.look.take());
    if let Some(look) = look {
        look.apply(&mut scene, &|key| table.gives(key));
    }
    scene.tracks = Tracks::new(std::mem::take(&mut table.context.tracks));
    warn_of_sums(&scene, &mut table);
    warn_of_idle_keys(&scene, &mut table);
    warn_of_jumps(&scene, &mut table);
    table.finish();
    let world = &scene.world;
    let is_empty = world.bodies.is_empty() && world.materials().next().is_none() && world.floor.is_none();
    if is_empty && context.problems.is_empty() {
        let end = text.trim_end().len();
        let problem = Problem::new(
            end..end,
            msg!("the scene is empty"),
            msg!(
                "expected {what}",
                what = msg!("a [[body]], [[sphere]], [[ellipsoid]], [[rectangle]], [[mesh]], [particles] or a [floor]")
            ),
        );
        context.problems.push(problem.help(msg!("`polyfly --default toml` prints a whole scene")));
    }
    if let (Some(span), true, true) = (span, scene.output.is_loop, context.problems.is_empty()) {
        for LoopProblem { what, help } in scene.loop_problems() {
            let problem = Problem::new(
                span.clone(),
                what,
                msg!("expected {what}", what = msg!("a clip whose last frame leads to its first")),
            );
            context.problems.push(problem.help(msg!("{help}; `loop = false` allows any end", help)));
        }
    }
    if context.problems.is_empty() {
        return Ok((scene, look, context.warnings));
    }
    context.problems.sort_by_key(|problem| problem.span.start);
    Err(context.problems)
}

// Warns of bodies that add light at a key of a value over time.
fn warn_of_sums(scene: &Scene, table: &mut Table) {
    for track in scene.tracks.all() {
        let Some((path, "reflection" | "transparency")) = track.path.rsplit_once('.') else { continue };
        let number = path.strip_prefix("body.").and_then(|number| number.parse::<usize>().ok());
        let Some(body) = number.and_then(|number| scene.world.bodies.get(number)) else { continue };
        let own = format!("{path}.");
        let wrong = track.keys.iter().find_map(|key| {
            let mut body = body.clone();
            scene.tracks.within(&own).for_each(|(name, track)| body.put(name, track.at(key.time)));
            let (reflection, transparency) = body.material.shares();
            Some((key.time, above_one("reflection", reflection, transparency)?))
        });
        if let (Some((time, what)), Some(span)) = (wrong, table.span_of(&track.path)) {
            table.warn(span, &msg!("at time {time} {what}", time, what), msg!("the body adds light of its own"));
        }
    }
}

// Warns of keys that change nothing beside other keys of the scene.
fn warn_of_idle_keys(scene: &Scene, table: &mut Table) {
    let world = &scene.world;
    let (sky, usual) = (&world.sky, Sky::default());
    let changes = |path: &str| scene.tracks.change(path);
    let (has_picture, is_clear) = (sky.image.is_some(), !world.air.is_foggy() && !changes("air.density"));
    let mut warn = |is_idle: bool, path: &str, why: &Message| {
        if let (true, Some(span)) = (is_idle, table.span_of(path)) {
            let key = path.rsplit('.').next().unwrap_or(path);
            table.warn(span, &msg!("`{key}` changes nothing", key), why);
        }
    };
    // A value that is written and is the usual one asks for nothing.
    let (covered, no_image) = (
        msg!("the sky has an `image`, which covers its gradient"),
        msg!("[{table}] has no `{key}`", table = "sky", key = "image"),
    );
    warn(has_picture && sky.zenith != usual.zenith, "sky.zenith", &covered);
    warn(has_picture && sky.horizon != usual.horizon, "sky.horizon", &covered);
    warn(has_picture && sky.from_below, "sky.from_below", &covered);
    warn(!has_picture && sky.rotation_deg != 0.0, "sky.rotation_deg", &no_image);
    warn(!has_picture && sky.intensity != usual.intensity, "sky.intensity", &no_image);
    warn(
        is_clear && world.air.height.is_some(),
        "air.height",
        &msg!("[{table}] has no `{key}`", table = "air", key = "density"),
    );
    warn(
        is_clear && world.air.colour != Air::default().colour,
        "air.color",
        &msg!("[{table}] has no `{key}`", table = "air", key = "density"),
    );
    warn(!matches!(scene.film.tone, Tone::Clip { .. }), "film.gamma", &msg!("only `tone = \"clip\"` has a gamma"));
    let (film, render) = (&scene.film, &scene.render);
    let is_noisy = film.denoise == Denoise::None && film.denoise_frames > 0;
    warn(is_noisy, "film.denoise_frames", &msg!("[{table}] has no `{key}`", table = "film", key = "denoise"));
    let has_occlusion = render.ao_samples > 0 || changes("render.ao_samples");
    let by_whitted = render.integrator == Integrator::Whitted;
    warn(
        !by_whitted && render.ao_samples > 0,
        "render.ao_samples",
        &msg!("only `integrator = \"whitted\"` takes occlusion rays for ambient light"),
    );
    let is_asked = match render.integrator {
        Integrator::Whitted => has_occlusion,
        Integrator::Path => false,
        Integrator::AmbientOcclusion => true,
    };
    let needs = if by_whitted {
        msg!("[{table}] has no `{key}`", table = "render", key = "ao_samples")
    } else {
        msg!("only `integrator = \"whitted\"` takes occlusion rays for ambient light")
    };
    warn(!is_asked && render.ao_reach.is_some(), "render.ao_reach", &needs);
    let bare = |body: &Body| body.bar == 0.0 && body.lamps != Lamps::Each(0);
    for (i, _) in world.bodies.iter().enumerate().filter(|(_, body)| bare(body)) {
        warn(
            !changes(&format!("body.{i}.bar")),
            &format!("body.{i}.lamps"),
            &msg!("lamps stand on bars, and `bar` is 0"),
        );
    }
}

// Warns of bevels that change from shading to shape within the clip.
fn warn_of_jumps(scene: &Scene, table: &mut Table) {
    for track in scene.tracks.all().iter().filter(|track| track.path.ends_with(".bevel")) {
        let is_round = |key: &TimedValue| key.value[0] >= ROUND_FROM;
        if let (true, Some(span)) = (!track.keys.iter().all(is_round), table.span_of(&track.path))
            && track.keys.iter().any(is_round)
        {
            table.warn(
                span,
                &msg!("`bevel` crosses {limit}", limit = ROUND_FROM),
                msg!("narrower bevels are in the shading alone, so the picture jumps there"),
            );
        }
    }
}

// Moves keys of older scenes to their new tables.
fn move_keys(document: &mut DeTable, context: &mut Context) {
    for (from, name, to) in MOVED {
        let Some(DeValue::Table(table)) = document.get_mut(from).map(|value| value.get_mut()) else { continue };
        let Some((key, value)) = table.remove_entry(name) else { continue };
        let span = value.span();
        let new = toml::Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
        let target = document.entry(toml::Spanned::new(span.clone(), to.into())).or_insert(new);
        match target.get_mut() {
            DeValue::Table(table) if table.contains_key(name) => {
                context.problem(
                    span,
                    msg!("`{key}` stands in [{first}] and in [{second}]", key = name, first = to, second = from),
                    msg!("it in [{table}] only", table = to),
                );
            }
            DeValue::Table(table) => drop(table.insert(key, value)),
            // A value that is not a table is reported when it is read.
            _ => {}
        }
    }
}

// Tables of which a scene has any number.
pub(crate) const LISTS: [&str; 6] = ["body", "sphere", "ellipsoid", "rectangle", "mesh", "light"];

// The fault of a text that is not TOML.
fn no_toml(text: &str, e: &toml::de::Error) -> Problem {
    let span = e.span().unwrap_or(text.len()..text.len());
    if let Some((text, e)) = open_list(text, span.start) {
        return no_toml(text, &e);
    }
    if e.message().contains("duplicate key") {
        let name = text.get(span.clone()).unwrap_or_default();
        let is_header = text[..span.start].ends_with('[') && LISTS.contains(&name);
        let problem = Problem::new(
            span,
            msg!("`{name}` is given twice in one table", name),
            msg!("expected {what}", what = msg!("each key once")),
        );
        return if is_header {
            problem.help(msg!("where there are several, each begins with `[[{name}]]`", name))
        } else {
            problem
        };
    }
    let problem = Problem::new(span.clone(), msg!("this is not TOML"), Message::of_toml(e.message()));
    match syntax_help(text, &span) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

// The text before a line that begins a key or a table within a list, and its fault: the list is not closed.
fn open_list(text: &str, position: usize) -> Option<(&str, toml::de::Error)> {
    let line_start = text[..position.min(text.len())].rfind('\n')?;
    let line = text[line_start..].trim_start();
    let begins = line.trim_start_matches('[').starts_with(|c: char| c.is_ascii_alphabetic());
    let is_statement = begins && (line.starts_with('[') || line.lines().next()?.contains('='));
    let before = text[..line_start].trim_end();
    let e = DeTable::parse(before).err().filter(|e| is_statement && e.message().starts_with("unclosed array,"))?;
    Some((before, e))
}

// What the author of a wrong table's name may have meant: in other brackets, or with something behind it.
fn header_help(line: &str) -> Option<Message> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    let body = line.split('#').next().unwrap_or_default().trim();
    let name = body.trim_matches(|c: char| !plain(c));
    let is_name = !name.is_empty() && name.chars().all(plain);
    if body.starts_with(['[', '(', '<', '{']) && is_name && body != format!("[[{name}]]") {
        let is_list = body.starts_with("[[") || LISTS.contains(&name);
        return Some(msg!(
            "the name of a table stands in square brackets: {header}",
            header = if is_list { format!("[[{name}]]") } else { format!("[{name}]") }
        ));
    }
    let is_header = |header: &str| header.starts_with('[') && header.trim_start_matches('[').chars().all(plain);
    let (header, rest) = body.split_once(']').filter(|(header, _)| is_header(header))?;
    let closed = if rest.starts_with(']') { "]]" } else { "]" };
    (!["", "]"].contains(&rest)).then(|| {
        msg!("the name of a table stands alone in its line: {header}", header = format_args!("{header}{closed}"))
    })
}

// What the author of invalid TOML may have meant.
fn syntax_help(text: &str, span: &Range<usize>) -> Option<Message> {
    let line_start = text[..span.start.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let line = text[line_start..].lines().next()?;
    if line.trim_start().starts_with(['/', '%', ';']) || line.trim_start().starts_with("--") {
        return Some(msg!("a comment begins with `#`"));
    }
    let key = line.split(['=', ':', '#']).next().unwrap_or_default().trim();
    if let Some(letter) = key.chars().find(|c| c.is_alphabetic() && !c.is_ascii()) {
        return Some(msg!(
            "`{letter}` is not an English letter, even if it looks like one: keys are written in English",
            letter
        ));
    }
    if let Some(help) = header_help(line) {
        return Some(help);
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    if let Some((key, value)) = line.split_once(":=").or_else(|| line.split_once("=="))
        && key.trim().chars().all(plain)
    {
        return Some(msg!(
            "`=` stands between a key and its value: {key} = {value}",
            key = key.trim(),
            value = value.trim()
        ));
    }
    if let (Some((key, value)), false) = (line.split_once(':'), line.contains('=')) {
        return Some(msg!(
            "`=` stands between a key and its value: {key} = {value}",
            key = key.trim(),
            value = value.trim()
        ));
    }
    if key.starts_with("[[") && !key.ends_with("]]") {
        return Some(msg!("as many brackets close as open: [[{name}]]", name = key.trim_matches(['[', ']'])));
    }
    if let (Some((key, value)), false) = (line.trim().split_once(char::is_whitespace), line.contains('=')) {
        return Some(msg!("`=` stands between a key and its value: {key} = {value}", key, value = value.trim()));
    }
    value_help(key, line.split_once('=').map(|(_, value)| value.trim())?)
}

// The same, of what stands behind `=`.
fn value_help(key: &str, value: &str) -> Option<Message> {
    let bare = value.split('#').next().unwrap_or_default().trim();
    if bare.is_empty() && !value.starts_with('#') {
        return Some(msg!("a value follows `=`: `{key} = ...`", key));
    }
    if let Some(quote) =
        ['"', '\''].into_iter().find(|&quote| value.starts_with(quote) && value.matches(quote).count() == 1)
    {
        return Some(msg!(
            "the quotation mark that opens a text closes it in the same line: {quote}",
            quote = format_args!("{value}{quote}")
        ));
    }
    if let Some(value) = bare.strip_suffix([';', ',']) {
        return Some(msg!("nothing follows a value: {key} = {value}", key, value));
    }
    if bare.contains(',') && bare.contains('=') && !bare.starts_with(['[', '{', '"'])
        || bare.contains("\", ") && bare.contains('=')
    {
        return Some(msg!("each key stands on a line of its own"));
    }
    if let Some(list) = bare.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return Some(msg!("a list stands in brackets: {list}", list = format_args!("{key} = [{list}]")));
    }
    let apart: Vec<&str> = bare.trim_matches(['[', ']']).split_whitespace().collect();
    if bare.starts_with('[') && apart.len() > 1 && apart.iter().all(|piece| piece.parse::<f64>().is_ok()) {
        return Some(msg!(
            "commas stand between the elements of a list: {list}",
            list = format_args!("[{}]", apart.join(", "))
        ));
    }
    let are_numbers = bare.split(',').all(|piece| piece.trim().parse::<f64>().is_ok());
    if are_numbers && bare.matches(',').count() > 1 {
        return Some(msg!("a list stands in brackets: {list}", list = format_args!("{key} = [{bare}]")));
    }
    let meant = match bare.to_lowercase().as_str() {
        "true" | "yes" | "on" => Some("true"),
        "false" | "no" | "off" => Some("false"),
        _ => None,
    };
    if let Some(value) = meant {
        return Some(msg!("this is written `{value}`: {line}", value, line = format_args!("{key} = {value}")));
    }
    let number = |text: &str| text.trim().parse::<f64>().ok();
    const CURLED: [char; 8] =
        ['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{201a}', '\u{ab}', '\u{bb}'];
    if value.starts_with(CURLED) {
        return Some(msg!(
            "quotation marks are straight: {text}",
            text = format_args!("\"{}\"", bare.trim_matches(CURLED))
        ));
    }
    if value.starts_with('"') && value.contains('\\') {
        let name = bare.trim_matches('"');
        return Some(msg!(
            "a backslash in double quotes begins a special letter; single quotes leave it as it is: '{name}'",
            name
        ));
    }
    if value.starts_with('#') {
        return Some(msg!("a color stands in quotes: {text}", text = format_args!("\"{value}\"")));
    }
    if let Some(x) = bare.strip_suffix('%').and_then(number) {
        return Some(msg!("a share is a number from 0 to 1: {number}", number = x / 100.0));
    }
    if let Some(help) = suggest::number_help(bare) {
        return Some(help);
    }
    if bare.starts_with('[')
        && let Some(help) =
            bare.split(['[', ',', ']']).find_map(|piece| suggest::look_alike(piece, |text| number(text).is_some()))
    {
        return Some(help);
    }
    if bare.starts_with('[') && bare.contains(suggest::DASHES) {
        return Some(msg!("these are dashes, not minus signs: {list}", list = bare.replace(suggest::DASHES, "-")));
    }
    if let (Some(x), true) = (number(bare), bare.starts_with(['.', '+', '-']) || bare.ends_with('.')) {
        return Some(msg!("digits stand on both sides of the point: {number}", number = format_args!("{x:?}")));
    }
    let is_word = !bare.is_empty() && bare.chars().all(|c| c.is_alphanumeric() || "_-./@~".contains(c));
    is_word.then(|| msg!("a text stands in quotes: {text}", text = format_args!("\"{bare}\"")))
}

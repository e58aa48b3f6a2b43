//! Reads and writes scenes in TOML, and makes their schema.

use super::animation::LoopProblem;
use super::diagnostic::Problem;
use super::keys::read::{Context, Table};
use super::keys::{Keys, over_time, schema};
use super::material::{ADDS_LIGHT, above_one};
use super::{ParseOptions, Scene, Tracks, suggest};
use crate::language::Language;
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
    scene.written().write(&left_out.chain(over_time).collect::<Vec<_>>(), &mut text);
    text
}

/// Parses a scene. Relative paths start in the options' folder.
pub fn parse(text: &str, options: ParseOptions) -> Result<(Scene, Vec<Problem>), Vec<Problem>> {
    let mut document = DeTable::parse(text).map_err(|e| vec![no_toml(text, &e)])?;
    let mut context = Context::new(options, &SCHEMA);
    move_keys(document.get_mut(), &mut context);
    let mut scene = Scene::default();
    let mut table = Table::new(&mut context, document.get_ref(), 0..0, Scene::TABLE);
    scene.read_keys(&mut table);
    let place = table.place("output.loop");
    if let Some(look) = options.look.or(scene.film.look.take()) {
        look.apply(&mut scene, &|key| table.gives(key));
    }
    scene.tracks = Tracks::new(std::mem::take(&mut table.context.tracks));
    warn_of_sums(&scene, &mut table);
    table.finish();
    let world = &scene.world;
    let is_empty = world.bodies.is_empty() && world.materials().next().is_none() && world.floor.is_none();
    if is_empty && context.problems.is_empty() {
        let end = text.trim_end().len();
        let expected =
            "expected a [[body]], [[sphere]], [[ellipsoid]], [[rectangle]], [[mesh]], [particles] or a [floor]";
        let problem = Problem::new(end..end, "the scene is empty", expected);
        context.problems.push(problem.help("`polyfly --default toml` prints a whole scene"));
    }
    if let (Some(place), true, true) = (place, scene.output.is_loop, context.problems.is_empty()) {
        for LoopProblem { what, help } in scene.loop_problems(Language::English) {
            let problem = Problem::new(place.clone(), what, "expected a clip whose last frame leads to its first");
            context.problems.push(problem.help(format!("{help}; `loop = false` allows any end")));
        }
    }
    if context.problems.is_empty() {
        return Ok((scene, context.warnings));
    }
    context.problems.sort_by_key(|problem| problem.span.start);
    Err(context.problems)
}

// Warns of bodies that add light at a key of a value over time.
fn warn_of_sums(scene: &Scene, table: &mut Table) {
    for track in scene.tracks.all() {
        let name = |end: &str| track.path.strip_suffix(end).and_then(|path| path.strip_prefix("body."));
        let Some(body) = name(".reflection").or(name(".transparency")).and_then(|i| i.parse::<usize>().ok()) else {
            continue;
        };
        let at = |time: f64| scene.at(time * f64::from(scene.output.frames));
        let wrong = track.keys.iter().find_map(|key| {
            let (reflection, transparency) = at(key.time).world.bodies.get(body)?.material.shares();
            Some((key.time, above_one("reflection", reflection, transparency)?))
        });
        if let (Some((time, what)), Some(place)) = (wrong, table.place(&track.path)) {
            table.warn(place, format!("at time {time} {what}"), ADDS_LIGHT);
        }
    }
}

// Moves keys of older scenes to their new tables.
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
            // A value that is not a table is reported when it is read.
            _ => {}
        }
    }
}

// Tables of which a scene has any number.
const LISTS: [&str; 6] = ["body", "sphere", "ellipsoid", "rectangle", "mesh", "light"];

// The fault of a text that is not TOML.
fn no_toml(text: &str, e: &toml::de::Error) -> Problem {
    let span = e.span().unwrap_or(text.len()..text.len());
    if e.message().contains("duplicate key") {
        let name = text.get(span.clone()).unwrap_or_default();
        let is_header = text[..span.start].ends_with('[') && LISTS.contains(&name);
        let problem = Problem::new(span, format!("`{name}` is given twice in one table"), "expected each key once");
        return if is_header {
            problem.help(format!("where there are several, each begins with `[[{name}]]`"))
        } else {
            problem
        };
    }
    let problem = Problem::new(span.clone(), "this is not TOML", e.message().to_owned());
    match syntax_help(text, &span) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

// What the author of invalid TOML may have meant.
fn syntax_help(text: &str, span: &Range<usize>) -> Option<String> {
    let line_start = text[..span.start.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let line = text[line_start..].lines().next()?;
    if line.trim_start().starts_with(['/', '%', ';']) || line.trim_start().starts_with("--") {
        return Some("a comment begins with `#`".into());
    }
    let key = line.split(['=', ':', '#']).next().unwrap_or_default().trim();
    if let Some(letter) = key.chars().find(|c| c.is_alphabetic() && !c.is_ascii()) {
        return Some(format!(
            "`{letter}` is no English letter, even if it looks like one: keys are written in English"
        ));
    }
    if let (Some((key, value)), false) = (line.split_once(':'), line.contains('=')) {
        return Some(format!("`=` stands between a key and its value: {} = {}", key.trim(), value.trim()));
    }
    if key.starts_with("[[") && !key.ends_with("]]") {
        return Some(format!("as many brackets close as open: [[{}]]", key.trim_matches(['[', ']'])));
    }
    if let (Some((key, value)), false) = (line.trim().split_once(char::is_whitespace), line.contains('=')) {
        return Some(format!("`=` stands between a key and its value: {key} = {}", value.trim()));
    }
    let value = line.split_once('=').map(|(_, value)| value.trim())?;
    let bare = value.split('#').next().unwrap_or_default().trim();
    if let Some(value) = bare.strip_suffix([';', ',']) {
        return Some(format!("nothing stands behind a value: {key} = {value}"));
    }
    if bare.contains(',') && bare.contains('=') && !bare.starts_with(['[', '{', '"'])
        || bare.contains("\", ") && bare.contains('=')
    {
        return Some("each key stands on a line of its own".into());
    }
    if let Some(list) = bare.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return Some(format!("a list stands in brackets: {key} = [{list}]"));
    }
    let are_numbers = bare.split(',').all(|piece| piece.trim().parse::<f64>().is_ok());
    if are_numbers && bare.matches(',').count() > 1 {
        return Some(format!("a list stands in brackets: {key} = [{bare}]"));
    }
    match bare.to_lowercase().as_str() {
        "true" | "yes" | "on" => return Some(format!("this is written `true`: {key} = true")),
        "false" | "no" | "off" => return Some(format!("this is written `false`: {key} = false")),
        _ => {}
    }
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
        return Some(format!("a color stands in quotes: \"{value}\""));
    }
    if let Some(x) = bare.strip_suffix('%').and_then(number) {
        return Some(format!("a share is a number from 0 to 1: {}", x / 100.0));
    }
    if let Some(help) = suggest::number_help(Language::English, bare) {
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

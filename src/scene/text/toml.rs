//! Reads and writes scenes in TOML, and makes their schema.

use crate::language::{Message, msg};
use crate::scene::animation::LoopProblem;
use crate::scene::figure_style;
use crate::scene::keys::read::{Context, Table};
use crate::scene::keys::track::TimedValue;
use crate::scene::keys::{Keys, over_time, schema};
use crate::scene::text::diagnostic::Problem;
use crate::scene::text::suggest;
use crate::scene::world::material::above_one;
use crate::scene::world::round::ROUND_FROM;
use crate::scene::{Integrator, Lamps, Look, ParseOptions, Projection, Scene, Stereo, Tracks};
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
    figure_style::apply(&mut scene, &mut table);
    scene.tracks = Tracks::new(std::mem::take(&mut table.context.tracks));
    scene.beat();
    refuse_what_views_lack(&scene, &mut table);
    warn_of_sums(&scene, &mut table);
    warn_of_idle_keys(&scene, &mut table);
    warn_of_jumps(&scene, &mut table);
    table.finish();
    let world = &scene.world;
    let is_empty = world.bodies.is_empty() && world.materials().next().is_none() && world.floor.is_none();
    if is_empty && context.problems.is_empty() {
        let end = text.trim_end().len();
        let expected = msg!("a [[body]], [[sphere]], [[ellipsoid]], [[rectangle]], [[mesh]], [particles] or a [floor]");
        let problem = Problem::expected(end..end, msg!("the scene is empty"), expected);
        context.problems.push(problem.help(msg!("`polyfly --default toml` prints a whole scene")));
    }
    if let (Some(span), true, true) = (span, scene.output.is_loop, context.problems.is_empty()) {
        for LoopProblem { what, help, .. } in scene.loop_problems() {
            let problem = Problem::expected(span.clone(), what, msg!("a clip whose last frame leads to its first"));
            context.problems.push(problem.help(msg!("{help}; `loop = false` allows any end", help)));
        }
    }
    if context.problems.is_empty() {
        return Ok((scene, look, context.warnings));
    }
    context.problems.sort_by_key(|problem| problem.span.start);
    Err(context.problems)
}

// Refuses what makes no sense in the camera's view: a key that is used, whether the view lacks it, and why.
fn refuse_what_views_lack(scene: &Scene, table: &mut Table) {
    let Scene { camera, film, world, tracks, .. } = scene;
    let (projection, is_plane) = (camera.projection, camera.is_in_a_plane());
    let has_legend = world.particles.as_ref().is_some_and(|particles| particles.legend);
    let of_print = || msg!("a legend and what else stands beside particles is for one flat picture");
    let rows = [
        (
            ("camera.lens", camera.lens > 0.0),
            projection != Projection::Perspective,
            msg!("only a perspective camera has a lens"),
            msg!("`lens = 0`, or `projection = \"perspective\"`"),
        ),
        (
            ("camera.stereo", camera.stereo != Stereo::None),
            projection == Projection::Orthographic,
            msg!("parallel rays have no eye: both pictures would be the same"),
            msg!("`stereo = \"none\"`, or another projection"),
        ),
        (
            ("film.vignette", film.vignette > 0.0),
            projection.is_round(),
            msg!("a panorama or a fisheye has no corners that a lens darkens"),
            msg!("`vignette = 0`, or `projection = \"perspective\"`"),
        ),
        (
            ("film.denoise_frames", film.denoise_frames > 0),
            !is_plane,
            msg!("surfaces are followed from frame to frame in one flat picture only"),
            msg!("`denoise_frames = 0`: each frame is denoised by itself"),
        ),
        (("particles.legend", has_legend), !is_plane, of_print(), msg!("no legend: `legend = false`")),
        (
            ("figure", scene.figure.is_some()),
            !is_plane,
            of_print(),
            msg!("no [figure], or `projection = \"perspective\"`"),
        ),
    ];
    for ((path, is_used), is_lacking, why, expected) in rows {
        if is_lacking && (is_used || tracks.change(path)) {
            table.problem_at(path, why, expected);
        }
    }
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

// Warns of keys of the scene that change nothing, for reasons that their declarations do not tell.
fn warn_of_idle_keys(scene: &Scene, table: &mut Table) {
    let render = &scene.render;
    let has_occlusion = render.ao_samples > 0 || render.integrator != Integrator::Whitted;
    let mut warn = |is_idle: bool, path: &str, why: Message| {
        if let (true, Some(span)) = (is_idle, table.span_of(path)) {
            let key = path.rsplit('.').next().unwrap_or(path);
            table.warn(span, &msg!("`{key}` changes nothing", key), why);
        }
    };
    let no_rays = msg!("[{table}] has no `{key}`", table = "render", key = "ao_samples");
    warn(!has_occlusion && render.ao_reach.is_some(), "render.ao_reach", no_rays);
    for (i, body) in scene.world.bodies.iter().enumerate() {
        let is_bare = body.bar == 0.0 && body.lamps != Lamps::Each(0);
        if is_bare && !scene.tracks.change(&format!("body.{i}.bar")) {
            warn(true, &format!("body.{i}.lamps"), msg!("lamps stand on bars, and `bar` is 0"));
        }
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
        let problem =
            Problem::expected(span, msg!("`{name}` is given twice in one table", name), msg!("each key once"));
        return problem.help(is_header.then(|| msg!("where there are several, each begins with `[[{name}]]`", name)));
    }
    let line = text[..span.start.min(text.len())].rfind('\n').map_or(text, |at| &text[at + 1..]).lines().next();
    let value = line.and_then(|line| line.split_once('=')).map_or("", |(_, value)| value.trim());
    let pieces = || value.split(['[', ',', ']']).find_map(|piece| suggest::number_help(piece.trim()));
    let help = suggest::number_help(value).or_else(pieces).unwrap_or_else(|| {
        msg!("a line is `[table]` or `key = value`: numbers such as 0.5, texts in \"quotes\", paths with backslashes in 'single quotes', lists in [brackets], comments behind `#`")
    });
    Problem::new(span, msg!("this is not TOML"), Message::of_toml(e.message())).help(help)
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

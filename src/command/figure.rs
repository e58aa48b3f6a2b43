//! `polyfly figure`: the figure of a file of particles, by a scene that the flags describe.

mod again;

use super::render;
use super::scene_file::SceneText;
use super::stop;
use crate::cli::{CommonArgs, Failure, FigureArgs, RenderArgs, assignment, environment, shown};
use crate::error::Error;
use crate::language::msg;
use crate::quote::brief;
use crate::report::{print, say};
use crate::scene::keys::kinds::quoted;
use crate::scene::text::edit;
use crate::scene::{Figure, Particles, numbered, series};
use std::path::Path;
use std::time::Duration;

pub fn run(args: &FigureArgs) -> Result<(), Failure> {
    if args.again {
        return again::run(args, render_args(args)?);
    }
    let text = scene_text(args)?;
    if args.print_scene {
        return Ok(print(&text.text)?);
    }
    picture(args, text)
}

fn is_scene(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

// The text of the scene, with what the flags change.
fn scene_text(args: &FigureArgs) -> Result<SceneText, Failure> {
    let mut source = match is_scene(&args.file) {
        true => SceneText::read(&args.file)?,
        false => {
            let path = format!("{}path = {}\n", Figure::SCENE, quoted(&args.file));
            SceneText {
                text: path,
                shown: shown(msg!("the scene of {name}", name = brief(&args.file))),
                ..SceneText::default()
            }
        }
    };
    let path = Path::new(&args.file);
    let named = Particles { path: path.into(), names: series::files(path), ..Particles::default() };
    if args.step.is_none() && !is_scene(&args.file) && named.is_series() {
        say(msg!("{path} is a series: its step 0 is drawn; --step N draws another", path = brief(&args.file)));
    }
    let view = args
        .view
        .as_ref()
        .map(|view| if view.contains(',') { format!("[{}]", view.trim_matches(['[', ']'])) } else { quoted(view) });
    let path = (!is_scene(&args.file)).then(|| quoted(&default_name(args)));
    let own = [
        ("output.path", path),
        ("particles.first", args.step.map(|step| step.to_string())),
        ("particles.color_by", args.color_by.as_deref().map(quoted)),
        ("figure.style", args.style.as_deref().map(quoted)),
        ("figure.width", args.width.as_deref().map(quoted)),
        ("figure.view", view),
        ("figure.label", args.label.as_deref().map(quoted)),
    ];
    let own = own.into_iter().filter_map(|(key, value)| Some((key, value?)));
    let set = args.set.iter().map(|text| assignment(text)).collect::<Result<Vec<_>, _>>()?;
    for (key, value) in own.chain(set.into_iter().map(|(key, value)| (key, value.to_owned()))) {
        source.text = edit::set(&source.text, key, Some(&value))
            .map_err(|e| Error::about(format!("--set {key}"), e.message()))?;
    }
    Ok(source)
}

// The file's name without its folder, with the ending of a picture.
fn default_name(args: &FigureArgs) -> String {
    let file = numbered(&args.file, u64::from(args.step.unwrap_or(0))).unwrap_or_else(|| args.file.clone());
    let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    format!("{}.png", stem.replace(['%', '*'], "_"))
}

// What a run takes of the flags.
fn render_args(args: &FigureArgs) -> Result<RenderArgs, Failure> {
    let common = CommonArgs { frames: Some("0".into()), allow_outside: true };
    let output = args.output.as_ref().map(|path| path.display().to_string());
    let (overwrite, open, device) = (args.overwrite, args.open, args.device.clone());
    let mut all = RenderArgs { common, output, overwrite, open, device, grace: 30, ..RenderArgs::default() };
    all.take_defaults(environment)?;
    Ok(all)
}

fn picture(args: &FigureArgs, source: SceneText) -> Result<(), Failure> {
    let all = render_args(args)?;
    stop::listen(Duration::from_secs(all.grace.into()));
    let parsed = source.parse(&Default::default())?;
    source.warn(parsed.warnings);
    render::run_scene(&all, &args.file, parsed.scene, &source)
}

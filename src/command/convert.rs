//! `polyfly convert`: converts a scene to the other grammar, or a picture to another format.

use super::output_file::OutputFile;
use super::scene_file::SceneText;
use crate::assets::AssetError;
use crate::cli::{ConvertArgs, Failure};
use crate::error::Error;
use crate::language::{Message, msg};
use crate::output::formats::{Format, FormatOptions, Shown};
use crate::output::{NameFile, RenderedFrame};
use crate::report::{print, say};
use crate::scene::limits::PICTURES;
use crate::scene::{self, Grammar, ParseOptions, Tone, tokens};
use crate::system::extension;
use std::io;
use std::path::Path;

pub fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let target = args.output.as_ref().or(args.target.as_ref());
    let file = target.map(|path| OutputFile::create(path, args.overwrite)).transpose()?;
    let picture_format = Format::of_file(Path::new(&args.scene));
    let source = match (picture_format, args.to) {
        (Some(from), None) => return picture(Path::new(&args.scene), from, file),
        (Some(from), Some(_)) => scene_in(&args.scene, from)?,
        (None, None) if target.is_some_and(|target| grammar_of(target).is_none()) => {
            let target = target.map_or_else(String::new, |target| target.display().to_string());
            return Err(Failure::usage(msg!(
                "{name}: a scene is written to .toml or, in tokens, .txt; or give --to",
                name = target
            )));
        }
        (None, _) => SceneText::read(&args.scene)?,
    };
    // Paths are kept as written: neither the scene's folder nor the home folder is inserted.
    let options = ParseOptions {
        solids: args.solids.unwrap_or(ParseOptions::SOLIDS),
        look: args.look,
        ..ParseOptions::default()
    };
    let parsed = scene::parse(&source.text, &source.shown, options)?;
    let to = args.to.or(target.and_then(|target| grammar_of(target))).unwrap_or(match parsed.grammar {
        Grammar::Tokens => Grammar::Toml,
        Grammar::Toml => Grammar::Tokens,
    });
    source.warn(parsed.warnings);
    let written = match to {
        // The text from a picture keeps its comments, which describe the picture.
        Grammar::Toml if picture_format.is_some() => source.text,
        Grammar::Toml => parsed.scene.to_toml(),
        Grammar::Tokens => tokens::write(&parsed.scene).map_err(Failure::NotExpressible)?,
    };
    if let (Grammar::Tokens, Some(names)) = (to, tokens::solids_flag(&parsed.scene)) {
        say(msg!("the bodies are not the usual three: render these tokens with --solids {names}", names));
    }
    if let (Grammar::Tokens, Some(look)) = (to, tokens::look_flag(&parsed.scene)) {
        say(msg!("their look is not the usual one: render these tokens with --look {name}", name = look));
    }
    match file {
        Some(file) => Ok(file.write(written.as_bytes())?),
        None => Ok(print(&written)?),
    }
}

pub fn grammar_of(path: &Path) -> Option<Grammar> {
    match extension(path).as_str() {
        "toml" => Some(Grammar::Toml),
        "txt" => Some(Grammar::Tokens),
        _ => None,
    }
}

// An error for an unreadable picture: the system's message, or that the content is invalid.
fn unreadable(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |e| match e.raw_os_error() {
        Some(_) => Error::Read(path.display().to_string(), e).into(),
        None => AssetError::new(path, Message::text(e)).into(),
    }
}

// Reads the scene that is stored in a picture.
fn scene_in(name: &str, format: &Format) -> Result<SceneText, Failure> {
    let text = format.origin(Path::new(name)).map_err(unreadable(Path::new(name)))?.ok_or_else(|| {
        Failure::usage(msg!(
            "{name} does not hold its scene: .png and .exr that polyfly has rendered do, from version 0.1",
            name
        ))
    })?;
    Ok(SceneText { text, shown: format!("the scene in {name}"), ..SceneText::default() })
}

// Converts a picture. Linear light passes through the tone curve of the scene in the picture.
fn picture(from: &Path, format: &Format, to: Option<OutputFile>) -> Result<(), Failure> {
    let Some(to) = to else {
        return Err(Failure::usage(msg!("{name} is a picture: name the one to make of it", name = from.display())));
    };
    let (Shown { size, rgba }, remark) = read_picture(from, format)?;
    if let Some(remark) = remark {
        say(remark.to_owned());
    }
    write_picture(&to, size, &rgba)
}

/// Reads a picture as it is shown. Linear light goes through the tone curve of its scene; a remark says if the scene is unknown.
pub fn read_picture(from: &Path, format: &Format) -> Result<(Shown, Option<Message>), Failure> {
    let is_light = format.has_light();
    let scene = is_light.then(|| format.scene(from)).flatten();
    let tone = scene.as_ref().map_or(Tone::Soft, |scene| scene.film.tone);
    let has_alpha = scene.as_ref().is_some_and(|scene| scene.world.sky.transparent);
    let shown = format.shown(from, tone, has_alpha).map_err(unreadable(from))?;
    let remark = (is_light && scene.is_none()).then(|| {
        msg!("the scene of {name} is unknown: its linear light is shown with `tone = \"soft\"`", name = from.display())
    });
    Ok((shown, remark))
}

/// How a picture of that name is written.
pub fn picture_target(to: &Path) -> Result<(&'static Format, FormatOptions), Failure> {
    let target = Format::of_file(to).ok_or_else(|| {
        Failure::usage(msg!(
            "{name}: a picture ends in {endings}",
            name = to.display(),
            endings = format!(".{}", PICTURES.join(", ."))
        ))
    })?;
    let options = target.options(Some(8), Tone::Soft).map_err(|e| Error::about(to.display(), e))?;
    Ok((target, options))
}

/// Writes an RGBA picture in the format of the file's extension.
pub fn write_picture(file: &OutputFile, (width, height): (u32, u32), rgba: &[u8]) -> Result<(), Failure> {
    let to = file.path();
    let (target, options) = picture_target(to)?;
    let has_alpha = rgba.as_chunks::<4>().0.iter().any(|pixel| pixel[3] < 255);
    let options = FormatOptions { has_alpha, ..options };
    if width.max(height) > target.largest || rgba.is_empty() {
        return Err(Failure::usage(msg!(
            "{name} cannot have {width} x {height} pixels",
            name = to.display(),
            width,
            height
        )));
    }
    let frame = RenderedFrame::of_rgba8(0, (width, height), rgba);
    Ok(file.write(&(target.encode)(&frame, &options).writing(to)?)?)
}

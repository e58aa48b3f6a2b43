//! `polyfly convert`: a scene in the other grammar, a picture in another format.

use super::{output, scene_text, warn_of};
use crate::assets::AssetError;
use crate::cli::{ConvertArgs, Failure};
use crate::error::Error;
use crate::output::RenderedFrame;
use crate::output::formats::{Format, FormatOptions, Reader, Shown};
use crate::output::store::atomic::write_whole;
use crate::report::remark;
use crate::scene::limits::PICTURES;
use crate::scene::{self, Grammar, ParseOptions, Tone, tokens};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Turns a scene into the other grammar.
pub fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let target = args.output.as_ref().or(args.target.as_ref());
    let (text, name) = match (format_of(Path::new(&args.scene)), args.to) {
        (Some(from), None) => return picture(Path::new(&args.scene), from, target),
        (Some(from), Some(_)) => (scene_in(&args.scene, from)?, format!("the scene in {}", args.scene)),
        (None, None) if target.is_some_and(|target| grammar_of(target).is_none()) => {
            let target = target.map_or_else(String::new, |target| target.display().to_string());
            return Err(Failure::usage(format!(
                "{target}: a scene is written to .toml or, in tokens, .txt; or give --to"
            )));
        }
        (None, _) => scene_text(&args.scene)?,
    };
    // Paths stay as they are written: no folder is put before them, not even the home folder.
    let reading = ParseOptions { solids: args.solids.unwrap_or(ParseOptions::SOLIDS), ..ParseOptions::default() };
    let parsed = scene::parse(&text, &name, reading)?;
    let to = args.to.map(Grammar::from).or(target.and_then(|target| grammar_of(target)));
    let to = to.unwrap_or(match parsed.grammar {
        Grammar::Tokens => Grammar::Toml,
        Grammar::Toml => Grammar::Tokens,
    });
    warn_of(&name, &text, parsed.warnings);
    let written = match to {
        // With what it says of the picture.
        Grammar::Toml if format_of(Path::new(&args.scene)).is_some() => text,
        Grammar::Toml => parsed.scene.to_toml(),
        Grammar::Tokens => tokens::write(&parsed.scene).map_err(Failure::NotExpressible)?,
    };
    if let (Grammar::Tokens, Some(names)) = (to, tokens::solids_flag(&parsed.scene)) {
        remark(&format!("the bodies are not the usual three: render these tokens with --solids {names}"));
    }
    match target {
        Some(path) => Ok(write_whole(path, |file| file.write_all(written.as_bytes()))?),
        None => output(&written),
    }
}

// The grammar that the ending of a name says.
fn grammar_of(path: &Path) -> Option<Grammar> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "toml" => Some(Grammar::Toml),
        "txt" => Some(Grammar::Tokens),
        _ => None,
    }
}

// A picture that cannot be read: the system says why, or its content is none.
fn unreadable(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |e| match e.raw_os_error() {
        Some(_) => Error::Read(path.display().to_string(), e).into(),
        None => AssetError::new(path, e.to_string()).into(),
    }
}

// The scene that a picture was made of.
fn scene_in(name: &str, format: &Format) -> Result<String, Failure> {
    let text = format.origin(Path::new(name)).map_err(unreadable(Path::new(name)))?;
    text.ok_or_else(|| {
        Failure::usage(format!(
            "{name} does not hold its scene: .png and .exr that polyfly has rendered do, from version 0.1"
        ))
    })
}

// What the ending of a name says.
fn format_of(path: &Path) -> Option<&'static Format> {
    Format::of(&path.extension()?.to_string_lossy().to_ascii_lowercase())
}

// Writes a picture as another one, as it is shown; light through the tone curve of the scene that it is of.
fn picture(from: &Path, format: &Format, to: Option<&PathBuf>) -> Result<(), Failure> {
    let Some(to) = to else {
        return Err(Failure::usage(format!("{} is a picture: name the one to make of it", from.display())));
    };
    let failed = unreadable(from);
    let Shown { size, rgba } = match format.read {
        Reader::Shown(read) => read(from).map_err(&failed)?,
        Reader::Light(read) => {
            let light = read(from).map_err(failed)?;
            let scene = format.scene(from);
            if scene.is_none() {
                let from = from.display();
                remark(&format!("{from} does not tell of its scene: its light is shown as `tone = \"soft\"` has it"));
            }
            light.shown(
                scene.as_ref().map_or(Tone::Soft, |s| s.film.tone),
                scene.is_some_and(|s| s.world.sky.transparent),
            )
        }
    };
    write_picture(to, size, &rgba)
}

/// Writes a picture in RGBA, as it is shown, in the format of the file's ending.
///
/// # Errors
/// There is no such format, or it has no pictures of that size; the file cannot be written.
pub fn write_picture(to: &Path, (width, height): (u32, u32), rgba: &[u8]) -> Result<(), Failure> {
    let target = format_of(to)
        .ok_or_else(|| Failure::usage(format!("{}: a picture ends in .{}", to.display(), PICTURES.join(", ."))))?;
    let options = target.options(Some(8), Tone::Soft).map_err(|e| Failure::usage(format!("{}: {e}", to.display())))?;
    let has_alpha = rgba.as_chunks::<4>().0.iter().any(|pixel| pixel[3] < 255);
    let options = FormatOptions { has_alpha, ..options };
    if width.max(height) > target.largest || rgba.is_empty() {
        return Err(Failure::usage(format!("{} cannot have {width} x {height} pixels", to.display())));
    }
    let frame = RenderedFrame::of_rgba8(0, (width, height), rgba);
    Ok(write_whole(to, |file| (target.write)(&frame, &options, file))?)
}

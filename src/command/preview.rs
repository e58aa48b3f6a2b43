//! `polyfly preview`: shows a frame in the terminal, by the best graphics protocol that it supports.

use super::scene_file::load_scene;
use crate::cli::{Failure, PreviewArgs, Protocol, environment};
use crate::film::image::Image;
use crate::language::AllLanguages;
use crate::output::OutputError;
use crate::output::formats::png;
use crate::output::opaque::opaque;
use crate::render::Renderer;
use crate::render::frames::FrameList;
use crate::report::print;
use crate::scene::Scene;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use icy_sixel::SixelImage;
use std::fmt::Write;

// The default size of a terminal, and the pixels of a character.
const COLUMNS: u32 = 80;
const ROWS: u32 = 24;
const LETTER: (u32, u32) = (10, 20);
// Bytes per escape sequence of kitty's protocol.
const CHUNK: usize = 4096;

pub fn run(args: &PreviewArgs) -> Result<(), Failure> {
    let (mut scene, text) = load_scene(&args.scene, &args.changes)?;
    let wrong = |e: AllLanguages| Failure::usage(|l| l.says("--frame", e.get(l)));
    let asked = match &args.frame {
        Some(frame) => FrameList::read(frame, scene.output.frames).map_err(wrong)?,
        None => args.changes.frame_list(&scene)?,
    };
    let protocol = args.protocol.unwrap_or_else(|| spoken(environment));
    let (columns, rows) = terminal_size::terminal_size()
        .map_or((COLUMNS, ROWS), |(width, height)| (u32::from(width.0), u32::from(height.0)));
    let columns = args.columns.unwrap_or(columns).max(1);
    fit(&mut scene, protocol, (columns, rows.saturating_sub(1).max(1)), args.changes.size.is_some());
    let mut renderer = Renderer::prepare(scene, args.device.options()).map_err(|e| text.placed(e))?;
    let image = renderer.still(asked.nth(0).unwrap_or_default())?;
    let failed = |e: std::io::Error| Failure::from(OutputError::Write("the preview".into(), e));
    let shown = match protocol {
        Protocol::Kitty => kitty(&png::of_image(&image).map_err(failed)?),
        Protocol::Iterm => iterm(&png::of_image(&image).map_err(failed)?),
        Protocol::Sixel => sixel(&image).map_err(failed)?,
        Protocol::Blocks => blocks(&image, has_all_colours(environment)),
    };
    Ok(print(&shown)?)
}

// The terminal's best protocol, by environment variables.
fn spoken(told: impl Fn(&str) -> Option<String>) -> Protocol {
    let is = |name: &str, words: &[&str]| told(name).is_some_and(|v| words.iter().any(|w| v.contains(w)));
    if told("TMUX").is_some() || is("TERM", &["screen", "tmux"]) {
        // Terminal multiplexers pass no other protocol by default.
        return Protocol::Blocks;
    }
    if told("KITTY_WINDOW_ID").is_some() || is("TERM", &["kitty", "ghostty"]) || is("TERM_PROGRAM", &["ghostty"]) {
        Protocol::Kitty
    } else if is("TERM_PROGRAM", &["iTerm", "WezTerm"]) || is("LC_TERMINAL", &["iTerm"]) {
        Protocol::Iterm
    } else if is("TERM", &["foot", "mlterm", "sixel", "contour"]) || told("WT_SESSION").is_some() {
        Protocol::Sixel
    } else {
        Protocol::Blocks
    }
}

fn has_all_colours(told: impl Fn(&str) -> Option<String>) -> bool {
    told("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit")
        || told("WT_SESSION").is_some()
        || told("TERM").is_some_and(|v| v.contains("direct"))
}

// Scales the picture down to the terminal. A size that the user requested stays, except for blocks.
fn fit(scene: &mut Scene, protocol: Protocol, (columns, rows): (u32, u32), is_asked: bool) {
    let (width, height) = (f64::from(scene.render.width), f64::from(scene.render.height));
    let (wide, tall) = match protocol {
        Protocol::Blocks => (columns, 2 * rows),
        _ if is_asked => return,
        _ => (columns.saturating_mul(LETTER.0), rows.saturating_mul(LETTER.1)),
    };
    let scale = (f64::from(wide) / width).min(f64::from(tall) / height).min(1.0);
    let side = |x: f64| (x * scale).round().max(1.0) as u32;
    (scene.render.width, scene.render.height) = (side(width), side(height));
}

// Kitty's graphics protocol: the file in chunks; m says whether another one follows.
fn kitty(file: &[u8]) -> String {
    let whole = STANDARD.encode(file);
    let pieces: Vec<&str> = whole.as_bytes().chunks(CHUNK).filter_map(|c| std::str::from_utf8(c).ok()).collect();
    let escaped = |(i, piece): (usize, &&str)| {
        let (first, more) = (if i == 0 { "f=100,a=T,q=2," } else { "" }, u8::from(i + 1 < pieces.len()));
        format!("\x1b_G{first}m={more};{piece}\x1b\\")
    };
    pieces.iter().enumerate().map(escaped).collect::<String>() + "\n"
}

fn iterm(file: &[u8]) -> String {
    format!("\x1b]1337;File=inline=1;size={};preserveAspectRatio=1:{}\x07\n", file.len(), STANDARD.encode(file))
}

fn sixel(image: &Image<u8>) -> std::io::Result<String> {
    let picture =
        SixelImage::from_rgba(opaque(image.data()).into_owned(), image.width() as usize, image.height() as usize);
    Ok(picture.encode().map_err(std::io::Error::other)? + "\n")
}

// Two pixels per character: an upper half block in the upper pixel's color on the lower pixel's.
fn blocks(image: &Image<u8>, all_colours: bool) -> String {
    let width = image.width() as usize;
    let picture = opaque(image.data());
    let rows: Vec<&[[u8; 4]]> = picture.as_chunks::<4>().0.chunks(width.max(1)).collect();
    let colour = |[r, g, b, _]: [u8; 4]| match all_colours {
        true => format!("2;{r};{g};{b}"),
        // The 6 x 6 x 6 color cube of terminals with 256 colors.
        false => {
            let step = |x: u8| (u32::from(x) * 5 + 127) / 255;
            format!("5;{}", 16 + 36 * step(r) + 6 * step(g) + step(b))
        }
    };
    let mut text = String::new();
    for pair in rows.chunks(2) {
        for x in 0..width {
            let upper = colour(pair[0][x]);
            let _ = match pair.get(1) {
                Some(lower) => write!(text, "\x1b[38;{upper};48;{}m\u{2580}", colour(lower[x])),
                None => write!(text, "\x1b[38;{upper}m\u{2580}"),
            };
        }
        text += "\x1b[0m\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_what_they_say() {
        let of = |pairs: &'static [(&str, &str)]| {
            spoken(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("TERM", "xterm-kitty")]), Protocol::Kitty);
        assert_eq!(of(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/x")]), Protocol::Blocks);
        assert_eq!(of(&[("TERM_PROGRAM", "iTerm.app"), ("TERM", "xterm-256color")]), Protocol::Iterm);
        assert_eq!(of(&[("TERM", "foot")]), Protocol::Sixel);
        assert_eq!(of(&[("TERM", "xterm-256color")]), Protocol::Blocks);
        assert_eq!(of(&[]), Protocol::Blocks);
    }

    #[test]
    fn pictures_become_letters() {
        let image = Image::new(1, 3, 4, vec![255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255]);
        let full = "\x1b[38;2;255;0;0;48;2;0;255;0m\u{2580}\x1b[0m\n\x1b[38;2;0;0;255m\u{2580}\x1b[0m\n";
        assert_eq!(blocks(&image, true), full);
        assert_eq!(blocks(&image, false), "\x1b[38;5;196;48;5;46m\u{2580}\x1b[0m\n\x1b[38;5;21m\u{2580}\x1b[0m\n");
    }

    #[test]
    fn long_files_go_in_pieces() {
        let text = kitty(&[7; 6144]);
        let pieces: Vec<&str> = text.trim_end().split("\x1b\\").filter(|p| !p.is_empty()).collect();
        assert_eq!(pieces.len(), 2);
        assert!(pieces[0].starts_with("\x1b_Gf=100,a=T,q=2,m=1;") && pieces[1].starts_with("\x1b_Gm=0;"));
        let joined: String = pieces.iter().map(|p| p.split_once(';').unwrap().1).collect();
        assert_eq!(STANDARD.decode(joined).unwrap(), [7; 6144]);
        assert!(iterm(b"abc").contains("size=3") && iterm(b"abc").ends_with(":YWJj\x07\n"));
    }
}

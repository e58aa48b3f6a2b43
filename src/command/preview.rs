//! `polyfly preview`: shows a frame in the terminal, by the best graphics protocol that it supports.

use super::request::options_of;
use super::scene_file::load_scene;
use crate::cli::{Failure, PreviewArgs, Protocol, environment};
use crate::error::Error;
use crate::film::image::Image;
use crate::output::OutputError;
use crate::output::formats::png;
use crate::output::opaque::opaque;
use crate::render::Renderer;
use crate::render::frames::FrameList;
use crate::report::print;
use crate::scene::Scene;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeSet;
use std::fmt::Write;

// The default size of a terminal, and the pixels of a character.
const COLUMNS: u32 = 80;
const ROWS: u32 = 24;
const LETTER: (u32, u32) = (10, 20);
// Bytes per escape sequence of kitty's protocol.
const CHUNK: usize = 4096;

pub fn run(args: &PreviewArgs) -> Result<(), Failure> {
    let (mut scene, text) = load_scene(&args.scene, &args.common, &args.changes)?;
    let asked = match &args.frame {
        Some(frame) => FrameList::read(frame, scene.output.frames).map_err(|e| Error::about("--frame", e))?,
        None => args.common.frame_list(&scene)?,
    };
    let protocol = args.protocol.unwrap_or_else(|| spoken(environment));
    let (columns, rows) = terminal_size::terminal_size()
        .map_or((COLUMNS, ROWS), |(width, height)| (u32::from(width.0), u32::from(height.0)));
    let columns = args.columns.unwrap_or(columns).max(1);
    fit(&mut scene, protocol, (columns, rows.saturating_sub(1).max(1)), args.changes.size.is_some());
    // A look at a frame does not wait for those around it.
    scene.film.denoise_frames = 0;
    let mut renderer = Renderer::prepare(scene, options_of(&args.device)?).map_err(|e| text.placed(e))?;
    let image = renderer.still(asked.nth(0).unwrap_or_default())?;
    let failed = |e: std::io::Error| Failure::from(OutputError::Write("the preview".into(), e));
    let shown = match protocol {
        Protocol::Kitty => kitty(&png::of_image(&image).map_err(failed)?),
        Protocol::Iterm => iterm(&png::of_image(&image).map_err(failed)?),
        Protocol::Sixel => sixel(&image),
        Protocol::Blocks => blocks(&image, has_all_colours(environment)),
    };
    Ok(print(&shown)?)
}

// The terminal's best protocol, by environment variables.
fn spoken(variable: impl Fn(&str) -> Option<String>) -> Protocol {
    let is = |name: &str, words: &[&str]| variable(name).is_some_and(|v| words.iter().any(|w| v.contains(w)));
    if variable("TMUX").is_some() || is("TERM", &["screen", "tmux"]) {
        // Terminal multiplexers pass no other protocol by default.
        return Protocol::Blocks;
    }
    if variable("KITTY_WINDOW_ID").is_some() || is("TERM", &["kitty", "ghostty"]) || is("TERM_PROGRAM", &["ghostty"]) {
        Protocol::Kitty
    } else if is("TERM_PROGRAM", &["iTerm", "WezTerm"]) || is("LC_TERMINAL", &["iTerm"]) {
        Protocol::Iterm
    } else if is("TERM", &["foot", "mlterm", "sixel", "contour"]) || variable("WT_SESSION").is_some() {
        Protocol::Sixel
    } else {
        Protocol::Blocks
    }
}

fn has_all_colours(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit")
        || variable("WT_SESSION").is_some()
        || variable("TERM").is_some_and(|v| v.contains("direct"))
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

// Levels of red, green and blue in the palette of a sixel picture, which has 256 colors at most.
const LEVELS: [i32; 3] = [6, 7, 6];
// A pixel's error goes on to its neighbors in sixteenths (Floyd and Steinberg, 1976).
const NEIGHBORS: [(isize, usize, i32); 4] = [(1, 0, 7), (-1, 1, 3), (0, 1, 5), (1, 1, 1)];

fn sixel(image: &Image<u8>) -> String {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let picture = opaque(image.data());
    let mut left: Vec<[i32; 3]> =
        picture.as_chunks::<4>().0.iter().map(|&[r, g, b, _]| [r, g, b].map(|x| 16 * i32::from(x))).collect();
    let mut pixels = Vec::with_capacity(width * height);
    for at in 0..width * height {
        let wanted = left[at].map(|x| (x / 16).clamp(0, 255));
        let levels = [0, 1, 2].map(|i| (wanted[i] * (LEVELS[i] - 1) + 127) / 255);
        pixels.push(levels);
        for (dx, dy, share) in NEIGHBORS {
            let inside = (at % width).checked_add_signed(dx).is_some_and(|x| x < width) && at / width + dy < height;
            if inside {
                let neighbor = &mut left[(at + dy * width).saturating_add_signed(dx)];
                for channel in 0..3 {
                    neighbor[channel] += share * (wanted[channel] - levels[channel] * 255 / (LEVELS[channel] - 1));
                }
            }
        }
    }
    sixels(width, &pixels)
}

// Sixel graphics (DEC, "VT330/VT340 Programmer Reference Manual", chapter 14): bands of six rows. A band has a line for
// each of its colors, which begins with the color in percent. The line's letters have one bit for each row.
fn sixels(width: usize, pixels: &[[i32; 3]]) -> String {
    let mut text = format!("\x1bP0;1q\"1;1;{width};{}", pixels.len() / width);
    for band in pixels.chunks(6 * width) {
        let colors: BTreeSet<[i32; 3]> = band.iter().copied().collect();
        for color in colors {
            let [r, g, b] = [0, 1, 2].map(|i| color[i] * 100 / (LEVELS[i] - 1));
            let register = (color[0] * LEVELS[1] + color[1]) * LEVELS[2] + color[2];
            let _ = write!(text, "#{register};2;{r};{g};{b}#{register}");
            let letter = |x: usize| {
                let rows = band.iter().skip(x).step_by(width).enumerate();
                rows.fold(63_u8, |letter, (row, &pixel)| letter + (u8::from(pixel == color) << row))
            };
            let letters: Vec<u8> = (0..width).map(letter).collect();
            for run in letters.chunk_by(|a, b| a == b) {
                let letter = char::from(run[0]);
                match run.len() {
                    count @ 1..4 => text.extend(std::iter::repeat_n(letter, count)),
                    count => drop(write!(text, "!{count}{letter}")),
                }
            }
            text.push('$');
        }
        text.push('-');
    }
    text + "\x1b\\\n"
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
    fn sixels_have_a_line_for_each_color_of_a_band() {
        // Six columns and seven rows: the left column red, the rest blue; the last row is a separate band.
        let pixels: Vec<[i32; 3]> = (0..42).map(|at| if at % 6 == 0 { [5, 0, 0] } else { [0, 0, 5] }).collect();
        let (red, blue) = ("#210;2;100;0;0#210", "#5;2;0;0;100#5");
        let (whole, last) = (format!("{blue}?!5~${red}~!5?$-"), format!("{blue}?!5@${red}@!5?$-"));
        assert_eq!(sixels(6, &pixels), format!("\x1bP0;1q\"1;1;6;7{whole}{last}\x1b\\\n"));
    }

    // Decodes sixels, and compares the means of blocks, as an eye does with dithered pixels.
    #[test]
    fn sixels_show_the_picture() {
        let (width, height) = (48, 36);
        let color = |x: u32, y: u32| [x * 5, y * 7, 255 - x * 5, 255].map(|c| c as u8);
        let data = (0..width * height).flat_map(|at| color(at % width, at / width)).collect();
        let text = sixel(&Image::new(width, height, 4, data));
        let body = text.split_once(";48;36").unwrap().1.trim_end().trim_end_matches("\x1b\\");
        let mut shown = vec![[0_i64; 3]; (width * height) as usize];
        for (band, lines) in body.split_terminator('-').enumerate() {
            for line in lines.split_terminator('$') {
                let mut fields = line.split(['#', ';']).skip(3);
                let color = [0; 3].map(|_| fields.next().unwrap().parse::<i64>().unwrap() * 255 / 100);
                let letters = line.rsplit_once('#').unwrap().1.trim_start_matches(|c: char| c.is_ascii_digit());
                let (mut x, mut count) = (0, 0);
                for letter in letters.bytes().filter(|&letter| letter != b'!') {
                    if letter.is_ascii_digit() {
                        count = 10 * count + usize::from(letter - b'0');
                        continue;
                    }
                    let count = std::mem::take(&mut count).max(1);
                    for row in (0..6).filter(|row| (letter - 63) >> row & 1 == 1) {
                        let at = (6 * band + row) * width as usize + x;
                        shown[at..at + count].fill(color);
                    }
                    x += count;
                }
            }
        }
        for (by, bx) in (0..height / 6).flat_map(|by| (0..width / 6).map(move |bx| (by, bx))) {
            let cells = (0..36).map(|i| (6 * bx + i % 6, 6 * by + i / 6));
            let (mut wanted, mut got) = ([0; 3], [0; 3]);
            for (x, y) in cells {
                for i in 0..3 {
                    wanted[i] += i64::from(color(x, y)[i]);
                    got[i] += shown[(y * width + x) as usize][i];
                }
            }
            assert!((0..3).all(|i| (wanted[i] - got[i]).abs() < 8 * 36), "{bx} {by}: {wanted:?} {got:?}");
        }
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

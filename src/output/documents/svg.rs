//! A figure as SVG: the picture, and text and shapes over it. The font is a part of the file.

use super::document::Document;
use crate::film::furniture::font;
use crate::film::furniture::page::{Mark, Text};
use crate::output::formats::png;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;
use std::io;

// Coordinates have a hundredth of a point.
fn number(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The text that says what made a document.
pub fn origin(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (_, text) = text.split_once("<metadata>")?;
    let (text, _) = text.split_once("</metadata>")?;
    Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
}

fn hex(colour: [f64; 3]) -> String {
    colour.iter().fold("#".to_owned(), |text, x| text + &format!("{:02x}", (x * 255.0).round() as u8))
}

pub fn encode(document: &Document) -> io::Result<Vec<u8>> {
    let Document { page, picture, origin } = document;
    let [width, height] = page.size.map(number);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" viewBox=\"0 0 {width} {height}\">\n\
         <metadata>{}</metadata>\n\
         <style>@font-face{{font-family:\"{}\";src:url(data:font/ttf;base64,{})}}text{{font-family:\"{}\",\"DejaVu Sans\",Arial,sans-serif;white-space:pre}}</style>\n\
",
        escaped(origin),
        font::NAME,
        STANDARD.encode(font::BYTES),
        font::NAME,
    );
    if let Some(picture) = picture {
        let data = STANDARD.encode(png::of_image(picture)?);
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<image width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" href=\"data:image/png;base64,{data}\"/>"
        );
    }
    for mark in &page.marks {
        match mark {
            Mark::Area { corners, colour } => area(&mut svg, corners, *colour),
            Mark::Text(one) => text(&mut svg, one),
            Mark::Bar { .. } => {
                for (corners, colour) in mark.strips() {
                    area(&mut svg, &corners, colour);
                }
            }
        }
    }
    svg.push_str("</svg>\n");
    Ok(svg.into_bytes())
}

fn area(svg: &mut String, corners: &[[f64; 2]], colour: [f64; 3]) {
    let points: Vec<String> = corners.iter().map(|[x, y]| format!("{},{}", number(*x), number(*y))).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "<polygon points=\"{}\" fill=\"{}\"/>", points.join(" "), hex(colour));
}

// Glyphs of one height are one piece of text: superscripts are smaller and raised.
fn text(svg: &mut String, text: &Text) {
    let [x, y] = text.place([0.0, 0.0]).map(number);
    let turn = if text.turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let long = number(font::width(&text.text, text.size));
    // Where another font stands in, the text is as long.
    let _ = write!(
        svg,
        "<text textLength=\"{long}\" lengthAdjust=\"spacingAndGlyphs\" x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"{turn}>",
        number(text.size),
        hex(text.colour)
    );
    let mut rise = 0.0;
    let (glyphs, _) = font::glyphs(&text.text);
    for run in glyphs.chunk_by(|a, b| a.rise == b.rise) {
        let letters = escaped(&run.iter().map(|glyph| glyph.letter).collect::<String>());
        let first = run[0];
        let shift = number((rise - first.rise) * text.size);
        rise = first.rise;
        let _ = match (shift.as_str(), first.scale == 1.0) {
            ("0" | "-0", true) => write!(svg, "{letters}"),
            _ => {
                write!(svg, "<tspan dy=\"{shift}\" font-size=\"{}\">{letters}</tspan>", number(first.scale * text.size))
            }
        };
    }
    svg.push_str("</text>\n");
}

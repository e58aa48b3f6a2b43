//! A figure as PDF: the picture, and text and shapes over it. The glyphs in use are a part of the file.

use super::document::Document;
use crate::film::furniture::font;
use crate::film::furniture::page::{Mark, Text};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use memchr::memmem;
use pdf_writer::types::{CidFontType, FontFlags, Predictor, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use skrifa::instance::{LocationRef, Size};
use skrifa::{GlyphId, MetadataProvider};
use std::collections::BTreeMap;
use std::io::{self, Write};
use subsetter::GlyphRemapper;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const PICTURE: Ref = Ref::new(5);
const ALPHA: Ref = Ref::new(6);
const FONT: Ref = Ref::new(7);
const GLYPHS: Ref = Ref::new(8);
const FACTS: Ref = Ref::new(9);
const FONT_FILE: Ref = Ref::new(10);
const LETTERS: Ref = Ref::new(11);
const INFO: Ref = Ref::new(12);
const PICTURE_NAME: Name = Name(b"picture");
const FONT_NAME: Name = Name(b"font");
// Six letters mark a part of a font.
const BASE_FONT: Name = Name(b"POLYFL+NotoSans");
const IDENTITY: SystemInfo = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

pub fn encode(document: &Document) -> io::Result<Vec<u8>> {
    let Document { page, origin, .. } = document;
    let [width, height] = page.size.map(|x| x as f32);
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut info = pdf.document_info(INFO);
    info.creator(TextStr(crate::output::store::origin::SOFTWARE));
    info.pair(Name(b"Scene"), TextStr(origin));
    info.finish();
    let mut leaf = pdf.page(PAGE);
    leaf.media_box(Rect::new(0.0, 0.0, width, height)).parent(PAGES).contents(CONTENT);
    let mut resources = leaf.resources();
    if document.picture.is_some() {
        resources.x_objects().pair(PICTURE_NAME, PICTURE);
    }
    resources.fonts().pair(FONT_NAME, FONT);
    resources.finish();
    leaf.finish();

    let mut content = Content::new();
    if document.picture.is_some() {
        content.save_state().transform([width, 0.0, 0.0, height, 0.0, 0.0]).x_object(PICTURE_NAME).restore_state();
    }
    let mut used = Used::default();
    for mark in &page.marks {
        match mark {
            Mark::Area { corners, colour } => area(&mut content, height, corners, *colour),
            Mark::Text(one) => text(&mut content, height, one, &mut used),
            Mark::Bar { .. } => {
                for (corners, colour) in mark.strips() {
                    area(&mut content, height, &corners, colour);
                }
            }
        }
    }
    let content = deflated(&content.finish())?;
    pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
    picture(&mut pdf, document)?;
    used.embed(&mut pdf)?;
    Ok(pdf.finish())
}

/// The text that says what made a document of ours: a string of ASCII, or of UTF-16.
pub fn origin(bytes: &[u8]) -> Option<String> {
    let rest = &bytes[memmem::find(bytes, b"/Scene ")? + b"/Scene ".len()..];
    let mut string = Vec::new();
    if let Some(digits) = rest.strip_prefix(b"<") {
        let end = memmem::find(digits, b">")?;
        for pair in digits[..end].as_chunks::<2>().0 {
            string.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
        }
    } else {
        let mut letters = rest.strip_prefix(b"(")?.iter();
        let mut depth = 0;
        loop {
            match *letters.next()? {
                b'\\' => string.push(match *letters.next()? {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'f' => 12,
                    letter @ (b'(' | b')' | b'\\') => letter,
                    // A code in octal digits.
                    first => {
                        let digits = [first, *letters.next()?, *letters.next()?];
                        u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?
                    }
                }),
                b')' if depth == 0 => break,
                letter => {
                    depth += i32::from(letter == b'(') - i32::from(letter == b')');
                    string.push(letter);
                }
            }
        }
    }
    match string.strip_prefix(b"\xfe\xff") {
        None => String::from_utf8(string).ok(),
        Some(units) => {
            let units: Vec<u16> = units.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
            String::from_utf16(&units).ok()
        }
    }
}

fn deflated(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

// Rows as differences from those above, which compress well.
fn rows(bytes: &[u8], row: usize) -> io::Result<Vec<u8>> {
    const UP: u8 = 2;
    let mut above = vec![0; row];
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / row.max(1));
    for here in bytes.chunks_exact(row.max(1)) {
        out.push(UP);
        out.extend(here.iter().zip(&above).map(|(x, up)| x.wrapping_sub(*up)));
        above.copy_from_slice(here);
    }
    deflated(&out)
}

fn picture(pdf: &mut Pdf, document: &Document) -> io::Result<()> {
    let Some(image) = document.picture else { return Ok(()) };
    let pixels = image.data().as_chunks::<4>().0;
    let (width, height) = (image.width() as i32, image.height() as i32);
    let mut channels = |id: Ref, bytes: Vec<u8>, colors: i32, mask: Option<Ref>| -> io::Result<()> {
        let bytes = rows(&bytes, (width * colors) as usize)?;
        let mut object = pdf.image_xobject(id, &bytes);
        object.filter(Filter::FlateDecode);
        object.decode_parms().predictor(Predictor::PngUp).colors(colors).columns(width);
        object.width(width).height(height).bits_per_component(8);
        match colors {
            3 => object.color_space().device_rgb(),
            _ => object.color_space().device_gray(),
        }
        if let Some(mask) = mask {
            object.s_mask(mask);
        }
        Ok(())
    };
    let mask = document.has_alpha().then_some(ALPHA);
    channels(PICTURE, pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect(), 3, mask)?;
    match mask {
        Some(mask) => channels(mask, pixels.iter().map(|pixel| pixel[3]).collect(), 1, None),
        None => Ok(()),
    }
}

fn fill(content: &mut Content, colour: [f64; 3]) {
    let [r, g, b] = colour.map(|x| x as f32);
    content.set_fill_rgb(r, g, b);
}

// Pages of PDF begin at the lower left corner.
fn area(content: &mut Content, height: f32, corners: &[[f64; 2]], colour: [f64; 3]) {
    fill(content, colour);
    for (i, [x, y]) in corners.iter().enumerate() {
        let (x, y) = (*x as f32, height - *y as f32);
        if i == 0 {
            content.move_to(x, y)
        } else {
            content.line_to(x, y)
        };
    }
    content.close_path().fill_nonzero();
}

fn text(content: &mut Content, height: f32, text: &Text, used: &mut Used) {
    let [x, y] = text.place([0.0, 0.0]).map(|x| x as f32);
    let [cos, sin] = if text.turned { [0.0, 1.0] } else { [1.0, 0.0] };
    fill(content, text.colour);
    content.begin_text().set_text_matrix([cos, sin, -sin, cos, x, height - y]);
    let (glyphs, _) = font::glyphs(&text.text);
    for run in glyphs.chunk_by(|a, b| a.rise == b.rise) {
        let (size, rise) = ((text.size * run[0].scale) as f32, (text.size * run[0].rise) as f32);
        let ids: Vec<u8> = run.iter().flat_map(|glyph| used.id(glyph.id, glyph.letter).to_be_bytes()).collect();
        content.set_font(FONT_NAME, size).set_rise(rise).show(Str(&ids));
    }
    content.end_text();
}

// The glyphs in use, and their letters.
#[derive(Default)]
struct Used {
    glyphs: GlyphRemapper,
    letters: BTreeMap<u16, (u16, char)>,
}

impl Used {
    fn id(&mut self, glyph: u16, letter: char) -> u16 {
        let id = self.glyphs.remap(glyph);
        self.letters.insert(id, (glyph, letter));
        id
    }

    fn embed(&self, pdf: &mut Pdf) -> io::Result<()> {
        let face = font::face().ok_or_else(|| io::Error::other("the font cannot be read"))?;
        let subset = subsetter::subset(font::BYTES, 0, &self.glyphs).map_err(io::Error::other)?;
        // Thousandths of the font's size.
        let scaled = |x: f32| 1000.0 * x / font::units(face) as f32;
        pdf.type0_font(FONT)
            .base_font(BASE_FONT)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(GLYPHS)
            .to_unicode(LETTERS);
        let mut glyphs = pdf.cid_font(GLYPHS);
        glyphs.subtype(CidFontType::Type2).base_font(BASE_FONT).system_info(IDENTITY).font_descriptor(FACTS);
        glyphs.cid_to_gid_map_predefined(Name(b"Identity")).default_width(0.0);
        let mut widths = glyphs.widths();
        for (&id, &(glyph, _)) in &self.letters {
            widths.consecutive(id, [1000.0 * font::advance(face, GlyphId::from(glyph)) as f32]);
        }
        widths.finish();
        glyphs.finish();
        let facts = face.metrics(Size::unscaled(), LocationRef::default());
        let bounds = facts.bounds.unwrap_or_default();
        let [left, bottom, right, top] = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(scaled);
        pdf.font_descriptor(FACTS)
            .name(BASE_FONT)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(left, bottom, right, top))
            .italic_angle(0.0)
            .ascent(scaled(facts.ascent))
            .descent(scaled(facts.descent))
            .cap_height(scaled(facts.cap_height.unwrap_or_default()))
            .stem_v(80.0)
            .font_file2(FONT_FILE);
        let length = subset.len() as i32;
        let subset = deflated(&subset)?;
        pdf.stream(FONT_FILE, &subset).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);
        let mut letters = UnicodeCmap::new(Name(b"letters"), IDENTITY);
        self.letters.iter().for_each(|(&id, &(_, letter))| letters.pair(id, letter));
        pdf.cmap(LETTERS, &letters.finish());
        Ok(())
    }
}

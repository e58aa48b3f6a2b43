//! Documents of a figure: PDF and SVG.

mod pdf;
mod svg;

use crate::film::furniture::page::Page;
use crate::film::image::Image;
use std::io;

type Encode = fn(&Document) -> io::Result<Vec<u8>>;

/// How documents with this extension are written.
pub fn encoder(extension: &str) -> Option<Encode> {
    match extension.to_ascii_lowercase().as_str() {
        "pdf" => Some(pdf::encode),
        "svg" => Some(svg::encode),
        _ => None,
    }
}

/// A picture, and all else as text and shapes.
pub struct Document<'a> {
    pub page: &'a Page,
    pub picture: &'a Image<u8>,
    /// What made it: the scene, after comments.
    pub origin: &'a str,
}

impl Document<'_> {
    /// Whether some pixel of the picture is transparent.
    pub fn has_alpha(&self) -> bool {
        self.picture.data().as_chunks::<4>().0.iter().any(|pixel| pixel[3] < 255)
    }
}

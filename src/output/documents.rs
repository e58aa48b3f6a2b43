//! Documents of a figure: PDF and SVG.

mod document;
mod pdf;
mod svg;

pub use document::Document;

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

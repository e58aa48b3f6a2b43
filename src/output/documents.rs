//! Documents of a figure: PDF and SVG.

mod document;
mod pdf;
mod svg;

pub use document::Document;

use std::io;

type ReadOrigin = fn(&[u8]) -> Option<String>;
type Encode = fn(&Document) -> io::Result<Vec<u8>>;

/// How the text is found in documents with this extension that says what made them.
pub fn origin(extension: &str) -> Option<ReadOrigin> {
    match extension {
        "pdf" => Some(pdf::origin),
        "svg" => Some(svg::origin),
        _ => None,
    }
}

/// How documents with this extension are written.
pub fn encoder(extension: &str) -> Option<Encode> {
    match extension.to_ascii_lowercase().as_str() {
        "pdf" => Some(pdf::encode),
        "svg" => Some(svg::encode),
        _ => None,
    }
}

//! The table of picture formats. Each format is a file of this folder.

mod data;
pub mod exr;
mod format;
mod jpg;
pub mod png;
mod ppm;
pub mod sums;
mod tiff;
mod webp;

pub use format::{Format, FormatOptions, Reader, Shown};

use crate::scene::limits::ordinary_extension;
use crate::system::extension;
use std::path::Path;

pub const FORMATS: [&Format; 7] =
    [&data::FORMAT, &png::FORMAT, &ppm::FORMAT, &exr::FORMAT, &jpg::FORMAT, &webp::FORMAT, &tiff::FORMAT];

impl Format {
    /// The format of a lower-case extension.
    pub fn of(extension: &str) -> Option<&'static Format> {
        let extension = ordinary_extension(extension);
        FORMATS.into_iter().find(|f| f.extension == extension)
    }

    /// The format of a file name's extension.
    pub fn of_file(path: &Path) -> Option<&'static Format> {
        Format::of(&extension(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Tone;

    #[test]
    fn scenes_may_name_just_these_formats() {
        assert_eq!(FORMATS.map(|f| f.extension), crate::scene::limits::PICTURES);
        assert!(FORMATS.iter().all(|f| Format::of(f.extension).is_some()));
        let png = Format::of("png").unwrap();
        assert_eq!(png.options(None, Tone::Soft).unwrap().bits, 8);
        assert!(png.options(Some(32), Tone::Soft).unwrap_err().to_string().contains("8 or 16"));
    }
}

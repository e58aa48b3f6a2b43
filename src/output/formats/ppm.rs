//! Portable pixmap, binary.

use super::{Format, Frame, RGBA8, rgb};
use std::io::Write;

pub const FORMAT: Format = Format {
    extension: "ppm",
    bits: &[8],
    needs: |_| RGBA8,
    write: |frame: &Frame, _, to: &mut dyn Write| {
        write!(to, "P6\n{} {}\n255\n", frame.width, frame.height)?;
        to.write_all(&rgb(frame.rgba8()))
    },
};

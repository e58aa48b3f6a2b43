//! The coursework's picture file: int32 width, int32 height, little endian, then RGBA rows from the top.

use super::{Format, Frame, RGBA8};
use std::io::Write;

pub const FORMAT: Format = Format {
    extension: "data",
    bits: &[8],
    needs: |_| RGBA8,
    write: |frame: &Frame, _, to: &mut dyn Write| {
        to.write_all(&frame.width.to_le_bytes())?;
        to.write_all(&frame.height.to_le_bytes())?;
        to.write_all(frame.rgba8())
    },
};

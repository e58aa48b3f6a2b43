//! Portable pixmap, binary.

use super::format::{Format, Reader, Shown, broken, pixels, rgb};
use crate::assets::source::read_regular;
use crate::output::sink::RenderedFrame;
use std::io::Read;

pub const FORMAT: Format = Format {
    extension: "ppm",
    bits: &[8],
    largest: u32::MAX,
    is_exact: true,
    has_alpha: false,
    encode: |frame: &RenderedFrame, _| {
        Ok([header((frame.width, frame.height)).into_bytes(), rgb(frame.rgba8())].concat())
    },
    text: None,
    is_whole: |file, length, size| {
        let expected = header(size).into_bytes();
        let mut found = vec![0; expected.len()];
        file.read_exact(&mut found)?;
        Ok(found == expected && length == (expected.len() as u64) + 3 * u64::from(size.0) * u64::from(size.1))
    },
    read: Reader::Shown(|path| {
        let bytes = read_regular(path)?;
        let mut rest = bytes.splitn(4, |b| *b == b'\n');
        let mut line = || rest.next().and_then(|line| std::str::from_utf8(line).ok()).ok_or_else(broken);
        let (kind, size, depth) = (line()?, line()?, line()?);
        let side = |s: &str| s.parse::<u32>().map_err(|_| broken());
        let (width, height) = size.split_once(' ').ok_or_else(broken)?;
        let size = (side(width)?, side(height)?);
        let body = rest.next().ok_or_else(broken)?;
        if kind != "P6" || depth != "255" || body.len() as u128 != 3 * pixels(size) {
            return Err(broken());
        }
        let rgba = body.as_chunks::<3>().0.iter().flat_map(|[r, g, b]| [*r, *g, *b, 255]).collect();
        Ok(Shown { size, rgba })
    }),
};

fn header((width, height): (u32, u32)) -> String {
    format!("P6\n{width} {height}\n255\n")
}

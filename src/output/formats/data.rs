//! The coursework's picture file: int32 width, int32 height, little endian, then RGBA rows from the top.

use super::format::{Format, Reader, Shown, broken, pixels};
use crate::assets::source::read_regular;
use crate::output::bytes::bytes_at;
use crate::output::sink::RenderedFrame;

pub const FORMAT: Format = Format {
    extension: "data",
    bits: &[8],
    largest: u32::MAX,
    is_exact: true,
    has_alpha: true,
    encode: |frame: &RenderedFrame, _| {
        Ok([&frame.width.to_le_bytes(), &frame.height.to_le_bytes(), frame.rgba8()].concat())
    },
    text: None,
    is_whole: |file, length, (width, height)| {
        let [w, h] = [bytes_at(file, 0)?, bytes_at(file, 4)?].map(u32::from_le_bytes);
        Ok((w, h) == (width, height) && length == 8 + 4 * u64::from(width) * u64::from(height))
    },
    read: Reader::Shown(|path| {
        let mut bytes = read_regular(path)?;
        let words = bytes.as_chunks::<4>().0.get(..2).ok_or_else(broken)?;
        let size = (u32::from_le_bytes(words[0]), u32::from_le_bytes(words[1]));
        match bytes.len() as u128 == 8 + 4 * pixels(size) {
            true => Ok(Shown { size, rgba: bytes.split_off(8) }),
            false => Err(broken()),
        }
    }),
};

//! Sums in place of pictures, for streams: a line for each frame, with the SHA-256 of its `.data` file and its number.

use super::format::{Format, Reader};
use crate::output::sink::RenderedFrame;
use std::io;

pub const FORMAT: Format = Format {
    extension: "sha256",
    bits: &[8],
    largest: u32::MAX,
    is_exact: true,
    has_alpha: true,
    encode: |frame: &RenderedFrame, _| Ok(format!("{}  {}\n", frame.sha256(), frame.number).into_bytes()),
    text: None,
    is_whole: |_, _, _| Ok(false),
    read: Reader::Shown(|_| Err(io::ErrorKind::Unsupported.into())),
};

//! Sums in place of pictures, for streams: a line for each frame, with the SHA-256 of its `.data` file and its number.

use super::data;
use super::format::{Format, Reader};
use crate::math::hash::hex;
use crate::output::sink::RenderedFrame;
use sha2::{Digest, Sha256};
use std::io;

pub const FORMAT: Format = Format {
    extension: "sha256",
    bits: &[8],
    largest: u32::MAX,
    is_exact: true,
    has_alpha: true,
    encode: |frame: &RenderedFrame, options| {
        let file = (data::FORMAT.encode)(frame, options)?;
        Ok(format!("{}  {}\n", hex(&Sha256::digest(file)), frame.number).into_bytes())
    },
    text: None,
    is_whole: |_, _, _| Ok(false),
    read: Reader::Shown(|_| Err(io::ErrorKind::Unsupported.into())),
};

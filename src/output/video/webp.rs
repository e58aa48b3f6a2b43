//! Animated WebP: counts frames, and disables blending between them.

use crate::assets::source::read_regular;
use std::path::Path;

/// The number of frames; None if the file is not a complete animated WebP.
pub fn frames(bytes: &[u8]) -> Option<u64> {
    places(bytes).map(|places| places.len() as u64)
}

// The offsets of the frames' chunks (RFC 9649, 2.7.1.1).
fn places(bytes: &[u8]) -> Option<Vec<usize>> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    if bytes.get(..4)? != b"RIFF" || bytes.get(8..12)? != b"WEBP" || word(4)? + 8 != bytes.len() {
        return None;
    }
    let (mut at, mut found) = (12, Vec::new());
    while at < bytes.len() {
        if bytes.get(at..at + 4)? == b"ANMF" {
            found.push(at);
        }
        at += 8 + word(at + 4)?.next_multiple_of(2);
    }
    (at == bytes.len()).then_some(found)
}

/// Makes each frame replace the one before. ffmpeg blends them, so that the frame before shows through transparent
/// pixels.
pub fn disable_blending(path: &Path) -> std::io::Result<()> {
    // The offset of the flags in a frame's chunk, after the chunk's header and five numbers of three bytes; the bit
    // for blending.
    const FLAGS: usize = 8 + 15;
    const DO_NOT_BLEND: u8 = 2;
    let mut bytes = read_regular(path)?;
    for at in places(&bytes).unwrap_or_default() {
        if let Some(flags) = bytes.get_mut(at + FLAGS) {
            *flags |= DO_NOT_BLEND;
        }
    }
    std::fs::write(path, bytes)
}

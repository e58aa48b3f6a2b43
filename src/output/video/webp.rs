//! Animated WebP: how many frames a file has, and frames that replace each other.

use std::path::Path;

/// Frames of an animated WebP. None where it is none, or not whole.
pub fn frames(bytes: &[u8]) -> Option<u64> {
    places(bytes).map(|places| places.len() as u64)
}

// Where the chunks of its frames begin (RFC 9649, 2.7.1.1).
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

/// Makes each frame of an animated WebP take the place of the one before: ffmpeg has it laid over that, which shows through where
/// the frame is transparent.
pub fn disable_blending(path: &Path) -> std::io::Result<()> {
    // The last byte of a frame's facts, behind its chunk's head and five numbers of three bytes; and its bit for this.
    const FLAGS: usize = 8 + 15;
    const DO_NOT_BLEND: u8 = 2;
    let mut bytes = std::fs::read(path)?;
    for at in places(&bytes).unwrap_or_default() {
        if let Some(flags) = bytes.get_mut(at + FLAGS) {
            *flags |= DO_NOT_BLEND;
        }
    }
    std::fs::write(path, bytes)
}

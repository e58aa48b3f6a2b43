//! The coursework's picture file: int32 width, int32 height, little endian, then RGBA rows from the top.

/// The eight bytes before the pixels.
pub fn header(width: u32, height: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&width.to_le_bytes());
    bytes[4..].copy_from_slice(&height.to_le_bytes());
    bytes
}

//! Reads bytes at an offset of a file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// N bytes of a file from an offset.
pub fn bytes_at<const N: usize>(file: &mut File, at: u64) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

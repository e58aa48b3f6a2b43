//! SHA-256, and hashes as text.

use sha2::{Digest, Sha256};
use std::io::{self, Read};

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The hash of a picture, which is that of its `.data` file: width and height as little-endian 32-bit integers, then RGBA.
pub fn of_picture((width, height): (u32, u32), rgba: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(width.to_le_bytes());
    hash.update(height.to_le_bytes());
    hash.update(rgba);
    hash.finalize().into()
}

/// The root of a Merkle tree over numbered hashes, in their order. A leaf is SHA-256 of a zero byte, the number as a little-endian
/// 32-bit integer and the hash; a node that of a byte of 1, its left and its right child. A node without a neighbor moves up as it is.
pub fn merkle_root<'a>(hashes: impl IntoIterator<Item = (u32, &'a str)>) -> Option<[u8; 32]> {
    let leaf = |(number, hash): (u32, &str)| {
        let bytes = (0..hash.len() / 2).filter_map(|i| u8::from_str_radix(hash.get(2 * i..2 * i + 2)?, 16).ok());
        Sha256::new().chain_update([0]).chain_update(number.to_le_bytes()).chain_update(bytes.collect::<Vec<u8>>())
    };
    let mut level: Vec<[u8; 32]> = hashes.into_iter().map(|one| leaf(one).finalize().into()).collect();
    while level.len() > 1 {
        let node = |pair: &[[u8; 32]]| match pair {
            [left, right] => Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into(),
            alone => alone[0],
        };
        level = level.chunks(2).map(node).collect();
    }
    level.pop()
}

/// The hash of texts, each behind its length.
pub fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// The hash, not yet closed, of all that is read.
pub fn of_reader(mut from: impl Read) -> io::Result<Sha256> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hash),
            n => hash.update(&buffer[..n]),
        }
    }
}

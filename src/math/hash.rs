//! SHA-256, and hashes as text.

use sha2::{Digest, Sha256};
use std::io::{self, Read};

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
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

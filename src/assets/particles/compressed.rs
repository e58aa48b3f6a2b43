//! Files that are compressed by gzip, zstd or xz, whatever is in them.

use crate::assets::error::AssetError;
use crate::assets::source::{Content, Limits};
use crate::language::{Message, msg};
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::StreamingDecoder;
use std::io::{self, Read};
use std::path::Path;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Gzip,
    Zstd,
    Xz,
}

/// The method that a file's first bytes show, if it is compressed.
pub fn method(head: &[u8]) -> Option<Method> {
    match head {
        [0x1f, 0x8b, 8, ..] => Some(Method::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Method::Zstd),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Method::Xz),
        _ => None,
    }
}

/// The bytes of a compressed file, as many as the limits allow.
pub fn unpack(path: &Path, content: &Content, method: Method, limits: Limits) -> Result<Vec<u8>, AssetError> {
    let packed = content.part(0..content.length()).map_err(|e| AssetError::read("particles", path, e))?;
    let mut bytes = Vec::new();
    let rest = limits.file.saturating_add(1);
    let (name, read) = match method {
        Method::Gzip => ("gzip", MultiGzDecoder::new(&*packed).take(rest).read_to_end(&mut bytes).map(|_| ())),
        Method::Zstd => ("zstd", frames(&packed, &mut bytes, limits)),
        Method::Xz => ("xz", unpacked_xz(&packed, true).take(rest).read_to_end(&mut bytes).map(|_| ())),
    };
    read.map_err(|e| AssetError::broken("particles", path, msg!("{name}: {why}", name, why = Message::text(e))))?;
    if bytes.len() as u64 > limits.file {
        let may = limits.file >> 20;
        return Err(AssetError::new(path, msg!("unpacked it has more than {may} MiB: raise --limit-memory", may)));
    }
    Ok(bytes)
}

/// The bytes of a stream of xz, or of several in a row. Its dictionary may have 128 MiB, twice that of `xz -9`.
pub fn unpacked_xz(packed: &[u8], is_several: bool) -> impl Read {
    XzReader::new_mem_limit(packed, is_several, 128 << 10)
}

// Each frame has a decoder of its own.
fn frames(mut packed: &[u8], bytes: &mut Vec<u8>, limits: Limits) -> io::Result<()> {
    while !packed.is_empty() && bytes.len() as u64 <= limits.file {
        let rest = (limits.file - bytes.len() as u64).saturating_add(1);
        let decoder = StreamingDecoder::new(&mut packed).map_err(io::Error::other)?;
        decoder.take(rest).read_to_end(bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::particles::read_bytes;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use std::io::Write;

    #[test]
    fn compressed_files_are_read_and_cut_ones_are_not() {
        let table = b"x,y,z,r,p\n0,0,0,1,5\n1,2,3,4,6\n";
        let expected = read_bytes(Path::new("a.csv"), table).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(table).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(&table[..], ruzstd::encoding::CompressionLevel::Fastest);
        // By Python's module lzma.
        let xz = STANDARD.decode("/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAdeCx5LHoscixwCjAsMCwwLDEsNQoxLDIsMyw0LDYKAAAArEz91/mrO20AATYePRmVUx+2830BAAAAAARZWg==").unwrap();
        for packed in [gzip, zstd, xz] {
            for name in ["a.csv.gz", "a"] {
                assert!(read_bytes(Path::new(name), &packed).unwrap() == expected, "{name}");
            }
            for cut in 4..packed.len() - 8 {
                assert!(read_bytes(Path::new("a"), &packed[..cut]).is_err(), "{cut}");
            }
            // Two files in a row are one.
            let twice = unpack(
                Path::new("a"),
                &[&packed[..], &packed].concat().into(),
                method(&packed).unwrap(),
                Limits::default(),
            );
            assert_eq!(twice.unwrap(), [&table[..], table].concat());
            let few = Limits { file: 20, ..Limits::default() };
            let fault = unpack(Path::new("a"), &packed.into(), method(&[0x1f, 0x8b, 8]).unwrap(), few);
            assert!(fault.is_err());
        }
    }
}

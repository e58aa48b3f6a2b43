//! VTK's XML files of points, `.vtp` and `.vtu`: numbers as text, in base64 or appended to the file, packed by zlib, LZ4, LZMA or not.

use super::arrays::{Array, Kind, step};
use super::compressed::unpacked_xz;
use super::format::{Head, Source};
use super::step::{Column, Step, Wanted};
use super::values::BONDS;
use crate::assets::error::AssetError;
use crate::assets::source::line_and_column;
use crate::language::{Message, msg};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use memchr::memmem;
use roxmltree::{Document, Node, ParsingOptions};
use std::borrow::Cow;
use std::io::Read;

pub fn recognise(head: &Head) -> bool {
    memmem::find(head.bytes, b"<VTKFile").is_some()
}

// What the root says of all arrays.
struct File<'a> {
    is_big: bool,
    // The bytes of a length.
    word: usize,
    packing: Option<Packing>,
    // What is appended, whether it is in base64, and where arrays begin in it.
    appended: &'a [u8],
    is_base64: bool,
    offsets: Vec<usize>,
}

/// Reads all points.
pub fn read(source: &Source, wanted: &Wanted) -> Result<Step, AssetError> {
    points(source, wanted).map_err(|what| source.fault(what))
}

/// The text of a file, or of what stands before its appended data.
pub fn head(bytes: &[u8]) -> Result<&str, Message> {
    std::str::from_utf8(bytes).map_err(|e| {
        let [line, column] = line_and_column(bytes, e.valid_up_to());
        msg!("line {line}, column {column}: byte {byte} is not text in UTF-8", line, column, byte = e.valid_up_to())
    })
}

// How blocks of bytes are packed.
#[derive(Clone, Copy)]
enum Packing {
    Zlib,
    Lz4,
    Lzma,
}

impl Packing {
    const NAMES: [(&str, Packing); 3] = [
        ("vtkZLibDataCompressor", Packing::Zlib),
        ("vtkLZ4DataCompressor", Packing::Lz4),
        ("vtkLZMADataCompressor", Packing::Lzma),
    ];

    // Adds what a block holds, if that has this length.
    fn unpack(self, packed: &[u8], length: usize, bytes: &mut Vec<u8>) -> Option<()> {
        let end = bytes.len().checked_add(length)?;
        let limit = length as u64 + 1;
        match self {
            Packing::Zlib => ZlibDecoder::new(packed).take(limit).read_to_end(bytes).ok().map(|_| ())?,
            Packing::Lzma => unpacked_xz(packed, false).take(limit).read_to_end(bytes).ok().map(|_| ())?,
            // No block becomes more than 255 times as long.
            Packing::Lz4 if length / 256 > packed.len() => return None,
            Packing::Lz4 => bytes.extend(lz4_flex::block::decompress(packed, length).ok()?),
        }
        (bytes.len() == end).then_some(())
    }
}

fn points(source: &Source, wanted: &Wanted) -> Result<Step, Message> {
    let bytes = source.content.part(0..source.content.length()).map_err(Message::text)?;
    // What is appended need not be text: it is cut out.
    let (head, appended) = match memmem::find(&bytes, b"<AppendedData") {
        Some(at) => bytes.split_at(at),
        None => (&bytes[..], &[][..]),
    };
    let text = self::head(head)?;
    let text: Cow<str> = if appended.is_empty() { text.into() } else { format!("{text}</VTKFile>").into() };
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    let tree = Document::parse_with_options(&text, options).map_err(Message::text)?;
    let root = tree.root_element();
    let kind = root.attribute("type").unwrap_or_default();
    if !["PolyData", "UnstructuredGrid"].contains(&kind) {
        return Err(msg!(
            "it is a file of {kind}; expected PolyData or UnstructuredGrid, whose points are particles",
            kind
        ));
    }
    let packing = |name: &str| {
        let found = Packing::NAMES.into_iter().find(|(one, _)| *one == name);
        let known = Message::one_of(&Packing::NAMES.map(|(name, _)| name.to_owned()));
        found.map(|(_, packing)| packing).ok_or_else(|| msg!("it is packed by {name}; expected {known}", name, known))
    };
    let packing = root.attribute("compressor").map(packing).transpose()?;
    let arrays: Vec<Node> = tree.descendants().filter(|node| node.has_tag_name("DataArray")).collect();
    let mut offsets: Vec<usize> = arrays.iter().filter_map(|array| array.attribute("offset")?.parse().ok()).collect();
    offsets.sort_unstable();
    // The data begins behind an underscore.
    let start = memmem::find(appended, b">").unwrap_or_default();
    let tag = String::from_utf8_lossy(&appended[..start]);
    let data = memmem::find(&appended[start..], b"_").map_or(&[][..], |at| &appended[start + at + 1..]);
    let file = File {
        is_big: root.attribute("byte_order") == Some("BigEndian"),
        word: if root.attribute("header_type") == Some("UInt64") { 8 } else { 4 },
        packing,
        appended: data,
        is_base64: tag.contains("base64"),
        offsets,
    };
    file.step(&tree, wanted)
}

// Numbers of text in base64, in one piece or several, each of which may be padded.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let clean: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    let (mut rest, mut bytes) = (&clean[..], Vec::new());
    while !rest.is_empty() {
        let end = rest.iter().position(|&b| b == b'=').unwrap_or(rest.len());
        let end = end + rest[end..].iter().take_while(|&&b| b == b'=').count();
        STANDARD.decode_vec(rest.split_off(..end)?, &mut bytes).ok()?;
    }
    Some(bytes)
}

// The arrays of a piece, with its points first.
fn arrays_of<'a, 'b>(piece: Node<'a, 'b>) -> Vec<Node<'a, 'b>> {
    let of = |name| {
        let children = piece.children().filter(move |child| child.has_tag_name(name));
        children.flat_map(|child| child.children()).filter(|node| node.has_tag_name("DataArray"))
    };
    of("Points").take(1).chain(of("PointData")).collect()
}

fn kind_of(array: Node) -> Option<Kind> {
    let name = array.attribute("type")?;
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let bits: usize = name[digits..].parse().ok()?;
    let letter = match &name[..digits] {
        "Float" => 'f',
        "Int" => 'i',
        "UInt" => 'u',
        _ => return None,
    };
    Kind::of(letter, bits / 8)
}

impl File<'_> {
    fn step(&self, tree: &Document, wanted: &Wanted) -> Result<Step, Message> {
        let pieces: Vec<Node> = tree.descendants().filter(|node| node.has_tag_name("Piece")).collect();
        let whole = |text: Option<&str>| text?.trim().parse::<usize>().ok();
        let mut counts = Vec::new();
        for piece in &pieces {
            let count = whole(piece.attribute("NumberOfPoints"));
            counts.push(count.ok_or_else(|| msg!("a piece has no `NumberOfPoints`"))?);
        }
        let total = counts.iter().fold(0, |sum: usize, &count| sum.saturating_add(count));
        // The arrays of a piece, with points first.
        let all: Vec<Vec<Node>> = pieces.iter().map(|&piece| arrays_of(piece)).collect();
        let mut arrays = Vec::new();
        for (i, array) in all.first().into_iter().flatten().enumerate() {
            let name = if i == 0 { "position" } else { array.attribute("Name").unwrap_or_default() };
            let columns = array.attribute("NumberOfComponents").map_or(Some(1), |count| whole(Some(count)));
            let (Some(kind), Some(columns)) = (kind_of(*array), columns.filter(|count| (1..=64).contains(count)))
            else {
                continue;
            };
            let (all, counts) = (&all, &counts);
            let load = move || {
                let mut bytes = Vec::new();
                for (arrays, count) in all.iter().zip(counts) {
                    let array = arrays.get(i).ok_or_else(|| msg!("a piece has no array `{name}`", name))?;
                    let wrong =
                        || msg!("`{name}` is broken: expected {count} x {columns} numbers", name, count, columns);
                    let numbers =
                        count.checked_mul(columns).and_then(|n| self.numbers(*array, n, kind)).ok_or_else(wrong)?;
                    bytes.extend(numbers);
                }
                Ok(bytes.into())
            };
            let is_text = array.attribute("format") == Some("ascii");
            let kind = if is_text { kind.of_text() } else { kind };
            arrays.push(Array::of_rows(name, columns, kind, self.is_big && !is_text, Box::new(load)));
        }
        let time = tree.descendants().find(|node| node.attribute("Name") == Some("TimeValue"));
        let time = time.and_then(|node| {
            let kind = kind_of(node)?;
            let is_text = node.attribute("format") == Some("ascii");
            Some(
                (if is_text { kind.of_text() } else { kind })
                    .read(&self.numbers(node, 1, kind)?, self.is_big && !is_text),
            )
        });
        let mut all = Step { time, ..step(total, &arrays, wanted, None)? };
        if wanted.has(BONDS) {
            let mut first = 0;
            for (piece, &count) in pieces.iter().zip(&counts) {
                self.add_lines(*piece, [first, count], wanted, &mut all)?;
                first += count;
            }
        }
        Ok(all)
    }

    // All numbers of an array.
    fn values(&self, array: Node, count: usize) -> Option<Vec<f64>> {
        let (kind, is_text) = (kind_of(array)?, array.attribute("format") == Some("ascii"));
        let bytes = self.numbers(array, count, kind)?;
        let kind = if is_text { kind.of_text() } else { kind };
        Some(bytes.chunks_exact(kind.size()).map(|one| kind.read(one, self.is_big && !is_text)).collect())
    }

    // Lines from point to point are bonds; `first` and `count` are the numbers of a piece's points.
    fn add_lines(
        &self,
        piece: Node,
        [first, count]: [usize; 2],
        wanted: &Wanted,
        all: &mut Step,
    ) -> Result<(), Message> {
        let [verts, lines, strips, polys] = ["NumberOfVerts", "NumberOfLines", "NumberOfStrips", "NumberOfPolys"]
            .map(|name| piece.attribute(name).and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(0));
        let arrays = |of: &str| {
            let children = piece.children().filter(move |child| child.has_tag_name(of));
            children
                .flat_map(|child| child.children())
                .filter(|node| node.has_tag_name("DataArray"))
                .collect::<Vec<_>>()
        };
        if lines == 0 {
            return Ok(());
        }
        let whole = |name: &str, count: usize| -> Option<Vec<usize>> {
            let array = arrays("Lines").into_iter().find(|node| node.attribute("Name") == Some(name))?;
            Some(self.values(array, count)?.into_iter().map(|x| x as usize).collect())
        };
        let found = whole("offsets", lines).and_then(|ends| Some((whole("connectivity", *ends.last()?)?, ends)));
        let sound = found.filter(|(points, ends)| ends.is_sorted() && points.iter().all(|&i| i < count));
        let last = count.saturating_sub(1);
        let (points, ends) =
            sound.ok_or_else(|| msg!("its lines are broken: expected points from 0 to {last}", last))?;
        // The line of each bond.
        let mut of_line = Vec::new();
        for (line, &end) in ends.iter().enumerate() {
            let start = if line == 0 { 0 } else { ends[line - 1] };
            for pair in points[start..end].windows(2) {
                all.bonds.push([pair[0], pair[1]].map(|i| (first + i) as u32));
                of_line.push(verts + line);
            }
        }
        // Of all cells, of which lines come after points. Vectors count by their lengths.
        let cells = [verts, lines, strips, polys].iter().fold(0, |sum: usize, n| sum.saturating_add(*n));
        for array in arrays("CellData") {
            let name = array.attribute("Name").unwrap_or_default();
            let parts = array.attribute("NumberOfComponents").map_or(Some(1), |text| text.trim().parse::<usize>().ok());
            let Some(parts) = parts.filter(|parts| wanted.has(name) && (1..=3).contains(parts)) else { continue };
            let Some(values) = cells.checked_mul(parts).and_then(|count| self.values(array, count)) else {
                return Err(msg!(
                    "`{name}` is broken: expected {count} x {columns} numbers",
                    name,
                    count = cells,
                    columns = parts
                ));
            };
            let value = |&cell: &usize| match parts {
                1 => values[cell],
                _ => values[cell * parts..][..parts].iter().map(|x| x * x).sum::<f64>().sqrt(),
            };
            let known = all.bonds.len() - of_line.len();
            let at = all.bond_columns.iter().position(|column| column.name == name);
            let at = at.unwrap_or_else(|| {
                all.bond_columns.push(Column { name: name.to_owned(), values: vec![f64::NAN; known] });
                all.bond_columns.len() - 1
            });
            all.bond_columns[at].values.extend(of_line.iter().map(value));
        }
        // What this piece does not say.
        let bonds = all.bonds.len();
        all.bond_columns.iter_mut().for_each(|column| column.values.resize(bonds, f64::NAN));
        Ok(())
    }

    // The bytes of so many numbers of an array; None if they are not whole.
    fn numbers(&self, array: Node, count: usize, kind: Kind) -> Option<Vec<u8>> {
        let text = array.text().unwrap_or_default();
        let needed = count.checked_mul(kind.size())?;
        match array.attribute("format")? {
            "ascii" => kind.parse(text, count),
            "binary" => self.unpacked(&decode(text.as_bytes())?, needed),
            "appended" => {
                let offset: usize = array.attribute("offset")?.parse().ok()?;
                let data = self.appended.get(offset..)?;
                if !self.is_base64 {
                    return self.unpacked(data, needed);
                }
                let next = self.offsets.partition_point(|&other| other <= offset);
                let end = self.offsets.get(next).map_or(data.len(), |next| next - offset);
                let data = data.get(..end)?.split(|&b| b == b'<').next()?;
                self.unpacked(&decode(data)?, needed)
            }
            _ => None,
        }
    }

    // The bytes behind their lengths.
    fn unpacked(&self, data: &[u8], needed: usize) -> Option<Vec<u8>> {
        let kind = if self.word == 8 { Kind::U8 } else { Kind::U4 };
        let word =
            |i: usize| Some(kind.read(data.get(i.checked_mul(self.word)?..)?.get(..self.word)?, self.is_big) as usize);
        let Some(packing) = self.packing else {
            let bytes = data.get(self.word..)?.get(..word(0)?)?;
            return (bytes.len() == needed).then(|| bytes.to_vec());
        };
        // The number of blocks, their length, the length of the last one if it is another; then the packed length of each.
        let (blocks, length, last) = (word(0)?, word(1)?, word(2)?);
        let mut rest = data.get(blocks.checked_add(3)?.checked_mul(self.word)?..)?;
        let mut bytes = Vec::new();
        for block in 0..blocks {
            let packed = rest.split_off(..word(3 + block)?)?;
            let length = if block + 1 == blocks && last > 0 { last } else { length };
            if length > needed - bytes.len() {
                return None;
            }
            packing.unpack(packed, length, &mut bytes)?;
        }
        (bytes.len() == needed).then_some(bytes)
    }
}

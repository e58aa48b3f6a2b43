//! Columns of numbers in binary arrays, at equal distances.

use super::plan::{self, Plan};
use super::step::{Cell, Step, Wanted};
use crate::language::{Message, msg};
use rayon::prelude::*;
use std::borrow::Cow;

/// A kind of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F4,
    F8,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
}

impl Kind {
    /// By a letter of numpy (`f`, `i`, `u`) and the bytes of a number.
    pub fn of(letter: char, size: usize) -> Option<Kind> {
        Some(match (letter, size) {
            ('f', 4) => Kind::F4,
            ('f', 8) => Kind::F8,
            ('i', 1) => Kind::I1,
            ('i', 2) => Kind::I2,
            ('i', 4) => Kind::I4,
            ('i', 8) => Kind::I8,
            ('u', 1) => Kind::U1,
            ('u', 2) => Kind::U2,
            ('u', 4) => Kind::U4,
            ('u', 8) => Kind::U8,
            _ => return None,
        })
    }

    /// The bytes of a number.
    pub fn size(self) -> usize {
        match self {
            Kind::I1 | Kind::U1 => 1,
            Kind::I2 | Kind::U2 => 2,
            Kind::F4 | Kind::I4 | Kind::U4 => 4,
            Kind::F8 | Kind::I8 | Kind::U8 => 8,
        }
    }

    /// The kind of numbers that are read from a text.
    pub fn of_text(self) -> Kind {
        if self == Kind::F4 { Kind::F4 } else { Kind::F8 }
    }

    /// So many numbers of a text, as bytes of that kind in little order.
    pub fn parse(self, text: &str, count: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for word in text.split_ascii_whitespace() {
            match self {
                Kind::F4 => bytes.extend(word.parse::<f32>().ok()?.to_le_bytes()),
                _ => bytes.extend(word.parse::<f64>().ok()?.to_le_bytes()),
            }
        }
        (count.checked_mul(self.of_text().size()) == Some(bytes.len())).then_some(bytes)
    }

    /// The number that some bytes begin with. One that has no double takes the nearest.
    pub fn read(self, bytes: &[u8], is_big: bool) -> f64 {
        fn first<const N: usize>(bytes: &[u8], is_big: bool) -> [u8; N] {
            let mut first = bytes.first_chunk().copied().unwrap_or([0; N]);
            if is_big {
                first.reverse();
            }
            first
        }
        match self {
            Kind::F4 => f32::from_le_bytes(first(bytes, is_big)).into(),
            Kind::F8 => f64::from_le_bytes(first(bytes, is_big)),
            Kind::I1 => i8::from_le_bytes(first(bytes, is_big)).into(),
            Kind::I2 => i16::from_le_bytes(first(bytes, is_big)).into(),
            Kind::I4 => i32::from_le_bytes(first(bytes, is_big)).into(),
            Kind::I8 => i64::from_le_bytes(first(bytes, is_big)) as f64,
            Kind::U1 => u8::from_le_bytes(first(bytes, is_big)).into(),
            Kind::U2 => u16::from_le_bytes(first(bytes, is_big)).into(),
            Kind::U4 => u32::from_le_bytes(first(bytes, is_big)).into(),
            Kind::U8 => u64::from_le_bytes(first(bytes, is_big)) as f64,
        }
    }
}

/// A column of an array: where its first number is in the array's bytes.
pub struct ArrayColumn {
    pub name: String,
    pub kind: Kind,
    pub at: usize,
}

/// The bytes of an array, as far as they are read.
pub type Load<'a> = Box<dyn Fn() -> Result<Cow<'a, [u8]>, Message> + 'a>;

/// An array, with one or several columns.
pub struct Array<'a> {
    pub places: Vec<ArrayColumn>,
    /// Bytes from a row to the next.
    pub stride: usize,
    pub is_big: bool,
    pub load: Load<'a>,
}

impl<'a> Array<'a> {
    /// Rows of so many numbers each, without gaps.
    pub fn of_rows(name: &str, count: usize, kind: Kind, is_big: bool, load: Load<'a>) -> Array<'a> {
        let size = kind.size();
        let place = |(i, name)| ArrayColumn { name, kind, at: i * size };
        let places = plan::parts(name, count).into_iter().enumerate().map(place).collect();
        Array { places, stride: count * size, is_big, load }
    }
}

/// The step of `n` particles whose columns are in these arrays.
pub fn step(n: usize, arrays: &[Array], wanted: &Wanted, cell: Option<Cell>) -> Result<Step, Message> {
    let places: Vec<_> = arrays.iter().flat_map(|array| array.places.iter().map(move |place| (array, place))).collect();
    let names: Vec<String> = places.iter().map(|(_, place)| place.name.clone()).collect();
    let plan = Plan::new(names, wanted, |_| true)?;
    // The bytes that were read last: columns of an array are read one after the other.
    let mut last: Option<(*const Array, Cow<[u8]>)> = None;
    let step = plan.step(cell, |column| {
        let (array, place) = places[column];
        let bytes = match last.take() {
            Some((of, bytes)) if std::ptr::eq(of, array) => bytes,
            _ => (array.load)()?,
        };
        let end =
            n.saturating_sub(1).checked_mul(array.stride).and_then(|at| at.checked_add(place.at + place.kind.size()));
        if n > 0 && end.is_none_or(|end| end > bytes.len()) {
            let (name, length) = (&place.name, bytes.len());
            return Err(msg!("`{name}` has {length} bytes; {count} particles need more", name, length, count = n));
        }
        let &Array { stride, is_big, .. } = array;
        let at = |i: usize| place.kind.read(&bytes[i * stride + place.at..], is_big);
        let values = (0..n).into_par_iter().with_min_len(4096).map(at).collect();
        last = Some((std::ptr::from_ref(array), bytes));
        Ok(values)
    })?;
    step.check(|i| msg!("row {row}", row = i))
}

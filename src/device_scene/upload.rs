//! Arrays in the format of a device.

use crate::assets::grid::Grid;
use crate::assets::texture::{Level, Texture};
use crate::gpu_types::{Array, MipLevel};

/// Stores arrays where a device can read them.
pub trait ArrayUploader {
    type Error;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, Self::Error>;
}

/// A texel of a texture or of the light map, as two words.
pub fn texel_words([r, g, b]: [u16; 3]) -> [i32; 2] {
    [(u32::from(r) | u32::from(g) << 16) as i32, i32::from(b)]
}

/// The levels of a picture, whose texels are appended to `texels`.
pub fn levels(picture: &Texture, texels: &mut Vec<i32>) -> Vec<MipLevel> {
    let add = |level: &Level| add_level(level, texels, level.cells.iter().copied().map(texel_words));
    picture.levels.iter().map(add).collect()
}

/// The levels of a map of heights. A texel holds its own height and those to the right, below, and below to the right, clamped at the border:
/// all that is needed between them.
pub fn height_levels(levels: &[Grid<u16>], texels: &mut Vec<i32>) -> Vec<MipLevel> {
    let add = |level: &Grid<u16>| {
        let (width, height) = (level.width as usize, level.height as usize);
        let pair = |x: usize, y: usize| {
            let row = &level.cells[y.min(height - 1) * width..][..width];
            (u32::from(row[x]) | u32::from(row[(x + 1).min(width - 1)]) << 16).cast_signed()
        };
        let cells = (0..width * height).map(|at| (at % width, at / width));
        let added = add_level(level, texels, cells.map(|(x, y)| [pair(x, y), pair(x, y + 1)]));
        MipLevel { slope: 2.0 * root_mean_square_slope(level), ..added }
    };
    levels.iter().map(add).collect()
}

// In whites over the picture's side.
fn root_mean_square_slope(level: &Grid<u16>) -> f32 {
    let (width, height) = (level.width as usize, level.height as usize);
    let squared = |from: u16, to: u16| u64::from(from.abs_diff(to)).pow(2);
    let along = level.cells.chunks(width).flat_map(|row| row.windows(2)).map(|w| squared(w[0], w[1])).sum::<u64>();
    let down = level.cells.iter().zip(level.cells.iter().skip(width)).map(|(&a, &b)| squared(a, b)).sum::<u64>();
    let mean = |sum: u64, side: usize, other: usize| {
        sum as f64 / ((side - 1).max(1) * other) as f64 * (side * side) as f64 / (65535.0 * 65535.0)
    };
    (mean(along, width, height) + mean(down, height, width)).sqrt() as f32
}

fn add_level<T>(level: &Grid<T>, texels: &mut Vec<i32>, words: impl Iterator<Item = [i32; 2]>) -> MipLevel {
    let first = (texels.len() / 2) as i32;
    texels.extend(words.flatten());
    MipLevel { first, width: level.width as i32, height: level.height as i32, slope: 0.0 }
}

#[cfg(test)]
#[test]
fn a_texel_of_heights_has_its_neighbors() {
    let finest = Grid { width: 3, height: 2, cells: vec![1, 2, 3, 4, 5, 6] };
    let mut texels = vec![0, 0];
    let levels = height_levels(&[finest, Grid { width: 1, height: 1, cells: vec![7] }], &mut texels);
    assert_eq!([levels[0].first, levels[0].width, levels[0].height, levels[1].first], [1, 3, 2, 7]);
    // 1 in each of three columns, 3 in each of two rows.
    assert_eq!([levels[0].slope, levels[1].slope], [2.0 * 45.0_f32.sqrt() / 65535.0, 0.0]);
    let texel = |at: usize| [texels[2 * at], texels[2 * at + 1]].map(|pair| [pair & 0xffff, pair >> 16]);
    assert_eq!(texel(1), [[1, 2], [4, 5]]);
    // At the border they repeat.
    assert_eq!((texel(3), texel(6), texel(7)), ([[3, 3], [6, 6]], [[6, 6], [6, 6]], [[7, 7], [7, 7]]));
}

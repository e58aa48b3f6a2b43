//! Grids of values: pictures, maps of heights and slopes, and their mip levels.

use crate::math::floor;
use rayon::prelude::*;

/// Cells row after row from the top.
#[derive(Clone, Debug)]
pub struct Grid<T> {
    pub width: u32,
    pub height: u32,
    pub cells: Vec<T>,
}

impl<T: Copy + Send + Sync> Grid<T> {
    /// Fills a grid by column and row.
    pub fn new(width: u32, height: u32, cell: impl Fn(u32, u32) -> T + Sync) -> Grid<T> {
        let cells = (0..width * height).into_par_iter().map(|i| cell(i % width, i / width)).collect();
        Grid { width, height, cells }
    }
    /// Fills a grid with a function of (u, v), 0 to 1 each, at the middles of its cells.
    pub fn over_square(side: u32, value: impl Fn(f64, f64) -> T + Sync) -> Grid<T> {
        let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(side);
        Grid::new(side, side, |x, y| value(middle(x), middle(y)))
    }
    /// The cell at column x, row y; the grid repeats beyond its sides.
    pub fn at(&self, x: i64, y: i64) -> T {
        // Nearly all coordinates are inside, where no division is needed.
        let within = |i: i64, n: i64| if (0..n).contains(&i) { i } else { i.rem_euclid(n) };
        let (w, h) = (i64::from(self.width), i64::from(self.height));
        self.cells[(within(y, h) * w + within(x, w)) as usize]
    }
    /// Bilinear, between the four cells nearest to (u, v). `lerp` mixes two of them.
    pub fn sample(&self, u: f64, v: f64, lerp: impl Fn(T, T, f32) -> T) -> T {
        let (x, y) = (u * f64::from(self.width) - 0.5, v * f64::from(self.height) - 0.5);
        let (left, top) = (floor(x), floor(y));
        let (i, j) = (left as i64, top as i64);
        let (s, t) = ((x - left) as f32, (y - top) as f32);
        let row = |j| lerp(self.at(i, j), self.at(i + 1, j), s);
        lerp(row(j), row(j + 1), t)
    }
    /// The mip levels, from this one down to a single cell. Each cell of a level is the `mean` of four of the level before;
    /// with an odd side the last cells count twice.
    pub fn into_levels(self, mean: impl Fn([T; 4]) -> T + Sync) -> Vec<Grid<T>> {
        let halved = |fine: &Grid<T>| {
            let at =
                |x: u32, y: u32| fine.cells[(y.min(fine.height - 1) * fine.width + x.min(fine.width - 1)) as usize];
            Grid::new(fine.width.div_ceil(2), fine.height.div_ceil(2), |x, y| {
                let (x, y) = (2 * x, 2 * y);
                mean([at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)])
            })
        };
        let mut levels = vec![self];
        while let Some(fine) = levels.last().filter(|level| level.cells.len() > 1) {
            levels.push(halved(fine));
        }
        levels
    }
}

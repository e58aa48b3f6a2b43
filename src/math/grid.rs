//! A grid of cells over balls. A ray steps from cell to cell (kernels/shapes/grid.cuh), which takes fewer steps than a tree where the
//! balls are of a similar size and fill their space.
//!
//! **Why a ray meets a ball in one of its cells.** The kernel computes for each axis the distances at which the ray crosses the planes
//! between cells; they rise, so at each distance the ray is in one cell. At that distance rounding has moved it off this cell by at most
//! [`Lattice::margin`], and a ball is listed in all cells that are nearer to it than that. With u the unit roundoff and all coordinates below
//! `reach`, it is moved by the rounding of a plane's distance by (6 + 2 n) u reach, as n planes are added up; of the first cell by 7 u
//! reach; of the ray's direction by 2 u reach; of the ball's test across the ray by 7 u reach; and of its distance by 28 u reach. That is
//! (25 + n) times [`f32::EPSILON`], which is 2 u, times `reach`.

use rayon::prelude::*;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// A ball: its center and its radius.
pub type Ball = ([f32; 3], f32);

/// The most balls of a cell: the bits of its code that count them. Those above, shifted, are the index of the first.
pub const CELL_BALLS: usize = 31;
pub const CELL_SHIFT: u32 = 5;
/// The most cells along an axis.
pub const MOST_CELLS: usize = 511;
/// The grid of so many is made in half a millisecond.
pub const QUICK_BALLS: usize = 4096;

// A grid pays where a cell has a few balls, few cells are empty, and a ball is in a few cells.
const FEWEST_BALLS: usize = 64;
const MOST_BALLS: usize = 1 << 20;
// The host's grid of more than the quick ones needs more rays than this a ball to save the time that it takes.
const RAYS_A_BALL: u64 = 1000;
const MOST_CELLS_A_BALL: usize = 12;
const EMPTY_CELLS_A_FULL_ONE: usize = 7;
// The most balls in all cells together that codes can number, and how many may be expected.
const MOST_LISTED: u64 = 1 << (i32::BITS - 1 - CELL_SHIFT);
const EXPECTED_LISTED: f64 = 0.9 * MOST_LISTED as f64;
// The most balls a cell on average: cells are larger where the lists of smaller ones would be too long.
const BALLS_A_CELL: usize = 4;

/// What the cells of a grid follow from: the box of its balls, and the sums of their radii, of the squares and of the cubes.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    balls: usize,
    lower: [f64; 3],
    upper: [f64; 3],
    radii: [f64; 3],
}

impl Extent {
    pub const NONE: Extent =
        Extent { balls: 0, lower: [f64::INFINITY; 3], upper: [f64::NEG_INFINITY; 3], radii: [0.0; 3] };

    #[must_use]
    pub fn of(balls: &[Ball]) -> Extent {
        let all = balls.par_iter().with_min_len(QUICK_BALLS);
        all.fold(|| Extent::NONE, |all, &ball| all.with(ball)).reduce(|| Extent::NONE, Extent::and)
    }
    /// Of one more ball.
    #[must_use]
    pub fn with(self, (centre, radius): Ball) -> Extent {
        let (c, r) = (centre.map(f64::from), f64::from(radius));
        Extent {
            balls: self.balls + 1,
            lower: [0, 1, 2].map(|i| self.lower[i].min(c[i] - r)),
            upper: [0, 1, 2].map(|i| self.upper[i].max(c[i] + r)),
            radii: [self.radii[0] + r, self.radii[1] + r * r, self.radii[2] + r * r * r],
        }
    }
    /// Of the balls of both.
    #[must_use]
    pub fn and(self, other: Extent) -> Extent {
        Extent {
            balls: self.balls + other.balls,
            lower: [0, 1, 2].map(|i| self.lower[i].min(other.lower[i])),
            upper: [0, 1, 2].map(|i| self.upper[i].max(other.upper[i])),
            radii: [0, 1, 2].map(|i| self.radii[i] + other.radii[i]),
        }
    }
}

/// Where the cells of a grid are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lattice {
    /// The corner of the first cell, the cells' sides, and their number along each axis.
    pub lower: [f32; 3],
    pub side: [f32; 3],
    pub counts: [usize; 3],
    /// How far rounding may move a ray off a cell, which the module describes.
    pub margin: f64,
}

/// Cells, and the balls of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    pub lattice: Lattice,
    /// For each cell, x fastest, the index of its first ball, shifted, and their number.
    pub cells: Vec<i32>,
    /// The numbers of the balls, by cell.
    pub balls: Vec<i32>,
}

fn margin(counts: [usize; 3], reach: f32) -> f64 {
    let max = counts.into_iter().max().unwrap_or(1);
    (32.0 + max as f64) * f64::from(f32::EPSILON) * f64::from(reach)
}

// The number of cells along each axis, about so many in all, in cubes. An axis along which the balls are a single layer has one.
fn counts(size: [f64; 3], cells: usize) -> [usize; 3] {
    let mut counts = [0; 3];
    loop {
        let open: Vec<usize> = (0..3).filter(|&i| counts[i] == 0).collect();
        let volume: f64 = open.iter().map(|&i| size[i]).product();
        let side = libm::pow(volume / cells as f64, 1.0 / open.len() as f64);
        let Some(&flat) = open.iter().find(|&&i| size[i] < 1.5 * side) else {
            open.iter().for_each(|&i| counts[i] = (size[i] / side).round().clamp(1.0, MOST_CELLS as f64) as usize);
            return counts;
        };
        counts[flat] = 1;
    }
}

impl Lattice {
    /// The cells for balls that seem to suit a grid: about one a ball. All coordinates, those of the rays too, are below `reach`.
    #[must_use]
    pub fn new(extent: &Extent, reach: f32) -> Option<Lattice> {
        let size = [0, 1, 2].map(|i| extent.upper[i] - extent.lower[i]);
        if extent.balls < FEWEST_BALLS || !size.iter().all(|s| s.is_normal()) {
            return None;
        }
        let sizes = std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n <= BALLS_A_CELL);
        let mut all = sizes.map(|n| Lattice::of(extent, size, extent.balls / n, reach));
        let lattice = all.find(|lattice| lattice.expected(extent) <= EXPECTED_LISTED)?;
        // Balls that reach over so many cells need not be counted.
        (lattice.expected(extent) <= (2 * MOST_CELLS_A_BALL * extent.balls) as f64).then_some(lattice)
    }

    fn of(extent: &Extent, size: [f64; 3], cells: usize, reach: f32) -> Lattice {
        let counts = counts(size, cells);
        let margin = margin(counts, reach);
        let lower = extent.lower.map(|x| (x - margin) as f32);
        // One step of rounding more, so that the cells reach beyond the balls.
        let side =
            [0, 1, 2].map(|i| ((extent.upper[i] + 2.0 * margin - f64::from(lower[i])) / counts[i] as f64) as f32);
        Lattice { lower, side, counts, margin }
    }

    /// The number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.counts.iter().product()
    }

    // How often balls are expected in cells, if they lie anywhere: a ball is in all cells whose centers lie in the sum of its volume and a
    // cell's (Steiner's formula). Along an axis of one cell the cell has no end.
    fn expected(&self, extent: &Extent) -> f64 {
        let [a, b, c] = [0, 1, 2].map(|i| if self.counts[i] > 1 { 1.0 / f64::from(self.side[i]) } else { 0.0 });
        let [length, square, cube] = extent.radii;
        let pi = std::f64::consts::PI;
        extent.balls as f64
            + 2.0 * (a + b + c) * length
            + pi * (a * b + b * c + c * a) * square
            + 4.0 / 3.0 * pi * a * b * c * cube
    }

    /// Whether a grid of these cells suits so many balls: it lists them so often in all, has so many cells that are not empty, and so many
    /// balls in the fullest cell.
    #[must_use]
    pub fn suits(&self, balls: usize, listed: u64, full: usize, most: usize) -> bool {
        listed <= MOST_LISTED.min((MOST_CELLS_A_BALL * balls) as u64)
            && self.cells() <= (1 + EMPTY_CELLS_A_FULL_ONE) * full
            && most <= CELL_BALLS
    }

    /// The center and half the sides of the box of all cells.
    #[must_use]
    pub fn bounds(&self) -> [[f32; 3]; 2] {
        let half = [0, 1, 2].map(|i| 0.5 * self.side[i] * self.counts[i] as f32);
        [[0, 1, 2].map(|i| self.lower[i] + half[i]), half]
    }

    // Calls `f` with each cell that is nearer to the ball than its radius and the margin. kernels/shapes/cells.cuh does the same.
    fn each_cell(&self, &(centre, radius): &Ball, f: impl Fn(usize)) {
        let far = f64::from(radius) + self.margin;
        let cell = |i: usize, x: f64| {
            let at = ((x - f64::from(self.lower[i])) / f64::from(self.side[i])).floor();
            at.clamp(0.0, (self.counts[i] - 1) as f64) as usize
        };
        let [xs, ys, zs] = [0, 1, 2].map(|i| {
            let c = f64::from(centre[i]);
            cell(i, c - far)..=cell(i, c + far)
        });
        // The distance from the center to a cell along an axis, squared.
        let (lower, side) = (self.lower.map(f64::from), self.side.map(f64::from));
        let gap = |i: usize, at: usize| {
            let from = lower[i] + at as f64 * side[i] - f64::from(centre[i]);
            let outside = from.max(-(from + side[i])).max(0.0);
            outside * outside
        };
        for z in zs {
            for y in ys.clone() {
                let beside = gap(2, z) + gap(1, y);
                for x in xs.clone().filter(|&x| beside + gap(0, x) <= far * far) {
                    f(x + self.counts[0] * (y + self.counts[1] * z));
                }
            }
        }
    }
}

impl Grid {
    /// Whether a grid that the host makes over so many balls may save more time than it takes, for so many rays from the camera.
    #[must_use]
    pub fn pays(balls: usize, rays: u64) -> bool {
        let quick = balls <= QUICK_BALLS || rays / RAYS_A_BALL >= balls as u64;
        quick && (FEWEST_BALLS..=MOST_BALLS).contains(&balls)
    }

    /// A grid over balls from number `first` on, if they suit one. All coordinates, those of the rays too, are below `reach`. Threads
    /// share the balls; each cell lists its balls by number, so the grid depends on the balls alone.
    #[must_use]
    pub fn new(balls: &[Ball], first: usize, reach: f32) -> Option<Grid> {
        let inside = balls.get(first..)?;
        let lattice = Lattice::new(&Extent::of(inside), reach)?;
        // The number of balls of each cell, then their positions.
        let cells: Vec<AtomicI32> = (0..lattice.cells()).map(|_| AtomicI32::new(0)).collect();
        let all = || inside.par_iter().enumerate().with_min_len(QUICK_BALLS / 4);
        all().for_each(|(_, ball)| lattice.each_cell(ball, |at| _ = cells[at].fetch_add(1, Relaxed)));
        let of = |cell: &AtomicI32| cell.load(Relaxed);
        let full = cells.iter().filter(|cell| of(cell) > 0).count();
        let total: usize = cells.iter().map(|cell| of(cell) as usize).sum();
        let most = cells.iter().map(|cell| of(cell) as usize).max().unwrap_or(0);
        if !lattice.suits(inside.len(), total as u64, full, most) {
            return None;
        }
        let mut start = 0;
        for cell in &cells {
            start += cell.swap(start << CELL_SHIFT, Relaxed);
        }
        let listed: Vec<AtomicI32> = (0..total).map(|_| AtomicI32::new(0)).collect();
        all().for_each(|(i, ball)| {
            lattice.each_cell(ball, |at| {
                let code = cells[at].fetch_add(1, Relaxed);
                listed[(code >> CELL_SHIFT) as usize + (code as usize & CELL_BALLS)].store((first + i) as i32, Relaxed);
            });
        });
        let cells = cells.into_iter().map(AtomicI32::into_inner).collect();
        let balls = listed.into_iter().map(AtomicI32::into_inner).collect();
        let mut grid = Grid { lattice, cells, balls };
        let mut rest = grid.balls.as_mut_slice();
        let each = grid.cells.iter().filter_map(|code| rest.split_off_mut(..*code as usize & CELL_BALLS));
        each.collect::<Vec<_>>().into_par_iter().with_min_len(QUICK_BALLS).for_each(<[i32]>::sort_unstable);
        Some(grid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Balls on a lattice, moved by up to a third of its spacing, with radii up to twice the smallest.
    fn lattice(counts: [usize; 3], smallest: f32) -> Vec<Ball> {
        let turn = |i: usize, k: usize| ((i * (7919 + 104 * k)) % 1009) as f32 / 1009.0;
        let jittered = |i: usize, k: usize, n: usize| n as f32 + (turn(i, k) - 0.5) / 1.5;
        let at = |i: usize| [i % counts[0], i / counts[0] % counts[1], i / counts[0] / counts[1]];
        let all = 0..counts.iter().product();
        all.map(|i| ([0, 1, 2].map(|k| jittered(i, k, at(i)[k])), smallest * (1.0 + turn(i, 3)))).collect()
    }

    #[test]
    fn balls_are_in_all_cells_that_they_reach() {
        for (counts, smallest) in
            [([22, 22, 1], 0.2), ([9, 9, 9], 0.1), ([8, 8, 8], 0.4), ([200, 1, 1], 0.3), ([7, 3, 30], 0.25)]
        {
            let (balls, reach) = (lattice(counts, smallest), 2000.0);
            let grid = Grid::new(&balls, 5, reach).unwrap();
            assert_eq!(grid.cells.len(), grid.lattice.counts.iter().product::<usize>());
            let (mut listed, margin) = (0, grid.lattice.margin);
            for (at, code) in grid.cells.iter().enumerate() {
                let cell = [
                    at % grid.lattice.counts[0],
                    at / grid.lattice.counts[0] % grid.lattice.counts[1],
                    at / grid.lattice.counts[0] / grid.lattice.counts[1],
                ];
                let (first, count) = ((code >> CELL_SHIFT) as usize, *code as usize & CELL_BALLS);
                assert_eq!(first, listed);
                listed += count;
                let here = &grid.balls[first..first + count];
                for (i, (centre, radius)) in balls.iter().enumerate().skip(5) {
                    let gap = [0, 1, 2].map(|k| {
                        let from = f64::from(grid.lattice.lower[k]) + f64::from(grid.lattice.side[k]) * cell[k] as f64;
                        let centre = f64::from(centre[k]);
                        let away = centre.clamp(from, from + f64::from(grid.lattice.side[k])) - centre;
                        away * away
                    });
                    let near = gap.iter().sum::<f64>().sqrt() - f64::from(*radius) - margin;
                    // Equal but for the rounding of this sum.
                    assert!(
                        near.abs() < 1e-9 || here.contains(&(i as i32)) == (near < 0.0),
                        "ball {i}, cell {cell:?}: {near}"
                    );
                }
            }
            assert_eq!(listed, grid.balls.len());
        }
    }

    #[test]
    fn cells_are_cubes_with_about_one_ball_each() {
        for (shape, expected) in
            [([22, 22, 1], [22, 22, 1]), ([9, 9, 9], [9, 9, 9]), ([1, 200, 1], [1, 200, 1]), ([2, 40, 30], [2, 40, 30])]
        {
            let grid = Grid::new(&lattice(shape, 0.2), 0, 50.0).unwrap();
            for (n, expected) in grid.lattice.counts.iter().zip(expected) {
                assert!(n.abs_diff(expected) <= 1 + expected / 8, "{shape:?}: {:?}", grid.lattice.counts);
            }
        }
    }

    #[test]
    fn balls_that_do_not_fill_their_space_have_no_grid() {
        let all = lattice([9, 9, 9], 0.1);
        assert!(Grid::new(&all, 0, 20.0).is_some());
        // Few of them, none, or all of them large.
        assert!(Grid::new(&all[..FEWEST_BALLS - 1], 0, 20.0).is_none());
        assert!(Grid::new(&all, all.len() - 3, 20.0).is_none());
        assert!(Grid::new(&all, all.len() + 1, 20.0).is_none());
        assert!(Grid::new(&[], 0, 20.0).is_none());
        // Balls that reach over many cells.
        assert!(Grid::new(&lattice([9, 9, 9], 2.0), 0, 20.0).is_none());
        // A heap in a corner of the box, whose other corner has a single ball.
        let heap: Vec<Ball> = all.iter().copied().chain([([100.0; 3], 0.1)]).collect();
        assert!(Grid::new(&heap, 0, 100.0).is_none());
        // A diagonal, where nearly all cells are empty.
        let diagonal: Vec<Ball> = (0..1000).map(|i| ([i as f32; 3], 0.4)).collect();
        assert!(Grid::new(&diagonal, 0, 1000.0).is_none());
        // Balls at one point, flat and far-off ones, whose box or margin makes no cells.
        assert!(Grid::new(&[([1.0; 3], 0.5); 100], 0, 20.0).is_none());
        assert!(Grid::new(&[([1.0; 3], 0.0); 100], 0, 20.0).is_none());
        assert!(Grid::new(&all, 0, 1e9).is_none());
        // Many balls for few rays.
        assert!(Grid::pays(8000, 8_000_000) && !Grid::pays(8000, 7_999_999) && Grid::pays(4000, 1));
        assert!(!Grid::pays(FEWEST_BALLS - 1, u64::MAX) && !Grid::pays(MOST_BALLS + 1, u64::MAX));
    }
}

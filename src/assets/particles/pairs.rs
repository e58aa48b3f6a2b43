//! The neighbors of particles within a reach, with copies of those in a box that repeats: by a grid of cells in the box.

use super::step::{Cell, Step};
use crate::math::vec3::{Vec3, add, length, scale, sub};
use rayon::prelude::*;

/// Particles in the cells of a grid.
pub struct Neighbours<'a> {
    step: &'a Step,
    cell: Cell,
    reach: f64,
    // Cells along each edge, and how many of them the reach crosses.
    counts: [i64; 3],
    across: [i64; 3],
    // Where the particles of each cell begin in the list, and the list: a number and a place in the box.
    starts: Vec<usize>,
    list: Vec<(usize, Vec3)>,
}

impl Neighbours<'_> {
    pub fn of(step: &Step, reach: f64) -> Neighbours<'_> {
        Neighbours::within(step, step.cell_or_bounds(), reach, i64::MAX)
    }
    /// The same in a box that is not the step's, of which so many copies count on each side.
    pub fn within(step: &Step, mut cell: Cell, reach: f64, copies: i64) -> Neighbours<'_> {
        // A flat box has no shares.
        let least = reach.max(f64::MIN_POSITIVE);
        for (axis, vector) in cell.vectors.iter_mut().enumerate().filter(|(_, vector)| **vector == [0.0; 3]) {
            vector[axis] = least;
        }
        let heights = cell.heights();
        let most = libm::cbrt(step.count() as f64).ceil() * 2.0;
        let counts = heights.map(|height| (height / reach).floor().clamp(1.0, most) as i64);
        let across = [0, 1, 2].map(|axis| {
            let most = if cell.periodic[axis] { counts[axis].saturating_mul(copies) } else { counts[axis] - 1 };
            ((reach * counts[axis] as f64 / heights[axis]).ceil() as i64).min(most)
        });
        let placed = step.positions.par_iter().map(|&p| {
            let mut shares = cell.shares(sub(p, cell.origin)).unwrap_or_default();
            (0..3).filter(|&axis| cell.periodic[axis]).for_each(|axis| shares[axis] -= shares[axis].floor());
            let at = [0, 1, 2].map(|axis| ((shares[axis] * counts[axis] as f64) as i64).clamp(0, counts[axis] - 1));
            (((at[2] * counts[1] + at[1]) * counts[0] + at[0]) as usize, cell.unscaled(shares))
        });
        let placed: Vec<(usize, Vec3)> = placed.collect();
        let mut order: Vec<usize> = (0..placed.len()).collect();
        order.par_sort_by_key(|&i| placed[i].0);
        let total = counts.iter().product::<i64>() as usize;
        let starts = (0..=total).map(|cell| order.partition_point(|&i| placed[i].0 < cell)).collect();
        let list = order.into_iter().map(|i| (i, placed[i].1)).collect();
        Neighbours { step, cell, reach, counts, across, starts, list }
    }

    /// What `job` makes of each particle's number and its neighbors: their numbers and distances.
    pub fn of_each<T: Send>(&self, job: impl Fn(usize, &mut dyn Iterator<Item = (usize, f64)>) -> T + Sync) -> Vec<T> {
        let mut all: Vec<(usize, T)> = (0..self.list.len())
            .into_par_iter()
            .map(|at| {
                let (i, p) = self.list[at];
                (i, job(i, &mut self.around(at, p)))
            })
            .collect();
        all.sort_by_key(|(i, _)| *i);
        debug_assert_eq!(all.len(), self.step.count());
        all.into_iter().map(|(_, one)| one).collect()
    }

    fn around(&self, own: usize, p: Vec3) -> impl Iterator<Item = (usize, f64)> + '_ {
        let here = self.starts.partition_point(|&start| start <= own) as i64 - 1;
        let [nx, ny, _] = self.counts;
        let at = [here % nx, here / nx % ny, here / (nx * ny)];
        let [x, y, z] = self.across.map(|across| -across..=across);
        let cells = z.flat_map(move |k| {
            y.clone().flat_map({
                let x = x.clone();
                move |j| x.clone().map(move |i| [i, j, k])
            })
        });
        cells.flat_map(move |offset| self.in_cell([0, 1, 2].map(|axis| at[axis] + offset[axis]), own, p))
    }

    // Those of a cell, perhaps of a copy of the box.
    fn in_cell(&self, at: [i64; 3], own: usize, p: Vec3) -> impl Iterator<Item = (usize, f64)> + '_ {
        let copies = [0, 1, 2].map(|axis| at[axis].div_euclid(self.counts[axis]));
        let is_there = (0..3).all(|axis| copies[axis] == 0 || self.cell.periodic[axis]);
        let [x, y, z] = [0, 1, 2].map(|axis| at[axis].rem_euclid(self.counts[axis]));
        let cell = ((z * self.counts[1] + y) * self.counts[0] + x) as usize;
        let range = if is_there { self.starts[cell]..self.starts[cell + 1] } else { 0..0 };
        let shift =
            (0..3).fold([0.0; 3], |shift, axis| add(shift, scale(self.cell.vectors[axis], copies[axis] as f64)));
        let is_own = copies == [0; 3];
        range.filter(move |&other| !is_own || other != own).filter_map(move |other| {
            let (j, q) = self.list[other];
            let distance = length(sub(add(q, shift), p));
            (distance <= self.reach).then_some((j, distance))
        })
    }
}

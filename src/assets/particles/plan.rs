//! What the columns of a file mean: which of them are positions and radii, and which are kept.

use super::step::{Cell, Column, Step, Wanted};
use crate::language::{Message, msg};
use rayon::prelude::*;

// Names of coordinates, the first that a file has; those at the end are shares of the box.
const COORDINATES: [[&str; 3]; 4] = [["x", "y", "z"], ["xu", "yu", "zu"], ["xs", "ys", "zs"], ["xsu", "ysu", "zsu"]];
const SCALED: usize = 2;

// Names of vectors with them.
const VECTORS: [&str; 8] = ["position", "positions", "pos", "x", "xyz", "points", "coordinates", "coords"];

// Names of radii and diameters, and what their values are multiplied by.
const RADII: [(&str, f64); 7] =
    [("radius", 1.0), ("radii", 1.0), ("r", 1.0), ("rad", 1.0), ("diameter", 0.5), ("diameters", 0.5), ("d", 0.5)];

// Names of types.
const TYPES: [&str; 4] = ["type", "typelabel", "species", "element"];

/// The column of types, as numbers or words, which is called `type`.
pub fn type_column(names: &[String]) -> Option<usize> {
    TYPES.iter().find_map(|name| find(names, name))
}

fn find(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|one| one.eq_ignore_ascii_case(name))
}

/// The columns of x, y and z, and whether they are shares of the box.
pub fn coordinates(names: &[String]) -> Option<([usize; 3], bool)> {
    let place = |[x, y, z]: [&str; 3]| Some([find(names, x)?, find(names, y)?, find(names, z)?]);
    let scalars = COORDINATES.iter().enumerate().find_map(|(i, &axes)| Some((place(axes)?, i >= SCALED)));
    let vector = |name: &&str| {
        let [x, y, z] = ["x", "y", "z"].map(|axis| format!("{name}.{axis}"));
        Some((place([&x, &y, &z])?, false))
    };
    scalars.or_else(|| VECTORS.iter().find_map(vector))
}

/// The names of the columns that a vector of so many parts makes.
pub fn parts(name: &str, count: usize) -> Vec<String> {
    match count {
        1 => vec![name.to_owned()],
        2 | 3 => ["x", "y", "z"][..count].iter().map(|axis| format!("{name}.{axis}")).collect(),
        _ => (0..count).map(|part| format!("{name}.{part}")).collect(),
    }
}

/// Columns by their numbers.
pub struct Plan {
    names: Vec<String>,
    // None, if a scene may make them of the columns that it asks for.
    position: Option<[usize; 3]>,
    is_scaled: bool,
    radius: Option<(usize, f64)>,
    kept: Vec<usize>,
}

impl Plan {
    /// What a step needs of these columns, of which some are numbers.
    pub fn new(mut names: Vec<String>, wanted: &Wanted, is_number: impl Fn(usize) -> bool) -> Result<Plan, Message> {
        let (position, is_scaled) = match coordinates(&names) {
            Some((position, is_scaled)) => (Some(position), is_scaled),
            None if names.iter().any(|name| wanted.asks_for(name)) => (None, false),
            None => {
                let found = Message::text(names.join(", "));
                return Err(msg!("it has the columns {found}; expected x, y and z, or a vector `position`", found));
            }
        };
        let places: Vec<usize> = position.into_iter().flatten().collect();
        let radius = RADII.iter().find_map(|&(name, factor)| Some((find(&names, name)?, factor)));
        if let Some(at) = type_column(&names) {
            names[at] = TYPES[0].to_owned();
        }
        let is_kept = |&at: &usize| {
            let is_other = !places.contains(&at) && radius.is_none_or(|(radius, factor)| radius != at || factor != 1.0);
            is_other && wanted.has(&names[at]) && (wanted.asks_for(&names[at]) || is_number(at))
        };
        let kept = (0..names.len()).filter(is_kept).collect();
        Ok(Plan { names, position, is_scaled, radius, kept })
    }

    /// The numbers of all columns that are read, in order.
    pub fn needed(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.position.into_iter().flatten().chain(self.kept.iter().copied()).collect();
        all.extend(self.radius.map(|(at, _)| at));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The step of columns by their numbers.
    pub fn step(
        self,
        cell: Option<Cell>,
        mut column: impl FnMut(usize) -> Result<Vec<f64>, Message>,
    ) -> Result<Step, Message> {
        let mut positions: Vec<[f64; 3]> = Vec::new();
        if let Some([x, y, z]) = self.position {
            let [x, y, z] = [column(x)?, column(y)?, column(z)?];
            positions = x.into_par_iter().zip(y).zip(z).map(|((x, y), z)| [x, y, z]).collect();
        }
        if self.is_scaled {
            let cell = cell.ok_or_else(|| msg!("it has scaled coordinates, but no box"))?;
            positions.par_iter_mut().for_each(|p| *p = cell.unscaled(*p));
        }
        let (mut radii, mut diameters) = (Vec::new(), Vec::new());
        if let Some((at, factor)) = self.radius {
            radii = column(at)?;
            if self.kept.contains(&at) {
                diameters.clone_from(&radii);
            }
            radii.par_iter_mut().for_each(|r| *r *= factor);
        }
        let values = |at| match self.radius {
            Some((radius, _)) if radius == at => Ok(std::mem::take(&mut diameters)),
            _ => column(at),
        };
        let kept = self.kept.iter().zip(self.kept.iter().copied().map(values));
        let kept = kept.map(|(&at, values)| Ok(Column { name: self.names[at].clone(), values: values? }));
        let columns = kept.collect::<Result<_, Message>>()?;
        Ok(Step { positions, radii, columns, cell, names: self.names, ..Step::default() })
    }
}

impl Cell {
    /// The place of shares of the box.
    pub fn unscaled(&self, share: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = self.vectors;
        [0, 1, 2].map(|axis| a[axis] * share[0] + b[axis] * share[1] + c[axis] * share[2] + self.origin[axis])
    }

    /// LAMMPS's box by the bounds of the axes, which enclose it, and its tilts xy, xz and yz.
    pub fn from_bounds(bounds: [f64; 6], [xy, xz, yz]: [f64; 3], periodic: [bool; 3]) -> Cell {
        let ends = |tilts: [f64; 3]| {
            tilts.into_iter().fold((0.0, 0.0), |(low, high), x| (f64::min(low, x), f64::max(high, x)))
        };
        let ((left, right), (front, back)) = (ends([xy, xz, xy + xz]), ends([yz, 0.0, 0.0]));
        let [x, x_end, y, y_end, z, z_end] = bounds;
        let (x, x_end, y, y_end) = (x - left, x_end - right, y - front, y_end - back);
        let vectors = [[x_end - x, 0.0, 0.0], [xy, y_end - y, 0.0], [xz, yz, z_end - z]];
        Cell { origin: [x, y, z], vectors, periodic }
    }
}

//! Boxes whose sides are parallel to the axes.

use rayon::prelude::*;

/// A box: its minimum and maximum corner.
pub type Bounds = [[f32; 3]; 2];

const NOTHING: Bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

/// The smallest box around two.
pub fn union(a: &Bounds, b: &Bounds) -> Bounds {
    [[0, 1, 2].map(|i| a[0][i].min(b[0][i])), [0, 1, 2].map(|i| a[1][i].max(b[1][i]))]
}

/// The smallest box around all.
pub fn around(boxes: &[Bounds]) -> Bounds {
    boxes.par_iter().with_min_len(4096).copied().reduce(|| NOTHING, |a, b| union(&a, &b))
}

/// Half the surface of a box, never minus zero.
pub fn half_area([lower, upper]: &Bounds) -> f32 {
    let [x, y, z] = [0, 1, 2].map(|i| upper[i] - lower[i]);
    ((x + y) * z + x * y).abs()
}

/// Whether two boxes have a point in common.
pub fn touch(a: &Bounds, b: &Bounds) -> bool {
    (0..3).all(|i| a[0][i] <= b[1][i] && a[1][i] >= b[0][i])
}

//! What shapes lack whose tree is lazy: GPUs fill the cells of a grid over balls themselves, and make the trees over many shapes.

use super::shapes::leaf_code;
use crate::gpu_types::{Node, SHAPE_SPHERE, SHAPE_TRIANGLE, Sphere};
use crate::math::bvh::{Bounds, Forest, Group};
use crate::math::grid::{Extent, Lattice, QUICK_BALLS};
use rayon::prelude::*;
use std::sync::Arc;

/// The threads that build lazy trees when a device needs them, because GPUs do without where a grid does; None if trees are eager.
pub type LazyTrees = Option<Arc<rayon::ThreadPool>>;

/// Some shapes of a kind, which get their own tree.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub kind: i32,
    pub first: usize,
    pub count: usize,
    /// Two triangles that are the halves of a rectangle.
    pub is_rectangle: bool,
}

impl Span {
    /// The maximum number of elements in a leaf. Measured on an H200; 1 to 8 are within 10 % of each other.
    pub fn leaf_size(&self) -> u32 {
        match self.kind {
            SHAPE_SPHERE => 2,
            SHAPE_TRIANGLE => 4,
            _ => 1,
        }
    }
    pub fn group<'a>(&self, bounds: &'a [Bounds]) -> Group<'a> {
        Group { leaf_code: Box::new(leaf_code(self.kind, self.first)), bounds, leaf_size: self.leaf_size() }
    }
    /// All but the first ones.
    pub fn after(self, some: u32) -> Span {
        Span { first: self.first + some as usize, count: self.count - some as usize, ..self }
    }
}

#[derive(Clone, Debug)]
pub enum Missing {
    /// The cells of a grid over the balls.
    Cells(Lattice),
    Trees(MissingTrees),
}

/// Trees of some groups, whose shapes have any order.
#[derive(Clone, Debug)]
pub struct MissingTrees {
    pub forest: Forest<Node>,
    /// The shapes of each group.
    pub spans: Vec<Span>,
    /// The bounds of each missing tree.
    pub bounds: Vec<Bounds>,
}

/// Measures balls. Returns those that are not in cells, which are much larger than the others and few; what the cells follow from; and the
/// largest coordinate.
pub fn measure(balls: &[Sphere]) -> (Vec<usize>, Extent, f32) {
    // As many as a leaf of the tree holds.
    const MOST_LARGE: usize = 8;
    let mut some: Vec<f32> = balls.iter().step_by(balls.len().div_ceil(1000).max(1)).map(|ball| ball.radius).collect();
    let middle = some.len() / 2;
    let usual = if some.is_empty() { 0.0 } else { *some.select_nth_unstable_by(middle, f32::total_cmp).1 };
    let all = balls.par_iter().enumerate().with_min_len(QUICK_BALLS);
    let none = || (Vec::new(), [Extent::NONE; 2], 0.0_f32);
    let (large, [usual, larger], farthest) = all
        .fold(none, |(mut large, [inside, outside], farthest), (i, &Sphere { centre, radius })| {
            let ball = (centre, radius);
            let farthest = centre.iter().fold(farthest, |m, c| m.max((c - radius).abs()).max((c + radius).abs()));
            if radius <= 2.0 * usual {
                return (large, [inside.with(ball), outside], farthest);
            }
            if large.len() <= MOST_LARGE {
                large.push(i);
            }
            (large, [inside, outside.with(ball)], farthest)
        })
        .reduce(none, |(mut large, [a, b], x), (more, [c, d], y)| {
            large.extend(more);
            (large, [a.and(c), b.and(d)], x.max(y))
        });
    if large.len() > MOST_LARGE { (Vec::new(), usual.and(larger), farthest) } else { (large, usual, farthest) }
}

//! A tree of clusters as an array of nodes: each node is followed by those of its first child, then by those of its second. The
//! elements of each leaf get consecutive numbers.

use super::bounds::Bounds;
use super::ploc::{Cluster, Pairs};
use rayon::prelude::*;

// Subtrees above this level are measured and laid out side by side.
const LEVELS: u32 = 12;

/// What makes a node of the boxes and codes of its children.
pub trait MakeNode<T>: Fn([Bounds; 2], [i32; 2]) -> T + Sync {}
impl<T, F: Fn([Bounds; 2], [i32; 2]) -> T + Sync> MakeNode<T> for F {}

/// The code of a leaf, from the number of its first element in the order of the leaves, and its elements.
pub type LeafCode<'a> = &'a (dyn Fn(u32, &[u32]) -> i32 + Sync);

/// The nodes of a tree, whose numbers start at `first`, the code of its root, and its elements in the order of the leaves.
pub fn nodes<T: Copy + Default + Send>(
    tree: &Pairs,
    first: usize,
    make: &impl MakeNode<T>,
    leaf: LeafCode,
) -> (Vec<T>, i32, Vec<u32>) {
    let parts = measured(tree, &tree.root, 0);
    let size = parts.size();
    // All cores touch their pages of memory, which the system clears first.
    let mut nodes: Vec<T> = (0..size.nodes).into_par_iter().map(|_| T::default()).collect();
    let mut order: Vec<u32> = (0..size.elements).into_par_iter().map(|_| 0).collect();
    let place = Target { nodes: &mut nodes, first_node: first, order: &mut order, first: 0 };
    let root = Layout { tree, make, leaf }.place(&tree.root, &parts, place);
    (nodes, root, order)
}

/// The number of levels of a tree.
pub fn depth(tree: &Pairs) -> usize {
    measured(tree, &tree.root, 0).size().depth
}

#[derive(Clone, Copy)]
struct Size {
    nodes: usize,
    elements: usize,
    depth: usize,
}

impl Size {
    fn joined(self, other: Size) -> Size {
        let (nodes, elements) = (1 + self.nodes + other.nodes, self.elements + other.elements);
        Size { nodes, elements, depth: 1 + self.depth.max(other.depth) }
    }
}

// A subtree's size, and those of its children if they are worked on side by side.
enum Parts {
    Whole(Size),
    Split(Size, Box<[Parts; 2]>),
}

impl Parts {
    fn size(&self) -> Size {
        let (Parts::Whole(size) | Parts::Split(size, _)) = self;
        *size
    }
}

fn measured(tree: &Pairs, at: &Cluster, level: u32) -> Parts {
    if at.count > 0 || level == LEVELS {
        return Parts::Whole(size(tree, at));
    }
    let [a, b] = &tree.pairs[at.first as usize];
    let (a, b) = rayon::join(|| measured(tree, a, level + 1), || measured(tree, b, level + 1));
    Parts::Split(a.size().joined(b.size()), Box::new([a, b]))
}

fn size(tree: &Pairs, at: &Cluster) -> Size {
    if at.count > 0 {
        return Size { nodes: 0, elements: at.count as usize, depth: 1 };
    }
    let [a, b] = &tree.pairs[at.first as usize];
    size(tree, a).joined(size(tree, b))
}

// Where a subtree goes, and the numbers of the first node and element there.
struct Target<'a, T> {
    nodes: &'a mut [T],
    first_node: usize,
    order: &'a mut [u32],
    first: usize,
}

struct Layout<'a, F> {
    tree: &'a Pairs,
    make: &'a F,
    leaf: LeafCode<'a>,
}

impl<F> Layout<'_, F> {
    // Lays a subtree out, and returns its code.
    fn place<T: Copy + Send>(&self, at: &Cluster, parts: &Parts, mut to: Target<T>) -> i32
    where
        F: MakeNode<T>,
    {
        let Parts::Split(_, parts) = parts else {
            return self.below(at, &mut to, &mut 0, &mut 0);
        };
        let [a, b] = &self.tree.pairs[at.first as usize];
        let Target { nodes, first_node, order, first } = to;
        let Some((own, rest)) = nodes.split_first_mut() else { return 0 };
        let size = parts[0].size();
        let (left, right) = rest.split_at_mut(size.nodes);
        let (order, others) = order.split_at_mut(size.elements);
        let left = Target { nodes: left, first_node: first_node + 1, order, first };
        let (first_of_right, first) = (first_node + 1 + size.nodes, first + size.elements);
        let right = Target { nodes: right, first_node: first_of_right, order: others, first };
        let (a_code, b_code) = rayon::join(|| self.place(a, &parts[0], left), || self.place(b, &parts[1], right));
        *own = (self.make)([a.bounds(), b.bounds()], [a_code, b_code]);
        first_node as i32
    }

    fn below<T>(&self, at: &Cluster, to: &mut Target<T>, node: &mut usize, element: &mut usize) -> i32
    where
        F: MakeNode<T>,
    {
        if at.count > 0 {
            let first = *element;
            self.elements(at, to.order, element);
            return (self.leaf)((to.first + first) as u32, &to.order[first..*element]);
        }
        let own = *node;
        *node += 1;
        let [a, b] = &self.tree.pairs[at.first as usize];
        let codes = [self.below(a, to, node, element), self.below(b, to, node, element)];
        to.nodes[own] = (self.make)([a.bounds(), b.bounds()], codes);
        (to.first_node + own) as i32
    }

    // Appends the elements of a leaf.
    fn elements(&self, at: &Cluster, order: &mut [u32], element: &mut usize) {
        if at.count == 1 {
            order[*element] = at.first;
            *element += 1;
        } else {
            self.tree.pairs[at.first as usize].iter().for_each(|child| self.elements(child, order, element));
        }
    }
}

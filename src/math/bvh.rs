//! A bounding volume hierarchy in two levels: one tree per group of elements, and a tree over these trees.

use super::ploc;
use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::leaf_collapser::collapse;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;

/// Maximum depth: the size of the kernels' stack.
pub const MAX_DEPTH: usize = 60;

// Cost of one traversal step, in tests of elements.
const TRAVERSAL_COST: f32 = 3.0;

/// A box: its minimum and maximum corner.
pub type Bounds = [[f32; 3]; 2];

/// A node: the boxes of both children, and their codes. A code is a node's number, or the result of [`Group::leaf_code`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Node {
    pub bounds: [Bounds; 2],
    pub children: [i32; 2],
}

/// Elements that get a tree of their own.
pub struct Group<'a> {
    /// The negative code of a leaf, from the number of its first element and their count.
    pub leaf_code: Box<dyn Fn(u32, u32) -> i32 + Sync>,
    pub bounds: &'a [Bounds],
    /// Elements per leaf, 1 to 8; the elements of a leaf get consecutive numbers.
    pub leaf_size: u32,
}

/// The joint tree.
pub struct Tree {
    pub nodes: Vec<Node>,
    /// The root's code; None without elements.
    pub root: Option<i32>,
    /// For each group, its elements in the order of the leaves.
    pub orders: Vec<Vec<u32>>,
    /// For each group, the number of its first elements that are much larger than the others.
    pub large: Vec<u32>,
}

fn aabb(b: &Bounds) -> Aabb {
    Aabb::new(Vec3A::from_array(b[0]), Vec3A::from_array(b[1]))
}

/// A set of boxes that answers which of them a given box touches.
pub struct PointIndex(Bvh2);

impl PointIndex {
    /// A tree over the boxes; its leaves are their numbers.
    #[must_use]
    pub fn new(boxes: &[Bounds]) -> PointIndex {
        PointIndex(ploc::build(&boxes.iter().map(aabb).collect::<Vec<_>>(), (1, 14)))
    }
    /// Calls `found` with the number of each box that touches the given one.
    pub fn touching(&self, place: &Bounds, found: &mut impl FnMut(usize)) {
        if !self.0.nodes.is_empty() {
            self.below(0, &aabb(place), found);
        }
    }
    fn below(&self, at: usize, place: &Aabb, found: &mut impl FnMut(usize)) {
        let node = &self.0.nodes[at];
        if !node.aabb().intersect_aabb(place) {
            return;
        }
        let first = node.first_index as usize;
        if node.is_leaf() {
            found(first);
        } else {
            self.below(first, place, found);
            self.below(first + 1, place, found);
        }
    }
}

// A tree under construction: its root as a child code, and the root's box.
struct Subtree {
    child: i32,
    bounds: Aabb,
}

pub fn build(groups: &[Group]) -> Tree {
    let (mut nodes, mut roots, mut orders) = (Vec::new(), Vec::new(), Vec::new());
    let mut large = vec![0; groups.len()];
    for (group, large) in groups.iter().zip(&mut large) {
        let boxes: Vec<Aabb> = group.bounds.iter().map(aabb).collect();
        if boxes.is_empty() {
            orders.push(Vec::new());
            continue;
        }
        if group.leaf_size > 1 {
            let (root, order, count) = sorted_tree(&boxes, group, &mut nodes);
            *large = count;
            roots.push(root);
            orders.push(order);
            continue;
        }
        // Elements that keep their order: leaves name them directly.
        let mut bvh = tree_of(&boxes, 1);
        for node in bvh.nodes.iter_mut().filter(|n| n.prim_count > 0) {
            node.first_index = bvh.primitive_indices[node.first_index as usize];
        }
        orders.push((0..boxes.len() as u32).collect());
        roots.push(flatten_subtree(&bvh, 0, &mut nodes, &group.leaf_code));
    }
    let boxes: Vec<Aabb> = roots.iter().map(|r| r.bounds).collect();
    let root = match boxes.len() {
        0 => None,
        1 => Some(roots[0].child),
        _ => {
            let top = tree_of(&boxes, 1);
            let leaf = |first: u32, _| roots[top.primitive_indices[first as usize] as usize].child;
            Some(flatten_subtree(&top, 0, &mut nodes, &leaf).child)
        }
    };
    Tree { nodes, root, orders, large }
}

// The tree of elements that are sorted by its leaves. A few elements that are much larger than all others, such as the
// ball that is the ground, are a leaf of their own below the root: nearly every ray meets them, and boxes that contain
// them are large. They come first in the order; the last value is their number.
fn sorted_tree(boxes: &[Aabb], group: &Group, nodes: &mut Vec<Node>) -> (Subtree, Vec<u32>, u32) {
    let large = larger_ones(boxes);
    if large.is_empty() {
        let bvh = tree_of(boxes, group.leaf_size);
        return (flatten_subtree(&bvh, 0, nodes, &group.leaf_code), bvh.primitive_indices, 0);
    }
    let count = large.len() as u32;
    let others: Vec<u32> = (0..boxes.len() as u32).filter(|i| !large.contains(i)).collect();
    let bvh = tree_of(&others.iter().map(|&i| boxes[i as usize]).collect::<Vec<_>>(), group.leaf_size);
    let rest = flatten_subtree(&bvh, 0, nodes, &|first, n| (group.leaf_code)(first + count, n));
    let around = large.iter().fold(Aabb::empty(), |all, &i| all.union(&boxes[i as usize]));
    let bounds = [&around, &rest.bounds].map(|b| [b.min.to_array(), b.max.to_array()]);
    nodes.push(Node { bounds, children: [(group.leaf_code)(0, count), rest.child] });
    let order = large.iter().copied().chain(bvh.primitive_indices.iter().map(|&i| others[i as usize])).collect();
    (Subtree { child: nodes.len() as i32 - 1, bounds: around.union(&rest.bounds) }, order, count)
}

// The elements with more than four times the usual surface, if there are at most as many as a leaf holds.
fn larger_ones(boxes: &[Aabb]) -> Vec<u32> {
    const MAX_LARGE: usize = 8;
    const FEWEST: usize = 32;
    if boxes.len() < FEWEST {
        return Vec::new();
    }
    let mut some: Vec<f32> = boxes.iter().step_by(boxes.len().div_ceil(1000)).map(Aabb::half_area).collect();
    let middle = some.len() / 2;
    let usual = *some.select_nth_unstable_by(middle, f32::total_cmp).1;
    let large = (0..boxes.len() as u32).filter(|&i| boxes[i as usize].half_area() > 4.0 * usual);
    let large: Vec<u32> = large.take(MAX_LARGE + 1).collect();
    if large.len() > MAX_LARGE { Vec::new() } else { large }
}

fn tree_of(boxes: &[Aabb], leaf: u32) -> Bvh2 {
    if boxes.is_empty() {
        return Bvh2::default();
    }
    // A small tree is optimized thoroughly at no cost; a large one must not delay the frame. The share of nodes that are reinserted
    // falls with the size.
    let (passes, later, moved) = match boxes.len() {
        0..=10_000 => (1, 14, [1.0, 1.0]),
        10_001..=100_000 => (3, 14, [0.05, 0.1]),
        _ => (2, 6, [0.02, 0.0]),
    };
    let mut built = ploc::build(boxes, (passes, later));
    let mut optimizer = ReinsertionOptimizer::default();
    optimizer.run(&mut built, moved[0], None);
    collapse(&mut built, leaf, TRAVERSAL_COST);
    optimizer.run(&mut built, moved[1], None);
    // The joint tree adds a few levels.
    if depth(&built) + 12 <= MAX_DEPTH { built } else { balanced(boxes, leaf) }
}

fn depth(bvh: &Bvh2) -> usize {
    let (mut deepest, mut stack) = (0, vec![(0u32, 1)]);
    while let Some((at, level)) = stack.pop() {
        deepest = deepest.max(level);
        let node = &bvh.nodes[at as usize];
        if node.prim_count == 0 {
            stack.extend([(node.first_index, level + 1), (node.first_index + 1, level + 1)]);
        }
    }
    deepest
}

// A tree of minimum depth, for inputs that make the other tree too deep: it splits at the median of the longest side.
fn balanced(boxes: &[Aabb], leaf: u32) -> Bvh2 {
    let mut indices: Vec<u32> = (0..boxes.len() as u32).collect();
    let mut nodes = vec![obvhs::bvh2::node::Bvh2Node::default()];
    let mut stack = vec![(0usize, 0usize, boxes.len())];
    while let Some((at, from, to)) = stack.pop() {
        let around = indices[from..to].iter().fold(Aabb::empty(), |a, &i| a.union(&boxes[i as usize]));
        nodes[at].aabb = around;
        if to - from <= leaf as usize {
            (nodes[at].prim_count, nodes[at].first_index) = ((to - from) as u32, from as u32);
            continue;
        }
        let size = (around.max - around.min).to_array();
        let axis = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap_or(0);
        let middle = (to - from) / 2;
        indices[from..to].select_nth_unstable_by(middle, |&a, &b| {
            let centre = |i: u32| boxes[i as usize].min[axis] + boxes[i as usize].max[axis];
            centre(a).total_cmp(&centre(b)).then(a.cmp(&b))
        });
        nodes[at].first_index = nodes.len() as u32;
        let next = nodes.len();
        nodes.extend([obvhs::bvh2::node::Bvh2Node::default(); 2]);
        stack.extend([(next, from, from + middle), (next + 1, from + middle, to)]);
    }
    Bvh2 { nodes, primitive_indices: indices, ..Bvh2::default() }
}

// Appends a tree's nodes to the existing nodes.
fn flatten_subtree(bvh: &Bvh2, root: u32, nodes: &mut Vec<Node>, leaf: &dyn Fn(u32, u32) -> i32) -> Subtree {
    let code = |at: u32, place: &mut Vec<(u32, usize)>, nodes: &mut Vec<Node>| {
        let node = &bvh.nodes[at as usize];
        if node.prim_count > 0 {
            return leaf(node.first_index, node.prim_count);
        }
        nodes.push(Node::default());
        place.push((at, nodes.len() - 1));
        (nodes.len() - 1) as i32
    };
    let mut open = Vec::new();
    let child = code(root, &mut open, nodes);
    while let Some((at, place)) = open.pop() {
        let first = bvh.nodes[at as usize].first_index;
        let [a, b] = [first, first + 1].map(|i| {
            let bounds = &bvh.nodes[i as usize].aabb;
            ([bounds.min.to_array(), bounds.max.to_array()], i)
        });
        let children = [code(a.1, &mut open, nodes), code(b.1, &mut open, nodes)];
        nodes[place] = Node { bounds: [a.0, b.0], children };
    }
    Subtree { child, bounds: bvh.nodes[root as usize].aabb }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(kind: i32) -> impl Fn(u32, u32) -> i32 + Sync {
        move |first, count| !((first as i32) << 5 | kind << 3 | (count as i32 - 1))
    }

    // Traverses the tree and counts how often a leaf names each element.
    fn named(tree: &Tree, kind: i32, count: usize) -> Vec<usize> {
        let mut times = vec![0; count];
        let mut stack: Vec<(i32, usize)> = tree.root.iter().map(|&r| (r, 0)).collect();
        while let Some((at, depth)) = stack.pop() {
            assert!(depth <= MAX_DEPTH);
            if at >= 0 {
                stack.extend(tree.nodes[at as usize].children.map(|c| (c, depth + 1)));
                continue;
            }
            let code = !at;
            if (code >> 3) & 3 == kind {
                (0..=code & 7).for_each(|i| times[((code >> 5) + i) as usize] += 1);
            }
        }
        times
    }

    #[test]
    fn every_element_is_in_one_leaf() {
        let bounds = |n: usize, shift: f32| -> Vec<Bounds> {
            (0..n)
                .map(|i| {
                    let p = [0, 1, 2].map(|c| ((i * (7 + c)) % 101) as f32 + shift);
                    [p, p.map(|x| x + 0.5)]
                })
                .collect()
        };
        for (bodies, balls, triangles) in [(1, 0, 0), (0, 1, 0), (3, 1000, 500), (0, 0, 9), (40, 0, 1)] {
            let [a, b, c] = [bounds(bodies, 0.0), bounds(balls, 3.0), bounds(triangles, -9.0)];
            let tree = build(&[
                Group { leaf_code: Box::new(code(0)), bounds: &a, leaf_size: 1 },
                Group { leaf_code: Box::new(code(1)), bounds: &b, leaf_size: 4 },
                Group { leaf_code: Box::new(code(2)), bounds: &c, leaf_size: 4 },
            ]);
            for (kind, count) in [(0, bodies), (1, balls), (2, triangles)] {
                assert_eq!(named(&tree, kind, count), vec![1; count], "kind {kind}");
            }
        }
    }

    #[test]
    fn elements_that_nearly_every_ray_meets_are_a_leaf_below_the_root() {
        // The ground, three large balls and many small ones, as in "Ray Tracing in One Weekend".
        let ball = |c: [f32; 3], r: f32| [c.map(|x| x - r), c.map(|x| x + r)];
        let small =
            (0..484).map(|i| ball([(i / 22) as f32 - 11.0, (i % 22) as f32 - 11.0 + 0.03 * (i % 7) as f32, 0.2], 0.2));
        let mut all: Vec<Bounds> = small.collect();
        all.insert(100, ball([0.0, 0.0, -1000.0], 1000.0));
        all.extend([-4.0, 0.0, 4.0].map(|x| ball([x, 0.0, 1.0], 1.0)));
        let boxes: Vec<Aabb> = all.iter().map(aabb).collect();
        assert_eq!(larger_ones(&boxes), [100, 485, 486, 487]);
        let tree = build(&[Group { leaf_code: Box::new(code(1)), bounds: &all, leaf_size: 2 }]);
        assert_eq!(named(&tree, 1, all.len()), vec![1; all.len()]);
        assert_eq!((tree.nodes[tree.root.unwrap() as usize].children[0], tree.large), (code(1)(0, 4), vec![4]));
        let mut order = tree.orders[0].clone();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..all.len() as u32));
        // Balls of one size have no such ones.
        assert!(larger_ones(&boxes[..100]).is_empty());
    }

    #[test]
    fn a_million_boxes_in_one_place_do_not_make_a_deep_tree() {
        let same: Vec<Bounds> = vec![[[0.0; 3], [1.0; 3]]; 100_000];
        let tree = build(&[Group { leaf_code: Box::new(code(1)), bounds: &same, leaf_size: 4 }]);
        assert_eq!(named(&tree, 1, same.len()), vec![1; same.len()]);
        // A row of boxes whose sizes grow without bound.
        let row: Vec<Bounds> = (0..200)
            .map(|i| [[libm::powf(1.5, i as f32), 0.0, 0.0], [libm::powf(1.5, (i + 1) as f32), 1.0, 1.0]])
            .collect();
        let tree = build(&[Group { leaf_code: Box::new(code(1)), bounds: &row, leaf_size: 1 }]);
        assert_eq!(named(&tree, 1, row.len()), vec![1; row.len()]);
        let boxes: Vec<Aabb> = row.iter().map(aabb).collect();
        assert!(depth(&balanced(&boxes, 1)) <= 9);
    }
}

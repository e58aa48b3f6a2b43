//! A bounding volume hierarchy in two levels: a forest with one tree per group of elements, and a tree over these trees.

use super::bounds::{around, half_area, touch, union};
use super::layout::{self, LeafCode, MakeNode};
use super::ploc::{self, Cluster, Leaves, ONE, Pairs};
use super::reinsertion;
use rayon::prelude::*;

pub use super::bounds::Bounds;

/// Maximum depth: the size of the kernels' stack.
pub const MAX_DEPTH: usize = 60;

/// Levels that the joint tree may add to those of a group.
pub const ROOM_ABOVE: usize = 12;

/// Cost of one traversal step, in tests of elements.
pub const TRAVERSAL_COST: f32 = 3.0;

/// Elements that get their own tree.
pub struct Group<'a> {
    /// The negative code of a leaf, from the number of its first element and their count.
    pub leaf_code: Box<dyn Fn(u32, u32) -> i32 + Sync>,
    pub bounds: &'a [Bounds],
    /// Elements per leaf, 1 to 8; the elements of a leaf get consecutive numbers.
    pub leaf_size: u32,
}

/// The trees of groups. Those of groups with many elements may be missing, since another device makes them.
#[derive(Clone, Debug, Default)]
pub struct Forest<T> {
    /// Nodes hold the boxes of both children, and their codes. A code is a node's number, or the result of [`Group::leaf_code`].
    pub nodes: Vec<T>,
    /// For each group, its elements in the order of the leaves, or nothing where they stay as they come. Of a group whose tree is missing,
    /// those that are much larger come first.
    pub orders: Vec<Vec<u32>>,
    /// For each group, the number of its first elements that are much larger than the others.
    pub large: Vec<u32>,
    planted: Vec<Planted>,
}

// A group with elements: the leaf of those that are much larger than the others, and the tree of the others, if it is there.
#[derive(Clone, Debug)]
struct Planted {
    group: usize,
    ahead: Option<Subtree>,
    tree: Option<Subtree>,
}

/// A set of boxes that answers which of them a given box touches.
pub struct PointIndex(Option<Pairs>);

impl PointIndex {
    /// A tree over the boxes; its leaves are their numbers.
    #[must_use]
    pub fn new(boxes: &[Bounds]) -> PointIndex {
        PointIndex((!boxes.is_empty()).then(|| ploc::build(boxes, ONE)))
    }
    /// Calls `found` with the number of each box that touches the given one.
    pub fn touching(&self, region: &Bounds, found: &mut impl FnMut(usize)) {
        if let Some(tree) = &self.0 {
            touching(tree, &tree.root, region, found);
        }
    }
}

fn touching(tree: &Pairs, at: &Cluster, region: &Bounds, found: &mut impl FnMut(usize)) {
    if !touch(&at.bounds(), region) {
        return;
    }
    if at.count == 1 {
        found(at.first as usize);
    } else {
        tree.pairs[at.first as usize].iter().for_each(|child| touching(tree, child, region, found));
    }
}

/// A tree under construction: its root as a child code, and the root's box.
#[derive(Clone, Copy, Debug)]
pub struct Subtree {
    pub child: i32,
    pub bounds: Bounds,
}

/// Groups of more elements than this have a tree that is improved near its root alone, as other devices can make it.
pub const MANY: usize = 10_000;

/// Builds the joint tree; `make` makes a node.
#[cfg(test)]
pub fn build<T: Copy + Default + Send>(groups: &[Group], make: &impl MakeNode<T>) -> (Forest<T>, Option<i32>) {
    let mut forest = Forest::plant(groups, make, |_| false);
    let (nodes, root) = forest.join(forest.nodes.len(), make);
    forest.nodes.extend(nodes);
    (forest, root)
}

impl<T: Copy + Default + Send> Forest<T> {
    /// Makes the trees of groups, except of those that `leaves_out` chooses by the number of elements in the tree; `make` makes a node.
    pub fn plant(groups: &[Group], make: &impl MakeNode<T>, leaves_out: impl Fn(usize) -> bool) -> Forest<T> {
        let (orders, large) = (vec![Vec::new(); groups.len()], vec![0; groups.len()]);
        let mut forest = Forest { nodes: Vec::new(), orders, large, planted: Vec::new() };
        for (at, group) in groups.iter().enumerate().filter(|(_, group)| !group.bounds.is_empty()) {
            if group.leaf_size > 1 {
                forest.plant_sorted(at, group, make, &leaves_out);
                continue;
            }
            // Elements that keep their order: leaves name them directly.
            let tree = tree_of(group.bounds, 1);
            let (root, _) = forest.lay_out(&tree, make, &|_, elements| (group.leaf_code)(elements[0], 1));
            forest.planted.push(Planted { group: at, ahead: None, tree: Some(root) });
        }
        forest
    }

    // The tree of elements that are sorted by its leaves. A few elements that are much larger than all others, such as the
    // ball that is the ground, have a leaf for themselves: nearly every ray meets them, and boxes that contain them are large.
    // They come first in the order.
    fn plant_sorted(&mut self, at: usize, group: &Group, make: &impl MakeNode<T>, leaves_out: &impl Fn(usize) -> bool) {
        let large = larger_ones(group.bounds);
        let count = large.len() as u32;
        let bounds_of = |some: &[u32]| some.par_iter().map(|&i| group.bounds[i as usize]).collect::<Vec<_>>();
        let all = 0..group.bounds.len() as u32;
        let others: Vec<u32> = match count {
            0 => Vec::new(),
            _ => all.into_par_iter().filter(|i| !large.contains(i)).collect(),
        };
        let is_left_out = leaves_out(group.bounds.len() - large.len());
        let tree = (!is_left_out).then(|| match count {
            0 => self.grow(group.bounds, group, 0, make),
            _ => {
                let (root, order) = self.grow(&bounds_of(&others), group, count, make);
                (root, order.into_par_iter().map(|i| others[i as usize]).collect())
            }
        });
        let ahead = Subtree { child: (group.leaf_code)(0, count.max(1)), bounds: around(&bounds_of(&large)) };
        let (tree, order) = tree.map_or((None, others), |(root, order)| (Some(root), order));
        self.orders[at] = if count > 0 { [large, order].concat() } else { order };
        self.large[at] = count;
        self.planted.push(Planted { group: at, ahead: (count > 0).then_some(ahead), tree });
    }

    /// The groups whose trees were left out.
    pub fn missing(&self) -> Vec<usize> {
        self.planted.iter().filter(|p| p.tree.is_none()).map(|p| p.group).collect()
    }
    /// Adds the tree of a group, whose root is given.
    pub fn add(&mut self, group: usize, root: Subtree) {
        self.planted.iter_mut().filter(|p| p.group == group).for_each(|p| p.tree = Some(root));
    }

    /// Makes the tree over some elements of a group, from its number `first` on. Returns its root and the elements' order.
    pub fn grow(
        &mut self,
        boxes: &[Bounds],
        group: &Group,
        first: u32,
        make: &impl MakeNode<T>,
    ) -> (Subtree, Vec<u32>) {
        let leaf = |at, elements: &[u32]| (group.leaf_code)(at + first, elements.len() as u32);
        self.lay_out(&tree_of(boxes, group.leaf_size), make, &leaf)
    }
    fn lay_out(&mut self, tree: &Pairs, make: &impl MakeNode<T>, leaf: LeafCode) -> (Subtree, Vec<u32>) {
        let (nodes, child, order) = layout::nodes(tree, self.nodes.len(), make, leaf);
        match self.nodes.is_empty() {
            true => self.nodes = nodes,
            false => self.nodes.extend(nodes),
        }
        (Subtree { child, bounds: tree.root.bounds() }, order)
    }

    /// Joins the trees of all groups. Returns the nodes that this takes, whose numbers start at `first`, and the root's code; None without
    /// elements.
    pub fn join(&self, first: usize, make: &impl MakeNode<T>) -> (Vec<T>, Option<i32>) {
        let mut nodes = Vec::new();
        let roots: Vec<Subtree> = self
            .planted
            .iter()
            .filter_map(|p| match (p.ahead, p.tree?) {
                (None, tree) => Some(tree),
                (Some(ahead), tree) => {
                    nodes.push(make([ahead.bounds, tree.bounds], [ahead.child, tree.child]));
                    let bounds = union(&ahead.bounds, &tree.bounds);
                    Some(Subtree { child: (first + nodes.len() - 1) as i32, bounds })
                }
            })
            .collect();
        let boxes: Vec<Bounds> = roots.iter().map(|r| r.bounds).collect();
        if let [] | [_] = boxes.as_slice() {
            return (nodes, roots.first().map(|r| r.child));
        }
        let leaf = |_, elements: &[u32]| roots[elements[0] as usize].child;
        let (above, root, _) = layout::nodes(&tree_of(&boxes, 1), first + nodes.len(), make, &leaf);
        nodes.extend(above);
        (nodes, Some(root))
    }
}

// The elements with more than four times the usual surface, if there are at most as many as a leaf holds.
fn larger_ones(boxes: &[Bounds]) -> Vec<u32> {
    const MAX_LARGE: usize = 8;
    const FEWEST: usize = 32;
    if boxes.len() < FEWEST {
        return Vec::new();
    }
    let mut some: Vec<f32> = boxes.iter().step_by(boxes.len().div_ceil(1000)).map(half_area).collect();
    let middle = some.len() / 2;
    let usual = *some.select_nth_unstable_by(middle, f32::total_cmp).1;
    let is_large = |&i: &u32| half_area(&boxes[i as usize]) > 4.0 * usual;
    let large: Vec<u32> = (0..boxes.len() as u32).into_par_iter().filter(is_large).collect();
    if large.len() > MAX_LARGE { Vec::new() } else { large }
}

fn tree_of(boxes: &[Bounds], size: u32) -> Pairs {
    let leaves = Leaves { size, step: TRAVERSAL_COST };
    // A small tree is optimized thoroughly at no cost; a large one must not delay the frame.
    let built = match boxes.len() {
        0..=MANY => reinsertion::build(boxes, leaves),
        _ => {
            let mut built = ploc::build(boxes, leaves);
            reinsertion::improve_top(&mut built);
            built
        }
    };
    if layout::depth(&built) + ROOM_ABOVE <= MAX_DEPTH { built } else { balanced(boxes, size) }
}

// A tree of minimum depth, for inputs that make the other tree too deep: it splits at the median of the longest side.
fn balanced(boxes: &[Bounds], leaf: u32) -> Pairs {
    let mut indices: Vec<u32> = (0..boxes.len() as u32).collect();
    let mut pairs: Vec<[Cluster; 2]> = (1..boxes.len()).map(|_| Default::default()).collect();
    let root = halved(boxes, &mut indices, &mut pairs, 0, leaf);
    Pairs { root, pairs }
}

// The cluster of some boxes, whose pairs start with number `first`.
fn halved(boxes: &[Bounds], some: &mut [u32], pairs: &mut [[Cluster; 2]], first: usize, leaf: u32) -> Cluster {
    if let [one] = some {
        return Cluster::of(&boxes[*one as usize], *one);
    }
    let all = some.par_iter().with_min_len(4096).map(|&i| boxes[i as usize]);
    let [lower, upper] = all.reduce(|| boxes[some[0] as usize], |a, b| union(&a, &b));
    let axis = (0..3).max_by(|&a, &b| (upper[a] - lower[a]).total_cmp(&(upper[b] - lower[b]))).unwrap_or(0);
    let count = if some.len() <= leaf as usize { some.len() as u32 } else { 0 };
    let middle = some.len() / 2;
    some.select_nth_unstable_by(middle, |&a, &b| {
        let centre = |i: u32| boxes[i as usize][0][axis] + boxes[i as usize][1][axis];
        centre(a).total_cmp(&centre(b)).then(a.cmp(&b))
    });
    let (left, right) = some.split_at_mut(middle);
    let Some((own, rest)) = pairs.split_first_mut() else { return Cluster::default() };
    let (a, b) = rest.split_at_mut(middle - 1);
    *own = rayon::join(|| halved(boxes, left, a, first + 1, leaf), || halved(boxes, right, b, first + middle, leaf))
        .into();
    Cluster { lower, first: first as u32, upper, count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Default)]
    struct Node {
        bounds: [Bounds; 2],
        children: [i32; 2],
    }

    struct Tree {
        forest: Forest<Node>,
        root: Option<i32>,
    }

    fn build(groups: &[Group]) -> Tree {
        let (forest, root) = super::build(groups, &|bounds, children| Node { bounds, children });
        Tree { forest, root }
    }

    fn code(kind: i32) -> impl Fn(u32, u32) -> i32 + Sync {
        move |first, count| !((first as i32) << 5 | kind << 3 | (count as i32 - 1))
    }

    // Traverses the tree, tests that boxes contain those below, and counts how often a leaf names each element.
    fn named(tree: &Tree, kind: i32, count: usize) -> Vec<usize> {
        let mut times = vec![0; count];
        let mut stack: Vec<(i32, usize)> = tree.root.iter().map(|&r| (r, 0)).collect();
        while let Some((at, depth)) = stack.pop() {
            assert!(depth <= MAX_DEPTH);
            if at >= 0 {
                let node = &tree.forest.nodes[at as usize];
                for (child, bounds) in node.children.into_iter().zip(node.bounds) {
                    if let Some(below) = usize::try_from(child).ok().and_then(|child| tree.forest.nodes.get(child)) {
                        assert_eq!(bounds, union(&below.bounds[0], &below.bounds[1]));
                    }
                    stack.push((child, depth + 1));
                }
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
        assert_eq!(larger_ones(&all), [100, 485, 486, 487]);
        let tree = build(&[Group { leaf_code: Box::new(code(1)), bounds: &all, leaf_size: 2 }]);
        assert_eq!(named(&tree, 1, all.len()), vec![1; all.len()]);
        assert_eq!(
            (tree.forest.nodes[tree.root.unwrap() as usize].children[0], tree.forest.large),
            (code(1)(0, 4), vec![4])
        );
        let mut order = tree.forest.orders[0].clone();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..all.len() as u32));
        // Balls of one size have no such ones.
        assert!(larger_ones(&all[..100]).is_empty());
    }

    #[test]
    fn a_million_boxes_at_one_point_do_not_make_a_deep_tree() {
        let same: Vec<Bounds> = vec![[[0.0; 3], [1.0; 3]]; 100_000];
        let tree = build(&[Group { leaf_code: Box::new(code(1)), bounds: &same, leaf_size: 4 }]);
        assert_eq!(named(&tree, 1, same.len()), vec![1; same.len()]);
        // A row of boxes whose sizes grow without bound.
        let row: Vec<Bounds> = (0..200)
            .map(|i| [[libm::powf(1.5, i as f32), 0.0, 0.0], [libm::powf(1.5, (i + 1) as f32), 1.0, 1.0]])
            .collect();
        let tree = build(&[Group { leaf_code: Box::new(code(1)), bounds: &row, leaf_size: 1 }]);
        assert_eq!(named(&tree, 1, row.len()), vec![1; row.len()]);
        assert!(layout::depth(&balanced(&row, 1)) <= 9);
    }
}

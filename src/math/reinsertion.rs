//! A tree is improved: its subtrees are moved to where they fit better (obvhs).

use super::bounds::{Bounds, half_area};
use super::ploc::{self, Cluster, Leaves, Pairs};
use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::leaf_collapser::collapse;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Subtrees of a large tree that are moved. Most of what moving them saves, it saves near the root.
pub const MOVED: usize = 8192;

/// A tree of boxes, of which there is at least one. All its subtrees are moved, before and after leaves are made.
pub fn build(boxes: &[Bounds], leaves: Leaves) -> Pairs {
    let elements: Vec<Cluster> = boxes.iter().zip(0..).map(|(bounds, i)| Cluster::of(bounds, i)).collect();
    let built = ploc::build(boxes, ploc::ONE);
    let mut tree = to_bvh2(&built.root, &|number| built.pairs[number as usize], &elements);
    let mut optimizer = ReinsertionOptimizer::default();
    optimizer.run(&mut tree, 1.0, None);
    collapse(&mut tree, leaves.size, leaves.step);
    optimizer.run(&mut tree, 1.0, None);
    from_bvh2(&tree, boxes)
}

/// Improves a large tree near its root.
pub fn improve_top(tree: &mut Pairs) {
    let pairs = &mut tree.pairs;
    if let Some(top) = improved_top(&tree.root, &|number| pairs[number as usize]) {
        tree.root = top.root;
        top.numbers.iter().zip(top.pairs).for_each(|(&number, pair)| pairs[number as usize] = pair);
    }
}

/// Tells the pair of a number.
pub type PairOf<'a> = dyn Fn(u32) -> [Cluster; 2] + Sync + 'a;

/// The pairs near the root of a large tree that replace those of the same numbers, and the new root.
pub struct Top {
    pub root: Cluster,
    pub numbers: Vec<u32>,
    pub pairs: Vec<[Cluster; 2]>,
}

/// The improved top of a large tree, whose pairs `pair` tells by their numbers. It asks for those of [`MOVED`] - 1 clusters at most: the ones
/// with the largest boxes. None if there is nothing to improve.
pub fn improved_top(root: &Cluster, pair: &PairOf) -> Option<Top> {
    let (subtrees, numbers) = opened(root, pair, MOVED);
    if subtrees.len() < 3 {
        return None;
    }
    let mut top = to_bvh2(root, pair, &subtrees);
    ReinsertionOptimizer::default().run(&mut top, 1.0, None);
    let boxes: Vec<Bounds> = subtrees.iter().map(Cluster::bounds).collect();
    let top = from_bvh2(&top, &boxes);
    let placed = |c: &Cluster| match c.count {
        0 => Cluster { first: numbers[c.first as usize], ..*c },
        _ => subtrees[c.first as usize],
    };
    let pairs = top.pairs.iter().map(|pair| [placed(&pair[0]), placed(&pair[1])]).collect();
    Some(Top { root: placed(&top.root), pairs, numbers })
}

// The subtrees that are left when those with the largest boxes are opened, and the numbers of the pairs above them.
fn opened(root: &Cluster, pair: &PairOf, limit: usize) -> (Vec<Cluster>, Vec<u32>) {
    let size = |c: &Cluster| (if c.count > 0 { 0 } else { half_area(&c.bounds()).to_bits() }, c.first);
    let mut open: BinaryHeap<((u32, u32), usize)> = BinaryHeap::new();
    let (mut all, mut numbers) = (vec![*root], Vec::new());
    open.push((size(root), 0));
    while let Some(((_, first), at)) = open.pop() {
        if all[at].count > 0 || all.len() >= limit {
            break;
        }
        let [a, b] = pair(first);
        numbers.push(first);
        open.push((size(&a), at));
        open.push((size(&b), all.len()));
        all[at] = a;
        all.push(b);
    }
    (all, numbers)
}

// The part of a tree above `leaves`, of which each becomes an element.
fn to_bvh2(root: &Cluster, pair: &PairOf, leaves: &[Cluster]) -> Bvh2 {
    let numbers: HashMap<(u32, u32), u32> = leaves.iter().zip(0..).map(|(c, i)| ((c.first, c.count), i)).collect();
    let node = |c: &Cluster| {
        let bounds = Aabb::new(Vec3A::from_array(c.lower), Vec3A::from_array(c.upper));
        match numbers.get(&(c.first, c.count)) {
            Some(&number) => Bvh2Node::new(bounds, 1, number),
            None => Bvh2Node::new(bounds, 0, c.first),
        }
    };
    let mut nodes = vec![node(root)];
    let mut open: VecDeque<usize> = [0].into();
    while let Some(at) = open.pop_front() {
        if nodes[at].prim_count == 0 {
            let pair = pair(nodes[at].first_index);
            nodes[at].first_index = nodes.len() as u32;
            open.extend([nodes.len(), nodes.len() + 1]);
            nodes.extend(pair.iter().map(node));
        }
    }
    Bvh2 { nodes, primitive_indices: (0..leaves.len() as u32).collect(), ..Bvh2::default() }
}

fn from_bvh2(tree: &Bvh2, boxes: &[Bounds]) -> Pairs {
    let cluster = |node: &Bvh2Node, first| {
        let (lower, upper) = (node.aabb().min.to_array(), node.aabb().max.to_array());
        Cluster { lower, upper, first, count: node.prim_count }
    };
    let mut pairs: Vec<[Cluster; 2]> = Vec::with_capacity(boxes.len());
    let mut root = Cluster::default();
    // Nodes, and where their cluster is stored.
    let mut open: Vec<(u32, Option<(usize, usize)>)> = vec![(0, None)];
    while let Some((at, slot)) = open.pop() {
        let node = &tree.nodes[at as usize];
        let first = pairs.len() as u32;
        let moved = if node.prim_count > 0 {
            let from = node.first_index as usize;
            let elements = &tree.primitive_indices[from..from + node.prim_count as usize];
            let of = |i: u32| Cluster::of(&boxes[i as usize], i);
            // A leaf of several elements is a chain of pairs.
            elements.split_last().map_or_else(Cluster::default, |(&last, others)| {
                let mut moved = cluster(node, of(last).first);
                for (i, &other) in others.iter().rev().enumerate() {
                    let rest = if i == 0 { of(last) } else { Cluster { count: i as u32 + 1, ..moved } };
                    moved.first = pairs.len() as u32;
                    pairs.push([of(other), rest]);
                }
                moved
            })
        } else {
            pairs.push(Default::default());
            open.extend([0, 1].map(|i| (node.first_index + i as u32, Some((first as usize, i)))));
            cluster(node, first)
        };
        match slot {
            Some((pair, i)) => pairs[pair][i] = moved,
            None => root = moved,
        }
    }
    Pairs { root, pairs }
}

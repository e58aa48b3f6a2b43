//! Parallel locally-ordered clustering (Meister and Bittner 2018). Boxes are sorted along a Morton curve. In each pass, two boxes that
//! are each other's best partner within a window are merged.
//!
//! obvhs has the same algorithm. Where hardly any two boxes are each other's best partner, as in a row of equal distances or among
//! nested boxes, each of its passes merges one pair, and a row of 60,000 boxes takes 20 seconds. This version then merges neighbors.

use glam::DVec3;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::ploc::morton::morton_encode_u64_unorm;
use rayon::prelude::*;

// A pass that would merge fewer than one pair per this many nodes merges neighbors instead, which bounds the number of passes for
// all inputs. The passes of meshes and particles merge one node of three to six.
const NODES_A_PAIR: usize = 12;

/// A tree with one box per leaf. The first passes search the nearest neighbors along the curve for a partner; later passes search
/// this far in both directions.
pub fn build(boxes: &[Aabb], (passes, far): (usize, usize)) -> Bvh2 {
    let mut now: Vec<Bvh2Node> = curve(boxes).into_iter().map(|i| Bvh2Node::new(boxes[i as usize], 1, i)).collect();
    let mut nodes = vec![Bvh2Node::default(); (2 * now.len()).saturating_sub(1)];
    // Children stand behind their parents.
    let mut free = nodes.len();
    for pass in 0.. {
        if now.len() < 2 {
            break;
        }
        let partners = partners(&now, if pass < passes { 1 } else { far });
        let mut next = Vec::with_capacity(now.len());
        for (i, (&node, &partner)) in now.iter().zip(&partners).enumerate() {
            if partners.get(partner) != Some(&i) {
                next.push(node);
            } else if partner < i {
                free -= 2;
                (nodes[free], nodes[free + 1]) = (node, now[partner]);
                next.push(Bvh2Node::new(node.aabb().union(now[partner].aabb()), 0, free as u32));
            }
        }
        now = next;
    }
    if let ([root], [first, ..]) = (now.as_slice(), nodes.as_mut_slice()) {
        *first = *root;
    }
    Bvh2 { nodes, primitive_indices: (0..boxes.len() as u32).collect(), ..Bvh2::default() }
}

// The numbers of the boxes, sorted by their centers along a Morton curve.
fn curve(boxes: &[Aabb]) -> Vec<u32> {
    let around = boxes.iter().fold(Aabb::empty(), |a, b| a.union(b));
    let size = around.diagonal().as_dvec3().max(DVec3::splat(f64::MIN_POSITIVE));
    let place = |(b, i): (&Aabb, u32)| {
        let centre = (b.center().as_dvec3() - around.min.as_dvec3()) / size;
        (morton_encode_u64_unorm(centre), i)
    };
    let mut codes: Vec<(u64, u32)> = boxes.iter().zip(0..).map(place).collect();
    codes.par_sort_unstable();
    codes.into_iter().map(|(_, i)| i).collect()
}

// The partner with whom each node shares the smallest box. With an odd count the last node may have none.
fn partners(nodes: &[Bvh2Node], window: usize) -> Vec<usize> {
    let best = |i: usize| {
        let cost = |&j: &usize| nodes[i].aabb().union(nodes[j].aabb()).half_area();
        let others = (i.saturating_sub(window)..nodes.len().min(i + window + 1)).filter(|&j| j != i);
        // Ties go to the last one.
        others.map(|j| (cost(&j), j)).reduce(|a, b| if b.0 <= a.0 { b } else { a }).map_or(i, |(_, j)| j)
    };
    let found: Vec<usize> = (0..nodes.len()).into_par_iter().with_min_len(1024).map(best).collect();
    let pairs = found.iter().enumerate().filter(|&(i, &partner)| partner < i && found[partner] == i).count();
    if pairs * NODES_A_PAIR < nodes.len() { (0..nodes.len()).map(|i| i ^ 1).collect() } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3A;

    fn ball(centre: [f32; 3], radius: f32) -> Aabb {
        let centre = Vec3A::from_array(centre);
        Aabb::new(centre - radius, centre + radius)
    }

    // Checks the tree: each box is in one leaf, and each parent contains its children.
    fn depth(boxes: &[Aabb]) -> usize {
        let tree = build(boxes, (2, 14));
        let (mut deepest, mut times, mut stack) = (0, vec![0; boxes.len()], vec![(0, 1)]);
        while let Some((at, level)) = stack.pop() {
            deepest = deepest.max(level);
            let node: &Bvh2Node = &tree.nodes[at];
            if node.is_leaf() {
                let i = node.first_index as usize;
                times[i] += 1;
                assert_eq!(node.aabb(), &boxes[i]);
                continue;
            }
            let children = [node.first_index as usize, node.first_index as usize + 1];
            let around = tree.nodes[children[0]].aabb().union(tree.nodes[children[1]].aabb());
            assert_eq!(node.aabb(), &around);
            stack.extend(children.map(|c| (c, level + 1)));
        }
        assert!(times.iter().all(|&t| t == 1));
        deepest
    }

    // As many passes as levels; obvhs needed one pass per box for the first three inputs.
    #[test]
    fn passes_are_few_whatever_the_boxes() {
        let n = 50_000;
        let of = |ball: fn(f32) -> Aabb| (0..n).map(|i| ball(i as f32)).collect::<Vec<_>>();
        let worlds = [
            of(|i| ball([3.0 * i, 0.0, 0.0], 1.0)),
            of(|i| ball([i, i, i], 0.4)),
            of(|i| ball([-i, 0.0, 0.0], i + 1.0)),
            of(|i| ball([0.0; 3], 0.1 + i)),
            of(|_| ball([1.0, 2.0, 3.0], 0.5)),
            of(|_| ball([0.0; 3], 0.0)),
        ];
        for (k, boxes) in worlds.iter().enumerate() {
            let depth = depth(boxes);
            assert!((16..=100).contains(&depth), "{k}: {depth}");
        }
    }

    #[test]
    fn few_boxes_make_a_tree_too() {
        assert!(build(&[], (1, 14)).nodes.is_empty());
        for n in 1..20_usize {
            let boxes: Vec<Aabb> = (0..n).map(|i| ball([(i * i % 7) as f32, 0.0, i as f32], 0.5)).collect();
            assert!((n.ilog2() as usize..=n).contains(&(depth(&boxes) - 1)) || n == 1, "{n}");
        }
    }
}

//! A tree by parallel locally-ordered clustering in a hierarchy (Meister and Bittner 2018; Benthin et al., "H-PLOC", 2024). Boxes are
//! sorted along a Morton curve, whose codes make a radix tree. Each of its subtrees hands at most [`KEPT`] clusters to its parent;
//! where two children hand on more, clusters that are each other's best partner are merged.
//!
//! Subtrees know nothing of each other, so all cores work on their own until the last few merges, each in its own cache. Ties are
//! settled by position, so the tree depends on the boxes alone. A GPU makes the same tree (kernels/shapes/tree.cuh).

use super::bounds::{Bounds, around, half_area, union};
use rayon::prelude::*;

// Clusters that a subtree hands on, and the most that are compared with each other.
const KEPT: usize = 4;
const COMPARED: usize = 2 * KEPT;
// Where few clusters are each other's best partner, as among nested boxes, neighbors are merged after so many passes. This bounds the
// depth of the tree.
const PASSES: usize = 4;
// Subtrees of fewer boxes are clustered by one thread.
const SERIAL: usize = 2048;

/// A box, and what is in it: one element, a few elements that share a leaf, or a pair of clusters. Kernels have the same struct.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Cluster {
    pub lower: [f32; 3],
    /// The number of the only element; with other counts that of a pair.
    pub first: u32,
    pub upper: [f32; 3],
    /// The number of elements if they are a leaf, else 0.
    pub count: u32,
}

impl Cluster {
    pub fn of(&[lower, upper]: &Bounds, element: u32) -> Cluster {
        Cluster { lower, first: element, upper, count: 1 }
    }
    pub fn bounds(&self) -> Bounds {
        [self.lower, self.upper]
    }
}

/// Pairs of clusters, one fewer than elements, and the cluster of all elements.
pub struct Pairs {
    pub root: Cluster,
    pub pairs: Vec<[Cluster; 2]>,
}

/// What a leaf may be: its number of elements, and the cost of a step of traversal, in tests of elements.
#[derive(Clone, Copy)]
pub struct Leaves {
    pub size: u32,
    pub step: f32,
}

/// One element per leaf.
pub const ONE: Leaves = Leaves { size: 1, step: 1.0 };

/// Makes a tree of boxes, of which there is at least one.
pub fn build(boxes: &[Bounds], leaves: Leaves) -> Pairs {
    let keys = sorted(keys(boxes));
    let mut pairs: Vec<[Cluster; 2]> = (1..boxes.len()).into_par_iter().map(|_| Default::default()).collect();
    let (mut stack, builder) = (Stack::default(), Builder { boxes, keys: &keys, leaves });
    builder.cluster(0, boxes.len(), &mut pairs, 0, &mut stack);
    builder.merge(&mut stack, 0, 1, &mut pairs, 0);
    Pairs { root: stack.clusters.pop().unwrap_or_default(), pairs }
}

// A position on the curve, and the index of the box.
type Key = (u64, u32);

/// The cube that a Morton curve runs through: its lower corner and its side.
pub fn cube(bounds: &Bounds) -> ([f64; 3], f64) {
    let [lower, upper] = bounds.map(|corner| corner.map(f64::from));
    (lower, [0, 1, 2].map(|i| upper[i] - lower[i]).into_iter().fold(f64::MIN_POSITIVE, f64::max))
}

// The positions of the boxes' centers on the curve.
fn keys(boxes: &[Bounds]) -> Vec<Key> {
    const CELLS: f64 = (1u64 << 21) as f64;
    let (lower, size) = cube(&around(boxes));
    let key = |(i, b): (usize, &Bounds)| {
        let bits = |axis: usize| {
            let centre = 0.5 * (f64::from(b[0][axis]) + f64::from(b[1][axis]));
            spread((((centre - lower[axis]) / size) * CELLS).min(CELLS - 1.0) as u64)
        };
        (bits(0) | bits(1) << 1 | bits(2) << 2, i as u32)
    };
    boxes.par_iter().enumerate().with_min_len(SERIAL).map(key).collect()
}

// Puts two zeros between 21 bits.
fn spread(x: u64) -> u64 {
    let x = (x | x << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

// Sorts by one pass into buckets of the first bits, in parallel, and then each bucket.
fn sorted(mut keys: Vec<Key>) -> Vec<Key> {
    const BITS: u32 = 10;
    if keys.len() < 8 * SERIAL {
        keys.sort_unstable();
        return keys;
    }
    let bucket = |key: &Key| (key.0 >> (63 - BITS)) as usize;
    let part = keys.len().div_ceil(4 * rayon::current_num_threads()).max(SERIAL);
    let counts: Vec<Vec<u32>> = keys
        .par_chunks(part)
        .map(|part| {
            let mut counts = vec![0; 1 << BITS];
            part.iter().for_each(|key| counts[bucket(key)] += 1);
            counts
        })
        .collect();
    // For each part, the slots of its keys in each bucket.
    let mut sorted = vec![(0, 0); keys.len()];
    let mut rest = sorted.as_mut_slice();
    let mut slots: Vec<Vec<&mut [Key]>> = counts.iter().map(|_| Vec::with_capacity(1 << BITS)).collect();
    for bucket in 0..1 << BITS {
        for (counts, slots) in counts.iter().zip(&mut slots) {
            slots.push(rest.split_off_mut(..counts[bucket] as usize).unwrap_or_default());
        }
    }
    keys.par_chunks(part).zip(slots).for_each(|(part, mut slots)| {
        for key in part {
            if let Some(slot) = slots[bucket(key)].split_off_first_mut() {
                *slot = *key;
            }
        }
    });
    drop(keys);
    let mut buckets = Vec::with_capacity(1 << BITS);
    let mut rest = sorted.as_mut_slice();
    for bucket in 0..1 << BITS {
        let count: u32 = counts.iter().map(|counts| counts[bucket]).sum();
        buckets.extend(rest.split_off_mut(..count as usize));
    }
    buckets.into_par_iter().for_each(|bucket| match bucket.len() < 64 * SERIAL {
        true => bucket.sort_unstable(),
        false => bucket.par_sort_unstable(),
    });
    sorted
}

// Clusters that are not merged yet, and the numbers of pairs that are not used yet. A pair has the number of a gap between two keys.
#[derive(Default)]
struct Stack {
    clusters: Vec<Cluster>,
    free: Vec<u32>,
}

struct Builder<'a> {
    boxes: &'a [Bounds],
    keys: &'a [Key],
    leaves: Leaves,
}

impl Builder<'_> {
    // Clusters the keys of a range, and appends what is left. Merging all of them takes as many pairs as `pairs` has, whose first number is
    // `base`; the numbers of those that are not used are appended too.
    fn cluster(&self, from: usize, to: usize, pairs: &mut [[Cluster; 2]], base: u32, stack: &mut Stack) {
        let count = to - from;
        if count <= KEPT {
            let keys = &self.keys[from..to];
            stack.clusters.extend(keys.iter().map(|&(_, i)| Cluster::of(&self.boxes[i as usize], i)));
            stack.free.extend(base..base + pairs.len() as u32);
            return;
        }
        let start = stack.clusters.len();
        let middle = self.split(from, to);
        let on_left = middle - from - 1;
        let (left, rest) = pairs.split_at_mut(on_left);
        let right = &mut rest[1..];
        if count > SERIAL {
            let mut other = Stack::default();
            rayon::join(
                || self.cluster(from, middle, left, base, stack),
                || self.cluster(middle, to, right, base + on_left as u32 + 1, &mut other),
            );
            stack.clusters.append(&mut other.clusters);
            stack.free.append(&mut other.free);
        } else {
            self.cluster(from, middle, left, base, stack);
            self.cluster(middle, to, right, base + on_left as u32 + 1, stack);
        }
        stack.free.push(base + on_left as u32);
        self.merge(stack, start, KEPT, pairs, base);
    }

    // Where the highest bit changes in which the keys of a range differ, or the positions of equal keys.
    fn split(&self, from: usize, to: usize) -> usize {
        let keys = &self.keys[from..to];
        let (first, last) = (keys[0].0, keys[keys.len() - 1].0);
        if first == last {
            let bit = (from ^ (to - 1)).ilog2();
            return (to - 1) >> bit << bit;
        }
        let bit = 1u64 << (first ^ last).ilog2();
        from + keys.partition_point(|key| key.0 & bit == 0)
    }

    // Merges the clusters from number `start` on, until at most `wanted` are left.
    fn merge(&self, stack: &mut Stack, start: usize, wanted: usize, pairs: &mut [[Cluster; 2]], base: u32) {
        for pass in 0.. {
            let now = &mut stack.clusters[start..];
            if now.len() <= wanted {
                return;
            }
            let partner = if pass < PASSES { partners(now) } else { std::array::from_fn(|i| i ^ 1) };
            let mut left = 0;
            for i in 0..now.len() {
                let (j, cluster) = (partner[i], now[i]);
                if j >= now.len() || partner[j] != i {
                    now[left] = cluster;
                    left += 1;
                } else if i < j {
                    let pair = [cluster, now[j]];
                    let free = stack.free.pop().unwrap_or_default();
                    now[left] = self.merged(&pair, free);
                    pairs[(free - base) as usize] = pair;
                    left += 1;
                }
            }
            stack.clusters.truncate(start + left);
        }
    }

    // The cluster of a pair. It is a leaf if it has few elements, and testing all of them is cheaper than testing the pair's boxes.
    fn merged(&self, pair: &[Cluster; 2], first: u32) -> Cluster {
        let [lower, upper] = union(&pair[0].bounds(), &pair[1].bounds());
        let mut all = Cluster { lower, first, upper, count: 0 };
        let count = pair[0].count + pair[1].count;
        if pair.iter().all(|c| c.count > 0) && count <= self.leaves.size {
            let apart: f32 = pair.iter().map(|c| half_area(&c.bounds()) * c.count as f32).sum();
            let together = half_area(&[lower, upper]);
            all.count = if together * count as f32 <= self.leaves.step * together + apart { count } else { 0 };
        }
        all
    }
}

// The partner with whom each cluster shares the smallest box. Areas are compared by all but their last bits; among equal ones, those
// are partners whose numbers differ in one bit.
fn partners(clusters: &[Cluster]) -> [usize; COMPARED] {
    const PLACE: u32 = COMPARED as u32 - 1;
    let n = clusters.len();
    let (mut lower, mut upper) = ([[0.0; COMPARED]; 3], [[0.0; COMPARED]; 3]);
    for (i, cluster) in clusters.iter().enumerate() {
        for axis in 0..3 {
            (lower[axis][i], upper[axis][i]) = (cluster.lower[axis], cluster.upper[axis]);
        }
    }
    let mut best = [u32::MAX; COMPARED];
    for apart in 1..n {
        let side = |axis: usize, i: usize| {
            let (low, high) = (&lower[axis], &upper[axis]);
            high[i].max(high[i + apart]) - low[i].min(low[i + apart])
        };
        for i in 0..n - apart {
            let (x, y, z) = (side(0, i), side(1, i), side(2, i));
            // Without a sign: the side of a flat box may be minus zero.
            let area: f32 = ((x + y) * z + x * y).abs();
            let key = area.to_bits() & !PLACE | (i ^ (i + apart)) as u32;
            best[i] = best[i].min(key);
            best[i + apart] = best[i + apart].min(key);
        }
    }
    std::array::from_fn(|i| i ^ (best[i] & PLACE) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(centre: [f32; 3], radius: f32) -> Bounds {
        [centre.map(|x| x - radius), centre.map(|x| x + radius)]
    }

    // Checks a tree: each box is in one leaf, and each cluster's box is that of its pair. Returns the number of levels.
    fn checked(boxes: &[Bounds], leaves: Leaves) -> usize {
        let tree = build(boxes, leaves);
        let (mut deepest, mut times, mut stack) = (0, vec![0; boxes.len()], vec![(tree.root, 1, 0)]);
        while let Some((at, level, count)) = stack.pop() {
            deepest = deepest.max(level);
            assert!(at.count <= leaves.size && (count == 0 || (1..count).contains(&at.count)));
            if at.count == 1 {
                let i = at.first as usize;
                times[i] += 1;
                assert_eq!(at.bounds(), boxes[i]);
                continue;
            }
            let pair = tree.pairs[at.first as usize];
            assert_eq!(at.bounds(), union(&pair[0].bounds(), &pair[1].bounds()));
            assert!(at.count == 0 || at.count == pair[0].count + pair[1].count);
            stack.extend(pair.map(|child| (child, level + 1, at.count)));
        }
        assert!(times.iter().all(|&t| t == 1));
        deepest
    }

    #[test]
    fn trees_have_few_levels_whatever_the_boxes() {
        let n = 50_000;
        let of = |ball: fn(f32) -> Bounds| (0..n).map(|i| ball(i as f32)).collect::<Vec<_>>();
        let worlds = [
            of(|i| ball([3.0 * i, 0.0, 0.0], 1.0)),
            of(|i| ball([i, i, i], 0.4)),
            of(|i| ball([-i, 0.0, 0.0], i + 1.0)),
            of(|i| ball([0.0; 3], 0.1 + i)),
            of(|_| ball([1.0, 2.0, 3.0], 0.5)),
            of(|_| ball([0.0; 3], 0.0)),
            of(|i| ball([libm::powf(2.0, i % 120.0), i, 0.0], 0.5)),
            of(|i| ball([3e38, i, -3e38], 1.0)),
        ];
        for (k, boxes) in worlds.iter().enumerate() {
            for size in [1, 4] {
                let depth = checked(boxes, Leaves { size, step: 3.0 });
                assert!((16..=100).contains(&depth), "{k}: {depth}");
            }
        }
    }

    #[test]
    fn few_boxes_make_a_tree_too() {
        for n in 1..40_usize {
            let boxes: Vec<Bounds> = (0..n).map(|i| ball([(i * i % 7) as f32, 0.0, i as f32], 0.5)).collect();
            let depth = checked(&boxes, ONE);
            assert!((n.ilog2() as usize..=n).contains(&(depth - 1)) || n == 1, "{n}");
        }
    }

    // A scatter of boxes, most of them in one bucket of the sort.
    fn scatter(n: usize) -> Vec<Bounds> {
        let turn = |i: usize, k: usize| ((i * (7919 + 104 * k)) % 10_007) as f32;
        let far = |i: usize| if i.is_multiple_of(1000) { 1e6 } else { 1.0 };
        (0..n).map(|i| ball([0, 1, 2].map(|k| far(i) * turn(i, k)), 1.0 + turn(i, 3) / 1e4)).collect()
    }

    #[test]
    fn the_tree_does_not_depend_on_the_number_of_threads() {
        let boxes = scatter(40_000);
        let keys = keys(&boxes);
        let mut expected = keys.clone();
        expected.sort_unstable();
        let trees = [1, 3, 8].map(|threads| {
            let pool = crate::threads::pool(threads).unwrap();
            assert!(pool.install(|| sorted(keys.clone())) == expected);
            pool.install(|| build(&boxes, Leaves { size: 2, step: 3.0 }))
        });
        for tree in &trees[1..] {
            assert!(tree.root == trees[0].root && tree.pairs == trees[0].pairs);
        }
        checked(&boxes, ONE);
    }
}

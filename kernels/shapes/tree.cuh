// Makes the tree over many spheres or triangles: the one of src/math/ploc.rs and layout.rs, by the same operations, so that
// it is the same on all devices. Each step is a kernel with a thread for each element, pair of clusters or run of them.
//
// The order of the steps is that below. Keys are sorted by merging runs (Green, McColl and Bader, "GPU merge path", 2012).
// Clusters are joined from the leaves of the radix tree up: of two children the thread that comes second does the parent
// (Apetrei, "Fast and simple agglomerative LBVH construction", 2014).
#pragma once
#include "../types.cuh"
#include "shared.cuh"

// As in src/math/ploc.rs.
constexpr int KEPT = 4, COMPARED = 2 * KEPT, PASSES = 4;
// What is not there: a number of a pair, or one that a thread has left.
constexpr u32 NOTHING = 0xffffffffu;

POLYFLY_FN float smaller(float a, float b) { return a < b ? a : b; }
POLYFLY_FN float larger(float a, float b) { return a > b ? a : b; }
POLYFLY_FN float half_area(const float* lower, const float* upper) {
  const float x = upper[0] - lower[0], y = upper[1] - lower[1], z = upper[2] - lower[2];
  return float_from_bits(float_bits((x + y) * z + x * y) & 0x7fffffffu);
}

// The cluster of element i.
POLYFLY_FN Cluster cluster_of(const TreeWork& work, u32 i) {
  Cluster one;
  one.first = i;
  one.count = 1;
  if (work.kind == SHAPE_SPHERE) {
    const Sphere ball = ((const Sphere*)work.shapes)[i];
    for (int axis = 0; axis < 3; ++axis) {
      one.lower[axis] = ball.centre[axis] - ball.radius;
      one.upper[axis] = ball.centre[axis] + ball.radius;
    }
  } else {
    const Triangle tri = ((const Triangle*)work.shapes)[i];
    for (int axis = 0; axis < 3; ++axis) {
      const float a = tri.a[axis], b = a + tri.ab[axis], c = a + tri.ac[axis];
      one.lower[axis] = smaller(smaller(a, b), c);
      one.upper[axis] = larger(larger(a, b), c);
    }
  }
  return one;
}

// Puts two zeros between 21 bits.
POLYFLY_FN u64 spread(u64 x) {
  x = (x | x << 32) & 0x001f00000000ffffull;
  x = (x | x << 16) & 0x001f0000ff0000ffull;
  x = (x | x << 8) & 0x100f00f00f00f00full;
  x = (x | x << 4) & 0x10c30c30c30c30c3ull;
  return (x | x << 2) & 0x1249249249249249ull;
}
// The position of a cluster's center on a Morton curve through the cube.
POLYFLY_FN u64 key_of(const TreeWork& work, const Cluster& one) {
  const double cells = 2097152.0;
  u64 key = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double centre = 0.5 * ((double)one.lower[axis] + (double)one.upper[axis]);
    const double at = (centre - work.lower[axis]) / work.size * cells;
    key |= spread((u64)(at < cells - 1.0 ? at : cells - 1.0)) << axis;
  }
  return key;
}

// Step 1: the keys of a run of elements, sorted.
POLYFLY_FN void begin_runs(const TreeWork& work, int run) {
  const int first = run * KEYS_A_RUN, end = first + KEYS_A_RUN < work.count ? first + KEYS_A_RUN : work.count;
  for (int i = first; i < end; ++i) {
    const u64 key = key_of(work, cluster_of(work, (u32)i));
    int at = i;
    for (; at > first && work.keys[at - 1] > key; --at) {
      work.keys[at] = work.keys[at - 1];
      work.numbers[at] = work.numbers[at - 1];
    }
    work.keys[at] = key;
    work.numbers[at] = (u32)i;
  }
}

// Step 2, again and again: merges each two sorted runs of `run` keys. A thread makes KEYS_A_RUN keys of the result.
POLYFLY_FN void merge_runs(const TreeWork& work, int piece) {
  const int to = piece * KEYS_A_RUN, start = to / (2 * work.run) * (2 * work.run);
  const int middle = start + work.run < work.count ? start + work.run : work.count;
  const int end = middle + work.run < work.count ? middle + work.run : work.count;
  const u64 *a = work.keys + start, *b = work.keys + middle;
  const int in_a = middle - start, in_b = end - middle, before = to - start;
  // How many keys of the first run come before.
  int least = before > in_b ? before - in_b : 0, most = before < in_a ? before : in_a;
  while (least < most) {
    const int i = (least + most) / 2;
    if (a[i] <= b[before - 1 - i])
      least = i + 1;
    else
      most = i;
  }
  int i = least, j = before - least;
  for (int at = to; at < to + KEYS_A_RUN && at < end; ++at) {
    const bool is_first = i < in_a && (j >= in_b || a[i] <= b[j]);
    const int from = is_first ? start + i++ : middle + j++;
    work.other_keys[at] = work.keys[from];
    work.other_numbers[at] = work.numbers[from];
  }
}

// Step 3, for position i on the curve.
POLYFLY_FN void begin_clusters(const TreeWork& work, int i) {
  work.clusters[i] = cluster_of(work, work.numbers[i]);
  work.unused[i] = (u32)i;
}

// The pairs of clusters with the smallest boxes, as in src/math/ploc.rs.
POLYFLY_FN void find_partners(const Cluster* now, int count, int* partner) {
  u32 best[COMPARED];
  for (int i = 0; i < COMPARED; ++i) best[i] = NOTHING;
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j) {
      float lower[3], upper[3];
      for (int axis = 0; axis < 3; ++axis) {
        lower[axis] = smaller(now[i].lower[axis], now[j].lower[axis]);
        upper[axis] = larger(now[i].upper[axis], now[j].upper[axis]);
      }
      const u32 key = (float_bits(half_area(lower, upper)) & ~(u32)(COMPARED - 1)) | (u32)(i ^ j);
      best[i] = best[i] < key ? best[i] : key;
      best[j] = best[j] < key ? best[j] : key;
    }
  for (int i = 0; i < COMPARED; ++i) partner[i] = i ^ (int)(best[i] & (COMPARED - 1));
}
// The cluster of a pair: a leaf if that is cheaper.
POLYFLY_FN Cluster united(const TreeWork& work, const Cluster& a, const Cluster& b, u32 number) {
  Cluster all;
  for (int axis = 0; axis < 3; ++axis) {
    all.lower[axis] = smaller(a.lower[axis], b.lower[axis]);
    all.upper[axis] = larger(a.upper[axis], b.upper[axis]);
  }
  all.first = number;
  all.count = 0;
  const u32 count = a.count + b.count;
  if (a.count > 0 && b.count > 0 && count <= (u32)work.leaf_size) {
    const float apart = half_area(a.lower, a.upper) * (float)a.count + half_area(b.lower, b.upper) * (float)b.count;
    const float together = half_area(all.lower, all.upper);
    if (together * (float)count <= work.step * together + apart) all.count = count;
  }
  return all;
}
// Merges clusters until at most `wanted` are left, whose number it returns. Pairs get the numbers on top of a stack.
POLYFLY_FN int merge_clusters(const TreeWork& work, Cluster* now, int count, int wanted, const u32* unused, int& left_unused) {
  for (int pass = 0; count > wanted; ++pass) {
    int partner[COMPARED];
    if (pass < PASSES)
      find_partners(now, count, partner);
    else
      for (int i = 0; i < COMPARED; ++i) partner[i] = i ^ 1;
    int left = 0;
    for (int i = 0; i < count; ++i) {
      const int j = partner[i];
      const Cluster one = now[i];
      if (j >= count || partner[j] != i) {
        now[left++] = one;
      } else if (i < j) {
        const Cluster other = now[j];
        const u32 number = unused[--left_unused];
        work.pairs[2 * number] = one;
        work.pairs[2 * number + 1] = other;
        now[left++] = united(work, one, other, number);
      }
    }
    count = left;
  }
  return count;
}

// The highest bit in which keys i and i + 1 differ, or the places of equal keys.
POLYFLY_FN int difference(const TreeWork& work, int i) {
  const u64 keys = work.keys[i] ^ work.keys[i + 1];
  return keys != 0 ? 32 + highest_bit(keys) : highest_bit((u64)(i ^ (i + 1)));
}
// The number of clusters that the subtree of places from .. last hands on. They, and the numbers that are not used, begin
// at its first place.
POLYFLY_FN int kept_of(const TreeWork& work, int from, int last) {
  return last - from < KEPT ? last - from + 1 : (int)work.kept[from];
}
// Joins two neighboring subtrees. A pair has the number of a gap between two places; `gap` is that between the subtrees.
POLYFLY_FN void join_subtrees(const TreeWork& work, int from, int gap, int last) {
  if (last - from < KEPT) return;
  Cluster now[COMPARED];
  u32 unused[COMPARED];
  const int on_left = kept_of(work, from, gap), on_right = kept_of(work, gap + 1, last);
  int count = 0, left_unused = 0;
  for (int i = 0; i < on_left; ++i) now[count++] = work.clusters[from + i];
  for (int i = 0; i < on_right; ++i) now[count++] = work.clusters[gap + 1 + i];
  for (int i = 0; i < on_left - 1; ++i) unused[left_unused++] = work.unused[from + i];
  for (int i = 0; i < on_right - 1; ++i) unused[left_unused++] = work.unused[gap + 1 + i];
  unused[left_unused++] = (u32)gap;
  count = merge_clusters(work, now, count, KEPT, unused, left_unused);
  if (last - from + 1 == work.count) {
    merge_clusters(work, now, count, 1, unused, left_unused);
    work.totals->root = now[0];
    return;
  }
  for (int i = 0; i < count; ++i) work.clusters[from + i] = now[i];
  for (int i = 0; i < left_unused; ++i) work.unused[from + i] = unused[i];
  work.kept[from] = (u32)count;
}
// Step 4, for position i: up the radix tree, as long as the other children are there.
POLYFLY_FN void join_clusters(const TreeWork& work, int i) {
  int from = i, last = i;
  const int end = work.count - 1;
  while (from > 0 || last < end) {
    const bool is_left = from == 0 || (last < end && difference(work, last) < difference(work, from - 1));
    const int gap = is_left ? last : from - 1;
    const u32 other = exchange(work.arrived + gap, (u32)(is_left ? from : last));
    if (other == NOTHING) return;
    if (is_left)
      last = (int)other;
    else
      from = (int)other;
    join_subtrees(work, from, gap, last);
  }
}

// Step 5, for a run of pairs: how many clusters of two have boxes of each size. The host chooses the limit for the next step.
POLYFLY_FN int area_of(const Cluster& one) {
  return one.count > 0 ? -1 : (int)(float_bits(half_area(one.lower, one.upper)) >> AREA_SHIFT);
}
POLYFLY_FN void count_areas(const TreeWork& work, int run) {
  const int first = 2 * run * PAIRS_A_RUN, all = 2 * (work.count - 1);
  const int end = first + 2 * PAIRS_A_RUN < all ? first + 2 * PAIRS_A_RUN : all;
  int area = -1;
  u32 times = 0;
  for (int i = first; i < end; ++i) {
    const int now = area_of(work.pairs[i]);
    if (now != area && times > 0) {
      fetch_add(work.areas + area, times);
      times = 0;
    }
    area = now;
    times += now >= 0 ? 1u : 0u;
  }
  if (times > 0) fetch_add(work.areas + area, times);
}
// Step 6, for a pair: lists the pairs of its clusters with large boxes; with the first one, the root's.
POLYFLY_FN void list_pair(const TreeWork& work, u32 number) {
  const u32 at = fetch_add(&work.totals->top, 1u);
  work.top_numbers[at] = number;
  work.top_pairs[2 * at] = work.pairs[2 * number];
  work.top_pairs[2 * at + 1] = work.pairs[2 * number + 1];
}
POLYFLY_FN void list_top(const TreeWork& work, int pair) {
  if (pair == 0) list_pair(work, work.totals->root.first);
  for (int side = 0; side < 2; ++side) {
    const Cluster one = work.pairs[2 * pair + side];
    if (area_of(one) >= work.least_area) list_pair(work, one.first);
  }
}
// Step 7, for pair i near the root: the host has improved it.
POLYFLY_FN void replace_top(const TreeWork& work, int i) {
  const u32 number = work.top_numbers[i];
  work.pairs[2 * number] = work.top_pairs[2 * i];
  work.pairs[2 * number + 1] = work.top_pairs[2 * i + 1];
}

// Step 8, for a pair: the places of its clusters, which are those in the array of pairs.
POLYFLY_FN void link_pairs(const TreeWork& work, int pair) {
  for (int side = 0; side < 2; ++side) {
    const u32 place = 2 * (u32)pair + (u32)side;
    const Cluster one = work.pairs[place];
    (one.count == 1 ? work.element_places : work.pair_places)[one.first] = place;
  }
  if (pair == 0) work.pair_places[work.totals->root.first] = NOTHING;
}
// Step 9, for an element: up the tree, as long as the other children are there, the sizes of subtrees.
POLYFLY_FN void measure_pairs(const TreeWork& work, int i) {
  TreeSize size = {1, 0, 1};
  u32 place = work.element_places[i];
  for (;;) {
    work.sizes[place] = size;
    const u32 pair = place >> 1;
    if (exchange(work.arrived + pair, 0) == NOTHING) return;
    const TreeSize a = work.sizes[2 * pair], b = work.sizes[2 * pair + 1];
    place = work.pair_places[pair];
    const bool is_leaf = (place == NOTHING ? work.totals->root : work.pairs[place]).count > 0;
    size.elements = a.elements + b.elements;
    size.nodes = is_leaf ? 0 : 1 + a.nodes + b.nodes;
    size.depth = is_leaf ? 1 : 1 + (a.depth > b.depth ? a.depth : b.depth);
    if (place == NOTHING) break;
  }
  work.totals->size = size;
}

// How many nodes and elements come before the cluster at a place: those above it, and the first children beside it.
struct Before {
  u32 nodes, elements;
};
POLYFLY_FN Before before(const TreeWork& work, u32 place) {
  Before sum = {0, 0};
  for (; place != NOTHING; place = work.pair_places[place >> 1]) {
    ++sum.nodes;
    if ((place & 1) == 0) continue;
    const TreeSize other = work.sizes[place - 1];
    sum.nodes += other.nodes;
    sum.elements += other.elements;
  }
  return sum;
}
POLYFLY_FN int code_of(const TreeWork& work, const Cluster& one, u32 nodes, u32 elements) {
  if (one.count == 0) return work.first_node + (int)nodes;
  return ~((work.first + (int)elements) << 5 | work.kind << 3 | ((int)one.count - 1));
}
POLYFLY_FN void set_box(const TreeWork& work, const Cluster& one, float* centre, float* half) {
  for (int axis = 0; axis < 3; ++axis) {
    const float lower = one.lower[axis], upper = one.upper[axis];
    centre[axis] = (float)(((double)lower + (double)upper) / 2.0);
    half[axis] = larger(upper - centre[axis], centre[axis] - lower) + work.margin;
  }
}
// Step 10, for a pair: its node, unless it is in a leaf.
POLYFLY_FN void place_nodes(const TreeWork& work, int pair) {
  const u32 place = work.pair_places[pair];
  if (place != NOTHING && work.pairs[place].count > 0) return;
  const Cluster a = work.pairs[2 * pair], b = work.pairs[2 * pair + 1];
  const TreeSize size = work.sizes[2 * pair];
  const Before at = before(work, place);
  Node node;
  set_box(work, a, node.centre0, node.half0);
  set_box(work, b, node.centre1, node.half1);
  node.child0 = code_of(work, a, at.nodes + 1, at.elements);
  node.child1 = code_of(work, b, at.nodes + 1 + size.nodes, at.elements + size.elements);
  node.unused0 = node.unused1 = 0;
  work.nodes[work.first_node + (int)at.nodes] = node;
}

// Step 11, for an element: saves it, since another one takes its place.
POLYFLY_FN void save_elements(const TreeWork& work, int i) {
  if (work.kind == SHAPE_TRIANGLE) {
    ((Triangle*)work.saved)[i] = ((const Triangle*)work.shapes)[i];
  } else {
    ((Sphere*)work.saved)[i] = ((const Sphere*)work.shapes)[i];
    work.saved_materials[i] = work.materials[i];
  }
}
// Step 12, for an element: puts it where its leaf is.
POLYFLY_FN void place_elements(const TreeWork& work, int i) {
  const u32 to = before(work, work.element_places[i]).elements;
  if (work.kind == SHAPE_TRIANGLE) {
    Triangle tri = ((const Triangle*)work.saved)[i];
    tri.twin = SHAPE_TRIANGLE << SURFACE_KIND_SHIFT | (work.first + (int)to);
    ((Triangle*)work.shapes)[to] = tri;
  } else {
    ((Sphere*)work.shapes)[to] = ((const Sphere*)work.saved)[i];
    work.materials[to] = work.saved_materials[i];
  }
}

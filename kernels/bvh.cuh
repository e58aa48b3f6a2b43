// The bounding volume hierarchy over bodies, balls and triangles: a binary tree whose nodes hold their
// children's boxes (Aila and Laine, "Understanding the efficiency of ray traversal on GPUs", 2009). The
// builder has widened the boxes, so that a ray that meets something always passes its box; the nearest hit
// wins, and of equal ones the first in number, so the order of the walk never shows. On a CPU the lanes walk
// together, and a node is taken when any of them passes it.
#pragma once
#include "intersect.cuh"

// src/bvh.rs makes no deeper tree.
#define TREE_STACK 64
#define TREE_DONE ((int)0x80000000u)

struct Walk {
  Vec inverse, offset;  // a plane x = c is met at c * inverse + offset
};
POLYFLY_FN Real inverse_of(Real d) {
  // Of a ray along the planes only the side it is on counts.
  const Real tiny = from_bits((bits(d) & Int((int)0x80000000u)) | Int(0x15ae43fd));  // 7e-26
  return reciprocal(select(magnitude(d) < Real(7.0e-26f), tiny, d));
}
POLYFLY_FN Walk start_walk(Vec o, Vec d) {
  Walk w;
  w.inverse = vec(inverse_of(d.x), inverse_of(d.y), inverse_of(d.z));
  w.offset = -(o * w.inverse);
  return w;
}
POLYFLY_FN Mask crosses(const Walk& w, const float* lo, const float* hi, Real far, Real& enter) {
  const Real x0 = mad(Real(lo[0]), w.inverse.x, w.offset.x), x1 = mad(Real(hi[0]), w.inverse.x, w.offset.x);
  const Real y0 = mad(Real(lo[1]), w.inverse.y, w.offset.y), y1 = mad(Real(hi[1]), w.inverse.y, w.offset.y);
  const Real z0 = mad(Real(lo[2]), w.inverse.z, w.offset.z), z1 = mad(Real(hi[2]), w.inverse.z, w.offset.z);
  enter = most(most(least(x0, x1), least(y0, y1)), most(least(z0, z1), Real(0.0f)));
  const Real leave = least(least(most(x0, x1), most(y0, y1)), least(most(z0, z1), far));
  return enter <= leave;
}

#ifdef __CUDACC__
POLYFLY_FN Node load_node(const Scene& scene, int i) {
  const float4* p = (const float4*)(scene.nodes.data + i);
  const float4 a = __ldg(p), b = __ldg(p + 1), c = __ldg(p + 2), d = __ldg(p + 3);
  const Node n = {{a.x, a.y, a.z}, __float_as_int(a.w), {b.x, b.y, b.z}, __float_as_int(b.w), {c.x, c.y, c.z}, 0, {d.x, d.y, d.z}, 0};
  return n;
}
#else
POLYFLY_FN const Node& load_node(const Scene& scene, int i) { return scene.nodes.at(i); }
#endif

// What a leaf holds: ~code has its first element, its kind and one less than its count.
struct Leaf {
  int first, kind, count;
};
#define LEAF_BODIES 0
#define LEAF_BALLS 1
#define LEAF_TRIANGLES 2
POLYFLY_FN Leaf leaf_of(int node) {
  const int code = ~node;
  const Leaf leaf = {code >> 5, (code >> 3) & 3, (code & 7) + 1};
  return leaf;
}

// Where a line meets a ball: the distances of both points, in terms of d. The nearest point of the line is
// taken first, which stays exact from far away (Haines et al., "Precision improvements for ray/sphere
// intersection", 2019). dd is 1 / d.d.
POLYFLY_FN Chord chord_of(const Ball& ball, Vec o, Vec d, Real dd) {
  const Vec q = o - vec(ball.centre);
  const Real ahead = -dot(q, d) * dd;
  const Vec nearest = along(q, d, ahead);
  const Real inside = mad(Real(ball.radius), Real(ball.radius), -dot(nearest, nearest));
  const Real half = root(most(inside * dd, Real(1.0e-30f)));
  const Chord c = {select(inside > Real(0.0f), ahead - half, Real(FAR)), select(inside > Real(0.0f), ahead + half, Real(-FAR))};
  return c;
}

POLYFLY_FN void meet_ball(const Scene& scene, int i, const Ray& ray, Mask active, Hit& hit) {
  const Mask in = ray.from == Int(FROM_PRIMITIVE + 4 * i + 1);
  const Mask asked = active & (ray.from != Int(FROM_PRIMITIVE + 4 * i));
  if (!any(asked)) return;
  const Chord c = chord_of(scene.balls.at(i), ray.o, ray.d, Real(1.0f));
  const Mask within = in | !(c.enter > Real(0.0f));
  const Real t = select(within, select(in, most(c.leave, Real(0.0f)), c.leave), c.enter);
  const Int number = Int(PRIMITIVE + i);
  const Mask met = asked & (in | ((c.enter < c.leave) & (c.leave > Real(0.0f)))) & nearer(hit, t, number);
  hit.t = select(met, t, hit.t);
  hit.surface = select(met, number, hit.surface);
  hit.leaving = (met & within) | (hit.leaving & (!met));
}

// Moeller and Trumbore, "Fast, minimum storage ray/triangle intersection", 1997. Rim points count.
struct Pierce {
  Real t;
  Mask hit, from_behind;
};
POLYFLY_FN Pierce pierce(const Triangle& tri, Vec o, Vec d) {
  const Vec ab = vec(tri.ab), ac = vec(tri.ac), q = o - vec(tri.a);
  const Vec p = cross(d, ac), r = cross(q, ab);
  const Real det = dot(ab, p);
  const Real inverse = reciprocal(select(magnitude(det) < Real(1.0e-30f), Real(1.0e-30f), det));
  const Real u = dot(q, p) * inverse, v = dot(d, r) * inverse;
  const Real zero = Real(0.0f);
  Pierce x;
  x.t = dot(ac, r) * inverse;
  x.hit = (magnitude(det) > Real(1.0e-30f)) & (u >= zero) & (v >= zero) & (u + v <= Real(1.0f)) & (x.t > zero);
  x.from_behind = det < zero;
  return x;
}
POLYFLY_FN void meet_triangle(const Scene& scene, int i, const Ray& ray, Mask active, Hit& hit) {
  const int number = scene.balls.len + i;
  const Mask asked = active & ((ray.from < Int(FROM_PRIMITIVE)) | ((ray.from >> 2) != Int(FROM_PRIMITIVE / 4 + number)));
  const Pierce x = pierce(scene.triangles.at(i), ray.o, ray.d);
  const Mask met = asked & x.hit & nearer(hit, x.t, Int(PRIMITIVE + number));
  hit.t = select(met, x.t, hit.t);
  hit.surface = select(met, Int(PRIMITIVE + number), hit.surface);
  hit.leaving = (met & x.from_behind) | (hit.leaving & (!met));
}

POLYFLY_FN void closest_in_tree(const Scene& scene, const Ray& ray, Mask active, Hit& hit) {
  const Walk w = start_walk(ray.o, ray.d);
  int stack[TREE_STACK];
  int top = 0, node = scene.root;
  for (;;) {
    while (node >= 0) {
      const Node n = load_node(scene, node);
      Real first, second;
      const Mask in0 = active & crosses(w, n.lo0, n.hi0, hit.t, first), in1 = active & crosses(w, n.lo1, n.hi1, hit.t, second);
      const bool any0 = any(in0), any1 = any(in1);
      if (any0 && any1) {
        // Of both the one that is nearer for more lanes.
        const bool swap = 2 * count(in0 & in1 & (second < first)) > count(in0 & in1);
        POLYFLY_CHECK(top < TREE_STACK);
        stack[top++] = swap ? n.child0 : n.child1;
        node = swap ? n.child1 : n.child0;
      } else if (any0 || any1) {
        node = any0 ? n.child0 : n.child1;
      } else {
        node = top > 0 ? stack[--top] : TREE_DONE;
      }
    }
    if (node == TREE_DONE) return;
    const Leaf leaf = leaf_of(node);
    POLYFLY_ROLLED
    for (int i = leaf.first; i < leaf.first + leaf.count; ++i) {
      if (leaf.kind == LEAF_TRIANGLES) {
        meet_triangle(scene, i, ray, active, hit);
      } else if (leaf.kind == LEAF_BALLS) {
        meet_ball(scene, i, ray, active, hit);
      } else {
        meet_body(scene, i, ray, active, hit);
      }
    }
    node = top > 0 ? stack[--top] : TREE_DONE;
  }
}

// What a surface lets through to shadow rays. Where path tracing bends light, it stops them: paths find the way.
POLYFLY_FN Vec shade_of(const Scene& scene, const Material& m) {
  const bool bends = m.ior != 1.0f || m.fresnel > 0.0f;
  return scene.path && bends ? vec(Real(0.0f), Real(0.0f), Real(0.0f)) : vec(m.transmit);
}
// Light that comes through a ball: tinted where the line enters and leaves.
POLYFLY_FN void dim_by_ball(const Scene& scene, int i, Vec o, Vec d, Real dd, Int from, Mask& active, Vec& left) {
  const Mask inside = from == Int(FROM_PRIMITIVE + 4 * i + 1);
  const Mask asked = active & (from != Int(FROM_PRIMITIVE + 4 * i));
  if (!any(asked)) return;
  const Chord c = chord_of(scene.balls.at(i), o, d, dd);
  const Mask crossed = asked & (inside | (c.enter < c.leave));
  const Mask in = crossed & !inside & (c.enter > Real(0.0f)) & (c.enter < Real(1.0f));
  const Mask out = crossed & (inside | (c.leave > Real(0.0f))) & (c.leave < Real(1.0f));
  if (!any(in | out)) return;
  const Vec pane = shade_of(scene, scene.materials.at(scene.paints.at(i)));
  left = select(in, left * pane, left);
  left = select(out, left * pane, left);
  active = active & (brightest(left) > Real(0.0f));
}
POLYFLY_FN void dim_by_triangle(const Scene& scene, int i, Vec o, Vec d, Int from, Mask& active, Vec& left) {
  const int number = scene.balls.len + i;
  const Mask asked = active & ((from < Int(FROM_PRIMITIVE)) | ((from >> 2) != Int(FROM_PRIMITIVE / 4 + number)));
  const Triangle& tri = scene.triangles.at(i);
  const Pierce x = pierce(tri, o, d);
  const Mask in = asked & x.hit & (x.t < Real(1.0f));
  if (!any(in)) return;
  left = select(in, left * shade_of(scene, scene.materials.at(tri.paint)), left);
  active = active & (brightest(left) > Real(0.0f));
}

// The order of this walk is the tree's own, since the order of tints can show in their product.
POLYFLY_FN void dim_by_tree(const Scene& scene, Vec o, Vec d, Real dd, Int from, Mask& active, Vec& left) {
  const Walk w = start_walk(o, d);
  int stack[TREE_STACK];
  int top = 0, node = scene.root;
  for (;;) {
    while (node >= 0) {
      const Node n = load_node(scene, node);
      Real unused;
      const bool any0 = any(active & crosses(w, n.lo0, n.hi0, Real(1.0f), unused));
      const bool any1 = any(active & crosses(w, n.lo1, n.hi1, Real(1.0f), unused));
      if (any0 && any1) {
        POLYFLY_CHECK(top < TREE_STACK);
        stack[top++] = n.child1;
        node = n.child0;
      } else if (any0 || any1) {
        node = any0 ? n.child0 : n.child1;
      } else {
        node = top > 0 ? stack[--top] : TREE_DONE;
      }
    }
    if (node == TREE_DONE) return;
    const Leaf leaf = leaf_of(node);
    POLYFLY_ROLLED
    for (int i = leaf.first; i < leaf.first + leaf.count; ++i) {
      if (leaf.kind == LEAF_TRIANGLES) {
        dim_by_triangle(scene, i, o, d, from, active, left);
      } else if (leaf.kind == LEAF_BALLS) {
        dim_by_ball(scene, i, o, d, dd, from, active, left);
      } else {
        dim_by_body(scene, i, o, d, dd, from, active, left);
      }
    }
    if (!any(active)) return;
    node = top > 0 ? stack[--top] : TREE_DONE;
  }
}

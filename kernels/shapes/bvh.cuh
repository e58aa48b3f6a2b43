// The bounding volume hierarchy over bodies, spheres and triangles: a binary tree whose nodes hold their children's
// boxes (Aila and Laine, "Understanding the efficiency of ray traversal on GPUs", 2009). The builder enlarges the
// boxes, so that a ray that hits an object always hits its box. The nearest hit wins, and of equal ones the one with
// the lowest number, so results do not depend on the order of traversal. On a CPU the lanes traverse together: a node
// is visited if any of them hits its box. A few bodies are a single leaf.
#pragma once
#include "body.cuh"
#include "cone.cuh"
#include "ellipsoid.cuh"
#include "triangle.cuh"

// A line, prepared for box tests: it crosses the plane x = c at c * inverse + offset, and is within h of it for h *
// size before and after.
struct BoxRay {
  Vec inverse, offset, size;
};
POLYFLY_FN Real inverse_of(Real d) {
  // For a ray parallel to the planes only its side of them matters.
  const Real tiny = from_bits((bits(d) & Int((int)0x80000000u)) | Int(0x15ae43fd));  // 7e-26
  return reciprocal(select(abs(d) < Real(7.0e-26f), tiny, d));
}
POLYFLY_FN BoxRay box_ray(Vec o, Vec d) {
  BoxRay w;
  w.inverse = vec(inverse_of(d.x), inverse_of(d.y), inverse_of(d.z));
  w.offset = -(o * w.inverse);
  w.size = vec(abs(w.inverse.x), abs(w.inverse.y), abs(w.inverse.z));
  return w;
}
// A box by center and half extent takes half the comparisons of one by its corners.
POLYFLY_FN Mask intersect_aabb(const BoxRay& w, const float* centre, const float* half, Real far, Real& enter) {
  const Vec before = -w.size;
  const Real x = fma(Real(centre[0]), w.inverse.x, w.offset.x), hx = Real(half[0]);
  const Real y = fma(Real(centre[1]), w.inverse.y, w.offset.y), hy = Real(half[1]);
  const Real z = fma(Real(centre[2]), w.inverse.z, w.offset.z), hz = Real(half[2]);
  enter = max(max(fma(hx, before.x, x), fma(hy, before.y, y)), max(fma(hz, before.z, z), Real(0.0f)));
  const Real leave = min(min(fma(hx, w.size.x, x), fma(hy, w.size.y, y)), min(fma(hz, w.size.z, z), far));
  return enter <= leave;
}

// The objects of a leaf; types.def describes the encoding.
static_assert(SINGLE_KINDS == 3 && SHAPE_KINDS <= SINGLE_KINDS + 8 && SHAPE_KINDS <= SHAPE_FLOOR, "a leaf's kind has two bits");
struct Leaf {
  int first, kind, count;
};
template <class S>
POLYFLY_FN Leaf leaf_of(const S& scene, int node) {
  const int code = ~node, kind = (code >> 3) & 3, last = code & 7;
  if (uses_any<FEATURE_ELLIPSOIDS | FEATURE_CONES>(scene) && kind == SINGLE_KINDS) return {code >> 5, kind + last, 1};
  return {code >> 5, kind, last + 1};
}

// Visits all leaves whose boxes an active lane's line hits nearer than far(). The visitor V has
//   NEAREST_FIRST       of two children, the one that is nearer for more lanes comes first, else child 0
//   active(), far()     the lanes that still search, and their limits
//   visit(kind, i)      for each object of a leaf
template <class V>
POLYFLY_FN void walk_bvh(const Scene& scene, Vec o, Vec d, V& visitor) {
  int stack[BVH_STACK];
  int top = 0, node = scene.constants.bvh_root;
  const BoxRay w = node >= 0 ? box_ray(o, d) : BoxRay();
  for (;;) {
    while (node >= 0) {
      const Node& n = scene.nodes.load(node);
      Real first, second;
      const Mask in0 = visitor.active() & intersect_aabb(w, n.centre0, n.half0, visitor.far(), first);
      const Mask in1 = visitor.active() & intersect_aabb(w, n.centre1, n.half1, visitor.far(), second);
      const bool any0 = any(in0), any1 = any(in1);
      if (any0 && any1) {
        const bool swap = V::NEAREST_FIRST && 2 * count(in0 & in1 & (second < first)) > count(in0 & in1);
        POLYFLY_CHECK(top < BVH_STACK);
        stack[top++] = swap ? n.child0 : n.child1;
        node = swap ? n.child1 : n.child0;
      } else if (any0 || any1) {
        node = any0 ? n.child0 : n.child1;
      } else {
        node = top > 0 ? stack[--top] : NO_BVH;
      }
    }
    if (node == NO_BVH) return;
    const Leaf leaf = leaf_of(visitor.scene, node);
    POLYFLY_NO_UNROLL
    for (int i = leaf.first; i < leaf.first + leaf.count; ++i) visitor.visit(leaf.kind, i);
    if (!V::NEAREST_FIRST && !any(visitor.active())) return;
    node = top > 0 ? stack[--top] : NO_BVH;
  }
}

template <class S>
struct ClosestHitVisitor {
  static constexpr bool NEAREST_FIRST = true;
  const S& scene;
  const Ray& ray;
  const Interval& kept;
  const Mask lanes;
  Hit& hit;
  POLYFLY_METHOD Mask active() const { return lanes; }
  POLYFLY_METHOD Real far() const { return hit.t; }
  POLYFLY_METHOD void visit(int kind, int i) {
#define SHAPE(KIND, name, array, features)                                                    \
  if constexpr (has_features<S>(features))                                                    \
    if (uses<features>(scene) && kind == SHAPE_##KIND) return intersect_##name(scene, i, ray, kept, lanes, hit);
#include "../shapes.def"
#undef SHAPE
  }
};

// Traverses in the tree's order, since the order of factors can change their product.
template <class S>
struct TransmittanceVisitor {
  static constexpr bool NEAREST_FIRST = false;
  const S& scene;
  const Segment& line;
  const Interval& kept;
  Mask lanes;
  Vec remaining;
  POLYFLY_METHOD Mask active() const { return lanes; }
  POLYFLY_METHOD Real far() const { return Real(1.0f); }
  POLYFLY_METHOD void visit(int kind, int i) {
#define SHAPE(KIND, name, array, features)                                                    \
  if constexpr (has_features<S>(features))                                                    \
    if (uses<features>(scene) && kind == SHAPE_##KIND) return transmittance_##name(scene, i, line, kept, lanes, remaining);
#include "../shapes.def"
#undef SHAPE
  }
};

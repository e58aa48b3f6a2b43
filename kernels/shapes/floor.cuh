// The floor: one or two planar quads or triangles, which may be the top of a slab on endless ground.
#pragma once
#include "ray.cuh"

// Farther away the floor is not met: the square of a distance stays within the domain of reciprocal and root.
constexpr float FARTHEST = 1.0e18f;

struct FloorHit {
  Real t, u, v;
  Mask hit;
};
// The distance along a line of the plane at this level, which is quad.d on the floor.
POLYFLY_FN Real floor_distance(const FloorQuad& quad, Real level, Vec o, Vec d) {
  Real nd = dot(quad.n, d);
  nd = select(abs(nd) < Real(1.0e-30f), Real(1.0e-30f), nd);
  return (level - dot(quad.n, o)) * reciprocal(nd);
}
// Whether a part of the floor is the ground below it or a side of its slab.
template <class S>
POLYFLY_FN bool is_below_floor(const S& scene, const FloorQuad& quad) {
  return uses<FEATURE_GROUND>(scene) && quad.side >= FLOOR_GROUND;
}
template <class S>
POLYFLY_FN bool is_ground(const S& scene, const FloorQuad& quad) {
  return uses<FEATURE_GROUND>(scene) && quad.side == FLOOR_GROUND;
}
template <class S>
POLYFLY_FN bool is_endless(const S& scene, const FloorQuad& quad) {
  return uses_any<FEATURE_FLOOR | FEATURE_ENDLESS_FLOOR>(scene) && (quad.side == FLOOR_ENDLESS || quad.side == FLOOR_GROUND);
}
// The lanes whose line goes below all of the ground and the sides up to the distance t: few do, since most rays start above the
// floor, and go up or meet it.
POLYFLY_FN Mask goes_below(const FloorQuad& ground, Vec o, Vec d, Real t) {
  const Real top = Real(ground.top);
  return (o.z < top) | ((d.z < Real(0.0f)) & (fma(d.z, t, o.z) < top));
}
// The hit of a line with the quad, whose plane it crosses at t.
template <class S>
POLYFLY_FN FloorHit floor_hit(const S& scene, const FloorQuad& quad, Vec o, Vec d, Real t) {
  FloorHit c;
  c.t = t;
  c.hit = (t > Real(0.0f)) & (t < Real(FARTHEST));
  Vec p = fma(d, t, o);
  c.u = dot(quad.u, p) + Real(quad.u[3]);
  c.v = dot(quad.v, p) + Real(quad.v[3]);
  if (is_endless(scene, quad)) return c;
  const Real zero = Real(0.0f), one = Real(1.0f), overlap = Real(1.0e-6f);
  c.hit = c.hit & !(c.u < zero) & !(c.u > one) & !(c.v < zero) & !(c.v > one);
  if (uses<FEATURE_FLOOR>(scene)) {
    if (quad.side == FLOOR_ROUND) {
      const Real x = c.u - Real(0.5f), y = c.v - Real(0.5f);
      c.hit = c.hit & !(fma(x, x, y * y) > Real(0.25f));
    }
  }
  if (quad.side == 1) c.hit = c.hit & (c.u < c.v + overlap);
  if (quad.side == 2) c.hit = c.hit & (c.v < c.u + overlap);
  return c;
}

// Bevels: the round edges of convex bodies.
//
// With w, the width of a bevel measured from the adjacent face's plane, and the faces n_i.q <= h_i, a bevelled body is
// where F(q), the sum of max(0, 1 + (n_i.q - h_i) / w)^2 over its faces, is at most 1. Each term is convex, so F and the body
// are. Where one term is above 0, the surface is the face itself; two make a quarter of an ellipse that touches both faces
// of an edge; more make a corner. The gradient of F is the normal, so the surface has no crease. The body lies within the
// one with sharp edges, so its bounds hold, and intersections start from that one's.
#pragma once
#include "interaction.cuh"

// Narrow bevels are in the shading alone: nobody sees their outline, and a GPU takes up to 1.7 times as long for the shape.
//
// 1 / w; 0 or less: the shape of the body has razor edges.
template <class S>
POLYFLY_FN float bevel_of(const S& scene, const Body& body) {
  return uses<FEATURE_ROUND>(scene) ? scene.materials.at(body.material).bevel : 0.0f;
}

// Lanes in which a point of the sharp body's surface lies outside of the bevelled body.
template <class S>
POLYFLY_FN Mask is_bevelled_off(const S& scene, const Body& body, float bevel, Vec q) {
  const Real zero = Real(0.0f), one = Real(1.0f), steep = Real(bevel);
  Real excess = -one;
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.load(i);
    const Real s = dot(slab.n, q);
    // No point of the sharp body has a term above 1, whatever rounding says.
    const Real front = min(max(fma(s - Real(slab.hi), steep, one), zero), one);
    const Real back = min(max(fma(Real(slab.lo) - s, steep, one), zero), one);
    const Real term = front - back;
    excess = fma(term, term, excess);
  }
  return excess > zero;
}

// How far along a line, and whether, it meets a surface.
struct Crossing {
  Real t;
  Mask found;
};

// Components of directions below this are 0: their face's term stays as it is.
#define BEVEL_PARALLEL 1.0e-12f

// Where the line q + t w d enters the bevelled body, for a point q of the sharp body's surface and t >= 0; without such a
// place, where F is least. The largest component of d is from 1 to 2. Along a line F is a quadratic polynomial between the
// places at which terms become 0 or cease to be: the line is followed from place to place. It passes each at most once,
// since terms are linear before they are squared.
template <class S>
POLYFLY_FN Crossing enter_bevelled(const S& scene, const Body& body, float bevel, Vec q, Vec d, Mask m) {
  const Real zero = Real(0.0f), one = Real(1.0f), steep = Real(bevel), lowest = Real(-1.0e9f);
  Crossing crossing = {zero, first_lanes(0)};
  Mask walking = m;
  POLYFLY_NO_UNROLL
  for (int places = 0; places <= 2 * body.slabs && any(walking); ++places) {
    const Real t = crossing.t;
    // F - 1 at t, half of its slope and of its second derivative; and where the next term changes.
    Real excess = -one, slope = zero, bend = zero, next = Real(FAR);
    POLYFLY_NO_UNROLL
    for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
      const Slab& slab = scene.slabs.load(i);
      const Real s = dot(slab.n, q), along = dot(slab.n, d);
      const Mask rises = along > Real(BEVEL_PARALLEL), falls = along < Real(-BEVEL_PARALLEL), turns = rises | falls;
      const Real inverse = reciprocal(select(turns, along, one));
      // Before they are squared, the terms of both planes are front + t along and back - t along.
      const Real front = max(min(fma(s - Real(slab.hi), steep, one), one), lowest);
      const Real back = max(min(fma(Real(slab.lo) - s, steep, one), one), lowest);
      const Real front_at = -front * inverse, back_at = back * inverse;
      // Compared by position, so that rounding cannot hold a line at a point that it has passed.
      const Mask in_front = (rises & !(front_at > t)) | (falls & (front_at > t)) | (!turns & (front > zero));
      const Mask behind = (falls & !(back_at > t)) | (rises & (back_at > t)) | (!turns & (back > zero));
      // A bevel is at most as wide as half the distance of both planes, so one of them has a term.
      const Real term = select(in_front, fma(along, t, front), select(behind, fma(along, t, -back), zero));
      const Real change = select(turns & (in_front | behind), along, zero);
      excess = fma(term, term, excess);
      slope = fma(term, change, slope);
      bend = fma(change, change, bend);
      next = min(next, select(turns & (front_at > t), front_at, Real(FAR)));
      next = min(next, select(turns & (back_at > t), back_at, Real(FAR)));
    }
    const Real inside = fma(slope, slope, -(bend * excess));
    const Mask here = !(excess > zero), descends = !here & (slope < zero), meets = descends & (inside > zero);
    const Real root = excess * reciprocal(within_domain(sqrt_or_zero(inside) - slope));
    const Real least = -slope * reciprocal(within_domain(bend));
    const Real step = select(descends, select(meets, root, least), zero);
    const Mask ends = walking & !(step > next - t);
    crossing.found = crossing.found | (ends & (here | meets));
    crossing.t = select(walking, select(ends, t + step, next), t);
    walking = walking & !ends;
  }
  return crossing;
}

// The same for a point p of the sharp body's surface and a line p + t d, whatever the length of d.
template <class S>
POLYFLY_FN Crossing into_bevelled_here(const S& scene, const Body& body, float bevel, Vec p, Vec d, Mask m) {
  Crossing crossing = {Real(0.0f), m};
  if (!any(m)) return crossing;
  const Mask off = m & is_bevelled_off(scene, body, bevel, p);
  if (!any(off)) return crossing;
  const Real scale = inverse_power_of_two(largest(d));
  const Crossing entry = enter_bevelled(scene, body, bevel, p, d * scale, off);
  crossing.t = select(off, entry.t * (scale * reciprocal(Real(bevel))), crossing.t);
  crossing.found = (m & !off) | entry.found;
  return crossing;
}

// Out of line, and in line for functions that are out of line themselves.
template <class S>
POLYFLY_NOINLINE Crossing into_bevelled(const S& scene, const Body& body, float bevel, Vec p, Vec d, Mask m) {
  return into_bevelled_here(scene, body, bevel, p, d, m);
}
struct BevelsApart {
  template <class S>
  POLYFLY_METHOD static Crossing into(const S& scene, const Body& body, float bevel, Vec p, Vec d, Mask m) {
    return into_bevelled(scene, body, bevel, p, d, m);
  }
};
struct BevelsHere {
  template <class S>
  POLYFLY_METHOD static Crossing into(const S& scene, const Body& body, float bevel, Vec p, Vec d, Mask m) {
    return into_bevelled_here(scene, body, bevel, p, d, m);
  }
};

// Cuts off from c, the interval of a line inside of the sharp body, what bevels take away; `inside`: lanes that start within.
// Returns the lanes of m in which something is left. There is no branch around the calls: a GPU's compiler keeps few barriers
// of lanes that wait for each other across a call, and shadow rays are many loops deep (tests in src/device/gpu/modules.rs).
template <class Bevels, class S>
POLYFLY_FN Mask bevel_interval(const S& scene, const Body& body, Vec q, Vec d, Mask inside, Mask m, Interval& c) {
  const float bevel = bevel_of(scene, body);
  const Mask bevelled = bevel > 0.0f ? m : first_lanes(0), outside = bevelled & !inside;
  const Crossing in = Bevels::into(scene, body, bevel, fma(d, c.enter, q), d, outside);
  c.enter = select(outside, c.enter + in.t, c.enter);
  m = m & (in.found | !outside);
  const Mask left = bevelled & m;
  const Crossing out = Bevels::into(scene, body, bevel, fma(d, c.leave, q), -d, left);
  c.leave = select(left, c.leave - out.t, c.leave);
  return m;
}

// The normal at q of a bevelled body, on the ray's side; of bevels in the shading alone, near the edges: it turns evenly from
// the face's to the middle between both faces' at the edge. bevel: Material::bevel; n: the face's normal on the ray's side.
//
// Where the shape has razor edges, a ray that is reflected below the face outside passes the edge, as it would pass a round one,
// since it cannot hit this body again. A refracted ray that enters lies between d and -n, so below the face. A ray that leaves may
// do so on the adjacent face's side only. A ray reflected inside has to stay there.
template <class S>
POLYFLY_NOINLINE Vec bevelled_normal(const S& scene, const Body& body, float bevel, Vec q, Vec d, Vec n, Mask leaving) {
  const Real zero = Real(0.0f), one = Real(1.0f), steep = Real(bevel < 0.0f ? -bevel : bevel);
  Vec sum = vec(zero, zero, zero);
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.load(i);
    const Real s = dot(slab.n, q);
    const Real front = max(fma(s - Real(slab.hi), steep, one), zero);
    const Real back = max(fma(Real(slab.lo) - s, steep, one), zero);
    sum = fma(vec(slab.n), front - back, sum);
  }
  const Vec outward = normalise_or(sum, select(leaving, -n, n));
  if (uses<FEATURE_ROUND>(scene) && bevel > 0.0f) return select(dot(outward, d) < zero, outward, -outward);
  const Vec leaning = select(leaving, -outward, outward);
  return select(leaving, bent_normal(leaning, n, d), facing_normal(leaning, n, d));
}

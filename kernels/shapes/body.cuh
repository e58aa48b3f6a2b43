// Convex bodies: intersection, and transmittance of shadow rays.
//
// A body is the intersection of slabs, pairs of parallel face planes (Kay and Kajiya, "Ray Tracing Complex Scenes",
// 1986): half as many tests as planes, and no cracks between triangles. Since a body is convex, a ray that leaves it
// cannot hit it again, and a ray inside it can only leave, so no ray needs an epsilon.
#pragma once
#include "../medium.cuh"
#include "../shading/finish.cuh"
#include "bevel.cuh"
#include "cuts.cuh"

// The indices of body k's materials. In a small scene the index follows from k, which saves a GPU a load.
template <class S>
POLYFLY_FN int outside_material(const S&, const Body& body, int k) {
  return SceneTraits<S>::small ? FIRST_BODY_MATERIAL + k : body.material;
}
template <class S>
POLYFLY_FN int inside_material(const S&, const Body& body, int k) {
  return SceneTraits<S>::small ? FIRST_BODY_MATERIAL + k : body.material_inside;
}

template <class S>
POLYFLY_FN Interval intersect_convex(const S& scene, const Body& body, Vec q, Vec d) {
  Interval c = {Real(-FAR), Real(FAR)};
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.load(i);
    // For a line parallel to the planes only its side of them matters. Adding the tiny number is not enough: it is lost
    // where larger terms cancel. It is so large that no distance of a scene (FARTHEST) overflows over it: the
    // difference of two infinities would be NaN.
    const Real tiny = Real(1.0e-24f);
    const Real along = fma(Real(slab.n[0]), d.x, fma(Real(slab.n[1]), d.y, fma(Real(slab.n[2]), d.z, tiny)));
    const Real nd = select(abs(along) < tiny, tiny, along);
    const Real off = minus_fma(Real(slab.n[0]), q.x,
                               minus_fma(Real(slab.n[1]), q.y, minus_fma(Real(slab.n[2]), q.z, Real(slab.middle))));
    const Real inverse = reciprocal(nd);
    const Real middle = off * inverse;
    const Real half = Real(slab.half) * abs(inverse);
    c.enter = max(c.enter, middle - half);
    c.leave = min(c.leave, middle + half);
  }
  return c;
}

// The distance from a point inside the body to its surface along a ray. Distances are compared as fractions, which
// leaves one division at the end.
template <class S>
POLYFLY_FN Real exit_distance(const S& scene, const Body& body, Vec q, Vec d) {
  Real far = Real(1.0f),
       speed = Real(0.0f);  // the nearest plane so far: its distance along its normal, and d's component along it
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.load(i);
    const Real nd = dot(slab.n, d);
    const Real off = minus_fma(Real(slab.n[0]), q.x,
                               minus_fma(Real(slab.n[1]), q.y, minus_fma(Real(slab.n[2]), q.z, Real(slab.middle))));
    // The plane ahead, by the sign of nd.
    const Real here = Real(slab.half) + from_bits(bits(off) ^ (bits(nd) & Int((int)0x80000000u)));
    const Real rate = abs(nd);
    const Mask nearer = here * speed < far * rate;
    far = select(nearer, here, far);
    speed = select(nearer, rate, speed);
  }
  // Rounding may put the exit slightly behind the start.
  return max(far * reciprocal(max(speed, Real(1.0e-30f))), Real(0.0f));
}
// The same for a body that may have bevels.
template <class S>
POLYFLY_FN Real distance_inside(const S& scene, const Body& body, Vec q, Vec d, Mask m) {
  const Real sharp = exit_distance(scene, body, q, d);
  const float bevel = bevel_of(scene, body);
  if (bevel > 0.0f) return max(sharp - into_bevelled(scene, body, bevel, fma(d, sharp, q), -d, m).t, Real(0.0f));
  return sharp;
}

// Lanes whose line hits the body's bounding sphere ahead of q, or that start inside it; q is relative to the center,
// and dd is d.d. The test is conservative: the discriminant gets a margin of four millionths of its terms, which are as
// large as the squared distance. Where that margin exceeds the discriminant, the body is tested.
POLYFLY_FN Mask passes_bounding_sphere(const Body& body, Vec q, Vec d, Real dd) {
  const Real zero = Real(0.0f), along = dot(q, d);
  const Real outside = fma(dot(q, q), Real(1.0f - 4.0e-6f), Real(-body.bounds));
  return (outside < zero) | ((along < zero) & !(fma(outside, dd, -(along * along)) > zero));
}

// The distance of a point inside the body to the nearer plane of a slab.
POLYFLY_FN Real slab_distance(const Slab& slab, Vec q) {
  Real s = dot(slab.n, q);
  return min(Real(slab.hi) - s, s - Real(slab.lo));
}
// The distance of a point on a face to the nearest plane of another face. A point of a bevel lies below its own face too:
// in the middle of an edge it is at the distance 0.
template <class S>
POLYFLY_FN Real next_face_distance(const S& scene, const Body& body, Vec q) {
  Real own = Real(FAR), next = Real(FAR);
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Real s = slab_distance(scene.slabs.load(i), q);
    next = min(next, max(own, s));
    own = min(own, s);
  }
  return bevel_of(scene, body) > 0.0f ? next - own : next;
}

// Intersects body k.
template <class S>
POLYFLY_FN void intersect_body(const S& scene, int k, const Ray& ray, const Interval& kept, Mask active, Hit& hit) {
  const Body& body = scene.bodies.at(k);
  const int surface = surface_number(SHAPE_BODY, k), material = outside_material(scene, body, k);
  const Vec q = ray.o - vec(body.centre);
  const Mask own = active & ((ray.last_surface >> ORIGIN_SHIFT) == Int(surface));
  if (any(own)) {
    // A ray inside the body leaves it; a ray that starts on its outside cannot hit it.
    const Mask here = own & (ray.last_surface == Int(body.origin_inside));
    if (any(here)) {
      Interval c = {Real(-FAR), distance_inside(scene, body, q, ray.d, here)};
      cut_open(scene, material, kept, c);
      const Real t = max(c.leave, Real(0.0f));
      const Mask met = here & is_nearer(scene, hit, t, Int(surface));
      hit.t = select(met, t, hit.t);
      hit.surface = select(met, Int(surface), hit.surface);
      hit.leaving = met | hit.leaving;
    }
  }
  const Mask tested = active & !own & passes_bounding_sphere(body, q, ray.d, Real(1.0f));
  if (!any(tested)) return;
  Interval c = intersect_convex(scene, body, q, ray.d);
  Mask crossed = tested & (c.enter < c.leave) & (c.leave > Real(0.0f));
  const float bevel = bevel_of(scene, body);
  // Bevels move entries farther away.
  if (bevel > 0.0f) crossed = crossed & !(c.enter > hit.t);
  if (bevel > 0.0f && any(crossed)) {
    const Crossing in = into_bevelled(scene, body, bevel, fma(ray.d, c.enter, q), ray.d, crossed);
    c.enter = select(crossed, c.enter + in.t, c.enter);
    crossed = crossed & in.found;
  }
  Mask started_within = crossed & !(c.enter > Real(0.0f));
  if (uses<FEATURE_CUTS>(scene)) started_within = started_within | (crossed & (kept.enter > c.enter));
  if (bevel > 0.0f && any(started_within)) {
    const Crossing out = into_bevelled(scene, body, bevel, fma(ray.d, c.leave, q), -ray.d, started_within);
    c.leave = select(started_within, c.leave - out.t, c.leave);
    crossed = crossed & (c.leave > Real(0.0f));
  }
  if (uses<FEATURE_CUTS>(scene)) {
    cut_open(scene, material, kept, c);
    crossed = crossed & (c.enter < c.leave) & (c.leave > Real(0.0f));
  }
  const Mask within = !(c.enter > Real(0.0f));
  const Real t = select(within, c.leave, c.enter);
  const Mask met = crossed & is_nearer(scene, hit, t, Int(surface));
  hit.t = select(met, t, hit.t);
  hit.surface = select(met, Int(surface), hit.surface);
  hit.leaving = (met & within) | (hit.leaving & (!met));
}

// The transmittance of body k for a segment. Each crossed face tints the light, bars
// are opaque.
template <class S>
POLYFLY_FN void transmittance_body(const S& scene, int k, const Segment& line, const Interval& kept, Mask& active, Vec& remaining) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Body& body = scene.bodies.at(k);
  const Vec d = line.d, q = line.o - vec(body.centre);
  const Mask tested =
      active & (line.last_surface != Int(origin_outside(SHAPE_BODY, k))) & passes_bounding_sphere(body, q, d, line.dd);
  if (!any(tested)) return;
  const Mask here = line.last_surface == Int(body.origin_inside);
  Interval c = intersect_convex(scene, body, q, d);
  Mask crossed = tested & (here | (c.enter < c.leave));
  if (uses<FEATURE_ROUND>(scene)) {
    const Mask reached = crossed & (here | (c.enter < one)) & (c.leave > zero);
    crossed = bevel_interval<BevelsApart>(scene, body, q, d, here, reached, c) | (crossed & !reached);
  }
  if (uses<FEATURE_CUTS>(scene)) {
    cut_open(scene, outside_material(scene, body, k), kept, c);
    crossed = crossed & (here | (c.enter < c.leave));
  }
  Mask in = crossed & !here & (c.enter > zero) & (c.enter < one);
  Mask out = crossed & (here | (c.leave > zero)) & (c.leave < one);
  if (!any(in | out)) return;
  const Material& outer = scene.materials.at(outside_material(scene, body, k));
  if (uses<FEATURE_BARS>(scene) && body.bar > 0.0f && outer.transparency > 0.0f && !outer.stops_shadow_rays) {
    Mask stopped = first_lanes(0);
    if (any(in)) {
      const Vec p = fma(d, c.enter, q);
      stopped = in & (next_face_distance(scene, body, p) < Real(body.bar));
    }
    if (any(out)) {
      const Vec p = fma(d, c.leave, q);
      stopped = stopped | (out & (next_face_distance(scene, body, p) < Real(body.bar)));
    }
    remaining = select(stopped, vec(zero, zero, zero), remaining);
  }
  if (uses<FEATURE_FINISHES>(scene) && has_finish(scene, k) && outer.transparency > 0.0f) {
    if (any(in))
      remaining = select(in, remaining * finish_transmittance(scene, body, k, fma(d, c.enter, q), in), remaining);
    if (any(out))
      remaining = select(out, remaining * finish_transmittance(scene, body, k, fma(d, c.leave, q), out), remaining);
  }
  const Material& inner = scene.materials.at(inside_material(scene, body, k));
  transmit_closed(scene, outer, inner, line, c, here, in, out, active, remaining);
}

// The interaction with body k.
template <class S>
POLYFLY_FN void interaction_with(const S& scene, int k, const Ray& ray, const Hit& hit, Mask m, Interaction& x) {
  const Body& body = scene.bodies.at(k);
  const Vec q = x.p - vec(body.centre);
  // The face is the nearest plane, the edge is shared with the next.
  Vec n = vec(Real(0.0f), Real(0.0f), Real(1.0f));
  Real own = Real(FAR), nearest = Real(FAR);
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.load(i);
    const Real gap = slab_distance(slab, q);
    n = select(gap < own, vec(slab.n), n);
    nearest = min(nearest, max(own, gap));
    own = min(own, gap);
  }
  Vec facing = select(dot(n, ray.d) < Real(0.0f), n, -n);
  const float bevel = uses<FEATURE_BEVELS>(scene) ? scene.materials.at(body.material).bevel : 0.0f;
  const float steep = bevel < 0.0f ? -bevel : bevel;
  const Mask bevelled = m & (nearest * Real(steep) < Real(1.0f));
  if (uses<FEATURE_BEVELS>(scene) && steep > 0.0f && any(bevelled)) {
    facing = select(bevelled, bevelled_normal(scene, body, bevel, q, ray.d, facing, hit.leaving), facing);
    if (bevel_of(scene, body) > 0.0f) x.depth = select(bevelled, own, x.depth);
    x.curvature = select(bevelled, Real(2.0f * steep * body.bar_lean), x.curvature);
  }
  x.n = select(m, facing, x.n);
  x.face = select(m, n, x.face);
  x.edge_distance = select(m, nearest, x.edge_distance);
  x.inside = select(m, Int(body.origin_inside), x.inside);
  Int material = Int(outside_material(scene, body, k));
  if (uses<FEATURE_MATERIALS>(scene)) material = select(hit.leaving, Int(inside_material(scene, body, k)), material);
  x.material = select(m, material, x.material);
}
template <class S>
POLYFLY_FN void interaction_body(const S& scene, Int index, const Ray& ray, const Hit& hit, Mask m, Interaction& x) {
  for_each_index(index, m, [&](int k, Mask lanes) POLYFLY_LAMBDA { interaction_with(scene, k, ray, hit, lanes, x); });
}

// Convex bodies: where rays meet them, and what they take from light that passes through.
//
// A body is met by its pairs of face planes (Kay and Kajiya, "Ray Tracing Complex Scenes", 1986), not
// by triangles: half the planes, no cracks. Since a body is convex, a ray that has left it cannot hit
// it again and a ray inside it can only leave it, so no distance needs an epsilon.
#pragma once
#include "ray.cuh"

template <class S>
POLYFLY_FN Interval intersect_convex(const S& scene, const Body& body, Vec q, Vec d) {
  Interval c = {Real(-FAR), Real(FAR)};
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.at(i);
    // For a line along the planes only the side that it is on counts. The tiny number alone is not enough: it is lost
    // where larger terms cancel.
    const Real tiny = Real(DOMAIN_MIN);
    const Real along = fma(Real(slab.n[0]), d.x, fma(Real(slab.n[1]), d.y, fma(Real(slab.n[2]), d.z, tiny)));
    const Real nd = select(abs(along) < tiny, tiny, along);
    const Real off =
        fma(Real(-slab.n[0]), q.x, fma(Real(-slab.n[1]), q.y, fma(Real(-slab.n[2]), q.z, Real(slab.middle))));
    const Real inverse = reciprocal(nd);
    const Real middle = off * inverse;
    const Real half = Real(slab.half) * abs(inverse);
    c.enter = max(c.enter, middle - half);
    c.leave = min(c.leave, middle + half);
  }
  return c;
}

// How far a ray from within the body has to go to leave it. Distances are compared as fractions, which
// leaves one division at the end.
template <class S>
POLYFLY_FN Real exit_distance(const S& scene, const Body& body, Vec q, Vec d) {
  Real far = Real(1.0f), speed = Real(0.0f);  // the nearest plane so far: its distance along its normal, and d's
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.at(i);
    const Real nd = dot(slab.n, d);
    const Real off =
        fma(Real(-slab.n[0]), q.x, fma(Real(-slab.n[1]), q.y, fma(Real(-slab.n[2]), q.z, Real(slab.middle))));
    // Of the two planes the one ahead, by the sign of nd.
    const Real here = Real(slab.half) + from_bits(bits(off) ^ (bits(nd) & Int((int)0x80000000u)));
    const Real rate = abs(nd);
    const Mask nearer = here * speed < far * rate;
    far = select(nearer, here, far);
    speed = select(nearer, rate, speed);
  }
  // From inside, rounding may put the way out a hair behind the start; it is still the way out.
  return max(far * reciprocal(max(speed, Real(1.0e-30f))), Real(0.0f));
}

// Lanes whose line passes the body's sphere ahead of q, or that are within it; q runs from the body's centre, and dd is
// d.d. What rounding may take is given back with room to spare, since this only spares work: of the discriminant's
// terms, which are as large as the distance's square, four millionths. Where they are too large to be told apart the
// body is asked.
POLYFLY_FN Mask passes_bounding_sphere(const Body& body, Vec q, Vec d, Real dd) {
  const Real zero = Real(0.0f), along = dot(q, d);
  const Real outside = fma(dot(q, q), Real(1.0f - 4.0e-6f), Real(-body.bounds));
  return (outside < zero) | ((along < zero) & !(fma(outside, dd, -(along * along)) > zero));
}

// How far a point of the body is from a slab's nearer plane.
POLYFLY_FN Real slab_distance(const Slab& slab, Vec q) {
  Real s = dot(slab.n, q);
  return min(Real(slab.hi) - s, s - Real(slab.lo));
}
// How far a point of a face is from the nearest other face's plane: the second nearest of all.
template <class S>
POLYFLY_FN Real next_face_distance(const S& scene, const Body& body, Vec q) {
  Real own = Real(FAR), next = Real(FAR);
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Real s = slab_distance(scene.slabs.at(i), q);
    next = min(next, max(own, s));
    own = min(own, s);
  }
  return next;
}

// Body k, for rays that may meet it.
template <class S>
POLYFLY_FN void intersect_body(const S& scene, int k, const Ray& ray, Mask active, Hit& hit) {
  const Body& body = scene.bodies.at(k);
  const Vec q = ray.o - vec(body.centre);
  const Mask own = active & ((ray.last_surface >> 2) == Int(k));
  if (any(own)) {
    // A ray inside it leaves it; one that has left it, or that it has mirrored, cannot meet it.
    const Mask here = own & (ray.last_surface == Int(body.code_in));
    if (any(here)) {
      const Real t = exit_distance(scene, body, q, ray.d);
      const Mask met = here & is_nearer(scene, hit, t, Int(k));
      hit.t = select(met, t, hit.t);
      hit.surface = select(met, Int(k), hit.surface);
      hit.leaving = met | hit.leaving;
    }
  }
  const Mask tested = active & !own & passes_bounding_sphere(body, q, ray.d, Real(1.0f));
  if (!any(tested)) return;
  const Interval c = intersect_convex(scene, body, q, ray.d);
  const Mask within = !(c.enter > Real(0.0f));
  const Real t = select(within, c.leave, c.enter);
  const Mask met = tested & (c.enter < c.leave) & (c.leave > Real(0.0f)) & is_nearer(scene, hit, t, Int(k));
  hit.t = select(met, t, hit.t);
  hit.surface = select(met, Int(k), hit.surface);
  hit.leaving = (met & within) | (hit.leaving & (!met));
}

// What body k takes from light that travels o + t d, 0 < t < 1; dd is d.d. Panes tint it once each, bars stop it.
template <class S>
POLYFLY_FN void transmittance_body(const S& scene, int k, Vec o, Vec d, Real dd, Int last_surface, Mask& active,
                                   Vec& remaining) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Body& body = scene.bodies.at(k);
  const Vec q = o - vec(body.centre);
  const Mask tested = active & (last_surface != Int(4 * k)) & passes_bounding_sphere(body, q, d, dd);
  if (!any(tested)) return;
  const Mask here = last_surface == Int(body.code_in);
  const Interval c = intersect_convex(scene, body, q, d);
  const Mask crossed = tested & (here | (c.enter < c.leave));
  Mask in = crossed & !here & (c.enter > zero) & (c.enter < one);
  Mask out = crossed & (here | (c.leave > zero)) & (c.leave < one);
  if (!any(in | out)) return;
  if (body.bar > 0.0f && body.shadow_transmit > 0.0f) {
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
  const Vec pane = vec(body.colour) * Real(body.shadow_transmit);
  remaining = select(in, remaining * pane, remaining);
  if constexpr (SceneTraits<S>::plain)
    remaining = select(out, remaining * pane, remaining);
  else
    remaining = select(out, remaining * (vec(body.colour) * Real(body.shadow_transmit_inside)), remaining);
  if (!SceneTraits<S>::plain && body.absorb[0] + body.absorb[1] + body.absorb[2] > 0.0f) {
    // From where the line enters, or starts, to where it leaves, or ends.
    const Real share = max(min(c.leave, one) - select(here, zero, max(c.enter, zero)), zero);
    const Real within = share * sqrt(squared_length(d));
    remaining = select(in | out, remaining * exp_minus(vec(body.absorb) * within), remaining);
  }
  active = active & (max_component(remaining) > zero);
}

// Where rays meet bodies and the floor, and what they take from light that passes through them.
//
// A body is met by its pairs of face planes (Kay and Kajiya, "Ray Tracing Complex Scenes", 1986), not
// by triangles: half the planes, no cracks. Since a body is convex, a ray that has left it cannot hit
// it again and a ray inside it can only leave it, so no distance needs an epsilon.
#pragma once
#include "math.cuh"
#include "types.cuh"

#define FAR 3.0e38f
#define NO_SURFACE (-1)

struct Ray {
  Vec o, d;      // d has length 1, but for shadow rays, where it reaches from the point to the light
  Vec weight;    // what this ray adds to its pixel, by colour
  Real length;   // of the path so far
  Int from;      // the surface just left
  Int bounces;
  Int pixel;     // within the tile
};

// The part of a line inside a body: it enters and leaves at these distances, or misses when the first is
// not the smaller.
struct Chord {
  Real enter, leave;
};

POLYFLY_FN Chord clip(const Scene& scene, const Body& body, Vec q, Vec d) {
  Chord c = {Real(-FAR), Real(FAR)};
  POLYFLY_ROLLED
  for (int i = 0; i < body.slabs; ++i) {
    const Slab& slab = scene.slabs.at(body.first_slab + i);
    // The tiny number is for a line along the planes: it keeps nought from dividing nought.
    const Real nd = mad(Real(slab.n[0]), d.x, mad(Real(slab.n[1]), d.y, mad(Real(slab.n[2]), d.z, Real(1.0e-30f))));
    const Real off = mad(Real(-slab.n[0]), q.x, mad(Real(-slab.n[1]), q.y, mad(Real(-slab.n[2]), q.z, Real(slab.middle))));
    const Real inverse = reciprocal(nd);
    const Real middle = off * inverse;
    const Real half = Real(slab.half) * magnitude(inverse);
    c.enter = most(c.enter, middle - half);
    c.leave = least(c.leave, middle + half);
  }
  return c;
}

// How far a ray from within the body has to go to leave it. Distances are compared as fractions, which
// leaves one division at the end.
POLYFLY_FN Real way_out(const Scene& scene, const Body& body, Vec q, Vec d) {
  Real far = Real(1.0f), speed = Real(0.0f);  // the nearest plane so far: its distance along its normal, and d's
  POLYFLY_ROLLED
  for (int i = 0; i < body.slabs; ++i) {
    const Slab& slab = scene.slabs.at(body.first_slab + i);
    const Real nd = dot(slab.n, d);
    const Real off = mad(Real(-slab.n[0]), q.x, mad(Real(-slab.n[1]), q.y, mad(Real(-slab.n[2]), q.z, Real(slab.middle))));
    // Of the two planes the one ahead, by the sign of nd.
    const Real here = Real(slab.half) + from_bits(bits(off) ^ (bits(nd) & Int((int)0x80000000u)));
    const Real rate = magnitude(nd);
    const Mask nearer = here * speed < far * rate;
    far = select(nearer, here, far);
    speed = select(nearer, rate, speed);
  }
  // From inside, rounding may put the way out a hair behind the start; it is still the way out.
  return most(far * reciprocal(most(speed, Real(1.0e-30f))), Real(0.0f));
}

// Lanes whose line passes the body's sphere ahead of q; q runs from the body's centre, and dd is 1 / d.d.
// The nearest point of the line is compared, which stays exact from far away; what rounding may take
// from it is given back with room to spare, since this only spares work.
POLYFLY_FN Mask near_sphere(const Body& body, Vec q, Vec d, Real dd) {
  const Real ahead = dot(q, d) * dd;
  const Vec nearest = along(q, d, -ahead);
  const Real limit = mad(dot(q, q), Real(2.0e-12f), Real(1.02f * body.radius * body.radius));
  return (dot(nearest, nearest) < limit) & ((ahead < Real(0.0f)) | (dot(q, q) < limit));
}

// How far a point of the body is from a slab's nearer plane.
POLYFLY_FN Real beside(const Slab& slab, Vec q) {
  Real s = dot(slab.n, q);
  return least(Real(slab.hi) - s, s - Real(slab.lo));
}
// How far a point of a face is from the nearest other face's plane: the second nearest of all.
POLYFLY_FN Real to_next_face(const Scene& scene, const Body& body, Vec q) {
  Real own = Real(FAR), next = Real(FAR);
  POLYFLY_ROLLED
  for (int i = 0; i < body.slabs; ++i) {
    const Real s = beside(scene.slabs.at(body.first_slab + i), q);
    next = least(next, most(own, s));
    own = least(own, s);
  }
  return next;
}

struct Crossing {
  Real t, u, v;
  Mask hit;
};
POLYFLY_FN Crossing cross_patch(const Patch& patch, Vec o, Vec d) {
  Crossing c;
  Real nd = dot(patch.n, d);
  nd = select(magnitude(nd) < Real(1.0e-30f), Real(1.0e-30f), nd);
  c.t = (Real(patch.d) - dot(patch.n, o)) * reciprocal(nd);
  c.hit = (c.t > Real(0.0f)) & (c.t < Real(1.0e30f));
  Vec p = along(o, d, c.t);
  c.u = dot(patch.u, p) + Real(patch.u[3]);
  c.v = dot(patch.v, p) + Real(patch.v[3]);
  const Real zero = Real(0.0f), one = Real(1.0f), overlap = Real(1.0e-6f);
  c.hit = c.hit & !(c.u < zero) & !(c.u > one) & !(c.v < zero) & !(c.v > one);
  if (patch.side == 1) c.hit = c.hit & (c.u < c.v + overlap);
  if (patch.side == 2) c.hit = c.hit & (c.v < c.u + overlap);
  return c;
}

struct Hit {
  Real t;
  Int surface;   // NO_SURFACE, a body's number, or FROM_FLOOR + patch
  Mask leaving;  // met from inside
  Real u, v;     // of the floor
};

// Whether something at t is the nearest so far; of equal ones it is the first in number.
POLYFLY_FN Mask nearer(const Hit& hit, Real t, Int number) {
#ifdef POLYFLY_INLINE_SCENE
  (void)number;  // asked in their order
  return t < hit.t;
#else
  return (t < hit.t) | ((t == hit.t) & (number < hit.surface));
#endif
}

POLYFLY_FN Mask is_sealed(Int from) { return (from > Int(0)) & ((from & Int(SEALED)) != Int(0)); }

// Body k, for rays that may meet it.
POLYFLY_FN void meet_body(const Scene& scene, int k, const Ray& ray, Mask active, Hit& hit) {
  const Body& body = scene.bodies.at(k);
  const Mask here = ray.from == Int(body.code_in);
  Mask asked = active & (ray.from != Int(4 * k));
  if (!any(asked)) return;
  const Vec q = ray.o - vec(body.centre);
  if (any(asked & here)) {
    const Real t = way_out(scene, body, q, ray.d);
    const Mask met = asked & here & nearer(hit, t, Int(k));
    hit.t = select(met, t, hit.t);
    hit.surface = select(met, Int(k), hit.surface);
    hit.leaving = met | hit.leaving;
  }
  asked = asked & !here;
  if (!any(asked)) return;
  if (body.slabs > 3) {
    asked = asked & near_sphere(body, q, ray.d, Real(1.0f));
    if (!any(asked)) return;
  }
  const Chord c = clip(scene, body, q, ray.d);
  const Mask within = !(c.enter > Real(0.0f));
  const Real t = select(within, c.leave, c.enter);
  const Mask met = asked & (c.enter < c.leave) & (c.leave > Real(0.0f)) & nearer(hit, t, Int(k));
  hit.t = select(met, t, hit.t);
  hit.surface = select(met, Int(k), hit.surface);
  hit.leaving = (met & within) | (hit.leaving & (!met));
}

// What body k takes from light that travels o + t d, 0 < t < 1; dd is 1 / d.d. Panes tint it once each, bars stop it.
POLYFLY_FN void dim_by_body(const Scene& scene, int k, Vec o, Vec d, Real dd, Int from, Mask& active, Vec& left) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Body& body = scene.bodies.at(k);
  const Mask here = from == Int(body.code_in);
  Mask asked = active & (from != Int(4 * k));
  if (!any(asked)) return;
  const Vec q = o - vec(body.centre);
  asked = asked & (here | near_sphere(body, q, d, dd));
  if (!any(asked)) return;
  const Chord c = clip(scene, body, q, d);
  const Mask crossed = asked & (here | (c.enter < c.leave));
  Mask in = crossed & !here & (c.enter > zero) & (c.enter < one);
  Mask out = crossed & (here | (c.leave > zero)) & (c.leave < one);
  if (!any(in | out)) return;
  if (body.bar > 0.0f && body.shade > 0.0f) {
    Mask stopped = first_lanes(0);
    if (any(in)) {
      const Vec p = along(q, d, c.enter);
      stopped = in & (to_next_face(scene, body, p) < Real(body.bar));
    }
    if (any(out)) {
      const Vec p = along(q, d, c.leave);
      stopped = stopped | (out & (to_next_face(scene, body, p) < Real(body.bar)));
    }
    left = select(stopped, vec(zero, zero, zero), left);
  }
  const Vec pane = vec(body.colour) * Real(body.shade);
  left = select(in, left * pane, left);
  left = select(out, left * pane, left);
  active = active & (brightest(left) > zero);
}

// The two questions that tracing asks of a scene: what a ray meets first, and what light comes through.
#pragma once
#ifdef POLYFLY_INLINE_SCENE
#include "intersect.cuh"
#else
#include "bvh.cuh"
#endif

POLYFLY_FN Hit closest(const Scene& scene, const Ray& ray, Mask active) {
  Hit hit = {Real(FAR), Int(NO_SURFACE), first_lanes(0), Real(0.0f), Real(0.0f)};
  // A sealed body's rays can meet nothing else.
  const Mask sealed = active & is_sealed(ray.from), open = active & !sealed;
#if POLYFLY_LANES == 1
  if (sealed) {
    const int k = ray.from >> 2;
    const Body& body = scene.bodies.at(k);
    const Hit out = {way_out(scene, body, ray.o - vec(body.centre), ray.d), k, true, 0.0f, 0.0f};
    return out;
  }
#else
  for (u32 left = mask_bits(sealed); left;) {
    const int k = lane(ray.from, __builtin_ctz(left)) >> 2;
    const Mask here = sealed & ((ray.from >> 2) == Int(k));
    meet_body(scene, k, ray, here, hit);
    left &= ~mask_bits(here);
  }
  if (!any(open)) return hit;
#endif
#ifndef POLYFLY_INLINE_SCENE
  if (scene.root != TREE_DONE) {
    closest_in_tree(scene, ray, open, hit);
  } else
#endif
  {
    POLYFLY_ROLLED
    for (int k = 0; k < scene.bodies.len; ++k) meet_body(scene, k, ray, open, hit);
  }
  POLYFLY_ROLLED
  for (int k = 0; k < scene.patches.len; ++k) {
    const Crossing c = cross_patch(scene.patches.at(k), ray.o, ray.d);
    const Mask met = open & c.hit & (c.t < hit.t) & (ray.from != Int(FROM_FLOOR + k));
    hit.t = select(met, c.t, hit.t);
    hit.surface = select(met, Int(FROM_FLOOR + k), hit.surface);
    hit.leaving = hit.leaving & !met;
    hit.u = select(met, c.u, hit.u);
    hit.v = select(met, c.v, hit.v);
  }
  return hit;
}

// Light that comes through: what is left, by colour, of light that travels o + t d, 0 < t < 1. The floor stops it.
POLYFLY_FN Vec transmittance(const Scene& scene, Vec o, Vec d, Int from, Mask active) {
  Vec left = vec(Real(1.0f), Real(1.0f), Real(1.0f));
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real dd = reciprocal(dot(d, d));
  POLYFLY_ROLLED
  for (int k = 0; k < scene.patches.len; ++k) {
    const Patch& patch = scene.patches.at(k);
    // Most shadow rays stay on one side of the floor.
    const Real start = dot(patch.n, o) - Real(patch.d);
    const Real end = start + dot(patch.n, d);
    const Mask crosses = active & !(start * end > zero) & (from != Int(FROM_FLOOR + k));
    if (!any(crosses)) continue;
    const Crossing c = cross_patch(patch, o, d);
    const Mask stopped = crosses & c.hit & (c.t < one);
    left = select(stopped, vec(zero, zero, zero), left);
    active = active & !stopped;
  }
#ifndef POLYFLY_INLINE_SCENE
  if (scene.root != TREE_DONE) {
    dim_by_tree(scene, o, d, dd, from, active, left);
    return left;
  }
#endif
  POLYFLY_ROLLED
  for (int k = 0; k < scene.bodies.len; ++k) dim_by_body(scene, k, o, d, dd, from, active, left);
  return left;
}

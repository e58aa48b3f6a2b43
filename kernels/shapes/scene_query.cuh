// The two queries of a scene: the closest hit of a ray, and the transmittance of a shadow ray.
#pragma once
#include "../shading/floor.cuh"
#include "bvh.cuh"
#include "displaced.cuh"
#include "floor.cuh"
#include "grid.cuh"

// Visits what a line may meet, by the grid or by the tree.
template <class S, class V>
POLYFLY_FN void walk(const S& scene, Vec o, Vec d, V& visitor) {
#if POLYFLY_LANES == 1
  if constexpr (SceneTraits<S>::grid) return walk_grid(scene, o, d, visitor);
#endif
  walk_bvh(scene, o, d, visitor);
}

template <class S>
POLYFLY_FN Hit closest_hit(const S& scene, const Ray& ray, Mask active) {
  Hit hit = {Real(FAR), Int(NO_SURFACE), first_lanes(0), Real(0.0f), Real(0.0f)};
  const Interval kept = kept_interval(scene, ray.o, ray.d);
  // A sealed body's rays can meet nothing else.
  const Mask isolated = active & is_isolated(ray.last_surface), open = active & !isolated;
#if POLYFLY_LANES == 1
  if (!SceneTraits<S>::grid && isolated) {
    const int k = surface_index(ray.last_surface >> ORIGIN_SHIFT);
    const Body& body = scene.bodies.at(k);
    const Hit out = {distance_inside(scene, body, ray.o - vec(body.centre), ray.d, true), surface_number(SHAPE_BODY, k),
                     true, 0.0f, 0.0f};
    return out;
  }
#else
  for (u32 remaining = mask_bits(isolated); remaining;) {
    const int origin = lane(ray.last_surface, __builtin_ctz(remaining));
    const Mask here = isolated & (ray.last_surface == Int(origin));
    intersect_body(scene, origin >> ORIGIN_SHIFT & SURFACE_INDEX_MASK, ray, kept, here, hit);
    remaining &= ~mask_bits(here);
  }
  if (!any(open)) return hit;
#endif
  if constexpr (SceneTraits<S>::small) {
    POLYFLY_NO_UNROLL
    for (int k = 0; k < scene.bodies.len; ++k) intersect_body(scene, k, ray, kept, open, hit);
  } else {
    ClosestHitVisitor<S> visitor = {scene, ray, kept, open, hit};
    walk(scene, ray.o, ray.d, visitor);
  }
  Mask tested = open;
  POLYFLY_NO_UNROLL
  for (int k = 0; k < scene.floor.len; ++k) {
    const FloorQuad& quad = scene.floor.at(k);
    if (is_ground(scene, quad)) {
      tested = tested & goes_below(quad, ray.o, ray.d, hit.t);
      if (!any(tested)) break;
    }
    const Mask leaves = tested & (ray.last_surface != Int(origin_outside(SHAPE_FLOOR, k)));
    const Real t = surface_distance(scene, quad, ray.o, ray.d, hit.t, leaves);
    const Mask ahead = leaves & (t > Real(0.0f)) & (t < hit.t);
    if (!any(ahead)) continue;
    const FloorHit c = floor_hit(scene, quad, ray.o, ray.d, t);
    const Mask met = ahead & c.hit;
    hit.t = select(met, c.t, hit.t);
    hit.surface = select(met, Int(surface_number(SHAPE_FLOOR, k)), hit.surface);
    hit.leaving = hit.leaving & !met;
    hit.u = select(met, c.u, hit.u);
    hit.v = select(met, c.v, hit.v);
  }
  return hit;
}

// The transmittance of the segment o + t d, 0 < t < 1, by color. The floor is opaque unless its material transmits.
template <class S>
POLYFLY_FN Vec transmittance(const S& scene, Vec o, Vec d, Int last_surface, Mask active) {
  Vec remaining = vec(Real(1.0f), Real(1.0f), Real(1.0f));
  if (has_fog(scene)) remaining = remaining * fog_to_light(scene, o, d);
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Segment line = {o, d, dot(d, d), reciprocal(squared_length(d)), inverse_power_of_two(largest(d)),
                        last_surface};
  const Interval kept = kept_interval(scene, o, d);
  Mask reaching = active;
  POLYFLY_NO_UNROLL
  for (int k = 0; k < scene.floor.len; ++k) {
    const FloorQuad& quad = scene.floor.at(k);
    if (is_ground(scene, quad)) reaching = reaching & goes_below(quad, o, d, one);
    const Mask tested = active & reaching & (last_surface != Int(origin_outside(SHAPE_FLOOR, k)));
    if (!any(tested)) continue;
    // Most shadow rays stay on one side of the floor.
    const Real level = Real(shadow_level(scene, quad));
    const Real start = dot(quad.n, o) - level;
    const Real end = start + dot(quad.n, d);
    const Mask crosses = tested & !(start * end > zero);
    if (!any(crosses)) continue;
    const FloorHit c = floor_hit(scene, quad, o, d, floor_distance(quad, level, o, d));
    const Mask stopped = crosses & c.hit & (c.t < one);
    if (uses<FEATURE_CLEAR_FLOOR>(scene)) {
      const Material& material = scene.materials.at(FLOOR_MATERIAL);
      // An endless floor that fades is still opaque: what it shows in its place is the sky.
      const bool is_hazy = fades(scene, quad) && !is_endless(scene, quad);
      if (any(stopped) && !is_below_floor(scene, quad) && (is_hazy || material.transparency + material.sheet > 0.0f)) {
        const Vec through = floor_transmittance(scene, k, fma(d, c.t, o), d, c.u, c.v, stopped);
        remaining = select(stopped, remaining * through, remaining);
        active = active & (max_component(remaining) > zero);
        continue;
      }
    }
    remaining = select(stopped, vec(zero, zero, zero), remaining);
    active = active & !stopped;
  }
  if constexpr (SceneTraits<S>::small) {
    POLYFLY_NO_UNROLL
    for (int k = 0; k < scene.bodies.len; ++k) transmittance_body(scene, k, line, kept, active, remaining);
    return remaining;
  } else {
    TransmittanceVisitor<S> visitor = {scene, line, kept, active, remaining};
    walk(scene, o, d, visitor);
    return visitor.remaining;
  }
}

// The shading point of a hit: the interaction with its shape, then what the material makes of it.
#pragma once
#include "../shapes/sphere.cuh"
#include "../shapes/triangle.cuh"
#include "bars.cuh"
#include "floor.cuh"

// Calls f(index, lanes) for each distinct index in the lanes of m.
template <class F>
POLYFLY_FN void for_each_index(Int index, Mask m, F f) {
#if POLYFLY_LANES == 1
  if (m) f(index, true);
#else
  for (u32 pending = mask_bits(m); pending;) {
    const int k = lane(index, __builtin_ctz(pending));
    const Mask lanes = m & (index == Int(k));
    f(k, lanes);
    pending &= ~mask_bits(lanes);
  }
#endif
}

template <class S>
POLYFLY_FN Surface<S> shading_point(const S& scene, const FrameParams& frame, const Ray& ray, const Hit& hit, Mask met,
                                    const Wavelength& wave) {
  const Int kind = surface_kind(hit.surface), index = surface_index(hit.surface);
  const Mask body = met & (kind == Int(SHAPE_BODY)), floor = met & (kind == Int(SHAPE_FLOOR));
  Interaction x = interaction_at(ray, hit);
  if constexpr (!SceneTraits<S>::small) {
    const Mask sphere = met & (kind == Int(SHAPE_SPHERE)), triangle = met & (kind == Int(SHAPE_TRIANGLE));
    if (any(sphere)) interaction_sphere(scene, index, ray, sphere, x);
    if (any(triangle)) interaction_triangle(scene, index, ray, triangle, x);
  }
  for_each_index(index, body, [&](int k, Mask m) { interaction_body(scene, k, ray, hit, m, x); });
  for_each_index(index, floor, [&](int k, Mask m) { interaction_floor(scene, frame, k, ray, hit, m, x); });
  Surface<S> s = scatter(scene, ray, hit, x, met, wave);
  for_each_index(index, body, [&](int k, Mask m) { shade_bars(scene, frame, k, ray, x, m, s); });
  for_each_index(index, floor, [&](int k, Mask m) { shade_floor(scene, k, ray, hit, m, s); });
  return s;
}

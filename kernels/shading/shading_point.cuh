// The shading point of a hit: the interaction with its shape, then what the material makes of it.
#pragma once
#include "../shapes/bvh.cuh"
#include "bars.cuh"
#include "floor.cuh"

template <class S>
POLYFLY_FN Surface<S> shading_point(const S& scene, const FrameParams& frame, const Ray& ray, const Hit& hit, Mask met,
                                    const Wavelength& wave) {
  const Int kind = surface_kind(hit.surface), index = surface_index(hit.surface);
  const Mask body = met & (kind == Int(SHAPE_BODY)), floor = met & (kind == Int(SHAPE_FLOOR));
  Interaction x = interaction_at(ray, hit);
  if constexpr (SceneTraits<S>::small) {
    if (any(body)) interaction_body(scene, index, ray, hit, body, x);
  } else {
#define SHAPE(KIND, name, array, features)                              \
  if constexpr (has_features<S>(features)) {                            \
    const Mask name = met & (kind == Int(SHAPE_##KIND));                \
    if (any(name)) interaction_##name(scene, index, ray, hit, name, x); \
  }
#include "../shapes.def"
#undef SHAPE
  }
  for_each_index(index, floor,
                 [&](int k, Mask m) POLYFLY_LAMBDA { interaction_floor(scene, frame, k, ray, hit, m, x); });
  Surface<S> s = scatter(scene, ray, hit, x, met, wave);
  for_each_index(index, body, [&](int k, Mask m) POLYFLY_LAMBDA { shade_bars(scene, frame, k, ray, x, m, s); });
  for_each_index(index, floor, [&](int k, Mask m) POLYFLY_LAMBDA { shade_floor(scene, k, ray, hit, m, s); });
  return s;
}

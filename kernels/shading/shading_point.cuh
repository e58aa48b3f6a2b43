// The shading point of a hit: the interaction with its shape, then what the material makes of it.
#pragma once
#include "../shapes/bvh.cuh"
#include "bars.cuh"
#include "floor.cuh"

// The interaction with shapes other than bodies.
template <class S>
POLYFLY_FN void interaction_of_kind(const S& scene, Int kind, Int index, const Ray& ray, const Hit& hit, Mask met,
                                    Interaction& x) {
  if constexpr (!SceneTraits<S>::small) {
#define SHAPE(KIND, name, array, features)                                \
  if constexpr (SHAPE_##KIND != SHAPE_BODY && has_features<S>(features)) { \
    const Mask name = met & (kind == Int(SHAPE_##KIND));                  \
    if (uses<features>(scene) && any(name)) interaction_##name(scene, index, ray, hit, name, x);   \
  }
#include "../shapes.def"
#undef SHAPE
  }
}

template <class S>
POLYFLY_FN void paint_rectangles(const S& scene, const FrameParams& frame, Int kind, Int index, const Ray& ray, const Hit& hit, Mask met,
                                 Interaction& x) {
  if constexpr (has_features<S>(FEATURE_PAINT)) {
    const Mask triangle = met & (kind == Int(SHAPE_TRIANGLE));
    if (uses<FEATURE_PAINT>(scene) && any(triangle)) {
      const Real cone = cone_at(ray, hit.t) * Real(frame.pixel_footprint);
      const Paint paint = triangle_paint(scene, index, hit.surface, x.p, x.n, ray.d, cone, triangle);
      const Mask painted = paint.cover > Real(0.0f);
      x.texture = select(painted, paint.light, x.texture);
      x.painted = select(painted, paint.cover, x.painted);
    }
  }
}

template <class S>
POLYFLY_FN Surface<S> shading_point(const S& scene, const FrameParams& frame, const Ray& ray, const Hit& hit, Mask met,
                                    const Wavelength& wave) {
  const Int kind = surface_kind(hit.surface), index = surface_index(hit.surface);
  const Mask body = met & (kind == Int(SHAPE_BODY)), floor = met & (kind == Int(SHAPE_FLOOR));
  Interaction x = interaction_at(ray, hit);
#if POLYFLY_LANES == 1
  // A ray has a single surface: bodies and floors get code of their own, which is shorter than code for all materials.
  if (uses<FEATURE_BODIES>(scene) && body) {
    interaction_body(scene, index, ray, hit, true, x);
    cap(scene, ray, hit, true, x);
    if constexpr (has_features<S>(FEATURE_FINISHES))
      if (uses<FEATURE_FINISHES>(scene) && has_finish(scene, index)) finish_body(scene, frame, index, ray, hit, true, x);
    constexpr int USES = has_features<S>(FEATURE_FINISHES) ? TEXTURED | REFRACTS : REFRACTS;
    Surface<S> s = scatter<USES>(scene, ray, hit, x, true, wave);
    shade_bars(scene, frame, index, ray, x, true, s);
    return s;
  }
  if (SceneTraits<S>::small || floor) {
    interaction_floor(scene, frame, index, ray, hit, true, x);
    Surface<S> s = scatter<TEXTURED | SHEETS>(scene, ray, hit, x, true, wave);
    shade_floor(scene, index, ray, hit, true, s);
    return s;
  }
  interaction_of_kind(scene, kind, index, ray, hit, met, x);
  cap(scene, ray, hit, met, x);
  paint_rectangles(scene, frame, kind, index, ray, hit, met, x);
  return scatter<REFRACTS | EMITS>(scene, ray, hit, x, met, wave);
#else
  if (any(body)) interaction_body(scene, index, ray, hit, body, x);
  if constexpr (has_features<S>(FEATURE_FINISHES)) {
    if (scene.finishes.len > 0)
      for_each_index(index, body, [&](int k, Mask m) POLYFLY_LAMBDA {
        if (has_finish(scene, k)) finish_body(scene, frame, k, ray, hit, m, x);
      });
  }
  interaction_of_kind(scene, kind, index, ray, hit, met, x);
  cap(scene, ray, hit, met & !floor, x);
  paint_rectangles(scene, frame, kind, index, ray, hit, met, x);
  for_each_index(index, floor,
                 [&](int k, Mask m) POLYFLY_LAMBDA { interaction_floor(scene, frame, k, ray, hit, m, x); });
  Surface<S> s = scatter<ANY_USE>(scene, ray, hit, x, met, wave);
  for_each_index(index, body, [&](int k, Mask m) POLYFLY_LAMBDA { shade_bars(scene, frame, k, ray, x, m, s); });
  for_each_index(index, floor, [&](int k, Mask m) POLYFLY_LAMBDA { shade_floor(scene, k, ray, hit, m, s); });
  return s;
#endif
}

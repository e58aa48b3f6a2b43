// A floor whose surface goes up and down below its plane: a ray marches through the layer between crests and troughs, by
// equal steps that see the heights of a mip level as coarse as they are long (Tevs, Ihrke and Seidel, "Maximum mipmaps for fast,
// accurate, and scalable dynamic height field rendering", 2008, tells of such walks), and the step that crosses the surface is halved.
// Shadow rays pass the waves: the floor stops them at the depth of its troughs.
#pragma once
#include "../shading/texture.cuh"
#include "floor.cuh"

constexpr int DISPLACED_STEPS = 24, DISPLACED_HALVINGS = 6;

template <class S>
POLYFLY_FN bool is_displaced(const S& scene) {
  return uses<FEATURE_DISPLACED>(scene) && scene.constants.height_levels > 0;
}
// The depth of the troughs below the floor's plane, which the crests touch.
POLYFLY_FN float trough_depth(const Constants& constants) {
  return constants.height_depth * relief_share(constants) * (float)constants.relief_layers;
}
// The level that shadow rays take for the floor.
template <class S>
POLYFLY_FN float shadow_level(const S& scene, const FloorQuad& quad) {
  return is_displaced(scene) ? quad.d - trough_depth(scene.constants) : quad.d;
}

// How far the surface lies below the plane at p, seen by steps that cover this share of the floor's side.
template <class S>
POLYFLY_NOINLINE Real depth_below(const S& scene, const FloorQuad& quad, Vec p, Real covered, Mask m) {
  const Constants& constants = scene.constants;
  const Real u = dot(quad.u, p) + Real(quad.u[3]), v = dot(quad.v, p) + Real(quad.v[3]);
  const int first = scene.mip_levels.len - constants.height_levels;
  Real depth = Real(0.0f);
  POLYFLY_NO_UNROLL
  for (int i = 0; i < constants.relief_layers; ++i) {
    Real layer_u = u, layer_v = v;
    relief_layer(constants, i, layer_u, layer_v);
    const Vec height = sample_texture(scene.texels, scene.mip_levels, first, constants.height_levels, layer_u, layer_v,
                                      covered * Real(constants.relief_tiles), m);
    depth = depth + (Real(1.0f) - height.x);
  }
  return depth * Real(constants.height_depth * relief_share(constants));
}

// The distance along a ray of a displaced surface, or -1 if there is none before `far`.
template <class S>
POLYFLY_NOINLINE Real displaced_distance(const S& scene, const FloorQuad& quad, Vec o, Vec d, Real far, Mask m) {
  const Real zero = Real(0.0f), half = Real(0.5f), none = Real(-1.0f);
  const float depth = trough_depth(scene.constants);
  // The ray's height above the plane is start + t rate.
  const Real start = dot(quad.n, o) - Real(quad.d), rate = dot(quad.n, d);
  const Real top = floor_distance(quad, Real(quad.d), o, d), bottom = floor_distance(quad, Real(quad.d - depth), o, d);
  const Real enter = max(min(top, bottom), zero), leave = min(max(top, bottom), min(far, Real(1.0e15f)));
  const Mask within = m & (enter < leave);
  if (!any(within)) return none;
  const Real step = select(within, (leave - enter) * Real(1.0f / DISPLACED_STEPS), zero);
  const Real level = sqrt_or_zero(fma(-rate, rate, Real(1.0f)));
  const Real covered = step * level * Real(quad.uv_per_length);
  const Real first = select(within, enter, zero);
  // Whether a point is above the surface. A ray from outside of the layer comes from above if it goes down.
  const auto is_above = [&](Real t, Mask lanes) POLYFLY_LAMBDA {
    return fma(t, rate, start) + depth_below(scene, quad, fma(d, t, o), covered, lanes) > zero;
  };
  const Mask falls = rate < zero;
  const Mask from_outside = first > zero;
  const Mask above = (from_outside & falls) | (!from_outside & is_above(first, within));
  // Where it leaves the layer it is below all troughs or above all crests, whatever rounding says.
  const Mask passes = within & !(max(top, bottom) > leave);
  Real before = first, after = first;
  Mask searching = within, crossed = first_lanes(0);
  POLYFLY_NO_UNROLL
  for (int i = 1; i <= DISPLACED_STEPS && any(searching); ++i) {
    const Real t = fma(step, Real((float)i), first);
    Mask now = is_above(t, searching);
    if (i == DISPLACED_STEPS) now = (passes & !falls) | (now & !passes);
    const Mask crosses = searching & ((now & !above) | (above & !now));
    after = select(crosses, t, after);
    before = select(searching & !crosses, t, before);
    crossed = crossed | crosses;
    searching = searching & !crosses;
  }
  if (!any(crossed)) return none;
  POLYFLY_NO_UNROLL
  for (int i = 0; i < DISPLACED_HALVINGS; ++i) {
    const Real middle = (before + after) * half;
    const Mask now = is_above(middle, crossed);
    const Mask same = crossed & ((now & above) | !(now | above));
    before = select(same, middle, before);
    after = select(crossed & !same, middle, after);
  }
  return select(crossed, (before + after) * half, none);
}

// The distance along a ray of the floor's surface.
template <class S>
POLYFLY_FN Real surface_distance(const S& scene, const FloorQuad& quad, Vec o, Vec d, Real far, Mask m) {
  if constexpr (has_features<S>(FEATURE_DISPLACED)) {
    if (is_displaced(scene)) return displaced_distance(scene, quad, o, d, far, m);
  }
  return floor_distance(quad, Real(quad.d), o, d);
}

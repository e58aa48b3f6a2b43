// A floor whose surface goes up and down below its plane: a ray marches through the layer between crests and troughs, by
// steps that see the heights of a mip level as coarse as the shortest of them is long (Tevs, Ihrke and Seidel, "Maximum mipmaps for
// fast, accurate, and scalable dynamic height field rendering", 2008, tells of such walks), then secants within the step that crosses
// the surface. High above the surface a step is longer, by slopes of the surface as in sphere tracing (Hart, 1996). Shadow rays pass
// the waves: the floor stops them at the depth of its troughs.
#pragma once
#include "../shading/texture.cuh"
#include "floor.cuh"

// At most as many steps; the shortest are that share of the way through the layer.
constexpr int DISPLACED_STEPS = 16, DISPLACED_SECANTS = 2;

template <class S>
POLYFLY_FN bool is_displaced(const S& scene, const FloorQuad& quad) {
  return uses<FEATURE_DISPLACED>(scene) && scene.constants.height_levels > 0 && !is_below_floor(scene, quad);
}
// The level that shadow rays take for the floor.
template <class S>
POLYFLY_FN float shadow_level(const S& scene, const FloorQuad& quad) {
  return is_displaced(scene, quad) ? quad.d - scene.constants.trough_depth : quad.d;
}

// The mip levels of heights that a ray sees.
struct HeightLevels {
  LevelOf fine, coarse;
  Real part;  // of the coarse one
  bool blends;
  Real slope;  // twice the root mean square of the surface's
};
// covered: the share of the floor's side that a step along the ray covers. The layers of a relief have the slopes of one
// (relief_share).
template <class S>
POLYFLY_FN HeightLevels height_levels(const S& scene, const FloorQuad& quad, Real covered, Mask m) {
  const Constants& constants = scene.constants;
  const int first = scene.mip_levels.len - constants.height_levels;
  const LevelsBetween between =
      levels_between(scene.mip_levels.at(first), constants.height_levels, covered * Real(constants.relief_tiles));
  const Int fine = between.fine + Int(first);
  const Real slope = read(&scene.mip_levels.data[0].slope, WORDS(MipLevel) * scene.mip_levels.len, fine * Int(WORDS(MipLevel)), m);
  return {level_of(scene.mip_levels, fine, m), level_of(scene.mip_levels, between.coarse + Int(first), m),
          between.part, any(m & (between.part > Real(0.0f))),
          slope * Real(constants.height_depth * constants.relief_tiles * quad.uv_per_length)};
}

// A texel of heights holds those of the four corners of its bilinear patch (height_levels in src/device_scene/upload.rs).
POLYFLY_FN Real bilinear_height(const Array<int>& texels, const LevelOf& level, Real u, Real v, Mask m) {
  const BilinearPlace at = bilinear_place(level, u, v);
  const Two<int> rows = read_two(texels.data, texels.len, (level.first + at.y * level.width + at.x) << 1, m);
  const auto along = [&](Int pair) POLYFLY_LAMBDA {
    return mix(to_real(pair & Int(0xffff)), to_real((pair >> 16) & Int(0xffff)), at.fx);
  };
  return mix(along(rows.first), along(rows.second), at.fy) * Real(1.0f / 65535.0f);
}

// How far the surface lies below the plane at p.
template <class S>
POLYFLY_NOINLINE Real depth_below(const S& scene, const FloorQuad& quad, Vec p, const HeightLevels& levels, Mask m) {
  const Constants& constants = scene.constants;
  const Real u = dot(quad.u, p) + Real(quad.u[3]), v = dot(quad.v, p) + Real(quad.v[3]);
  Real depth = Real(0.0f);
  POLYFLY_NO_UNROLL
  for (int i = 0; i < constants.relief_layers; ++i) {
    Real layer_u = u, layer_v = v;
    relief_layer(constants, i, layer_u, layer_v);
    Real height = bilinear_height(scene.texels, levels.fine, layer_u, layer_v, m);
    if (levels.blends) height = mix(height, bilinear_height(scene.texels, levels.coarse, layer_u, layer_v, m), levels.part);
    depth = depth + (Real(1.0f) - height);
  }
  return depth * Real(constants.height_depth * relief_share(constants));
}

// The distance along a ray of a displaced surface, or -1 if there is none before `far`.
template <class S>
POLYFLY_NOINLINE Real displaced_distance(const S& scene, const FloorQuad& quad, Vec o, Vec d, Real far, Mask m) {
  const Real zero = Real(0.0f), none = Real(-1.0f);
  // The ray's height above the plane is start + t rate.
  const Real start = dot(quad.n, o) - Real(quad.d), rate = dot(quad.n, d);
  const Real top = floor_distance(quad, Real(quad.d - scene.constants.crest_depth), o, d);
  const Real bottom = floor_distance(quad, Real(quad.d - scene.constants.trough_depth), o, d);
  const Real enter = max(min(top, bottom), zero), leave = min(max(top, bottom), min(far, Real(1.0e15f)));
  const Mask within = m & (enter < leave);
  if (!any(within)) return none;
  const Real step = select(within, (leave - enter) * Real(1.0f / DISPLACED_STEPS), zero);
  const Real level = sqrt_or_zero(fma(-rate, rate, Real(1.0f)));
  const HeightLevels levels = height_levels(scene, quad, step * level * Real(quad.uv_per_length), within);
  const Real first = select(within, enter, zero);
  // The height of a point of the ray above the surface.
  const auto height_at = [&](Real t, Mask lanes) POLYFLY_LAMBDA {
    return fma(t, rate, start) + depth_below(scene, quad, fma(d, t, o), levels, lanes);
  };
  // A ray from outside of the layer comes from above if it goes down.
  const Mask falls = rate < zero;
  const Mask from_outside = first > zero;
  Real before = first, after = first, height_before = height_at(first, within), height_after = zero;
  const Mask above = (from_outside & falls) | (!from_outside & (height_before > zero));
  // Where it leaves the layer it is below all troughs or above all crests, whatever rounding says.
  const Mask passes = within & !(max(top, bottom) > leave);
  Mask searching = within, crossed = first_lanes(0);
  // How far the ray goes before it comes nearer to the surface by one.
  const Real per_height = reciprocal(max(fma(levels.slope, level, select(above, -rate, rate)), Real(1.0e-6f)));
  POLYFLY_NO_UNROLL
  for (int i = 1; i <= DISPLACED_STEPS && any(searching); ++i) {
    const Real t = min(before + max(step, abs(height_before) * per_height), leave);
    const Real height = height_at(t, searching);
    const Mask ends = i == DISPLACED_STEPS ? searching : searching & !(t < leave);
    const Mask now = (ends & passes & !falls) | ((height > zero) & !(ends & passes));
    const Mask crosses = searching & ((now & !above) | (above & !now)), stays = searching & !crosses;
    after = select(crosses, t, after);
    height_after = select(crosses, height, height_after);
    before = select(stays, t, before);
    height_before = select(stays, height, height_before);
    crossed = crossed | crosses;
    searching = stays;
  }
  if (!any(crossed)) return none;
  // Where a straight line between the two heights meets the surface.
  Real met = after;
  POLYFLY_NO_UNROLL
  for (int i = 0; i <= DISPLACED_SECANTS; ++i) {
    const Real share = abs(height_before) * reciprocal(within_domain(abs(height_before) + abs(height_after)));
    met = fma(after - before, share, before);
    if (i == DISPLACED_SECANTS) break;
    const Real height = height_at(met, crossed);
    const Mask now = height > zero, same = crossed & ((now & above) | !(now | above));
    before = select(same, met, before);
    height_before = select(same, height, height_before);
    after = select(crossed & !same, met, after);
    height_after = select(crossed & !same, height, height_after);
  }
  return select(crossed, met, none);
}

// The distance along a ray of the floor's surface.
template <class S>
POLYFLY_FN Real surface_distance(const S& scene, const FloorQuad& quad, Vec o, Vec d, Real far, Mask m) {
  if (is_displaced(scene, quad)) return displaced_distance(scene, quad, o, d, far, m);
  return floor_distance(quad, Real(quad.d), o, d);
}

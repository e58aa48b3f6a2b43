// The sky: a gradient from the horizon up, or an environment map.
#pragma once
#include "../medium.cuh"
#include "../shapes/ray.cuh"
#include "texture.cuh"

// The map is the octahedron |x| + |y| + |z| = 1 unfolded into the square from -1 to 1, with the lower half in its
// corners (Engelhardt and Dachsbacher, "Octahedron environment maps", 2008). It needs no angles, so all devices compute
// the same.
struct OctahedralUv {
  Real u, v;
};
POLYFLY_FN OctahedralUv octahedral_encode(Vec d) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real scale = reciprocal(abs(d.x) + abs(d.y) + abs(d.z));
  const Real x = d.x * scale, y = d.y * scale;
  const Mask below = d.z < zero;
  const Real over_x = one - abs(y), over_y = one - abs(x);
  OctahedralUv p;
  p.u = select(below, select(x < zero, -over_x, over_x), x);
  p.v = select(below, select(y < zero, -over_y, over_y), y);
  return p;
}
// The point of the octahedron at (u, v).
POLYFLY_FN Vec octahedral_decode(Real u, Real v) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real z = one - abs(u) - abs(v);
  const Mask below = z < zero;
  const Real over_x = one - abs(v), over_y = one - abs(u);
  return vec(select(below, select(u < zero, -over_x, over_x), u), select(below, select(v < zero, -over_y, over_y), v),
             z);
}

POLYFLY_FN Vec sky_texel(const Array<float>& map, Int at, Mask m) { return read_vec(map.data, map.len, at, m); }

// Bilinear; the map's border repeats the texels beyond each side.
template <class S>
POLYFLY_FN Vec sky_map(const S& scene, Vec d, Mask m) {
  // Lanes outside of m may hold any direction.
  const OctahedralUv p = octahedral_encode(select(m, d, vec(Real(0.0f), Real(0.0f), Real(1.0f))));
  const Real half_side = Real(0.5f * (float)scene.constants.sky_side), middle = half_side + Real(0.5f);
  const Real x = fma(p.u, half_side, middle), y = fma(p.v, half_side, middle);
  const Real last = Real((float)scene.constants.sky_side);
  const Int x0 = to_index(x, last), y0 = to_index(y, last);
  const Real fx = x - to_real(x0), fy = y - to_real(y0);
  const int stride = 3 * (scene.constants.sky_side + 2);
  const Int at = y0 * Int(stride) + x0 * Int(3);
  const Vec upper = mix(sky_texel(scene.sky, at, m), sky_texel(scene.sky, at + Int(3), m), fx);
  const Vec lower = mix(sky_texel(scene.sky, at + Int(stride), m), sky_texel(scene.sky, at + Int(stride + 3), m), fx);
  return mix(upper, lower, fy);
}

// The difference that stars make to the sky map in direction d, which may be negative. The map contains their mean
// radiance, for BLURRED rays. All other rays see discs of the same total brightness, as wide as a sample's footprint or
// STAR_SIZE, in radians. angle: between samples on this ray; pixel: between pixels.
#define STAR_SIZE 8.0e-4f
template <class S>
POLYFLY_NOINLINE Vec starlight(const S& scene, Vec d, Real angle, Real pixel, Mask m) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real radius = max(max(angle * Real(1.25f), pixel * Real(0.8f)), Real(STAR_SIZE));
  const Mask shown = m & (d.z > zero) & (radius < Real(STAR_REACH));
  Vec sum = vec(zero, zero, zero);
  if (!any(shown)) return sum;
  const Vec towards = select(shown, d, vec(zero, zero, one));
  const OctahedralUv p = octahedral_encode(towards);
  const Real half = Real(0.5f * (float)STAR_CELLS);
  const Real last = Real((float)(STAR_CELLS - 1));
  const Int x = to_index(fma(p.u, half, half), last), y = to_index(fma(p.v, half, half), last);
  const Int cell = select(shown, y * Int(STAR_CELLS) + x, Int(0));
  const Two<int> ends = read_two(scene.star_cells.data, scene.star_cells.len, cell, shown);
  Int at = ends.first;
  const Int end = ends.second;
  const Real inverse = reciprocal(select(shown, radius * radius, one));
  const float* data = (const float*)scene.stars.data;
  const int words = WORDS(Star) * scene.stars.len;
  for (Mask active = shown & (at < end); any(active); active = active & (at < end)) {
    const Int star = at * Int(WORDS(Star));
    const Vec off = towards - read_vec(data, words, star + Int(WORD(Star, direction)), active);
    const Real rest = max(fma(dot(off, off), -inverse, one), zero);
    const Vec light = read_vec(data, words, star + Int(WORD(Star, irradiance)), active) * (rest * rest);
    sum = select(active, sum + light, sum);
    at = at + Int(1);
  }
  // The mean of the disc's profile, (1 - r^2)^2, is a third.
  const Real share = one - exp_minus(max(towards.z, zero) * Real(6.0f));
  const Vec mean = vec(scene.constants.starlight) * share;
  return select(shown, sum * (inverse * Real(0.95492966f)) - mean, vec(zero, zero, zero));
}

// The radiance of the sun's disc in direction d, darker towards its limb.
template <class S>
POLYFLY_NOINLINE Vec sunlight(const S& scene, Vec d, Mask m) {
  const Real zero = Real(0.0f);
  const Vec off = d - vec(scene.constants.sun_direction);
  const Real rest = fma(dot(off, off), Real(-scene.constants.sun_sharpness), Real(1.0f));
  const Mask shown = m & (rest > zero);
  if (!any(shown)) return vec(zero, zero, zero);
  // The mean over the disc is 1.
  const Real limb = fma(sqrt_or_zero(rest), Real(0.75f), Real(0.5f));
  return select(shown, vec(scene.constants.sun_radiance) * limb, vec(zero, zero, zero));
}

// Radiance from direction d, in the lanes of m.
template <class S>
POLYFLY_FN Vec sky(const S& scene, Vec d, Mask m) {
  if (uses<FEATURE_SKY_MAP>(scene) && scene.constants.sky_side > 0) return sky_map(scene, d, m);
  return mix(vec(scene.constants.horizon), vec(scene.constants.zenith),
             max(fma(d.z, Real(scene.constants.sky_slope), Real(scene.constants.sky_base)), Real(0.0f)));
}

// The radiance that a ray meets if it misses all surfaces, in the lanes of m. With a transparent background, camera
// rays meet none.
template <class S>
POLYFLY_FN Vec sky_radiance(const S& scene, const FrameParams& frame, const Ray& ray, Mask m) {
  Vec light = sky(scene, ray.d, m);
  const Mask clear = m & ((ray.bounces & Int(BLURRED)) == Int(0));
  if (uses<FEATURE_STARS>(scene) && scene.stars.len > 0 && any(clear)) {
    // The squared focal length in pixels, clamped to the domain of sqrt.
    const Vec forward = vec(frame.forward);
    const Real zero = Real(0.0f), focal2 = max(min(dot(forward, forward), Real(1.0e30f)), Real(1.0e-30f));
    const Real pixel = reciprocal(sqrt(focal2));
    const Vec both = light + starlight(scene, ray.d, cone_growth(ray) * Real(frame.pixel_footprint), pixel, clear);
    light = vec(max(both.x, zero), max(both.y, zero), max(both.z, zero));
  }
  // The sun is one of the lights. Rays of surfaces that have sampled them, or their caustics, do not count it again.
  if (uses<FEATURE_SUN>(scene) && scene.constants.sun_sharpness > 0.0f)
    light = light + sunlight(scene, ray.d, m & ((ray.bounces & Int(LIGHTS_SAMPLED | LAMPS_SAMPLED)) == Int(0)));
  light = sky_through_fog(scene, ray.o, ray.d, light);
  if (uses<FEATURE_TRANSPARENT_SKY>(scene) && scene.constants.transparent)
    return select((ray.bounces & Int(BOUNCE_MASK)) > Int(0), light, vec(Real(0.0f), Real(0.0f), Real(0.0f)));
  return light;
}

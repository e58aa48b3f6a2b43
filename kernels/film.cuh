// From sums of radiance to bytes: mean, tone curve, sRGB.
#pragma once
#include "math.cuh"
#include "post/resolve.cuh"
#include "types.cuh"

// A non-negative number of at most FIXED_MAX, in fixed point.
POLYFLY_FN Int to_fixed(Real x) { return to_int(fma(x, Real(FIXED_ONE), Real(0.5f))); }

// A non-negative term of a pixel's sum, in fixed point.
struct FixedLight {
  Int r, g, b;
};
POLYFLY_FN FixedLight to_fixed(Vec light) { return {to_fixed(light.x), to_fixed(light.y), to_fixed(light.z)}; }
// Few terms are bright: they are counted in units that are 1 << BRIGHT_SHIFT times as large, with the same hue.
POLYFLY_FN Mask is_bright(Vec light) { return max_component(light) > Real(FIXED_MAX); }
POLYFLY_NOINLINE FixedLight bright_to_fixed(Vec light) {
  const Real brightest = max_component(light), half = Real(0.5f), most = Real(BRIGHT_MAX);
  const Real dim = most * reciprocal(max(min(brightest, Real(DOMAIN_MAX)), most));
  // More than DOMAIN_MAX becomes white.
  const Vec cut = vec(min(light.x * dim, most), min(light.y * dim, most), min(light.z * dim, most));
  light = select(brightest > most, cut, light);
  const Real unit = Real(BRIGHT_ONE);
  return {to_int(fma(light.x, unit, half)), to_int(fma(light.y, unit, half)), to_int(fma(light.z, unit, half))};
}
#if POLYFLY_LANES == 1
// The same in the units of a sum.
struct SumTerms {
  i64 r, g, b;
};
POLYFLY_FN SumTerms sum_terms(Vec light) {
  if (is_bright(light)) {
    const FixedLight fixed = bright_to_fixed(light);
    return {(i64)fixed.r << BRIGHT_SHIFT, (i64)fixed.g << BRIGHT_SHIFT, (i64)fixed.b << BRIGHT_SHIFT};
  }
  const FixedLight fixed = to_fixed(light);
  return {fixed.r, fixed.g, fixed.b};
}
#endif

// Linear up to the knee, then a monotonic shoulder that stays below 1.
template <class S>
POLYFLY_FN Real tone(const S& scene, Real x) {
  const float knee = scene.constants.knee;
  const Real over = x - Real(knee);
  const Real bent = fma(over, Real(1.0f - knee) * reciprocal(max(over, Real(1.0e-6f)) + Real(1.0f - knee)), Real(knee));
  return select(over > Real(0.0f), bent, x);
}
// The index into Scene::tone_lut, whose entries are spaced by the square root of linear light.
template <class S>
POLYFLY_FN Int tone_lut_index(const S& scene, Real linear) {
  const Real last = Real((float)TONE_LUT_LAST);
  return to_index(fma(sqrt(max(tone(scene, linear), Real(1.0e-20f))), last, Real(0.5f)), last);
}
// The 8-bit code of linear light, in 256ths.
template <class S>
POLYFLY_FN Int tone_code(const S& scene, Real linear, Mask m) {
  const Int place = select(m, tone_lut_index(scene, linear), Int(0));
  return read(scene.tone_lut.data, scene.tone_lut.len, place, m);
}
// The 8-bit code; it is rounded up where its fraction reaches 256 - threshold 256ths. A threshold of 128 rounds to
// nearest.
template <class S>
POLYFLY_FN Int tone_map(const S& scene, Real linear, Mask m, Int threshold) {
  return (tone_code(scene, linear, m) + threshold) >> 8;
}
POLYFLY_FN Int pack_rgba(Int r, Int g, Int b) { return r | (g << 8) | (b << 16) | Int((int)0xff000000u); }
template <class S>
POLYFLY_FN Int tone_map_rgb(const S& scene, Real r, Real g, Real b, Mask m, Int threshold = Int(128)) {
  return pack_rgba(tone_map(scene, r, m, threshold), tone_map(scene, g, m, threshold),
                   tone_map(scene, b, m, threshold));
}
// Dither thresholds, 0 to 255, that are evenly distributed in every neighborhood (Roberts, "The unreasonable
// effectiveness of quasirandom sequences", 2018); `row` differs between rows and between frames.
POLYFLY_FN Int dither_threshold(Int x, Int row) {
  return shift_down(wrap_add(wrap_mul(x, Int((int)0xc13fa9a9u)), row), 24);
}
// The number of a row of a frame: the sequence's second step, and another one from frame to frame.
POLYFLY_FN Int dither_row(int y, int frame) {
  return wrap_add(wrap_mul(Int(y), Int((int)0x91e10da5u)), wrap_mul(Int(frame), Int((int)0x9e3779b9u)));
}

// A frame has at most 2^28 pixels.
POLYFLY_FN int film_index(const Constants& constants, const FilmBuffers& film, int x, int y) {
  return (y - film.first_row) * constants.width + x;
}
// Stores a pixel's sum for the post steps, or adds it to an earlier one.
POLYFLY_FN void store_sums(const Constants& constants, const FilmBuffers& film, int x, int y, i64 r, i64 g, i64 b) {
  i64* to = film.sums + 3 * film_index(constants, film, x, y);
  to[0] = film.adds ? to[0] + r : r;
  to[1] = film.adds ? to[1] + g : g;
  to[2] = film.adds ? to[2] + b : b;
}

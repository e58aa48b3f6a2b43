// Textures: images, reliefs and the floor's light map.
#pragma once
#include "../math.cuh"
#include "../types.cuh"

struct Texel {
  Real r, g, b;
};
POLYFLY_FN Texel fetch(const Array<int>& texels, Int i, Mask m) {
  const Two<int> words = read_two(texels.data, texels.len, i << 1, m);
  const Int rg = words.first;
  return {to_real(rg & Int(0xffff)), to_real((rg >> 16) & Int(0xffff)), to_real(words.second & Int(0xffff))};
}
// x - floor(x).
POLYFLY_FN Real fract(Real x) {
  const Real limit = Real(1.0e9f), part = x - to_real(to_int(max(min(x, limit), -limit)));
  const Real positive = select(part < Real(0.0f), part + Real(1.0f), part);
  return max(min(positive, Real(1.0f)), Real(0.0f));
}
POLYFLY_FN Real mix(Real a, Real b, Real t) { return fma(b - a, t, a); }
POLYFLY_FN Vec mix(Vec a, Vec b, Real t) { return vec(mix(a.x, b.x, t), mix(a.y, b.y, t), mix(a.z, b.z, t)); }
POLYFLY_FN Vec mix(Texel a, Texel b, Real t) { return vec(mix(a.r, b.r, t), mix(a.g, b.g, t), mix(a.b, b.b, t)); }

// The number of mip levels of the floor's image.
template <class S>
POLYFLY_FN int picture_levels(const S& scene) {
  if constexpr (!has_features<S>(FEATURE_FLOOR)) return scene.mip_levels.len;
  return scene.mip_levels.len - scene.constants.relief_levels - scene.constants.height_levels;
}

// Maps (u, v) of the floor to layer i of its relief. The second of two layers moves in the opposite direction, with an offset.
POLYFLY_FN void relief_layer(const Constants& constants, int i, Real& u, Real& v) {
  const float sign = i == 0 ? 1.0f : -1.0f, shift = i == 0 ? 0.0f : 0.381966f;
  const Real tiles = Real(constants.relief_tiles);
  u = fract(fma(u, tiles, Real(sign * constants.relief_u + shift)));
  v = fract(fma(v, tiles, Real(sign * constants.relief_v + shift)));
}
// The share of a layer, which keeps the slope and roughness of a single one.
POLYFLY_FN float relief_share(const Constants& constants) { return constants.relief_layers == 2 ? 0.70710678f : 1.0f; }

// A mip level of each lane.
struct LevelOf {
  Int first, width, height;
};
POLYFLY_FN LevelOf level_of(const Array<MipLevel>& levels, Int level, Mask m) {
  const int* table = &levels.data[0].first;
  const int words = WORDS(MipLevel) * levels.len;
  const Three<int> row = read_three(table, words, level * Int(WORDS(MipLevel)), m);
  return {row.first, row.second, row.third};
}

// The texel up left of a point, clamped at the border, and the weights of its neighbors.
struct BilinearPlace {
  Int x, y, right, bottom;  // right and bottom: the last texels
  Real fx, fy;
};
POLYFLY_FN BilinearPlace bilinear_place(const LevelOf& level, Real u, Real v) {
  const Real half = Real(0.5f), zero = Real(0.0f);
  const Real x = max(fma(u, to_real(level.width), -half), zero);
  const Real y = max(fma(v, to_real(level.height), -half), zero);
  const Int right = level.width - Int(1), bottom = level.height - Int(1);
  const Int x0 = to_index(x, to_real(right)), y0 = to_index(y, to_real(bottom));
  return {x0, y0, right, bottom, x - to_real(x0), y - to_real(y0)};
}
POLYFLY_FN Vec bilinear(const Array<int>& texels, const LevelOf& level, Real u, Real v, Mask m) {
  const BilinearPlace at = bilinear_place(level, u, v);
  const Int x1 = select(at.x < at.right, at.x + Int(1), at.x), y1 = select(at.y < at.bottom, at.y + Int(1), at.y);
  const Int row0 = level.first + at.y * level.width, row1 = level.first + y1 * level.width;
  const Vec upper = mix(fetch(texels, row0 + at.x, m), fetch(texels, row0 + x1, m), at.fx);
  const Vec lower = mix(fetch(texels, row1 + at.x, m), fetch(texels, row1 + x1, m), at.fx);
  return mix(upper, lower, at.fy) * Real(1.0f / 65535.0f);
}

// The two mip levels that a sample lies between, and the share of the coarse one, so that a distant surface does not alias. The logarithm is
// read from the exponent bits and linear in between.
struct LevelsBetween {
  Int fine, coarse;
  Real part;
};
// covered: the share of the picture's longest side.
POLYFLY_FN LevelsBetween levels_between(const MipLevel& finest, int levels, Real covered) {
  const int longest = finest.width > finest.height ? finest.width : finest.height;
  const Real count = max(covered * Real((float)longest), Real(1.0f));
  const Int word = bits(count);
  const Int level = (word >> 23) - Int(127), last = Int(levels - 1);
  const Real part = from_bits((word & Int(0x7fffff)) | Int(0x3f800000)) - Real(1.0f);
  const Mask is_last = !(level < last);
  return {select(is_last, last, level), select(is_last, last, level + Int(1)), select(is_last, Real(0.0f), part)};
}

// Trilinear, of `levels` levels from `first` on.
POLYFLY_FN Vec sample_texture(const Array<int>& texels, const Array<MipLevel>& all, int first, int levels, Real u, Real v,
                              Real covered, Mask m) {
  const LevelsBetween between = levels_between(all.at(first), levels, covered);
  const Vec fine = bilinear(texels, level_of(all, between.fine + Int(first), m), u, v, m);
  const Mask blends = m & (between.part > Real(0.0f));
  if (!any(blends)) return fine;
  return mix(fine, bilinear(texels, level_of(all, between.coarse + Int(first), m), u, v, m), between.part);
}
// The footprint of a sample on a slanted surface, of a cone's width there: widened by the square root of the foreshortening,
// as a compromise between blur and aliasing.
POLYFLY_FN Real slanted_footprint(Real cone, Real facing) {
  const Real slant = max(facing * facing, Real(1.0e-4f));
  return cone * reciprocal(sqrt(sqrt(slant)));
}

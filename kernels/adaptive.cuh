// Adaptive sampling: every pixel takes a few samples, the pilot. Pixels whose error estimate is above the limit then
// double their samples, round by round, until it is below or they have the largest number of samples. The error is the
// difference between two halves of a pixel's samples, after the tone curve. A pixel's number of samples depends on the
// pixel and its neighbors only, never on tiles or devices (after Whitted, 1980, and the stopping condition of Dammertz
// et al., "A hierarchical automatic stopping condition for Monte Carlo global illumination", 2010, here per pixel).
//
// Whitted's integrator: contrast with an adjacent pixel counts as error too, and an error estimate falls by at most
// half a round, since few samples may agree by chance. Path tracing: a pixel whose samples have all missed a small
// light has no error and is too dark; a pixel that has hit it has a large one. A stopping condition on the pixel's own
// samples would refine only the bright ones, and the frame would be biased towards dark. So the error of a pixel is
// estimated from the pilots around it, without its own.
#pragma once
#include "film.cuh"

// 8-bit codes of a color, in 256ths.
struct Codes {
  Int r, g, b;
};
template <class S>
POLYFLY_FN Codes codes_of(const S& scene, Real r, Real g, Real b, Mask m) {
  const Codes codes = {tone_code(scene, r, m), tone_code(scene, g, m), tone_code(scene, b, m)};
  return codes;
}
POLYFLY_FN Int difference(Int a, Int b) { return select(a < b, b - a, a - b); }
POLYFLY_FN Int max_difference(const Codes& a, const Codes& b) {
  const Int r = difference(a.r, b.r), g = difference(a.g, b.g), blue = difference(a.b, b.b);
  const Int largest = select(r < g, g, r);
  return select(largest < blue, blue, largest);
}
POLYFLY_FN Int pack_codes(const Codes& c) {
  const Int half = Int(128);
  return pack_rgba((c.r + half) >> 8, (c.g + half) >> 8, (c.b + half) >> 8);
}
// A pixel's pilot: its color, and in the top eight bits the error in quarters of a code, clamped.
constexpr u32 PILOT_COLOUR = 0xffffffu;
constexpr int ERROR_SHIFT = 6, MAX_ERROR = 255;
POLYFLY_FN Int pilot_of(const Codes& half, const Codes& whole) {
  const Int error = max_difference(half, whole) >> ERROR_SHIFT, largest = Int(MAX_ERROR);
  return (pack_codes(whole) & Int((int)PILOT_COLOUR)) | shift_up(select(error < largest, error, largest), 24);
}

// Contrast with an adjacent pixel counts as an error of an eighth of the difference.
constexpr int CONTRAST_ERROR = 256 / 8;
POLYFLY_FN int contrast(u32 a, u32 b) {
  int largest = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    const int d = (int)((a >> shift) & 255u) - (int)((b >> shift) & 255u);
    const int size = d < 0 ? -d : d;
    largest = largest < size ? size : largest;
  }
  return largest;
}
// The pilots of a pixel, in the middle, and of those around it.
struct Neighbourhood {
  u32 at[5][5];
};
// The error after the pilot, in 256ths of a code. Whitted: from the pixel and its four neighbors. Path tracing: 1.25
// times the mean of the 24 pixels around it.
template <class Integrator>
POLYFLY_FN int pilot_error(const Neighbourhood& around) {
  const u32 own = around.at[2][2];
  if constexpr (Integrator::STOCHASTIC) {
    int sum = -(int)(own >> 24);
    for (int j = 0; j < 5; ++j)
      for (int i = 0; i < 5; ++i) sum += (int)(around.at[j][i] >> 24);
    return (sum << ERROR_SHIFT) * 5 / 96;
  }
  const int a = contrast(own, around.at[1][2]), b = contrast(own, around.at[3][2]);
  const int c = contrast(own, around.at[2][1]), d = contrast(own, around.at[2][3]);
  const int ab = a < b ? b : a, cd = c < d ? d : c;
  const int beside = (ab < cd ? cd : ab) * CONTRAST_ERROR, error = (int)(own >> 24) << ERROR_SHIFT;
  return error < beside ? beside : error;
}
// The error after another round, with twice as many samples. Path tracing: the noise falls by the square root of two.
template <class Integrator>
POLYFLY_FN Int next_error(Int apart, Int before) {
  if constexpr (Integrator::STOCHASTIC) return (before * Int(181)) >> 8;
  const Int kept = before >> 1;
  return select(apart < kept, kept, apart);
}
POLYFLY_FN int clamp_index(int i, int end) { return i < 0 ? 0 : i < end ? i : end - 1; }
// A pixel of the pilot; outside the frame the nearest one.
POLYFLY_FN u32 pilot_at(const Constants& constants, const FilmBuffers& film, int x, int y) {
  const int row = clamp_index(y, constants.height) - film.pilot_row;
  return film.pilot[row * constants.width + clamp_index(x, constants.width)];
}
POLYFLY_FN int pilot_index(const Constants& constants, const FilmBuffers& film, int x, int y) {
  return (y - film.pilot_row) * constants.width + x;
}
// The number of samples of the next round of a pixel that has taken `taken`.
POLYFLY_FN int next_round(const Launch& launch, int taken) {
  const int remaining = launch.samples_per_pixel - taken;
  return remaining < taken ? remaining : taken;
}
// The tolerated error. Each round costs twice as much as the last, and the limit rises by the square root of two: that
// minimizes the error of the frame for its cost.
struct ErrorLimit {
  float now;
  // The limit for pixels that have taken so many samples.
  POLYFLY_METHOD static ErrorLimit after(const Launch& launch, int taken) {
    ErrorLimit limit = {(float)launch.noise};
    for (int n = launch.min_samples; n < taken; n += next_round(launch, n)) limit.rise();
    return limit;
  }
  POLYFLY_METHOD bool allows(int error) const { return !((float)error > now); }
  POLYFLY_METHOD void rise() { now *= 1.41421356f; }
};
POLYFLY_FN bool is_pilot(const FilmBuffers& film) { return film.pilot && !film.rgba && !film.sums; }

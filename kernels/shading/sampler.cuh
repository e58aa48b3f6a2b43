// The sampler: Owen-scrambled points of Sobol's sequence that depend only on the pixel, the sample, the frame and the
// dimension, so that all devices get the same.
#pragma once
#include "../math.cuh"
#include "../types.cuh"

// "lowbias32" of Chris Wellons, "Prospecting for hash functions", 2018.
POLYFLY_FN Int hash_u32(Int x) {
  x = wrap_mul(x ^ shift_down(x, 16), Int(0x7feb352d));
  x = wrap_mul(x ^ shift_down(x, 15), Int((int)0x846ca68bu));
  return x ^ shift_down(x, 16);
}
POLYFLY_FN Int reverse_bits(Int x) {
#ifdef __CUDACC__
  return (int)__brev((u32)x);
#else
  x = shift_up(x & Int(0x55555555), 1) | (shift_down(x, 1) & Int(0x55555555));
  x = shift_up(x & Int(0x33333333), 2) | (shift_down(x, 2) & Int(0x33333333));
  x = shift_up(x & Int(0x0f0f0f0f), 4) | (shift_down(x, 4) & Int(0x0f0f0f0f));
  x = shift_up(x & Int(0x00ff00ff), 8) | (shift_down(x, 8) & Int(0x00ff00ff));
  return shift_up(x, 16) | shift_down(x, 16);
#endif
}
// Owen scrambling of a number whose bits are reversed: whether a bit flips depends on all lower bits (Burley,
// "Practical hash-based Owen scrambling", 2020; the constants are Vegdahl's of 2021).
POLYFLY_FN Int scramble_reversed(Int x, Int seed) {
  x = x ^ wrap_mul(x, Int(0x3d20adea));
  x = wrap_add(x, seed);
  x = wrap_mul(x, shift_down(seed, 16) | Int(1));
  x = x ^ wrap_mul(x, Int(0x05526c56));
  return x ^ wrap_mul(x, Int(0x53a22864));
}

// A sample's index in the sequence: the samples of a pixel are consecutive, and so are those of aligned squares of 2,
// 4, 8 .. 128 pixels, along a Z-order curve. Adjacent pixels then share the points of one sequence, and their errors
// have as little low-frequency content as blue noise (Ahmed and Wonka, "Screen-space blue-noise diffusion of Monte
// Carlo sampling error via hierarchical ordering of pixels", 2020).
struct SamplePoint {
  Int index;
  Int seed;  // shared by all samples of a square of 128 pixels in a frame
};
// Moves the bits of a 7-bit number to every second bit.
POLYFLY_FN Int spread_bits(Int x) {
  x = (x | shift_up(x, 4)) & Int(0x070f);
  x = (x | shift_up(x, 2)) & Int(0x1333);
  return (x | shift_up(x, 1)) & Int(0x1555);
}
POLYFLY_FN SamplePoint sample_point(const Constants& constants, const FrameParams& frame, Int px, Int py, Int sample) {
  const Int place = spread_bits(px & Int(127)) | shift_up(spread_bits(py & Int(127)), 1);
  const Int square = shift_down(px, 7) | shift_up(shift_down(py, 7), 16);
  const SamplePoint p = {wrap_add(shift_up(place, constants.sample_bits), sample),
                         hash_u32(wrap_add(hash_u32(square), Int(frame.number)))};
  return p;
}
// The sample point of one of `count` subsamples per sample.
POLYFLY_FN SamplePoint subsample(SamplePoint p, Int count, int which) {
  p.index = wrap_add(wrap_mul(p.index, count), Int(which));
  return p;
}

POLYFLY_FN Real unit_real(Int bits) { return to_real(shift_down(bits, 8)) * Real(1.0f / 16777216.0f); }
// Two-dimensional point n of a sample, 0 <= u, v < 1: the first two dimensions of Sobol's sequence, shuffled and
// Owen-scrambled with seeds of n. The generator matrix of the second dimension is Pascal's triangle modulo 2, which
// five shifts apply.
struct Pair {
  Real u, v;
};
POLYFLY_FN Pair get_2d(SamplePoint p, Int n) {
  const Int seed = hash_u32(wrap_add(p.seed, wrap_mul(n, Int((int)0x9e3779b9u))));
  const Int index = reverse_bits(scramble_reversed(reverse_bits(p.index), seed));
  Int second = index;
  second = second ^ (shift_down(second, 1) & Int(0x55555555));
  second = second ^ (shift_down(second, 2) & Int(0x33333333));
  second = second ^ (shift_down(second, 4) & Int(0x0f0f0f0f));
  second = second ^ (shift_down(second, 8) & Int(0x00ff00ff));
  second = second ^ shift_down(second, 16);
  const Pair pair = {unit_real(reverse_bits(scramble_reversed(index, wrap_mul(seed, Int((int)0xc2b2ae35u))))),
                     unit_real(reverse_bits(scramble_reversed(second, wrap_mul(seed, Int((int)0x85ebca6bu)))))};
  return pair;
}
// The two-dimensional points of a path: position in the pixel, position on the lens, wavelength, then those of each
// bounce, then those of spherical lights.
constexpr int DIM_PIXEL = 0, DIM_LENS = 1, DIM_WAVELENGTH = 2, DIM_FIRST_BOUNCE = 3;
constexpr int DIM_LOBE = 0, DIM_DIRECTION = 1, DIM_EMITTER = 2, DIM_POINT = 3, DIMS_PER_BOUNCE = 4;
constexpr int DIM_LIGHTS = DIM_FIRST_BOUNCE + DIMS_PER_BOUNCE * (MAX_DEPTH + 1);
POLYFLY_FN Int dim_of_bounce(Int bounces, int which) {
  return (bounces & Int(BOUNCE_MASK)) * Int(DIMS_PER_BOUNCE) + Int(DIM_FIRST_BOUNCE + which);
}

// sin and cos of half of pi a, -1 <= a <= 1, by a Taylor polynomial. Where |a| is at most 1/2, they are exact to a few units in the last
// place; near 1 the cosine is off by up to 2e-4.
POLYFLY_FN void half_sincos(Real a, Real& s, Real& c) {
  const Real aa = a * a;
  const Real p = fma(aa,
                     fma(aa,
                         fma(aa, fma(aa, fma(aa, Real(-3.5988432e-6f), Real(1.6044118e-4f)), Real(-4.6817541e-3f)),
                             Real(7.9692626e-2f)),
                         Real(-6.4596410e-1f)),
                     Real(1.5707963f));
  s = a * p;
  c = sqrt(max(fma(-s, s, Real(1.0f)), Real(1.0e-20f)));
}
// sin and cos of 2 pi u, 0 <= u < 1, from those of half the angle.
POLYFLY_FN void sincos_2pi(Real u, Real& sine, Real& cosine) {
  Real s, c;
  half_sincos(fma(u, Real(2.0f), Real(-1.0f)), s, c);
  sine = Real(-2.0f) * s * c;
  cosine = fma(Real(2.0f) * s, s, Real(-1.0f));
}
// sin and cos of 2 pi u, -1 <= u <= 1, to a few units in the last place of 1.
POLYFLY_FN void sincos_turns(Real u, Real& sine, Real& cosine) {
  // Half turns, the nearest whole number of them, and what is left.
  const Real halves = u * Real(2.0f);
  const Int nearest = to_int(halves + select(halves < Real(0.0f), Real(-0.5f), Real(0.5f)));
  Real s, c;
  half_sincos(halves - to_real(nearest), s, c);
  const Mask odd = (nearest & Int(1)) != Int(0);
  sine = select(odd, Real(-2.0f), Real(2.0f)) * s * c;
  const Real rest = fma(Real(-2.0f) * s, s, Real(1.0f));
  cosine = select(odd, -rest, rest);
}
// An orthonormal basis around an axis (Duff et al., "Building an orthonormal basis, revisited", 2017).
struct Basis {
  Vec right, down;
};
POLYFLY_FN Basis basis_around(Vec axis) {
  const Real one = Real(1.0f), sign = select(axis.z < Real(0.0f), -one, one);
  const Real a = -reciprocal(sign + axis.z), b = axis.x * axis.y * a;
  const Basis basis = {vec(fma(sign * axis.x * axis.x, a, one), sign * b, -(sign * axis.x)),
                       vec(b, fma(axis.y * axis.y, a, sign), -axis.y)};
  return basis;
}
// A uniformly distributed direction.
POLYFLY_FN Vec uniform_sphere(Real u, Real v) {
  Real sine, cosine;
  sincos_2pi(u, sine, cosine);
  const Real z = fma(v, Real(-2.0f), Real(1.0f)), r = sqrt(max(fma(-z, z, Real(1.0f)), Real(1.0e-20f)));
  return vec(r * cosine, r * sine, z);
}
// A cosine-weighted direction, not normalized: the normal plus a uniform direction on the unit sphere.
POLYFLY_FN Vec cosine_direction(Vec n, Vec on_sphere) {
  const Vec sum = n + on_sphere;
  return select(dot(sum, sum) > Real(1.0e-6f), sum, n);
}

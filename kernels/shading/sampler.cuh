// Numbers at random: a draw depends only on the pixel, the sample, the frame and the bounce, so every device draws the
// same.
#pragma once
#include "../math.cuh"
#include "../types.cuh"

// "lowbias32" of Chris Wellons, "Prospecting for hash functions", 2018.
POLYFLY_FN Int hash_u32(Int x) {
  x = wrap_mul(x ^ shift_down(x, 16), Int(0x7feb352d));
  x = wrap_mul(x ^ shift_down(x, 15), Int((int)0x846ca68bu));
  return x ^ shift_down(x, 16);
}
POLYFLY_FN Int path_seed(const Frame& frame, Int px, Int py, Int sample) {
  return hash_u32(wrap_add(hash_u32(wrap_add(hash_u32(px ^ wrap_mul(py, Int(65536))), sample)), Int(frame.number)));
}
// The same for all samples of a pixel.
POLYFLY_FN Int seed_of_pixel(const Frame& frame, Int px, Int py) {
  return hash_u32(wrap_add(hash_u32(px ^ wrap_mul(py, Int(65536))), Int(frame.number)));
}
POLYFLY_FN Real unit_real(Int bits) { return to_real(shift_down(bits, 8)) * Real(1.0f / 16777216.0f); }
// Point `index` of a plane's sequence whose points keep apart from each other (Roberts, "The unreasonable effectiveness
// of quasirandom sequences", 2018), moved by two draws of a pixel's seed from `n` on.
struct Pair {
  Real u, v;
};
POLYFLY_FN Pair spread_2d(Int seed, Int n, Int index) {
  const Int step = Int((int)0x9e3779b9u);
  const Pair p = {
      unit_real(wrap_add(wrap_mul(index, Int((int)0xc13fa9a9u)), hash_u32(wrap_add(seed, wrap_mul(n, step))))),
      unit_real(
          wrap_add(wrap_mul(index, Int((int)0x91e10da5u)), hash_u32(wrap_add(seed, wrap_mul(n + Int(1), step)))))};
  return p;
}
// Draw n of a seed: 0 <= x < 1.
POLYFLY_FN Real random_1d(Int seed, Int n) {
  return to_real(shift_down(hash_u32(wrap_add(seed, wrap_mul(n, Int((int)0x9e3779b9u)))), 8)) *
      Real(1.0f / 16777216.0f);
}
// The draws of bounce b are DIMENSIONS_PER_BOUNCE b and those after it; bounce 0 is the camera's.
constexpr int DIMENSIONS_PER_BOUNCE = 8;
// Balls of light draw beyond all of these.
constexpr int LIGHT_DIMENSION = DIMENSIONS_PER_BOUNCE * (MAX_DEPTH + 2);

// Sine and cosine of 2 pi u, 0 <= u < 1, from those of half the angle; the polynomial is Taylor's.
POLYFLY_FN void sincos_2pi(Real u, Real& sine, Real& cosine) {
  const Real a = fma(u, Real(2.0f), Real(-1.0f)), aa = a * a;
  const Real p = fma(aa,
                     fma(aa,
                         fma(aa, fma(aa, fma(aa, Real(-3.5988432e-6f), Real(1.6044118e-4f)), Real(-4.6817541e-3f)),
                             Real(7.9692626e-2f)),
                         Real(-6.4596410e-1f)),
                     Real(1.5707963f));
  const Real s = a * p, c = sqrt(max(fma(-s, s, Real(1.0f)), Real(1.0e-20f)));
  sine = Real(-2.0f) * s * c;
  cosine = fma(Real(2.0f) * s, s, Real(-1.0f));
}
// Two directions across an axis, each at right angles to the other (Duff et al., "Building an orthonormal basis,
// revisited", 2017).
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
// A direction, all alike likely.
POLYFLY_FN Vec uniform_sphere(Real u, Real v) {
  Real sine, cosine;
  sincos_2pi(u, sine, cosine);
  const Real z = fma(v, Real(-2.0f), Real(1.0f)), r = sqrt(max(fma(-z, z, Real(1.0f)), Real(1.0e-20f)));
  return vec(r * cosine, r * sine, z);
}

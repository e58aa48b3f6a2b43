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
// Draw n of a seed: 0 <= x < 1.
POLYFLY_FN Real random_1d(Int seed, Int n) {
  return to_real(shift_down(hash_u32(wrap_add(seed, wrap_mul(n, Int((int)0x9e3779b9u)))), 8)) *
      Real(1.0f / 16777216.0f);
}
// The draws of bounce b are DIMENSIONS_PER_BOUNCE b and those after it; bounce 0 is the camera's.
constexpr int DIMENSIONS_PER_BOUNCE = 8;

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
// A direction, all alike likely.
POLYFLY_FN Vec uniform_sphere(Real u, Real v) {
  Real sine, cosine;
  sincos_2pi(u, sine, cosine);
  const Real z = fma(v, Real(-2.0f), Real(1.0f)), r = sqrt(max(fma(-z, z, Real(1.0f)), Real(1.0e-20f)));
  return vec(r * cosine, r * sine, z);
}

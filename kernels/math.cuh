// Three-dimensional vectors over lanes. Sums of products are fused in one fixed order on every device.
#pragma once
#include "gather.cuh"

struct Vec {
  Real x, y, z;
};

POLYFLY_FN Vec vec(Real x, Real y, Real z) {
  Vec r = {x, y, z};
  return r;
}
POLYFLY_FN Vec vec(const float* p) { return vec(Real(p[0]), Real(p[1]), Real(p[2])); }
// Three consecutive words.
POLYFLY_FN Vec read_vec(const float* data, int len, Int i, Mask m) {
  const Three<float> words = read_three(data, len, i, m);
  return vec(words.first, words.second, words.third);
}
POLYFLY_FN Vec operator+(Vec a, Vec b) { return vec(a.x + b.x, a.y + b.y, a.z + b.z); }
POLYFLY_FN Vec operator-(Vec a, Vec b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }
POLYFLY_FN Vec operator*(Vec a, Vec b) { return vec(a.x * b.x, a.y * b.y, a.z * b.z); }
POLYFLY_FN Vec operator*(Vec a, Real s) { return vec(a.x * s, a.y * s, a.z * s); }
POLYFLY_FN Vec operator-(Vec a) { return vec(-a.x, -a.y, -a.z); }
POLYFLY_FN Real dot(Vec a, Vec b) { return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z)); }
POLYFLY_FN Real dot(const float* a, Vec b) { return fma(Real(a[0]), b.x, fma(Real(a[1]), b.y, Real(a[2]) * b.z)); }
POLYFLY_FN Vec fma(Vec direction, Real t, Vec origin) {
  return vec(fma(direction.x, t, origin.x), fma(direction.y, t, origin.y), fma(direction.z, t, origin.z));
}
POLYFLY_FN Vec cross(Vec a, Vec b) {
  return vec(fma(a.y, b.z, -(a.z * b.y)), fma(a.z, b.x, -(a.x * b.z)), fma(a.x, b.y, -(a.y * b.x)));
}
POLYFLY_FN Vec normalise(Vec a POLYFLY_CALLER) {
  return a * reciprocal(sqrt(dot(a, a) POLYFLY_OF_CALLER) POLYFLY_OF_CALLER);
}
POLYFLY_FN Vec select(Mask m, Vec a, Vec b) {
  return vec(select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z));
}

// The domain of reciprocal and sqrt is DOMAIN_MIN to DOMAIN_MAX (docs/arithmetic.md). These functions clamp arguments
// to it.
POLYFLY_FN Real within_domain(Real x) { return max(min(x, Real(DOMAIN_MAX)), Real(DOMAIN_MIN)); }
// The square root of a number that may be 0 or slightly negative.
POLYFLY_FN Real sqrt_or_zero(Real x POLYFLY_CALLER) {
  return select(x > Real(DOMAIN_MIN), sqrt(max(x, Real(DOMAIN_MIN)) POLYFLY_OF_CALLER), Real(0.0f));
}
// The squared length of a vector that may be very short, at least DOMAIN_MIN.
POLYFLY_FN Real squared_length(Vec a) { return max(dot(a, a), Real(DOMAIN_MIN)); }
// The power of two at or below x, and its inverse, for 0 <= x < 2^127. Multiplying by a power of two is exact.
POLYFLY_FN Real power_of_two(Real x) { return from_bits(bits(x) & Int(0x7f800000)); }
POLYFLY_FN Real inverse_power_of_two(Real x) { return from_bits(Int(0x7f000000) - (bits(x) & Int(0x7f800000))); }
POLYFLY_FN Real largest(Vec a) { return max(abs(a.x), max(abs(a.y), abs(a.z))); }
// `normalise` for a vector whose squared length may leave the domain; `otherwise` for the zero vector.
POLYFLY_FN Vec normalise_or(Vec a, Vec otherwise POLYFLY_CALLER) {
  const Real scale = largest(a);
  const Mask valid = scale > Real(0.0f);
  const Vec unit = normalise(select(valid, a * inverse_power_of_two(scale), otherwise) POLYFLY_OF_CALLER);
  return select(valid, unit, otherwise);
}
// The length of a vector whose squared length may leave the domain.
POLYFLY_FN Real length_or_zero(Vec a POLYFLY_CALLER) {
  const Real scale = largest(a);
  const Vec b = a * inverse_power_of_two(scale);
  return sqrt(max(dot(b, b), Real(DOMAIN_MIN)) POLYFLY_OF_CALLER) * power_of_two(scale);
}

// Keeps a value in registers: the GPU compiler would otherwise compute a point again at each use (measured: 2 % of a
// frame's time).
POLYFLY_FN Vec kept(Vec a) {
#ifdef __CUDACC__
  asm("" : "+f"(a.x), "+f"(a.y), "+f"(a.z));
#endif
  return a;
}
// exp(-x) for x >= 0: a power of two times the Taylor series about the middle of the remaining interval.
POLYFLY_FN Real exp_minus(Real x) {
  const Real y = min(x * Real(1.44269504f), Real(125.0f));
  const Int whole = to_int(y);
  const Real t = (y - to_real(whole) - Real(0.5f)) * Real(0.69314718f);
  const Real series =
      fma(t,
          fma(t,
              fma(t, fma(t, fma(t, fma(t, Real(1.0f / 720), Real(-1.0f / 120)), Real(1.0f / 24)), Real(-1.0f / 6)),
                  Real(0.5f)),
              Real(-1.0f)),
          Real(1.0f));
  return series * Real(0.70710678f) * from_bits((Int(127) - whole) << 23);
}
POLYFLY_FN Vec exp_minus(Vec x) { return vec(exp_minus(x.x), exp_minus(x.y), exp_minus(x.z)); }
// -ln(x) for 0 < x <= 1, not denormal, by the series of the inverse hyperbolic tangent about the middle of a power of two.
POLYFLY_FN Real minus_log(Real x) {
  const Int above = bits(x) - Int(0x3f3504f3), exponent = above >> 23;
  const Real mantissa = from_bits((above & Int(0x7fffff)) + Int(0x3f3504f3)), one = Real(1.0f);
  const Real t = (mantissa - one) * reciprocal(mantissa + one), tt = t * t;
  const Real series = fma(tt, fma(tt, fma(tt, Real(2.0f / 7), Real(2.0f / 5)), Real(2.0f / 3)), Real(2.0f));
  return fma(to_real(exponent), Real(-0.69314718f), -(t * series));
}
POLYFLY_FN Real max_component(Real c) { return c; }
POLYFLY_FN Real max_component(Vec c) { return max(c.x, max(c.y, c.z)); }

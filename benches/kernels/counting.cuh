// A float that counts its operations: additions (and subtractions), multiplications, divisions (and reciprocals) and square
// roots. A fused multiply-add is a multiplication and an addition. Comparisons, selections, conversions and signs are free.
// kernels/lane.cuh includes it in place of its own float.
#pragma once

extern "C" unsigned long long polyfly_counting_now[4];

struct Real {
  float v;
  Real() = default;
  POLYFLY_METHOD Real(float x) : v(x) {}
  POLYFLY_METHOD explicit operator float() const { return v; }
};
#define POLYFLY_COUNTED(op, kind)               \
  POLYFLY_FN Real operator op(Real a, Real b) { \
    ++polyfly_counting_now[kind];               \
    return Real(a.v op b.v);                    \
  }
POLYFLY_COUNTED(+, 0)
POLYFLY_COUNTED(-, 0)
POLYFLY_COUNTED(*, 1)
POLYFLY_COUNTED(/, 2)
#undef POLYFLY_COUNTED
POLYFLY_FN Real operator-(Real a) { return Real(-a.v); }
#define POLYFLY_COMPARE(op) \
  POLYFLY_FN bool operator op(Real a, Real b) { return a.v op b.v; }
POLYFLY_COMPARE(<)
POLYFLY_COMPARE(>)
POLYFLY_COMPARE(<=)
POLYFLY_COMPARE(>=)
POLYFLY_COMPARE(==)
POLYFLY_COMPARE(!=)
#undef POLYFLY_COMPARE

POLYFLY_FN Real select(bool m, Real a, Real b) { return m ? a : b; }
POLYFLY_FN int to_int(Real x) { return (int)x.v; }
POLYFLY_FN Real min(Real a, Real b) { return a.v < b.v ? a : b; }
POLYFLY_FN Real max(Real a, Real b) { return a.v > b.v ? a : b; }
POLYFLY_FN Real fma(Real a, Real b, Real c) {
  ++polyfly_counting_now[0];
  ++polyfly_counting_now[1];
  return Real(POLYFLY_FMAF(a.v, b.v, c.v));
}
POLYFLY_FN Real sqrt(Real x) {
  ++polyfly_counting_now[3];
  return Real(__builtin_sqrtf(x.v));
}
POLYFLY_FN Real reciprocal(Real x) {
  ++polyfly_counting_now[2];
  return Real(1.0f / x.v);
}
POLYFLY_FN int bits(Real x) { return (int)float_bits(x.v); }
POLYFLY_FN Real abs(Real x) { return Real(__builtin_fabsf(x.v)); }
POLYFLY_FN float lane(Real x, int) { return x.v; }

// Reciprocals, roots and quotients, correctly rounded, from approximations that are off by up to five units in the last place
// (tests/rounding.cpp tries all mantissas with all of these). OpenCL promises 2.5 units for a quotient and 2 for an inverse root.
#pragma once

// From about 1 / x.
POLYFLY_FN float reciprocal_from(float rough, float x) {
  // Newton's step leaves the nearest number or the one beside it.
  const float near = __builtin_fmaf(rough, __builtin_fmaf(-x, rough, 1.0f), rough), off = __builtin_fmaf(-x, near, 1.0f);
  int at;
  __builtin_memcpy(&at, &near, 4);
  at += off > 0.0f ? 1 : -1;
  float other;
  __builtin_memcpy(&other, &at, 4);
  const float its = __builtin_fmaf(-x, other, 1.0f);
  return its * its < off * off ? other : near;
}
// From about 1 / the root of x, by a step of Goldschmidt's and one of Newton's.
POLYFLY_FN float root_from(float rough, float x) {
  const float g = x * rough, h = 0.5f * rough, off = __builtin_fmaf(-g, h, 0.5f), root = __builtin_fmaf(g, off, g);
  return __builtin_fmaf(__builtin_fmaf(-root, root, x), __builtin_fmaf(h, off, h), root);
}
// a / b from 1 / b, correctly rounded (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990).
POLYFLY_FN float quotient_from(float inverse, float a, float b) {
  const float rough = a * inverse;
  return __builtin_fmaf(__builtin_fmaf(-b, rough, a), inverse, rough);
}

// Reciprocals and roots of kernels/rounding.cuh for all mantissas and all approximations that are off by up to five units in the last place,
// and quotients of many random numbers. Prints the number of wrong ones; with an argument the approximations are off by more: a control.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#define POLYFLY_FN static inline
#include "../kernels/rounding.cuh"

static float number(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
static float off(float x, int units) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return number(bits + units);
}

int main(int words, char**) {
  const int most = words > 1 ? 3000 : 5, step = words > 1 ? 500 : 1;
  long reciprocals = 0, roots = 0, quotients = 0;
  // Powers of two scale exactly: one octave for reciprocals, two for roots.
  for (uint32_t m = 0; m < 1u << 24; ++m) {
    const float x = number(0x3f800000u + m), inverse = 1.0f / x, root = std::sqrt(x), inverse_root = (float)(1.0 / std::sqrt((double)x));
    for (int units = -most; units <= most; units += step) {
      if (m < 1u << 23) reciprocals += reciprocal_from(off(inverse, units), x) != inverse;
      roots += root_from(off(inverse_root, units), x) != root;
    }
  }
  uint64_t state = 1;
  const auto draw = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return number((uint32_t)(state >> 33) % (180u << 23) + (37u << 23));
  };
  for (int i = 0; i < 20000000; ++i) {
    const float a = draw(), b = draw(), q = a / b;
    if (std::isnormal(q) && q > 0x1p-90f && q < 0x1p90f) quotients += quotient_from(off(1.0f / b, words > 1 ? most : 0), a, b) != q;
  }
  std::printf("%ld %ld %ld\n", reciprocals, roots, quotients);
}

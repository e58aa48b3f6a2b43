// The tests of triangles.cuh for an instruction set, for rays in columns: the coordinates of origins, then of directions.
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace polyfly {
namespace {
#include "triangles.cuh"

POLYFLY_FN Vec read_rays(const float* rays, int n, int i) {
#if POLYFLY_LANES > 1
  return {load(rays + i), load(rays + n + i), load(rays + 2 * n + i)};
#else
  return {Real(rays[i]), Real(rays[n + i]), Real(rays[2 * n + i])};
#endif
}

POLYFLY_FN void write_distances(float* to, Real t) {
#if POLYFLY_LANES > 1
  store(to, t);
#else
  *to = (float)t;
#endif
}

template <class Nearest>
POLYFLY_FN void of_all_rays(const float* rays, int n, float* distances, const Nearest& nearest) {
  for (int i = 0; i < n; i += POLYFLY_LANES)
    write_distances(distances + i, nearest(read_rays(rays, n, i), read_rays(rays + 3 * n, n, i)));
}
}  // namespace

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define NAME(name) PASTE(polyfly_##name##_, POLYFLY_ISA)

extern "C" {
// The distance to the nearest of `count` triangles for each of n rays, a multiple of the lanes. test: 0 naive, 1 optimized, 2 unit.
void NAME(triangles)(int test, const float* rays, int n, const float* figures, int count, float* distances) {
#define TEST(number, name, numbers)                                                                          \
  if (test == number)                                                                                        \
    of_all_rays(rays, n, distances, [&](Vec o, Vec d) POLYFLY_LAMBDA {                                       \
      Real t = Real(FAR);                                                                                    \
      for (int i = 0; i < count; ++i) t = min(t, name(o, d, figures + numbers * i));                         \
      return t;                                                                                              \
    });
  TEST(0, naive, 9)
  TEST(1, optimized, 9)
  TEST(2, unit, 12)
#undef TEST
}

// The same for bodies: a center and a number of slabs each.
void NAME(slabs)(const float* rays, int n, const float* bodies, int count, const Slab* slabs, int all, float* distances) {
  of_all_rays(rays, n, distances, [&](Vec o, Vec d) POLYFLY_LAMBDA { return nearest_body(o, d, bodies, count, slabs, all); });
}
}
}  // namespace polyfly

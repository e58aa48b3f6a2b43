// A GPU's entry points for the tests of triangles.cuh, a thread for each ray. scripts/ptx --bench compiles them;
// benches/triangles.rs launches them.
#pragma once
#include "triangles.cuh"

template <class Nearest>
POLYFLY_FN void of_own_ray(const float* rays, int n, float* distances, const Nearest& nearest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Vec o = vec(rays[i], rays[n + i], rays[2 * n + i]), d = vec(rays[3 * n + i], rays[4 * n + i], rays[5 * n + i]);
  distances[i] = nearest(o, d);
}

#define POLYFLY_TEST(name, numbers)                                                                                      \
  extern "C" __global__ void polyfly_##name(const float* rays, int n, const float* figures, int count, float* distances) { \
    of_own_ray(rays, n, distances, [&](Vec o, Vec d) {                                                                   \
      Real t = Real(FAR);                                                                                                \
      POLYFLY_NO_UNROLL                                                                                                  \
      for (int k = 0; k < count; ++k) t = min(t, name(o, d, figures + numbers * k));                                     \
      return t;                                                                                                          \
    });                                                                                                                  \
  }
POLYFLY_TEST(naive, 9)
POLYFLY_TEST(optimized, 9)
POLYFLY_TEST(unit, 12)
#undef POLYFLY_TEST

extern "C" __global__ void polyfly_slabs(const float* rays, int n, const float* bodies, int count, const Slab* slabs, int all,
                                         float* distances) {
  of_own_ray(rays, n, distances, [&](Vec o, Vec d) { return nearest_body(o, d, bodies, count, slabs, all); });
}

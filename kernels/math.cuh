// Vectors over lanes. Sums of products are fused, in one written order, on every device.
#pragma once
#include "lane.cuh"

// Reads data[i] in the lanes of m: the one way to read an array at places that differ by lane.
template <class T>
POLYFLY_FN auto read(const T* data, int len, Int i, Mask m) -> decltype(gather(data, i, m)) {
#ifdef POLYFLY_BOUNDS
  const Int asked = select(m, i, Int(0));
  for (int k = 0; k < POLYFLY_LANES; ++k) POLYFLY_CHECK(lane(asked, k) >= 0 && lane(asked, k) < len);
#else
  (void)len;
#endif
  return gather(data, i, m);
}

struct Vec {
  Real x, y, z;
};

POLYFLY_FN Vec vec(Real x, Real y, Real z) {
  Vec r = {x, y, z};
  return r;
}
POLYFLY_FN Vec vec(const float* p) { return vec(Real(p[0]), Real(p[1]), Real(p[2])); }
POLYFLY_FN Vec operator+(Vec a, Vec b) { return vec(a.x + b.x, a.y + b.y, a.z + b.z); }
POLYFLY_FN Vec operator-(Vec a, Vec b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }
POLYFLY_FN Vec operator*(Vec a, Vec b) { return vec(a.x * b.x, a.y * b.y, a.z * b.z); }
POLYFLY_FN Vec operator*(Vec a, Real s) { return vec(a.x * s, a.y * s, a.z * s); }
POLYFLY_FN Vec operator-(Vec a) { return vec(-a.x, -a.y, -a.z); }
POLYFLY_FN Real dot(Vec a, Vec b) { return mad(a.x, b.x, mad(a.y, b.y, a.z * b.z)); }
POLYFLY_FN Real dot(const float* a, Vec b) { return mad(Real(a[0]), b.x, mad(Real(a[1]), b.y, Real(a[2]) * b.z)); }
POLYFLY_FN Vec along(Vec origin, Vec direction, Real t) {
  return vec(mad(direction.x, t, origin.x), mad(direction.y, t, origin.y), mad(direction.z, t, origin.z));
}
POLYFLY_FN Vec cross(Vec a, Vec b) {
  return vec(mad(a.y, b.z, -(a.z * b.y)), mad(a.z, b.x, -(a.x * b.z)), mad(a.x, b.y, -(a.y * b.x)));
}
POLYFLY_FN Vec normalise(Vec a) { return a * reciprocal(root(dot(a, a))); }
POLYFLY_FN Vec select(Mask m, Vec a, Vec b) { return vec(select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)); }
POLYFLY_FN Real brightest(Real c) { return c; }
POLYFLY_FN Real brightest(Vec c) { return most(c.x, most(c.y, c.z)); }

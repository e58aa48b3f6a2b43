// Three tests of a ray against a triangle, and the test of a convex body by slabs (kernels/shapes/body.cuh).
//
// A test gets the ray and a figure's numbers, and gives the distance along the ray, or FAR for a miss.
#pragma once
#include "../../kernels/shapes/body.cuh"

// Of a triangle of three vertices a, b and c: t >= 0 with weights of b and c that are not negative, and at most 1 together.
POLYFLY_FN Real inside(Real t, Real u, Real v) {
  const Real zero = Real(0.0f);
  const Mask hit = (t >= zero) & (u >= zero) & (v >= zero) & (u + v <= Real(1.0f));
  return select(hit, t, Real(FAR));
}

// The determinant of a matrix of three columns.
POLYFLY_FN Real determinant(Vec a, Vec b, Vec c) { return dot(a, cross(b, c)); }

// "Naive": o + t d = a + u (b - a) + v (c - a) is a linear system of three equations, solved by Cramer's rule.
POLYFLY_FN Real naive(Vec o, Vec d, const float* figure) {
  const Vec a = vec(figure), ab = vec(figure + 3) - a, ac = vec(figure + 6) - a, ao = o - a, back = -d;
  const Real inverse = Real(1.0f) / determinant(ab, ac, back);
  return inside(determinant(ab, ac, ao) * inverse, determinant(ao, ac, back) * inverse, determinant(ab, ao, back) * inverse);
}

// "Optimized": the same determinants as products that share two cross products (Moeller and Trumbore, "Fast, minimum storage
// ray/triangle intersection", 1997).
POLYFLY_FN Real optimized(Vec o, Vec d, const float* figure) {
  const Vec a = vec(figure), ab = vec(figure + 3) - a, ac = vec(figure + 6) - a, ao = o - a;
  const Vec p = cross(d, ac), q = cross(ao, ab);
  const Real inverse = Real(1.0f) / dot(ab, p);
  return inside(dot(ac, q) * inverse, dot(ao, p) * inverse, dot(d, q) * inverse);
}

// "Unit": the figure has the affine map that takes the triangle to (0, 0, 0), (1, 0, 0), (0, 1, 0), a row for each coordinate. The
// ray goes through it, and meets the plane z = 0 (Arenberg, "Re: Ray/triangle intersection with barycentric coordinates",
// 1988; Woop, 2004).
POLYFLY_FN Real unit(Vec o, Vec d, const float* figure) {
  const float *x = figure, *y = figure + 4, *z = figure + 8;
  const Real t = -(dot(z, o) + Real(z[3])) / dot(z, d);
  return inside(t, fma(t, dot(x, d), dot(x, o) + Real(x[3])), fma(t, dot(y, d), dot(y, o) + Real(y[3])));
}

// The nearest of some bodies, a center and a number of slabs each, by the slabs of one after the other.
struct SlabsOfBodies {
  Array<Slab> slabs;
};
POLYFLY_FN Real nearest_body(Vec o, Vec d, const float* bodies, int count, const Slab* slabs, int all) {
  const SlabsOfBodies scene = {{slabs, all, 0}};
  Body body = {};
  Real t = Real(FAR);
  for (int i = 0; i < count; ++i) {
    const float* numbers = bodies + 4 * i;
    body.first_slab += body.slabs;
    body.slabs = (int)numbers[3];
    const Interval c = intersect_convex(scene, body, o - vec(numbers), d);
    const Real ahead = select(c.enter > Real(0.0f), c.enter, c.leave);
    t = min(t, select((c.enter < c.leave) & (ahead > Real(0.0f)), ahead, Real(FAR)));
  }
  return t;
}

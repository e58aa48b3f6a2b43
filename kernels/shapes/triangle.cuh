// Triangles.
#pragma once
#include "sphere.cuh"

// Moeller and Trumbore, "Fast, minimum storage ray/triangle intersection", 1997. Edges belong to the triangle.
struct TriangleHit {
  Real t;
  Mask hit, from_behind;
};
POLYFLY_FN TriangleHit triangle_hit(const Triangle& tri, Vec o, Vec d) {
  const Vec ab = vec(tri.ab), ac = vec(tri.ac), q = o - vec(tri.a);
  const Vec p = cross(d, ac), r = cross(q, ab);
  const Real det = dot(ab, p);
  const Real inverse = reciprocal(select(abs(det) < Real(1.0e-30f), Real(1.0e-30f), det));
  const Real u = dot(q, p) * inverse, v = dot(d, r) * inverse;
  const Real zero = Real(0.0f);
  TriangleHit x;
  x.t = dot(ac, r) * inverse;
  x.hit = (abs(det) > Real(1.0e-30f)) & (u >= zero) & (v >= zero) & (u + v <= Real(1.0f)) & (x.t > zero);
  x.from_behind = det < zero;
  return x;
}
POLYFLY_FN void intersect_triangle(const Scene& scene, int i, const Ray& ray, Mask active, Hit& hit) {
  const int surface = surface_number(SHAPE_TRIANGLE, i);
  const Mask tested = active & ((ray.last_surface >> ORIGIN_SHIFT) != Int(surface));
  const TriangleHit x = triangle_hit(scene.triangles.at(i), ray.o, ray.d);
  const Mask met = tested & x.hit & is_nearer(scene, hit, x.t, Int(surface));
  hit.t = select(met, x.t, hit.t);
  hit.surface = select(met, Int(surface), hit.surface);
  hit.leaving = (met & x.from_behind) | (hit.leaving & (!met));
}

POLYFLY_FN void transmittance_triangle(const Scene& scene, int i, const Segment& line, Mask& active, Vec& remaining) {
  const int surface = surface_number(SHAPE_TRIANGLE, i);
  const Mask tested = active & ((line.last_surface >> ORIGIN_SHIFT) != Int(surface));
  const Triangle& tri = scene.triangles.at(i);
  const TriangleHit x = triangle_hit(tri, line.o, line.d);
  const Mask in = tested & x.hit & (x.t < Real(1.0f));
  if (!any(in)) return;
  remaining = select(in, remaining * shadow_transmittance(scene.materials.at(tri.material_index)), remaining);
  active = active & (max_component(remaining) > Real(0.0f));
}

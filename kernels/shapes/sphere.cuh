// Spheres.
#pragma once
#include "../medium.cuh"
#include "cuts.cuh"

// The intersections of a line with a sphere around the origin, as distances in units of d. The closest point of the
// line is computed first, which stays accurate far from the sphere (Haines et al., "Precision improvements for
// ray/sphere intersection", 2019).
POLYFLY_FN Interval sphere_interval(Real radius, Vec q, Vec d, Real inverse_dd) {
  const Real ahead = -dot(q, d) * inverse_dd;
  const Vec nearest = fma(d, ahead, q);
  const Real inside = fma(radius, radius, -dot(nearest, nearest));
  const Real half = sqrt(within_domain(inside * inverse_dd));
  const Interval c = {select(inside > Real(0.0f), ahead - half, Real(FAR)),
                      select(inside > Real(0.0f), ahead + half, Real(-FAR))};
  return c;
}
POLYFLY_FN Interval sphere_interval(const Sphere& sphere, Vec o, Vec d, Real inverse_dd) {
  return sphere_interval(Real(sphere.radius), o - vec(sphere.centre), d, inverse_dd);
}

// Whether ball i precedes another one: by their own numbers, which are the same in every order of the balls.
POLYFLY_FN bool precedes(const Scene& scene, int i, int other) {
  const Sphere a = scene.spheres.at(i), b = scene.spheres.at(other);
  for (int axis = 0; axis < 3; ++axis) {
    const u32 x = float_bits(a.centre[axis]), y = float_bits(b.centre[axis]);
    if (x != y) return x < y;
  }
  const u32 x = float_bits(a.radius), y = float_bits(b.radius);
  if (x != y) return x < y;
  return scene.sphere_materials.at(i) < scene.sphere_materials.at(other);
}

// Whether a round shape wins against what lanes have hit at the same distance. Kinds of shapes and ellipsoids have their
// numbers; trees and grids number the balls in orders of their own, so balls are compared themselves. Of equal balls it
// does not matter which one is hit.
POLYFLY_FN Mask wins_tie(const Scene& scene, int surface, Int other, Mask tied) {
  Mask wins = tied & (Int(surface) < other);
  if (surface >> SURFACE_KIND_SHIFT != SHAPE_SPHERE) return wins;
  for_each_index(other, tied & (surface_kind(other) == Int(SHAPE_SPHERE)), [&](int number, Mask m) POLYFLY_LAMBDA {
    const bool first = precedes(scene, surface & SURFACE_INDEX_MASK, number & SURFACE_INDEX_MASK);
    wins = first ? wins | m : wins & !m;
  });
  return wins;
}

// Takes the hit of a ray with a round shape, which its line is inside of along c. in: the ray starts inside.
POLYFLY_FN void hit_round(const Scene& scene, int surface, Interval c, Mask in, Mask tested, Hit& hit) {
  const Mask within = in | !(c.enter > Real(0.0f));
  const Real t = select(within, select(in, max(c.leave, Real(0.0f)), c.leave), c.enter);
  const Mask crossed = tested & (in | ((c.enter < c.leave) & (c.leave > Real(0.0f))));
  const Mask tied = crossed & (t == hit.t);
  Mask met = crossed & (t < hit.t);
  if (any(tied)) met = met | wins_tie(scene, surface, hit.surface, tied);
  hit.t = select(met, t, hit.t);
  hit.surface = select(met, Int(surface), hit.surface);
  hit.leaving = (met & within) | (hit.leaving & (!met));
}
// The transmittance of a round shape of one material, which the segment's line is inside of along c.
template <class S>
POLYFLY_FN void transmit_round(const S& scene, int material_index, const Segment& line, Interval c, Mask inside,
                               Mask tested, Mask& active, Vec& remaining) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask crossed = tested & (inside | (c.enter < c.leave));
  const Mask in = crossed & !inside & (c.enter > zero) & (c.enter < one);
  const Mask out = crossed & (inside | (c.leave > zero)) & (c.leave < one);
  if (!any(in | out)) return;
  const Material& material = scene.materials.at(material_index);
  transmit_closed(scene, material, material, line, c, inside, in, out, active, remaining);
}

template <class S>
POLYFLY_FN void intersect_sphere(const S& scene, int i, const Ray& ray, const Interval& kept, Mask active, Hit& hit) {
  const Mask in = ray.last_surface == Int(origin_inside(SHAPE_SPHERE, i));
  const Mask tested = active & (ray.last_surface != Int(origin_outside(SHAPE_SPHERE, i)));
  if (!any(tested)) return;
  Interval c = sphere_interval(scene.spheres.at(i), ray.o, ray.d, Real(1.0f));
  if (uses<FEATURE_CUTS>(scene)) cut_open(scene, scene.sphere_materials.at(i), kept, c);
  hit_round(scene, surface_number(SHAPE_SPHERE, i), c, in, tested, hit);
}

template <class S>
POLYFLY_FN void transmittance_sphere(const S& scene, int i, const Segment& line, const Interval& kept, Mask& active, Vec& remaining) {
  const Mask inside = line.last_surface == Int(origin_inside(SHAPE_SPHERE, i));
  const Mask tested = active & (line.last_surface != Int(origin_outside(SHAPE_SPHERE, i)));
  if (!any(tested)) return;
  const int material = scene.sphere_materials.at(i);
  Interval c = sphere_interval(scene.spheres.at(i), line.o, line.d, line.inverse_dd);
  cut_open(scene, material, kept, c);
  transmit_round(scene, material, line, c, inside, tested, active, remaining);
}

// The interaction with spheres, whose numbers differ between lanes.
POLYFLY_FN void interaction_sphere(const Scene& scene, Int number, const Ray& ray, const Hit&, Mask m, Interaction& x) {
  const float* data = (const float*)scene.spheres.data;
  const int words = WORDS(Sphere) * scene.spheres.len;
  const Vec centre = read_vec(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, centre)), m);
  const Real radius = read(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, radius)), m);
  // The hit point is projected onto the sphere, off which rounding has moved it. Far from the origin rounding may move
  // it to the center.
  const Vec out = normalise_or(select(m, x.p - centre, x.n), -ray.d);
  x.n = select(m, select(dot(out, ray.d) < Real(0.0f), out, -out), x.n);
  x.p = select(m, fma(out, radius, centre), x.p);
  x.material = select(m, read(scene.sphere_materials.data, scene.sphere_materials.len, number, m), x.material);
}

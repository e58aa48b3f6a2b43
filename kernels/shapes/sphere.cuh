// Spheres.
#pragma once
#include "../medium.cuh"
#include "interaction.cuh"

// The intersections of a line with a sphere, as distances in units of d. The closest point of the line is computed
// first, which stays accurate far from the sphere (Haines et al., "Precision improvements for ray/sphere intersection",
// 2019).
POLYFLY_FN Interval sphere_interval(const Sphere& sphere, Vec o, Vec d, Real inverse_dd) {
  const Vec q = o - vec(sphere.centre);
  const Real ahead = -dot(q, d) * inverse_dd;
  const Vec nearest = fma(d, ahead, q);
  const Real inside = fma(Real(sphere.radius), Real(sphere.radius), -dot(nearest, nearest));
  const Real half = sqrt(within_domain(inside * inverse_dd));
  const Interval c = {select(inside > Real(0.0f), ahead - half, Real(FAR)),
                      select(inside > Real(0.0f), ahead + half, Real(-FAR))};
  return c;
}

POLYFLY_FN void intersect_sphere(const Scene& scene, int i, const Ray& ray, Mask active, Hit& hit) {
  const Mask in = ray.last_surface == Int(origin_inside(SHAPE_SPHERE, i));
  const Mask tested = active & (ray.last_surface != Int(origin_outside(SHAPE_SPHERE, i)));
  if (!any(tested)) return;
  const Interval c = sphere_interval(scene.spheres.at(i), ray.o, ray.d, Real(1.0f));
  const Mask within = in | !(c.enter > Real(0.0f));
  const Real t = select(within, select(in, max(c.leave, Real(0.0f)), c.leave), c.enter);
  const Int number = Int(surface_number(SHAPE_SPHERE, i));
  const Mask met = tested & (in | ((c.enter < c.leave) & (c.leave > Real(0.0f)))) & is_nearer(scene, hit, t, number);
  hit.t = select(met, t, hit.t);
  hit.surface = select(met, number, hit.surface);
  hit.leaving = (met & within) | (hit.leaving & (!met));
}

// The transmittance of a sphere: tinted where the line enters and leaves.
template <class S>
POLYFLY_FN void transmittance_sphere(const S& scene, int i, const Segment& line, Mask& active, Vec& remaining) {
  const Mask inside = line.last_surface == Int(origin_inside(SHAPE_SPHERE, i));
  const Mask tested = active & (line.last_surface != Int(origin_outside(SHAPE_SPHERE, i)));
  if (!any(tested)) return;
  const Interval c = sphere_interval(scene.spheres.at(i), line.o, line.d, line.inverse_dd);
  const Mask crossed = tested & (inside | (c.enter < c.leave));
  const Mask in = crossed & !inside & (c.enter > Real(0.0f)) & (c.enter < Real(1.0f));
  const Mask out = crossed & (inside | (c.leave > Real(0.0f))) & (c.leave < Real(1.0f));
  if (!any(in | out)) return;
  const Material& material = scene.materials.at(scene.sphere_materials.at(i));
  transmit_closed(scene, material, material, line, c, inside, in, out, active, remaining);
}

// The interaction with spheres, whose numbers differ between lanes.
POLYFLY_FN void interaction_sphere(const Scene& scene, Int number, const Ray& ray, Mask m, Interaction& x) {
  const float* data = (const float*)scene.spheres.data;
  const int words = WORDS(Sphere) * scene.spheres.len;
  const Vec centre = read_vec(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, centre)), m);
  const Real radius = read(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, radius)), m);
  // The hit point is projected onto the sphere, off which rounding has moved it. Far from the origin rounding may move
  // it to the centre.
  const Vec out = normalise_or(select(m, x.p - centre, x.n), -ray.d);
  x.n = select(m, select(dot(out, ray.d) < Real(0.0f), out, -out), x.n);
  x.p = select(m, fma(out, radius, centre), x.p);
  x.material = select(m, read(scene.sphere_materials.data, scene.sphere_materials.len, number, m), x.material);
}

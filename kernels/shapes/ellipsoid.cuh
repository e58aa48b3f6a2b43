// Ellipsoids: everything happens in the space where the ellipsoid is the unit sphere around the origin.
#pragma once
#include "../shading/sampler.cuh"
#include "sphere.cuh"

// The linear map from an ellipsoid to the unit sphere, with its inverse and its transpose.
struct EllipsoidMap {
  Vec rows[3];
  Vec radii;
  // Maps a direction to unit space, and back.
  POLYFLY_METHOD Vec to_unit(Vec v) const { return vec(dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)); }
  POLYFLY_METHOD Vec from_unit(Vec v) const { return transposed(v * radii * radii); }
  // Maps a normal from unit space.
  POLYFLY_METHOD Vec transposed(Vec v) const { return fma(rows[0], v.x, fma(rows[1], v.y, rows[2] * v.z)); }
};
POLYFLY_FN EllipsoidMap ellipsoid_map(const Ellipsoid& e) {
  const EllipsoidMap map = {{vec(e.to_unit), vec(e.to_unit + 3), vec(e.to_unit + 6)}, vec(e.radii)};
  return map;
}
// Ellipsoids whose numbers differ between lanes.
struct EllipsoidLanes {
  Vec centre;
  EllipsoidMap map;
};
template <class S>
POLYFLY_FN EllipsoidLanes read_ellipsoids(const S& scene, Int number, Mask m) {
  const float* data = (const float*)scene.ellipsoids.data;
  const int words = WORDS(Ellipsoid) * scene.ellipsoids.len;
  const Int at = select(m, number, Int(0)) * Int(WORDS(Ellipsoid)), row = at + Int(WORD(Ellipsoid, to_unit));
  const EllipsoidLanes e = {
      read_vec(data, words, at + Int(WORD(Ellipsoid, centre)), m),
      {{read_vec(data, words, row, m), read_vec(data, words, row + Int(3), m), read_vec(data, words, row + Int(6), m)},
       read_vec(data, words, at + Int(WORD(Ellipsoid, radii)), m)}};
  return e;
}

// Where a line is inside of an ellipsoid.
POLYFLY_FN Interval ellipsoid_interval(const Ellipsoid& e, Vec o, Vec direction) {
  const EllipsoidMap map = ellipsoid_map(e);
  const Vec d = map.to_unit(direction);
  return sphere_interval(Real(1.0f), map.to_unit(o - vec(e.centre)), d, reciprocal(squared_length(d)));
}

template <class S>
POLYFLY_FN void intersect_ellipsoid(const S& scene, int i, const Ray& ray, const Interval& kept, Mask active, Hit& hit) {
  const Mask in = ray.last_surface == Int(origin_inside(SHAPE_ELLIPSOID, i));
  const Mask tested = active & (ray.last_surface != Int(origin_outside(SHAPE_ELLIPSOID, i)));
  if (!any(tested)) return;
  const Ellipsoid& e = scene.ellipsoids.at(i);
  Interval c = ellipsoid_interval(e, ray.o, ray.d);
  cut_open(scene, e.material_index, kept, c);
  hit_round(scene, surface_number(SHAPE_ELLIPSOID, i), c, in, tested, hit);
}

template <class S>
POLYFLY_FN void transmittance_ellipsoid(const S& scene, int i, const Segment& line, const Interval& kept, Mask& active, Vec& remaining) {
  const Mask inside = line.last_surface == Int(origin_inside(SHAPE_ELLIPSOID, i));
  const Mask tested = active & (line.last_surface != Int(origin_outside(SHAPE_ELLIPSOID, i)));
  if (!any(tested)) return;
  const Ellipsoid& e = scene.ellipsoids.at(i);
  Interval c = ellipsoid_interval(e, line.o, line.d);
  cut_open(scene, e.material_index, kept, c);
  transmit_round(scene, e.material_index, line, c, inside, tested, active, remaining);
}

// The interaction with ellipsoids, whose numbers differ between lanes.
template <class S>
POLYFLY_FN void interaction_ellipsoid(const S& scene, Int number, const Ray& ray, const Hit&, Mask m, Interaction& x) {
  const EllipsoidLanes e = read_ellipsoids(scene, number, m);
  const Vec unit = normalise_or(select(m, e.map.to_unit(x.p - e.centre), x.n), vec(Real(0.0f), Real(0.0f), Real(1.0f)));
  const Vec out = normalise_or(select(m, e.map.transposed(unit), x.n), -ray.d);
  x.n = select(m, select(dot(out, ray.d) < Real(0.0f), out, -out), x.n);
  x.p = select(m, e.centre + e.map.from_unit(unit), x.p);
  const int words = WORDS(Ellipsoid) * scene.ellipsoids.len;
  const Int at = number * Int(WORDS(Ellipsoid)) + Int(WORD(Ellipsoid, material_index));
  x.material = select(m, read((const int*)scene.ellipsoids.data, words, at, m), x.material);
}

// Light sampling: directions are uniform within the cone that the unit sphere subtends. A linear map with determinant D
// changes the solid angle of a unit direction w by |D| / |A w|^3.
struct EllipsoidSample {
  Vec reach;  // to the point of the ellipsoid
  Vec wi;
  Real solid_angle;  // 1 / pdf
  Mask outside;      // the surface is outside of the ellipsoid
};
POLYFLY_FN Real unit_cone(Vec q) {
  const Real one = Real(1.0f), sine2 = min(reciprocal(max(dot(q, q), Real(1.0e-12f))), one);
  return Real(2.0f * 3.14159265f) * sine2 * reciprocal(one + sqrt(max(one - sine2, Real(1.0e-20f))));
}
POLYFLY_FN Real determinant(const EllipsoidLanes& e) { return e.map.radii.x * e.map.radii.y * e.map.radii.z; }
POLYFLY_FN EllipsoidSample sample_ellipsoid(const EllipsoidLanes& e, Vec p, Pair u2, Mask m) {
  const Real one = Real(1.0f), small = Real(1.0e-20f);
  const Vec up = vec(Real(0.0f), Real(0.0f), one);
  const Vec to = select(m, e.map.to_unit(e.centre - p), up);
  const Real cone = unit_cone(to), z = fma(cone * Real(-0.5f / 3.14159265f), u2.v, one);
  const Real r = sqrt(max(fma(-z, z, one), small));
  Real sine, cosine;
  sincos_2pi(u2.u, sine, cosine);
  const Vec axis = normalise_or(to, up);
  const Basis basis = basis_around(axis);
  const Vec direction = fma(basis.down, r * sine, fma(basis.right, r * cosine, axis * z));
  const Real ahead = dot(to, direction);
  const Vec off = fma(direction, -ahead, to);
  const Real t = ahead - sqrt(max(one - dot(off, off), small));
  const Vec world = select(m, e.map.from_unit(direction), up);
  const Real length = length_or_zero(world), cubed = max(length * length * length, Real(1.0e-18f));
  EllipsoidSample sample;
  sample.reach = world * t;
  sample.wi = normalise_or(world, up);
  sample.solid_angle = cone * select(m, determinant(e), one) * reciprocal(cubed);
  sample.outside = dot(to, to) > one;
  return sample;
}
// The pdf of sampling direction d from p; 0 inside the ellipsoid.
POLYFLY_FN Real ellipsoid_pdf(const EllipsoidLanes& e, Vec p, Vec d, Mask m) {
  const Vec up = vec(Real(0.0f), Real(0.0f), Real(1.0f));
  const Vec q = select(m, e.map.to_unit(p - e.centre), up), w = select(m, e.map.to_unit(d), up);
  const Real length = length_or_zero(w);
  const Real solid_angle = unit_cone(q) * select(m, determinant(e), Real(1.0f)) * length * length * length;
  return select(m & (dot(q, q) > Real(1.0f)), reciprocal(within_domain(solid_angle)), Real(0.0f));
}

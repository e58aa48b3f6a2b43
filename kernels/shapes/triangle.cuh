// Triangles.
#pragma once
#include "../medium.cuh"
#include "../shading/finish.cuh"
#include "interaction.cuh"

// Moeller and Trumbore, "Fast, minimum storage ray/triangle intersection", 1997. Edges belong to the triangle, but the
// diagonal of a rectangle, ac of both halves, belongs to the first half: u has the same numerator in both, so that a ray
// through the diagonal hits just one of them.
struct TriangleHit {
  Real t;
  Mask hit, from_behind;
};
POLYFLY_FN TriangleHit triangle_hit(const Triangle& tri, int surface, Vec o, Vec d) {
  const bool second_half = tri.twin < surface;
  const Vec ab = vec(tri.ab), ac = vec(tri.ac), q = o - vec(tri.a);
  const Vec p = cross(d, ac), r = cross(q, ab);
  const Real det = dot(ab, p);
  const Real inverse = reciprocal(select(abs(det) < Real(1.0e-30f), Real(1.0e-30f), det));
  const Real zero = Real(0.0f), u = dot(q, p) * inverse, v = dot(d, r) * inverse;
  const Real min = Real(second_half ? 1.0e-45f : 0.0f);
  TriangleHit x;
  x.t = dot(ac, r) * inverse;
  x.hit = (abs(det) > Real(1.0e-30f)) & (u >= min) & (v >= zero) & (u + v <= Real(1.0f)) & (x.t > zero);
  // The second half is wound the other way.
  x.from_behind = (second_half ? -det : det) < zero;
  return x;
}
// A ray that starts on a triangle cannot hit its plane again, so it cannot hit the other half of its rectangle either.
POLYFLY_FN Mask starts_elsewhere(const Triangle& tri, int surface, Int last_surface) {
  const Int origin = last_surface >> ORIGIN_SHIFT;
  return (origin != Int(surface)) & (origin != Int(tri.twin));
}
POLYFLY_FN void intersect_triangle(const Scene& scene, int i, const Ray& ray, const Interval&, Mask active, Hit& hit) {
  const int surface = surface_number(SHAPE_TRIANGLE, i);
  const Triangle& tri = scene.triangles.at(i);
  const Mask tested = active & starts_elsewhere(tri, surface, ray.last_surface);
  const TriangleHit x = triangle_hit(tri, surface, ray.o, ray.d);
  const Mask met = tested & x.hit & is_nearer(scene, hit, x.t, Int(surface));
  hit.t = select(met, x.t, hit.t);
  hit.surface = select(met, Int(surface), hit.surface);
  hit.leaving = (met & x.from_behind) | (hit.leaving & (!met));
}

// The place of the point p on the picture of a rectangle, whose half has the corner a and the sides ab and ac; the picture's bottom left
// lies at a. per_length: pictures per length, along the longer side.
struct PicturePlace {
  Real u, v, per_length;
};
POLYFLY_FN PicturePlace picture_place(Vec p, Vec a, Vec ab, Vec ac, Mask second_half) {
  const Vec other = ac - ab, right = select(second_half, other, ab), up = select(second_half, ab, other);
  // As if its longer side were about 1: the products of four lengths stay within the domain.
  const Real size = inverse_power_of_two(max(largest(right), largest(up)));
  const Vec r = right * size, s = up * size, q = (p - a) * size;
  const Real rr = dot(r, r), ss = dot(s, s), least = Real(1.0e-30f), one = Real(1.0f);
  return {dot(q, r) * reciprocal(max(rr, least)), fma(dot(q, s), -reciprocal(max(ss, least)), one),
          size * reciprocal(sqrt(max(max(rr, ss), least)))};
}

// The paint at points p with normals n on triangles, whose numbers differ between lanes; surface: their surface numbers. Where there is
// none it covers nothing. (By value, as in finish.cuh.)
template <class S>
POLYFLY_NOINLINE Paint triangle_paint(const S& scene, Int number, Int surface, Vec p, Vec n, Vec d, Real cone, Mask m) {
  const Real zero = Real(0.0f);
  Paint result = {vec(zero, zero, zero), zero};
  const float* data = (const float*)scene.triangles.data;
  const int words = WORDS(Triangle) * scene.triangles.len;
  const Int at = number * Int(WORDS(Triangle));
  const Int finishes = select(m, read((const int*)data, words, at + Int(WORD(Triangle, smooth)), m), Int(0));
  const Mask painted = m & (finishes < Int(0));
  if (!any(painted)) return result;
  const Int twin = read((const int*)data, words, at + Int(WORD(Triangle, twin)), painted);
  const PicturePlace place = picture_place(p, read_vec(data, words, at + Int(WORD(Triangle, a)), painted),
                                           read_vec(data, words, at + Int(WORD(Triangle, ab)), painted),
                                           read_vec(data, words, at + Int(WORD(Triangle, ac)), painted), twin < surface);
  const Real covered = slanted_footprint(cone * place.per_length, dot(n, d));
  for_each_index(Int(-1) - finishes, painted, [&](int k, Mask lanes) POLYFLY_LAMBDA {
    const Paint paint = paint_at(scene, scene.finishes.at(k), place.u, place.v, covered, lanes);
    result.light = select(lanes, paint.light, result.light);
    result.cover = select(lanes, paint.cover, result.cover);
  });
  return result;
}

template <class S>
POLYFLY_FN void transmittance_triangle(const S& scene, int i, const Segment& line, const Interval&, Mask& active, Vec& remaining) {
  const int surface = surface_number(SHAPE_TRIANGLE, i);
  const Triangle& tri = scene.triangles.at(i);
  const Mask tested = active & starts_elsewhere(tri, surface, line.last_surface);
  const TriangleHit x = triangle_hit(tri, surface, line.o, line.d * line.inverse_size);
  const Mask in = tested & x.hit & (x.t * line.inverse_size < Real(1.0f));
  if (!any(in)) return;
  remaining = select(in, remaining * shadow_transmittance(scene.materials.at(tri.material_index)), remaining);
  if (uses<FEATURE_PAINT>(scene) && tri.smooth < 0) {
    const Vec p = fma(line.d * line.inverse_size, x.t, line.o);
    const PicturePlace place = picture_place(p, vec(tri.a), vec(tri.ab), vec(tri.ac), in & first_lanes(tri.twin < surface ? POLYFLY_LANES : 0));
    const Paint paint = paint_at(scene, scene.finishes.at(-1 - tri.smooth), place.u, place.v, Real(0.0f), in);
    remaining = select(in, remaining * (Real(1.0f) - paint.cover), remaining);
  }
  active = active & (max_component(remaining) > Real(0.0f));
}

// The shading normal at p: interpolated between the vertex normals of smooth triangles, on the side of the face's
// normal.
template <class S>
POLYFLY_NOINLINE Vec smooth_normal(const S& scene, Vec d, Vec p, Int number, Mask flat, Vec face) {
  const float* data = (const float*)scene.triangles.data;
  const int words = WORDS(Triangle) * scene.triangles.len;
  const Int at = number * Int(WORDS(Triangle));
  const Int smooth = read((const int*)data, words, at + Int(WORD(Triangle, smooth)), flat);
  const Mask curved = flat & (smooth > Int(0));
  if (!any(curved)) return face;
  const Vec side = read_vec(data, words, at + Int(WORD(Triangle, ab)), curved),
            other = read_vec(data, words, at + Int(WORD(Triangle, ac)), curved);
  // As if its longer side were about 1: the products of four lengths stay within the domain.
  const Real size = inverse_power_of_two(max(largest(side), largest(other)));
  const Vec ab = side * size, ac = other * size,
            q = (p - read_vec(data, words, at + Int(WORD(Triangle, a)), curved)) * size;
  // p's shares of b and c.
  const Real bb = dot(ab, ab), bc = dot(ab, ac), cc = dot(ac, ac), qb = dot(q, ab), qc = dot(q, ac);
  const Real one = Real(1.0f), zero = Real(0.0f), all = fma(bb, cc, -(bc * bc));
  const Real inverse = reciprocal(select(curved & (all > Real(1.0e-30f)), all, one));
  const Real b = max(min(fma(cc, qb, -(bc * qc)) * inverse, one), zero);
  const Real c = max(min(fma(bb, qc, -(bc * qb)) * inverse, one - b), zero);
  const float* normals = scene.normals.data;
  const int len = scene.normals.len;
  const Int first = select(curved, smooth - Int(1), Int(0)) * Int(9);
  const Vec interpolated = read_vec(normals, len, first, curved) * (one - b - c) +
      read_vec(normals, len, first + Int(3), curved) * b + read_vec(normals, len, first + Int(6), curved) * c;
  // Corners that point against each other may leave nothing.
  const Mask valid = curved & (dot(interpolated, interpolated) > Real(1.0e-12f));
  const Vec unit = normalise(select(valid, interpolated, face));
  const Vec leaning = select(dot(unit, face) < zero, -unit, unit);
  return select(valid, bent_normal(leaning, face, d), face);
}

// The interaction with triangles, whose numbers differ between lanes.
template <class S>
POLYFLY_FN void interaction_triangle(const S& scene, Int number, const Ray& ray, const Hit&, Mask m, Interaction& x) {
  const float* data = (const float*)scene.triangles.data;
  const int words = WORDS(Triangle) * scene.triangles.len;
  const Int at = number * Int(WORDS(Triangle));
  const Vec normal = cross(read_vec(data, words, at + Int(WORD(Triangle, ab)), m),
                           read_vec(data, words, at + Int(WORD(Triangle, ac)), m));
  Vec n = normalise_or(select(m, normal, x.n), -ray.d);
  n = select(dot(n, ray.d) < Real(0.0f), n, -n);
  if (uses<FEATURE_SMOOTH_NORMALS>(scene) && scene.normals.len > 0) n = smooth_normal(scene, ray.d, x.p, number, m, n);
  x.n = select(m, n, x.n);
  x.material = select(m, read((const int*)data, words, at + Int(WORD(Triangle, material_index)), m), x.material);
}

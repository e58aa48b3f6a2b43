// The point where a ray hits a shape: what the shape knows of it, before its material does anything with light.
#pragma once
#include "ray.cuh"

struct Interaction {
  Vec p;
  Vec n;               // unit, on the side the ray came from
  Vec face;            // polyhedra: the face's normal as its slab has it
  Real edge_distance;  // polyhedra: distance to the nearest plane of another face
  Real depth;          // of a bevel: distance to the plane of its own face
  Int material;
  Int outside, inside;  // Ray::last_surface of rays that leave on either side
  Vec texture;          // a factor of the material's colors, if it has one; or the light of paint
  Mask has_texture;
  Real painted;  // the share that paint covers
  Real alpha;  // floor and bodies: GGX roughness by their relief, if it has one
  Mask has_relief;
  Vec ground, lean;  // of a relief: the face's normal, on the side the ray came from, and that of the mean slopes, not normalized
  Real curvature;  // of a bevel: twice the angle by which the normal turns per length
};

POLYFLY_FN Interaction interaction_at(const Ray& ray, const Hit& hit) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  Interaction x;
  x.p = kept(fma(ray.d, hit.t, ray.o));
  x.n = x.face = x.ground = x.lean = vec(zero, zero, one);
  x.edge_distance = x.depth = zero;
  x.material = Int(0);
  x.outside = hit.surface << ORIGIN_SHIFT;
  x.inside = x.outside | Int(INSIDE);
  x.texture = vec(one, one, one);
  x.alpha = x.curvature = x.painted = zero;
  x.has_texture = first_lanes(0);
  x.has_relief = first_lanes(0);
  return x;
}

// A shading normal that is perturbed away from the face's: back-facing normals are turned to grazing ones.
POLYFLY_FN Vec facing_normal(Vec leaning, Vec face, Vec d) {
  return normalise_or(fma(d, -max(dot(leaning, d), Real(0.0f)), leaning), face);
}
// The same, and the reflected direction stays on this side of the face.
#define BENT_ABOVE 0.02f
POLYFLY_FN Vec bent_normal(Vec leaning, Vec face, Vec d) {
  const Real zero = Real(0.0f);
  const Vec n = facing_normal(leaning, face, d);
  const Vec mirrored = fma(n, Real(-2.0f) * dot(n, d), d);
  const Real below = dot(mirrored, face) - Real(BENT_ABOVE);
  const Vec kept_above = normalise(fma(face, -below, mirrored));
  return select(below < zero, normalise(kept_above - d), n);
}

// Calls f(index, lanes) for each distinct index in the lanes of m.
template <class F>
POLYFLY_FN void for_each_index(Int index, Mask m, F f) {
#if POLYFLY_LANES == 1
  if (m) f(index, true);
#else
  for (u32 pending = mask_bits(m); pending;) {
    const int k = lane(index, __builtin_ctz(pending));
    const Mask lanes = m & (index == Int(k));
    f(k, lanes);
    pending &= ~mask_bits(lanes);
  }
#endif
}

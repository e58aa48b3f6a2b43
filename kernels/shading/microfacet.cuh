// What surfaces mirror: in one direction, or spread by microfacets, or as "Ray Tracing in One Weekend" spreads it.
#pragma once
#include "material.cuh"
#include "sampler.cuh"

// Smith's Lambda of GGX for a direction in the surface's own frame (Walter et al., "Microfacet models for refraction
// through rough surfaces", 2007).
POLYFLY_FN Real smith_lambda(Vec v, Real alpha) {
  const Real across = fma(v.x, v.x, v.y * v.y), along = max(v.z * v.z, Real(1.0e-12f));
  const Real tangent = alpha * alpha * across * reciprocal(along);
  return Real(0.5f) * (sqrt(tangent + Real(1.0f)) - Real(1.0f));
}

// A ray that is mirrored, and its weight; not where it would go into the surface.
struct Mirrored {
  Vec d, weight;
  Mask some;
};
POLYFLY_FN Mirrored mirror(Vec n, Vec d, Vec weight) {
  const Real twice = Real(-2.0f) * dot(n, d);
  const Mirrored m = {vec(fma(n.x, twice, d.x), fma(n.y, twice, d.y), fma(n.z, twice, d.z)), weight,
                      first_lanes(POLYFLY_LANES)};
  return m;
}
// The same for rough surfaces (alpha above 0) and those that are white along the rim (edge 1), by a pair of draws: the
// facet that mirrors is drawn from those that the ray sees (Dupuy and Benyoub, "Sampling visible GGX normals with
// spherical caps", 2023).
POLYFLY_APART Mirrored mirror_rough(Vec n, Real alpha, Real edge, Vec d, Vec weight, Pair place) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask rough = alpha > zero;
  Mirrored m = mirror(n, d, weight);
  Real cosine = -dot(n, d), share = one;
  if (any(rough)) {
    const Basis basis = basis_around(n);
    const Vec eye = vec(-dot(basis.right, d), -dot(basis.down, d), cosine);
    const Vec round = normalise(vec(eye.x * alpha, eye.y * alpha, eye.z));
    Real sine, turn;
    sincos_2pi(place.u, sine, turn);
    const Real z = fma(one - place.v, one + round.z, -round.z);
    const Real r = sqrt(max(fma(-z, z, one), Real(1.0e-20f)));
    const Vec up = vec(fma(r, turn, round.x), fma(r, sine, round.y), z + round.z);
    const Vec facet = normalise(vec(up.x * alpha, up.y * alpha, max(up.z, Real(1.0e-6f))));
    const Real facing = dot(facet, eye), twice = facing + facing;
    const Vec out = vec(fma(facet.x, twice, -eye.x), fma(facet.y, twice, -eye.y), fma(facet.z, twice, -eye.z));
    m.some = (!rough) | (out.z > zero);
    // Of the facets that the ray sees, those that the way out is not hidden from.
    const Real hidden = one + smith_lambda(eye, alpha);
    share = select(rough, hidden * reciprocal(hidden + smith_lambda(out, alpha)), one);
    cosine = select(rough, facing, cosine);
    const Vec away = fma(basis.right, out.x, fma(basis.down, out.y, n * out.z));
    m.d = select(rough, normalise(away), m.d);
  }
  // Schlick, "An inexpensive BRDF model for physically-based rendering", 1994.
  const Real rim = max(one - cosine, zero), rim2 = rim * rim, white = edge * rim2 * rim2 * rim;
  m.weight = fma(vec(one, one, one) - weight, white, weight) * share;
  return m;
}

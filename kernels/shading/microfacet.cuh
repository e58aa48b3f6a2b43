// Specular reflection: perfect mirrors, GGX microfacets, and the fuzz of "Ray Tracing in One Weekend".
#pragma once
#include "shading_point.cuh"
#include "sampler.cuh"

// Smith's Lambda of GGX, by the cosine to the normal (Walter et al., "Microfacet models for refraction through rough
// surfaces", 2007).
POLYFLY_FN Real smith_lambda(Real cosine, Real alpha) {
  const Real along = max(cosine * cosine, Real(1.0e-12f)), across = max(Real(1.0f) - along, Real(0.0f));
  return Real(0.5f) * (sqrt(fma(alpha * alpha * across, reciprocal(along), Real(1.0f))) - Real(1.0f));
}
// The pdf, per solid angle, of directions reflected at facets sampled from the distribution of visible normals. cosine:
// of the viewing direction, whose Lambda is hidden - 1; sine2: squared sine between the facet's normal and the
// surface's.
POLYFLY_FN Real ggx_vndf_pdf(Real alpha, Real sine2, Real cosine, Real hidden) {
  const Real spread = fma(sine2, Real(1.0f) - alpha * alpha, alpha * alpha);
  return alpha * alpha * reciprocal(max(Real(12.566371f) * spread * spread * cosine * hidden, Real(1.0e-30f)));
}
// Schlick, "An inexpensive BRDF model for physically-based rendering", 1994.
POLYFLY_FN Vec schlick(Vec weight, Real edge, Real cosine) {
  const Real one = Real(1.0f), rim = max(one - cosine, Real(0.0f)), rim2 = rim * rim;
  return fma(vec(one, one, one) - weight, edge * rim2 * rim2 * rim, weight);
}

// The value of a rough mirror from direction l to the viewer: BRDF times cosine, and the pdf of sampling l.
struct Lobe {
  Vec value;
  Real pdf;
};
POLYFLY_NOINLINE Lobe ggx_eval(Vec n, Real alpha, Real edge, Vec d, Vec weight, Vec l) {
  const Real zero = Real(0.0f), min_cosine = Real(1.0e-4f);
  const Vec facet = normalise_or(l - d, n), across = cross(n, facet);
  const Real cosine = max(-dot(n, d), min_cosine), out = dot(n, l);
  const Real hidden = Real(1.0f) + smith_lambda(cosine, alpha);
  const Real share = hidden * reciprocal(hidden + smith_lambda(out, alpha));
  Lobe lobe;
  lobe.pdf = select((out > zero) & (alpha > zero), ggx_vndf_pdf(alpha, dot(across, across), cosine, hidden), zero);
  lobe.value = schlick(weight, edge, -dot(facet, d)) * (lobe.pdf * share);
  return lobe;
}

// A reflected direction and its weight; not valid where it would enter the surface. pdf: of a rough mirror.
struct Mirrored {
  Vec d, weight;
  Mask valid;
  Real pdf;
};
POLYFLY_FN Mirrored mirror(Vec n, Vec d, Vec weight) {
  const Real twice = Real(-2.0f) * dot(n, d);
  const Mirrored m = {vec(fma(n.x, twice, d.x), fma(n.y, twice, d.y), fma(n.z, twice, d.z)), weight,
                      first_lanes(POLYFLY_LANES), Real(0.0f)};
  return m;
}
// The same for rough surfaces (alpha above 0) and for those with Schlick's Fresnel term (edge 1). The facet is sampled
// from the visible normals (Dupuy and Benyoub, "Sampling visible GGX normals with spherical caps", 2023).
POLYFLY_NOINLINE Mirrored ggx_sample(Vec n, Real alpha, Real edge, Vec d, Vec weight, Pair u2) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask rough = alpha > zero;
  Mirrored m = mirror(n, d, weight);
  Real cosine = -dot(n, d), share = one;
  if (any(rough)) {
    const Basis basis = basis_around(n);
    const Vec eye = vec(-dot(basis.right, d), -dot(basis.down, d), cosine);
    const Vec round = normalise_or(vec(eye.x * alpha, eye.y * alpha, eye.z), vec(zero, zero, one));
    Real sine, turn;
    sincos_2pi(u2.u, sine, turn);
    const Real z = fma(one - u2.v, one + round.z, -round.z);
    const Real r = sqrt(max(fma(-z, z, one), Real(1.0e-20f)));
    const Vec up = vec(fma(r, turn, round.x), fma(r, sine, round.y), z + round.z);
    const Vec facet = normalise(vec(up.x * alpha, up.y * alpha, max(up.z, Real(1.0e-6f))));
    const Real facing = dot(facet, eye), twice = facing + facing;
    const Vec out = vec(fma(facet.x, twice, -eye.x), fma(facet.y, twice, -eye.y), fma(facet.z, twice, -eye.z));
    m.valid = (!rough) | (out.z > zero);
    // The fraction of the visible facets from which the outgoing direction is not shadowed.
    const Real hidden = one + smith_lambda(eye.z, alpha);
    share = select(rough, hidden * reciprocal(hidden + smith_lambda(out.z, alpha)), one);
    m.pdf = ggx_vndf_pdf(alpha, fma(facet.x, facet.x, facet.y * facet.y), max(eye.z, Real(1.0e-4f)), hidden);
    cosine = select(rough, facing, cosine);
    const Vec away = fma(basis.right, out.x, fma(basis.down, out.y, n * out.z));
    m.d = select(rough, normalise(away), m.d);
  }
  m.weight = schlick(weight, edge, cosine) * share;
  return m;
}

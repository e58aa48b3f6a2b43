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

// Light that facets reflect several times (Kulla and Conty, "Revisiting physically based shading at Imageworks", 2017): a
// second, wide lobe. ggx_again is the share of light from a direction that facets do not reflect at once, of a rough
// mirror that absorbs nothing; ggx_again_mean its mean over the cosines of all directions. Both are fits to quadrature,
// within 0.8 % of the light, for alphas up to 1.
POLYFLY_FN Real ggx_again(Real cosine, Real alpha) {
  const Real c = min(max(cosine, Real(1.0e-4f)), Real(1.0f)), a = min(alpha, Real(1.0f));
  const Real flat = fma(a, fma(a, Real(10.187376f), Real(0.1232102f)), Real(1.0f)),
             first = fma(a, fma(a, Real(10.085733f), Real(-6.5581497f)), Real(0.492709f)),
             second = fma(a, fma(a, Real(12.093368f), Real(-11.659198f)), Real(4.3917125f));
  const Real lost = a * a * c * fma(c, fma(c, second, first), flat);
  const Real kept =
      fma(a * a, fma(c, Real(8.790683f), a * Real(2.7557682f)), c * c * fma(c, Real(3.00696f), a * Real(-5.541935f)));
  return lost * reciprocal(max(lost + kept, Real(1.0e-20f)));
}
POLYFLY_FN Real ggx_again_mean(Real alpha) {
  const Real one = Real(1.0f), a = min(alpha, one);
  return a * fma(a, fma(a, Real(-4.0374955f), Real(5.0155834f)), Real(0.0039286f)) *
      reciprocal(fma(a, fma(a, Real(-4.7026201f), Real(5.3974725f)), one));
}
// What is left of light that facets reflect several times. Those of a measured metal (edge 1) take their share each time;
// other mirrors reflect the same color at any roughness.
POLYFLY_FN Vec ggx_dye(Real mean, Real edge, Vec weight) {
  const Real one = Real(1.0f), kept = one - mean;
  const Vec facet = fma(weight, Real(20.0f / 21.0f), vec(one, one, one) * Real(1.0f / 21.0f));
  const Vec left = vec(one, one, one) - facet * mean, all = facet * facet * kept;
  const Vec metal = vec(all.x * reciprocal(max(left.x, Real(1.0e-6f))), all.y * reciprocal(max(left.y, Real(1.0e-6f))),
                        all.z * reciprocal(max(left.z, Real(1.0e-6f))));
  return select(edge > Real(0.0f), metal, weight);
}

// The value of a rough mirror from direction l to the viewer: BRDF times cosine, and the pdf of sampling l.
struct Lobe {
  Vec value;
  Real pdf;
};
POLYFLY_NOINLINE Lobe ggx_eval(Vec n, Real alpha, Real edge, Vec d, Vec weight, Vec l) {
  const Real zero = Real(0.0f), one = Real(1.0f), min_cosine = Real(1.0e-4f);
  const Vec facet = normalise_or(l - d, n), across = cross(n, facet);
  const Real cosine = max(-dot(n, d), min_cosine), out = dot(n, l);
  const Mask seen = (out > zero) & (alpha > zero);
  const Real hidden = one + smith_lambda(cosine, alpha);
  const Real share = hidden * reciprocal(hidden + smith_lambda(out, alpha));
  const Real again = ggx_again(cosine, alpha), mean = ggx_again_mean(alpha), lambert = out * Real(0.31830989f);
  const Real single = select(seen, ggx_vndf_pdf(alpha, dot(across, across), cosine, hidden), zero);
  const Real wide = select(seen, again * lambert, zero);
  Lobe lobe;
  lobe.pdf = fma(one - again, single, wide);
  lobe.value = schlick(weight, edge, -dot(facet, d)) * (single * share) +
      ggx_dye(mean, edge, weight) * (wide * ggx_again(out, alpha) * reciprocal(max(mean, Real(1.0e-20f))));
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
// The same for rough surfaces (alpha above 0) and for those with Schlick's Fresnel term (edge 1). Of a rough surface, the
// facet is sampled from the visible normals (Dupuy and Benyoub, "Sampling visible GGX normals with spherical caps",
// 2023), or the direction by its cosine: each as often as light leaves at once, or later.
POLYFLY_NOINLINE Mirrored ggx_sample(Vec n, Real alpha, Real edge, Vec d, Vec weight, Pair u2) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask rough = alpha > zero;
  Mirrored m = mirror(n, d, weight);
  const Real cosine = -dot(n, d);
  m.weight = schlick(weight, edge, cosine);
  if (!any(rough)) return m;
  const Basis basis = basis_around(n);
  const Vec up = vec(zero, zero, one), eye = vec(-dot(basis.right, d), -dot(basis.down, d), cosine);
  const Vec round = normalise_or(vec(eye.x * alpha, eye.y * alpha, eye.z), up);
  const Real again = ggx_again(eye.z, alpha), at_once = one - again;
  const Mask later = u2.u < again;
  const Real u = select(later, u2.u * reciprocal(max(again, Real(1.0e-20f))), (u2.u - again) * reciprocal(at_once));
  Real sine, turn;
  sincos_2pi(min(u, Real(0.99999994f)), sine, turn);
  const Real z = select(later, fma(u2.v, Real(-2.0f), one), fma(one - u2.v, one + round.z, -round.z));
  const Real r = sqrt(max(fma(-z, z, one), Real(1.0e-20f)));
  const Vec visible = vec(fma(r, turn, round.x), fma(r, sine, round.y), z + round.z);
  Vec facet = normalise(vec(visible.x * alpha, visible.y * alpha, max(visible.z, Real(1.0e-6f))));
  const Real twice = dot(facet, eye) * Real(2.0f);
  const Vec mirrored = vec(fma(facet.x, twice, -eye.x), fma(facet.y, twice, -eye.y), fma(facet.z, twice, -eye.z));
  const Vec out = select(later, normalise_or(vec(r * turn, r * sine, z + one), up), mirrored);
  facet = select(later, normalise_or(out + eye, up), facet);
  m.valid = (!rough) | (out.z > zero);
  // The fraction of the visible facets from which the outgoing direction is not shadowed.
  const Real hidden = one + smith_lambda(eye.z, alpha), mean = ggx_again_mean(alpha);
  const Real share = hidden * reciprocal(hidden + smith_lambda(out.z, alpha));
  const Real single =
      ggx_vndf_pdf(alpha, fma(facet.x, facet.x, facet.y * facet.y), max(eye.z, Real(1.0e-4f)), hidden);
  const Real wide = again * max(out.z, zero) * Real(0.31830989f);
  m.pdf = fma(at_once, single, wide);
  const Vec value = schlick(weight, edge, dot(facet, eye)) * (single * share) +
      ggx_dye(mean, edge, weight) * (wide * ggx_again(out.z, alpha) * reciprocal(max(mean, Real(1.0e-20f))));
  m.weight = select(rough, value * reciprocal(within_domain(m.pdf)), m.weight);
  m.d = select(rough, normalise(fma(basis.right, out.x, fma(basis.down, out.y, n * out.z))), m.d);
  return m;
}

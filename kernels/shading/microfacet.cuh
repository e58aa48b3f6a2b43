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
// second, wide lobe. ggx_again is the share of light from a direction that the first facet does not reflect out of a rough
// mirror that absorbs nothing; ggx_again_mean is its mean over the cosines of all directions. Both are fits to quadrature,
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
// The color of light that facets reflect several times. Facets of a measured metal (edge 1) absorb each time; other mirrors
// reflect the same color at any roughness.
POLYFLY_FN Vec ggx_dye(Real mean, Real edge, Vec weight) {
  const Real one = Real(1.0f), kept = one - mean;
  const Vec facet = fma(weight, Real(20.0f / 21.0f), vec(one, one, one) * Real(1.0f / 21.0f));
  const Vec left = vec(one, one, one) - facet * mean, all = facet * facet * kept;
  const Vec metal = vec(all.x * reciprocal(max(left.x, Real(1.0e-6f))), all.y * reciprocal(max(left.y, Real(1.0e-6f))),
                        all.z * reciprocal(max(left.z, Real(1.0e-6f))));
  return select(edge > Real(0.0f), metal, weight);
}

// GGX distribution and shadowing terms shared by ggx_lobe and ggx_reflect. `Pair`: components of a direction along the first two vectors of
// the basis; cosine: to the normal.
struct EvenFacets {
  Real alpha;
  POLYFLY_METHOD Basis basis(Vec n) const { return basis_around(n); }
  POLYFLY_METHOD Pair parts(Vec) const { return {Real(0.0f), Real(0.0f)}; }
  POLYFLY_METHOD Vec stretched(Vec v) const { return vec(v.x * alpha, v.y * alpha, v.z); }
  POLYFLY_METHOD Real lambda(Pair, Real cosine) const { return smith_lambda(cosine, alpha); }
  POLYFLY_METHOD Real vndf_pdf(Pair, Real sine2, Real cosine, Real hidden) const {
    return ggx_vndf_pdf(alpha, sine2, cosine, hidden);
  }
  POLYFLY_METHOD Real again(Pair, Real cosine) const { return ggx_again(cosine, alpha); }
  POLYFLY_METHOD Real again_mean() const { return ggx_again_mean(alpha); }
};

// The grain of brushed metal. "Lost" light is not reflected by the first facet that it meets.
struct Grain {
  Vec along;       // its direction; only the component along the surface counts
  Real stretch;    // alpha along it over alpha, less than 1
  Real bare;       // alpha without a relief
  Int lost;        // 1 + index of the table of lost light
  Real lost_mean;  // mean of the table over all directions
  Real counted;    // factor of both
  Real even;       // factor of the lost light of facets without a grain
};
template <class S>
POLYFLY_FN Grain read_grain(const S& scene, Int brushed, Mask m) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  Grain grain = {vec(one, zero, zero), one, one, Int(0), zero, one, zero};
  for_each_index(brushed - Int(1), m, [&](int k, Mask lanes) POLYFLY_LAMBDA {
    const Material& material = scene.materials.at(k);
    grain.along = select(lanes, vec(material.grain), grain.along);
    grain.stretch = select(lanes, Real(material.stretch), grain.stretch);
    grain.bare = select(lanes, Real(material.alpha), grain.bare);
    grain.lost = select(lanes, Int(material.lost), grain.lost);
    grain.lost_mean = select(lanes, Real(material.lost_mean), grain.lost_mean);
  });
  return grain;
}

// Facets of brushed metal: alpha is alpha * stretch along the grain, and alpha / stretch across (Heitz, "Understanding the
// masking-shadowing function in microfacet-based BRDFs", 2014). A table has the lost light.
template <class S>
struct BrushedFacets {
  const S& scene;
  Real alpha;
  Grain grain;
  Basis along;  // its first vector is the grain's direction
  Mask lanes;
  POLYFLY_METHOD Basis basis(Vec) const { return along; }
  POLYFLY_METHOD Pair parts(Vec v) const { return {dot(along.right, v), dot(along.down, v)}; }
  POLYFLY_METHOD Vec stretched(Vec v) const {
    return vec(v.x * alpha * grain.stretch, v.y * alpha * reciprocal(grain.stretch), v.z);
  }
  // alpha^2 in this direction, divided by alpha^2 and by the squared length of the direction along the surface.
  POLYFLY_METHOD Real spread(Pair v) const {
    const Real wide = grain.stretch * grain.stretch;
    return fma(v.u * v.u, wide, v.v * v.v * reciprocal(wide));
  }
  POLYFLY_METHOD Real lambda(Pair v, Real cosine) const {
    const Real up = max(cosine * cosine, Real(1.0e-12f));
    return Real(0.5f) * (sqrt(fma(alpha * alpha * spread(v), reciprocal(up), Real(1.0f))) - Real(1.0f));
  }
  POLYFLY_METHOD Real vndf_pdf(Pair facet, Real sine2, Real cosine, Real hidden) const {
    const Real square = alpha * alpha, wide = grain.stretch * grain.stretch;
    const Real spread = fma(facet.u * facet.u, reciprocal(wide), fma(facet.v * facet.v, wide, square * (Real(1.0f) - sine2)));
    return square * reciprocal(max(Real(12.566371f) * spread * spread * cosine * hidden, Real(1.0e-30f)));
  }
  // Table coordinate: alpha in this direction, from smallest to largest.
  POLYFLY_METHOD Real again(Pair v, Real cosine) const {
    const Real tiny = Real(1.0e-12f), least = grain.stretch, most = reciprocal(grain.stretch);
    const Real here = sqrt((spread(v) + tiny) * reciprocal(fma(v.u, v.u, fma(v.v, v.v, tiny))));
    const Real at = (here - least) * reciprocal(max(most - least, Real(1.0e-6f)));
    const Vec lost = film_reflectance(scene, grain.lost, cosine, lanes);
    const Real grained = fma(at, fma(at, lost.z, lost.y), lost.x) * grain.counted;
    return max(min(fma(grain.even, ggx_again(cosine, alpha), grained), Real(0.9999f)), Real(0.0f));
  }
  POLYFLY_METHOD Real again_mean() const {
    return fma(grain.even, ggx_again_mean(alpha), grain.lost_mean * grain.counted);
  }
};
// The grain under a relief. Slopes smaller than a pixel widen the facets' distribution to this alpha, equally in all directions: the more
// they widen it, the less of the grain is left. A map may make facets smoother: their lost light is about proportional to alpha^2.
POLYFLY_FN void grain_in_relief(Real& alpha, Grain& grain) {
  const Real zero = Real(0.0f), one = Real(1.0f), tiny = Real(1.0e-20f);
  const Real least = min(grain.bare, alpha), square = least * least, wide = grain.stretch * grain.stretch;
  const Real more = max(fma(alpha, alpha, -square), zero);
  const Real along = fma(square, wide, more), across = max(fma(square, reciprocal(wide), more), tiny);
  const Real smoother = least * reciprocal(grain.bare), widened = more * reciprocal(max(square + more, tiny));
  // No material has a grain below 0.3.
  grain.stretch = max(sqrt_or_zero(sqrt_or_zero(along * reciprocal(across))), Real(0.3f));
  grain.even = widened;
  grain.counted = (one - widened) * smoother * smoother;
  alpha = min(sqrt_or_zero(sqrt_or_zero(along * across)), one);
}
// The grain follows its direction as far as the surface does.
template <class S>
POLYFLY_FN BrushedFacets<S> brushed_facets(const S& scene, Int brushed, Real alpha, Vec n, Mask m) {
  Grain grain = read_grain(scene, brushed, m);
  grain_in_relief(alpha, grain);
  const Vec flat = fma(n, -dot(n, grain.along), grain.along);
  const Vec right = normalise(select(dot(flat, flat) > Real(1.0e-3f), flat, basis_around(n).right));
  return {scene, alpha, grain, {right, cross(n, right)}, m};
}

// The value of a rough mirror from direction l to the viewer: BRDF times cosine, and the pdf of sampling l.
struct Lobe {
  Vec value;
  Real pdf;
};
template <class F>
POLYFLY_FN Lobe ggx_lobe(const F& facets, Vec n, Real edge, Vec d, Vec weight, Vec l) {
  const Real zero = Real(0.0f), one = Real(1.0f), min_cosine = Real(1.0e-4f);
  const Vec facet = normalise_or(l - d, n), across = cross(n, facet);
  const Real cosine = max(-dot(n, d), min_cosine), out = dot(n, l);
  const Mask seen = (out > zero) & (facets.alpha > zero);
  const Pair eye = facets.parts(-d), light = facets.parts(l);
  const Real hidden = one + facets.lambda(eye, cosine);
  const Real share = hidden * reciprocal(hidden + facets.lambda(light, out));
  const Real again = facets.again(eye, cosine), mean = facets.again_mean(), lambert = out * Real(0.31830989f);
  const Real single = select(seen, facets.vndf_pdf(facets.parts(facet), dot(across, across), cosine, hidden), zero);
  const Real wide = select(seen, again * lambert, zero);
  Lobe lobe;
  lobe.pdf = fma(one - again, single, wide);
  lobe.value = schlick(weight, edge, -dot(facet, d)) * (single * share) +
      ggx_dye(mean, edge, weight) * (wide * facets.again(light, out) * reciprocal(max(mean, Real(1.0e-20f))));
  return lobe;
}
POLYFLY_NOINLINE Lobe ggx_eval(Vec n, Real alpha, Real edge, Vec d, Vec weight, Vec l) {
  return ggx_lobe(EvenFacets{alpha}, n, edge, d, weight, l);
}
template <class S>
POLYFLY_NOINLINE Lobe brushed_eval(const S& scene, Int brushed, Vec n, Real alpha, Real edge, Vec d, Vec weight, Vec l,
                                   Mask m) {
  return ggx_lobe(brushed_facets(scene, brushed, alpha, n, m), n, edge, d, weight, l);
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
// The same for rough surfaces (alpha above 0) and for those with Schlick's Fresnel term (edge 1). For a rough surface,
// the facet is sampled from the visible normals (Dupuy and Benyoub, "Sampling visible GGX normals with spherical caps",
// 2023), or the direction by its cosine, with the shares of light that leaves after one reflection or after several.
template <class F>
POLYFLY_FN Mirrored ggx_reflect(const F& facets, Vec n, Real edge, Vec d, Vec weight, Pair u2) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask rough = facets.alpha > zero;
  Mirrored m = mirror(n, d, weight);
  const Real cosine = -dot(n, d);
  m.weight = schlick(weight, edge, cosine);
  if (!any(rough)) return m;
  const Basis basis = facets.basis(n);
  const Vec up = vec(zero, zero, one), eye = vec(-dot(basis.right, d), -dot(basis.down, d), cosine);
  const Vec round = normalise_or(facets.stretched(eye), up);
  const Pair from = {eye.x, eye.y};
  const Real again = facets.again(from, eye.z), at_once = one - again;
  const Mask later = u2.u < again;
  const Real u = select(later, u2.u * reciprocal(max(again, Real(1.0e-20f))), (u2.u - again) * reciprocal(at_once));
  Real sine, turn;
  sincos_2pi(min(u, Real(0.99999994f)), sine, turn);
  const Real z = select(later, fma(u2.v, Real(-2.0f), one), fma(one - u2.v, one + round.z, -round.z));
  const Real r = sqrt(max(fma(-z, z, one), Real(1.0e-20f)));
  const Vec visible = vec(fma(r, turn, round.x), fma(r, sine, round.y), z + round.z);
  Vec facet = normalise(facets.stretched(vec(visible.x, visible.y, max(visible.z, Real(1.0e-6f)))));
  const Real twice = dot(facet, eye) * Real(2.0f);
  const Vec mirrored = vec(fma(facet.x, twice, -eye.x), fma(facet.y, twice, -eye.y), fma(facet.z, twice, -eye.z));
  const Vec out = select(later, normalise_or(vec(r * turn, r * sine, z + one), up), mirrored);
  facet = select(later, normalise_or(out + eye, up), facet);
  m.valid = (!rough) | (out.z > zero);
  // Fraction of visible facets whose reflected ray is not shadowed.
  const Pair to = {out.x, out.y};
  const Real hidden = one + facets.lambda(from, eye.z), mean = facets.again_mean();
  const Real share = hidden * reciprocal(hidden + facets.lambda(to, out.z));
  const Real single = facets.vndf_pdf({facet.x, facet.y}, fma(facet.x, facet.x, facet.y * facet.y),
                                      max(eye.z, Real(1.0e-4f)), hidden);
  const Real wide = again * max(out.z, zero) * Real(0.31830989f);
  m.pdf = fma(at_once, single, wide);
  const Vec value = schlick(weight, edge, dot(facet, eye)) * (single * share) +
      ggx_dye(mean, edge, weight) * (wide * facets.again(to, out.z) * reciprocal(max(mean, Real(1.0e-20f))));
  m.weight = select(rough, value * reciprocal(within_domain(m.pdf)), m.weight);
  m.d = select(rough, normalise(fma(basis.right, out.x, fma(basis.down, out.y, n * out.z))), m.d);
  return m;
}
POLYFLY_NOINLINE Mirrored ggx_sample(Vec n, Real alpha, Real edge, Vec d, Vec weight, Pair u2) {
  return ggx_reflect(EvenFacets{alpha}, n, edge, d, weight, u2);
}
template <class S>
POLYFLY_NOINLINE Mirrored brushed_sample(const S& scene, Int brushed, Vec n, Real alpha, Real edge, Vec d, Vec weight,
                                         Pair u2, Mask m) {
  return ggx_reflect(brushed_facets(scene, brushed, alpha, n, m), n, edge, d, weight, u2);
}

// Slopes of a relief that are smaller than a pixel ("waves"). Each mirrors like a visible slope: weighted by its area in the face's plane, and
// turned where it would mirror below the face (bent_normal). They are Gaussian, with variance waves / 2 along each axis.
struct Waves {
  Vec ground, lean;
  Real waves;
};
// The pdf of mirroring a ray into direction l by slopes that are not turned.
POLYFLY_FN Real waves_pdf(const Waves& s, Vec d, Vec l) {
  const Vec sum = l - d;
  const Real up = dot(l, s.ground), height = reciprocal(max(up - dot(d, s.ground), Real(1.0e-3f)));
  const Vec off = fma(sum, height, -s.lean);
  const Real per_wave = reciprocal(max(s.waves, Real(1.0e-12f)));
  const Real slopes = exp_minus(dot(off, off) * per_wave) * per_wave * Real(0.31830989f);
  const Real pdf = slopes * dot(sum, sum) * Real(0.5f) * height * height * height;
  return select(up > Real(BENT_ABOVE), pdf, Real(0.0f));
}
POLYFLY_NOINLINE Lobe waves_eval(Waves s, Real edge, Vec d, Vec weight, Vec l) {
  const Vec sum = l - d;
  const Real pdf = waves_pdf(s, d, l);
  return {schlick(weight, edge, sqrt_or_zero(dot(sum, sum)) * Real(0.5f)) * pdf, pdf};
}
POLYFLY_NOINLINE Mirrored waves_sample(Waves s, Real edge, Vec d, Vec weight, Pair u2) {
  const Basis basis = basis_around(s.ground);
  Real sine, cosine;
  sincos_2pi(u2.u, sine, cosine);
  const Real r = sqrt_or_zero(s.waves * minus_log(Real(1.0f) - u2.v));
  const Vec lean = fma(basis.right, r * cosine, fma(basis.down, r * sine, s.lean));
  const Vec facet = bent_normal(lean, s.ground, d), straight = normalise_or(lean, s.ground);
  Mirrored m = mirror(facet, d, schlick(weight, edge, -dot(facet, d)));
  const Mask above = dot(fma(straight, Real(-2.0f) * dot(straight, d), d), s.ground) > Real(BENT_ABOVE);
  const Mask turned = !((dot(lean, d) < Real(0.0f)) & above);
  // Light samples do not find what turned slopes mirror.
  m.pdf = select(turned, Real(1.0e8f), waves_pdf(s, d, m.d));
  return m;
}
// Lanes with such slopes.
template <class S>
POLYFLY_FN Mask has_waves(const S& scene, const Surface<S>& s, Mask m) {
  if constexpr (has_any<S>(FEATURE_RELIEF | FEATURE_FINISHES)) {
    if (uses_any<FEATURE_RELIEF | FEATURE_FINISHES>(scene)) return m & (s.wave_share > Real(0.0f)) & (s.alpha > Real(0.0f));
  }
  return first_lanes(0);
}
template <class S>
POLYFLY_FN Lobe even_lobe(const S& scene, const Surface<S>& s, Vec d, Vec l, Mask m) {
  if constexpr (has_any<S>(FEATURE_RELIEF | FEATURE_FINISHES)) {
    const Mask waves = has_waves(scene, s, m);
    if (any(waves)) {
      const Real share = select(waves, s.wave_share, Real(0.0f));
      Lobe lobe = waves_eval({s.ground, s.lean, s.waves}, s.edge, d, all_of(s.reflect), l);
      if (!any(m & (share < Real(1.0f)))) return lobe;
      const Lobe even = ggx_eval(s.n, s.alpha, s.edge, d, all_of(s.reflect), l);
      // A lane's result does not depend on other lanes.
      const Mask whole = waves & !(share < Real(1.0f));
      const Vec value = select(waves, fma(lobe.value - even.value, share, even.value), even.value);
      const Real pdf = select(waves, fma(lobe.pdf - even.pdf, share, even.pdf), even.pdf);
      lobe.value = select(whole, lobe.value, value);
      lobe.pdf = select(whole, lobe.pdf, pdf);
      return lobe;
    }
  }
  return ggx_eval(s.n, s.alpha, s.edge, d, all_of(s.reflect), l);
}
template <class S>
POLYFLY_FN Mirrored even_mirror(const S& scene, const Surface<S>& s, Vec d, Vec weight, Pair u2, Mask m) {
  if constexpr (has_any<S>(FEATURE_RELIEF | FEATURE_FINISHES)) {
    const Mask waves = has_waves(scene, s, m);
    if (any(waves)) {
      const Real one = Real(1.0f), tiny = Real(1.0e-20f), share = select(waves, s.wave_share, Real(0.0f));
      const Mask picked = waves & (u2.u < share);
      const Pair of_waves = {select(picked, u2.u * reciprocal(max(share, tiny)), u2.u), u2.v},
                 of_facets = {select(picked, u2.u, (u2.u - share) * reciprocal(max(one - share, tiny))), u2.v};
      Mirrored mirrored = waves_sample({s.ground, s.lean, s.waves}, s.edge, d, weight, of_waves);
      if (!any(m & (share < one))) return mirrored;
      const Mirrored even = ggx_sample(s.n, s.alpha, s.edge, d, weight, of_facets);
      const Mask turned = picked & (mirrored.pdf > Real(1.0e7f));
      mirrored.d = select(picked, mirrored.d, even.d);
      mirrored.weight = select(picked, mirrored.weight, even.weight);
      mirrored.valid = (picked & mirrored.valid) | (even.valid & !picked);
      mirrored.pdf = select(picked, mirrored.pdf, even.pdf);
      const Lobe both = even_lobe(scene, s, d, mirrored.d, waves & !turned);
      const Mask counted = waves & (share < one) & mirrored.valid & !turned;
      mirrored.weight = select(counted, both.value * reciprocal(within_domain(both.pdf)), mirrored.weight);
      mirrored.pdf = select(counted, both.pdf, mirrored.pdf);
      return mirrored;
    }
  }
  return ggx_sample(s.n, s.alpha, s.edge, d, weight, u2);
}

// Lanes with brushed metal.
template <class S>
POLYFLY_FN Mask is_brushed(const S& scene, const Surface<S>& s, Mask m) {
  if (uses<FEATURE_BRUSHED>(scene)) return m & (s.brushed > Int(0)) & (s.alpha > Real(0.0f));
  return first_lanes(0);
}
// The value of a surface's rough mirror from direction l to the viewer.
template <class S>
POLYFLY_FN Lobe rough_lobe(const S& scene, const Surface<S>& s, Vec d, Vec l, Mask m) {
  const Mask brushed = is_brushed(scene, s, m);
  if (any(brushed)) {
    Lobe lobe = brushed_eval(scene, s.brushed, s.n, s.alpha, s.edge, d, all_of(s.reflect), l, brushed);
    if (!any(m & !brushed)) return lobe;
    const Lobe even = even_lobe(scene, s, d, l, m & !brushed);
    lobe.value = select(brushed, lobe.value, even.value);
    lobe.pdf = select(brushed, lobe.pdf, even.pdf);
    return lobe;
  }
  return even_lobe(scene, s, d, l, m);
}
// The direction in which it reflects a ray, and its weight.
template <class S>
POLYFLY_FN Mirrored rough_mirror(const S& scene, const Surface<S>& s, Vec d, Vec weight, Pair u2, Mask m) {
  const Mask brushed = is_brushed(scene, s, m);
  if (any(brushed)) {
    Mirrored mirrored = brushed_sample(scene, s.brushed, s.n, s.alpha, s.edge, d, weight, u2, brushed);
    if (!any(m & !brushed)) return mirrored;
    const Mirrored even = even_mirror(scene, s, d, weight, u2, m & !brushed);
    mirrored.d = select(brushed, mirrored.d, even.d);
    mirrored.weight = select(brushed, mirrored.weight, even.weight);
    mirrored.valid = (brushed & mirrored.valid) | (even.valid & !brushed);
    mirrored.pdf = select(brushed, mirrored.pdf, even.pdf);
    return mirrored;
  }
  return even_mirror(scene, s, d, weight, u2, m);
}

// The shading point that materials produce for integrators, and helpers that several materials share.
#pragma once
#include "../shapes/interaction.cuh"

// The specular reflectance: in small scenes, which have no colored mirrors, a single number.
template <class S, bool IS_GREY = SceneTraits<S>::small>
struct Reflectance {
  typedef Vec Type;
  POLYFLY_METHOD static Vec all(Real x) { return vec(x, x, x); }
  POLYFLY_METHOD static Real max(Vec x) { return max_component(x); }
};
template <class S>
struct Reflectance<S, true> {
  typedef Real Type;
  POLYFLY_METHOD static Real all(Real x) { return x; }
  POLYFLY_METHOD static Real max(Real x) { return x; }
};

// The specular reflectance as a color.
POLYFLY_FN Vec all_of(Vec x) { return x; }
POLYFLY_FN Vec all_of(Real x) { return vec(x, x, x); }

template <class S>
struct Surface {
  Vec p;
  Vec n;       // unit, on the side the ray came from
  Vec albedo;  // diffuse albedo, including the weight 1 - R - T
  Vec emission;
  Real highlight_weight;  // weight of the highlight, including 1 - R - T
  typename Reflectance<S>::Type reflect;
  Real fuzz;                // for path tracing
  Real alpha;               // GGX roughness; 0: a perfect mirror
  Real edge;                // 1: with Schlick's Fresnel term
  Int brushed;              // 1 + index of the brushed material, or 0
  Vec ground, lean;         // Interaction::ground and lean, with a relief
  Real waves;               // alpha^2 of slopes of a relief that are smaller than a pixel
  Real wave_share;          // the same divided by alpha^2; 0: no such slopes
  Vec transmit;             // transmitted fraction, by color
  Real ior;                 // ratio of the indices of refraction; 1: transmitted rays go straight on
  Int reflect_origin;       // Ray::last_surface of the reflected ray
  Int transmit_origin;      // Ray::last_surface of the transmitted ray
  Mask passes_shadow_rays;  // shadow rays pass straight on, as the transmitted ray does
  Int spawn_flags;          // flags for Ray::bounces of all secondary rays: DISPERSED after dispersion
  Int reflect_flags;        // more flags for the reflected ray
  Vec dye;                  // factor of the weight of specular rays: the wavelength's response in red, green and blue
  Real cone;                // width of the ray's cone here
  Real widening;            // increase of the cone's spread by a curved mirror, divided by the camera's angle
  Vec fog;                  // radiance that the fog adds on the way here
  Vec transmittance;        // transmittance of the medium between the ray's origin and the surface
  Real coat;                // factor of a clear coat's Fresnel reflectance; 0: no coat
  Real coat_ior;            // 1 / its index of refraction
  Real coat_share;          // its reflectance for this ray
  Real coat_under;          // the specular reflectance below it
  Real coat_norm;           // Material::coat_norm
  Int coat_kept;            // Material::coat_kept
  Mask coat_mirrors;        // the transmitted ray is the reflection of a coat over a rough or fuzzy mirror
};

// A sample's wavelength behind dispersive glass: 1 / wavelength^2 minus that of the d line, in 1 / um^2, and the
// response in red, green and blue. The responses are hat functions over the spectrum; they add up to three everywhere,
// and each has the mean one.
struct Wavelength {
  Real term;
  Vec response;
};
POLYFLY_FN Wavelength no_wavelength() {
  const Wavelength w = {Real(0.0f), vec(Real(1.0f), Real(1.0f), Real(1.0f))};
  return w;
}
POLYFLY_FN Wavelength wavelength_of(Real u) {
  const Real zero = Real(0.0f), one = Real(1.0f), three = Real(3.0f);
  const Real um = fma(u, Real(0.26f), Real(0.42f));
  const Real blue = max(min(fma(u, -three, Real(1.5f)), one), zero);
  const Real red = max(min(fma(u, three, Real(-1.5f)), one), zero);
  const Wavelength w = {reciprocal(um * um) - Real(2.8965965f),
                        vec(red * three, (one - red - blue) * three, blue * three)};
  return w;
}

// Fresnel's reflectance of a dielectric for unpolarised light (1823), at incidence `cosine`; ior: the index before the
// surface over that behind it. It is 1 beyond the critical angle.
POLYFLY_FN Real fresnel(Real ior, Real cosine) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real c = max(min(cosine, one), zero);
  const Real square = fma(ior * ior, fma(c, c, -one), one), behind = sqrt(max(square, Real(1.0e-20f)));
  const Real a = ior * c, b = ior * behind;
  const Real across = (a - behind) * reciprocal(a + behind), along = (b - c) * reciprocal(b + c);
  return select(square < zero, one, Real(0.5f) * fma(across, across, along * along));
}

// Schlick, "An inexpensive BRDF model for physically-based rendering", 1994.
POLYFLY_FN Vec schlick(Vec weight, Real edge, Real cosine) {
  const Real one = Real(1.0f), rim = max(one - cosine, Real(0.0f)), rim2 = rim * rim;
  return fma(vec(one, one, one) - weight, edge * rim2 * rim2 * rim, weight);
}

// Clear coats: a smooth dielectric over an opaque surface. Light passes the coat, is mirrored or scattered below, and the coat
// reflects a part of it down again; the sum over all bounces has a closed form. The coat is thin and colorless, and refraction does not
// change directions.
// Reflectance of a coat with this share and the mirror below it.
POLYFLY_FN Vec coat_over_mirror(Real share, Vec below) {
  const Real one = Real(1.0f), passes = one - share, twice = passes * passes, least = Real(1.0e-6f);
  return vec(fma(below.x * twice, reciprocal(max(fma(-share, below.x, one), least)), share),
             fma(below.y * twice, reciprocal(max(fma(-share, below.y, one), least)), share),
             fma(below.z * twice, reciprocal(max(fma(-share, below.z, one), least)), share));
}
// Light that gets through a coat to the diffuse surface below, at first or after reflections there.
POLYFLY_FN Real coat_passage(Real share, Real below) {
  const Real one = Real(1.0f);
  return (one - share) * reciprocal(max(fma(-share, below, one), Real(1.0e-6f)));
}
template <class S>
POLYFLY_FN Mask is_coated(const S& scene, const Surface<S>& s) {
  if (uses<FEATURE_COAT>(scene)) return s.coat > Real(0.0f);
  return first_lanes(0);
}
// Whether one of these lanes has a coat. Kernels without coats do not ask.
template <class S>
POLYFLY_FN bool any_coated(const S&, Mask coated) {
  return has_features<S>(FEATURE_COAT) && any(coated);
}
// Light that a coated diffuse surface scatters from a direction with this cosine, divided by the mean over directions.
template <class S>
POLYFLY_FN Real coat_spreads(const Surface<S>& s, Real cosine, Mask coated) {
  const Real one = Real(1.0f);
  const Real share = s.coat * fresnel(select(coated, s.coat_ior, one), cosine);
  return select(coated, coat_passage(share, s.coat_under) * s.coat_norm, one);
}
// The reflectance of a thin film at this cosine of incidence in air: interpolated between two entries of its table
// (src/device_scene/film.rs).
template <class S>
POLYFLY_FN Vec film_reflectance(const S& scene, Int film, Real cosine, Mask m) {
  const Real at = max(min(cosine, Real(1.0f)), Real(0.0f)) * Real((float)FILM_LAST);
  const Int entry = to_index(at, Real((float)(FILM_LAST - 1)));
  const Int word = ((select(m, film, Int(1)) - Int(1)) * Int(FILM_LAST + 1) + entry) * Int(3);
  const Vec low = read_vec(scene.films.data, scene.films.len, word, m),
            high = read_vec(scene.films.data, scene.films.len, word + Int(3), m);
  return fma(high - low, at - to_real(entry), low);
}
// Factor of the light that such a surface does not mirror; `bare`: its reflectance without the film.
POLYFLY_FN Vec film_rest(Vec share, Vec bare) {
  const Real one = Real(1.0f), tiny = Real(1.0e-6f);
  return vec((one - share.x) * reciprocal(max(one - bare.x, tiny)), (one - share.y) * reciprocal(max(one - bare.y, tiny)),
             (one - share.z) * reciprocal(max(one - bare.z, tiny)));
}

// Transmittance of a coat over a rough mirror, for light between two directions: as over a clear mirror at the more grazing one, so that it
// is reciprocal, times a factor for each direction, so that no energy is lost.
template <class S>
POLYFLY_FN Vec coat_leaves(const S& scene, const Surface<S>& s, Vec d, Real cosine, Mask m) {
  const Real one = Real(1.0f), least = Real(1.0e-6f);
  if constexpr (!has_features<S>(FEATURE_COAT)) {
    return vec(one, one, one);
  } else {
    // The reflectance of a fuzzy mirror includes the coat already (shade_coat); it has no table, even where a relief makes it rough.
    const Mask coated = m & s.coat_mirrors & (s.coat_kept > Int(0));
    if (!any(coated)) return vec(one, one, one);
    const Real share = max(s.coat * fresnel(select(coated, s.coat_ior, one), cosine), s.coat_share);
    const Real twice = (one - share) * (one - share);
    const Vec below = vec(one, one, one) * s.reflect;
    const Vec leaves = vec(twice * reciprocal(max(fma(-share, below.x, one), least)),
                           twice * reciprocal(max(fma(-share, below.y, one), least)),
                           twice * reciprocal(max(fma(-share, below.z, one), least)));
    const Vec kept = film_reflectance(scene, s.coat_kept, -dot(s.n, d), coated) *
        film_reflectance(scene, s.coat_kept, cosine, coated);
    return select(coated, leaves * kept, vec(one, one, one));
  }
}

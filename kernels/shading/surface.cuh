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
  Int brushed;              // 1 + the material of brushed metal, or 0
  Vec ground, lean;         // Interaction's, of a relief
  Real waves;               // the square of alpha by slopes of a relief that are too small to see
  Real wave_share;          // the same over alpha's square; 0: there are none
  Vec transmit;             // transmitted fraction, by color
  Real ior;                 // ratio of the indices of refraction; 1: transmitted rays go straight on
  Int reflect_origin;       // Ray::last_surface of the reflected ray
  Int transmit_origin;      // Ray::last_surface of the transmitted ray
  Mask passes_shadow_rays;  // shadow rays pass straight on, as the transmitted ray does
  Int spawn_flags;          // flags for Ray::bounces of all secondary rays: DISPERSED after dispersion
  Int reflect_flags;        // more flags for the reflected ray
  Vec dye;                  // factor of the weight of specular rays: the wavelength's response in red, green and blue
  Real cone;                // width of the ray's cone here
  Real widening;            // increase of the cone's spread by a curved mirror, over the camera's angle
  Vec fog;                  // radiance that the fog adds on that way
  Vec transmittance;        // transmittance of the medium between the ray's origin and the surface
  Real coat;                // share of Fresnel's reflectance that a clear coat has; 0: there is none
  Real coat_ior;            // 1 / its index of refraction
  Real coat_share;          // what it mirrors of the ray's light
  Real coat_under;          // the specular reflectance below it
  Real coat_norm;           // Material::coat_norm
  Int coat_kept;            // Material::coat_kept
  Mask coat_mirrors;        // the transmitted ray is the one that a coat mirrors, over a mirror that is not clear
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

// Clear coats: a smooth dielectric over an opaque surface. Light passes the coat, is mirrored or spread below, and is in part
// sent down again by the coat; the sum of all these ways is in closed form. The coat is thin and has no color, and directions
// below it count as they are above.
// What a coat with this share and a mirror below it mirror together.
POLYFLY_FN Vec coat_over_mirror(Real share, Vec below) {
  const Real one = Real(1.0f), passes = one - share, twice = passes * passes, least = Real(1.0e-6f);
  return vec(fma(below.x * twice, reciprocal(max(fma(-share, below.x, one), least)), share),
             fma(below.y * twice, reciprocal(max(fma(-share, below.y, one), least)), share),
             fma(below.z * twice, reciprocal(max(fma(-share, below.z, one), least)), share));
}
// What gets through a coat to the diffuse surface below, on the first way or after the mirror there.
POLYFLY_FN Real coat_passage(Real share, Real below) {
  const Real one = Real(1.0f);
  return (one - share) * reciprocal(max(fma(-share, below, one), Real(1.0e-6f)));
}
template <class S>
POLYFLY_FN Mask is_coated(const S& scene, const Surface<S>& s) {
  if (uses<FEATURE_COAT>(scene)) return s.coat > Real(0.0f);
  return first_lanes(0);
}
// Whether one of these lanes has a coat. Kernels that know none do not ask.
template <class S>
POLYFLY_FN bool any_coated(const S&, Mask coated) {
  return has_features<S>(FEATURE_COAT) && any(coated);
}
// Light from a direction, by its cosine to the normal, that a coated diffuse surface spreads, over the mean of all directions.
template <class S>
POLYFLY_FN Real coat_spreads(const Surface<S>& s, Real cosine, Mask coated) {
  const Real one = Real(1.0f);
  const Real share = s.coat * fresnel(select(coated, s.coat_ior, one), cosine);
  return select(coated, coat_passage(share, s.coat_under) * s.coat_norm, one);
}
// The reflectance of a surface with a thin film, by the number of the film and the cosine of incidence in air: between
// two entries of the film's table (src/device_scene/film.rs).
template <class S>
POLYFLY_FN Vec film_reflectance(const S& scene, Int film, Real cosine, Mask m) {
  const Real at = max(min(cosine, Real(1.0f)), Real(0.0f)) * Real((float)FILM_LAST);
  const Int entry = to_index(at, Real((float)(FILM_LAST - 1)));
  const Int word = ((select(m, film, Int(1)) - Int(1)) * Int(FILM_LAST + 1) + entry) * Int(3);
  const Vec low = read_vec(scene.films.data, scene.films.len, word, m),
            high = read_vec(scene.films.data, scene.films.len, word + Int(3), m);
  return fma(high - low, at - to_real(entry), low);
}
// What such a surface does with the other light, as a factor of what it does without the film, where it mirrors `bare`.
POLYFLY_FN Vec film_rest(Vec share, Vec bare) {
  const Real one = Real(1.0f), tiny = Real(1.0e-6f);
  return vec((one - share.x) * reciprocal(max(one - bare.x, tiny)), (one - share.y) * reciprocal(max(one - bare.y, tiny)),
             (one - share.z) * reciprocal(max(one - bare.z, tiny)));
}

// What a coat leaves of the light that a rough mirror reflects between the ray's direction and another one: as over a clear mirror at
// the more grazing of them, so that it is the same both ways, times factors of both, so that the surface returns what it gets.
template <class S>
POLYFLY_FN Vec coat_leaves(const S& scene, const Surface<S>& s, Vec d, Real cosine, Mask m) {
  const Real one = Real(1.0f), least = Real(1.0e-6f);
  if constexpr (!has_features<S>(FEATURE_COAT)) {
    return vec(one, one, one);
  } else {
    // What a fuzzy mirror reflects counts the coat already (shade_coat), and has no table, also where a relief makes it rough.
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

// What a ray finds where it lands, as materials leave it for the integrators; and what several of them share.
#pragma once
#include "../shapes/ray.cuh"

// The share that is mirrored: one number for all colours where there are only polyhedra and the floor.
template <class S>
struct Reflectance {
  typedef Vec Type;
  POLYFLY_METHOD static Vec all(Real x) { return vec(x, x, x); }
  POLYFLY_METHOD static Real max(Vec x) { return max_component(x); }
};
template <>
struct Reflectance<SmallScene> {
  typedef Real Type;
  POLYFLY_METHOD static Real all(Real x) { return x; }
  POLYFLY_METHOD static Real max(Real x) { return x; }
};

template <class S>
struct Surface {
  Vec p;
  Vec n;       // unit, on the side the ray came from
  Vec albedo;  // of the surface's own shading, already times its weight 1 - R - T
  Vec emission;
  Real highlight_weight;  // weight of the highlight, likewise times 1 - R - T
  typename Reflectance<S>::Type reflect;
  Real fuzz;                // for path tracing
  Real alpha;               // GGX's, of what is mirrored; 0: a clear mirror
  Real edge;                // 1: the mirror turns white along the rim
  Vec transmit;             // T times the tint
  Real ior;                 // on the way through; 1 = straight
  Int reflect_origin;       // Ray::from of the reflected ray
  Int transmit_origin;      // and of the transmitted one
  Mask passes_shadow_rays;  // shadow rays pass here as the transmitted ray does
  Int spawn_flags;    // what to add to the bounces of rays that go on: DISPERSED where they are of one wavelength now
  Int reflect_flags;  // and to those of the reflected ray
  Vec dye;            // times the weight of rays that go on: the wavelength's share of red, green and blue
  Real cone;          // see cone_at
  Real widening;      // what a curved mirror adds to the angle of a ray's cone, over the camera's
  Vec transmittance;  // what is left of light that has come to the surface through the glass behind it
};

// What a sample sees behind glass that bends colours apart: what 1 / wavelength^2 is more than the d line's, in 1 /
// um^2, and what it counts there for red, green and blue. Each of these is a hat over the spectrum; everywhere they add
// up to three, and each is one on the whole.
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

// The share of unpolarised light that clear matter mirrors (Fresnel, 1823), of a ray that comes in by `cosine`; ior:
// the index before the surface over that behind it. Past the critical angle all of it.
POLYFLY_FN Real fresnel(Real ior, Real cosine) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real c = max(min(cosine, one), zero);
  const Real square = fma(ior * ior, fma(c, c, -one), one), behind = sqrt(max(square, Real(1.0e-20f)));
  const Real a = ior * c, b = ior * behind;
  const Real across = (a - behind) * reciprocal(a + behind), along = (b - c) * reciprocal(b + c);
  return select(square < zero, one, Real(0.5f) * fma(across, across, along * along));
}

// The normal of a surface that leans away from its face: what turns away from the eye is seen from the side at most,
// and what is mirrored stays on this side of the face.
POLYFLY_FN Vec bent_normal(Vec leaning, Vec face, Vec d) {
  const Real zero = Real(0.0f);
  const Vec n = normalise_or(fma(d, -max(dot(leaning, d), zero), leaning), face);
  const Vec mirrored = fma(n, Real(-2.0f) * dot(n, d), d);
  const Real below = dot(mirrored, face) - Real(0.02f);
  const Vec kept_above = normalise(fma(face, -below, mirrored));
  return select(below < zero, normalise(kept_above - d), n);
}

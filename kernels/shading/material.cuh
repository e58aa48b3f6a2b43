// Materials: what a surface does with light at an interaction.
#pragma once
#include "../medium.cuh"
#include "surface.cuh"

// Reads a material whose index may differ between lanes: one field of it for each call.
#if POLYFLY_LANES == 1
struct MaterialReader {
  const Material& material;
};
template <class S>
POLYFLY_FN MaterialReader read_material(const S& scene, Int index, Mask) {
  const MaterialReader reader = {scene.materials.at(index)};
  return reader;
}
#define MATERIAL_REAL(reader, field, lanes) Real((reader).material.field)
#define MATERIAL_INT(reader, field, lanes) Int((reader).material.field)
#define MATERIAL_VEC(reader, field, lanes) vec((reader).material.field)
#else
struct MaterialReader {
  const float* data;
  int words;
  Int at;      // of each lane's material, in words
  int shared;  // of the material of all lanes, or -1
  POLYFLY_METHOD Real real(int word, Mask m) const {
    return shared >= 0 ? Real(data[shared + word]) : read(data, words, at + Int(word), m);
  }
  POLYFLY_METHOD Int integer(int word, Mask m) const { return bits(real(word, m)); }
  POLYFLY_METHOD Vec vector(int word, Mask m) const { return vec(real(word, m), real(word + 1, m), real(word + 2, m)); }
};
template <class S>
POLYFLY_FN MaterialReader read_material(const S& scene, Int index, Mask m) {
  const int first = lane(index, __builtin_ctz(mask_bits(m)));
  const bool differs = any(m & (index != Int(first)));
  const MaterialReader reader = {(const float*)scene.materials.data, WORDS(Material) * scene.materials.len,
                                 index * Int(WORDS(Material)), differs ? -1 : first * WORDS(Material)};
  return reader;
}
#define MATERIAL_REAL(reader, field, lanes) (reader).real(WORD(Material, field), lanes)
#define MATERIAL_INT(reader, field, lanes) (reader).integer(WORD(Material, field), lanes)
#define MATERIAL_VEC(reader, field, lanes) (reader).vector(WORD(Material, field), lanes)
#endif

// The reflectance of a thin sheet of glass, between whose sides light is reflected repeatedly.
POLYFLY_FN Real sheet_reflectance(Real ior, Real cosine) {
  const Real side = fresnel(ior, cosine);
  return (side + side) * reciprocal(side + Real(1.0f));
}

// Glass that disperses or absorbs: s.ior at the ray's wavelength, the wavelength's colour of all secondary rays
// (reflectance depends on the wavelength too), and the transmittance of the way through the glass. The reflectance
// follows from s.ior.
template <class S>
POLYFLY_FN void shade_glass(const Ray& ray, const Hit& hit, Mask m, const Wavelength& wave, Real index, Real dispersion,
                            Vec absorb, Surface<S>& s) {
  const Mask disperses = m & (dispersion > Real(0.0f));
  if (any(disperses)) {
    const Real bent = fma(dispersion, wave.term, index);
    s.ior = select(disperses, select(hit.leaving, bent, reciprocal(bent)), s.ior);
    const Mask anew = disperses & ((ray.bounces & Int(DISPERSED)) == Int(0));
    s.dye = select(anew, wave.response, s.dye);
    s.spawn_flags = select(anew, Int(DISPERSED), s.spawn_flags);
  }
  const Mask absorbs = m & hit.leaving & (max_component(absorb) > Real(0.0f));
  if (any(absorbs)) s.transmittance = select(absorbs, attenuate(absorb, hit.t), s.transmittance);
}

// Past the critical angle what would have passed, the share T, is mirrored, undyed. What the surface mirrors and
// spreads itself stays as it is.
template <class S>
POLYFLY_FN void total_reflection(Vec d, Real transparency, Mask met, Surface<S>& s) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask bends = met & (s.ior != one);
  if (!any(bends)) return;
  const Real cosine = -dot(s.n, d);
  const Mask total = bends & (fma(s.ior * s.ior, fma(cosine, cosine, -one), one) < zero);
  // A scene may define R + T > 1, which would grow without bound here.
  const Real both = min(Reflectance<S>::max(s.reflect) + transparency, one);
  s.reflect = select(total, Reflectance<S>::all(both), s.reflect);
  s.transmit = select(total, vec(zero, zero, zero), s.transmit);
}

// The surface as its material makes it of an interaction, in the lanes of m.
template <class S>
POLYFLY_FN Surface<S> scatter(const S& scene, const Ray& ray, const Hit& hit, const Interaction& x, Mask m,
                              const Wavelength& wave) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const MaterialReader material = read_material(scene, x.material, m);
  Surface<S> s;
  s.p = x.p;
  s.n = x.n;
  s.albedo = MATERIAL_VEC(material, albedo, m);
  s.highlight_weight = MATERIAL_REAL(material, highlight_weight, m);
  s.transmit = MATERIAL_VEC(material, transmit, m);
  s.emission = vec(zero, zero, zero);
  s.fuzz = s.alpha = s.edge = zero;
  if constexpr (SceneTraits<S>::small) {
    s.reflect = MATERIAL_REAL(material, mirror[0], m);
  } else {
    s.reflect = MATERIAL_VEC(material, mirror, m);
    s.emission = MATERIAL_VEC(material, emission, m);
    s.fuzz = MATERIAL_REAL(material, fuzz, m);
  }
  s.ior = select(m, select(hit.leaving, MATERIAL_REAL(material, ior, m), MATERIAL_REAL(material, inverse_ior, m)), one);
  s.reflect_origin = select(hit.leaving, x.inside, x.outside);
  s.transmit_origin = select(hit.leaving, x.outside, x.inside);
  s.passes_shadow_rays = !(m & (MATERIAL_INT(material, stops_shadow_rays, m) > Int(0)));
  s.spawn_flags = s.reflect_flags = Int(0);
  s.dye = s.transmittance = vec(one, one, one);
  s.fog = vec(zero, zero, zero);
  s.cone = cone_at(ray, hit.t);
  s.widening = zero;
  if (picture_levels(scene) > 0) {
    s.albedo = s.albedo * x.texture;
    if constexpr (!SceneTraits<S>::plain) {
      s.transmit = s.transmit * x.texture;
      s.reflect = select(MATERIAL_INT(material, metal, m) > Int(0), s.reflect * x.texture, s.reflect);
    }
  }
  if constexpr (!SceneTraits<S>::plain) {
    s.alpha = select(x.has_relief, x.alpha, MATERIAL_REAL(material, alpha, m));
    s.edge = MATERIAL_REAL(material, edge, m);
    // Slopes of a relief differ by more from sample to sample than a star is wide.
    s.reflect_flags = select(x.has_relief, Int(BLURRED), Int(0));
    const Real sheet = MATERIAL_REAL(material, sheet, m);
    const Mask is_sheet = m & (sheet > zero);
    if (any(is_sheet)) {
      const Real share = sheet_reflectance(select(is_sheet, sheet, one), -dot(s.n, ray.d));
      s.reflect = select(is_sheet, Reflectance<S>::all(share), s.reflect);
      s.transmit = select(is_sheet, s.transmit * (one - share), s.transmit);
    }
  }
  const Mask glass = m & (MATERIAL_INT(material, glass, m) > Int(0));
  if (any(glass)) {
    if constexpr (!SceneTraits<S>::plain)
      shade_glass(ray, hit, glass, wave, MATERIAL_REAL(material, ior, glass),
                  MATERIAL_REAL(material, dispersion, glass), MATERIAL_VEC(material, absorb, glass), s);
    const Real share = fresnel(s.ior, -dot(s.n, ray.d));
    s.reflect = select(glass, Reflectance<S>::all(share), s.reflect);
    s.transmit = select(glass, s.transmit * (one - share), s.transmit);
  }
  total_reflection(ray.d, MATERIAL_REAL(material, transparency, m), m, s);
  if (has_fog(scene)) {
    const Real clear = select(m, fog_transmittance(scene, hit.t), one);
    s.transmittance = s.transmittance * clear;
    s.fog = vec(scene.constants.fog_colour) * (one - clear);
  }
  return s;
}

// Where the transmitted ray goes: straight, or bent by Snell's law.
template <class S>
POLYFLY_FN Vec refract(const Surface<S>& s, Vec d) {
  const Mask bends = s.ior != Real(1.0f);
  if (!any(bends)) return d;
  const Real cosine = -dot(s.n, d);
  const Real k = fma(s.ior * s.ior, fma(cosine, cosine, Real(-1.0f)), Real(1.0f));
  const Vec bent = normalise(d * s.ior + s.n * (fma(s.ior, cosine, -sqrt(max(k, Real(1.0e-20f))))));
  return select(bends, bent, d);
}

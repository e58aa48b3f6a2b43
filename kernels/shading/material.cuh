// Materials: what a surface does with light at an interaction.
#pragma once
#include "../medium.cuh"
#include "surface.cuh"

// The materials of all lanes. One lane has its own; more lanes blend the fields of each distinct material, which is
// faster than gathers.
#if POLYFLY_LANES == 1
struct Materials {
  const Material material;
};
template <class S>
POLYFLY_FN Materials read_materials(const S& scene, Int index, Mask) {
  const Materials all = {scene.materials.load(index)};
  return all;
}
#define MATERIAL_REAL(all, field) Real((all).material.field)
#define MATERIAL_INT(all, field) Int((all).material.field)
#define MATERIAL_VEC(all, field) vec((all).material.field)
#define MATERIAL_GREY_MIRROR(all) Real((all).material.mirror[0])
#else
struct Materials {
  const Material* shared;  // of all lanes, or null
  Vec albedo, mirror, transmit, emission, absorb;
  Real highlight_weight, fuzz, ior, inverse_ior, alpha, edge, dispersion, sheet, transparency;
  Real coat, coat_ior, coat_inside, coat_norm, stretch;
  Int kind, film, stops_shadow_rays, coat_kept;
};
// The fields of a material in the lanes of a mask; FIRST: in all lanes.
template <bool FIRST, class T>
POLYFLY_FN T blended(Mask lanes, T one, T all) {
  if constexpr (FIRST)
    return one;
  else
    return select(lanes, one, all);
}
template <class S, bool FIRST>
POLYFLY_FN void blend_material(const Material& one, Mask lanes, Materials& all) {
  all.albedo = blended<FIRST>(lanes, vec(one.albedo), all.albedo);
  all.mirror = blended<FIRST>(lanes, vec(one.mirror), all.mirror);
  all.transmit = blended<FIRST>(lanes, vec(one.transmit), all.transmit);
  all.emission = blended<FIRST>(lanes, vec(one.emission), all.emission);
  all.highlight_weight = blended<FIRST>(lanes, Real(one.highlight_weight), all.highlight_weight);
  all.fuzz = blended<FIRST>(lanes, Real(one.fuzz), all.fuzz);
  all.ior = blended<FIRST>(lanes, Real(one.ior), all.ior);
  all.inverse_ior = blended<FIRST>(lanes, Real(one.inverse_ior), all.inverse_ior);
  all.transparency = blended<FIRST>(lanes, Real(one.transparency), all.transparency);
  all.kind = blended<FIRST>(lanes, Int(one.kind), all.kind);
  all.stops_shadow_rays = blended<FIRST>(lanes, Int(one.stops_shadow_rays), all.stops_shadow_rays);
  if constexpr (has_materials<S>()) {
    all.alpha = blended<FIRST>(lanes, Real(one.alpha), all.alpha);
    all.edge = blended<FIRST>(lanes, Real(one.edge), all.edge);
    all.film = blended<FIRST>(lanes, Int(one.film), all.film);
    all.sheet = blended<FIRST>(lanes, Real(one.sheet), all.sheet);
    if constexpr (FIRST) {
      all.coat = all.coat_ior = all.coat_inside = all.coat_norm = Real(0.0f);
      all.coat_kept = Int(0);
    }
    if (one.coat > 0.0f) {
      all.coat = select(lanes, Real(one.coat), all.coat);
      all.coat_ior = select(lanes, Real(one.coat_ior), all.coat_ior);
      all.coat_inside = select(lanes, Real(one.coat_inside), all.coat_inside);
      all.coat_norm = select(lanes, Real(one.coat_norm), all.coat_norm);
      all.coat_kept = select(lanes, Int(one.coat_kept), all.coat_kept);
    }
    all.stretch = blended<FIRST>(lanes, Real(one.stretch), all.stretch);
    if constexpr (FIRST) {
      all.dispersion = Real(0.0f);
      all.absorb = vec(all.dispersion, all.dispersion, all.dispersion);
    }
    if (one.kind == MATERIAL_GLASS) {
      all.dispersion = select(lanes, Real(one.dispersion), all.dispersion);
      all.absorb = select(lanes, vec(one.absorb), all.absorb);
    }
  }
}
template <class S>
POLYFLY_FN Materials read_materials(const S& scene, Int index, Mask m) {
  Materials all;
  const int first = lane(index, __builtin_ctz(mask_bits(m)));
  const Mask others = m & (index != Int(first));
  all.shared = any(others) ? nullptr : &scene.materials.at(first);
  if (all.shared) return all;
  blend_material<S, true>(scene.materials.at(first), m & !others, all);
  for_each_index(index, others, [&](int k, Mask lanes) POLYFLY_LAMBDA {
    blend_material<S, false>(scene.materials.at(k), lanes, all);
  });
  return all;
}
#define MATERIAL_REAL(all, field) ((all).shared ? Real((all).shared->field) : (all).field)
#define MATERIAL_INT(all, field) ((all).shared ? Int((all).shared->field) : (all).field)
#define MATERIAL_VEC(all, field) ((all).shared ? vec((all).shared->field) : (all).field)
#define MATERIAL_GREY_MIRROR(all) MATERIAL_VEC(all, mirror).x
#endif

// The reflectance of a thin sheet of glass, between whose sides light is reflected repeatedly.
POLYFLY_FN Real sheet_reflectance(Real ior, Real cosine) {
  const Real side = fresnel(ior, cosine);
  return (side + side) * reciprocal(side + Real(1.0f));
}

// Glass that disperses or absorbs: s.ior at the ray's wavelength, the wavelength's color of all secondary rays
// (reflectance depends on the wavelength too), and the transmittance of the way through the glass. The reflectance
// follows from s.ior.
template <class S>
POLYFLY_FN void shade_glass(const Ray& ray, const Hit& hit, Mask m, const Wavelength& wave, Real index, Real dispersion,
                            Vec absorb, Surface<S>& s) {
  const Mask disperses = m & (dispersion > Real(0.0f));
  if (any(disperses)) {
    const Real bent = fma(dispersion, wave.term, index);
    s.ior = select(disperses, select(hit.leaving, bent, reciprocal(bent)), s.ior);
    const Mask first = disperses & ((ray.bounces & Int(DISPERSED)) == Int(0));
    s.dye = select(first, wave.response, s.dye);
    s.spawn_flags = select(first, Int(DISPERSED), s.spawn_flags);
  }
  const Mask absorbs = m & hit.leaving & (max_component(absorb) > Real(0.0f));
  if (any(absorbs)) s.transmittance = select(absorbs, attenuate(absorb, hit.t), s.transmittance);
}

// A surface with a thin film has the film's reflectance, and past the critical angle it mirrors all light. bare: the
// reflectance without a film; dye: a factor of the mirrored light.
template <class S>
POLYFLY_FN void shade_film(const S& scene, const Ray& ray, const Hit& hit, Mask m, Int film, Vec bare, Vec dye,
                           Surface<S>& s) {
  const Real zero = Real(0.0f), one = Real(1.0f), cosine = -dot(s.n, ray.d);
  // The squared cosine on the other side: in the air where the ray leaves.
  const Real square = fma(s.ior * s.ior, fma(cosine, cosine, -one), one);
  const Vec all = vec(one, one, one);
  const Vec share = select(square < zero, all,
                           film_reflectance(scene, film, select(hit.leaving, sqrt_or_zero(square), cosine), m));
  const Vec rest = film_rest(share, bare);
  s.reflect = select(m, share * dye, s.reflect);
  s.albedo = select(m, s.albedo * rest, s.albedo);
  s.transmit = select(m, s.transmit * rest, s.transmit);
  s.highlight_weight = select(m, s.highlight_weight * max_component(rest), s.highlight_weight);
}

// Past the critical angle the transmitted share T is mirrored instead, undyed. The surface's own reflection and its diffuse
// light stay the same.
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

// A surface under a clear coat. If the material has a clear mirror or none, one reflected ray serves material and coat, and a relief makes
// both equally rough. Over a rough mirror the coat's reflection takes the place of the transmitted ray, as surfaces with a coat
// are opaque.
template <class S>
POLYFLY_FN void shade_coat(Vec d, Mask m, Mask rough, Real inside, Surface<S>& s) {
  const Real zero = Real(0.0f), one = Real(1.0f), cosine = -dot(s.n, d);
  const Real share = s.coat * fresnel(select(m, s.coat_ior, one), cosine);
  const Mask fuzzy = m & (s.fuzz > zero), clear = m & !(rough | fuzzy);
  const Vec below = vec(one, one, one) * s.reflect;
  const Vec both = coat_over_mirror(share, schlick(below, s.edge, cosine));
  // Of the light that gets through, the albedo scatters a part, and the coat reflects some of that back.
  const Real through = coat_passage(share, s.coat_under) * fma(s.coat_under - one, inside, one), least = Real(1.0e-6f);
  const Vec diffuse = vec(s.albedo.x * reciprocal(max(fma(-s.albedo.x, inside, one), least)),
                          s.albedo.y * reciprocal(max(fma(-s.albedo.y, inside, one), least)),
                          s.albedo.z * reciprocal(max(fma(-s.albedo.z, inside, one), least)));
  s.albedo = select(m, diffuse * through, s.albedo);
  s.highlight_weight = select(m, s.highlight_weight * (one - share), s.highlight_weight);
  s.reflect = select(clear, both, select(fuzzy, both - vec(share, share, share), s.reflect));
  s.edge = select(clear, zero, s.edge);
  s.coat_share = select(m, share, zero);
  s.coat_mirrors = m & !clear;
  s.transmit = select(m, vec(share, share, share) * select(clear, zero, one), s.transmit);
  s.transmit_origin = select(m, s.reflect_origin, s.transmit_origin);
  s.passes_shadow_rays = s.passes_shadow_rays & !s.coat_mirrors;
}

// Opaque, dull paint over the material.
template <class S>
POLYFLY_FN void lay_paint(const Interaction& x, Surface<S>& s) {
  const Mask painted = x.painted > Real(0.0f);
  if (!any(painted)) return;
  const Real left = Real(1.0f) - x.painted;
  s.albedo = select(painted, s.albedo * left + x.texture, s.albedo);
  s.highlight_weight = s.highlight_weight * left;
  s.reflect = s.reflect * left;
  s.transmit = s.transmit * left;
  s.emission = s.emission * left;
}

// What materials of a kind of surface may have. Code for one kind of surface leaves out the rest.
enum MaterialUses {
  TEXTURED = 1,  // by a texture or a relief
  SHEETS = 2,    // of glass
  REFRACTS = 4,
  EMITS = 8,
  ANY_USE = 15
};

// The shading point of an interaction by its material, in the lanes of m.
template <int USES, class S>
POLYFLY_FN Surface<S> scatter(const S& scene, const Ray& ray, const Hit& hit, const Interaction& x, Mask m,
                              const Wavelength& wave) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Materials material = read_materials(scene, x.material, m);
  Surface<S> s;
  s.p = x.p;
  s.n = x.n;
  s.albedo = MATERIAL_VEC(material, albedo);
  s.highlight_weight = MATERIAL_REAL(material, highlight_weight);
  s.transmit = MATERIAL_VEC(material, transmit);
  s.emission = vec(zero, zero, zero);
  s.fuzz = s.alpha = s.edge = zero;
  if constexpr (SceneTraits<S>::small) {
    s.reflect = MATERIAL_GREY_MIRROR(material);
  } else {
    s.reflect = MATERIAL_VEC(material, mirror);
    if constexpr ((USES & EMITS) != 0) s.emission = MATERIAL_VEC(material, emission);
    s.fuzz = MATERIAL_REAL(material, fuzz);
  }
  s.ior = one;
  if ((USES & REFRACTS) != 0 && uses<FEATURE_REFRACTION>(scene))
    s.ior = select(m, select(hit.leaving, MATERIAL_REAL(material, ior), MATERIAL_REAL(material, inverse_ior)), one);
  s.reflect_origin = select(hit.leaving, x.inside, x.outside);
  s.transmit_origin = select(hit.leaving, x.outside, x.inside);
  s.passes_shadow_rays = !(m & (MATERIAL_INT(material, stops_shadow_rays) > Int(0)));
  s.spawn_flags = s.reflect_flags = Int(0);
  s.dye = s.transmittance = vec(one, one, one);
  s.fog = vec(zero, zero, zero);
  s.cone = cone_at(ray, hit.t);
  s.widening = zero;
  if ((USES & TEXTURED) != 0 && any(x.has_texture)) {
    s.albedo = s.albedo * x.texture;
    if constexpr (has_materials<S>()) {
      s.transmit = s.transmit * x.texture;
      s.reflect = select(MATERIAL_INT(material, kind) == Int(MATERIAL_METAL), s.reflect * x.texture, s.reflect);
    }
  }
  if constexpr (has_materials<S>()) {
    if constexpr (has_any<S>(FEATURE_RELIEF | FEATURE_FINISHES)) s.waves = s.wave_share = zero;
    if (uses_roughness(scene)) {
      s.alpha = MATERIAL_REAL(material, alpha);
      s.edge = MATERIAL_REAL(material, edge);
    }
    if (uses<FEATURE_BEVELS>(scene)) s.widening = x.curvature * s.cone;
    if constexpr ((USES & TEXTURED) != 0) {
      if constexpr (has_any<S>(FEATURE_RELIEF | FEATURE_FINISHES)) {
        if (uses_roughness(scene)) {
          // Microfacets have the material's roughness, or less by a map; slopes have the rest.
          const Real own = min(s.alpha, x.alpha), all = x.alpha * x.alpha, slopes = fma(-own, own, all);
          // A map of the roughness rounds.
          const Mask waves = x.has_relief & (slopes > max(all * Real(0.001f), Real(1.0e-12f)));
          s.waves = select(waves, slopes, zero);
          s.wave_share = select(waves & (own > zero), slopes * reciprocal(max(all, Real(1.0e-12f))), select(waves, one, zero));
          s.alpha = select(x.has_relief, x.alpha, s.alpha);
          s.ground = x.ground;
          s.lean = x.lean;
        }
      }
      // Slopes of a relief differ by more from sample to sample than a star is wide.
      s.reflect_flags = select(x.has_relief, Int(BLURRED), Int(0));
    }
    if (uses<FEATURE_BRUSHED>(scene))
      s.brushed = select(m & (MATERIAL_REAL(material, stretch) > zero), x.material + Int(1), Int(0));
    const Real sheet = MATERIAL_REAL(material, sheet);
    const Mask is_sheet = m & (sheet > zero);
    if ((USES & SHEETS) != 0 && uses<FEATURE_CLEAR_FLOOR>(scene) && any(is_sheet)) {
      const Real share = sheet_reflectance(select(is_sheet, sheet, one), -dot(s.n, ray.d));
      s.reflect = select(is_sheet, Reflectance<S>::all(share), s.reflect);
      s.transmit = select(is_sheet, s.transmit * (one - share), s.transmit);
    }
  }
  Mask filmed = first_lanes(0);
  if (uses<FEATURE_FILMS>(scene)) filmed = m & (MATERIAL_INT(material, film) > Int(0));
  const Mask glass = m & (MATERIAL_INT(material, kind) == Int(MATERIAL_GLASS));
  if ((USES & REFRACTS) != 0 && uses<FEATURE_REFRACTION>(scene) && any(glass)) {
    if (uses<FEATURE_TINTS>(scene))
      shade_glass(ray, hit, glass, wave, MATERIAL_REAL(material, ior), MATERIAL_REAL(material, dispersion),
                  MATERIAL_VEC(material, absorb), s);
    const Mask plain = glass & !filmed;
    const Real share = fresnel(s.ior, -dot(s.n, ray.d));
    s.reflect = select(plain, Reflectance<S>::all(share), s.reflect);
    s.transmit = select(plain, s.transmit * (one - share), s.transmit);
  }
  if constexpr (has_features<S>(FEATURE_FILMS)) {
    if (uses<FEATURE_FILMS>(scene) && any(filmed)) {
      const Mask tinted = filmed & x.has_texture & (MATERIAL_INT(material, kind) == Int(MATERIAL_METAL));
      shade_film(scene, ray, hit, filmed, MATERIAL_INT(material, film), MATERIAL_VEC(material, mirror),
                 select(tinted, x.texture, vec(one, one, one)), s);
    }
  }
  if ((USES & REFRACTS) != 0 && uses<FEATURE_REFRACTION>(scene)) total_reflection(ray.d, MATERIAL_REAL(material, transparency), m, s);
  s.coat = zero;
  s.coat_mirrors = first_lanes(0);
  if constexpr (has_features<S>(FEATURE_COAT)) {
    if (uses<FEATURE_COAT>(scene)) {
      s.coat = select(m, MATERIAL_REAL(material, coat), zero);
      s.coat_ior = MATERIAL_REAL(material, coat_ior);
      s.coat_under = max_component(MATERIAL_VEC(material, mirror));
      s.coat_norm = MATERIAL_REAL(material, coat_norm);
      s.coat_kept = MATERIAL_INT(material, coat_kept);
      s.coat_share = zero;
      const Mask coated = s.coat > zero;
      if (any(coated))
        shade_coat(ray.d, coated, (MATERIAL_REAL(material, alpha) > zero) & !x.has_relief, MATERIAL_REAL(material, coat_inside), s);
    }
  }
  if constexpr (has_features<S>(FEATURE_PAINT)) {
    if (uses<FEATURE_PAINT>(scene)) lay_paint(x, s);
  }
  if (has_fog(scene)) {
    const Real foggy = length_in_fog(scene, ray.o.z, ray.d.z * hit.t, hit.t);
    const Real clear = select(m, fog_transmittance(scene, foggy), one);
    s.transmittance = s.transmittance * clear;
    s.fog = vec(scene.constants.fog_colour) * (one - clear);
  }
  return s;
}

// Direction of the transmitted ray: straight on, refracted, or mirrored by a coat.
template <class S>
POLYFLY_FN Vec refract(const S& scene, const Surface<S>& s, Vec d) {
  Mask bends = s.ior != Real(1.0f);
  if (uses<FEATURE_COAT>(scene) && any(s.coat_mirrors)) {
    const Real twice = Real(-2.0f) * dot(s.n, d);
    d = select(s.coat_mirrors, fma(s.n, twice, d), d);
    bends = bends & !s.coat_mirrors;
  }
  if (!any(bends)) return d;
  const Real cosine = -dot(s.n, d);
  const Real k = fma(s.ior * s.ior, fma(cosine, cosine, Real(-1.0f)), Real(1.0f));
  const Vec bent = normalise(d * s.ior + s.n * (fma(s.ior, cosine, -sqrt(max(k, Real(1.0e-20f))))));
  return select(bends, bent, d);
}

// What the floor looks like: its picture, its relief, the lamp light that lies on it, and what shines through.
#pragma once
#include "surface.cuh"
#include "texture.cuh"

// Of a floor that fades, the share that is still there at p: with the distance from the scene's middle it gives way to
// what is behind it, the sky.
template <class S>
POLYFLY_FN Real floor_presence(const S& scene, Vec p) {
  // Near the horizon p may be as far as 1e30.
  const Real ratio = min(dot(p, p) * Real(scene.constants.floor_fade), Real(1.0e18f));
  return reciprocal(fma(ratio, ratio, Real(1.0f)));
}
template <class S>
POLYFLY_FN void fade_floor(const S& scene, Mask m, Surface<S>& s) {
  const Real there = select(m, floor_presence(scene, s.p), Real(1.0f)), gone = Real(1.0f) - there;
  s.albedo = s.albedo * there;
  s.emission = s.emission * there;
  s.highlight_weight = s.highlight_weight * there;
  s.reflect = s.reflect * there;
  s.transmit = select(m, fma(s.transmit, there, vec(gone, gone, gone)), s.transmit);
}
// What a thin sheet of glass mirrors: its two sides, again and again.
POLYFLY_FN Real sheet_reflectance(float ior, Real cosine) {
  const Real side = fresnel(Real(1.0f / ior), cosine);
  return (side + side) * reciprocal(side + Real(1.0f));
}

// The floor's relief at (u, v), of a sample that covers so much of the floor: the normal, on the face's side, and GGX's
// alpha. What is finer than the sample makes it rough (Olano and Baker, "LEAN mapping", 2010).
struct Relief {
  Vec n;
  Real alpha;
};
template <class S>
POLYFLY_NOINLINE Relief floor_relief(const S& scene, int k, Vec d, Vec face, Real u, Real v, Real covered, Mask m) {
  const Constants& constants = scene.constants;
  const FloorQuad& quad = scene.floor.at(k);
  const Real tiles = Real(constants.relief_tiles);
  const Real flat = Real((float)RELIEF_FLAT / 65535.0f), steepest = Real(constants.relief_slope);
  Real along_u = Real(0.0f), along_v = Real(0.0f), alpha2 = Real(0.0f);
  POLYFLY_NO_UNROLL
  for (int i = 0; i < constants.relief_layers; ++i) {
    // Of two layers the second goes the other way, from another place.
    const float sign = i == 0 ? 1.0f : -1.0f, shift = i == 0 ? 0.0f : 0.381966f;
    const Vec texel = sample_texture(scene, picture_levels(scene), constants.relief_levels,
                                     fract(fma(u, tiles, Real(sign * constants.relief_u + shift))),
                                     fract(fma(v, tiles, Real(sign * constants.relief_v + shift))), covered * tiles, m);
    along_u = along_u + (texel.x - flat);
    along_v = along_v + (texel.y - flat);
    alpha2 = alpha2 + texel.z;
  }
  // As steep as one, and as rough.
  const float both = constants.relief_layers == 2 ? 0.70710678f : 1.0f;
  const Vec uphill = fma(vec(quad.v), along_v * steepest * Real(both), vec(quad.u) * (along_u * steepest * Real(both)));
  const Vec up = vec(quad.n), leaning = up - uphill;
  const Relief relief = {bent_normal(select(dot(up, face) < Real(0.0f), -leaning, leaning), face, d),
                         sqrt_or_zero(alpha2 * Real(constants.relief_alpha * both * both))};
  return relief;
}

// The share of the floor's width that a sample covers: its footprint, widened by the root of its foreshortening,
// between blur and shimmer.
POLYFLY_FN Real floor_footprint(Real cone, Real facing) {
  const Real slant = max(facing * facing, Real(1.0e-4f));
  return cone * reciprocal(sqrt(sqrt(slant)));
}

// Light that comes through piece k of the floor at p, (u, v), in the direction d.
template <class S>
POLYFLY_NOINLINE Vec floor_transmittance(const S& scene, int k, Vec p, Vec d, Real u, Real v, Mask m) {
  const Constants& constants = scene.constants;
  const Real one = Real(1.0f);
  Real share = Real(constants.floor_transmit);
  if (constants.floor_ior > 0.0f) {
    const Real cosine = abs(dot(scene.floor.at(k).n, d)) * reciprocal(sqrt(squared_length(d)));
    share = one - sheet_reflectance(constants.floor_ior, cosine);
  }
  Vec through = vec(constants.floor_tint) * share;
  const int levels = picture_levels(scene);
  if (levels > 0) through = through * sample_texture(scene, 0, levels, fract(u), fract(v), Real(0.0f), m);
  if (!(constants.floor_fade > 0.0f)) return through;
  const Real there = floor_presence(scene, p), gone = one - there;
  return fma(through, there, vec(gone, gone, gone));
}

// Piece k of the floor.
template <class S>
POLYFLY_FN void shade_floor(const S& scene, const FrameParams& frame, int k, const Ray& ray, const Hit& hit, Mask m,
                            Surface<S>& s) {
  const FloorQuad& quad = scene.floor.at(k);
  const Vec n = vec(quad.n);
  const Real facing = dot(n, ray.d);
  s.n = select(m, select(facing < Real(0.0f), n, -n), s.n);
  Real u = hit.u, v = hit.v;
  const bool endless = !SceneTraits<S>::plain && quad.side == FLOOR_ENDLESS;
  if (endless) {
    u = fract(u);
    v = fract(v);
  }
  Real local = Real(1.0f - scene.constants.floor_reflect);
  if constexpr (!SceneTraits<S>::plain) local = max(local - Real(scene.constants.floor_transmit), Real(0.0f));
  Vec albedo = vec(scene.constants.floor_tint) * local, transmit = s.transmit;
  if constexpr (!SceneTraits<S>::plain)
    transmit = vec(scene.constants.floor_tint) * Real(scene.constants.floor_transmit);
  const Real cone = s.cone * Real(frame.pixel_footprint * quad.uv_per_length);
  const int levels = picture_levels(scene);
  if (levels > 0) {
    const Vec picture = sample_texture(scene, 0, levels, u, v, floor_footprint(cone, facing), m);
    albedo = albedo * picture;
    if constexpr (!SceneTraits<S>::plain) transmit = transmit * picture;
  }
  s.highlight_weight = select(m, Real(scene.constants.floor_highlight), s.highlight_weight);
  s.reflect = select(m, Reflectance<S>::all(Real(scene.constants.floor_reflect)), s.reflect);
  if constexpr (!SceneTraits<S>::plain) {
    s.alpha = select(m, Real(scene.constants.floor_alpha), s.alpha);
    if (scene.constants.relief_levels > 0) {
      const Relief relief = floor_relief(scene, k, ray.d, s.n, hit.u, hit.v, floor_footprint(cone, facing), m);
      s.n = select(m, relief.n, s.n);
      // Its slopes differ by more from sample to sample than a star is wide.
      s.reflect_flags = select(m, Int(BLURRED), s.reflect_flags);
      s.alpha = select(m, relief.alpha, s.alpha);
    }
    if (scene.constants.floor_metal) {
      s.reflect = select(m, albedo, s.reflect);
      s.fuzz = select(m, Real(scene.constants.floor_fuzz), s.fuzz);
      s.edge = select(m, Real(scene.constants.floor_metal == 2 ? 1.0f : 0.0f), s.edge);
      albedo = vec(Real(0.0f), Real(0.0f), Real(0.0f));
    }
    if (scene.constants.floor_ior > 0.0f) {
      const Real share = sheet_reflectance(scene.constants.floor_ior, -dot(s.n, ray.d));
      s.reflect = select(m, Reflectance<S>::all(share), s.reflect);
      transmit = albedo * (Real(1.0f) - share);
      albedo = vec(Real(0.0f), Real(0.0f), Real(0.0f));
    }
    s.transmit = select(m, transmit, s.transmit);
    s.transmit_origin = select(m, Int(origin_outside(SHAPE_FLOOR, k)), s.transmit_origin);
  }
  s.albedo = select(m, albedo, s.albedo);
  if (scene.constants.lightmap_size > 0) {
    // Lamp light lies on the side that the floor's normal points to, which is the upper one.
    Mask above = m & (facing < Real(0.0f));
    if (endless) above = above & (u == hit.u) & (v == hit.v);
    const Int size = Int(scene.constants.lightmap_size);
    const Vec light =
        bilinear(scene.lightmap, Int(0), size, size, hit.u, hit.v, above) * Real(scene.constants.lightmap_scale);
    s.emission = select(above, albedo * light, s.emission);
  }
  s.reflect_origin = select(m, Int(origin_outside(SHAPE_FLOOR, k)), s.reflect_origin);
  if constexpr (!SceneTraits<S>::plain) {
    if (scene.constants.floor_fade > 0.0f) fade_floor(scene, m, s);
  }
}

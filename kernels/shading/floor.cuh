// The floor: its texture, its relief, its light map, and its transmittance.
#pragma once
#include "material.cuh"
#include "sky.cuh"
#include "texture.cuh"

// The sky's radiance at the horizon of an endless floor, in the ray's direction projected into the floor's plane.
template <class S>
POLYFLY_NOINLINE Vec horizon_radiance(const S& scene, Vec p, Vec n, Vec d, Mask m) {
  const Vec level = normalise_or(fma(n, -dot(n, d), d), vec(Real(1.0f), Real(0.0f), Real(0.0f)));
  return sky_through_fog(scene, p, level, sky(scene, level, m));
}
// Where there is ground, it fades, and the floor on it does not.
template <class S>
POLYFLY_FN bool fades(const S& scene, const FloorQuad& quad) {
  return uses<FEATURE_FADE>(scene) && scene.constants.floor_fade > 0.0f &&
      (!uses<FEATURE_GROUND>(scene) || quad.side == FLOOR_GROUND);
}
// The haze replaces a share of the floor's light: by the sky at the horizon if the floor is endless, else by what lies
// behind it.
template <class S>
POLYFLY_FN void fade_floor(const S& scene, const FloorQuad& quad, Vec d, Mask m, Surface<S>& s) {
  const Real clear = select(m, haze_transmittance(scene, s.p), Real(1.0f));
  s.albedo = s.albedo * clear;
  s.emission = s.emission * clear;
  s.highlight_weight = s.highlight_weight * clear;
  s.reflect = s.reflect * clear;
  if (!uses<FEATURE_FLOOR>(scene) || is_endless(scene, quad)) {
    s.transmit = s.transmit * clear;
    const Vec hazy = fma(horizon_radiance(scene, s.p, vec(quad.n), d, m), Real(1.0f) - clear, s.emission);
    s.emission = select(m, hazy, s.emission);
  } else {
    s.transmit = select(m, attenuate_by_haze(s.transmit, clear), s.transmit);
  }
}
// The floor's relief at (u, v) for a footprint of this size: the normal, on the face's side, and GGX's alpha. Detail
// finer than the footprint adds to the roughness (Olano and Baker, "LEAN mapping", 2010).
struct Relief {
  Vec n, lean;
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
    Real layer_u = u, layer_v = v;
    relief_layer(constants, i, layer_u, layer_v);
    const Vec texel = sample_texture(scene.texels, scene.mip_levels, picture_levels(scene), constants.relief_levels,
                                     layer_u, layer_v, covered * tiles * Real(constants.relief_footprint), m);
    along_u = along_u + (texel.x - flat);
    along_v = along_v + (texel.y - flat);
    alpha2 = alpha2 + texel.z;
  }
  const float both = relief_share(constants);
  const Vec uphill = fma(vec(quad.v), along_v * steepest * Real(both), vec(quad.u) * (along_u * steepest * Real(both)));
  const Vec up = vec(quad.n), leaning = up - uphill;
  const Vec lean = select(dot(up, face) < Real(0.0f), -leaning, leaning);
  return {bent_normal(lean, face, d), lean, sqrt_or_zero(alpha2 * Real(constants.relief_alpha * both * both))};
}

// The transmittance of quad k of the floor at p, (u, v), in direction d.
template <class S>
POLYFLY_NOINLINE Vec floor_transmittance(const S& scene, int k, Vec p, Vec d, Real u, Real v, Mask m) {
  const FloorQuad& quad = scene.floor.at(k);
  const Material& material = scene.materials.at(FLOOR_MATERIAL);
  const Real one = Real(1.0f);
  Vec through = vec(material.transmit);
  if (material.sheet > 0.0f) {
    const Real cosine = abs(dot(quad.n, d)) * reciprocal(sqrt(squared_length(d)));
    through = through * (one - sheet_reflectance(Real(material.sheet), cosine));
  }
  if (uses<FEATURE_FILMS>(scene) && material.film > 0) {
    const Real cosine = abs(dot(quad.n, d)) * reciprocal(sqrt(squared_length(d)));
    through = through * film_rest(film_reflectance(scene, Int(material.film), cosine, m), vec(material.mirror));
  }
  const int levels = picture_levels(scene);
  if (levels > 0) through = through * sample_texture(scene.texels, scene.mip_levels, 0, levels, fract(u), fract(v), Real(0.0f), m);
  if (!fades(scene, quad)) return through;
  const Real clear = haze_transmittance(scene, p);
  return is_endless(scene, quad) ? through * clear : attenuate_by_haze(through, clear);
}

// The interaction with quad k of the floor.
template <class S>
POLYFLY_FN void interaction_floor(const S& scene, const FrameParams& frame, int k, const Ray& ray, const Hit& hit,
                                  Mask m, Interaction& x) {
  const FloorQuad& quad = scene.floor.at(k);
  const Vec n = vec(quad.n);
  const Real facing = dot(n, ray.d);
  x.n = select(m, select(facing < Real(0.0f), n, -n), x.n);
  x.inside = select(m, x.outside, x.inside);
  if (is_below_floor(scene, quad)) {
    if (quad.side == FLOOR_GROUND) {
      x.material = select(m, Int(GROUND_MATERIAL), x.material);
      return;
    }
    // The bevel has the floor's material if that is opaque.
    const Mask rim = m & (hit.v < Real(quad.bevel));
    x.material = select(m, Int(SIDE_MATERIAL), x.material);
    if (!uses<FEATURE_CLEAR_FLOOR>(scene)) x.material = select(rim, Int(FLOOR_MATERIAL), x.material);
    const Vec up = vec(Real(0.0f), Real(0.0f), Real(1.0f));
    if (any(rim)) x.n = select(rim, bent_normal(select(rim, x.n + up, x.n), x.n, ray.d), x.n);
    return;
  }
  x.material = select(m, Int(FLOOR_MATERIAL), x.material);
  Real u = hit.u, v = hit.v;
  if (is_endless(scene, quad)) {
    u = fract(u);
    v = fract(v);
  }
  const Real cone = cone_at(ray, hit.t) * Real(frame.pixel_footprint * quad.uv_per_length);
  const int levels = uses<FEATURE_TEXTURE>(scene) ? picture_levels(scene) : 0;
  if (levels > 0) {
    x.texture = select(m, sample_texture(scene.texels, scene.mip_levels, 0, levels, u, v, slanted_footprint(cone, facing), m), x.texture);
    x.has_texture = x.has_texture | m;
  }
  if (uses<FEATURE_RELIEF>(scene) && scene.constants.relief_levels > 0) {
    const Relief relief = floor_relief(scene, k, ray.d, x.n, hit.u, hit.v, slanted_footprint(cone, facing), m);
    x.ground = select(m, x.n, x.ground);
    x.lean = select(m, relief.lean, x.lean);
    x.n = select(m, relief.n, x.n);
    x.alpha = select(m, relief.alpha, x.alpha);
    x.has_relief = x.has_relief | m;
  }
}

// Adds the light map to the surface that the material of quad k has produced, and fades it.
template <class S>
POLYFLY_FN void shade_floor(const S& scene, int k, const Ray& ray, const Hit& hit, Mask m, Surface<S>& s) {
  const FloorQuad& quad = scene.floor.at(k);
  if (uses<FEATURE_LIGHTMAP>(scene) && scene.constants.lightmap_size > 0 && !is_below_floor(scene, quad)) {
    // The light map belongs to the upper side, to which the quad's normal points.
    Mask above = m & (dot(vec(quad.n), ray.d) < Real(0.0f));
    if (is_endless(scene, quad))
      above = above & (fract(hit.u) == hit.u) & (fract(hit.v) == hit.v);
    const Int size = Int(scene.constants.lightmap_size);
    const Vec light =
        bilinear(scene.lightmap, LevelOf{Int(0), size, size}, hit.u, hit.v, above) * Real(scene.constants.lightmap_scale);
    s.emission = select(above, s.albedo * light, s.emission);
  }
  if constexpr (has_any<S>(FEATURE_FLOOR | FEATURE_ENDLESS_FLOOR)) {
    if (fades(scene, quad)) fade_floor(scene, quad, ray.d, m, s);
  }
}

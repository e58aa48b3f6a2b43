// The sky: a gradient from the horizon up, or a map of all directions.
#pragma once
#include "texture.cuh"

// The map is the octahedron |x| + |y| + |z| = 1 unfolded into a square, -1 to 1 each way, the lower half in its corners
// (Engelhardt and Dachsbacher, "Octahedron environment maps", 2008): no angles, hence the same bits everywhere.
struct SkyPlace {
  Real u, v;
};
POLYFLY_FN SkyPlace octahedral_place(Vec d) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real scale = reciprocal(abs(d.x) + abs(d.y) + abs(d.z));
  const Real x = d.x * scale, y = d.y * scale;
  const Mask below = d.z < zero;
  const Real over_x = one - abs(y), over_y = one - abs(x);
  SkyPlace p;
  p.u = select(below, select(x < zero, -over_x, over_x), x);
  p.v = select(below, select(y < zero, -over_y, over_y), y);
  return p;
}
// The octahedron's point there.
POLYFLY_FN Vec octahedral_point(Real u, Real v) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real z = one - abs(u) - abs(v);
  const Mask below = z < zero;
  const Real over_x = one - abs(v), over_y = one - abs(u);
  return vec(select(below, select(u < zero, -over_x, over_x), u), select(below, select(v < zero, -over_y, over_y), v),
             z);
}

POLYFLY_FN Vec sky_texel(const Array<float>& map, Int at, Mask m) { return read_vec(map.data, map.len, at, m); }

// Bilinear; the rim has the texels beyond each side.
template <class S>
POLYFLY_FN Vec sky_map(const S& scene, Vec d, Mask m) {
  // Other lanes' directions may be anything.
  const SkyPlace p = octahedral_place(select(m, d, vec(Real(0.0f), Real(0.0f), Real(1.0f))));
  const Real half_side = Real(0.5f * (float)scene.constants.sky_side), middle = half_side + Real(0.5f);
  const Real x = fma(p.u, half_side, middle), y = fma(p.v, half_side, middle);
  const Int x0 = to_int(x), y0 = to_int(y);
  const Real fx = x - to_real(x0), fy = y - to_real(y0);
  const int stride = 3 * (scene.constants.sky_side + 2);
  const Int at = y0 * Int(stride) + x0 * Int(3);
  const Vec upper = mix(sky_texel(scene.sky, at, m), sky_texel(scene.sky, at + Int(3), m), fx);
  const Vec lower = mix(sky_texel(scene.sky, at + Int(stride), m), sky_texel(scene.sky, at + Int(stride + 3), m), fx);
  return mix(upper, lower, fy);
}

// Light from direction d, in the lanes of m.
template <class S>
POLYFLY_FN Vec sky(const S& scene, Vec d, Mask m) {
  if constexpr (!SceneTraits<S>::plain) {
    if (scene.constants.sky_side > 0) return sky_map(scene, d, m);
  }
  return mix(vec(scene.constants.horizon), vec(scene.constants.zenith),
             max(fma(d.z, Real(scene.constants.sky_slope), Real(scene.constants.sky_base)), Real(0.0f)));
}

// The light that a ray finds at its end, in the lanes of m. Where pictures are transparent, one from the camera itself
// finds none.
template <class S>
POLYFLY_FN Vec seen_sky(const S& scene, const Ray& ray, Mask m) {
  const Vec light = sky(scene, ray.d, m);
  if constexpr (!SceneTraits<S>::plain) {
    if (scene.constants.transparent)
      return select((ray.bounces & Int(BOUNCE_MASK)) > Int(0), light, vec(Real(0.0f), Real(0.0f), Real(0.0f)));
  }
  return light;
}

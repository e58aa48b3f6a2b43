// Participating media: transmittance and emission along a ray.
#pragma once
#include "shapes/ray.cuh"

// Beer and Lambert: the transmittance of a homogeneous medium.
POLYFLY_FN Real attenuate(Real extinction, Real length) { return exp_minus(extinction * length); }
POLYFLY_FN Vec attenuate(Vec extinction, Real length) { return exp_minus(extinction * length); }
POLYFLY_FN bool absorbs(const Material& material) {
  return material.absorb[0] + material.absorb[1] + material.absorb[2] > 0.0f;
}

// The transmittance of a surface for shadow rays: 0 where path tracing refracts, since paths account for that light.
POLYFLY_FN Vec shadow_transmittance(const Material& m) {
  return m.stops_shadow_rays ? vec(Real(0.0f), Real(0.0f), Real(0.0f)) : vec(m.transmit);
}

// The transmittance of a closed shape for a segment, which is inside of it along c: `in` and `out` are the lanes in
// which the segment crosses its surface, `inside` those that start within.
template <class S>
POLYFLY_FN void transmit_closed(const S& scene, const Material& outer, const Material& inner, const Segment& line, Interval c,
                                Mask inside, Mask in, Mask out, Mask& active, Vec& remaining) {
  const Vec entering = shadow_transmittance(outer);
  remaining = select(in, remaining * entering, remaining);
  if (!uses<FEATURE_MATERIALS>(scene))
    remaining = select(out, remaining * entering, remaining);
  else
    remaining = select(out, remaining * shadow_transmittance(inner), remaining);
  if (uses<FEATURE_TINTS>(scene) && absorbs(inner)) {
    const Real zero = Real(0.0f);
    const Real share = max(min(c.leave, Real(1.0f)) - select(inside, zero, max(c.enter, zero)), zero);
    const Real length = share * sqrt(squared_length(line.d));
    remaining = select(in | out, remaining * attenuate(vec(inner.absorb), length), remaining);
  }
  active = active & (max_component(remaining) > Real(0.0f));
}

// The air: a homogeneous fog that absorbs and emits. Radiance L seen through it is L T + color (1 - T). It fills the
// space between surfaces, also the inside of shapes, up to its top.
template <class S>
POLYFLY_FN bool has_fog(const S& scene) {
  return uses<FEATURE_FOG>(scene) && scene.constants.fog_density > 0.0f;
}
constexpr float LONGEST_IN_FOG = 1.0e30f;
// The length within the fog of a way that begins at this height and rises by `rise`.
template <class S>
POLYFLY_FN Real length_in_fog(const S& scene, Real z, Real rise, Real length) {
  if (!(scene.constants.fog_top < FAR)) return length;
  const Real zero = Real(0.0f), one = Real(1.0f), least = Real(1.0e-9f), most = Real(LONGEST_IN_FOG);
  const Mask falls = rise < zero;
  const Real bounded = select(falls, max(min(rise, -least), -most), min(max(rise, least), most));
  // The share of the way up to the height of the top.
  const Real share = max(min((Real(scene.constants.fog_top) - z) * reciprocal(bounded), one), zero);
  return min(length, most) * select(falls, one - share, share);
}
template <class S>
POLYFLY_FN Real fog_transmittance(const S& scene, Real length) {
  // The length of rays to an endless floor may be 1e30.
  return attenuate(Real(scene.constants.fog_density), min(length, Real(LONGEST_IN_FOG)));
}
// The same from o to a light at o + d. The sky's radiance has its fog already.
template <class S>
POLYFLY_FN Real fog_to_light(const S& scene, Vec o, Vec d) {
  const Real length = sqrt(squared_length(d)), foggy = length_in_fog(scene, o.z, d.z, length);
  return select(length < Real(0.5f * scene.constants.sky_distance), fog_transmittance(scene, foggy), Real(1.0f));
}
// What is seen of the sky's light from o in direction d.
template <class S>
POLYFLY_FN Vec sky_through_fog(const S& scene, Vec o, Vec d, Vec light) {
  // The sky of a fog without an end has the fog's color.
  if (!has_fog(scene) || !(scene.constants.fog_top < FAR)) return light;
  const Real infinite = Real(LONGEST_IN_FOG);
  const Real clear = fog_transmittance(scene, length_in_fog(scene, o.z, d.z * infinite, infinite));
  return mix(vec(scene.constants.fog_colour), light, clear);
}

// The haze of a floor that fades, by the distance of p from the scene's center.
template <class S>
POLYFLY_FN Real haze_transmittance(const S& scene, Vec p) {
  const Vec from_middle = p - vec(scene.constants.fade_centre);
  // Near the horizon the distance may reach 1e30.
  const Real ratio = min(dot(from_middle, from_middle) * Real(scene.constants.floor_fade), Real(1.0e18f));
  return reciprocal(fma(ratio, ratio, Real(1.0f)));
}
// The transmittance of a surface seen through haze, which shows what lies behind the surface as it is.
POLYFLY_FN Vec attenuate_by_haze(Vec transmittance, Real clear) {
  const Real hazy = Real(1.0f) - clear;
  return fma(transmittance, clear, vec(hazy, hazy, hazy));
}

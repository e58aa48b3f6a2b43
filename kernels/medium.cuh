// Participating media: what is left of light after a way through them.
#pragma once
#include "shapes/ray.cuh"

// Beer and Lambert: the transmittance of a homogeneous medium.
POLYFLY_FN Vec attenuate(const float* absorption, Real length) { return exp_minus(vec(absorption) * length); }
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
POLYFLY_FN void transmit_closed(const S&, const Material& outer, const Material& inner, const Segment& line, Interval c,
                                Mask inside, Mask in, Mask out, Mask& active, Vec& remaining) {
  const Vec entering = shadow_transmittance(outer);
  remaining = select(in, remaining * entering, remaining);
  if constexpr (SceneTraits<S>::plain)
    remaining = select(out, remaining * entering, remaining);
  else
    remaining = select(out, remaining * shadow_transmittance(inner), remaining);
  if (!SceneTraits<S>::plain && absorbs(inner)) {
    const Real zero = Real(0.0f);
    const Real share = max(min(c.leave, Real(1.0f)) - select(inside, zero, max(c.enter, zero)), zero);
    const Real length = share * sqrt(squared_length(line.d));
    remaining = select(in | out, remaining * attenuate(inner.absorb, length), remaining);
  }
  active = active & (max_component(remaining) > Real(0.0f));
}

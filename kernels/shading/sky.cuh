// The sky: a gradient from the horizon up.
#pragma once
#include "texture.cuh"

template <class S>
POLYFLY_FN Vec sky(const S& scene, Vec d) {
  return mix(vec(scene.constants.horizon), vec(scene.constants.zenith),
             max(fma(d.z, Real(scene.constants.sky_slope), Real(scene.constants.sky_base)), Real(0.0f)));
}

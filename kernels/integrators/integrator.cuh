// What integrators share. An integrator is a struct in a header of its own, with a row in modules.def:
//   State                                what it keeps for each ray beside the Ray
//   STOCHASTIC                           its samples are random, so neighboring pixels differ by noise
//   GATHERS_HITS                         its shading takes longer than a way through a queue, so that lanes had better shade alike
//   camera_ray(scene, frame, px, py, sample, pixel)
//   shade(scene, frame, ray, state, hit, active, queue)    shades one bounce of the active lanes; returns spawn's result
// It is written over a queue Q, which the drivers provide:
//   add_radiance(ray, light, lanes)      adds radiance to the ray's pixel
//   shadow_ray(ray, surface, sample)     adds a light sample times its transmittance, now or later
//   sampler(ray)                         the sample point of the ray's sample, for get_2d
//   spawn(ray, state, lanes), spawn(secondary rays)
//                                        continues with these rays; true: one has replaced the shaded ray
#pragma once
#include "../shading/camera.cuh"
#include "../shading/caustics.cuh"
#include "../shading/glow.cuh"
#include "../shading/light.cuh"
#include "../shading/microfacet.cuh"
#include "../shading/sky.cuh"
#include "../shapes/scene_query.cuh"

// The two secondary rays, and the lanes in which their weight is above the cutoff.
struct SecondaryRays {
  Ray reflected, transmitted;
  Mask reflects, transmits;
};

// The state of an integrator that keeps nothing.
struct NoState {
  static constexpr int WORDS = 0;
};

// Base of integrators with random samples.
struct RandomSamples {
  static constexpr bool STOCHASTIC = true, GATHERS_HITS = true;

  template <class S>
  POLYFLY_METHOD static Ray camera_ray(const S& scene, const FrameParams& frame, Int px, Int py, Int sample,
                                       Int pixel) {
    return jittered_ray(scene, frame, px, py, sample, pixel);
  }
};

// The wavelength of a ray's sample, if the scene has dispersion.
template <class S, class Q>
POLYFLY_FN Wavelength wavelength(const S& scene, const Ray& ray, const Q& queue) {
  if (uses<FEATURE_TINTS>(scene) && scene.constants.dispersive) return wavelength_of(get_2d(queue.sampler(ray), Int(DIM_WAVELENGTH)).u);
  return no_wavelength();
}
// The ray attenuated by the medium between its origin and the surface: itself where there is none, and no copy.
template <class S>
POLYFLY_FN decltype(auto) attenuate(const Ray& ray, const Surface<S>& s) {
  if constexpr (!has_any<S>(FEATURE_MATERIALS | FEATURE_FOG)) {
    return (ray);
  } else {
    return Ray{ray.o, ray.d, ray.weight * s.transmittance, ray.cone_width, ray.last_surface, ray.bounces, ray.pixel};
  }
}

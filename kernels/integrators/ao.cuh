// Ambient occlusion: the cosine-weighted share of the hemisphere above a surface in which nothing stands within
// Constants::ao_reach, by one ray a sample (Zhukov, Iones and Kronin, "An ambient light illumination model", 1998).
// Every surface occludes, panes and glass too; colors and lights do not count. The background is the sky.
#pragma once
#include "integrator.cuh"

struct AmbientOcclusion : RandomSamples {
  typedef NoState State;
  static constexpr bool GATHERS_HITS = false;

  template <class S, class Q>
  POLYFLY_METHOD static bool shade(const S& scene, const FrameParams& frame, const Ray& ray, State state,
                                   const Hit& hit, Mask active, Q& queue) {
    const Vec white = vec(Real(1.0f), Real(1.0f), Real(1.0f));
    const Mask surface = active & (hit.surface != Int(NO_SURFACE));
    const Mask from_camera = (ray.bounces & Int(BOUNCE_MASK)) == Int(0);
    const Mask background = active & from_camera & !surface;
    if (any(background)) queue.add_radiance(ray, sky_radiance(scene, frame, ray, background), background);
    const Mask open = active & !from_camera & !(hit.t < Real(scene.constants.ao_reach));
    if (any(open)) queue.add_radiance(ray, white, open);
    const Mask seen = surface & from_camera;
    if (!any(seen)) return false;

    const Surface<S> s = shading_point(scene, frame, ray, hit, given_any(seen), no_wavelength());
    const Pair u2 = get_2d(queue.sampler(ray), dim_of_bounce(ray.bounces, DIM_DIRECTION));
    Ray next = ray;
    next.o = s.p;
    next.d = normalise(cosine_direction(s.n, uniform_sphere(u2.u, u2.v)));
    next.last_surface = s.reflect_origin;
    next.bounces = Int(1);
    return queue.spawn(next, state, seen);
  }
};

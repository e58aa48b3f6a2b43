// Whitted's ray tracing ("An improved illumination model for shaded display", 1980): mirrored and transmitted rays
// branch, diffuse light comes from the lights.
//
// Written over a queue Q, as path.cuh is, which the drivers provide:
//   add_radiance(ray, light, lanes)      light that reaches the ray's pixel
//   shadow_ray(ray, surface, sample)     light that does if nothing stops it; now or later
//   draws(ray)                           for draws
//   spawn(...)                           rays that go on; true: one has taken the place of the one that was shaded
#pragma once
#include "../shading/camera.cuh"
#include "../shading/light.cuh"
#include "../shading/sky.cuh"
#include "../shapes/scene_query.cuh"

// The two rays that go on, and in which lanes they are heavy enough to.
struct SecondaryRays {
  Ray reflected, transmitted;
  Mask reflects, transmits;
};
template <class S>
POLYFLY_FN SecondaryRays spawn_secondary_rays(const S& scene, const Ray& ray, const Surface<S>& s, Real t, Mask met) {
  SecondaryRays c;
  const Real cutoff = Real(scene.constants.cutoff);
  const Mask deeper = met & (ray.bounces < Int(scene.constants.depth));
  c.reflected = ray;
  c.reflected.o = s.p;
  c.reflected.length = ray.length + t;
  c.reflected.bounces = ray.bounces + Int(1);
  c.transmitted = c.reflected;
  const Real twice = Real(-2.0f) * dot(s.n, ray.d);
  c.reflected.d = vec(fma(s.n.x, twice, ray.d.x), fma(s.n.y, twice, ray.d.y), fma(s.n.z, twice, ray.d.z));
  c.reflected.weight = ray.weight * s.reflect;
  c.reflected.from = s.same_side;
  c.reflects = deeper & !(max_component(c.reflected.weight) < cutoff) & (max_component(s.reflect) > Real(0.0f));
  c.transmitted.d = refract(s, ray.d);
  c.transmitted.from = s.other_side;
  c.transmitted.weight = ray.weight * s.transmit;
  c.transmits = deeper & !(max_component(c.transmitted.weight) < cutoff) & (max_component(s.transmit) > Real(0.0f));
  return c;
}

struct Whitted {
  template <class S>
  POLYFLY_METHOD static Ray camera_ray(const S& scene, const Frame& frame, Int px, Int py, Int sample, Int pixel) {
    return stratified_ray(scene, frame, px, py, sample, pixel);
  }

  // One bounce of the active lanes; what spawn says.
  template <class S, class Q>
  POLYFLY_METHOD static bool shade(const S& scene, const Frame& frame, const Ray& ray, const Hit& hit, Mask active,
                                   Q& queue) {
    const Mask surface = active & (hit.surface != Int(NO_SURFACE));
    if (!any(surface)) {
      queue.add_radiance(ray, ray.weight * sky(scene, ray.d, active), active);
      return false;
    }
    const Mask met = given_any(surface);
    const Surface<S> s = shading_point(scene, frame, ray, hit, met);
    queue.add_radiance(
        ray,
        ray.weight *
            select(met, s.emission + s.albedo * vec(scene.constants.ambient), sky(scene, ray.d, active & !surface)),
        active);
    POLYFLY_NO_UNROLL
    for (int i = 0; i < scene.lights.len; ++i) sample_light(scene, i, ray, s, met, queue);
    return queue.spawn(spawn_secondary_rays(scene, ray, s, hit.t, met));
  }
};

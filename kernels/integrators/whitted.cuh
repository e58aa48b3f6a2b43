// Whitted's ray tracing ("An improved illumination model for shaded display", 1980): rays branch into reflected and
// transmitted ones, diffuse surfaces show direct light only.
#pragma once
#include "integrator.cuh"

template <class S, class Q>
POLYFLY_FN SecondaryRays spawn_secondary_rays(const S& scene, const Ray& ray, const Surface<S>& s, Mask met,
                                              const Q& queue) {
  SecondaryRays c;
  const Real cutoff = Real(scene.constants.cutoff);
  const Int bounces = ray.bounces & Int(BOUNCE_MASK);
  const Mask deeper = met & (bounces < Int(scene.constants.depth));
  c.reflected = ray;
  c.reflected.o = s.p;
  c.reflected.cone_width = s.cone;
  c.reflected.bounces = ray.bounces + Int(1);
  c.transmitted = c.reflected;
  Mirrored m = mirror(s.n, ray.d, vec(Real(1.0f), Real(1.0f), Real(1.0f)) * s.reflect);
  if (uses_roughness(scene)) {
    if (any(met & (s.alpha + s.edge > Real(0.0f))))
      m = rough_mirror(scene, s, ray.d, m.weight,
                       get_2d(queue.sampler(ray), dim_of_bounce(ray.bounces, DIM_DIRECTION)), met);
  }
  const Mask coated = met & is_coated(scene, s);
  if (any_coated(scene, coated)) m.weight = m.weight * coat_leaves(s, dot(s.n, m.d));
  c.reflected.d = m.d;
  c.reflected.weight = ray.weight * m.weight;
  c.reflected.last_surface = s.reflect_origin;
  if (any(met & (s.widening > Real(0.0f)))) c.reflected.bounces = widened(c.reflected.bounces, s.widening);
  if constexpr (has_materials<S>()) {
    c.reflected.weight = c.reflected.weight * s.dye;
    c.reflected.bounces = c.reflected.bounces | s.spawn_flags | s.reflect_flags |
        select(s.alpha > Real(0.0f), Int(BLURRED), Int(0));
    // Sunlight asks whether the lights have been sampled.
    if (uses<FEATURE_SUN>(scene))
      c.reflected.bounces = (c.reflected.bounces & Int(~LIGHTS_SAMPLED)) |
          select(s.alpha > Real(0.0f), Int(LIGHTS_SAMPLED), Int(0));
  }
  c.reflects =
      deeper & m.valid & !(max_component(c.reflected.weight) < cutoff) & (max_component(m.weight) > Real(0.0f));
  c.transmitted.d = refract(scene, s, ray.d);
  c.transmitted.last_surface = s.transmit_origin;
  c.transmitted.weight = ray.weight * s.transmit;
  if constexpr (has_materials<S>()) {
    c.transmitted.weight = c.transmitted.weight * s.dye;
    c.transmitted.bounces = c.transmitted.bounces | s.spawn_flags;
  }
  const Mask by_coat = met & s.coat_mirrors;
  if (any_coated(scene, by_coat))
    c.transmitted.bounces = select(by_coat, widened(c.transmitted.bounces, s.widening) & Int(~LIGHTS_SAMPLED),
                                   c.transmitted.bounces);
  c.transmits = deeper & !(max_component(c.transmitted.weight) < cutoff) & (max_component(s.transmit) > Real(0.0f));
  return c;
}

struct Whitted {
  typedef NoState State;
  static constexpr bool STOCHASTIC = false;

  template <class S>
  POLYFLY_METHOD static Ray camera_ray(const S& scene, const FrameParams& frame, Int px, Int py, Int sample,
                                       Int pixel) {
    return stratified_ray(scene, frame, px, py, sample, pixel);
  }

  template <class S, class Q>
  POLYFLY_METHOD static bool shade(const S& scene, const FrameParams& frame, const Ray& incoming, State, const Hit& hit,
                                   Mask active, Q& queue) {
    const Mask surface = active & (hit.surface != Int(NO_SURFACE));
    if (!any(surface)) {
      queue.add_radiance(incoming, incoming.weight * sky_radiance(scene, frame, incoming, active), active);
      return false;
    }
    const Mask met = given_any(surface);
    const Wavelength wave = wavelength(scene, incoming, queue);
    const Surface<S> s = shading_point(scene, frame, incoming, hit, met, wave);
    const Ray ray = attenuate(incoming, s);
    // With occlusion the ambient light is one of the lights below.
    Vec glow = s.emission;
    if (!uses<FEATURE_AO>(scene)) glow = s.emission + s.albedo * vec(scene.constants.ambient);
    queue.add_radiance(ray,
                       ray.weight *
                           select(met, glow,
                                  sky_radiance(scene, frame, ray, active & !surface)),
                       active);
    if (has_fog(scene)) queue.add_radiance(incoming, incoming.weight * s.fog, met);
    POLYFLY_NO_UNROLL
    for (int i = 0; i < light_count(scene); ++i) {
      if constexpr (has_features<S>(FEATURE_CAUSTICS)) {
        StraightLight<S, Q> straight = {scene, queue, has_caustics(scene) && i < scene.lights.len};
        sample_light<true>(scene, i, ray, s, met, straight);
      } else {
        sample_light<true>(scene, i, ray, s, met, queue);
      }
    }
    if constexpr (has_features<S>(FEATURE_CAUSTICS)) {
      const Mask lit = met & shows_light(s);
      if (has_caustics(scene) && any(lit))
        queue.add_radiance(ray, caustics<true>(scene, ray, s, wave, queue.sampler(ray), given_any(lit)), lit);
    }
    return queue.spawn(spawn_secondary_rays(scene, ray, s, met, queue));
  }
};

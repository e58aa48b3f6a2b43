// Whitted's ray tracing ("An improved illumination model for shaded display", 1980): rays branch into reflected and
// transmitted ones, diffuse surfaces show direct light only.
#pragma once
#include "integrator.cuh"

template <class S, class Q>
POLYFLY_FN SecondaryRays spawn_secondary_rays(const S& scene, const Ray& ray, const Surface<S>& s, Mask met,
                                              const Q& queue) {
  const Real cutoff = Real(scene.constants.cutoff);
  const Int bounces = ray.bounces & Int(BOUNCE_MASK);
  const Mask deeper = met & (bounces < Int(scene.constants.depth));
  Mirrored m = mirror(s.n, ray.d, vec(Real(1.0f), Real(1.0f), Real(1.0f)) * s.reflect);
  if (uses_roughness(scene)) {
    if (any(met & (s.alpha + s.edge > Real(0.0f))))
      m = rough_mirror(scene, s, ray.d, m.weight,
                       get_2d(queue.sampler(ray), dim_of_bounce(ray.bounces, DIM_DIRECTION)), met);
  }
  const Mask coated = met & is_coated(scene, s);
  if (any_coated(scene, coated)) m.weight = m.weight * coat_leaves(scene, s, ray.d, dot(s.n, m.d), coated);
  Vec reflected = ray.weight * m.weight, transmitted = ray.weight * s.transmit;
  Int reflected_bounces = ray.bounces + Int(1), transmitted_bounces = reflected_bounces;
  if (any(met & (s.widening > Real(0.0f)))) reflected_bounces = widened(reflected_bounces, s.widening);
  if constexpr (has_materials<S>()) {
    reflected = reflected * s.dye;
    transmitted = transmitted * s.dye;
    reflected_bounces = reflected_bounces | s.spawn_flags | s.reflect_flags |
        select(s.alpha > Real(0.0f), Int(BLURRED), Int(0));
    transmitted_bounces = transmitted_bounces | s.spawn_flags;
    // Sunlight asks whether the lights have been sampled.
    if (uses<FEATURE_SUN>(scene))
      reflected_bounces = (reflected_bounces & Int(~LIGHTS_SAMPLED)) |
          select(s.alpha > Real(0.0f), Int(LIGHTS_SAMPLED), Int(0));
  }
  const Mask by_coat = met & s.coat_mirrors;
  if (any_coated(scene, by_coat))
    transmitted_bounces =
        select(by_coat, widened(transmitted_bounces, s.widening) & Int(~LIGHTS_SAMPLED), transmitted_bounces);
  const Mask reflects =
      deeper & m.valid & !(max_component(reflected) < cutoff) & (max_component(m.weight) > Real(0.0f));
  const Mask transmits = deeper & !(max_component(transmitted) < cutoff) & (max_component(s.transmit) > Real(0.0f));
  // Field by field: a copy of the whole ray would stay in memory.
  return {{s.p, m.d, reflected, s.cone, s.reflect_origin, reflected_bounces, ray.pixel},
          {s.p, refract(scene, s, ray.d), transmitted, s.cone, s.transmit_origin, transmitted_bounces, ray.pixel},
          reflects,
          transmits};
}

struct Whitted {
  typedef NoState State;
  static constexpr bool STOCHASTIC = false, GATHERS_HITS = true;

  template <class S>
  POLYFLY_METHOD static Ray camera_ray(const S& scene, const FrameParams& frame, Int px, Int py, Int sample,
                                       Int pixel) {
    return stratified_ray(scene, frame, px, py, sample, pixel);
  }

  // Adds the light that the air scatters onto a way of this length.
  template <class S, class Q>
  POLYFLY_METHOD static void add_glow(const S& scene, const Ray& ray, Real length, Mask m, Q& queue) {
    if (has_glow(scene)) queue.add_radiance(ray, ray.weight * glow_in_air(scene, ray.o, ray.d, length, m), m);
  }

  template <class S, class Q>
  POLYFLY_METHOD static bool shade(const S& scene, const FrameParams& frame, const Ray& incoming, State, const Hit& hit,
                                   Mask active, Q& queue) {
    const Mask surface = active & (hit.surface != Int(NO_SURFACE));
    if (!any(surface)) {
      add_glow(scene, incoming, Real(GLOW_REACH), active, queue);
      queue.add_radiance(incoming, incoming.weight * sky_radiance(scene, frame, incoming, active), active);
      return false;
    }
    const Mask met = given_any(surface);
    const Wavelength wave = wavelength(scene, incoming, queue);
    const Surface<S> s = shading_point(scene, frame, incoming, hit, met, wave);
    const Ray& ray = attenuate(incoming, s);
    // With occlusion the ambient light is one of the lights below.
    Vec glow = s.emission;
    if (!uses<FEATURE_AO>(scene)) glow = s.emission + s.albedo * vec(scene.constants.ambient);
    const Mask missed = active & !surface;
    if (any(missed)) glow = select(met, glow, sky_radiance(scene, frame, ray, missed));
    queue.add_radiance(ray, ray.weight * glow, active);
    if (has_fog(scene)) queue.add_radiance(incoming, incoming.weight * s.fog, met);
    add_glow(scene, incoming, select(surface, hit.t, Real(GLOW_REACH)), active, queue);
    POLYFLY_NO_UNROLL
    for (int i = 0; i < light_count(scene); ++i) {
      if constexpr (has_features<S>(FEATURE_CAUSTICS)) {
        StraightLight<S, Q> straight = {scene, queue, has_caustics(scene) && i < scene.lights.len};
        sample_light<true>(scene, i, ray, s, met, straight);
      } else {
        sample_light<true>(scene, i, ray, s, met, queue);
      }
    }
    const Mask lit = met & shows_light(s);
    if (has_caustics(scene) && any(lit))
      queue.add_radiance(ray, caustics<true>(scene, ray, s, wave, queue.sampler(ray), given_any(lit)), lit);
    return queue.spawn(spawn_secondary_rays(scene, ray, s, met, queue));
  }
};

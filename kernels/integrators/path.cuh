// Path tracing: each bounce samples one direction stochastically (Kajiya, "The rendering equation", 1986), with next
// event estimation and multiple importance sampling.
#pragma once
#include "integrator.cuh"

// Whether a path may meet what light samples reach too, or a rough mirror.
template <class S>
POLYFLY_FN bool weighs_samples(const S& scene) {
  return uses_any<FEATURE_EMITTERS | FEATURE_SKY_MAP | FEATURE_MATERIALS | FEATURE_FLOOR>(scene);
}
// Whether a surface may emit light: an emitter, or a floor that fades or that lamps light.
template <class S>
POLYFLY_FN bool uses_emission(const S& scene) {
  return uses_any<FEATURE_EMITTERS | FEATURE_FADE | FEATURE_LIGHTMAP>(scene);
}

// A path's contribution, clamped to Constants::clamp after a diffuse bounce: few samples find small bright lights that
// way, and they would show as fireflies.
template <class S>
POLYFLY_FN Vec clamp_indirect(const S& scene, const Ray& ray, Vec light) {
  const float limit = scene.constants.clamp;
  if (!(limit > 0.0f)) return light;
  const Real brightest = max_component(light);
  const Mask over = ((ray.bounces & Int(DIFFUSED)) != Int(0)) & (brightest > Real(limit));
  return select(over, light * (Real(limit) * reciprocal(min(max(brightest, Real(limit)), Real(DOMAIN_MAX)))), light);
}

// Bounces before Russian roulette.
constexpr int ROULETTE_FROM = 4;

// Samples the next ray: diffuse, reflected or transmitted, with probabilities proportional to their weights.
template <class S>
POLYFLY_FN Ray sample_bsdf(const S& scene, const Ray& ray, Real& mis_distance, const Surface<S>& s, Real t,
                           SamplePoint point, Mask met, Mask& continues) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Int bounce = ray.bounces & Int(BOUNCE_MASK);
  const Real diffuse = max_component(s.albedo), mirrored = max_component(s.reflect),
             transmitted = max_component(s.transmit);
  const Real all = diffuse + mirrored + transmitted;
  const Mask roulette = bounce > Int(ROULETTE_FROM);
  // Where a surface does one thing with light and the path goes on, nothing is drawn.
  const Mask reflects = mirrored > zero, transmits = transmitted > zero;
  const Mask draws = met & (roulette | (reflects & transmits) | ((diffuse > zero) & (reflects | transmits)));
  Pair lobe_sample = {zero, zero};
  if (any(draws)) lobe_sample = get_2d(point, dim_of_bounce(ray.bounces, DIM_LOBE));
  const Real pick = lobe_sample.u * all;
  const Mask is_diffuse = (pick < diffuse) | !(mirrored + transmitted > zero);
  const Mask is_mirror = (!is_diffuse) & ((pick < diffuse + mirrored) | !(transmitted > zero));
  const Real chance = select(is_diffuse, diffuse, select(is_mirror, mirrored, transmitted));
  Ray next = ray;
  next.o = s.p;
  next.cone_width = s.cone;
  continues = met & (chance > zero) & (bounce < Int(scene.constants.depth));

  Vec ball = s.n;
  Mirrored m = mirror(s.n, ray.d, vec(one, one, one) * s.reflect);
  if (any(is_diffuse | (s.fuzz + s.alpha + s.edge > zero))) {
    const Pair u2 = get_2d(point, dim_of_bounce(ray.bounces, DIM_DIRECTION));
    ball = uniform_sphere(u2.u, u2.v);
    if (uses_roughness(scene)) {
      if (any(is_mirror & (s.alpha + s.edge > zero))) m = rough_mirror(scene, s, ray.d, m.weight, u2, is_mirror);
    }
    // A ray of a fuzzy mirror that would enter the surface is absorbed.
    const Mask fuzzy = s.fuzz > zero;
    m.d = select(fuzzy, fma(ball, s.fuzz, m.d), m.d);
    m.valid = m.valid & !(fuzzy & !(dot(m.d, s.n) > zero));
  }
  continues = continues & !(is_mirror & !m.valid);
  Vec specular_weight = select(is_mirror, m.weight, s.transmit);
  if (uses<FEATURE_TINTS>(scene)) specular_weight = specular_weight * s.dye;
  const Vec weight = select(is_diffuse, s.albedo, specular_weight);
  next.weight = ray.weight * weight * (all * reciprocal(max(chance, Real(1.0e-20f))));
  const Vec lambert = cosine_direction(s.n, ball);
  next.d = normalise(select(is_diffuse, lambert, select(is_mirror, m.d, refract(scene, s, ray.d))));
  const Mask coated = met & is_coated(scene, s);
  if (any_coated(scene, coated)) {
    const Real out = dot(s.n, next.d);
    const Vec rough = select(is_mirror, coat_leaves(scene, s, ray.d, out, coated), vec(one, one, one));
    next.weight = next.weight * select(is_diffuse, all_of(coat_spreads(s, out, coated)), rough);
  }
  next.last_surface = select(is_diffuse | is_mirror, s.reflect_origin, s.transmit_origin);
  // After a scattering surface has sampled the emitters, a ray that meets one counts with its MIS weight. That holds
  // behind surfaces that shadow rays pass in a straight line, too.
  const Mask on = (!is_diffuse) & (!is_mirror) & s.passes_shadow_rays;
  Int flags = select(on, ray.bounces & Int(~BOUNCE_MASK), Int(0));
  const Int history =
      widened(ray.bounces & Int(DIFFUSED | DISPERSED | SPREAD_MASK | BLURRED),
              select(has_features<S>(FEATURE_COAT) ? is_mirror | s.coat_mirrors : is_mirror, s.widening, zero));
  if (!weighs_samples(scene)) {
    flags = select(is_diffuse, Int(LIGHTS_SAMPLED | DIFFUSED), flags);
  } else {
    mis_distance = select(on, mis_distance + t, zero);
    const Real lambertian = max(dot(next.d, s.n), zero) * Real(1.0f / PI);
    const Int lamps = select(is_diffuse, Int(DIFFUSED | LAMPS_SAMPLED),
                             select(s.alpha >= Real(LAMP_ALPHA), Int(LAMPS_SAMPLED), Int(0)));
    flags = select(is_diffuse | (is_mirror & (s.alpha > zero)),
                   pack_pdf(select(is_diffuse, lambertian, m.pdf)) | Int(LIGHTS_SAMPLED) | lamps, flags);
    const Mask blurs = is_diffuse | (is_mirror & (s.fuzz + s.alpha > zero));
    // The sun's way by bodies to a surface that samples lights is one of its caustics.
    if (has_caustics(scene)) {
      const Int before = ray.bounces & Int(LIGHTS_SAMPLED | LAMPS_SAMPLED);
      const Mask begins = ((before & Int(LIGHTS_SAMPLED)) != Int(0)) &
          (surface_kind(s.reflect_origin >> ORIGIN_SHIFT) == Int(SHAPE_BODY));
      const Mask specular = (!blurs) & (!on);
      flags = flags | select(specular & (begins | (before == Int(LAMPS_SAMPLED))), Int(LAMPS_SAMPLED), Int(0));
    }
    flags = flags | select(is_diffuse, Int(0), s.spawn_flags) | select(is_mirror, s.reflect_flags, Int(0)) |
        select(blurs, Int(BLURRED), Int(0));
  }
  next.bounces = (bounce + Int(1)) | history | flags;

  // Russian roulette on the throughput.
  const Real roulette_probability = min(max_component(next.weight), one);
  continues = continues & ((!roulette) | (lobe_sample.v < roulette_probability));
  const Real more = reciprocal(max(roulette_probability, Real(1.0e-20f)));
  next.weight = select(roulette, next.weight * more, next.weight);
  return next;
}

struct PathTracing : RandomSamples {
  struct State {
    Real mis_distance;  // the path's length since lights were sampled
    static constexpr int WORDS = 1;
    POLYFLY_METHOD Real& word(int) { return mis_distance; }
  };

  template <class S, class Q>
  POLYFLY_METHOD static bool shade(const S& scene, const FrameParams& frame, const Ray& incoming, State state,
                                   const Hit& hit, Mask active, Q& queue) {
    const Mask surface = active & (hit.surface != Int(NO_SURFACE)), away = active & !surface;
    if (has_glow(scene)) {
      const Real length = select(surface, hit.t, Real(GLOW_REACH));
      const Vec glow = incoming.weight * glow_in_air(scene, incoming.o, incoming.d, length, active);
      queue.add_radiance(incoming, clamp_indirect(scene, incoming, glow), active);
    }
    if (any(away)) {
      const Vec light =
          incoming.weight * (sky_radiance(scene, frame, incoming, away) * sky_mis_weight(scene, incoming, away));
      queue.add_radiance(incoming, clamp_indirect(scene, incoming, light), away);
    }
    if (!any(surface)) return false;
    const Mask met = given_any(surface);
    const Wavelength wave = wavelength(scene, incoming, queue);
    const Surface<S> s = shading_point(scene, frame, incoming, hit, met, wave);
    const Ray& ray = attenuate(incoming, s);
    if (has_fog(scene)) queue.add_radiance(incoming, clamp_indirect(scene, incoming, incoming.weight * s.fog), met);
    const SamplePoint point = queue.sampler(ray);
    Mask spreads = met & (max_component(s.albedo) > Real(0.0f));
    if (uses_emission(scene)) {
      const Mask glows = met & (max_component(s.emission) > Real(0.0f));
      if (any(glows)) {
        const Real share = emitter_mis_weight(scene, ray.bounces, state.mis_distance + hit.t, s.p, ray.d, s.emission,
                                              hit.surface, given_any(glows));
        queue.add_radiance(ray, clamp_indirect(scene, ray, ray.weight * s.emission * share), glows);
      }
    }
    if (uses_roughness(scene))
      spreads = spreads | (met & (s.alpha > Real(0.0f)) & (max_component(all_of(s.reflect)) > Real(0.0f)));
    if (any(spreads)) {
      const Mask lit = given_any(spreads);
      const int lights = uses<FEATURE_LIGHTS>(scene) ? scene.lights.len : 0;
      POLYFLY_NO_UNROLL
      for (int i = 0; i < lights; ++i) sample_light<false>(scene, i, ray, s, lit, queue);
      if (has_caustics(scene)) {
        const Vec light = caustics<false>(scene, ray, s, wave, point, lit);
        queue.add_radiance(ray, clamp_indirect(scene, ray, light), spreads);
      }
      if (uses_any<FEATURE_EMITTERS | FEATURE_SKY_MAP>(scene) && scene.emitters.len > 0) {
        LightSample sample = sample_emitter(scene, ray, s, point, lit);
        sample.colour = clamp_indirect(scene, ray, sample.colour);
        queue.shadow_ray(ray, s, sample);
      }
    }
    Mask continues;
    const Ray next = sample_bsdf(scene, ray, state.mis_distance, s, hit.t, point, met, continues);
    return queue.spawn(next, state, continues);
  }
};

// Lights: the unoccluded light at a surface from point lights, spherical lights and emitters.
#pragma once
#include "microfacet.cuh"
#include "sky.cuh"

// A light sample at a surface. If the light was sampled, `colour` is divided by its probability.
struct LightSample {
  Vec towards;  // from the point to the light
  Vec colour;   // times the ray's weight
  Mask valid;   // lanes that need a shadow ray
};

constexpr float PI = 3.14159265f;
// 1 - cosine of the cone that a sphere subtends, by its radius and its squared distance.
POLYFLY_FN Real one_minus_cos_max(Real radius, Real square) {
  const Real one = Real(1.0f), sine2 = min(radius * radius * reciprocal(square), one);
  return sine2 * reciprocal(one + sqrt(max(one - sine2, Real(1.0e-20f))));
}

// A point light's contribution: Lambert's cosine and Blinn's highlight (n.h)^64, with h halfway between light and
// viewer. With unit vectors l and v, (n.h)^2 = (n.l + n.v)^2 / (2 + 2 l.v), so h itself is not needed.
template <class S>
POLYFLY_FN LightSample eval_light(const S& scene, Vec towards, const Light& light, const Ray& ray, const Surface<S>& s,
                                  Mask met) {
  LightSample sample;
  sample.towards = towards;
  const Real across = dot(s.n, sample.towards);
  sample.valid = met & (across > Real(0.0f));
  sample.colour = s.albedo;
  if (!any(sample.valid)) return sample;
  const Real nearness = reciprocal(sqrt(squared_length(sample.towards)));
  const Real lambert = across * nearness;
  const Real facing = -dot(s.n, ray.d);
  const Real turned = fma(-dot(sample.towards, ray.d), nearness, Real(1.0f));
  const Real both = lambert + facing;
  Real nh = both * both * reciprocal(max(turned + turned, Real(1.0e-6f)));
  nh = nh * nh;
  nh = nh * nh;
  nh = nh * nh;
  nh = nh * nh;
  nh = nh * nh;
  const Real highlight_weight = s.highlight_weight * nh;
  Vec seen = vec(fma(s.albedo.x, lambert, highlight_weight), fma(s.albedo.y, lambert, highlight_weight),
                 fma(s.albedo.z, lambert, highlight_weight));
  const Mask coated = sample.valid & is_coated(scene, s);
  if (any_coated(scene, coated)) seen = seen * coat_spreads(s, lambert, coated);
  if (uses_roughness(scene)) {
    // A rough mirror reflects a point light as a highlight.
    if (any(sample.valid & (s.alpha > Real(0.0f)))) {
      Lobe lobe = rough_lobe(scene, s, ray.d, sample.towards * nearness, sample.valid);
      if (any_coated(scene, coated)) lobe.value = lobe.value * coat_leaves(scene, s, ray.d, lambert, coated);
      seen = fma(lobe.value, Real(PI), seen);
    }
  }
  sample.colour = ray.weight * seen * vec(light.colour);
  sample.valid = sample.valid & (max_component(sample.colour) > Real(scene.constants.light_cutoff));
  return sample;
}

// The pdf, per solid angle, of sampling a direction of the sky: a cell of the map by its probability, and a uniform
// point within it. An area du dv of the map subtends the solid angle du dv / r^3, with r the distance from the center
// to the octahedron.
POLYFLY_FN Real sky_pdf(Vec on_octahedron, Real inverse_pmf) {
  const Real square = dot(on_octahedron, on_octahedron), cells = Real((float)(SKY_CELLS * SKY_CELLS) * 0.25f);
  return cells * square * sqrt(square) * reciprocal(inverse_pmf);
}
// The MIS weight of a sampling technique with this pdf against another (Veach and Guibas, "Optimally combining sampling
// techniques for Monte Carlo rendering", 1995).
POLYFLY_FN Real balance_heuristic(Real pdf, Real other) { return pdf * reciprocal(within_domain(pdf + other)); }

// The pdf of a ray's direction, as Ray::bounces packs it.
POLYFLY_FN Int pack_pdf(Real pdf) {
  const Int word = bits(max(min(pdf, Real(4.0e9f)), Real(1.0e-9f)));
  return ((word >> 15) - Int(PDF_MIN_EXPONENT << 8)) << PDF_SHIFT;
}
POLYFLY_FN Real unpack_pdf(Int bounces) {
  const Int note = (bounces >> PDF_SHIFT) & Int(PDF_MASK);
  // The middle of the interval that packs to the same bits.
  return from_bits(((note + Int(PDF_MIN_EXPONENT << 8)) << 15) | Int(1 << 14));
}

// The MIS weight of the sky's radiance on a ray that misses all surfaces.
template <class S>
POLYFLY_FN Real sky_mis_weight(const S& scene, const Ray& ray, Mask away) {
  const Real one = Real(1.0f);
  if (!uses<FEATURE_SKY_MAP>(scene) || scene.constants.sky_side == 0) return one;
  const Mask both = away & ((ray.bounces & Int(LIGHTS_SAMPLED)) != Int(0));
  if (!any(both)) return one;
  const OctahedralUv p = octahedral_encode(select(both, ray.d, vec(Real(0.0f), Real(0.0f), one)));
  const Real half = Real(0.5f * (float)SKY_CELLS);
  const Real last = Real((float)(SKY_CELLS - 1));
  const Int x = to_index(fma(p.u, half, half), last), y = to_index(fma(p.v, half, half), last);
  const Int cell = y * Int(SKY_CELLS) + x + Int(scene.emitters.len - SKY_CELLS * SKY_CELLS);
  const Real inverse_pmf = read((const float*)scene.emitters.data, WORDS(Emitter) * scene.emitters.len,
                                cell * Int(WORDS(Emitter)) + Int(WORD(Emitter, inverse_pmf)), both);
  const Real drawn = sky_pdf(octahedral_decode(p.u, p.v), select(both, inverse_pmf, one));
  return select(both, balance_heuristic(unpack_pdf(ray.bounces), drawn), one);
}

// The same for a ray that hits an emissive surface. Lamps are sampled as points, so a ray counts all of them or
// nothing. The haze of a floor is not sampled.
template <class S>
POLYFLY_NOINLINE Real emitter_mis_weight(const S& scene, Int bounces, Real t, Vec p, Vec d, Vec emission, Int surface,
                                         Mask met) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask sampled = met & ((bounces & Int(LIGHTS_SAMPLED)) != Int(0));
  const Int kind = surface_kind(surface), number = surface_index(surface);
  Mask round = first_lanes(0), flat = round, ellipsoid = round;
  if (uses<FEATURE_SPHERES>(scene)) round = sampled & (kind == Int(SHAPE_SPHERE));
  if (uses<FEATURE_TRIANGLES>(scene)) flat = sampled & (kind == Int(SHAPE_TRIANGLE));
  if (uses<FEATURE_ELLIPSOIDS>(scene)) ellipsoid = sampled & (kind == Int(SHAPE_ELLIPSOID));
  const Mask on_body = sampled & (kind == Int(SHAPE_BODY));
  const Real lamp = select(on_body & ((bounces & Int(LAMPS_SAMPLED)) != Int(0)), zero, one);
  if (!any(round | flat | ellipsoid)) return lamp;
  // The size by which an emitter's probability grows (device_scene/lights.rs), and the pdf of a point within it.
  Real size = zero, pdf = zero;
  if (any(round)) {
    const float* data = (const float*)scene.spheres.data;
    const int words = WORDS(Sphere) * scene.spheres.len;
    const Vec centre = read_vec(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, centre)), round);
    const Real radius = read(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, radius)), round);
    const Vec to = fma(d, t, centre - p);
    const Real square = max(dot(to, to), Real(1.0e-12f));
    size = radius * radius;
    const Real cone = max(one_minus_cos_max(radius, square) * Real(2.0f * PI), Real(DOMAIN_MIN));
    pdf = select(square > radius * radius, reciprocal(cone), zero);
  }
  if (any(flat)) {
    const float* data = (const float*)scene.triangles.data;
    const int words = WORDS(Triangle) * scene.triangles.len;
    const Int at = number * Int(WORDS(Triangle));
    const Vec twice_area = cross(read_vec(data, words, at + Int(WORD(Triangle, ab)), flat),
                                 read_vec(data, words, at + Int(WORD(Triangle, ac)), flat));
    size = select(flat, length_or_zero(twice_area) * Real(0.25f / PI), size);
    pdf = select(flat, (t + t) * t * reciprocal(max(abs(dot(twice_area, d)), Real(1.0e-30f))), pdf);
  }
  if (any(ellipsoid)) {
    const EllipsoidLanes e = read_ellipsoids(scene, number, ellipsoid);
    const Vec r = e.map.radii;
    size = select(ellipsoid, fma(r.x, r.y, fma(r.y, r.z, r.z * r.x)) * Real(1.0f / 3.0f), size);
    pdf = select(ellipsoid, ellipsoid_pdf(e, fma(d, -t, p), d, ellipsoid), pdf);
  }
  const Real chance =
      max(max_component(emission) * size * Real(scene.constants.emitter_scale), Real(scene.constants.emitter_min));
  return select(round | flat | ellipsoid, balance_heuristic(unpack_pdf(bounces), pdf * chance), lamp);
}

// Samples an emitter by the alias method.
template <class S>
POLYFLY_FN Int sample_emitter_index(const S& scene, Real u, Mask met) {
  const int n = scene.emitters.len;
  const float* data = (const float*)scene.emitters.data;
  const int words = WORDS(Emitter) * n;
  const Real place = u * Real((float)n);
  const Int whole = to_int(place), drawn = select(whole < Int(n), whole, Int(n - 1));
  const Mask keeps = place - to_real(drawn) <
      read(data, words, drawn * Int(WORDS(Emitter)) + Int(WORD(Emitter, alias_threshold)), met);
  return select(keeps, drawn,
                read((const int*)data, words, drawn * Int(WORDS(Emitter)) + Int(WORD(Emitter, alias_index)), met));
}

// Alpha from which a rough mirror samples lamps; clearer mirrors find them by reflected rays.
#define LAMP_ALPHA 0.1f

// A light sample from the point u2 of an emitter, divided by the emitter's probability if it was `drawn`. BOTH_WAYS:
// rough mirrors reflect it too, and it has an MIS weight where the surface's own rays may hit the emitter.
template <bool BOTH_WAYS, class S>
POLYFLY_FN LightSample emitter_light(const S& scene, Int number, bool drawn, Pair u2, const Ray& ray,
                                     const Surface<S>& s, Mask met) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const float* data = (const float*)scene.emitters.data;
  const int words = WORDS(Emitter) * scene.emitters.len;
  const Int at = number * Int(WORDS(Emitter));
  const Vec centre = read_vec(data, words, at + Int(WORD(Emitter, centre)), met),
            colour = read_vec(data, words, at + Int(WORD(Emitter, colour)), met);
  const Real radius = read(data, words, at + Int(WORD(Emitter, radius)), met);
  const Int kind = read((const int*)data, words, at + Int(WORD(Emitter, kind)), met);
  const Vec to = centre - s.p;
  const Real square = max(dot(to, to), Real(1.0e-12f)), distance = sqrt(square);
  const Vec axis = to * reciprocal(distance);
  // A sphere is sampled within the cone that it subtends; a lamp is a point.
  Mask wide = first_lanes(0), flat = wide, celestial = wide, ellipsoid = wide;
  if (uses<FEATURE_SPHERES>(scene)) wide = kind == Int(EMITTER_SPHERE);
  if (uses<FEATURE_TRIANGLES>(scene)) flat = kind == Int(EMITTER_TRIANGLE);
  if (uses<FEATURE_SKY_MAP>(scene)) celestial = met & (kind == Int(EMITTER_SKY));
  if (uses<FEATURE_ELLIPSOIDS>(scene)) ellipsoid = met & (kind == Int(EMITTER_ELLIPSOID));
  Mask outside = square > radius * radius;
  const Real cap = one_minus_cos_max(radius, square);
  Real sine, cosine;
  sincos_2pi(u2.u, sine, cosine);
  const Real down = cap * u2.v, z = one - down;
  const Real r = sqrt(max(down * (one + z), Real(1.0e-20f)));
  const Basis basis = basis_around(axis);
  const Vec cone = fma(basis.down, r * sine, fma(basis.right, r * cosine, axis * z));
  const Real ahead = dot(to, cone);
  const Vec off = fma(cone, -ahead, to);
  const Real reach = ahead - sqrt(max(fma(radius, radius, -dot(off, off)), Real(1.0e-20f)));
  LightSample sample;
  sample.towards = select(wide, cone * (reach * Real(0.9999f)), to * Real(0.9999f));
  Vec wi = select(wide, cone, axis);
  // A sphere: radiance times solid angle over pi. A lamp: intensity times cosine over the squared distance plus the
  // squared radius of its disc, which is exact on its axis.
  const Vec normal = read_vec(data, words, at + Int(WORD(Emitter, normal)), met);
  Real shape = select(wide, cap + cap, max(-dot(normal, axis), zero) * reciprocal(fma(radius, radius, square)));
  const Mask flat_ones = met & flat;
  if (any(flat_ones)) {
    // A triangle, uniformly by area: radiance times area times cosine, over pi times the squared distance.
    const float* corners = (const float*)scene.triangles.data;
    const int corner_words = WORDS(Triangle) * scene.triangles.len;
    const Int which = read((const int*)data, words, at + Int(WORD(Emitter, index)), flat_ones) * Int(WORDS(Triangle));
    const Vec ab = read_vec(corners, corner_words, which + Int(WORD(Triangle, ab)), flat_ones),
              ac = read_vec(corners, corner_words, which + Int(WORD(Triangle, ac)), flat_ones);
    const Real u = u2.u, v = u2.v;
    const Mask folded = u + v > one;
    const Vec point = fma(ac, select(folded, one - v, v), fma(ab, select(folded, one - u, u), centre));
    const Vec reach_to = point - s.p, twice_area = cross(ab, ac);
    const Real far2 = max(dot(reach_to, reach_to), Real(1.0e-12f)), nearness = reciprocal(sqrt(far2));
    sample.towards = select(flat, reach_to * Real(0.9999f), sample.towards);
    wi = select(flat, reach_to * nearness, wi);
    shape = select(flat, abs(dot(twice_area, wi)) * Real(0.15915494f) * reciprocal(far2), shape);
  }
  const Real inverse_pmf = read(data, words, at + Int(WORD(Emitter, inverse_pmf)), met);
  Real chosen = drawn ? inverse_pmf : one;
  Vec radiance = colour;
  if (any(celestial)) {
    // The sky, uniformly within the cell of the map: radiance times cosine, over pi times the pdf.
    const Int cell = read((const int*)data, words, at + Int(WORD(Emitter, index)), celestial);
    const Int row = select(celestial, cell >> SKY_CELLS_LOG2, Int(0)),
              column = select(celestial, cell & Int(SKY_CELLS - 1), Int(0));
    const Real step = Real(2.0f / (float)SKY_CELLS);
    const Vec tip = octahedral_decode(fma(to_real(column) + u2.u, step, -one), fma(to_real(row) + u2.v, step, -one));
    const Vec direction = normalise(tip);
    const Real pdf = sky_pdf(tip, select(celestial, inverse_pmf, one));
    sample.towards = select(celestial, direction * Real(scene.constants.sky_distance), sample.towards);
    wi = select(celestial, direction, wi);
    shape = select(celestial, Real(1.0f / PI) * reciprocal(pdf), shape);
    chosen = select(celestial, one, chosen);
    const Vec light = sky_through_fog(scene, s.p, direction, sky_map(scene, direction, celestial));
    radiance = select(celestial, light, radiance);
  }
  if (any(ellipsoid)) {
    // An ellipsoid: radiance times cosine, over pi times the pdf.
    const Int which = read((const int*)data, words, at + Int(WORD(Emitter, index)), ellipsoid);
    const EllipsoidSample e = sample_ellipsoid(read_ellipsoids(scene, which, ellipsoid), s.p, u2, ellipsoid);
    sample.towards = select(ellipsoid, e.reach * Real(0.9999f), sample.towards);
    wi = select(ellipsoid, e.wi, wi);
    shape = select(ellipsoid, e.solid_angle * Real(1.0f / PI), shape);
    outside = (outside & !ellipsoid) | (e.outside & ellipsoid);
  }
  const Real lambert = dot(s.n, wi);
  const Real strength = shape * chosen;
  Vec seen = s.albedo * max(lambert, zero);
  const Mask coated = met & is_coated(scene, s);
  if (any_coated(scene, coated)) seen = seen * coat_spreads(s, lambert, coated);
  if constexpr (BOTH_WAYS) {
    // Lamps are points, and a surface at the last bounce spawns no rays.
    const Mask both = (kind != Int(EMITTER_LAMP)) & ((ray.bounces & Int(BOUNCE_MASK)) < Int(scene.constants.depth));
    const Real pdf = reciprocal(within_domain(strength * Real(PI)));
    seen = seen * select(both, balance_heuristic(pdf, max(lambert, zero) * Real(1.0f / PI)), one);
    const Mask rough = met & (s.alpha > zero) & ((kind != Int(EMITTER_LAMP)) | (s.alpha >= Real(LAMP_ALPHA)));
    if (any(rough)) {
      Lobe lobe = rough_lobe(scene, s, ray.d, wi, rough);
      if (any_coated(scene, coated)) lobe.value = lobe.value * coat_leaves(scene, s, ray.d, lambert, coated);
      const Real counted = select(both, balance_heuristic(pdf, lobe.pdf), one) * Real(PI);
      seen = select(rough, fma(lobe.value, counted, seen), seen);
    }
  }
  sample.colour = ray.weight * radiance * seen * strength;
  sample.valid = met & (lambert > zero) & (outside | !(wide | ellipsoid)) & (max_component(sample.colour) > zero);
  return sample;
}

// A light sample of one stochastically chosen emitter.
template <class S>
POLYFLY_FN LightSample sample_emitter(const S& scene, const Ray& ray, const Surface<S>& s, SamplePoint point,
                                      Mask met) {
  const Int number = sample_emitter_index(scene, get_2d(point, dim_of_bounce(ray.bounces, DIM_EMITTER)).u, met);
  return emitter_light<true>(scene, number, true, get_2d(point, dim_of_bounce(ray.bounces, DIM_POINT)), ray, s, met);
}

// The vector to a point on the visible disc of a spherical light, from the vector to its center.
POLYFLY_FN Vec point_on_light(const Light& light, Vec towards, Vec otherwise, Pair u2) {
  const Basis basis = basis_around(normalise_or(towards, otherwise));
  const Real r = sqrt(max(u2.v, Real(1.0e-20f))) * Real(light.radius);
  Real sine, cosine;
  sincos_2pi(u2.u, sine, cosine);
  return fma(basis.down, r * sine, fma(basis.right, r * cosine, towards));
}

// Lanes that a spherical light may light: for the others, eval_light keeps no light from any of its points. Tested before points are
// sampled, as sampling costs more than most rays are worth.
template <class S>
POLYFLY_FN Mask may_light(const S& scene, const Light& light, Vec towards, const Ray& ray, const Surface<S>& s, Mask met) {
  const Real size = abs(towards.x) + abs(towards.y) + abs(towards.z);
  const Mask above = met & !(dot(s.n, towards) < -fma(size, Real(1.0e-5f), Real(1.05f * light.radius)));
  if (uses_any<FEATURE_ROUGHNESS | FEATURE_COAT>(scene)) return above;
  const Vec most = ray.weight * (s.albedo + vec(s.highlight_weight, s.highlight_weight, s.highlight_weight)) * vec(light.colour);
  return above & (max_component(most) * Real(1.001f) > Real(scene.constants.light_cutoff));
}

// The ambient light from a sampled direction. Surfaces within reach block it as they block lights.
template <class S>
POLYFLY_FN LightSample sample_ambient(const S& scene, const Ray& ray, const Surface<S>& s, Pair u2, Mask met) {
  const Real reach = Real(scene.constants.ao_reach);
  LightSample sample;
  sample.towards = normalise(cosine_direction(s.n, uniform_sphere(u2.u, u2.v))) * reach;
  sample.colour = ray.weight * s.albedo * vec(scene.constants.ambient);
  sample.valid = met & (max_component(sample.colour) > Real(scene.constants.light_cutoff));
  // The fog dims no ambient light.
  if (has_fog(scene)) {
    const Real foggy = length_in_fog(scene, s.p.z, sample.towards.z, reach);
    sample.colour = sample.colour * reciprocal(fog_transmittance(scene, foggy));
  }
  return sample;
}

// Light samples at a bounce: half as many per bounce, at least one, since later hits are dimmer and more numerous.
POLYFLY_FN Int samples_at_bounce(int max_samples, Int bounce) {
  const Int halvings = select(bounce < Int(16), bounce, Int(16));
  return to_int(max(Real((float)max_samples) * from_bits((Int(127) - halvings) << 23), Real(1.0f)));
}
// The number of lights, as sample_light counts them.
template <class S>
POLYFLY_FN int light_count(const S& scene) {
  int count = uses<FEATURE_LIGHTS>(scene) ? scene.lights.len : 0;
  if (uses<FEATURE_EMITTERS>(scene) && scene.constants.lamp_samples != 0 && scene.emitters.len > 0) ++count;
  if (uses<FEATURE_AO>(scene)) ++count;
  return count;
}
// Samples light i: a point light, or points on the visible disc of a spherical light. WITH_EMITTERS: the index after the
// last light means the emitters (samples of them, or all), and the last index means ambient light with occlusion.
template <bool WITH_EMITTERS, class S, class Q>
POLYFLY_FN void sample_light(const S& scene, int i, const Ray& ray, const Surface<S>& s, Mask met, Q& queue) {
  if (!uses_any<FEATURE_AREA_LIGHTS | FEATURE_EMITTERS | FEATURE_AO>(scene)) {
    const Light& light = scene.lights.at(i);
    queue.shadow_ray(ray, s, eval_light(scene, vec(light.position) - s.p, light, ray, s, met));
    return;
  }
  if constexpr (has_any<S>(FEATURE_AREA_LIGHTS | FEATURE_EMITTERS | FEATURE_AO)) {
    // One call of shadow_ray for all kinds of lights, since each call inlines the whole code of a shadow ray on a GPU.
    const bool ambient = WITH_EMITTERS && uses<FEATURE_AO>(scene) && i + 1 == light_count(scene);
    const bool emitters = WITH_EMITTERS && uses<FEATURE_EMITTERS>(scene) && !ambient && i == scene.lights.len;
    const bool all = emitters && scene.constants.lamp_samples < 0;
    Light light = {};
    if (!emitters && !ambient) light = scene.lights.at(i);
    int max_samples = uses<FEATURE_AREA_LIGHTS>(scene) && light.radius > 0.0f ? light.samples : 1;
    if constexpr (has_features<S>(FEATURE_EMITTERS)) {
      if (emitters) max_samples = all ? scene.emitters.len : scene.constants.lamp_samples;
    }
    if (ambient) max_samples = scene.constants.ao_samples;
    const Int bounce = ray.bounces & Int(BOUNCE_MASK);
    const Int count = all ? Int(max_samples) : samples_at_bounce(max_samples, bounce);
    Mask lit = met;
    if (uses<FEATURE_AREA_LIGHTS>(scene) && !emitters && !ambient && light.radius > 0.0f)
      lit = may_light(scene, light, vec(light.position) - s.p, ray, s, met);
    POLYFLY_NO_UNROLL
    for (int j = 0; j < max_samples; ++j) {
      const Mask sampled = lit & (Int(j) < count);
      if (!any(sampled)) break;
      LightSample sample = {s.n, s.albedo, sampled};
      if (ambient) {
        const SamplePoint point = subsample(queue.sampler(ray), count, j);
        sample = sample_ambient(scene, ray, s, get_2d(point, dim_of_bounce(ray.bounces, DIM_LOBE)), sampled);
      } else if (emitters) {
        if constexpr (has_features<S>(FEATURE_EMITTERS)) {
          const SamplePoint point = subsample(queue.sampler(ray), count, j);
          Int number = Int(j);
          if (!all)
            number = sample_emitter_index(scene, get_2d(point, dim_of_bounce(ray.bounces, DIM_EMITTER)).u, sampled);
          const Pair u2 = get_2d(point, dim_of_bounce(ray.bounces, DIM_POINT));
          sample = emitter_light<false>(scene, number, !all, u2, ray, s, sampled);
        }
      } else {
        Vec towards = vec(light.position) - s.p;
        if (uses<FEATURE_AREA_LIGHTS>(scene) && light.radius > 0.0f) {
          const Pair u2 =
              get_2d(subsample(queue.sampler(ray), count, j), bounce * Int(scene.lights.len) + Int(i + DIM_LIGHTS));
          towards = point_on_light(light, towards, s.n, u2);
        }
        sample = eval_light(scene, towards, light, ray, s, sampled);
      }
      if (max_samples > 1 && !all) sample.colour = sample.colour * reciprocal(to_real(count));
      queue.shadow_ray(ray, s, sample);
    }
  }
}

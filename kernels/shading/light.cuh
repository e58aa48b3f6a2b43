// Lights: what reaches a surface from a point light or an emitter before anything stands in its way.
#pragma once
#include "microfacet.cuh"
#include "sky.cuh"

// One light seen from a surface. Where paths end by chance the colour is divided by the chance.
struct LightSample {
  Vec towards;  // from the point to the light
  Vec colour;   // times the ray's weight
  Mask some;    // lanes in which there is something to be seen
};

constexpr float PI = 3.14159265f;
// Of a ball, by its radius and the square of its distance: 1 - cosine of the cone that it fills.
POLYFLY_FN Real cap_of(Real radius, Real square) {
  const Real one = Real(1.0f), sine2 = min(radius * radius * reciprocal(square), one);
  return sine2 * reciprocal(one + sqrt(max(one - sine2, Real(1.0e-20f))));
}
// The share that is mirrored, by colour.
POLYFLY_FN Vec all_of(Vec x) { return x; }
POLYFLY_FN Vec all_of(Real x) { return vec(x, x, x); }

// What light in a place gives. Lambert's cosine and Blinn's highlight (n.h)^64, h halfway between the light and the
// eye. With unit vectors l and v, (n.h)^2 = (n.l + n.v)^2 / (2 + 2 l.v): no need for h itself.
template <class S>
POLYFLY_FN LightSample light_from(const S& scene, Vec towards, const Light& light, const Ray& ray, const Surface<S>& s,
                                  Mask met) {
  LightSample sample;
  sample.towards = towards;
  const Real across = dot(s.n, sample.towards);
  sample.some = met & (across > Real(0.0f));
  sample.colour = s.albedo;
  if (!any(sample.some)) return sample;
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
  if constexpr (!SceneTraits<S>::plain) {
    // What a rough mirror shows of a light, which a clear one would show as a point.
    if (any(sample.some & (s.alpha > Real(0.0f)))) {
      const Lobe lobe = rough_lobe(s.n, s.alpha, s.edge, ray.d, all_of(s.reflect), sample.towards * nearness);
      seen = fma(lobe.value, Real(PI), seen);
    }
  }
  sample.colour = ray.weight * seen * vec(light.colour);
  sample.some = sample.some & (max_component(sample.colour) > Real(scene.constants.light_cutoff));
  return sample;
}

// How likely a direction of the sky is to be drawn, a unit of solid angle: a cell of the map by its chance, and a place
// within it, all alike. A square of the map fills the solid angle du dv / r^3, r from the middle to the octahedron.
POLYFLY_FN Real sky_density(Vec on_octahedron, Real inverse_pmf) {
  const Real square = dot(on_octahedron, on_octahedron), cells = Real((float)(SKY_CELLS * SKY_CELLS) * 0.25f);
  return cells * square * sqrt(square) * reciprocal(inverse_pmf);
}
// Of light that a surface gets both ways, by drawing from the lights and by its own rays, the share that counts here:
// the one way's density over both (Veach and Guibas, "Optimally combining sampling techniques for Monte Carlo
// rendering", 1995).
POLYFLY_FN Real balance(Real density, Real other) { return density * reciprocal(within_domain(density + other)); }

// Ray::bounces' note of how likely a ray was to go the way it goes.
POLYFLY_FN Int density_note(Real density) {
  const Int word = bits(max(min(density, Real(4.0e9f)), Real(1.0e-9f)));
  return ((word >> 15) - Int(DENSITY_LEAST << 8)) << DENSITY_SHIFT;
}
POLYFLY_FN Real noted_density(Int bounces) {
  const Int note = (bounces >> DENSITY_SHIFT) & Int(DENSITY_MASK);
  // The middle of what has the same note.
  return from_bits(((note + Int(DENSITY_LEAST << 8)) << 15) | Int(1 << 14));
}

// The share of the sky's light that counts on a ray which meets it.
template <class S>
POLYFLY_FN Real sky_share(const S& scene, const Ray& ray, Mask away) {
  const Real one = Real(1.0f);
  if (SceneTraits<S>::plain || scene.constants.sky_side == 0) return one;
  const Mask both = away & ((ray.bounces & Int(LIGHTS_SAMPLED)) != Int(0));
  if (!any(both)) return one;
  const SkyPlace p = octahedral_place(select(both, ray.d, vec(Real(0.0f), Real(0.0f), one)));
  const Real half = Real(0.5f * (float)SKY_CELLS);
  const Int last = Int(SKY_CELLS - 1);
  Int x = to_int(fma(p.u, half, half)), y = to_int(fma(p.v, half, half));
  x = select(x > last, last, x);
  y = select(y > last, last, y);
  const Int cell = y * Int(SKY_CELLS) + x + Int(scene.emitters.len - SKY_CELLS * SKY_CELLS);
  const Real inverse_pmf = read((const float*)scene.emitters.data, WORDS(Emitter) * scene.emitters.len,
                                cell * Int(WORDS(Emitter)) + Int(WORD(Emitter, inverse_pmf)), both);
  const Real drawn = sky_density(octahedral_point(p.u, p.v), select(both, inverse_pmf, one));
  return select(both, balance(noted_density(ray.bounces), drawn), one);
}

// The same for surfaces that shine. Of lamps, which are asked as points, all or nothing counts.
template <class S>
POLYFLY_APART Real glow_share(const S& scene, Int bounces, Real way, Vec p, Vec d, Vec emission, Int surface,
                              Mask met) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask asked = met & ((bounces & Int(LIGHTS_SAMPLED)) != Int(0));
  const Mask thing = asked & (surface > Int(PRIMITIVE - 1));
  const Real lamp = select(asked & ((bounces & Int(LAMPS_SAMPLED)) != Int(0)), zero, one);
  if (!any(thing)) return lamp;
  const Int number = surface - Int(PRIMITIVE);
  const Mask round = thing & (number < Int(scene.spheres.len)), flat = thing & !round;
  // How an emitter's chance grows with its size (device_scene/lights.rs), and a place's density within it.
  Real size = zero, density = zero;
  if (any(round)) {
    const float* data = (const float*)scene.spheres.data;
    const int words = WORDS(Sphere) * scene.spheres.len;
    const Vec centre = read_vec(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, centre)), round);
    const Real radius = read(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, radius)), round);
    const Vec to = fma(d, way, centre - p);
    const Real square = max(dot(to, to), Real(1.0e-12f));
    size = radius * radius;
    const Real cone = max(cap_of(radius, square) * Real(2.0f * PI), Real(DOMAIN_LEAST));
    density = select(square > radius * radius, reciprocal(cone), zero);
  }
  if (any(flat)) {
    const float* data = (const float*)scene.triangles.data;
    const int words = WORDS(Triangle) * scene.triangles.len;
    const Int at = (number - Int(scene.spheres.len)) * Int(WORDS(Triangle));
    const Vec twice_area = cross(read_vec(data, words, at + Int(WORD(Triangle, ab)), flat),
                                 read_vec(data, words, at + Int(WORD(Triangle, ac)), flat));
    size = select(flat, length_or_zero(twice_area) * Real(0.25f / PI), size);
    density = select(flat, (way + way) * way * reciprocal(max(abs(dot(twice_area, d)), Real(1.0e-30f))), density);
  }
  const Real chance =
      max(max_component(emission) * size * Real(scene.constants.emitter_scale), Real(scene.constants.emitter_least));
  return select(thing, balance(noted_density(bounces), density * chance), lamp);
}

// An emitter's number, drawn by lot.
template <class S>
POLYFLY_FN Int draw_emitter(const S& scene, Real lot, Mask met) {
  const int n = scene.emitters.len;
  const float* data = (const float*)scene.emitters.data;
  const int words = WORDS(Emitter) * n;
  const Real place = lot * Real((float)n);
  const Int whole = to_int(place), drawn = select(whole < Int(n), whole, Int(n - 1));
  const Mask keeps = place - to_real(drawn) <
      read(data, words, drawn * Int(WORDS(Emitter)) + Int(WORD(Emitter, alias_threshold)), met);
  return select(keeps, drawn,
                read((const int*)data, words, drawn * Int(WORDS(Emitter)) + Int(WORD(Emitter, alias_index)), met));
}

// Roughness (alpha) from which a mirror asks lamps for their light: a clearer one shows them as what they are.
#define LAMP_ALPHA 0.1f

// Light that an emitter sends straight to a surface from a spot of it: as a shadow ray and its colour, over the chance
// that it has been drawn with, if it has. BOTH_WAYS: by way of rough mirrors too, and only the share that counts where
// the surface's own rays may meet the emitter.
template <bool BOTH_WAYS, class S>
POLYFLY_FN LightSample emitter_light(const S& scene, Int number, bool drawn, Pair spot, const Ray& ray,
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
  // A ball is asked in a direction of the cone that it fills; a lamp at its point.
  const Mask wide = kind == Int(EMITTER_SPHERE), outside = square > radius * radius;
  const Mask flat = kind == Int(EMITTER_TRIANGLE);
  const Real cap = cap_of(radius, square);
  Real sine, cosine;
  sincos_2pi(spot.u, sine, cosine);
  const Real down = cap * spot.v, z = one - down;
  const Real r = sqrt(max(down * (one + z), Real(1.0e-20f)));
  const Basis basis = basis_around(axis);
  const Vec cone = fma(basis.down, r * sine, fma(basis.right, r * cosine, axis * z));
  const Real ahead = dot(to, cone);
  const Vec off = fma(cone, -ahead, to);
  const Real reach = ahead - sqrt(max(fma(radius, radius, -dot(off, off)), Real(1.0e-20f)));
  LightSample sample;
  sample.towards = select(wide, cone * (reach * Real(0.9999f)), to * Real(0.9999f));
  Vec way = select(wide, cone, axis);
  // Of a ball: radiance times solid angle over pi. Of a lamp: its strength and cosine over the squared distance, to
  // which a disc's radius adds, as it does exactly on its axis.
  const Vec normal = read_vec(data, words, at + Int(WORD(Emitter, normal)), met);
  Real shape = select(wide, cap + cap, max(-dot(normal, axis), zero) * reciprocal(fma(radius, radius, square)));
  const Mask flat_ones = met & flat;
  if (any(flat_ones)) {
    // Of a triangle, any point alike: radiance times area and cosine over pi and the squared distance.
    const float* corners = (const float*)scene.triangles.data;
    const int corner_words = WORDS(Triangle) * scene.triangles.len;
    const Int which =
        read((const int*)data, words, at + Int(WORD(Emitter, triangle)), flat_ones) * Int(WORDS(Triangle));
    const Vec ab = read_vec(corners, corner_words, which + Int(WORD(Triangle, ab)), flat_ones),
              ac = read_vec(corners, corner_words, which + Int(WORD(Triangle, ac)), flat_ones);
    const Real u = spot.u, v = spot.v;
    const Mask folded = u + v > one;
    const Vec point = fma(ac, select(folded, one - v, v), fma(ab, select(folded, one - u, u), centre));
    const Vec reach_to = point - s.p, twice_area = cross(ab, ac);
    const Real far2 = max(dot(reach_to, reach_to), Real(1.0e-12f)), nearness = reciprocal(sqrt(far2));
    sample.towards = select(flat, reach_to * Real(0.9999f), sample.towards);
    way = select(flat, reach_to * nearness, way);
    shape = select(flat, abs(dot(twice_area, way)) * Real(0.15915494f) * reciprocal(far2), shape);
  }
  const Real inverse_pmf = read(data, words, at + Int(WORD(Emitter, inverse_pmf)), met);
  Real chosen = drawn ? inverse_pmf : one;
  Vec radiance = colour;
  const Mask celestial = met & (kind == Int(EMITTER_SKY));
  if (!SceneTraits<S>::plain && any(celestial)) {
    // Of the sky, any place in the cell alike: radiance and cosine over pi and the density.
    const Int cell = read((const int*)data, words, at + Int(WORD(Emitter, triangle)), celestial);
    const Int row = select(celestial, cell >> SKY_CELLS_LOG2, Int(0)),
              column = select(celestial, cell & Int(SKY_CELLS - 1), Int(0));
    const Real step = Real(2.0f / (float)SKY_CELLS);
    const Vec tip = octahedral_point(fma(to_real(column) + spot.u, step, -one), fma(to_real(row) + spot.v, step, -one));
    const Vec direction = normalise(tip);
    const Real density = sky_density(tip, select(celestial, inverse_pmf, one));
    sample.towards = select(celestial, direction * Real(scene.constants.sky_distance), sample.towards);
    way = select(celestial, direction, way);
    shape = select(celestial, Real(1.0f / PI) * reciprocal(density), shape);
    chosen = select(celestial, one, chosen);
    radiance = select(celestial, sky_map(scene, direction, celestial), radiance);
  }
  const Real lambert = dot(s.n, way);
  const Real strength = shape * chosen;
  Vec seen = s.albedo * max(lambert, zero);
  if constexpr (BOTH_WAYS) {
    // Lamps are points, and the last surface sends no rays.
    const Mask both = (kind != Int(EMITTER_LAMP)) & ((ray.bounces & Int(BOUNCE_MASK)) < Int(scene.constants.depth));
    const Real density = reciprocal(within_domain(strength * Real(PI)));
    seen = seen * select(both, balance(density, max(lambert, zero) * Real(1.0f / PI)), one);
    const Mask rough = met & (s.alpha > zero) & ((kind != Int(EMITTER_LAMP)) | (s.alpha >= Real(LAMP_ALPHA)));
    if (any(rough)) {
      const Lobe lobe = rough_lobe(s.n, s.alpha, s.edge, ray.d, all_of(s.reflect), way);
      const Real counted = select(both, balance(density, lobe.density), one) * Real(PI);
      seen = select(rough, fma(lobe.value, counted, seen), seen);
    }
  }
  sample.colour = ray.weight * radiance * seen * strength;
  sample.some = met & (lambert > zero) & (outside | !wide) & (max_component(sample.colour) > zero);
  return sample;
}

// That of one emitter, by lot.
template <class S>
POLYFLY_FN LightSample sample_emitter(const S& scene, const Ray& ray, const Surface<S>& s, SamplePoint point,
                                      Mask met) {
  const Int number = draw_emitter(scene, draw_pair(point, pair_of_bounce(ray.bounces, EMITTER_PAIR)).u, met);
  return emitter_light<true>(scene, number, true, draw_pair(point, pair_of_bounce(ray.bounces, PLACE_PAIR)), ray, s,
                             met);
}

// A share of samples that halves with each bounce, at least one: what they light is dimmer and there are more of them.
POLYFLY_FN Int halved(int most, Int bounce) {
  const Int halvings = select(bounce < Int(16), bounce, Int(16));
  return to_int(max(Real((float)most) * from_bits((Int(127) - halvings) << 23), Real(1.0f)));
}
// What shadow rays to light i bring: to a point light, to places on the disc that a ball of light shows, or,
// WITH_EMITTERS after the last of them, to emitters: those drawn by lot, or all.
template <bool WITH_EMITTERS, class S, class Q>
POLYFLY_FN void sample_light(const S& scene, int i, const Ray& ray, const Surface<S>& s, Mask met, Q& queue) {
  if constexpr (SceneTraits<S>::plain) {
    const Light& light = scene.lights.at(i);
    queue.shadow_ray(ray, s, light_from(scene, vec(light.position) - s.p, light, ray, s, met));
  } else {
    // One place for all kinds, since a GPU's kernel holds a copy of all that a shadow ray does.
    const bool emitters = WITH_EMITTERS && i == scene.lights.len, all = scene.constants.lamp_samples < 0;
    Light light = {};
    if (!emitters) light = scene.lights.at(i);
    int most = light.radius > 0.0f ? light.samples : 1;
    if (emitters) most = all ? scene.emitters.len : scene.constants.lamp_samples;
    const Int bounce = ray.bounces & Int(BOUNCE_MASK);
    const Int count = emitters && all ? Int(most) : halved(most, bounce);
    POLYFLY_NO_UNROLL
    for (int j = 0; j < most; ++j) {
      const Mask asked = met & (Int(j) < count);
      if (!any(asked)) break;
      LightSample sample = {s.n, s.albedo, asked};
      if (emitters) {
        const SamplePoint point = one_of_many(queue.draws(ray), count, j);
        Int number = Int(j);
        if (!all) number = draw_emitter(scene, draw_pair(point, pair_of_bounce(ray.bounces, EMITTER_PAIR)).u, asked);
        const Pair spot = draw_pair(point, pair_of_bounce(ray.bounces, PLACE_PAIR));
        sample = emitter_light<false>(scene, number, !all, spot, ray, s, asked);
      } else {
        Vec towards = vec(light.position) - s.p;
        if (light.radius > 0.0f) {
          const Basis basis = basis_around(normalise_or(towards, s.n));
          const Pair place =
              draw_pair(one_of_many(queue.draws(ray), count, j), bounce * Int(scene.lights.len) + Int(i + LIGHT_PAIRS));
          const Real r = sqrt(max(place.v, Real(1.0e-20f))) * Real(light.radius);
          Real sine, cosine;
          sincos_2pi(place.u, sine, cosine);
          towards = fma(basis.down, r * sine, fma(basis.right, r * cosine, towards));
        }
        sample = light_from(scene, towards, light, ray, s, asked);
      }
      if (most > 1 && !(emitters && all)) sample.colour = sample.colour * reciprocal(to_real(count));
      queue.shadow_ray(ray, s, sample);
    }
  }
}
// Lights as sample_light counts them.
template <class S>
POLYFLY_FN int light_count(const S& scene) {
  if constexpr (!SceneTraits<S>::plain) {
    if (scene.constants.lamp_samples != 0 && scene.emitters.len > 0) return scene.lights.len + 1;
  }
  return scene.lights.len;
}

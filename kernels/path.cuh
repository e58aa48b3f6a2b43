// Path tracing: where a ray goes on is drawn by lot, so that diffuse light needs no more rays than mirrors.
// A draw depends only on the pixel, the sample, the frame and the bounce, so every device draws the same.
#pragma once
#include "shade.cuh"

// "lowbias32" of Chris Wellons, "Prospecting for hash functions", 2018.
POLYFLY_FN Int scramble(Int x) {
  x = wrap_mul(x ^ shift_down(x, 16), Int(0x7feb352d));
  x = wrap_mul(x ^ shift_down(x, 15), Int((int)0x846ca68bu));
  return x ^ shift_down(x, 16);
}
POLYFLY_FN Int seed_of(const Frame& frame, Int px, Int py, Int sample) {
  return scramble(wrap_add(scramble(wrap_add(scramble(px ^ wrap_mul(py, Int(65536))), sample)), Int(frame.number)));
}
// Draw n of a seed: 0 <= x < 1.
POLYFLY_FN Real draw(Int seed, Int n) {
  return to_real(shift_down(scramble(wrap_add(seed, wrap_mul(n, Int((int)0x9e3779b9u)))), 8)) * Real(1.0f / 16777216.0f);
}
// The draws of bounce b are DRAWS b .. DRAWS b + DRAWS - 1; bounce 0 is the camera's.
#define DRAWS 8

// Sine and cosine of 2 pi u, 0 <= u < 1, from those of half the angle; the polynomial is Taylor's.
POLYFLY_FN void turn(Real u, Real& sine, Real& cosine) {
  const Real a = mad(u, Real(2.0f), Real(-1.0f)), aa = a * a;
  const Real p = mad(aa, mad(aa, mad(aa, mad(aa, mad(aa, Real(-3.5988432e-6f), Real(1.6044118e-4f)), Real(-4.6817541e-3f)), Real(7.9692626e-2f)), Real(-6.4596410e-1f)), Real(1.5707963f));
  const Real s = a * p, c = root(most(mad(-s, s, Real(1.0f)), Real(1.0e-20f)));
  sine = Real(-2.0f) * s * c;
  cosine = mad(Real(2.0f) * s, s, Real(-1.0f));
}
// A direction, all alike likely.
POLYFLY_FN Vec direction_of(Real u, Real v) {
  Real sine, cosine;
  turn(u, sine, cosine);
  const Real z = mad(v, Real(-2.0f), Real(1.0f)), r = root(most(mad(-z, z, Real(1.0f)), Real(1.0e-20f)));
  return vec(r * cosine, r * sine, z);
}

// The ray that goes on, of those that could: diffuse, mirrored or through, drawn by their shares.
POLYFLY_FN Ray scatter(const Scene& scene, const Ray& ray, const Surface& s, Int seed, Real t, Mask met, Mask& goes) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Int bounce = ray.bounces & Int(BOUNCE_MASK);
  const Int first = (bounce + Int(1)) * Int(DRAWS);
  const Real diffuse = brightest(s.albedo), mirrored = brightest(s.reflect), passed = brightest(s.transmit);
  const Real all = diffuse + mirrored + passed;
  const Real pick = draw(seed, first) * all;
  const Mask is_diffuse = (pick < diffuse) | !(mirrored + passed > zero);
  const Mask is_mirror = (!is_diffuse) & ((pick < diffuse + mirrored) | !(passed > zero));
  const Vec share = select(is_diffuse, s.albedo, select(is_mirror, s.reflect, s.transmit));
  const Real chance = select(is_diffuse, diffuse, select(is_mirror, mirrored, passed));
  Ray next = ray;
  next.o = s.p;
  next.length = ray.length + t;
  next.weight = ray.weight * share * (all * reciprocal(most(chance, Real(1.0e-20f))));
  goes = met & (chance > zero) & (bounce < Int(scene.depth));

  const Vec ball = direction_of(draw(seed, first + Int(1)), draw(seed, first + Int(2)));
  // Lambert's cosine: the normal's tip is the middle of a sphere of directions.
  const Vec sum = s.n + ball;
  const Vec lambert = select(dot(sum, sum) > Real(1.0e-6f), sum, s.n);
  const Real twice = Real(-2.0f) * dot(s.n, ray.d);
  const Vec mirror = vec(mad(s.n.x, twice, ray.d.x), mad(s.n.y, twice, ray.d.y), mad(s.n.z, twice, ray.d.z));
  const Vec spread = along(mirror, ball, s.fuzz);
  const Vec onward = through(s, ray.d);
  next.d = normalise(select(is_diffuse, lambert, select(is_mirror, select(s.fuzz > zero, spread, mirror), onward)));
  next.from = select(is_diffuse | is_mirror, s.same_side, s.other_side);
  // A fuzzy mirror's ray that would go into the surface is lost.
  goes = goes & !(is_mirror & (s.fuzz > zero) & !(dot(spread, s.n) > zero));
  // Emitters have been asked for their light on a diffuse surface; the ray must not count them again, nor behind
  // panes that let it straight through, since the shadow rays have passed these too.
  const Int kept = select(is_mirror | (s.ior != one), Int(0), ray.bounces & Int(ASKED_EMITTERS));
  next.bounces = (bounce + Int(1)) | select(is_diffuse, Int(ASKED_EMITTERS), kept);

  // Russian roulette: dim rays end, those that survive carry the light of the others.
  const Real survives = least(brightest(next.weight), one);
  const Mask plays = bounce > Int(2);
  goes = goes & ((!plays) | (draw(seed, first + Int(3)) < survives));
  const Real more = reciprocal(most(survives, Real(1.0e-20f)));
  next.weight = select(plays, next.weight * more, next.weight);
  return next;
}

// Light that one emitter, drawn by lot, sends straight to a diffuse surface: as a shadow ray and its colour.
POLYFLY_FN Lit ask_emitter(const Scene& scene, const Ray& ray, const Surface& s, Int seed, Mask met) {
  const Int first = ((ray.bounces & Int(BOUNCE_MASK)) + Int(1)) * Int(DRAWS) + Int(4);
  const Real zero = Real(0.0f), one = Real(1.0f);
  const int n = scene.emitters.len;
  const float* data = (const float*)scene.emitters.data;
  const int words = 12 * n;
  const Real place = draw(seed, first) * Real((float)n);
  const Int whole = to_int(place), drawn = select(whole < Int(n), whole, Int(n - 1));
  const Mask keeps = place - to_real(drawn) < read(data, words, drawn * Int(12) + Int(7), met);
  const Int at = select(keeps, drawn, read((const int*)data, words, drawn * Int(12) + Int(8), met)) * Int(12);
  const Vec centre = read_vec(data, words, at, met), colour = read_vec(data, words, at + Int(4), met);
  const Real radius = read(data, words, at + Int(3), met);
  const Vec to = centre - s.p;
  const Real square = most(dot(to, to), Real(1.0e-12f)), distance = root(square);
  const Vec axis = to * reciprocal(distance);
  // A ball is asked in a direction of the cone that it fills; a lamp at its point.
  const Mask wide = radius > zero, outside = square > radius * radius;
  const Mask flat = radius < zero;
  const Real sine2 = least(radius * radius * reciprocal(square), one);
  const Real cap = sine2 * reciprocal(one + root(most(one - sine2, Real(1.0e-20f))));  // 1 - cosine of the cone's angle
  Real sine, cosine;
  turn(draw(seed, first + Int(1)), sine, cosine);
  const Real down = cap * draw(seed, first + Int(2)), z = one - down;
  const Real r = root(most(down * (one + z), Real(1.0e-20f)));
  // A basis around the axis (Duff et al., "Building an orthonormal basis, revisited", 2017).
  const Real sign = select(axis.z < zero, -one, one);
  const Real a = -reciprocal(sign + axis.z), b = axis.x * axis.y * a;
  const Vec right = vec(mad(sign * axis.x * axis.x, a, one), sign * b, -(sign * axis.x));
  const Vec down_axis = vec(b, mad(axis.y * axis.y, a, sign), -axis.y);
  const Vec cone = along(along(axis * z, right, r * cosine), down_axis, r * sine);
  const Real ahead = dot(to, cone);
  const Vec off = along(to, cone, -ahead);
  const Real reach = ahead - root(most(mad(radius, radius, -dot(off, off)), Real(1.0e-20f)));
  Lit lit;
  lit.towards = select(wide, cone * (reach * Real(0.9999f)), to * Real(0.9999f));
  Vec way = select(wide, cone, axis);
  // Of a ball: radiance times solid angle over pi. Of a lamp: its strength over the squared distance.
  Real shape = select(wide, cap + cap, reciprocal(square));
  const Mask flat_ones = met & flat;
  if (any(flat_ones)) {
    // Of a triangle, any point alike: radiance times area and cosine over pi and the squared distance.
    const float* corners = (const float*)scene.triangles.data;
    const int most_words = 12 * scene.triangles.len;
    const Int which = read((const int*)data, words, at + Int(10), flat_ones) * Int(12);
    const Vec ab = read_vec(corners, most_words, which + Int(4), flat_ones), ac = read_vec(corners, most_words, which + Int(8), flat_ones);
    const Real u = draw(seed, first + Int(1)), v = draw(seed, first + Int(2));
    const Mask folded = u + v > one;
    const Vec point = along(along(centre, ab, select(folded, one - u, u)), ac, select(folded, one - v, v));
    const Vec reach_to = point - s.p, twice_area = cross(ab, ac);
    const Real far2 = most(dot(reach_to, reach_to), Real(1.0e-12f)), nearness = reciprocal(root(far2));
    lit.towards = select(flat, reach_to * Real(0.9999f), lit.towards);
    way = select(flat, reach_to * nearness, way);
    shape = select(flat, magnitude(dot(twice_area, way)) * Real(0.15915494f) * reciprocal(far2), shape);
  }
  const Real lambert = dot(s.n, way);
  const Real strength = shape * lambert * read(data, words, at + Int(9), met);
  lit.colour = ray.weight * s.albedo * colour * strength;
  lit.some = met & (lambert > zero) & (outside | !wide) & (brightest(lit.colour) > zero);
  return lit;
}

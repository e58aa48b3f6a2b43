// Truncated cones with flat ends, and cylinders with flat or round ones, which are capsules.
#pragma once
#include "sphere.cuh"

// 1 / x, for any x of a cone's unit of length.
POLYFLY_FN Real cone_inverse(Real x) {
  const Real tiny = from_bits((bits(x) & Int((int)0x80000000u)) | Int(0x1e3ce508));  // 1e-20
  return reciprocal(select(abs(x) < Real(1.0e-20f), tiny, x));
}

// Where a line is inside of a cone. Lengths are in units of the cone's size, and the largest component of d is about 1. The
// line's point that is nearest to the middle is its origin, so that nothing large cancels.
POLYFLY_FN Interval cone_interval(const Cone& cone, Vec o, Vec d) {
  const Real zero = Real(0.0f), far = Real(FAR);
  const Vec axis = vec(cone.axis), from = (o - vec(cone.centre)) * Real(cone.inverse_size);
  const Real inverse_dd = reciprocal(squared_length(d)), ahead = -dot(from, d) * inverse_dd;
  const Vec nearest = fma(d, ahead, from);
  const Mask near = dot(nearest, nearest) < Real(1.05f);
  const Vec q = select(near, nearest, vec(zero, zero, zero));
  const Real along = dot(axis, q), rise = dot(axis, d);
  const Vec across = fma(axis, -along, q), drift = fma(axis, -rise, d);
  // Between the planes of the ends.
  const Real per_rise = cone_inverse(rise), middle = -along * per_rise, half = Real(cone.half) * abs(per_rise);
  // On the sides: a t^2 + 2 b t + c = 0. Of the two roots none is a difference of large numbers.
  const Real radius = fma(Real(cone.slope), along, Real(cone.radius)), widens = Real(cone.slope) * rise;
  const Real a0 = fma(-widens, widens, dot(drift, drift)), b = fma(-radius, widens, dot(across, drift));
  const Real a = select(abs(a0) < Real(1.0e-20f), Real(1.0e-20f), a0), c = fma(-radius, radius, dot(across, across));
  const Real square = fma(b, b, -(a * c));
  const Real root = sqrt_or_zero(square);
  const Real sum = -(b + from_bits(bits(root) | (bits(b) & Int((int)0x80000000u))));
  const Real one = sum * cone_inverse(a), other = c * cone_inverse(sum);
  const Real low = min(one, other), high = max(one, other);
  // A line that is less steep than the sides is inside between the roots, if these are not those of the cone beyond its tip; one that is
  // steeper, on that side of them where the cone becomes wider.
  const Mask level = a > zero, wider = widens > zero;
  const Mask met = (!level) | ((square > zero) & (fma(widens, (low + high) * Real(0.5f), radius) > zero));
  const Real enter = max(select(level, low, select(wider, high, -far)), middle - half);
  const Real leave = min(select(level, high, select(wider, far, low)), middle + half);
  Mask crossed = near & met & (enter < leave);
  Interval inside = {select(crossed, enter, far), select(crossed, leave, -far)};
  if (cone.round) {
    // The whole is convex, so it ends where its parts do.
    const Interval top = sphere_interval(Real(cone.radius), fma(axis, -Real(cone.half), q), d, inverse_dd);
    const Interval bottom = sphere_interval(Real(cone.radius), fma(axis, Real(cone.half), q), d, inverse_dd);
    inside.enter = min(inside.enter, min(top.enter, bottom.enter));
    inside.leave = max(inside.leave, max(top.leave, bottom.leave));
    crossed = near & (inside.enter < inside.leave);
  }
  const Real size = Real(cone.size);
  const Interval all = {select(crossed, (inside.enter + ahead) * size, far), select(crossed, (inside.leave + ahead) * size, -far)};
  return all;
}

template <class S>
POLYFLY_FN void intersect_cone(const S& scene, int i, const Ray& ray, const Interval& kept, Mask active, Hit& hit) {
  const Mask in = ray.last_surface == Int(origin_inside(SHAPE_CONE, i));
  const Mask tested = active & (ray.last_surface != Int(origin_outside(SHAPE_CONE, i)));
  if (!any(tested)) return;
  const Cone& cone = scene.cones.at(i);
  Interval c = cone_interval(cone, ray.o, ray.d);
  cut_open(scene, cone.material_index, kept, c);
  hit_round(scene, surface_number(SHAPE_CONE, i), c, in, tested, hit);
}

// What remains of light behind a cone. (Out of line and by value: in line it makes ptxas spill more, also for scenes without cones.)
template <class S>
POLYFLY_NOINLINE Vec behind_cone(const S& scene, int i, Segment line, Interval kept, Mask active, Vec remaining) {
  const Mask inside = line.last_surface == Int(origin_inside(SHAPE_CONE, i));
  const Mask tested = active & (line.last_surface != Int(origin_outside(SHAPE_CONE, i)));
  if (!any(tested)) return remaining;
  const Cone& cone = scene.cones.at(i);
  Interval c = cone_interval(cone, line.o, line.d * line.inverse_size);
  c.enter = c.enter * line.inverse_size;
  c.leave = c.leave * line.inverse_size;
  cut_open(scene, cone.material_index, kept, c);
  transmit_round(scene, cone.material_index, line, c, inside, tested, active, remaining);
  return remaining;
}
template <class S>
POLYFLY_FN void transmittance_cone(const S& scene, int i, const Segment& line, const Interval& kept, Mask& active, Vec& remaining) {
  remaining = behind_cone(scene, i, line, kept, active, remaining);
  active = active & (max_component(remaining) > Real(0.0f));
}

// The interaction with cones, whose numbers differ between lanes. The surface is the nearer of an end and the side.
template <class S>
POLYFLY_FN void interaction_cone(const S& scene, Int number, const Ray& ray, const Hit&, Mask m, Interaction& x) {
  const float* data = (const float*)scene.cones.data;
  const int words = WORDS(Cone) * scene.cones.len;
  const Int at = select(m, number, Int(0)) * Int(WORDS(Cone));
  const Vec up = vec(Real(0.0f), Real(0.0f), Real(1.0f));
  const Vec axis = select(m, read_vec(data, words, at + Int(WORD(Cone, axis)), m), up);
  const Vec centre = read_vec(data, words, at + Int(WORD(Cone, centre)), m);
  const Real size = read(data, words, at + Int(WORD(Cone, size)), m);
  const Real half = read(data, words, at + Int(WORD(Cone, half)), m) * size;
  const Real slope = read(data, words, at + Int(WORD(Cone, slope)), m), one = Real(1.0f), zero = Real(0.0f);
  const Mask round = m & (read((const int*)data, words, at + Int(WORD(Cone, round)), m) != Int(0));
  const Vec from = select(m, x.p - centre, x.n);
  const Real along = dot(axis, from), foot = max(min(along, half), -half);
  const Vec across = fma(axis, -along, from), away = fma(axis, -foot, from);
  const Real radius = max(fma(slope, along, read(data, words, at + Int(WORD(Cone, radius)), m) * size), zero);
  const Vec sideways = normalise_or(select(round, away, across), -ray.d);
  const Real steep = reciprocal(sqrt(within_domain(fma(slope, slope, one))));
  const Mask end = m & !round & (half - abs(along) < (radius - length_or_zero(across)) * steep);
  const Real side = select(along < zero, -one, one);
  const Vec out = normalise(select(end, axis * side, select(round, sideways, fma(axis, -slope, sideways))));
  x.n = select(m, select(dot(out, ray.d) < zero, out, -out), x.n);
  const Vec on_side = fma(sideways, radius, fma(axis, select(round, foot, along), centre));
  x.p = select(m, select(end, fma(axis, fma(side, half, -along), x.p), on_side), x.p);
  x.material = select(m, read((const int*)data, words, at + Int(WORD(Cone, material_index)), m), x.material);
}

// Camera rays.
#pragma once
#include "../shapes/ray.cuh"
#include "sampler.cuh"

// The first ray of a path.
template <class S>
POLYFLY_FN Ray first_ray(const S& scene, const FrameParams& frame, Vec o, Vec d, Real weight, Int pixel) {
  Ray ray;
  ray.o = o;
  ray.d = normalise(d);
  ray.weight = vec(weight, weight, weight);
  ray.cone_width = Real(0.0f);
  if (uses<FEATURE_PROJECTION>(scene)) ray.cone_width = Real(frame.cone_width);
  ray.last_surface = Int(NO_ORIGIN);
  ray.bounces = Int(0);
  ray.pixel = pixel;
  return ray;
}

// The lanes whose rays see the scene: none does outside of a fisheye's circle and beyond the poles of a panorama.
template <class S>
POLYFLY_FN Mask in_view(const S& scene, const Ray& ray, Mask lanes) {
  if (!uses<FEATURE_PROJECTION>(scene)) return lanes;
  return lanes & (ray.weight.x > Real(0.0f));
}

// A uniformly distributed point of the aperture, right and down.
POLYFLY_FN Pair aperture_point(const FrameParams& frame, Pair u2) {
  const bool is_round = !(frame.blades > 0.0f);
  // A polygon: the triangle that the point is in, by its side, and the position along that side.
  const Real place = u2.u * Real(frame.blades), side = to_real(to_int(place));
  const Real turned = fma(side, Real(frame.per_blade), Real(frame.blade_turn));
  Real sine, cosine;
  sincos_2pi(is_round ? u2.u : select(turned < Real(1.0f), turned, turned - Real(1.0f)), sine, cosine);
  const Real r = sqrt(max(u2.v, Real(1.0e-20f))) * Real(frame.lens);
  Pair p = {r * cosine, r * sine};
  if (!is_round) {
    const Real out = Real(frame.blade[0]), along = fma(place - side, Real(2.0f), Real(-1.0f)) * Real(frame.blade[1]);
    p.u = r * fma(cosine, out, -(sine * along));
    p.v = r * fma(sine, out, cosine * along);
  }
  p.u = p.u * Real(frame.squeeze);
  return p;
}

// A thin lens: moves the ray's origin on the aperture, and turns the ray so that the point in focus stays.
POLYFLY_FN void pass_lens(const FrameParams& frame, SamplePoint point, Vec& o, Vec& d) {
  if (!(frame.lens > 0.0f)) return;
  const Pair p = aperture_point(frame, get_2d(point, Int(DIM_LENS)));
  const Vec aside = fma(vec(frame.down), p.v, vec(frame.right) * p.u);
  o = o + aside;
  d = fma(aside, Real(-frame.focus), d);
  // A wide lens with a near focus makes d very long.
  d = d * inverse_power_of_two(largest(d));
}

// The origin, the direction, of any length, and the weight of a ray.
struct Projected {
  Vec o, d;
  Real weight;
};
// The ray through an image point of pixel (px, py), in pixels right and down from the middle, of any projection and either eye.
template <class S>
POLYFLY_NOINLINE Projected projected(const S& scene, const FrameParams& frame, Int px, Int py, Real x, Real y) {
  Vec o = vec(frame.eye), d;
  // Samples count for the eye of their pixel, also where a filter takes them across the border between the halves.
  Mask left = first_lanes(POLYFLY_LANES);
  Real row = to_real(py) + Real(0.5f - 0.5f * (float)scene.constants.height);
  if (frame.stereo == STEREO_BESIDE) {
    left = px < Int(scene.constants.width >> 1);
    x = x + select(left, Real(0.25f * (float)scene.constants.width), Real(-0.25f * (float)scene.constants.width));
  }
  if (frame.stereo == STEREO_BELOW) {
    left = py < Int(scene.constants.height >> 1);
    const Real aside = select(left, Real(0.25f * (float)scene.constants.height), Real(-0.25f * (float)scene.constants.height));
    y = y + aside;
    row = row + aside;
  }
  const Vec forward = vec(frame.forward), right = vec(frame.right), down = vec(frame.down);
  // From the left eye to the right one.
  Vec aside = right;
  Real weight = Real(1.0f);
  if (frame.projection == PROJECTION_ORTHOGRAPHIC) {
    o = fma(down, y, fma(right, x, o));
    d = forward;
  } else if (frame.projection == PROJECTION_PANORAMA) {
    Real sine, cosine, up_sine, up_cosine;
    sincos_turns(x * Real(frame.per_pixel), sine, cosine);
    sincos_turns(y * Real(frame.per_pixel), up_sine, up_cosine);
    d = fma(down, up_sine, fma(right, sine, forward * cosine) * up_cosine);
    // No pixels are beyond the poles. A filter's samples beyond them see the other side.
    weight = select(abs(row * Real(frame.per_pixel)) > Real(0.25f), Real(0.0f), weight);
    // The eyes turn with the direction.
    aside = fma(right, cosine, -(forward * sine));
  } else if (frame.projection == PROJECTION_PERSPECTIVE) {
    d = fma(down, y, fma(right, x, forward));
  } else {
    const Real rr = fma(x, x, y * y), r = sqrt(max(rr, Real(1.0e-20f)));
    Real sine, cosine;
    if (frame.projection == PROJECTION_EQUIDISTANT) {
      sincos_turns(min(r * Real(frame.per_pixel), Real(0.5f)), sine, cosine);
    } else {
      const Real half = min(r * Real(frame.per_pixel), Real(1.0f));
      sine = Real(2.0f) * half * sqrt(max(fma(-half, half, Real(1.0f)), Real(1.0e-20f)));
      cosine = fma(Real(-2.0f) * half, half, Real(1.0f));
    }
    d = fma(fma(down, y, right * x), sine * reciprocal(r), forward * cosine);
    weight = select(r > Real(frame.rim), Real(0.0f), weight);
  }
  if (frame.stereo != STEREO_NONE) {
    const Real way = select(left, Real(-frame.half_eyes), Real(frame.half_eyes));
    o = fma(aside, way, o);
    d = fma(aside, -(way * Real(frame.toe)), d);
    // A narrow view with a near convergence makes d very long.
    d = d * inverse_power_of_two(largest(d));
  }
  return {o, d, weight};
}
// The same; scenes of one perspective camera leave out all others.
template <class S>
POLYFLY_FN Projected project(const S& scene, const FrameParams& frame, Int px, Int py, Real x, Real y) {
  if (uses<FEATURE_PROJECTION>(scene)) return projected(scene, frame, px, py, x, y);
  return {vec(frame.eye), fma(vec(frame.down), y, fma(vec(frame.right), x, vec(frame.forward))), Real(1.0f)};
}

// The position of a sample along an axis of its pixel, 0 to 1, by the inverse CDF of the filter at u.
template <class S>
POLYFLY_FN Real filtered(const S& scene, Real u) {
  if constexpr (!has_features<S>(FEATURE_FILTER)) {
    return u;
  } else {
    if (!uses<FEATURE_FILTER>(scene) || scene.filter.len == 0) return u;
    const Real place = u * Real((float)FILTER_LAST);
    const Int at = to_index(place, Real((float)(FILTER_LAST - 1)));
    const Mask all = first_lanes(POLYFLY_LANES);
    const Two<float> ends = read_two(scene.filter.data, scene.filter.len, at, all);
    return fma(ends.second - ends.first, place - to_real(at), ends.first) + Real(0.5f);
  }
}

// The ray of sample `sample` of pixel (px, py), jittered by the sampler.
template <class S>
POLYFLY_FN Ray jittered_ray(const S& scene, const FrameParams& frame, Int px, Int py, Int sample, Int pixel) {
  const SamplePoint point = sample_point(scene.constants, frame, px, py, sample);
  const Pair u2 = get_2d(point, Int(DIM_PIXEL));
  const Real x = to_real(px) + filtered(scene, u2.u) - Real(0.5f * (float)scene.constants.width);
  const Real y = to_real(py) + filtered(scene, u2.v) - Real(0.5f * (float)scene.constants.height);
  Projected p = project(scene, frame, px, py, x, y);
  if (uses<FEATURE_LENS>(scene)) pass_lens(frame, point, p.o, p.d);
  return first_ray(scene, frame, p.o, p.d, p.weight, pixel);
}

// Ray::bounces of an adaptive sample of Whitted's integrator: FrameParams has the ray cone of a pixel that takes all
// samples; cones of the first rounds, whose samples are farther apart, are wider, rounded down to a power of two.
POLYFLY_FN Int spread_of_sample(const Constants& constants, Int sample) {
  const Int samples_bits = (bits(to_real(sample | Int(1))) >> 23) - Int(127 - 1);
  return ((Int(constants.sample_bits) - samples_bits) >> 1) << SPREAD_SHIFT;
}

// The ray of a sample on a regular grid; jittered with adaptive sampling, which has no grid.
template <class S>
POLYFLY_FN Ray stratified_ray(const S& scene, const FrameParams& frame, Int px, Int py, Int sample, Int pixel) {
  if (uses<FEATURE_ADAPTIVE>(scene) && scene.constants.samples == 0) {
    Ray ray = jittered_ray(scene, frame, px, py, sample, pixel);
    ray.bounces = spread_of_sample(scene.constants, sample);
    if constexpr (has_features<S>(FEATURE_PROJECTION)) ray.cone_width = ray.cone_width * cone_growth(ray);
    return ray;
  }
  const Real step = Real(scene.constants.sample_step), half = Real(0.5f);
  const Int row = to_int((to_real(sample) + half) * step);
  const Int column = sample - row * Int(scene.constants.samples);
  const Real x =
      to_real(px) + filtered(scene, (to_real(column) + half) * step) - Real(0.5f * (float)scene.constants.width);
  const Real y =
      to_real(py) + filtered(scene, (to_real(row) + half) * step) - Real(0.5f * (float)scene.constants.height);
  Projected p = project(scene, frame, px, py, x, y);
  if (uses<FEATURE_LENS>(scene)) pass_lens(frame, sample_point(scene.constants, frame, px, py, sample), p.o, p.d);
  return first_ray(scene, frame, p.o, p.d, p.weight, pixel);
}

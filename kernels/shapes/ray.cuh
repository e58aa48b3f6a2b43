// Rays, hits, and intervals of a line inside a shape.
#pragma once
#include "../math.cuh"
#include "../types.cuh"

struct Ray {
  Vec o, d;          // d has length 1
  Vec weight;        // throughput
  Real cone_width;   // of the path so far: how wide its cone is here, over the camera's angle between samples
  Int last_surface;  // the surface just left
  Int bounces;
  Int pixel;  // within the tile
};

// The spread of the ray's cone, over the camera's angle between samples: curved mirrors increase it.
POLYFLY_FN Real cone_growth(const Ray& ray) {
  const Int spread = (ray.bounces & Int(SPREAD_MASK)) >> SPREAD_SHIFT;
  return from_bits((spread + Int(127)) << 23);
}
// The width of the cone at distance t.
POLYFLY_FN Real cone_at(const Ray& ray, Real t) { return fma(t, cone_growth(ray), ray.cone_width); }
// Ray::bounces after a curved mirror has increased the spread of the cone in one direction by this much, over the
// camera's angle: the mean of both directions counts. 0 leaves it unchanged.
POLYFLY_FN Int widened(Int bounces, Real widening) {
  const Int spread = (bounces & Int(SPREAD_MASK)) >> SPREAD_SHIFT;
  const Real before = from_bits((spread + Int(127)) << 23);
  // The geometric mean, rounded to a power of two: by the exponent of twice its square.
  const Int power = ((bits(before * (before + widening) * Real(2.0f)) >> 23) - Int(127)) >> 1;
  const Int kept = select(power > Int(SPREAD_MAX), Int(SPREAD_MAX), power);
  return (bounces & Int(~SPREAD_MASK)) | (kept << SPREAD_SHIFT);
}

// The part of a line inside a convex shape: the distances of entry and exit. The line misses the shape unless enter <
// leave.
struct Interval {
  Real enter, leave;
};

struct Hit {
  Real t;
  Int surface;   // numbered as types.def describes
  Mask leaving;  // met from inside
  Real u, v;     // of the floor
};

// Whether a hit at t is the nearest so far; of equal ones the one with the lowest number wins.
template <class S>
POLYFLY_FN Mask is_nearer(const S&, const Hit& hit, Real t, Int number) {
  if constexpr (SceneTraits<S>::small) {
    (void)number;  // asked in their order
    return t < hit.t;
  } else {
    return (t < hit.t) | ((t == hit.t) & (number < hit.surface));
  }
}

// The number of the shape of a kind, and Ray::last_surface outside and inside of it.
POLYFLY_FN int surface_number(int kind, int i) { return kind << SURFACE_KIND_SHIFT | i; }
POLYFLY_FN int origin_outside(int kind, int i) { return surface_number(kind, i) << ORIGIN_SHIFT; }
POLYFLY_FN int origin_inside(int kind, int i) { return origin_outside(kind, i) | INSIDE; }
POLYFLY_FN Int surface_kind(Int surface) { return surface >> SURFACE_KIND_SHIFT; }
POLYFLY_FN Int surface_index(Int surface) { return surface & Int(SURFACE_INDEX_MASK); }
POLYFLY_FN Mask is_isolated(Int last_surface) { return (last_surface & Int(ISOLATED)) != Int(0); }

// The segment of a shadow ray, o + t d, 0 < t < 1, and the surface that it starts on.
struct Segment {
  Vec o, d;
  Real dd, inverse_dd;  // d.d, and its inverse
  Real inverse_size;    // a power of two; times d, its largest component is from 1 to 2
  Int last_surface;
};

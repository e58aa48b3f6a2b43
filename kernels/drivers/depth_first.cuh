// The depth-first driver: one thread per sample, with a small stack of pending rays. GPUs use it, and the one-lane set
// on a CPU.
//
// Each ray carries its throughput, so a ray adds its radiance to the pixel and no ray waits for its children
// (docs/rays.md). Sums are integers, so that this order and the wavefront driver's give the same frame.
#pragma once
#include "../adaptive.cuh"
#include "../integrators/features.cuh"

#if POLYFLY_LANES == 1

struct RadianceSum {
  i64 r, g, b;
  POLYFLY_METHOD void add_light(Vec light) {
    const SumTerms terms = sum_terms(light);
    r += terms.r;
    g += terms.g;
    b += terms.b;
  }
};

// The counters of a thread.
struct RayCounts {
  u32 rays, shadow_rays;
};

// A ray on the stack.
struct PendingRay {
  Vec o, d, weight;
  Real cone_width;
  Int last_surface, bounces;
};

// A sample of a ray tree, whose point is computed again each time: few of its rays need it, and it would take registers.
struct TreeSample {
  const FrameParams& frame;
  const int x, y, number;
};
template <class S>
POLYFLY_FN SamplePoint point_of(const S& scene, const TreeSample& sample) {
  return sample_point(scene.constants, sample.frame, sample.x, sample.y, sample.number);
}
template <class S>
POLYFLY_FN SamplePoint point_of(const S&, const SamplePoint& point) {
  return point;
}

// The queue of integrator.cuh for one sample. A bounce leaves at most one ray pending, so `depth` entries suffice.
template <class State, class S, class Sum = RadianceSum, class Point = SamplePoint>
struct DepthFirst {
  const S& scene;
  PendingRay* stack;
  Sum& sum;
  RayCounts& counts;
  const Point point;  // of the sample
  int pending;
  Ray& current;  // the ray being traced; the last step of a bounce replaces it by a ray that follows it
  State& state;  // the current ray's

  POLYFLY_METHOD void add_radiance(const Ray&, Vec light, bool) {
    sum.add_light(light);
  }
  POLYFLY_METHOD void shadow_ray(const Ray& ray, const Surface<S>& s, const LightSample& sample) {
    if (!sample.valid) return;
    if (uses<FEATURE_NO_SHADOWS>(scene) && !scene.constants.shadows) {
      add_radiance(ray, sample.colour, true);
      return;
    }
    ++counts.shadow_rays;
    add_radiance(ray, sample.colour * transmittance(scene, s.p, sample.towards, s.reflect_origin, true), true);
  }
  POLYFLY_METHOD SamplePoint sampler(const Ray&) const { return point_of(scene, point); }
  POLYFLY_METHOD bool spawn(const Ray& ray, const State& next, bool m) {
    current = ray;
    state = next;
    return m;
  }
  // The transmitted ray is next; the reflected one goes on the stack.
  POLYFLY_METHOD bool spawn(const SecondaryRays& rays) {
    if (rays.transmits) {
      if (rays.reflects) {
        const Ray& r = rays.reflected;
        POLYFLY_CHECK(pending < scene.constants.depth);
        const PendingRay p = {r.o, r.d, r.weight, r.cone_width, r.last_surface, r.bounces};
        stack[pending++] = p;
      }
      current = rays.transmitted;
      return true;
    }
    current = rays.reflected;
    return rays.reflects;
  }
  // Takes a pending ray as the current one; false if there is none.
  POLYFLY_METHOD bool dequeue() {
    if (pending == 0) return false;
    const PendingRay& p = stack[--pending];
    current.o = p.o;
    current.d = p.d;
    current.weight = p.weight;
    current.cone_width = p.cone_width;
    current.last_surface = p.last_surface;
    current.bounces = p.bounces;
    return true;
  }
};

// Traces one sample of pixel (x, y).
template <class Integrator, class S>
POLYFLY_FN void trace_sample(const S& scene, const FrameParams& frame, int x, int y, int sample, PendingRay* stack,
                             RadianceSum& sum, RayCounts& counts) {
  Ray ray = Integrator::camera_ray(scene, frame, x, y, sample, 0);
  if (!in_view(scene, ray, true)) return;
  typename Integrator::State state = {};
  const TreeSample point = {frame, x, y, sample};
  DepthFirst<typename Integrator::State, S, RadianceSum, TreeSample> queue = {scene, stack, sum, counts, point, 0, ray, state};
  for (;;) {
    ++counts.rays;
    const Hit hit = closest_hit(scene, ray, true);
    if (Integrator::shade(scene, frame, ray, state, hit, true, queue)) continue;
    if (!queue.dequeue()) return;
  }
}

// Stores a pixel, as a sum for the host or tone mapped.
template <class S>
POLYFLY_FN void store_pixel(const S& scene, const FilmBuffers& film, bool as_sums, float scale, int x, int y,
                            const RadianceSum& sum) {
  if (as_sums)
    store_sums(scene.constants, film, x, y, sum.r, sum.g, sum.b);
  else
    film.rgba[film_index(scene.constants, film, x, y)] = (u32)tone_map_rgb(
        scene, Real((float)sum.r * scale), Real((float)sum.g * scale), Real((float)sum.b * scale), true);
}

// The number of tiles of 8 x 8 of a launch's pixels beside each other.
POLYFLY_FN int tiles_across(const Constants& constants, const Launch& launch) {
  const int pixels = (constants.width + (1 << launch.shift) - 1) >> launch.shift;
  return (pixels + 7) >> 3;
}
// Pixel q of a launch in a GPU's order: by tiles of 8 x 8; within a tile, 8 consecutive pixels are 4 x 2 and 32 are 8 x 4.
POLYFLY_FN void pixel_at(const Launch& launch, int q, int tiles_across, int& x, int& y) {
  // A floating-point division is cheaper than an integer one, and off by at most one.
  const int tile = q >> 6;
  int row = (int)(((float)tile + 0.5f) * reciprocal((float)tiles_across)), column = tile - row * tiles_across;
  if (column < 0) {
    --row;
    column += tiles_across;
  }
  if (column >= tiles_across) {
    ++row;
    column -= tiles_across;
  }
  x = ((column * 8 + ((q & 3) | ((q >> 1) & 4))) << launch.shift) + launch.column;
  y = ((row * 8 + (((q >> 2) & 1) | ((q >> 3) & 6))) << launch.shift) + launch.row;
}

// Adaptive sampling of one pixel: the pilot and the refinement.
template <class S>
POLYFLY_FN Codes sum_codes(const S& scene, const Launch& launch, const RadianceSum& sum, int samples) {
  const float scale = launch.gain * mean_scale(samples);
  return codes_of(scene, Real((float)sum.r * scale), Real((float)sum.g * scale), Real((float)sum.b * scale), true);
}
// part: the sum of the first half of the samples; whole: of all of them.
template <class S>
POLYFLY_FN void store_pilot(const S& scene, const Launch& launch, const FilmBuffers& film, int x, int y,
                            const RadianceSum& part, const RadianceSum& whole) {
  const Codes codes = sum_codes(scene, launch, whole, launch.min_samples);
  const int half = launch.min_samples / 2, to = pilot_index(scene.constants, film, x, y);
  film.pilot[to] = (u32)pilot_of(half ? sum_codes(scene, launch, part, half) : codes, codes);
  i64* sums = film.pilot_sums + 3 * to;
  sums[0] = whole.r;
  sums[1] = whole.g;
  sums[2] = whole.b;
}
POLYFLY_FN RadianceSum pilot_sum(const Constants& constants, const FilmBuffers& film, int x, int y) {
  const i64* from = film.pilot_sums + 3 * pilot_index(constants, film, x, y);
  const RadianceSum sum = {from[0], from[1], from[2]};
  return sum;
}
template <class Integrator>
POLYFLY_FN int pilot_error(const Constants& constants, const FilmBuffers& film, int x, int y) {
  Neighbourhood around;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) around.at[j][i] = pilot_at(constants, film, x + i - 2, y + j - 2);
  return pilot_error<Integrator>(around);
}
template <class S>
POLYFLY_FN void store_adaptive(const S& scene, const Launch& launch, const FilmBuffers& film, bool as_sums, int x, int y,
                               const RadianceSum& sum, int taken) {
  if (as_sums) {
    film.taken[film_index(scene.constants, film, x, y)] = (u32)taken;
    store_sums(scene.constants, film, x, y, sum.r, sum.g, sum.b);
  } else {
    film.rgba[film_index(scene.constants, film, x, y)] = (u32)pack_codes(sum_codes(scene, launch, sum, taken));
  }
}

#ifndef POLYFLY_GPU

// A GPU's work on a CPU, pixel by pixel, for comparison on machines without a GPU.
template <class Integrator, class S>
struct OnePixel {
  const S& scene;
  const FrameParams& frame;
  const Launch& launch;
  const FilmBuffers& film;
  PendingRay* stack;
  int x, y;
  RadianceSum sum;
  RayCounts counts;

  void trace(int first, int samples, int stride) {
    for (int i = 0; i < samples; ++i)
      trace_sample<Integrator>(scene, frame, x, y, first + i * stride, stack, sum, counts);
  }
  void store(bool adaptive, int taken) const {
    if (adaptive)
      store_adaptive(scene, launch, film, film.sums, x, y, sum, taken);
    else
      store_pixel(scene, film, film.sums, mean_scale(taken), x, y, sum);
  }
  void pilot() {
    const int half = launch.min_samples / 2;
    trace(0, half, 1);
    const RadianceSum part = sum;
    trace(half, launch.min_samples - half, 1);
    store_pilot(scene, launch, film, x, y, part, sum);
  }
  void refine() {
    sum = pilot_sum(scene.constants, film, x, y);
    int taken = launch.min_samples;
    ErrorLimit limit = {(float)launch.noise};
    int error = pilot_error<Integrator>(scene.constants, film, x, y);
    while (!limit.allows(error) && taken < launch.samples_per_pixel) {
      const int next = next_round(launch, taken);
      const Codes before = sum_codes(scene, launch, sum, taken);
      trace(taken, next, 1);
      taken += next;
      limit.rise();
      const Int apart = max_difference(before, sum_codes(scene, launch, sum, taken));
      error = (int)next_error<Integrator>(apart, Int(error));
    }
    store(true, taken);
  }
};

template <class Integrator, class S>
POLYFLY_FN void trace_tile(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film,
                           int left, int top, void* scratch, Counts& counts) {
  const Constants& constants = scene.constants;
  const int side = TILE << launch.shift, step = 1 << launch.shift;
  for (int py = top + launch.row; py < top + side && py < constants.height; py += step) {
    for (int px = left + launch.column; px < left + side && px < constants.width; px += step) {
      OnePixel<Integrator, S> pixel = {scene, frame, launch, film, (PendingRay*)scratch, px, py, {0, 0, 0}, {0, 0}};
      if (launch.min_samples == 0) {
        pixel.trace(launch.first_sample, launch.samples_per_pixel, launch.stride);
        pixel.store(false, launch.samples_per_pixel);
      } else if (is_pilot(film)) {
        pixel.pilot();
      } else {
        pixel.refine();
      }
      counts.rays += pixel.counts.rays;
      counts.shadow_rays += pixel.counts.shadow_rays;
    }
  }
}

#endif

POLYFLY_FN u64 scratch_bytes(int depth) { return sizeof(PendingRay) * (u64)depth; }

#endif

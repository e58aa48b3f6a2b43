// The bodies of entry points for devices whose threads know nothing of each other: a thread takes a pixel at a time, with all its samples.
// entry/gpu.cuh has the same for warps of 32.
#pragma once
#include "../drivers/depth_first.cuh"
#include "../shapes/shared.cuh"
#include "threads.cuh"

POLYFLY_FN bool stores_sums() { return has_loaded<OUTPUT_SUMS>(true); }

POLYFLY_FN void count_work(const RayCounts& mine, Counts* counts) {
  Counts& to = counts[(u32)thread_x() % COUNTERS];
  fetch_add(&to.rays, (u64)mine.rays);
  fetch_add(&to.shadow_rays, (u64)mine.shadow_rays);
  raise_to(&to.busiest, (u64)mine.rays);
}

// A thread's next pixel of first .. end, if there is one.
POLYFLY_FN bool take(int* queue, int first, int end, int& at) {
  at = first + (int)fetch_add((u32*)queue, 1u);
  return at < end;
}
template <class S>
POLYFLY_FN bool place(const S& scene, const Launch& launch, int at, int& x, int& y) {
  pixel_at(launch, at, tiles_across(scene.constants, launch), x, y);
  return x < scene.constants.width && y < scene.constants.height;
}

template <class Integrator, int DEPTH, class S>
POLYFLY_FN void trace_pixels(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first, int end,
                             int* queue, Counts* counts) {
  const float scale = mean_scale(launch.samples_per_pixel);
  PendingRay stack[DEPTH];
  RayCounts mine = {0, 0};
  for (int at, x, y; take(queue, first, end, at);) {
    if (!place(scene, launch, at, x, y)) continue;
    RadianceSum sum = {0, 0, 0};
    for (int sample = 0; sample < launch.samples_per_pixel; ++sample)
      trace_sample<Integrator>(scene, frame, x, y, launch.first_sample + sample * launch.stride, stack, sum, mine);
    store_pixel(scene, film, stores_sums(), scale, x, y, sum);
  }
  count_work(mine, counts);
}
// Paths leave no ray behind.
#ifdef TREE
constexpr bool IN_STEP = false;
#else
constexpr bool IN_STEP = true;
#endif
template <class Integrator, class S>
POLYFLY_FN void trace_paths_of_pixels(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first,
                                      int end, int* queue, Counts* counts) {
  trace_pixels<Integrator, 1>(scene, frame, launch, film, first, end, queue, counts);
}

template <class Integrator, int DEPTH, class S>
POLYFLY_FN void trace_pilots(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first, int end,
                             int* queue, Counts* counts) {
  const int half = launch.min_samples / 2;
  PendingRay stack[DEPTH];
  RayCounts mine = {0, 0};
  for (int at, x, y; take(queue, first, end, at);) {
    if (!place(scene, launch, at, x, y)) continue;
    RadianceSum part = {0, 0, 0}, whole = {0, 0, 0};
    for (int sample = 0; sample < launch.min_samples; ++sample) {
      trace_sample<Integrator>(scene, frame, x, y, sample, stack, whole, mine);
      if (sample == half - 1) part = whole;
    }
    store_pilot(scene, launch, film, x, y, part, whole);
  }
  count_work(mine, counts);
}
template <class Integrator, class S>
POLYFLY_FN void trace_pilot_paths(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first, int end,
                                  int* queue, Counts* counts) {
  trace_pilots<Integrator, 1>(scene, frame, launch, film, first, end, queue, counts);
}

// The rounds of adaptive sampling work on lists of pixels: queue[0] is the work counter, queue[1] the length of this round's list, queue[3]
// that of the next round's.
POLYFLY_FN void list_active(const FilmBuffers& film, int* queue, int x, int y, int error, const Codes& codes) {
  const ActivePixel one = {(u32)x | (u32)y << 16, error, {(int)codes.r, (int)codes.g, (int)codes.b}};
  film.next_active[fetch_add((u32*)(queue + 3), 1u)] = one;
}

template <class Integrator, class S>
POLYFLY_FN void update_active_after_pilot(const S& scene, const Launch& launch, const FilmBuffers& film, int first, int end, int* queue) {
  const ErrorLimit limit = ErrorLimit::after(launch, launch.min_samples);
  int x, y;
  for (int at = first + thread_x(); at < end; at += threads_x()) {
    if (!place(scene, launch, at, x, y)) continue;
    const int error = pilot_error<Integrator>(scene.constants, film, x, y);
    const RadianceSum sum = pilot_sum(scene.constants, film, x, y);
    if (launch.min_samples < launch.samples_per_pixel && !limit.allows(error))
      list_active(film, queue, x, y, error, sum_codes(scene, launch, sum, launch.min_samples));
    else
      store_adaptive(scene, launch, film, stores_sums(), x, y, sum, launch.min_samples);
  }
}

// A round: the listed pixels, which have taken so many samples, take more.
template <class Integrator, int DEPTH, class S>
POLYFLY_FN void trace_active(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int taken, int* queue,
                             Counts* counts) {
  const int more = next_round(launch, taken);
  PendingRay stack[DEPTH];
  RayCounts mine = {0, 0};
  for (int at; take(queue, 0, queue[1], at);) {
    const u32 pixel = film.active_pixels[at].pixel;
    const int x = (int)(pixel & 0xffffu), y = (int)(pixel >> 16);
    RadianceSum sum = pilot_sum(scene.constants, film, x, y);
    for (int sample = taken; sample < taken + more; ++sample)
      trace_sample<Integrator>(scene, frame, x, y, sample, stack, sum, mine);
    i64* sums = film.pilot_sums + 3 * pilot_index(scene.constants, film, x, y);
    sums[0] = sum.r;
    sums[1] = sum.g;
    sums[2] = sum.b;
  }
  count_work(mine, counts);
}

template <class Integrator, class S>
POLYFLY_FN void trace_active_paths(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int taken,
                                   int* queue, Counts* counts) {
  trace_active<Integrator, 1>(scene, frame, launch, film, taken, queue, counts);
}

// After a round: stores the pixels below the error limit and lists the others. taken: samples before the round.
template <class Integrator, class S>
POLYFLY_FN void update_active(const S& scene, const Launch& launch, const FilmBuffers& film, int taken, int* queue) {
  const int listed = queue[1], now = taken + next_round(launch, taken);
  const ErrorLimit limit = ErrorLimit::after(launch, now);
  for (int at = thread_x(); at < listed; at += threads_x()) {
    const ActivePixel one = film.active_pixels[at];
    const int x = (int)(one.pixel & 0xffffu), y = (int)(one.pixel >> 16);
    const RadianceSum sum = pilot_sum(scene.constants, film, x, y);
    const Codes before = {Int(one.codes[0]), Int(one.codes[1]), Int(one.codes[2])}, codes = sum_codes(scene, launch, sum, now);
    const int error = (int)next_error<Integrator>(max_difference(before, codes), Int(one.error));
    if (now < launch.samples_per_pixel && !limit.allows(error))
      list_active(film, queue, x, y, error, codes);
    else
      store_adaptive(scene, launch, film, stores_sums(), x, y, sum, now);
  }
}

template <class Integrator, class S>
POLYFLY_FN void trace_feature_pixels(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first,
                                     int end) {
  int x, y;
  for (int at = first + thread_x(); at < end; at += threads_x())
    if (place(scene, launch, at, x, y))
      trace_features<Integrator>(scene, frame, launch, x, y, true, &film.features[film_index(scene.constants, film, x, y)]);
}

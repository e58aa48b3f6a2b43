// The bodies of the GPU's entry points: one thread per sample, the samples of a pixel in adjacent lanes.
#pragma once
#include "../drivers/depth_first.cuh"

// Whether the kernels store sums of light, not finished pictures: a constant when the driver compiles them, as the scene's features are.
POLYFLY_FN bool stores_sums() { return has_loaded<OUTPUT_SUMS>(true); }

POLYFLY_FN void add(RadianceSum& to, const RadianceSum& sum) {
  to.r += sum.r;
  to.g += sum.g;
  to.b += sum.b;
}

// Sums each group of `group` consecutive lanes; the first lane of a group gets the sum.
POLYFLY_FN void group_sum(RadianceSum& sum, int place, int group) {
  for (int step = 1; step < group; step <<= 1) {
    const i64 r = __shfl_down_sync(0xffffffffu, sum.r, step), g = __shfl_down_sync(0xffffffffu, sum.g, step),
              b = __shfl_down_sync(0xffffffffu, sum.b, step);
    if (place + step < group) {
      sum.r += r;
      sum.g += g;
      sum.b += b;
    }
  }
}

POLYFLY_FN u32 warp_sum(u32 n) {
  for (int step = 16; step; step >>= 1) n += __shfl_xor_sync(0xffffffffu, n, step);
  return n;
}

POLYFLY_FN u32 warp_max(u32 n) {
  for (int step = 16; step; step >>= 1) {
    const u32 other = __shfl_xor_sync(0xffffffffu, n, step);
    n = n > other ? n : other;
  }
  return n;
}
// One atomic addition per warp; all 32 lanes must be active.
POLYFLY_FN void count_work(const RayCounts& mine, Counts* counts) {
  const u32 rays = warp_sum(mine.rays), shadow_rays = warp_sum(mine.shadow_rays), busiest = warp_max(mine.rays);
  if ((threadIdx.x & 31) == 0) {
    Counts& to = counts[blockIdx.x % COUNTERS];
    atomicAdd(&to.rays, (u64)rays);
    atomicAdd(&to.shadow_rays, (u64)shadow_rays);
    atomicMax(&to.busiest, (u64)busiest);
  }
}

constexpr int BLOCK_WARPS = BLOCK_THREADS / 32;
// Pixels that a warp takes from the queue at once.
constexpr int WARP_PIXELS = 32;
// Turns of 32 lanes after which a warp reduces and stores their sums, and the largest number of sums in shared memory.
constexpr int TURNS = 4;
constexpr int LANE_SUMS = 160;

// Warps take pixels `first` .. `end` from `queue` as they become free and trace 32 samples at a time: whole pixels if a
// pixel has at most 32 samples, else one pixel in turns. This is the fastest of the schedules that `cargo bench
// --bench balance` compares. Sums are reduced and stored for several turns at once, since that keeps few lanes busy. A single sample is stored
// as it is.
template <class Integrator, int DEPTH, class S>
POLYFLY_FN void trace_pixels(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film,
                             int first, int end, int* queue, Counts* counts) {
  __shared__ RadianceSum shared_sums[BLOCK_WARPS][LANE_SUMS];
  RadianceSum(&sums)[LANE_SUMS] = shared_sums[threadIdx.x >> 5];
  const u32 whole = 0xffffffffu;
  const int lane = threadIdx.x & 31;
  const int samples = launch.samples_per_pixel;
  const int pixels = samples < 32 ? 32 / samples : 1;  // per turn
  const int group = samples < 32 ? samples : 32;       // lanes of a pixel
  const int own = lane / group, place = lane - own * group;
  const int turns = pixels * TURNS < WARP_PIXELS ? TURNS : WARP_PIXELS / pixels;
  // Sums of adjacent pixels lie in different banks of shared memory.
  const int spacing = group | 1;
  // The number of lanes that reduce a pixel; this lane's pixel, its turn, and its index among those lanes.
  int adders = 1;
  while (2 * adders * pixels * turns <= 32) adders *= 2;
  const int added = lane / adders, part = lane - added * adders, added_turn = added / pixels;
  const int across = tiles_across(scene.constants, launch);
  const float scale = mean_scale(launch.samples_per_pixel);
  PendingRay stack[DEPTH];
  RayCounts mine = {0, 0};
  int turn = 0, begin = 0;  // begin: the first pixel of this lane's turn
  for (;;) {
    int start = 0, x, y;
    if (lane == 0) start = atomicAdd(queue, pixels);
    start = first + __shfl_sync(whole, start, 0);
    const bool more = start < end;
    if (more) {
      pixel_at(launch, start + own, across, x, y);
      const bool inside = own < pixels && start + own < end && x < scene.constants.width && y < scene.constants.height;
      RadianceSum sum = {0, 0, 0};
      for (int sample = place; inside && sample < samples; sample += group)
        trace_sample<Integrator>(scene, frame, x, y, launch.first_sample + sample * launch.stride, stack, sum, mine);
      __syncwarp();
      if (samples == 1) {
        if (inside) store_pixel(scene, film, stores_sums(), scale, x, y, sum);
        continue;
      }
      if (own < pixels) sums[(turn * pixels + own) * spacing + place] = sum;
      if (lane == turn) begin = start;
      ++turn;
    }
    if (turn == turns || !more) {
      __syncwarp();
      RadianceSum sum = {0, 0, 0};
      const bool valid = added_turn < turn;
      for (int i = part; valid && i < group; i += adders) add(sum, sums[added * spacing + i]);
      group_sum(sum, part, adders);
      const int q = __shfl_sync(whole, begin, added_turn & 31) + added - added_turn * pixels;
      pixel_at(launch, q, across, x, y);
      if (valid && part == 0 && q < end && x < scene.constants.width && y < scene.constants.height)
        store_pixel(scene, film, stores_sums(), scale, x, y, sum);
      __syncwarp();
      turn = 0;
    }
    if (!more) break;
  }
  count_work(mine, counts);
}

// A pixel's sum, to which several lanes add.
struct PixelSum {
  u64* red;
  int stride;  // from red to green
  POLYFLY_METHOD void add_light(Vec light) {
    if (!(max_component(light) > 0.0f)) return;
    const SumTerms terms = sum_terms(light);
    atomicAdd(red, (u64)terms.r);
    atomicAdd(red + stride, (u64)terms.g);
    atomicAdd(red + 2 * stride, (u64)terms.b);
  }
};

// Smallest number of idle lanes that start new paths: the camera's code is long, and busy lanes wait for it.
constexpr int MIN_IDLE = 12;

// Whether the warps of a block go through a bounce in step. They then ask for the same instructions at the same time, and a multiprocessor
// fetches them once: the code for rich scenes is larger than its cache. Nobody waits for warps that have ended.
constexpr bool IN_STEP = BLOCK_THREADS > THREADS;
POLYFLY_FN void step_together() {
  __syncwarp();
  if constexpr (IN_STEP) __syncthreads();
}

// A sample that a lane takes, and the number of the sum that it adds to.
struct PathSample {
  int x, y, number, sum;
};

// Traces a warp's samples by path tracing. Paths end after one bounce or after fifty, so a lane whose path has ended takes the next sample.
// (For Whitted's integrator that was three times slower than keeping the samples of a pixel together.)
template <class Integrator, class S, class Samples>
POLYFLY_FN void trace_paths(const S& scene, const FrameParams& frame, Samples& samples, RayCounts& counts) {
  const u32 whole = 0xffffffffu;
  const int lane = threadIdx.x & 31;
  Ray ray;
  typename Integrator::State state;
  SamplePoint point = {0, 0};
  bool busy = false;
  for (;;) {
    const u32 idle = __ballot_sync(whole, !busy);
    if (__popc(idle) >= MIN_IDLE && samples.are_left(busy ? ray.pixel : -1)) {
      PathSample sample;
      if (!busy && samples.take(__popc(idle & ((1u << lane) - 1)), sample)) {
        ray = Integrator::camera_ray(scene, frame, sample.x, sample.y, sample.number, sample.sum);
        busy = in_view(scene, ray, true);
        point = sample_point(scene.constants, frame, sample.x, sample.y, sample.number);
        state = {};
      }
      samples.next += __popc(idle);
    } else if (idle == whole) {
      return;
    }
    Hit hit;
    if (busy) {
      ++counts.rays;
      hit = closest_hit(scene, ray, true);
    }
    step_together();
    if (busy) {
      PixelSum sum = samples.sum(ray.pixel);
      DepthFirst<typename Integrator::State, S, PixelSum> queue = {scene, nullptr, sum, counts, point, 0, ray, state};
      busy = Integrator::shade(scene, frame, ray, state, hit, true, queue);
    }
    step_together();
  }
}

// The smallest number of pixels that a warp takes at once, as a power of two.
constexpr int MIN_SHIFT = 2;

// A warp's samples of the pixels first .. end, which it takes from `queue` in groups as lanes become free. The sums of several groups are in
// shared memory: while the last paths of some end, the next ones begin. `store` gets a pixel's PARTS sums; with two PARTS, the first half of the
// samples have a sum of their own.
template <int PARTS, class Store>
struct PixelSamples {
  // Pixels whose sums there is room for, and those of a group at most.
  static constexpr int PIXELS = 64 / PARTS, MAX_GROUP = PIXELS / 2;
  typedef u64 Sums[3][PARTS][PIXELS];

  const Constants& constants;
  const Launch& launch;
  const Store& store;
  Sums& sums;
  int* queue;
  int first, end;
  int shift;   // 2^shift pixels are taken at once
  int next;    // of the last group's samples
  int group;   // its slot among the sums
  int start;   // its first pixel
  int starts;  // the first pixel of the group in the slot with this lane's number, or -1

  // busy_with: the number of the sum of this lane's path, or -1.
  POLYFLY_METHOD bool are_left(int busy_with) {
    if (next < launch.samples_per_pixel << shift) return true;
    if (first >= end) return false;
    // Stores the oldest group, whose slot the next one takes.
    const int place = (group + 1) & ((PIXELS >> shift) - 1);
    if (__any_sync(0xffffffffu, busy_with >= 0 && (busy_with & (PIXELS - 1)) >> shift == place)) return false;
    finish(place);
    const int lane = threadIdx.x & 31;
    if (lane == 0) start = first + atomicAdd(queue, 1 << shift);
    start = __shfl_sync(0xffffffffu, start, 0);
    if (start >= end) {
      first = end;
      return false;
    }
    if (lane == place) starts = start;
    if (lane < 1 << shift)
      for (int i = 0; i < 3; ++i)
        for (int part = 0; part < PARTS; ++part) sums[i][part][(place << shift) + lane] = 0;
    __syncwarp();
    group = place;
    next = 0;
    return true;
  }
  POLYFLY_METHOD bool take(int after, PathSample& sample) const {
    const int item = next + after, pixel = item & ((1 << shift) - 1), number = item >> shift, at = start + pixel;
    pixel_at(launch, at, tiles_across(constants, launch), sample.x, sample.y);
    sample.number = launch.first_sample + number * launch.stride;
    sample.sum = (group << shift) + pixel + (PARTS == 1 || number < launch.samples_per_pixel / 2 ? 0 : PIXELS);
    return number < launch.samples_per_pixel && at < end && sample.x < constants.width && sample.y < constants.height;
  }
  POLYFLY_METHOD PixelSum sum(int number) const {
    const PixelSum sum = {&sums[0][0][number], PARTS * PIXELS};
    return sum;
  }
  // Stores the group in this slot, if there is one. All its paths must have ended.
  POLYFLY_METHOD void finish(int place) {
    const int lane = threadIdx.x & 31, its = __shfl_sync(0xffffffffu, starts, place), at = its + lane;
    int x, y;
    pixel_at(launch, at, tiles_across(constants, launch), x, y);
    if (its >= 0 && lane < 1 << shift && at < end && x < constants.width && y < constants.height) {
      const int sum = (place << shift) + lane;
      RadianceSum parts[PARTS];
      for (int part = 0; part < PARTS; ++part)
        parts[part] = {(i64)sums[0][part][sum], (i64)sums[1][part][sum], (i64)sums[2][part][sum]};
      store(x, y, parts);
    }
    if (lane == place) starts = -1;
    __syncwarp();
  }
};

// The number of pixels, as a power of two, that a warp takes at once: the fewer the more evenly warps share a picture, but lanes wait for each
// other where they add to the same sums, and for the last paths of a group with few samples.
constexpr int MIN_SAMPLES = 128, GROUPS_OF_WARP = 16;
POLYFLY_FN int group_shift(int pixels, int samples, int most) {
  const int groups = GROUPS_OF_WARP * (int)gridDim.x * BLOCK_WARPS;
  int shift = MIN_SHIFT;
  while (2 << shift <= most && (samples << shift < MIN_SAMPLES || pixels >> shift > groups)) ++shift;
  return shift;
}

// Warps trace the pixels first .. end, and call `store` with a pixel's PARTS sums.
template <class Integrator, int PARTS, class S, class Store>
POLYFLY_FN void trace_path_pixels(const S& scene, const FrameParams& frame, const Launch& launch, int first, int end, int* queue,
                                  Counts* counts, const Store& store) {
  typedef PixelSamples<PARTS, Store> Samples;
  __shared__ typename Samples::Sums sums[BLOCK_WARPS];
  RayCounts mine = {0, 0};
  const int shift = group_shift(end - first, launch.samples_per_pixel, Samples::MAX_GROUP);
  Samples taken = {scene.constants, launch, store, sums[threadIdx.x >> 5], queue, first, end, shift, launch.samples_per_pixel << shift, 0, 0,
                   -1};
  trace_paths<Integrator>(scene, frame, taken, mine);
  for (int place = 0; place < Samples::PIXELS >> shift; ++place) taken.finish(place);
  count_work(mine, counts);
}
template <class Integrator, class S>
POLYFLY_FN void trace_paths_of_pixels(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first,
                                      int end, int* queue, Counts* counts) {
  const float scale = mean_scale(launch.samples_per_pixel);
  const auto store = [&](int x, int y, const RadianceSum* sum) { store_pixel(scene, film, stores_sums(), scale, x, y, *sum); };
  trace_path_pixels<Integrator, 1>(scene, frame, launch, first, end, queue, counts, store);
}

// The pilot of adaptive sampling: trace_pixels with separate sums of the first half of each pixel's samples.
template <class Integrator, int DEPTH, class S>
POLYFLY_FN void trace_pilots(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film,
                             int first, int end, int* queue, Counts* counts) {
  const int lane = threadIdx.x & 31;
  const int samples = launch.min_samples, half = samples / 2;
  const int pixels = samples < 32 ? 32 / samples : 1;
  const int group = samples < 32 ? samples : 32;
  const int own = lane / group, place = lane - own * group;
  const int across = tiles_across(scene.constants, launch);
  PendingRay stack[DEPTH];
  RayCounts mine = {0, 0};
  for (;;) {
    int start = 0;
    if (lane == 0) start = atomicAdd(queue, pixels);
    start = first + __shfl_sync(0xffffffffu, start, 0);
    if (start >= end) break;
    RadianceSum part = {0, 0, 0}, whole = {0, 0, 0};
    int x, y;
    pixel_at(launch, start + own, across, x, y);
    const bool inside = own < pixels && start + own < end && x < scene.constants.width && y < scene.constants.height;
    for (int sample = place; inside && sample < samples; sample += group) {
      RadianceSum sum = {0, 0, 0};
      trace_sample<Integrator>(scene, frame, x, y, sample, stack, sum, mine);
      add(whole, sum);
      if (sample < half) add(part, sum);
    }
    __syncwarp();
    group_sum(part, place, group);
    group_sum(whole, place, group);
    if (inside && place == 0) store_pilot(scene, launch, film, x, y, part, whole);
    __syncwarp();
  }
  count_work(mine, counts);
}

// The same for paths that go in step.
template <class Integrator, class S>
POLYFLY_FN void trace_pilot_paths(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first, int end,
                                  int* queue, Counts* counts) {
  const auto store = [&](int x, int y, const RadianceSum* parts) {
    RadianceSum all = parts[0];
    add(all, parts[1]);
    store_pilot(scene, launch, film, x, y, parts[0], all);
  };
  Launch pilot = launch;
  pilot.first_sample = 0;
  pilot.stride = 1;
  pilot.samples_per_pixel = launch.min_samples;
  trace_path_pixels<Integrator, 2>(scene, frame, pilot, first, end, queue, counts, store);
}

// The rounds of adaptive sampling work on lists of pixels: queue[0] is the work counter, queue[1] the length of this
// round's list, queue[3] that of the next round's.
POLYFLY_FN ActivePixel active_pixels(int x, int y, int error, const Codes& codes) {
  const ActivePixel d = {(u32)x | (u32)y << 16, error, {(int)codes.r, (int)codes.g, (int)codes.b}};
  return d;
}
// Appends the pixels of a warp that need more samples; all 32 lanes must be active.
POLYFLY_FN void append_active(bool goes_on, const ActivePixel& one, ActivePixel* list, int* count) {
  const int lane = threadIdx.x & 31;
  const u32 going = __ballot_sync(0xffffffffu, goes_on);
  int at = 0;
  if (lane == 0 && going) at = atomicAdd(count, __popc(going));
  at = __shfl_sync(0xffffffffu, at, 0) + __popc(going & ((1u << lane) - 1));
  if (goes_on) list[at] = one;
}

// After the pilot: stores the pixels below the error limit and lists the others.
template <class Integrator, class S>
POLYFLY_FN void update_active_after_pilot(const S& scene, const Launch& launch, const FilmBuffers& film, int first,
                                          int end, int* queue) {
  const int lane = threadIdx.x & 31, across = tiles_across(scene.constants, launch);
  const ErrorLimit limit = ErrorLimit::after(launch, launch.min_samples);
  for (int start = first + 32 * (int)(blockIdx.x * BLOCK_WARPS + (threadIdx.x >> 5)); start < end;
       start += 32 * (int)gridDim.x * BLOCK_WARPS) {
    int x, y;
    pixel_at(launch, start + lane, across, x, y);
    const bool inside = start + lane < end && x < scene.constants.width && y < scene.constants.height;
    bool goes_on = false;
    ActivePixel one = {};
    if (inside) {
      const int error = pilot_error<Integrator>(scene.constants, film, x, y);
      const RadianceSum sum = pilot_sum(scene.constants, film, x, y);
      goes_on = launch.min_samples < launch.samples_per_pixel && !limit.allows(error);
      if (goes_on)
        one = active_pixels(x, y, error, sum_codes(scene, launch, sum, launch.min_samples));
      else
        store_adaptive(scene, launch, film, stores_sums(), x, y, sum, launch.min_samples);
    }
    append_active(goes_on, one, film.next_active, queue + 3);
  }
}

// A round: the listed pixels, which have taken so many samples, take more; one lane per sample.
template <class Integrator, int DEPTH, class S>
POLYFLY_FN void trace_active(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film,
                             int taken, int* queue, Counts* counts) {
  const int lane = threadIdx.x & 31, more = next_round(launch, taken);
  const i64 items = (i64)queue[1] * more;
  PendingRay stack[DEPTH];
  RayCounts mine = {0, 0};
  for (;;) {
    int start = 0;
    if (lane == 0) start = atomicAdd(queue, 1);
    const i64 item = 32 * (i64)__shfl_sync(0xffffffffu, start, 0) + lane;
    if (item - lane >= items) break;
    if (item < items) {
      const int at = (int)(item / more);
      const u32 pixel = film.active_pixels[at].pixel;
      const int x = (int)(pixel & 0xffffu), y = (int)(pixel >> 16);
      RadianceSum one = {0, 0, 0};
      trace_sample<Integrator>(scene, frame, x, y, taken + (int)(item - (i64)at * more), stack, one, mine);
      u64* sums = (u64*)(film.pilot_sums + 3 * pilot_index(scene.constants, film, x, y));
      atomicAdd(&sums[0], (u64)one.r);
      atomicAdd(&sums[1], (u64)one.g);
      atomicAdd(&sums[2], (u64)one.b);
    }
    __syncwarp();
  }
  count_work(mine, counts);
}

// The samples of a round for paths that go in step.
struct ActiveSamples {
  const Constants& constants;
  const FilmBuffers& film;
  int* queue;
  int taken, more;
  i64 count, next, end;

  // Takes 32 from the queue where the warp has none.
  POLYFLY_METHOD bool are_left(int) {
    if (next < end || next >= count) return next < end;
    int turn = 0;
    if ((threadIdx.x & 31) == 0) turn = atomicAdd(queue, 1);
    next = 32 * (i64)__shfl_sync(0xffffffffu, turn, 0);
    end = next + 32 < count ? next + 32 : count;
    return next < end;
  }
  POLYFLY_METHOD bool take(int after, PathSample& sample) const {
    const i64 item = next + after;
    if (item >= end) return false;
    const int at = (int)(item / more);
    const u32 pixel = film.active_pixels[at].pixel;
    sample.x = (int)(pixel & 0xffffu);
    sample.y = (int)(pixel >> 16);
    sample.number = taken + (int)(item - (i64)at * more);
    sample.sum = pilot_index(constants, film, sample.x, sample.y);
    return true;
  }
  POLYFLY_METHOD PixelSum sum(int number) const {
    const PixelSum sum = {(u64*)film.pilot_sums + 3 * (i64)number, 1};
    return sum;
  }
};
template <class Integrator, class S>
POLYFLY_FN void trace_active_paths(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int taken,
                                   int* queue, Counts* counts) {
  const int more = next_round(launch, taken);
  ActiveSamples samples = {scene.constants, film, queue, taken, more, (i64)queue[1] * more, 0, 0};
  RayCounts mine = {0, 0};
  trace_paths<Integrator>(scene, frame, samples, mine);
  count_work(mine, counts);
}

// After a round: stores the pixels below the error limit and lists the others. taken: samples before the round.
template <class Integrator, class S>
POLYFLY_FN void update_active(const S& scene, const Launch& launch, const FilmBuffers& film, int taken, int* queue) {
  const int lane = threadIdx.x & 31, listed = queue[1], now = taken + next_round(launch, taken);
  const ErrorLimit limit = ErrorLimit::after(launch, now);
  for (int start = 32 * (int)(blockIdx.x * BLOCK_WARPS + (threadIdx.x >> 5)); start < listed;
       start += 32 * (int)gridDim.x * BLOCK_WARPS) {
    bool goes_on = false;
    ActivePixel one = {};
    if (start + lane < listed) {
      one = film.active_pixels[start + lane];
      const int x = (int)(one.pixel & 0xffffu), y = (int)(one.pixel >> 16);
      const RadianceSum sum = pilot_sum(scene.constants, film, x, y);
      const Codes before = {Int(one.codes[0]), Int(one.codes[1]), Int(one.codes[2])};
      const Codes codes = sum_codes(scene, launch, sum, now);
      one = active_pixels(x, y, (int)next_error<Integrator>(max_difference(before, codes), Int(one.error)), codes);
      goes_on = now < launch.samples_per_pixel && !limit.allows(one.error);
      if (!goes_on) store_adaptive(scene, launch, film, stores_sums(), x, y, sum, now);
    }
    append_active(goes_on, one, film.next_active, queue + 3);
  }
}

// One thread per pixel.
template <class Integrator, class S>
POLYFLY_FN void trace_feature_pixels(const S& scene, const FrameParams& frame, const Launch& launch,
                                     const FilmBuffers& film, int first, int end) {
  const int across = tiles_across(scene.constants, launch);
  for (int at = first + blockIdx.x * BLOCK_THREADS + threadIdx.x; at < end; at += gridDim.x * BLOCK_THREADS) {
    int x, y;
    pixel_at(launch, at, across, x, y);
    if (x < scene.constants.width && y < scene.constants.height)
      trace_features<Integrator>(scene, frame, launch, x, y, true,
                                 &film.features[film_index(scene.constants, film, x, y)]);
  }
}

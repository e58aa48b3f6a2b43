// The GPU's entries: a thread traces a sample, the samples of a pixel side by side. Compiled twice: with
// POLYFLY_INLINE_SCENE the scene comes in the kernel's parameters, which is constant memory; without it,
// for larger scenes, in arrays.
#include "trace.cuh"

#define THREADS 128
// Blocks on a multiprocessor at once; one more would make the compiler spill registers.
#define MIN_BLOCKS 5

// src/layout.rs asserts the same numbers.
#ifdef POLYFLY_INLINE_SCENE
static_assert(sizeof(Scene) == 2816, "");
#else
static_assert(sizeof(Scene) == 368, "");
#endif

// Pixels are counted through tiles of 8 x 8, and within a tile so that 8 neighbours are 4 x 2 and 32 are 8 x 4.
POLYFLY_FN void pixel_at(int q, int tiles_across, int& x, int& y) {
  const int tile = q >> 6;
  x = (tile % tiles_across) * 8 + ((q & 3) | ((q >> 1) & 4));
  y = (tile / tiles_across) * 8 + (((q >> 2) & 1) | ((q >> 3) & 6));
}

// Adds up the light of each group of `group` lanes, side by side from lane 0; the first of each has the sum.
POLYFLY_FN void group_sum(Sum& sum, int place, int group) {
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

POLYFLY_FN u32 warp_most(u32 n) {
  for (int step = 16; step; step >>= 1) {
    const u32 other = __shfl_xor_sync(0xffffffffu, n, step);
    n = n > other ? n : other;
  }
  return n;
}
// One addition a warp, which must be whole.
POLYFLY_FN void count_work(const Tally& mine, Counts* counts) {
  const u32 rays = warp_sum(mine.rays), shadow_rays = warp_sum(mine.shadow_rays), most = warp_most(mine.rays);
  if ((threadIdx.x & 31) == 0) {
    Counts& to = counts[blockIdx.x % COUNTERS];
    atomicAdd(&to.rays, (u64)rays);
    atomicAdd(&to.shadow_rays, (u64)shadow_rays);
    atomicMax(&to.most, (u64)most);
  }
}

template <bool PATH>
POLYFLY_FN void trace_one(const Scene& scene, const Frame& frame, int x, int y, int sample, Pending* stack, Sum& sum, Tally& tally) {
#ifndef POLYFLY_INLINE_SCENE
  if (PATH) {
    sample += scene.first_sample;
    trace_path(scene, frame, lot_ray(scene, frame, x, y, sample, 0), seed_of(frame, x, y, sample), sum, tally);
    return;
  }
#endif
  trace_sample(scene, frame, grid_ray(scene, frame, x, y, sample, 0), stack, sum, tally);
}

// Warps take pixels from `queue` as they get free, counted from `first` up to `end`, and trace 32 samples at a time:
// whole pixels when a pixel has at most 32 samples, else one pixel in turns. Of the ways that
// `polyfly bench --balance` compares this is the fastest.
template <int DEPTH, bool PATH>
POLYFLY_FN void trace_picture(const Scene& scene, const Frame& frame, int first, int end, u32* rgba, int* queue, Counts* counts) {
  const int lane = threadIdx.x & 31;
  const int each = scene.each;
  const int pixels = each < 32 ? 32 / each : 1;
  const int group = each < 32 ? each : 32;  // lanes that share a pixel
  const int own = lane / group, place = lane - own * group;
  const int across = (scene.width + 7) >> 3;
  const float scale = 1.0f / (FIXED_ONE * (float)each);
  Pending stack[DEPTH];
  Tally mine = {0, 0};
  for (;;) {
    int start = 0;
    if (lane == 0) start = atomicAdd(queue, pixels);
    start = first + __shfl_sync(0xffffffffu, start, 0);
    if (start >= end) break;
    Sum sum = {0, 0, 0};
    int x, y;
    pixel_at(start + own, across, x, y);
    const bool inside = own < pixels && start + own < end && x < scene.width && y < scene.height;
    for (int sample = place; inside && sample < each; sample += group) trace_one<PATH>(scene, frame, x, y, sample, stack, sum, mine);
    __syncwarp();
    group_sum(sum, place, group);
#ifndef POLYFLY_INLINE_SCENE
    if (PATH && scene.sums.len > 0) {
      if (inside && place == 0) leave_sums(scene, x, y, sum.r, sum.g, sum.b);
      continue;
    }
#endif
    if (inside && place == 0)
      rgba[(i64)y * scene.width + x] = (u32)pack_rgba(develop(scene, (float)sum.r, scale, true), develop(scene, (float)sum.g, scale, true),
                                                       develop(scene, (float)sum.b, scale, true));
    __syncwarp();
  }
  count_work(mine, counts);
}

extern "C" {

// The stack is local memory, which the driver sets aside for all resident threads: scenes that do
// not need the deepest one do not pay for it.
__global__ __launch_bounds__(THREADS, MIN_BLOCKS) void polyfly_trace_16(const __grid_constant__ Scene scene, const __grid_constant__ Frame frame,
                                                            int first, int end, u32* rgba, int* queue, Counts* counts) {
  trace_picture<16, false>(scene, frame, first, end, rgba, queue, counts);
}
__global__ __launch_bounds__(THREADS, MIN_BLOCKS) void polyfly_trace_128(const __grid_constant__ Scene scene, const __grid_constant__ Frame frame,
                                                             int first, int end, u32* rgba, int* queue, Counts* counts) {
  trace_picture<DEPTH_MOST, false>(scene, frame, first, end, rgba, queue, counts);
}

#ifndef POLYFLY_INLINE_SCENE
__global__ __launch_bounds__(THREADS, MIN_BLOCKS) void polyfly_path(const __grid_constant__ Scene scene, const __grid_constant__ Frame frame,
                                                        int first, int end, u32* rgba, int* queue, Counts* counts) {
  trace_picture<1, true>(scene, frame, first, end, rgba, queue, counts);
}
#endif

// The same work dealt out otherwise, to see which way is best (the 2009 CSE260 report's question): a
// fixed number of threads takes samples in even shares (0), in turn (1), or as it gets free, a warp at
// a time from `queue` (2). Gives no picture, only counts.
__global__ __launch_bounds__(THREADS, MIN_BLOCKS) void polyfly_schedule(const __grid_constant__ Scene scene, const __grid_constant__ Frame frame,
                                                                        int mode, int* queue, Counts* counts) {
  const int each = scene.each;
  const int across = (scene.width + 7) >> 3;
  const int items = across * ((scene.height + 7) >> 3) * 64 * each;
  const int threads = gridDim.x * THREADS, me = blockIdx.x * THREADS + threadIdx.x;
  const int share = (items + threads - 1) / threads;
  Pending stack[DEPTH_MOST];
  Tally mine = {0, 0};
  int item = mode == 0 ? me * share : me;
  const int end = mode == 0 && (me + 1) * share < items ? (me + 1) * share : items;
  for (;;) {
    if (mode == 2) {
      int first = 0;
      if ((threadIdx.x & 31) == 0) first = atomicAdd(queue, 32);
      item = __shfl_sync(0xffffffffu, first, 0) + (threadIdx.x & 31);
    }
    const bool more = item < end;
    if (!__any_sync(0xffffffffu, more)) break;
    if (more) {
      int x, y;
      pixel_at(item / each, across, x, y);
      Sum sum = {0, 0, 0};
      if (x < scene.width && y < scene.height)
        trace_one<false>(scene, frame, x, y, item % each, stack, sum, mine);
      // The light must not be optimised away.
      if (sum.r < 0) mine.rays = 0;
    }
    item += mode == 0 ? 1 : threads;
    __syncwarp();
  }
  count_work(mine, counts);
}

// One thread a 2 x 2 block of the video's planes.
__global__ void polyfly_convert(const u32* rgba, int width, int height, u8* y, u8* u, u8* v) {
  const int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y * blockDim.y + threadIdx.y;
  if (bx < (width + 1) / 2 && by < (height + 1) / 2) convert_block(rgba, width, height, bx, by, y, u, v);
}
}

// The GPU's entries: one thread a sample, the samples of a pixel side by side. Compiled twice: with
// POLYFLY_INLINE_SCENE the scene comes in the kernel's parameters, which is constant memory; without it,
// for larger scenes, in arrays.
#include "trace.cuh"

#define THREADS 128
// Blocks on a multiprocessor at once; one more would make the compiler spill registers.
#define MIN_BLOCKS 5

// src/layout.rs asserts the same numbers.
#ifdef POLYFLY_INLINE_SCENE
static_assert(sizeof(Scene) == 2784, "");
#else
static_assert(sizeof(Scene) == 224, "");
#endif

// Pixels are counted through tiles of 8 x 8, and within a tile so that 8 neighbours are 4 x 2 and 32 are 8 x 4.
POLYFLY_FN void pixel_at(int q, int tiles_across, int& x, int& y) {
  const int tile = q >> 6;
  x = (tile % tiles_across) * 8 + ((q & 3) | ((q >> 1) & 4));
  y = (tile / tiles_across) * 8 + (((q >> 2) & 1) | ((q >> 3) & 6));
}

POLYFLY_FN u32 warp_sum(u32 n) {
  for (int step = 16; step; step >>= 1) n += __shfl_xor_sync(0xffffffffu, n, step);
  return n;
}

// A block takes `pixels` pixels of the picture; all blocks together those from `first` up to `end`. With at most THREADS samples a
// pixel each thread has one sample; with more, a block is one pixel.
template <int DEPTH>
POLYFLY_FN void trace_block(const Scene& scene, const Frame& frame, int pixels, int first, int end, u32* rgba, Counts* counts) {
  __shared__ i64 sums[3][THREADS];
  const int each = scene.samples * scene.samples;
  const int across = (scene.width + 7) >> 3;
  const int start = first + blockIdx.x * pixels;
  Pending stack[DEPTH];
  Tally mine = {0, 0};
  Sum sum = {0, 0, 0};
  for (int item = threadIdx.x; item < pixels * each; item += THREADS) {
    const int own = item / each;
    int x, y;
    const int q = start + own;
    pixel_at(q, across, x, y);
    if (q >= end || x >= scene.width || y >= scene.height) continue;
    trace_sample(scene, frame, camera_ray(scene, frame, x, y, item - own * each, 0), stack, sum, mine);
  }
  // One addition a warp.
  const u32 rays = warp_sum(mine.rays), shadow_rays = warp_sum(mine.shadow_rays);
  if ((threadIdx.x & 31) == 0) {
    Counts& to = counts[blockIdx.x % COUNTERS];
    atomicAdd(&to.rays, (u64)rays);
    atomicAdd(&to.shadow_rays, (u64)shadow_rays);
  }
  const int group = each < THREADS ? each : THREADS;  // threads that share a pixel
  if (group > 1) {
    sums[0][threadIdx.x] = sum.r;
    sums[1][threadIdx.x] = sum.g;
    sums[2][threadIdx.x] = sum.b;
    __syncthreads();
  }
  const int own = threadIdx.x;
  int x, y;
  const int q = start + own;
  pixel_at(q, across, x, y);
  if (own >= pixels || q >= end || x >= scene.width || y >= scene.height) return;
  if (group > 1) {
    sum.r = sum.g = sum.b = 0;
    for (int i = own * group; i < (own + 1) * group; ++i) {
      sum.r += sums[0][i];
      sum.g += sums[1][i];
      sum.b += sums[2][i];
    }
  }
  const float scale = 1.0f / (FIXED_ONE * (float)each);
  rgba[(i64)y * scene.width + x] = (u32)pack_rgba(develop(scene, (float)sum.r, scale, true), develop(scene, (float)sum.g, scale, true),
                                                   develop(scene, (float)sum.b, scale, true));
}

extern "C" {

// The stack is local memory, which the driver sets aside for all resident threads: scenes that do
// not need the deepest one do not pay for it.
__global__ __launch_bounds__(THREADS, MIN_BLOCKS) void polyfly_trace_16(const __grid_constant__ Scene scene, const __grid_constant__ Frame frame,
                                                            int pixels, int first, int end, u32* rgba, Counts* counts) {
  trace_block<16>(scene, frame, pixels, first, end, rgba, counts);
}
__global__ __launch_bounds__(THREADS, MIN_BLOCKS) void polyfly_trace_128(const __grid_constant__ Scene scene, const __grid_constant__ Frame frame,
                                                             int pixels, int first, int end, u32* rgba, Counts* counts) {
  trace_block<DEPTH_MOST>(scene, frame, pixels, first, end, rgba, counts);
}

// One thread a 2 x 2 block of the video's planes.
__global__ void polyfly_convert(const u32* rgba, int width, int height, u8* y, u8* u, u8* v) {
  const int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y * blockDim.y + threadIdx.y;
  if (bx < (width + 1) / 2 && by < (height + 1) / 2) convert_block(rgba, width, height, bx, by, y, u, v);
}
}

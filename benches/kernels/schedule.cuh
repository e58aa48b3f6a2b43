// A GPU's entry point for other schedules of a frame's work, the question of a 2009 CSE260 report. scripts/ptx --bench compiles it
// for each kind of scene that Whitted's integrator has; benches/balance.rs launches it.
#pragma once
#include "../../kernels/entry/gpu.cuh"

// The work of trace_pixels under other schedules: a fixed
// number of threads takes samples in equal blocks (mode 0), interleaved (1), or dynamically from `queue`, a warp at a
// time (2). It produces counts only.
template <class Integrator, class S>
POLYFLY_FN void trace_scheduled(const S& scene, const FrameParams& frame, const Launch& launch, int mode, int* queue,
                                Counts* counts) {
  const int samples = launch.samples_per_pixel;
  const int across = tiles_across(scene.constants, launch);
  const int items = across * ((scene.constants.height + 7) >> 3) * 64 * samples;
  const int threads = gridDim.x * BLOCK_THREADS, me = blockIdx.x * BLOCK_THREADS + threadIdx.x;
  const int share = (items + threads - 1) / threads;
  PendingRay stack[MAX_DEPTH];
  RayCounts mine = {0, 0};
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
      pixel_at(launch, item / samples, across, x, y);
      RadianceSum sum = {0, 0, 0};
      if (x < scene.constants.width && y < scene.constants.height)
        trace_sample<Integrator>(scene, frame, x, y, item % samples, stack, sum, mine);
      // Keeps the compiler from removing the work.
      if (sum.r < 0) mine.rays = 0;
    }
    item += mode == 0 ? 1 : threads;
    __syncwarp();
  }
  count_work(mine, counts);
}

// As in entry/trace.cuh, whose entries are not wanted here.
#define POLYFLY_KERNEL(blocks) extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, blocks)
#define POLYFLY_SCENE                                                                   \
  const __grid_constant__ KernelScene scene, const __grid_constant__ FrameParams frame, \
      const __grid_constant__ Launch launch

POLYFLY_KERNEL(BLOCKS) polyfly_schedule(POLYFLY_SCENE, int mode, int* queue, Counts* counts) {
  trace_scheduled<KernelIntegrator>(scene, frame, launch, mode, queue, counts);
}

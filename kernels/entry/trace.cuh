// A GPU's entry points for a row of modules.def: frames as pictures or sums of light, features, and adaptive sampling. The driver gets
// those that a run needs (src/device/gpu/modules.rs).
#pragma once
#ifndef POLYFLY_SPIRV
#include "gpu.cuh"
#else
#include "items.cuh"
#endif

// An entry point and its parameters. scripts/ptx defines KernelIntegrator, KernelScene, BLOCK_THREADS, BLOCKS and ADAPTIVE_BLOCKS from a
// row of modules.def.
#define POLYFLY_KERNEL(blocks) extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, blocks)
#define POLYFLY_SCENE                                                                   \
  const __grid_constant__ KernelScene scene, const __grid_constant__ FrameParams frame, \
      const __grid_constant__ Launch launch
#define POLYFLY_WORK const __grid_constant__ FilmBuffers film, int first, int end, int *queue, Counts *counts

#ifdef TREE
// The stack is local memory, which the driver allocates for all resident threads, so shallow scenes use a small one.
POLYFLY_KERNEL(BLOCKS) polyfly_trace_16(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<KernelIntegrator, 16>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL(BLOCKS) polyfly_trace_128(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<KernelIntegrator, MAX_DEPTH>(scene, frame, launch, film, first, end, queue, counts);
}
#else
POLYFLY_KERNEL(BLOCKS) polyfly_trace(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_paths_of_pixels<KernelIntegrator>(scene, frame, launch, film, first, end, queue, counts);
}
#endif
POLYFLY_KERNEL(BLOCKS) polyfly_features(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_feature_pixels<KernelIntegrator>(scene, frame, launch, film, first, end);
}

#if ADAPTIVE_BLOCKS > 0
// Adaptive sampling: the pilot, then rounds, in which `first` is the number of samples taken before.
POLYFLY_KERNEL(ADAPTIVE_BLOCKS) polyfly_pilot(POLYFLY_SCENE, POLYFLY_WORK) {
  if constexpr (IN_STEP)
    trace_pilot_paths<KernelIntegrator>(scene, frame, launch, film, first, end, queue, counts);
  else
    trace_pilots<KernelIntegrator, MAX_DEPTH>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL(ADAPTIVE_BLOCKS) polyfly_update_active_after_pilot(POLYFLY_SCENE, POLYFLY_WORK) {
  update_active_after_pilot<KernelIntegrator>(scene, launch, film, first, end, queue);
}
POLYFLY_KERNEL(ADAPTIVE_BLOCKS) polyfly_trace_active(POLYFLY_SCENE, POLYFLY_WORK) {
  if constexpr (IN_STEP)
    trace_active_paths<KernelIntegrator>(scene, frame, launch, film, first, queue, counts);
  else
    trace_active<KernelIntegrator, MAX_DEPTH>(scene, frame, launch, film, first, queue, counts);
}
POLYFLY_KERNEL(ADAPTIVE_BLOCKS) polyfly_update_active(POLYFLY_SCENE, POLYFLY_WORK) {
  update_active<KernelIntegrator>(scene, launch, film, first, queue);
}
#endif

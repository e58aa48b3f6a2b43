// A GPU's entry points for finished frames, for a row of modules.def.
#pragma once
#include "gpu.cuh"

#ifdef TREE
// The stack is local memory, which the driver allocates for all resident threads, so shallow scenes use a small one.
POLYFLY_KERNEL void polyfly_trace_16(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<KernelIntegrator, 16, false>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_trace_128(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<KernelIntegrator, MAX_DEPTH, false>(scene, frame, launch, film, first, end, queue, counts);
}
#else
POLYFLY_KERNEL void polyfly_trace(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_paths_of_pixels<KernelIntegrator, false>(scene, frame, launch, film, first, end, queue, counts);
}
#endif

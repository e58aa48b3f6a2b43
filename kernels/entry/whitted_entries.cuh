// The entry points of Whitted's integrator for finished frames, for KernelScene: in arrays (whitted.cu,
// whitted_rich.cu) or in the kernel's parameters (whitted_small.cu).
#pragma once
#include "gpu.cuh"

// The stack is local memory, which the driver allocates for all resident threads, so shallow scenes use a small one.
POLYFLY_KERNEL void polyfly_trace_16(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<Whitted, 16, false>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_trace_128(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<Whitted, MAX_DEPTH, false>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_schedule(POLYFLY_SCENE, int mode, int* queue, Counts* counts) {
  trace_scheduled(scene, frame, launch, mode, queue, counts);
}

// Whitted's entries for finished pictures, for KernelScene: in whitted.cu and whitted_rich.cu it lies in arrays, in
// whitted_small.cu in the kernel's parameters.
#pragma once
#include "gpu.cuh"

// The stack is local memory, which the driver sets aside for all resident threads: scenes that do
// not need the deepest one do not pay for it.
POLYFLY_KERNEL void polyfly_trace_16(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<Whitted, 16, false>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_trace_128(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<Whitted, MAX_DEPTH, false>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_schedule(POLYFLY_SCENE, int mode, int* queue, Counts* counts) {
  trace_scheduled(scene, frame, launch, mode, queue, counts);
}

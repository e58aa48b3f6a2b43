// The entry points of Whitted's integrator for sums of radiance and features, for KernelScene; see whitted_entries.cuh.
#pragma once
#include "gpu.cuh"

POLYFLY_KERNEL void polyfly_trace_16_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<Whitted, 16, true>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_trace_128_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<Whitted, MAX_DEPTH, true>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_features(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_feature_pixels<Whitted>(scene, frame, launch, film, first, end);
}

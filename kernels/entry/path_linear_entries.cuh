// The entry points of path tracing for sums of radiance and features, for KernelScene; see path_entries.cuh.
#pragma once
#include "gpu.cuh"

POLYFLY_KERNEL void polyfly_path_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_paths<true>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_path_features(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_feature_pixels<PathTracing>(scene, frame, launch, film, first, end);
}

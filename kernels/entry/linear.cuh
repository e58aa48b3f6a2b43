// A GPU's entry points for sums of radiance and features, for a row of modules.def; see picture.cuh.
#pragma once
#include "gpu.cuh"

#ifdef TREE
POLYFLY_KERNEL void polyfly_trace_16_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<KernelIntegrator, 16, true>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_trace_128_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_pixels<KernelIntegrator, MAX_DEPTH, true>(scene, frame, launch, film, first, end, queue, counts);
}
#else
POLYFLY_KERNEL void polyfly_trace_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_paths_of_pixels<KernelIntegrator, true>(scene, frame, launch, film, first, end, queue, counts);
}
#endif
POLYFLY_KERNEL void polyfly_features(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_feature_pixels<KernelIntegrator>(scene, frame, launch, film, first, end);
}

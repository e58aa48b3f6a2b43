// Path tracing's entries, for KernelScene: a plain scene in path.cu, a rich one in path_rich.cu.
#pragma once
#include "gpu.cuh"

POLYFLY_KERNEL void polyfly_path(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_paths<false>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_path_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_paths<true>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_path_features(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_feature_pixels<PathTracing>(scene, frame, launch, film, first, end);
}

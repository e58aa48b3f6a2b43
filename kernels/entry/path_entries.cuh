// The entry point of path tracing for finished frames, for KernelScene: plain scenes in path.cu, rich ones in
// path_rich.cu.
#pragma once
#include "gpu.cuh"

POLYFLY_KERNEL void polyfly_path(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_paths<false>(scene, frame, launch, film, first, end, queue, counts);
}

// Path tracing's entry for finished pictures, for KernelScene: a plain scene in path.cu, a rich one in path_rich.cu.
#pragma once
#include "gpu.cuh"

POLYFLY_KERNEL void polyfly_path(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_paths<false>(scene, frame, launch, film, first, end, queue, counts);
}

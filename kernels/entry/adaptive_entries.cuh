// The entries of adaptive sampling, for KernelScene and KernelIntegrator.
#pragma once
#include "gpu.cuh"

POLYFLY_KERNEL void polyfly_trial(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_trials<KernelIntegrator, MAX_DEPTH>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_more(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_more<KernelIntegrator, MAX_DEPTH, false>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_more_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_more<KernelIntegrator, MAX_DEPTH, true>(scene, frame, launch, film, first, end, queue, counts);
}

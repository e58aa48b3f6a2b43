// A GPU's entry points for adaptive sampling, for a row of modules.def: the pilot, then rounds, in which `first` is the
// number of samples taken before.
#pragma once
#include "gpu.cuh"

POLYFLY_KERNEL void polyfly_pilot(POLYFLY_SCENE, POLYFLY_WORK) {
  if constexpr (IN_STEP)
    trace_pilot_paths<KernelIntegrator>(scene, frame, launch, film, first, end, queue, counts);
  else
    trace_pilots<KernelIntegrator, MAX_DEPTH>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_update_active_after_pilot(POLYFLY_SCENE, POLYFLY_WORK) {
  update_active_after_pilot<KernelIntegrator, false>(scene, launch, film, first, end, queue);
}
POLYFLY_KERNEL void polyfly_update_active_after_pilot_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  update_active_after_pilot<KernelIntegrator, true>(scene, launch, film, first, end, queue);
}
POLYFLY_KERNEL void polyfly_trace_active(POLYFLY_SCENE, POLYFLY_WORK) {
  if constexpr (IN_STEP)
    trace_active_paths<KernelIntegrator>(scene, frame, launch, film, first, queue, counts);
  else
    trace_active<KernelIntegrator, MAX_DEPTH>(scene, frame, launch, film, first, queue, counts);
}
POLYFLY_KERNEL void polyfly_update_active(POLYFLY_SCENE, POLYFLY_WORK) {
  update_active<KernelIntegrator, false>(scene, launch, film, first, queue);
}
POLYFLY_KERNEL void polyfly_update_active_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  update_active<KernelIntegrator, true>(scene, launch, film, first, queue);
}

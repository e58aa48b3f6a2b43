// The entries of adaptive sampling, for KernelScene and KernelIntegrator: the trial; then round after round, where
// `first` is how many samples have been taken.
#pragma once
#include "gpu.cuh"

POLYFLY_KERNEL void polyfly_trial(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_trials<KernelIntegrator, MAX_DEPTH>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_judge_trial(POLYFLY_SCENE, POLYFLY_WORK) {
  judge_trial<false>(scene, launch, film, first, end, queue);
}
POLYFLY_KERNEL void polyfly_judge_trial_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  judge_trial<true>(scene, launch, film, first, end, queue);
}
POLYFLY_KERNEL void polyfly_more(POLYFLY_SCENE, POLYFLY_WORK) {
  trace_more<KernelIntegrator, MAX_DEPTH>(scene, frame, launch, film, first, queue, counts);
}
POLYFLY_KERNEL void polyfly_judge_round(POLYFLY_SCENE, POLYFLY_WORK) {
  judge_round<false>(scene, launch, film, first, queue);
}
POLYFLY_KERNEL void polyfly_judge_round_sums(POLYFLY_SCENE, POLYFLY_WORK) {
  judge_round<true>(scene, launch, film, first, queue);
}

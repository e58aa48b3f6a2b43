// The tree over many shapes on a GPU: a kernel for each step.
#pragma once
#include "../shapes/tree.cuh"
#include "threads.cuh"

#define TREE_STEP(name)                                                                \
  POLYFLY_POST polyfly_##name(const __grid_constant__ TreeWork work, int threads) {    \
    const int i = thread_x();                                                          \
    if (i < threads) name(work, i);                                                    \
  }
#include "../shapes/tree_steps.def"
#undef TREE_STEP

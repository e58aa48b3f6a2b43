// What a GPU's post steps share: a thread a pixel.
#pragma once
#include "../platform.cuh"

#ifdef POLYFLY_SPIRV
POLYFLY_FN int thread_x() { return (int)get_global_id(0); }
POLYFLY_FN int thread_y() { return (int)get_global_id(1); }
POLYFLY_FN int threads_x() { return (int)get_global_size(0); }
#else
POLYFLY_FN int thread_x() { return (int)(blockIdx.x * blockDim.x + threadIdx.x); }
POLYFLY_FN int thread_y() { return (int)(blockIdx.y * blockDim.y + threadIdx.y); }
#endif

#define POLYFLY_POST extern "C" __global__ void

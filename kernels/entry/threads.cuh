// What a GPU's post steps share: a thread a pixel.
#pragma once
#include "../platform.cuh"

POLYFLY_FN int thread_x() { return (int)(blockIdx.x * blockDim.x + threadIdx.x); }
POLYFLY_FN int thread_y() { return (int)(blockIdx.y * blockDim.y + threadIdx.y); }

#define POLYFLY_POST extern "C" __global__ void

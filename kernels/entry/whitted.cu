// Scenes of any size, in arrays.
namespace polyfly {
#include "gpu.cuh"

extern "C" {

// The stack is local memory, which the driver sets aside for all resident threads: scenes that do
// not need the deepest one do not pay for it.
POLYFLY_KERNEL void polyfly_trace_16(POLYFLY_SCENE(Scene), POLYFLY_WORK) {
  trace_pixels<Whitted, 16>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_trace_128(POLYFLY_SCENE(Scene), POLYFLY_WORK) {
  trace_pixels<Whitted, MAX_DEPTH>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_features(POLYFLY_SCENE(Scene), POLYFLY_WORK) {
  trace_feature_pixels<Whitted>(scene, frame, launch, film, first, end);
}
POLYFLY_KERNEL void polyfly_schedule(POLYFLY_SCENE(Scene), int mode, int* queue, Counts* counts) {
  trace_scheduled(scene, frame, launch, mode, queue, counts);
}
POLYFLY_KERNEL void polyfly_path(POLYFLY_SCENE(Scene), POLYFLY_WORK) {
  trace_pixels<PathTracing, 1>(scene, frame, launch, film, first, end, queue, counts);
}
POLYFLY_KERNEL void polyfly_path_features(POLYFLY_SCENE(Scene), POLYFLY_WORK) {
  trace_feature_pixels<PathTracing>(scene, frame, launch, film, first, end);
}

// One thread a 2 x 2 block of the video's planes.
__global__ void polyfly_convert(const u32* rgba, int width, int height, u8* y, u8* u, u8* v) {
  const int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y * blockDim.y + threadIdx.y;
  if (bx < (width + 1) / 2 && by < (height + 1) / 2) convert_block(rgba, width, height, bx, by, y, u, v);
}
}
}  // namespace polyfly

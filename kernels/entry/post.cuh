// The post steps of a film on a GPU: from sums of light to the picture, and to a video's planes. A thread a pixel.
#pragma once
#include "../post/pixel.cuh"
#include "../post/yuv.cuh"
#include "threads.cuh"

POLYFLY_POST polyfly_resolve(const __grid_constant__ PostParams post, const i64* sums, const u32* taken, int samples,
                             int width, int height, int first_row, int rows, float* image) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < rows) resolve_pixel(post, sums, taken, samples, width, height, first_row, image, x, y);
}

// A level of the pyramid from the one before, whose size is given.
POLYFLY_POST polyfly_downsample(const float* image, int width, int height, float* half) {
  const int x = thread_x(), y = thread_y();
  if (x < (width + 1) / 2 && y < (height + 1) / 2) downsample_pixel(image, width, height, half, x, y);
}

// A level of the pyramid, whose size is given, takes its fraction of all coarser ones.
POLYFLY_POST polyfly_upsample(const float* coarse, float* fine, int width, int height, float own, float rest) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height) upsample_level(coarse, fine, width, height, own, rest, x, y);
}

// A pass of glare over an image of this size.
POLYFLY_POST polyfly_glare(const __grid_constant__ GlareTaps taps, const float* image, int width, int height,
                           float* out) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height) glare_pixel(taps, image, width, height, out, x, y);
}

POLYFLY_POST polyfly_finish(const __grid_constant__ Scene scene, const __grid_constant__ PostParams post, int frame,
                            const double* display, const float* image, const float* glow, u32* rgba) {
  const int x = thread_x(), y = thread_y(), width = scene.constants.width;
  if (x < width && y < scene.constants.height)
    rgba[(i64)y * width + x] = finish_pixel(scene, post, frame, display, image, glow, x, y);
}

// One thread a 2 x 2 block of the video's planes.
POLYFLY_POST polyfly_convert(const u32* rgba, int width, int height, u8* y, u8* u, u8* v) {
  const int bx = thread_x(), by = thread_y();
  if (bx < (width + 1) / 2 && by < (height + 1) / 2) convert_block(rgba, width, height, bx, by, y, u, v);
}

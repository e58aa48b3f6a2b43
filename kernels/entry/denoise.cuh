// The denoiser on a GPU: from a frame's sums and features to the light of the post steps. A thread a pixel; pictures have the layout
// that CPUs give them.
#pragma once
#include "../types.cuh"
#include "threads.cuh"

// Pixels of a thread.
constexpr int PIECE = 1;

#include "../post/steady.cuh"

POLYFLY_FN float* row_of(float* picture, int channels, int width, int y) { return picture + (i64)y * channels * width; }

POLYFLY_POST polyfly_denoise_guides(const Features* features, int samples, int width, int height, float* guides) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height)
    guides_piece(features, samples, width, height, y, x, row_of(guides, DENOISE_GUIDES, width, y));
}

// Rows of light from first_row on; the film has those rows alone.
POLYFLY_POST polyfly_denoise_light(const __grid_constant__ DenoiseFilm film, float* guides, int width, int first_row,
                                   int rows, float* light) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < rows)
    light_piece(film, y, row_of(guides, DENOISE_GUIDES, width, first_row + y), width, x,
                row_of(light, DENOISE_LIGHT, width, first_row + y));
}

POLYFLY_POST polyfly_denoise_noise(const float* light, int width, int height, float* out) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height) noise_piece(light, width, height, y, x, row_of(out, DENOISE_LIGHT, width, y));
}

POLYFLY_POST polyfly_smooth_variance(const float* light, const float* guides, int width, int height, float* out) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height) smooth_piece(light, guides, width, height, y, x, row_of(out, DENOISE_LIGHT, width, y));
}

POLYFLY_POST polyfly_denoise_weigh(const float* light, const float* guides, int width, int height, int step, float* out) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height) weigh_piece(light, guides, width, height, y, x, step, row_of(out, 1, width, y));
}

POLYFLY_POST polyfly_denoise(const float* light, const float* guides, const float* weighed, int width, int height, int step,
                             float* out) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height)
    denoise_piece(light, guides, weighed, width, height, y, x, step, row_of(out, DENOISE_LIGHT, width, y));
}

POLYFLY_POST polyfly_denoise_luminance(float* light, int width, int height, float* out) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height) luminance_piece(row_of(light, DENOISE_LIGHT, width, y), width, x, out + (i64)y * width);
}

POLYFLY_POST polyfly_look_up(const __grid_constant__ LendingView view, const BodyMotion* motions,
                             const __grid_constant__ SeenFrame own, const __grid_constant__ SeenFrame other,
                             float* samples) {
  const int x = thread_x(), y = thread_y();
  if (x < view.width && y < view.height)
    look_up_piece(view, motions, own, other, y, x, row_of(samples, DENOISE_SAMPLES, view.width, y));
}

POLYFLY_POST polyfly_blend(const float* samples, float* light, int width, int height, int begins, float* sums) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height)
    blend_piece(samples, row_of(light, DENOISE_LIGHT, width, y), width, height, y, x, begins,
                row_of(sums, DENOISE_SUMS, width, y));
}

POLYFLY_POST polyfly_share(float* sums, int width, int height, float* light) {
  const int x = thread_x(), y = thread_y();
  if (x < width && y < height)
    share_piece(row_of(sums, DENOISE_SUMS, width, y), width, x, row_of(light, DENOISE_LIGHT, width, y));
}

// The light without noise, with the factors of exposure and white balance, in the planes of the post steps.
POLYFLY_POST polyfly_denoise_clean(const __grid_constant__ PostParams post, float* light, float* guides, int width,
                                   int height, float* image) {
  const int x = thread_x(), y = thread_y();
  if (x >= width || y >= height) return;
  const float* row = row_of(light, DENOISE_LIGHT, width, y);
  const float* by = row_of(guides, DENOISE_GUIDES, width, y);
  for (int c = 0; c < 3; ++c)
    image[c * ((i64)width * height) + (i64)y * width + x] = clean_light(row, by, width, c, x) * post.gain[c];
}

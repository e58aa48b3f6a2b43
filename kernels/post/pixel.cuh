// The post steps for a device that runs a thread a pixel. An image has its channels in planes, one after the other.
#pragma once
#include "../film.cuh"
#include "bloom.cuh"
#include "glare.cuh"
#include "lens.cuh"
#include "resolve.cuh"
#include "tone.cuh"

// Pixel (x, y) of some rows of sums, as light of the image's rows from first_row on. taken: samples of each pixel; null:
// all have `samples`.
POLYFLY_FN void resolve_pixel(const PostParams& post, const i64* sums, const u32* taken, int samples, int width,
                              int height, int first_row, float* image, int x, int y) {
  const i64 from = (i64)y * width + x, to = from + (i64)first_row * width, plane = (i64)width * height;
  const float scale = mean_scale(taken ? (int)taken[from] : samples);
  for (int c = 0; c < 3; ++c) image[c * plane + to] = mean_light(sums[3 * from + c], scale) * post.gain[c];
}

// Pixel (x, y) of an image half as large.
POLYFLY_FN void downsample_pixel(const float* image, int width, int height, float* half, int x, int y) {
  const int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
  for (int c = 0; c < 3; ++c) {
    const float* plane = image + (i64)c * width * height;
    float columns[4];
    for (int i = 0; i < 4; ++i) {
      const float* column = plane + downsample_index(x, i, width);
      const auto row = [&](int j) { return column[(i64)downsample_index(y, j, height) * width]; };
      columns[i] = downsample(row(0), row(1), row(2), row(3));
    }
    half[((i64)c * half_height + y) * half_width + x] = downsample(columns[0], columns[1], columns[2], columns[3]);
  }
}

// What pixel (x, y) of a finer image sees of a plane of a coarser one.
POLYFLY_FN float upsample_pixel(const float* plane, int coarse_width, int coarse_height, int x, int y) {
  const float* near = plane + (i64)(y / 2) * coarse_width;
  const float* other = plane + (i64)upsample_neighbour(y, coarse_height) * coarse_width;
  const int column = x / 2, across = upsample_neighbour(x, coarse_width);
  return bilerp(near[column], near[across], other[column], other[across]);
}
// Pixel (x, y) of a level of the pyramid takes its fraction of all coarser ones.
POLYFLY_FN void upsample_level(const float* coarse, float* fine, int width, int height, float own, float rest, int x,
                               int y) {
  const int coarse_width = (width + 1) / 2, coarse_height = (height + 1) / 2;
  const i64 plane = (i64)width * height, coarse_plane = (i64)coarse_width * coarse_height, at = (i64)y * width + x;
  for (int c = 0; c < 3; ++c) {
    float& value = fine[c * plane + at];
    value = lerp(value, own, upsample_pixel(coarse + c * coarse_plane, coarse_width, coarse_height, x, y), rest);
  }
}

// Pixel (x, y) of an image after a pass of glare.
POLYFLY_FN void glare_pixel(const GlareTaps& taps, const float* image, int width, int height, float* out, int x, int y) {
  for (int c = 0; c < 3; ++c) {
    const i64 plane = (i64)c * width * height;
    float& to = out[plane + (i64)y * width + x];
    to = glare_sum(taps, image + plane, width, height, x, y) + (taps.adds ? to : 0.0f);
  }
}

// The picture's pixel (x, y): bloom, vignette, grain, tone curve, 8 bits. glow: the pyramid's finest level.
POLYFLY_FN u32 finish_pixel(const Scene& scene, const PostParams& post, int frame, const double* display,
                            const float* image, const float* glow, int x, int y) {
  const int width = scene.constants.width, height = scene.constants.height;
  const i64 plane = (i64)width * height, at = (i64)y * width + x;
  float light[3];
  for (int c = 0; c < 3; ++c) light[c] = image[c * plane + at];
  if (post.bloom > 0.0f) {
    const int coarse_width = (width + 1) / 2, coarse_height = (height + 1) / 2;
    const i64 coarse_plane = (i64)coarse_width * coarse_height;
    for (int c = 0; c < 3; ++c) {
      const float scattered = upsample_pixel(glow + c * coarse_plane, coarse_width, coarse_height, x, y);
      light[c] = lerp(light[c], 1.0f - post.bloom, scattered, post.bloom);
    }
  }
  if (post.vignette > 0.0f) {
    const float by = vignette(x, y, width, height, post.vignette, post.per_square);
    for (int c = 0; c < 3; ++c) light[c] /= by;
  }
  if (post.grain > 0.0f) {
    const float noise = post.grain * grain_noise(x, grain_row((u32)y, (u32)frame));
    const float factor = grain_factor(noise, luminance(light[0], light[1], light[2]));
    for (int c = 0; c < 3; ++c) light[c] *= factor;
  }
  if (post.curve) {
    const Shown c = tone_curve(post.curve, post.punch, display, shown(light[0], light[1], light[2]));
    light[0] = (float)c.r, light[1] = (float)c.g, light[2] = (float)c.b;
  }
  const Int threshold = post.dither ? dither_threshold(Int(x), dither_row(y, frame)) : Int(128);
  return (u32)tone_map_rgb(scene, Real(light[0]), Real(light[1]), Real(light[2]), first_lanes(1), threshold);
}

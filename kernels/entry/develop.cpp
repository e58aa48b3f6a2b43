// The CPU's entry points for post steps, compiled once per instruction set. They work on rows and parts of rows, which
// the caller distributes over threads.
namespace polyfly {
// Unnamed, so that the linker does not merge functions of different instruction sets.
namespace {
#include "../types.cuh"

// Pixels that are processed at once, channel by channel, in the L1 cache.
constexpr int PIECE = 64;

#include "../post/bloom.cuh"
#include "../post/denoise.cuh"
#include "../post/glare.cuh"
#include "../post/lens.cuh"
#include "../post/resolve.cuh"
#include "../post/steady.cuh"
#include "../post/tone.cuh"
#include "../post/yuv.cuh"
}  // namespace

#include "entries.cuh"

extern "C" {

void POLYFLY_NAME(convert)(const u32* rgba, int width, int height, int first, int end, u8* y, u8* u, u8* v) {
  const int wide = (width + 1) & ~1;
  for (int by = first; by < end; ++by) {
    const u32* above = rgba + (i64)(2 * by) * width;
    const u32* below = 2 * by + 1 < height ? above + width : above;
    u8* to = y + (i64)(2 * by) * wide;
    luma_row(above, width, wide, to);
    luma_row(below, width, wide, to + wide);
    chroma_row(above, below, width, u + (i64)by * (wide / 2), v + (i64)by * (wide / 2));
  }
}

void POLYFLY_NAME(mean)(const i64* sums, i64 n, float scale, float* light) {
  for (i64 i = 0; i < n; ++i) light[i] = mean_light(sums[i], scale);
}

void POLYFLY_NAME(downsample_rows)(const float* a, const float* b, const float* c, const float* d, i64 n, float* out) {
  for (i64 i = 0; i < n; ++i) out[i] = downsample(a[i], b[i], c[i], d[i]);
}

void POLYFLY_NAME(downsample_columns)(const float* in, int width, int stride, float* out) {
  const int last = width - 1, wide = (width + 1) / 2, inside = last / 2;
  const auto at = [&](int x, int i) { return in[stride * downsample_index(x, i, width)]; };
  const auto rim = [&](int x) { out[x] = downsample(at(x, 0), at(x, 1), at(x, 2), at(x, 3)); };
  rim(0);
  for (int x = 1; x < inside; ++x) {
    const float* four = in + stride * (2 * x - 1);
    out[x] = downsample(four[0], four[stride], four[2 * stride], four[3 * stride]);
  }
  for (int x = inside > 1 ? inside : 1; x < wide; ++x) rim(x);
}

void POLYFLY_NAME(upsample)(const float* near, const float* other, int half, int width, float* out) {
  // The first and the last pixel have a neighbor on one side only.
  const int pairs = width / 2;
  out[0] = bilerp(near[0], near[0], other[0], other[0]);
  for (int k = 1; k < pairs + (width & 1); ++k) out[2 * k] = bilerp(near[k], near[k - 1], other[k], other[k - 1]);
  const int inside = pairs < half ? pairs : half - 1;
  for (int k = 0; k < inside; ++k) out[2 * k + 1] = bilerp(near[k], near[k + 1], other[k], other[k + 1]);
  if (inside < pairs) {
    const int k = half - 1;
    out[2 * k + 1] = bilerp(near[k], near[k], other[k], other[k]);
  }
}

void POLYFLY_NAME(mix)(float* to, const float* from, i64 n, float own, float rest) {
  for (i64 i = 0; i < n; ++i) to[i] = lerp(to[i], own, from[i], rest);
}

void POLYFLY_NAME(mix_pixels)(float* to, const float* r, const float* g, const float* b, int n, float own,
                               float rest) {
  for (int i = 0; i < n; ++i) {
    to[3 * i] = lerp(to[3 * i], own, r[i], rest);
    to[3 * i + 1] = lerp(to[3 * i + 1], own, g[i], rest);
    to[3 * i + 2] = lerp(to[3 * i + 2], own, b[i], rest);
  }
}

void POLYFLY_NAME(glare)(const GlareTaps* taps, const float* plane, int width, int height, int y, float* out) {
  glare_row(*taps, plane, width, height, y, out);
}

// A row, piece by piece.
#define ROW(call) \
  for (int first = 0; first < width; first += PIECE) call

void POLYFLY_NAME(denoise_guides)(const Features* features, int samples, int width, int height, int y, float* guides) {
  ROW(guides_piece(features, samples, width, height, y, first, guides));
}

void POLYFLY_NAME(denoise_light)(const DenoiseFilm* film, const float* guides, int width, int y, float* light) {
  ROW(light_piece(*film, y, guides, width, first, light));
}

void POLYFLY_NAME(denoise_noise)(const float* light, int width, int height, int y, float* out) {
  ROW(noise_piece(light, width, height, y, first, out));
}

void POLYFLY_NAME(smooth_variance)(const float* light, const float* guides, int width, int height, int y, float* out) {
  ROW(smooth_piece(light, guides, width, height, y, first, out));
}

void POLYFLY_NAME(denoise_weigh)(const float* light, const float* guides, int width, int height, int y, int step,
                                float* out) {
  ROW(weigh_piece(light, guides, width, height, y, first, step, out));
}

void POLYFLY_NAME(denoise)(const float* light, const float* guides, const float* weighed, int width, int height, int y,
                           int step, float* out) {
  ROW(denoise_piece(light, guides, weighed, width, height, y, first, step, out));
}

void POLYFLY_NAME(denoise_luminance)(const float* light, int width, float* out) {
  ROW(luminance_piece(light, width, first, out));
}

void POLYFLY_NAME(denoise_clean)(const float* light, const float* guides, int width, float* row) {
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < 3; ++c) row[3 * (i64)x + c] = clean_light(light, guides, width, c, x);
}

void POLYFLY_NAME(look_up)(const LendingView* view, const BodyMotion* motions, const SeenFrame* own,
                           const SeenFrame* other, int y, float* samples) {
  const int width = view->width;
  ROW(look_up_piece(*view, motions, *own, *other, y, first, samples));
}

void POLYFLY_NAME(blend)(const float* samples, const float* light, int width, int height, int y, int begins,
                         float* sums) {
  ROW(blend_piece(samples, light, width, height, y, first, begins, sums));
}

void POLYFLY_NAME(share)(const float* sums, int width, float* light) { ROW(share_piece(sums, width, first, light)); }
#undef ROW

void POLYFLY_NAME(vignette)(float* row, int width, int height, int y, float k, float per_square) {
  for (int first = 0; first < width; first += PIECE) {
    const int n = width - first < PIECE ? width - first : PIECE;
    float by[PIECE];
    for (int i = 0; i < PIECE; ++i) by[i] = vignette(first + i, y, width, height, k, per_square);
    float* at = row + 3 * (i64)first;
    for (int i = 0; i < n; ++i) {
      at[3 * i] /= by[i];
      at[3 * i + 1] /= by[i];
      at[3 * i + 2] /= by[i];
    }
  }
}

void POLYFLY_NAME(grain)(float* row, int width, u32 y, u32 frame, float strength) {
  const u32 here = grain_row(y, frame);
  for (int first = 0; first < width; first += PIECE) {
    const int n = width - first < PIECE ? width - first : PIECE;
    float noise[PIECE], light[PIECE] = {};
    for (int i = 0; i < PIECE; ++i) noise[i] = strength * grain_noise(first + i, here);
    float* at = row + 3 * (i64)first;
    for (int i = 0; i < n; ++i) light[i] = luminance(at[3 * i], at[3 * i + 1], at[3 * i + 2]);
    for (int i = 0; i < PIECE; ++i) noise[i] = grain_factor(noise[i], light[i]);
    for (int i = 0; i < n; ++i) {
      at[3 * i] *= noise[i];
      at[3 * i + 1] *= noise[i];
      at[3 * i + 2] *= noise[i];
    }
  }
}

void POLYFLY_NAME(curve)(int curve, const float* punch, const double* display, const float* light, i64 n, float* out) {
  for (i64 first = 0; first < n; first += PIECE) {
    const int here = n - first < PIECE ? (int)(n - first) : PIECE;
    double r[PIECE] = {}, g[PIECE] = {}, b[PIECE] = {};
    const float* from = light + 3 * first;
    for (int i = 0; i < here; ++i) {
      r[i] = from[3 * i];
      g[i] = from[3 * i + 1];
      b[i] = from[3 * i + 2];
    }
#define EACH(colour)                                 \
  for (int i = 0; i < PIECE; ++i) {                  \
    const Shown c = colour(shown(r[i], g[i], b[i])); \
    r[i] = c.r, g[i] = c.g, b[i] = c.b;              \
  }
    if (curve == CURVE_NEUTRAL) {
      EACH(neutral_curve)
    } else if (curve == CURVE_FILMIC) {
      EACH(filmic_curve)
    } else {
      const double contrast = (double)punch[0] - 1.0, saturation = (double)punch[1] - 1.0;
      const auto onto_display = [&](Shown c) { return out_of_agx(saturated(c, saturation)); };
      EACH(into_agx)
      double* const channels[3] = {r, g, b};
      for (double* c : channels)
        for (int i = 0; i < PIECE; ++i) c[i] = agx_curve(c[i], contrast);
      EACH(onto_display)
      for (double* c : channels)
        for (int i = 0; i < PIECE; ++i) c[i] = display_light(display, c[i]);
    }
#undef EACH
    float* to = out + 3 * first;
    for (int i = 0; i < here; ++i) {
      to[3 * i] = (float)r[i];
      to[3 * i + 1] = (float)g[i];
      to[3 * i + 2] = (float)b[i];
    }
  }
}
}

}  // namespace polyfly

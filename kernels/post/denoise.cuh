// A denoiser of several passes over a picture (Dammertz et al., "Edge-avoiding a-trous wavelet transform for fast global
// illumination filtering", 2010), led by the layers and by the noise of each pixel (Schied et al., "Spatiotemporal
// variance-guided filtering", 2017). Weights are polynomials and quotients, so that all devices give the same bytes.
//
// Rows of pictures have their channels one after the other. Light: red, green and blue over the albedo, and the variance of
// their luminance. Guides: albedo, normal, 1 / distance, and its slopes across and down.
#pragma once
#include "../platform.cuh"
#include "lens.cuh"

// How far luminances of a surface may differ, in squared deviations.
constexpr float DENOISE_TOLERANCE = 8.0f;

POLYFLY_FN float magnitude(float x) { return x < 0.0f ? -x : x; }
// About exp(-d): 1 at 0, and 0 from 4 on.
POLYFLY_FN float falloff(float d) {
  const float rest = 1.0f - 0.25f * d, r = rest > 0.0f ? rest : 0.0f;
  return (r * r) * (r * r);
}
// Some pixels of a row, channel by channel; pixels outside of the picture are 0.
template <int CHANNELS>
struct Pixels {
  float at[CHANNELS][PIECE];

  // The pixels from column `first` on of a row of this many columns.
  POLYFLY_METHOD void load(const float* row, int width, int first) {
    const int from = first < 0 ? 0 : first, to = first + PIECE < width ? first + PIECE : width;
    for (int c = 0; c < CHANNELS; ++c) {
      for (int k = 0; k < PIECE; ++k) at[c][k] = 0.0f;
      for (int x = from; x < to; ++x) at[c][x - first] = row[c * (i64)width + x];
    }
  }
};
typedef Pixels<DENOISE_LIGHT> LightPixels;
typedef Pixels<DENOISE_GUIDES> GuidePixels;

// How different the surfaces of pixels are from those of the pixels that lie (dx, dy) away.
POLYFLY_FN void guide_distances(const GuidePixels& own, const GuidePixels& other, float dx, float dy, float* distance) {
  for (int k = 0; k < PIECE; ++k) {
    const auto squared = [&](int c) {
      const float off = other.at[c][k] - own.at[c][k];
      return off * off;
    };
    const float albedo = squared(0) + squared(1) + squared(2), normal = squared(3) + squared(4) + squared(5);
    const float across = dx * own.at[7][k], down = dy * own.at[8][k], here = own.at[6][k];
    const float off = other.at[6][k] - (here + (across + down));
    const float tolerated = 0.5f * (magnitude(across) + magnitude(down)) + 0.02f * here + 1e-9f;
    distance[k] = 80.0f * albedo + 60.0f * normal + off * off / (tolerated * tolerated);
  }
}
POLYFLY_FN void luminances(const LightPixels& light, float* out) {
  for (int k = 0; k < PIECE; ++k) out[k] = luminance(light.at[0][k], light.at[1][k], light.at[2][k]);
}

// Calls tap(i, j, light, distances) for the 5 x 5 pixels around PIECE pixels of row y, `step` apart. Distances are beyond all
// weights where there is no such pixel.
template <class F>
POLYFLY_FN void each_tap(const float* light, const float* guides, int width, int height, int y, int first, int step,
                         F tap) {
  const i64 light_row = DENOISE_LIGHT * (i64)width, guide_row = DENOISE_GUIDES * (i64)width;
  GuidePixels own, surfaces;
  LightPixels pixels;
  own.load(guides + y * guide_row, width, first);
  for (int j = -2; j <= 2; ++j) {
    const int dy = j * step;
    if (y + dy < 0 || y + dy >= height) continue;
    for (int i = -2; i <= 2; ++i) {
      const int dx = i * step;
      surfaces.load(guides + (y + dy) * guide_row, width, first + dx);
      pixels.load(light + (y + dy) * light_row, width, first + dx);
      float distances[PIECE];
      guide_distances(own, surfaces, (float)dx, (float)dy, distances);
      for (int k = 0; k < PIECE; ++k) {
        const int x = first + k + dx;
        distances[k] = x < 0 || x >= width ? 4.0f : distances[k];
      }
      tap(i, j, pixels, distances);
    }
  }
}

// The variance of row y's pixels: the mean over similar surfaces around, or the pixel's own if that is larger. So a single
// bright sample gives way to its neighbors, which do not take its light.
POLYFLY_FN void smooth_variance(const float* light, const float* guides, int width, int height, int y, float* out) {
  for (int first = 0; first < width; first += PIECE) {
    float weights[PIECE] = {}, sums[PIECE] = {};
    each_tap(light, guides, width, height, y, first, 1,
             [&](int, int, const LightPixels& pixels, const float* distances) {
               for (int k = 0; k < PIECE; ++k) {
                 const float w = falloff(distances[k]);
                 weights[k] += w;
                 sums[k] += w * pixels.at[3][k];
               }
             });
    const int end = first + PIECE < width ? first + PIECE : width;
    for (int x = first; x < end; ++x) {
      const float mean = sums[x - first] / weights[x - first];
      const float own = light[(DENOISE_LIGHT * (i64)y + 3) * width + x];
      out[x] = own > mean ? own : mean;
    }
  }
}

// Row y after a pass whose pixels lie `step` apart: the same channels as light has.
POLYFLY_FN void denoise_row(const float* light, const float* guides, int width, int height, int y, int step, float* out) {
  for (int first = 0; first < width; first += PIECE) {
    float weights[PIECE] = {}, sums[DENOISE_LIGHT][PIECE] = {}, own[PIECE], tolerated[PIECE];
    LightPixels here;
    here.load(light + y * (DENOISE_LIGHT * (i64)width), width, first);
    luminances(here, own);
    for (int k = 0; k < PIECE; ++k) tolerated[k] = 1.0f / (DENOISE_TOLERANCE * here.at[3][k] + 1e-10f);
    each_tap(light, guides, width, height, y, first, step,
             [&](int i, int j, const LightPixels& pixels, const float* distances) {
               const auto spline = [](int n) { return n == 0 ? 0.375f : n == 1 || n == -1 ? 0.25f : 0.0625f; };
               const float most = spline(i) * spline(j);
               float luminance[PIECE];
               luminances(pixels, luminance);
               for (int k = 0; k < PIECE; ++k) {
                 const float off = luminance[k] - own[k];
                 const float w = most * falloff(distances[k] + off * off * tolerated[k]);
                 weights[k] += w;
                 sums[0][k] += w * pixels.at[0][k];
                 sums[1][k] += w * pixels.at[1][k];
                 sums[2][k] += w * pixels.at[2][k];
                 sums[3][k] += w * w * pixels.at[3][k];
               }
             });
    const int end = first + PIECE < width ? first + PIECE : width;
    for (int x = first; x < end; ++x) {
      const int k = x - first;
      const float scale = 1.0f / weights[k];
      for (int c = 0; c < 3; ++c) out[c * (i64)width + x] = sums[c][k] * scale;
      out[3 * (i64)width + x] = sums[3][k] * (scale * scale);
    }
  }
}

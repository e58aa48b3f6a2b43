// A denoiser of several passes over a picture (Dammertz et al., "Edge-avoiding a-trous wavelet transform for fast global
// illumination filtering", 2010), led by the layers and by the noise of each pixel (Schied et al., "Spatiotemporal
// variance-guided filtering", 2017). Weights are polynomials and quotients, so that all devices give the same bytes.
//
// Rows of pictures have their channels one after the other. Light: red, green and blue over the albedo, and the variance of
// their luminance. Guides: albedo, normal, 1 / distance, its slopes across and down, and the number of the body, or -1.
//
// Each function makes PIECE pixels of a row, from column `first` on: CPUs vectorise the loops over them, and a GPU's thread makes one.
#pragma once
#include "../types.cuh"
#include "lens.cuh"
#include "resolve.cuh"

// How far luminances of a surface may differ, over the sum of two variances.
constexpr float DENOISE_TOLERANCE = 6.0f;
// The channels of guides that surfaces are compared by, and those with the slopes; the channel of the body.
constexpr int COMPARED = 7, SLOPED = 9, BODY = 9;

POLYFLY_FN float magnitude(float x) { return x < 0.0f ? -x : x; }
// About exp(-d): 1 at 0, and 0 from 4 on.
POLYFLY_FN float falloff(float d) {
  const float rest = 1.0f - 0.25f * d, r = rest > 0.0f ? rest : 0.0f;
  return (r * r) * (r * r);
}
// What light is divided by, so that textures stay.
POLYFLY_FN float divisor(float albedo) { return albedo > 0.05f ? albedo : 0.05f; }
// The column after the last one of a piece that begins within the picture. A GPU's compiler sees that it is one column, and keeps it in
// registers.
POLYFLY_FN int piece_end(int width, int first) {
  return PIECE == 1 || first + PIECE < width ? first + PIECE : width;
}
// Row y of a picture with these channels.
POLYFLY_FN const float* picture_row(const float* picture, int channels, int width, int y) {
  return picture + (i64)y * channels * width;
}

// Some pixels of a row, channel by channel; pixels outside of the picture are 0.
template <int CHANNELS>
struct Pixels {
  float at[CHANNELS][PIECE];

  // The pixels from column `first` on of a row of this many columns.
  POLYFLY_METHOD void load(const float* row, int width, int first) {
    const int from = first < 0 ? 0 : first, to = first + PIECE < width ? first + PIECE : width;
    for (int c = 0; c < CHANNELS; ++c) {
      if constexpr (PIECE == 1) {
        at[c][0] = from == first && first < to ? row[c * (i64)width + first] : 0.0f;
      } else {
        for (int k = 0; k < PIECE; ++k) at[c][k] = 0.0f;
        for (int x = from; x < to; ++x) at[c][x - first] = row[c * (i64)width + x];
      }
    }
  }
  // The luminance of their first three channels.
  POLYFLY_METHOD void luminances(float* out) const {
    for (int k = 0; k < PIECE; ++k) out[k] = luminance(at[0][k], at[1][k], at[2][k]);
  }
};
typedef Pixels<DENOISE_LIGHT> LightPixels;

// How different two surfaces are: by the squared differences of albedo and normal, and by 1 / distance, where it was expected to
// change this much across and down.
POLYFLY_FN float guide_distance(float albedo, float normal, float found, float expected, float across, float down) {
  const float off = found - (expected + (across + down));
  const float tolerated = 0.5f * (magnitude(across) + magnitude(down)) + 0.02f * expected + 1e-9f;
  return 80.0f * albedo + 60.0f * normal + quotient(off * off, tolerated * tolerated);
}

// 1 / distance of a pixel's surface; 0 if it is infinitely far.
POLYFLY_FN float inverse_distance(const Features& seen) {
  const float depth = float_from_bits(seen.depth);
  return seen.hits == 0 ? 0.0f : quotient(1.0f, depth > 1e-9f ? depth : 1e-9f);
}
// The smaller difference to both sides: one of them may cross an edge.
POLYFLY_FN float smaller_slope(float before, float here, float after) {
  const float a = here - before, b = after - here;
  return magnitude(a) < magnitude(b) ? a : b;
}

// The guides of row y, of features that are sums over `samples`.
POLYFLY_FN void guides_piece(const Features* features, int samples, int width, int height, int y, int first,
                             float* guides) {
  const float scale = mean_scale(samples);
  const Features* row = features + (i64)y * width;
  for (int x = first; x < piece_end(width, first); ++x) {
    const Features& seen = row[x];
    const auto put = [&](int c, float value) { guides[c * (i64)width + x] = value; };
    for (int c = 0; c < 3; ++c) {
      put(c, mean_light(seen.albedo[c], scale));
      put(3 + c, mean_light(seen.normal[c], scale));
    }
    const float here = inverse_distance(seen);
    const float left = x > 0 ? inverse_distance(row[x - 1]) : FAR;
    const float right = x + 1 < width ? inverse_distance(row[x + 1]) : FAR;
    const float above = y > 0 ? inverse_distance(*(&seen - width)) : FAR;
    const float below = y + 1 < height ? inverse_distance(*(&seen + width)) : FAR;
    put(6, here);
    put(7, width > 1 ? smaller_slope(left, here, right) : 0.0f);
    put(8, height > 1 ? smaller_slope(above, here, below) : 0.0f);
    put(BODY, (float)seen.body);
  }
}

// A row of light from row `from` of sums. The variance is measured as the difference of both halves, if there are any: the mean of two
// halves is off by half of it.
POLYFLY_FN void light_piece(const DenoiseFilm& film, i64 from, const float* guides, int width, int first, float* light) {
  const float means[2] = {mean_scale(film.first_samples), mean_scale(film.second_samples)};
  const float mean = mean_scale(film.first_samples + film.second_samples);
  const int end = piece_end(width, first);
  const bool has_halves = film.second != nullptr;
  Pixels<3> albedo, all, halves[2];
  albedo.load(guides, width, first);
  for (int c = 0; c < 3; ++c) {
    for (int k = 0; k < PIECE; ++k) all.at[c][k] = halves[0].at[c][k] = halves[1].at[c][k] = 0.0f;
    for (int x = first; x < end; ++x) {
      const i64 pixel = from * width + x, at = 3 * pixel + c;
      const i64 a = film.first[at], b = has_halves ? film.second[at] : 0;
      all.at[c][x - first] = mean_light(a + b, film.taken ? mean_scale((int)film.taken[pixel]) : mean);
      halves[0].at[c][x - first] = mean_light(a, means[0]);
      halves[1].at[c][x - first] = mean_light(b, has_halves ? means[1] : 0.0f);
    }
    for (int k = 0; k < PIECE; ++k) {
      const float by = divisor(albedo.at[c][k]);
      all.at[c][k] /= by;
      halves[0].at[c][k] /= by;
      halves[1].at[c][k] /= by;
    }
  }
  float a[PIECE], b[PIECE];
  halves[0].luminances(a);
  halves[1].luminances(b);
  for (int x = first; x < end; ++x) {
    const int k = x - first;
    const float off = 0.5f * (a[k] - b[k]);
    for (int c = 0; c < 3; ++c) light[c * (i64)width + x] = all.at[c][k];
    light[3 * (i64)width + x] = has_halves ? off * off : 0.0f;
  }
}

// Row y of light whose variance is measured as the difference of pixels from their neighbors, where there are no halves: the mean
// of four has a quarter of a pixel's variance.
POLYFLY_FN void noise_piece(const float* light, int width, int height, int y, int first, float* out) {
  const auto at = [&](int x, int y) {
    const float* row = picture_row(light, DENOISE_LIGHT, width, y);
    return luminance(row[x], row[(i64)width + x], row[2 * (i64)width + x]);
  };
  const int above = y > 0 ? y - 1 : y, below = y + 1 < height ? y + 1 : y;
  for (int x = first; x < piece_end(width, first); ++x) {
    const int left = x > 0 ? x - 1 : x, right = x + 1 < width ? x + 1 : x;
    const float off = at(x, y) - 0.25f * ((at(left, y) + at(right, y)) + (at(x, above) + at(x, below)));
    for (int c = 0; c < 3; ++c) out[c * (i64)width + x] = picture_row(light, DENOISE_LIGHT, width, y)[c * (i64)width + x];
    out[3 * (i64)width + x] = 0.8f * (off * off);
  }
}

// Calls tap(i, j, light, surfaces, distances) for the 5 x 5 pixels around PIECE pixels of row y, `step` apart. Two pixels have the same
// distance from each other. Distances are beyond all weights where there is no such pixel.
template <class F>
POLYFLY_FN void each_tap(const float* light, const float* guides, int width, int height, int y, int first, int step,
                         F tap) {
  Pixels<SLOPED> own, surfaces;
  LightPixels pixels;
  own.load(picture_row(guides, DENOISE_GUIDES, width, y), width, first);
  for (int j = -2; j <= 2; ++j) {
    const int dy = j * step;
    if (y + dy < 0 || y + dy >= height) continue;
    for (int i = -2; i <= 2; ++i) {
      const int dx = i * step;
      surfaces.load(picture_row(guides, DENOISE_GUIDES, width, y + dy), width, first + dx);
      pixels.load(picture_row(light, DENOISE_LIGHT, width, y + dy), width, first + dx);
      float distances[PIECE];
      for (int k = 0; k < PIECE; ++k) {
        const auto squared = [&](int c) {
          const float off = surfaces.at[c][k] - own.at[c][k];
          return off * off;
        };
        const float albedo = squared(0) + squared(1) + squared(2), normal = squared(3) + squared(4) + squared(5);
        const float across = (float)dx, down = (float)dy;
        const float there = guide_distance(albedo, normal, surfaces.at[6][k], own.at[6][k], across * own.at[7][k],
                                           down * own.at[8][k]);
        const float back = guide_distance(albedo, normal, own.at[6][k], surfaces.at[6][k], -across * surfaces.at[7][k],
                                          -down * surfaces.at[8][k]);
        distances[k] = there > back ? there : back;
      }
      for (int k = 0; k < PIECE; ++k) {
        const int x = first + k + dx;
        distances[k] = x < 0 || x >= width ? 4.0f : distances[k];
      }
      tap(i, j, pixels, surfaces, distances);
    }
  }
}

// Row y of light with a smoothed variance: the mean over similar surfaces around, or the pixel's own if that is larger. So a
// single bright sample is shared among its neighbors.
POLYFLY_FN void smooth_piece(const float* light, const float* guides, int width, int height, int y, int first,
                             float* out) {
  float weights[PIECE] = {}, sums[PIECE] = {};
  each_tap(light, guides, width, height, y, first, 1,
           [&](int, int, const LightPixels& pixels, const Pixels<SLOPED>&, const float* distances) {
             for (int k = 0; k < PIECE; ++k) {
               const float w = falloff(distances[k]);
               weights[k] += w;
               sums[k] += w * pixels.at[3][k];
             }
           });
  const float* row = picture_row(light, DENOISE_LIGHT, width, y);
  for (int x = first; x < piece_end(width, first); ++x) {
    const float mean = quotient(sums[x - first], weights[x - first]), own = row[3 * (i64)width + x];
    for (int c = 0; c < 3; ++c) out[c * (i64)width + x] = row[c * (i64)width + x];
    out[3 * (i64)width + x] = own > mean ? own : mean;
  }
}

// Calls tap(dx, dy, light, surfaces, weights) for the pixels around PIECE pixels of row y, `step` apart. The weight of one pixel for another is
// that of the other for it: by their surfaces, and by the difference of their light over the noise of both.
template <class F>
POLYFLY_FN void each_weight(const float* light, const float* guides, int width, int height, int y, int first, int step,
                            F tap) {
  LightPixels here;
  float own[PIECE];
  here.load(picture_row(light, DENOISE_LIGHT, width, y), width, first);
  here.luminances(own);
  each_tap(light, guides, width, height, y, first, step,
           [&](int i, int j, const LightPixels& pixels, const Pixels<SLOPED>& surfaces, const float* distances) {
             const auto spline = [](int n) { return n == 0 ? 0.375f : n == 1 || n == -1 ? 0.25f : 0.0625f; };
             const float most = spline(i) * spline(j);
             float luminance[PIECE], weights[PIECE];
             pixels.luminances(luminance);
             for (int k = 0; k < PIECE; ++k) {
               const float off = luminance[k] - own[k];
               const float tolerated = DENOISE_TOLERANCE * (here.at[3][k] + pixels.at[3][k]) + 1e-10f;
               weights[k] = most * falloff(distances[k] + quotient(off * off, tolerated));
             }
             tap(i * step, j * step, pixels, surfaces, weights);
           });
}

// Row y of the sums of each pixel's weights.
POLYFLY_FN void weigh_piece(const float* light, const float* guides, int width, int height, int y, int first, int step,
                            float* out) {
  float sums[PIECE] = {};
  each_weight(light, guides, width, height, y, first, step,
              [&](int, int, const LightPixels&, const Pixels<SLOPED>&, const float* weights) {
                for (int k = 0; k < PIECE; ++k) sums[k] += weights[k];
              });
  for (int x = first; x < piece_end(width, first); ++x) out[x] = sums[x - first];
}

// Row y of light after a pass whose pixels lie `step` apart, with the sums of their weights. Light flows between two pixels: what one
// of them gains, the other one loses, so the picture keeps its light.
POLYFLY_FN void denoise_piece(const float* light, const float* guides, const float* weighed, int width, int height, int y,
                              int first, int step, float* out) {
  float flows[3][PIECE] = {}, shares[PIECE] = {}, variances[PIECE] = {}, inverse[3][PIECE];
  LightPixels here;
  Pixels<3> albedo;
  Pixels<1> own, others;
  here.load(picture_row(light, DENOISE_LIGHT, width, y), width, first);
  albedo.load(picture_row(guides, DENOISE_GUIDES, width, y), width, first);
  own.load(picture_row(weighed, 1, width, y), width, first);
  for (int c = 0; c < 3; ++c)
    for (int k = 0; k < PIECE; ++k) inverse[c][k] = quotient(1.0f, divisor(albedo.at[c][k]));
  each_weight(light, guides, width, height, y, first, step,
              [&](int dx, int dy, const LightPixels& pixels, const Pixels<SLOPED>& surfaces, const float* weights) {
                others.load(picture_row(weighed, 1, width, y + dy), width, first + dx);
                for (int k = 0; k < PIECE; ++k) {
                  const float most = own.at[0][k] > others.at[0][k] ? own.at[0][k] : others.at[0][k];
                  // The pixel itself gives itself nothing.
                  const float w = dx == 0 && dy == 0 ? 0.0f : quotient(weights[k], most);
                  shares[k] += w;
                  variances[k] += w * w * pixels.at[3][k];
                  for (int c = 0; c < 3; ++c) {
                    // Light is over the albedo, so a darker surface takes part with less.
                    const float ratio = divisor(surfaces.at[c][k]) * inverse[c][k];
                    flows[c][k] += w * (ratio < 1.0f ? ratio : 1.0f) * (pixels.at[c][k] - here.at[c][k]);
                  }
                }
              });
  for (int x = first; x < piece_end(width, first); ++x) {
    const int k = x - first;
    const float kept = 1.0f - shares[k];
    for (int c = 0; c < 3; ++c) out[c * (i64)width + x] = here.at[c][k] + flows[c][k];
    out[3 * (i64)width + x] = variances[k] + kept * kept * here.at[3][k];
  }
}

// The luminance of a row of light.
POLYFLY_FN void luminance_piece(const float* light, int width, int first, float* out) {
  for (int x = first; x < piece_end(width, first); ++x)
    out[x] = luminance(light[x], light[(i64)width + x], light[2 * (i64)width + x]);
}

// Channel c of column x: light without noise times the albedo.
POLYFLY_FN float clean_light(const float* light, const float* guides, int width, int c, int x) {
  return light[c * (i64)width + x] * divisor(guides[c * (i64)width + x]);
}

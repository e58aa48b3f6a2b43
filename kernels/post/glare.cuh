// Glare: passes over a small image of the pyramid that spread light along a ray. Each pass is a sum of GLARE_TAPS pixels.
#pragma once
#include "../platform.cuh"

POLYFLY_FN int within(int at, int length) { return at < 0 ? 0 : at < length ? at : length - 1; }

// Pixel (x, y) of a plane after a pass; the border is repeated.
POLYFLY_FN float glare_sum(const GlareTaps& taps, const float* plane, int width, int height, int x, int y) {
  float sum = 0.0f;
  for (int i = 0; i < GLARE_TAPS; ++i)
    sum += taps.weight[i] * plane[(i64)within(y + taps.dy[i], height) * width + within(x + taps.dx[i], width)];
  return sum;
}

// The same for a row, whose inner part compilers vectorise.
POLYFLY_FN void glare_row(const GlareTaps& taps, const float* plane, int width, int height, int y, float* out) {
  int first = 0, end = width;
  const float* rows[GLARE_TAPS];
  for (int i = 0; i < GLARE_TAPS; ++i) {
    const int dx = taps.dx[i];
    first = first < -dx ? -dx : first;
    end = end > width - dx ? width - dx : end;
    rows[i] = plane + (i64)within(y + taps.dy[i], height) * width + dx;
  }
  first = first < width ? first : width;
  end = end > first ? end : first;
  const auto rim = [&](int x) { out[x] = glare_sum(taps, plane, width, height, x, y) + (taps.adds ? out[x] : 0.0f); };
  for (int x = 0; x < first; ++x) rim(x);
  for (int x = first; x < end; ++x) {
    float sum = 0.0f;
    for (int i = 0; i < GLARE_TAPS; ++i) sum += taps.weight[i] * rows[i][x];
    out[x] = sum + (taps.adds ? out[x] : 0.0f);
  }
  for (int x = end; x < width; ++x) rim(x);
}

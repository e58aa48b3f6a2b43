// What a lens and a film's emulsion do to a pixel's light: vignette and grain.
#pragma once
#include "../platform.cuh"

// The divisor of a pixel's radiance, which grows towards the corners. k: strength; per_square: 4 over the squared
// diagonal.
POLYFLY_FN float vignette(int x, int y, int width, int height, float k, float per_square) {
  const float dx = (float)x + 0.5f - 0.5f * (float)width, dy = (float)y + 0.5f - 0.5f * (float)height;
  const float d = 1.0f + k * ((dx * dx + dy * dy) * per_square);
  return d * d;
}

// PCG's permutation (Jarzynski and Olano, "Hash functions for GPU rendering", 2020).
POLYFLY_FN u32 pcg_hash(u32 v) {
  const u32 state = v * 747796405u + 2891336453u;
  const u32 word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return (word >> 22) ^ word;
}
// The hash of a row of a frame, to which a pixel's column is added.
POLYFLY_FN u32 grain_row(u32 y, u32 frame) { return pcg_hash(y + pcg_hash(frame)); }
// The sum of two uniform numbers: a triangular distribution from -1 to 1.
POLYFLY_FN float grain_noise(int x, u32 row) {
  const u32 hash = pcg_hash((u32)x + row);
  return quotient((float)(int)(hash & 0xffffu) + (float)(int)(hash >> 16), 65535.0f) - 1.0f;
}
POLYFLY_FN float luminance(float r, float g, float b) { return 0.2126f * r + 0.7152f * g + 0.0722f * b; }
// The factor of a pixel's radiance: noise grows with the root of the light, as counted grains do.
POLYFLY_FN float grain_factor(float noise, float luminance) {
  const float factor = 1.0f + quotient(noise, square_root(luminance > 1e-4f ? luminance : 1e-4f));
  return factor < 0.0f ? 0.0f : factor > 2.0f ? 2.0f : factor;
}

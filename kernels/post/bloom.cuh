// Bloom: a pyramid of halved images. Each function handles one value of one channel; compilers vectorise the loops
// around it.
#pragma once
#include "../platform.cuh"

// Four consecutive values to one; the outer two weigh a third of the inner ones.
POLYFLY_FN float downsample(float a, float b, float c, float d) { return (a + d) * 0.125f + (b + c) * 0.375f; }
// The index of one of these four, 0 to 3, for index `at` of the halved row; the border is repeated.
POLYFLY_FN int downsample_index(int at, int i, int length) {
  const int from = 2 * at - 1 + i;
  return from < 0 ? 0 : from < length ? from : length - 1;
}

// Bilinear interpolation in the coarser image: the nearest value, its neighbors across and down, and the diagonal one.
POLYFLY_FN float bilerp(float near, float across, float down, float opposite) {
  return near * 0.5625f + across * 0.1875f + down * 0.1875f + opposite * 0.0625f;
}
// The coarser image's nearest index for index `at` of the finer one is at / 2; this is its neighbor's.
POLYFLY_FN int upsample_neighbour(int at, int coarse_length) {
  const int near = at / 2, other = at % 2 ? near + 1 : near - 1;
  return other < 0 ? 0 : other < coarse_length ? other : coarse_length - 1;
}

POLYFLY_FN float lerp(float a, float fraction, float b, float rest) { return a * fraction + b * rest; }

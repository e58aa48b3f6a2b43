// Resolve: the mean light of a pixel's sums.
#pragma once
#include "../types.cuh"

// The factor from a pixel's sum to its mean.
POLYFLY_FN float mean_scale(int samples) { return quotient(1.0f, FIXED_ONE * (float)samples); }
// The mean radiance of a sum in fixed point; scale: mean_scale.
POLYFLY_FN float mean_light(i64 sum, float scale) { return (float)sum * scale; }

// Resolve: the mean light of a pixel's sums.
#pragma once
#include "../platform.cuh"

// The mean radiance of a sum in fixed point; scale: mean_scale of film.cuh.
POLYFLY_FN float mean_light(i64 sum, float scale) { return (float)sum * scale; }

// Light that frames lend each other before they are filtered (post/denoise.cuh). A pixel's first surface is followed to where it was seen
// in the other frame, by the camera and by the motion of its body, which are known exactly. Light counts as far as surfaces are alike, and
// as far as both frames, filtered, have the same light around there within their noise: what mirrors and glass show moves in other ways
// than they do.
//
// Rows of pictures have their channels one after the other. Samples, another frame's pixels as seen from this one: how alike the surfaces
// are, the channels of light, and the difference of the filtered luminance. Sums: the channels of light, and the weights.
#pragma once
#include "denoise.cuh"

// Tolerated squared difference of the filtered light around a pixel, over the variance of both frames' noise.
constexpr float STEADY_TOLERANCE = 0.05f;
// Pixels to each side whose difference counts.
constexpr int AROUND = 2;

struct Vector {
  double x, y, z;
};
POLYFLY_FN double product(Vector a, const double* b) { return a.x * b[0] + a.y * b[1] + a.z * b[2]; }
POLYFLY_FN double vector_length(Vector v) { return square_root(v.x * v.x + v.y * v.y + v.z * v.z); }

// What is seen of another frame through a pixel.
struct Sample {
  float weight, light[DENOISE_LIGHT], filtered;
};

// Light and filtered luminance of a frame around a place, in pixels, as far as the surfaces there are as expected: albedo, normal,
// 1 / distance.
POLYFLY_FN Sample sample_around(const SeenFrame& frame, int width, int height, float at_x, float at_y,
                                const float* expected) {
  Sample all = {0.0f, {0.0f, 0.0f, 0.0f, 0.0f}, 0.0f};
  // Truncated towards 0, which is too much for negative numbers.
  const int left = (int)at_x - (at_x < (float)(int)at_x ? 1 : 0), top = (int)at_y - (at_y < (float)(int)at_y ? 1 : 0);
  for (int corner = 0; corner < 4; ++corner) {
    const int x = left + (corner & 1), y = top + (corner >> 1);
    const float dx = (float)x - at_x, dy = (float)y - at_y;
    const float near = (1.0f - magnitude(dx)) * (1.0f - magnitude(dy));
    if (near < 1e-3f || x < 0 || y < 0 || x >= width || y >= height) continue;
    const float* guides = picture_row(frame.guides, DENOISE_GUIDES, width, y) + x;
    const float* light = picture_row(frame.light, DENOISE_LIGHT, width, y) + x;
    const auto squared = [&](int c) {
      const float off = guides[c * (i64)width] - expected[c];
      return off * off;
    };
    const float albedo = squared(0) + squared(1) + squared(2), normal = squared(3) + squared(4) + squared(5);
    const float weight = near * falloff(guide_distance(albedo, normal, guides[6 * (i64)width], expected[6],
                                                       dx * guides[7 * (i64)width], dy * guides[8 * (i64)width]));
    all.weight += weight;
    for (int c = 0; c < DENOISE_LIGHT; ++c) all.light[c] += weight * light[c * (i64)width];
    all.filtered += weight * frame.filtered[(i64)y * width + x];
  }
  if (all.weight > 0.0f) {
    const float share = quotient(1.0f, all.weight);
    for (int c = 0; c < DENOISE_LIGHT; ++c) all.light[c] *= share;
    all.filtered *= share;
  }
  return all;
}

// What another frame shows where it sees the surface of column x of row y, whose guides are given.
POLYFLY_FN Sample look_up(const LendingView& view, const BodyMotion* motions, const float* guides, const SeenFrame& other,
                          int x, int y) {
  const Sample nothing = {0.0f, {0.0f, 0.0f, 0.0f, 0.0f}, 0.0f};
  const int width = view.width, height = view.height;
  const double middle_x = 0.5 * width - 0.5, middle_y = 0.5 * height - 0.5;
  const auto guide = [&](int c) { return guides[c * (i64)width + x]; };
  const double right = x - middle_x, down = y - middle_y;
  Vector v = {view.forward[0] + (view.right[0] * right + view.down[0] * down),
              view.forward[1] + (view.right[1] * right + view.down[1] * down),
              view.forward[2] + (view.right[2] * right + view.down[2] * down)};
  const bool is_parallel = view.projection == PROJECTION_ORTHOGRAPHIC;
  float expected[COMPARED];
  for (int c = 0; c < COMPARED; ++c) expected[c] = guide(c);
  // What is infinitely far stays in its direction.
  if (expected[6] > 0.0f) {
    Vector point;
    if (is_parallel) {
      const double more = 1.0 / (double)expected[6] - 1.0;
      point = {v.x + view.forward[0] * more, v.y + view.forward[1] * more, v.z + view.forward[2] * more};
    } else {
      const double far = 1.0 / (double)expected[6] / vector_length(v);
      point = {v.x * far, v.y * far, v.z * far};
    }
    // The first motion is the static scene's.
    const int body = (int)guide(BODY) + 1;
    const BodyMotion& motion = motions[body <= view.bodies ? body : 0];
    const Vector normal = {expected[3], expected[4], expected[5]};
    v = {product(point, motion.turn) + motion.shift[0], product(point, motion.turn + 3) + motion.shift[1],
         product(point, motion.turn + 6) + motion.shift[2]};
    for (int c = 0; c < 3; ++c) expected[3 + c] = (float)(product(normal, motion.turn + 3 * c) * motion.normal);
    expected[6] = (float)(1.0 / (is_parallel ? product(v, view.ahead) : vector_length(v)));
  }
  const double ahead = product(v, view.ahead);
  if (!(ahead > 0.0)) return nothing;
  const double shrink = is_parallel ? 1.0 : ahead;
  const double at_x = product(v, view.across) / shrink + middle_x, at_y = product(v, view.along) / shrink + middle_y;
  if (!(at_x >= -1.0 && at_x <= width && at_y >= -1.0 && at_y <= height)) return nothing;
  return sample_around(other, width, height, (float)at_x, (float)at_y, expected);
}

// The samples of row y.
POLYFLY_FN void look_up_piece(const LendingView& view, const BodyMotion* motions, const SeenFrame& own,
                              const SeenFrame& other, int y, int first, float* samples) {
  const int width = view.width;
  const float* guides = picture_row(own.guides, DENOISE_GUIDES, width, y);
  for (int x = first; x < piece_end(width, first); ++x) {
    const Sample sample = look_up(view, motions, guides, other, x, y);
    const auto put = [&](int c, float value) { samples[c * (i64)width + x] = value; };
    put(0, sample.weight);
    for (int c = 0; c < DENOISE_LIGHT; ++c) put(1 + c, sample.light[c]);
    put(5, sample.filtered - own.filtered[(i64)y * width + x]);
  }
}

// Adds the samples of row y to a row of sums, as far as the light around them is this frame's. `begins`: the sums are those of this
// frame's own light, whose row is given.
POLYFLY_FN void blend_piece(const float* samples, const float* light, int width, int height, int y, int first, int begins,
                            float* sums) {
  // Sums over columns of rows: the samples' weight, and their weighted difference.
  constexpr int COLUMNS = PIECE + 2 * AROUND;
  float weights[COLUMNS] = {}, offs[COLUMNS] = {};
  // On a GPU, all columns are tried, so that they stay in registers.
  const int left = first - AROUND, from = PIECE > 1 && left < 0 ? 0 : left;
  const int to = PIECE > 1 && left + COLUMNS > width ? width : left + COLUMNS;
  for (int j = y - AROUND; j <= y + AROUND; ++j) {
    if (j < 0 || j >= height) continue;
    const float* weight = picture_row(samples, DENOISE_SAMPLES, width, j);
    const float* off = weight + 5 * (i64)width;
    for (int x = from; x < to; ++x) {
      if (PIECE == 1 && (x < 0 || x >= width)) continue;
      weights[x - left] += weight[x];
      offs[x - left] += weight[x] * off[x];
    }
  }
  Pixels<DENOISE_SAMPLES> here;
  LightPixels own;
  Pixels<DENOISE_SUMS> before;
  here.load(picture_row(samples, DENOISE_SAMPLES, width, y), width, first);
  own.load(light, width, first);
  if (!begins) before.load(sums, width, first);
  float lent[PIECE];
  for (int k = 0; k < PIECE; ++k) {
    float weight = 0.0f, off = 0.0f;
    for (int i = 0; i <= 2 * AROUND; ++i) {
      weight += weights[k + i];
      off += offs[k + i];
    }
    const float mean = quotient(off, weight), alike = here.at[0][k];
    const float variance = own.at[3][k] + here.at[4][k];
    const float w = alike * falloff(quotient(mean * mean, STEADY_TOLERANCE * variance + 1e-10f));
    // Without a sample, 0 / 0 may be in it.
    lent[k] = alike > 0.0f ? w : 0.0f;
  }
  for (int x = first; x < piece_end(width, first); ++x) {
    const int k = x - first;
    const float w = lent[k];
    const auto sum = [&](int c, float otherwise, float more) {
      sums[c * (i64)width + x] = (begins ? otherwise : before.at[c][k]) + more;
    };
    for (int c = 0; c < 3; ++c) sum(c, own.at[c][k], w * here.at[1 + c][k]);
    sum(3, own.at[3][k], w * w * here.at[4][k]);
    sum(4, 1.0f, w);
  }
}

// A row of light from its sums.
POLYFLY_FN void share_piece(const float* sums, int width, int first, float* light) {
  for (int x = first; x < piece_end(width, first); ++x) {
    const float share = quotient(1.0f, sums[4 * (i64)width + x]);
    for (int c = 0; c < 3; ++c) light[c * (i64)width + x] = sums[c * (i64)width + x] * share;
    light[3 * (i64)width + x] = sums[3 * (i64)width + x] * (share * share);
  }
}

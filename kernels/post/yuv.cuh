// From RGBA to the planes of a video frame.
#pragma once
#include "../platform.cuh"

// Rec. ITU-R BT.709 limited range, 16 fraction bits: Kr = 0.2126, Kb = 0.0722.
POLYFLY_FN int luma(int r, int g, int b) { return (11966 * r + 40254 * g + 4064 * b + 1081344) >> 16; }
POLYFLY_FN int blue_difference(int r4, int g4, int b4) {
  return (-6596 * r4 - 22189 * g4 + 28785 * b4 + 33685504) >> 18;
}
POLYFLY_FN int red_difference(int r4, int g4, int b4) { return (28785 * r4 - 26145 * g4 - 2640 * b4 + 33685504) >> 18; }

// One 2 x 2 block of the planes, at block column bx and block row by. Frames of odd size are padded by repeating the
// last column or row.
POLYFLY_FN void convert_block(const u32* rgba, int width, int height, int bx, int by, u8* y, u8* u, u8* v) {
  const int wide = (width + 1) & ~1;
  int r = 0, g = 0, b = 0;
  for (int i = 0; i < 4; ++i) {
    const int x = 2 * bx + (i & 1), row = 2 * by + (i >> 1);
    const u32 p = rgba[(i64)(row < height ? row : height - 1) * width + (x < width ? x : width - 1)];
    const int pr = (int)(p & 255u), pg = (int)((p >> 8) & 255u), pb = (int)((p >> 16) & 255u);
    y[(i64)row * wide + x] = (u8)luma(pr, pg, pb);
    r += pr;
    g += pg;
    b += pb;
  }
  const i64 at = (i64)by * (wide / 2) + bx;
  u[at] = (u8)blue_difference(r, g, b);
  v[at] = (u8)red_difference(r, g, b);
}

// The same by rows, which compilers vectorise: a row of luma with its padding, and a row of both chroma planes.
POLYFLY_FN void luma_row(const u32* rgba, int width, int wide, u8* y) {
  for (int x = 0; x < width; ++x)
    y[x] = (u8)luma((int)(rgba[x] & 255u), (int)((rgba[x] >> 8) & 255u), (int)((rgba[x] >> 16) & 255u));
  if (wide > width) y[width] = y[width - 1];
}
POLYFLY_FN void chroma_row(const u32* above, const u32* below, int width, u8* u, u8* v) {
  // Two channels are summed at once: four codes need ten of sixteen bits.
  const auto chroma = [&](int at, int left, int right) {
    const u32 mask = 0x00ff00ffu;
    const u32 rb = (above[left] & mask) + (above[right] & mask) + (below[left] & mask) + (below[right] & mask);
    const u32 g = ((above[left] >> 8) & 255u) + ((above[right] >> 8) & 255u) + ((below[left] >> 8) & 255u) +
        ((below[right] >> 8) & 255u);
    const int r = (int)(rb & 0xffffu), b = (int)(rb >> 16);
    u[at] = (u8)blue_difference(r, (int)g, b);
    v[at] = (u8)red_difference(r, (int)g, b);
  };
  for (int x = 0; x < width / 2; ++x) chroma(x, 2 * x, 2 * x + 1);
  if (width & 1) chroma(width / 2, width - 1, width - 1);
}

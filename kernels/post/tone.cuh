// Tone curves in double precision, as src/scene/film/tone.rs has them. Each function handles one pixel by plain operations in
// one fixed order.
#pragma once
#include "../platform.cuh"

struct Shown {
  double r, g, b;
};
POLYFLY_FN Shown shown(double r, double g, double b) {
  const Shown s = {r, g, b};
  return s;
}
POLYFLY_FN double max(double a, double b) { return a > b ? a : b; }
POLYFLY_FN double min(double a, double b) { return a < b ? a : b; }

// log2(x) for x > 0: the exponent, plus the artanh series of the mantissa, which lies between sqrt(1/2) and sqrt(2).
// The error is at most 2e-16, relative where the result is above 1.
POLYFLY_FN double log2_of(double x) {
  const i64 bits = double_bits(x);
  // Shifts the bits of sqrt(1/2) to those of 1/2, so that the exponent belongs to a mantissa from sqrt(1/2) on.
  const i64 moved = bits - 0x3fe6a09e667f3bcdll;
  const i64 rest = (moved & 0x000fffffffffffffll) + 0x3fe6a09e667f3bcdll;
  // An integer as a double, without a 64-bit conversion, which few instruction sets have.
  const i64 raised = (i64)((u64)(moved + 0x3ff0000000000000ll) >> 52) | 0x4330000000000000ll;
  const double mantissa = double_from_bits(rest);
  const double exponent = double_from_bits(raised) - (4503599627370496.0 + 1023.0);
  const double s = (mantissa - 1.0) / (mantissa + 1.0), q = s * s;
  // 2 / ln 2 over 1, 3, 5 and so on.
  double series = 0.15186263588304877;
  series = series * q + 0.16972882833987804;
  series = series * q + 0.19235933878519512;
  series = series * q + 0.22195308321368667;
  series = series * q + 0.2623081892525388;
  series = series * q + 0.3205988979753252;
  series = series * q + 0.4121985831111324;
  series = series * q + 0.5770780163555853;
  series = series * q + 0.9617966939259756;
  series = series * q + 2.8853900817779268;
  return exponent + s * series;
}

// Compresses a color whose largest channel is `peak` to the peak `to`, and desaturates it by how much was lost.
POLYFLY_FN Shown compress(Shown c, double peak, double to) {
  const double white = 1.0 - 1.0 / (0.15 * max(peak - to, 0.0) + 1.0);
  const double r = c.r * to / peak, g = c.g * to / peak, b = c.b * to / peak;
  return shown(r + (to - r) * white, g + (to - g) * white, b + (to - b) * white);
}
POLYFLY_FN Shown choose(bool first, Shown a, Shown b) {
  return shown(first ? a.r : b.r, first ? a.g : b.g, first ? a.b : b.b);
}

// Khronos PBR Neutral, 2024.
POLYFLY_FN Shown neutral_curve(Shown c) {
  const double start = 0.8 - 0.04;
  const double low = max(min(min(c.r, c.g), c.b), 0.0);
  const double offset = low < 0.08 ? low - 6.25 * low * low : 0.04;
  const Shown lower = shown(c.r - offset, c.g - offset, c.b - offset);
  const double peak = max(max(lower.r, lower.g), lower.b);
  const double d = 1.0 - start;
  return choose(peak < start, lower, compress(lower, peak, 1.0 - d * d / (peak + d - start)));
}
// Narkowicz's fit of ACES, 2015, applied to the peak.
POLYFLY_FN Shown filmic_curve(Shown c) {
  const double peak = max(max(c.r, c.g), c.b);
  const double x = 0.6 * peak;
  const double to = min(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 1.0);
  return choose(peak <= 0.0, c, compress(c, peak, to));
}
// AgX by T. Sobotka, in B. Wrensch's polynomial form, 2023: one channel in AgX's primaries. more_contrast: stops from middle
// gray (0.18) are this much longer.
POLYFLY_FN double agx_curve(double light, double more_contrast) {
  const double low = -12.47393, high = 4.026069, grey = -2.473931188332412;
  const double own = log2_of(max(light, 1e-10));
  const double stops = min(max(own + more_contrast * (own - grey), low), high);
  const double x = (stops - low) / (high - low);
  const double x2 = x * x, x4 = x * x * x * x;
  return 15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2 + 0.1191 * x - 0.00232;
}
POLYFLY_FN Shown into_agx(Shown c) {
  return shown(0.842479062253094 * c.r + 0.0784335999999992 * c.g + 0.0792237451477643 * c.b,
               0.0423282422610123 * c.r + 0.878468636469772 * c.g + 0.0791661274605434 * c.b,
               0.0423756549057051 * c.r + 0.0784336 * c.g + 0.879142973793104 * c.b);
}
POLYFLY_FN Shown out_of_agx(Shown c) {
  return shown(1.19687900512017 * c.r + -0.0980208811401368 * c.g + -0.0990297440797205 * c.b,
               -0.0528968517574562 * c.r + 1.15190312990417 * c.g + -0.0989611768448433 * c.b,
               -0.0529716355144438 * c.r + -0.0980434501171241 * c.g + 1.15107367264116 * c.b);
}
// Moves a color away from the gray of its luminance.
POLYFLY_FN Shown saturated(Shown c, double more) {
  const double grey = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
  return shown(c.r + more * (c.r - grey), c.g + more * (c.g - grey), c.b + more * (c.b - grey));
}
// A display value as linear light, by linear interpolation in a table over i / DISPLAY_LAST.
POLYFLY_FN double display_light(const double* table, double x) {
  const double at = min(max(x, 0.0), 1.0) * (double)DISPLAY_LAST;
  const int whole = (int)at;
  const int i = whole < DISPLAY_LAST ? whole : DISPLAY_LAST - 1;
  return table[i] + (table[i + 1] - table[i]) * (at - (double)i);
}

// What a display shows of a pixel by one of the curves. punch: contrast and saturation of AgX; display: the table of
// display_light.
POLYFLY_FN Shown tone_curve(int curve, const float* punch, const double* display, Shown c) {
  if (curve == CURVE_NEUTRAL) return neutral_curve(c);
  if (curve == CURVE_FILMIC) return filmic_curve(c);
  c = into_agx(c);
  const double contrast = (double)punch[0] - 1.0, saturation = (double)punch[1] - 1.0;
  c = shown(agx_curve(c.r, contrast), agx_curve(c.g, contrast), agx_curve(c.b, contrast));
  c = out_of_agx(saturated(c, saturation));
  return shown(display_light(display, c.r), display_light(display, c.g), display_light(display, c.b));
}

// The one-lane operations as a GPU has them, for tests. kernels/lane.cuh includes this file where POLYFLY_DOMAIN names
// it.
//
// A GPU's reciprocal and square root are right from DOMAIN_MIN to DOMAIN_MAX only (docs/arithmetic.md). Here they
// give NaN for every other argument, and note the place in the source that called them. Minimum, maximum and conversion
// to an integer treat NaN, signed zeros and overflow as a GPU's instructions do, which is not what a CPU's do. Minimum
// and maximum note where NaN reaches them, which no scene may cause.
#pragma once

struct Stray {
  u64 place;  // the file's name and the line, as one key; 0: the slot is free
  const char* file;
  int line;
  float argument;  // of the first call
  u64 calls;
};
[[maybe_unused]] static Stray strays[512];

static inline __attribute__((noinline, cold)) void note_stray(const char* file, int line, float x) {
  const u64 place = ((u64)(size_t)file << 16) ^ (u64)line;
  for (u64 i = 0; i < 512; ++i) {
    Stray& slot = strays[(place + i) % 512];
    u64 found = 0;
    if (__atomic_compare_exchange_n(&slot.place, &found, place, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      slot.file = file;
      slot.line = line;
      slot.argument = x;
      found = place;
    }
    if (found != place) continue;
    __atomic_fetch_add(&slot.calls, 1, __ATOMIC_RELEASE);
    return;
  }
}

#define POLYFLY_CALLER , const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define POLYFLY_OF_CALLER , file, line

POLYFLY_FN bool in_domain(float x) {
  const float size = from_bits(bits(x) & 0x7fffffff);
  return size >= DOMAIN_MIN && size <= DOMAIN_MAX;
}
POLYFLY_FN float reciprocal(float x POLYFLY_CALLER) {
  if (in_domain(x)) return 1.0f / x;
  note_stray(file, line, x);
  return __builtin_nanf("");
}
POLYFLY_FN float sqrt(float x POLYFLY_CALLER) {
  if (x > 0.0f && in_domain(x)) return __builtin_sqrtf(x);
  note_stray(file, line, x);
  return __builtin_nanf("");
}
// PTX's min.f32 and max.f32: a number wins over NaN, and -0 lies below +0.
POLYFLY_FN float min(float a, float b POLYFLY_CALLER) {
  if (a != a || b != b) {
    note_stray(file, line, a != a ? a : b);
    return a != a ? b : a;
  }
  return a == b ? from_bits(bits(a) | bits(b)) : a < b ? a : b;
}
POLYFLY_FN float max(float a, float b POLYFLY_CALLER) {
  if (a != a || b != b) {
    note_stray(file, line, a != a ? a : b);
    return a != a ? b : a;
  }
  return a == b ? from_bits(bits(a) & bits(b)) : a > b ? a : b;
}
// PTX's cvt.rzi.s32.f32: NaN gives 0, and what is too large the nearest integer there is.
POLYFLY_FN int to_int(float x) {
  if (x != x) return 0;
  if (x >= 2147483648.0f) return 2147483647;
  return x < -2147483648.0f ? (int)0x80000000u : (int)x;
}

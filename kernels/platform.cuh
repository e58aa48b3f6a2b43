// Names for what nvcc and host compilers spell differently.
//
// Everything in kernels/ is a C++ subset that both accept: no STL, no exceptions, no recursion, no libm calls except
// sqrt and fma. Numbers are IEEE single precision (double in the curves of post/tone.cuh and the views of
// post/steady.cuh) without contraction, so that every device computes the same bits.
#pragma once

#ifdef POLYFLY_SPIRV
#include "spirv.cuh"
#elif defined(__CUDACC__)
#define POLYFLY_GPU
#define POLYFLY_FN static __device__ __forceinline__
#define POLYFLY_METHOD __device__ __forceinline__
#define POLYFLY_NOINLINE static __device__ __noinline__
#define POLYFLY_LAMBDA
#define POLYFLY_LANES 1
#else
#ifdef POLYFLY_COUNT  // benches/kernels counts the operations of each function
#define POLYFLY_FN static __attribute__((noinline, unused))
#define POLYFLY_METHOD __attribute__((noinline))
#define POLYFLY_LAMBDA
#else
#define POLYFLY_FN static inline __attribute__((always_inline))
#define POLYFLY_METHOD inline __attribute__((always_inline))
#define POLYFLY_LAMBDA __attribute__((always_inline))
#endif
#define POLYFLY_NOINLINE static inline
#ifndef POLYFLY_LANES
#error "build.rs says how many lanes this object has"
#endif
#endif

// POLYFLY_NOINLINE marks code that few scenes need. It stays out of line, so that the common code remains compact in
// the instruction cache. Such functions call each other at most once more: of four calls within each other, ptxas 13.0 made
// code that lost track of which lanes wait for each other (a test in src/device/gpu/modules.rs counts them).

// Loops over a scene's objects are not unrolled on a GPU: the kernel would exceed the instruction cache (measured on an
// H200: 10 to 15 % of its time).
#ifdef __CUDACC__
#define POLYFLY_NO_UNROLL _Pragma("unroll 1")
#else
#define POLYFLY_NO_UNROLL
#endif

typedef unsigned char u8;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// Bits of numbers, and roots, by the names of each compiler.
#ifdef __CUDACC__
POLYFLY_FN float float_from_bits(u32 bits) { return __uint_as_float(bits); }
POLYFLY_FN u32 float_bits(float x) { return __float_as_uint(x); }
POLYFLY_FN i64 double_bits(double x) { return __double_as_longlong(x); }
POLYFLY_FN double double_from_bits(i64 bits) { return __longlong_as_double(bits); }
POLYFLY_FN float square_root(float x) { return __fsqrt_rn(x); }
POLYFLY_FN double square_root(double x) { return __dsqrt_rn(x); }
#else
POLYFLY_FN u32 float_bits(float x) {
  u32 bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
POLYFLY_FN float float_from_bits(u32 bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
POLYFLY_FN i64 double_bits(double x) {
  i64 bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
POLYFLY_FN double double_from_bits(i64 bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
#ifndef POLYFLY_SPIRV  // spirv.cuh
POLYFLY_FN float square_root(float x) { return __builtin_sqrtf(x); }
#endif
POLYFLY_FN double square_root(double x) { return __builtin_sqrt(x); }
#endif

#ifndef POLYFLY_SPIRV
// The quotient, correctly rounded.
POLYFLY_FN float quotient(float a, float b) { return a / b; }
#endif

// Debug and sanitizer builds check the bounds of scene arrays and stop the program on a violation.
#ifdef POLYFLY_BOUNDS
#define POLYFLY_CHECK(condition)        \
  do {                                  \
    if (!(condition)) __builtin_trap(); \
  } while (0)
#else
#define POLYFLY_CHECK(condition) \
  do {                           \
  } while (0)
#endif

// The fused multiply-add of host compilers. The fmaf of mingw's C library rounds twice. Here the product is exact, and its
// sum with c is rounded to odd, so that only the last rounding counts: the fma of four lanes (lane.cuh).
#ifdef _WIN32
// Out of line, because thousands of copies take a compiler a minute.
static __attribute__((noinline)) float exact_fmaf(float a, float b, float c) {
  const double product = (double)a * b, addend = c, sum = product + addend, back = sum - product;
  const double error = (product - (sum - back)) + (addend - back);
  const i64 at = double_bits(sum);
  const bool is_inexact = error > 0.0 || error < 0.0, is_away = (error > 0.0) == (sum > 0.0);
  return (float)double_from_bits(is_inexact && !(at & 1) ? at + (is_away ? 1 : -1) : at);
}
#define POLYFLY_FMAF exact_fmaf
#else
#define POLYFLY_FMAF __builtin_fmaf
#endif

// The device's words: what nvcc and a host compiler call by different names.
//
// Everything in kernels/ is a C++ subset that both accept: no STL, no exceptions, no recursion, no libm
// calls but sqrt and fma. Numbers are IEEE single precision, in develop.cuh's curves double, with
// contraction off, so that every device computes the same bits.
#pragma once

#ifdef __CUDACC__
#define POLYFLY_FN static __device__ __forceinline__
#define POLYFLY_METHOD __device__ __forceinline__
#define POLYFLY_NOINLINE static __device__ __noinline__
#define POLYFLY_LANES 1
#else
#define POLYFLY_FN static inline __attribute__((always_inline))
#define POLYFLY_METHOD inline __attribute__((always_inline))
#define POLYFLY_NOINLINE static inline
#ifndef POLYFLY_LANES
#error "build.rs says how many lanes this object has"
#endif
#endif

// POLYFLY_NOINLINE: what few scenes need, called where it is, so that the others' text stays together in the
// instruction cache.

// Loops over a scene's parts stay loops on a GPU: unrolled, the kernel outgrows the instruction cache
// (measured on an H200: 10 to 15 % of its time).
#ifdef __CUDACC__
#define POLYFLY_NO_UNROLL _Pragma("unroll 1")
#else
#define POLYFLY_NO_UNROLL
#endif

typedef unsigned char u8;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// Reads of scene arrays are checked in debug and sanitizer builds, and stop the program when they fail.
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

// The kernels for OpenCL: what clang's HIP for SPIR-V has no names for, and roots and quotients whose rounding OpenCL leaves to devices.
#pragma once
#define POLYFLY_GPU
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __launch_bounds__(...)
#define __grid_constant__
// The driver's compiler decides what becomes part of its caller.
#define POLYFLY_FN static __device__ inline
#define POLYFLY_METHOD __device__ inline
#define POLYFLY_NOINLINE static __device__ __attribute__((noinline))
#define POLYFLY_LAMBDA
#define POLYFLY_LANES 1

// Instructions and variables of SPIR-V, which the translator knows by these names.
__device__ unsigned long get_global_id(int dimension) __asm__("_Z33__spirv_BuiltInGlobalInvocationIdi");
__device__ unsigned long get_global_size(int dimension) __asm__("_Z25__spirv_BuiltInGlobalSizei");
__device__ float rsqrt(float x) __asm__("_Z17__spirv_ocl_rsqrtf");
__device__ unsigned spec_constant(int id, unsigned value) __asm__("_Z20__spirv_SpecConstantij");
// Addresses of numbers that several threads change: in a device's memory, as OpenCL's atomics of all versions want them.
typedef __attribute__((address_space(1))) unsigned* SharedWord;
typedef __attribute__((address_space(1))) unsigned long* SharedLong;
constexpr unsigned DEVICE_SCOPE = 1, RELAXED = 0, ACQUIRE_RELEASE = 8;
__device__ unsigned atomic_add(SharedWord at, unsigned scope, unsigned order, unsigned n) __asm__("_Z18__spirv_AtomicIAddPU3AS1jjjj");
__device__ unsigned long atomic_add(SharedLong at, unsigned scope, unsigned order, unsigned long n) __asm__("_Z18__spirv_AtomicIAddPU3AS1mjjm");
__device__ unsigned atomic_max(SharedWord at, unsigned scope, unsigned order, unsigned n) __asm__("_Z18__spirv_AtomicUMaxPU3AS1jjjj");
__device__ unsigned long atomic_max(SharedLong at, unsigned scope, unsigned order, unsigned long n) __asm__("_Z18__spirv_AtomicUMaxPU3AS1mjjm");
__device__ unsigned atomic_exchange(SharedWord at, unsigned scope, unsigned order, unsigned n) __asm__("_Z22__spirv_AtomicExchangePU3AS1jjjj");

#include "rounding.cuh"
// Of the domain (lane.cuh).
POLYFLY_FN float reciprocal(float x) { return reciprocal_from(1.0f / x, x); }
POLYFLY_FN float sqrt(float x) { return root_from(rsqrt(x), x); }
// Of all floats: what is outside of the domain is scaled into it, by powers of two.
POLYFLY_FN float square_root(float x) {
  const bool is_small = x < 1.0e-30f, is_large = x > 1.0e37f;
  const float root = sqrt(is_small ? x * 0x1p96f : is_large ? x * 0x1p-96f : x);
  return !(x > 0.0f) || x > 0x1.fffffep127f ? __builtin_sqrtf(x) : is_small ? root * 0x1p-48f : is_large ? root * 0x1p48f : root;
}
POLYFLY_FN float quotient(float a, float b) {
  const float whole = quotient_from(reciprocal(b), a, b);
  const auto is_far_inside = [](float x) { return (x > 0x1p-90f && x < 0x1p90f) || (x < -0x1p-90f && x > -0x1p90f); };
  // Near the ends of the range remainders are not exact, and the device's own quotient must do.
  return is_far_inside(a) && is_far_inside(b) && is_far_inside(whole) ? whole : a / b;
}

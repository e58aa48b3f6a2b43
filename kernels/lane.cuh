// Real, Int and Mask: the scalar types of a GPU thread, and vectors of 4, 8 or 16 lanes on a CPU.
//
// With one lane they are float, int and bool, and `if (any(m))` is an ordinary branch. With more lanes they are
// GCC/Clang vector types; AVX-512 keeps masks in mask registers. Every operation is one IEEE operation per lane, so
// results do not depend on the number of lanes.
#pragma once
#include "platform.cuh"

// The domain of reciprocal (of either sign) and of sqrt on every device.
#define DOMAIN_MIN 1.0e-30f
#define DOMAIN_MAX 1.0e37f

#if POLYFLY_LANES == 1

#ifdef POLYFLY_COUNT
#include POLYFLY_COUNT  // a float that counts its operations: benches/kernels
#else
typedef float Real;
#endif
typedef int Int;
typedef bool Mask;

POLYFLY_FN bool any(bool m) { return m; }
// Tells the compiler that at least one lane of the mask is set.
POLYFLY_FN bool given_any(bool) { return true; }
POLYFLY_FN int count(bool m) { return m ? 1 : 0; }
POLYFLY_FN bool first_lanes(int n) { return n > 0; }
POLYFLY_FN float select(bool m, float a, float b) { return m ? a : b; }
POLYFLY_FN int select(bool m, int a, int b) { return m ? a : b; }
POLYFLY_FN int lane_index() { return 0; }
POLYFLY_FN int wrap_mul(int a, int b) { return (int)((u32)a * (u32)b); }
POLYFLY_FN int wrap_add(int a, int b) { return (int)((u32)a + (u32)b); }
POLYFLY_FN int shift_down(int a, int n) { return (int)((u32)a >> n); }
POLYFLY_FN int shift_up(int a, int n) { return (int)((u32)a << n); }
POLYFLY_FN float to_real(int x) { return (float)x; }
#ifdef __CUDACC__
POLYFLY_FN int to_int(float x) { return (int)x; }
// No NaN reaches min and max (see intersect_convex), so the hardware's treatment of NaN does not matter.
POLYFLY_FN float min(float a, float b) { return fminf(a, b); }
POLYFLY_FN float max(float a, float b) { return fmaxf(a, b); }
POLYFLY_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
// 1 / x and the square root of x, correctly rounded for x from DOMAIN_MIN to DOMAIN_MAX: the hardware's approximation
// and one Newton step. A compiled division is the same plus the handling of the ends of the range (Markstein,
// "Computation of elementary functions on the IBM RISC System/6000 processor", 1990; tests/arithmetic.cu compares all
// mantissas).
POLYFLY_FN float reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return fmaf(r, fmaf(-x, r, 1.0f), r);
}
POLYFLY_FN float sqrt(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  const float g = x * y;
  return fmaf(fmaf(-g, g, x), 0.5f * y, g);
}
POLYFLY_FN int bits(float x) { return __float_as_int(x); }
POLYFLY_FN float from_bits(int x) { return __int_as_float(x); }
POLYFLY_FN float abs(float x) { return from_bits(bits(x) & 0x7fffffff); }
#else
POLYFLY_FN float fma(float a, float b, float c) { return POLYFLY_FMAF(a, b, c); }
POLYFLY_FN int bits(float x) {
  int i;
  __builtin_memcpy(&i, &x, 4);
  return i;
}
POLYFLY_FN float from_bits(int x) {
  float f;
  __builtin_memcpy(&f, &x, 4);
  return f;
}
POLYFLY_FN float abs(float x) { return from_bits(bits(x) & 0x7fffffff); }
#ifdef POLYFLY_DOMAIN
// Tests only: operations that return NaN where a GPU's may differ from a CPU's (tests/domain).
#include POLYFLY_DOMAIN
#else
POLYFLY_FN int to_int(float x) { return (int)x; }
POLYFLY_FN float min(float a, float b) { return a < b ? a : b; }
POLYFLY_FN float max(float a, float b) { return a > b ? a : b; }
#ifndef POLYFLY_SPIRV  // spirv.cuh
POLYFLY_FN float sqrt(float x) { return __builtin_sqrtf(x); }
POLYFLY_FN float reciprocal(float x) { return 1.0f / x; }
#endif
#endif
#endif
POLYFLY_FN float lane(float x, int) { return x; }
POLYFLY_FN int lane(int x, int) { return x; }
POLYFLY_FN bool lane(bool m, int) { return m; }
template <class T>
POLYFLY_FN T gather(const T* p, int i, bool) {
  return p[i];
}

#else  // several lanes

#if defined(__AVX512F__) && POLYFLY_LANES == 16
#define POLYFLY_AVX512 1
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

typedef float VReal __attribute__((vector_size(POLYFLY_LANES * 4)));
typedef int VInt __attribute__((vector_size(POLYFLY_LANES * 4)));
typedef unsigned int VUint __attribute__((vector_size(POLYFLY_LANES * 4)));
typedef float VRealU __attribute__((vector_size(POLYFLY_LANES * 4), aligned(4), may_alias));
typedef int VIntU __attribute__((vector_size(POLYFLY_LANES * 4), aligned(4), may_alias));

struct Mask {
#ifdef POLYFLY_AVX512
  __mmask16 m;
#else
  VInt m;  // -1 or 0
#endif
};

struct Real {
  VReal v;
  Real() = default;
  POLYFLY_METHOD Real(float x) : v(x - VReal{}) {}
  POLYFLY_METHOD explicit Real(VReal x) : v(x) {}
};
struct Int {
  VInt v;
  Int() = default;
  POLYFLY_METHOD Int(int x) : v(x + VInt{}) {}
  POLYFLY_METHOD explicit Int(VInt x) : v(x) {}
};

POLYFLY_FN Real operator+(Real a, Real b) { return Real(a.v + b.v); }
POLYFLY_FN Real operator-(Real a, Real b) { return Real(a.v - b.v); }
POLYFLY_FN Real operator*(Real a, Real b) { return Real(a.v * b.v); }
POLYFLY_FN Real operator/(Real a, Real b) { return Real(a.v / b.v); }
POLYFLY_FN Real quotient(Real a, Real b) { return a / b; }
POLYFLY_FN Real operator-(Real a) { return Real(-a.v); }
POLYFLY_FN Real reciprocal(Real a) { return Real(1.0f / a.v); }
POLYFLY_FN Int operator+(Int a, Int b) { return Int(a.v + b.v); }
POLYFLY_FN Int operator-(Int a, Int b) { return Int(a.v - b.v); }
POLYFLY_FN Int operator*(Int a, Int b) { return Int(a.v * b.v); }
POLYFLY_FN Int operator&(Int a, Int b) { return Int(a.v & b.v); }
POLYFLY_FN Int operator|(Int a, Int b) { return Int(a.v | b.v); }
POLYFLY_FN Int operator^(Int a, Int b) { return Int(a.v ^ b.v); }
POLYFLY_FN Int wrap_mul(Int a, Int b) { return Int((VInt)((VUint)a.v * (VUint)b.v)); }
POLYFLY_FN Int wrap_add(Int a, Int b) { return Int((VInt)((VUint)a.v + (VUint)b.v)); }
POLYFLY_FN Int shift_down(Int a, int n) { return Int((VInt)((VUint)a.v >> n)); }
POLYFLY_FN Int shift_up(Int a, int n) { return Int((VInt)((VUint)a.v << n)); }
POLYFLY_FN Int operator<<(Int a, int n) { return Int(a.v << n); }
POLYFLY_FN Int operator>>(Int a, int n) { return Int(a.v >> n); }

#ifdef POLYFLY_AVX512
#define POLYFLY_COMPARE(op, code) \
  POLYFLY_FN Mask operator op(Real a, Real b) { return {_mm512_cmp_ps_mask((__m512)a.v, (__m512)b.v, code)}; }
POLYFLY_COMPARE(<, _CMP_LT_OQ)
POLYFLY_COMPARE(>, _CMP_GT_OQ)
POLYFLY_COMPARE(<=, _CMP_LE_OQ)
POLYFLY_COMPARE(>=, _CMP_GE_OQ)
POLYFLY_COMPARE(==, _CMP_EQ_OQ)
POLYFLY_COMPARE(!=, _CMP_NEQ_UQ)
#undef POLYFLY_COMPARE
POLYFLY_FN Mask operator<(Int a, Int b) { return {_mm512_cmplt_epi32_mask((__m512i)a.v, (__m512i)b.v)}; }
POLYFLY_FN Mask operator>(Int a, Int b) { return {_mm512_cmpgt_epi32_mask((__m512i)a.v, (__m512i)b.v)}; }
POLYFLY_FN Mask operator==(Int a, Int b) { return {_mm512_cmpeq_epi32_mask((__m512i)a.v, (__m512i)b.v)}; }
POLYFLY_FN Mask operator!=(Int a, Int b) { return {_mm512_cmpneq_epi32_mask((__m512i)a.v, (__m512i)b.v)}; }
POLYFLY_FN Mask operator&(Mask a, Mask b) { return {(__mmask16)(a.m & b.m)}; }
POLYFLY_FN Mask operator|(Mask a, Mask b) { return {(__mmask16)(a.m | b.m)}; }
POLYFLY_FN Mask operator!(Mask a) { return {(__mmask16)~a.m}; }
POLYFLY_FN u32 mask_bits(Mask m) { return m.m; }
POLYFLY_FN Mask first_lanes(int n) { return {(__mmask16)(n >= 16 ? 0xffff : (1u << n) - 1u)}; }
POLYFLY_FN Real select(Mask m, Real a, Real b) {
  return Real((VReal)_mm512_mask_blend_ps(m.m, (__m512)b.v, (__m512)a.v));
}
POLYFLY_FN Int select(Mask m, Int a, Int b) {
  return Int((VInt)_mm512_mask_blend_epi32(m.m, (__m512i)b.v, (__m512i)a.v));
}
POLYFLY_FN Real min(Real a, Real b) { return Real((VReal)_mm512_min_ps((__m512)a.v, (__m512)b.v)); }
POLYFLY_FN Real max(Real a, Real b) { return Real((VReal)_mm512_max_ps((__m512)a.v, (__m512)b.v)); }
POLYFLY_FN Real fma(Real a, Real b, Real c) {
  return Real((VReal)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v));
}
POLYFLY_FN Real sqrt(Real a) { return Real((VReal)_mm512_sqrt_ps((__m512)a.v)); }
typedef Mask Packing;
POLYFLY_FN Packing packing(Mask m) { return m; }
POLYFLY_FN void compress_store(float* p, Real x, Packing to) {
  // Compressing in a register and storing whole is several times faster than the storing form.
  *(VRealU*)p = (VReal)_mm512_maskz_compress_ps(to.m, (__m512)x.v);
}
POLYFLY_FN Real gather(const float* p, Int i, Mask m) {
  return Real((VReal)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), m.m, (__m512i)i.v, p, 4));
}
POLYFLY_FN Int gather(const int* p, Int i, Mask m) {
  return Int((VInt)_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), m.m, (__m512i)i.v, p, 4));
}
#else
#define POLYFLY_COMPARE(T, op) \
  POLYFLY_FN Mask operator op(T a, T b) { return {(VInt)(a.v op b.v)}; }
POLYFLY_COMPARE(Real, <)
POLYFLY_COMPARE(Real, >)
POLYFLY_COMPARE(Real, <=)
POLYFLY_COMPARE(Real, >=)
POLYFLY_COMPARE(Real, ==)
POLYFLY_COMPARE(Real, !=)
POLYFLY_COMPARE(Int, <)
POLYFLY_COMPARE(Int, >)
POLYFLY_COMPARE(Int, ==)
POLYFLY_COMPARE(Int, !=)
#undef POLYFLY_COMPARE
POLYFLY_FN Mask operator&(Mask a, Mask b) { return {a.m & b.m}; }
POLYFLY_FN Mask operator|(Mask a, Mask b) { return {a.m | b.m}; }
POLYFLY_FN Mask operator!(Mask a) { return {~a.m}; }
POLYFLY_FN u32 mask_bits(Mask m) {
#if defined(__AVX__) && POLYFLY_LANES == 8
  return (u32)_mm256_movemask_ps((__m256)m.m);
#elif defined(__x86_64__) && POLYFLY_LANES == 4
  return (u32)_mm_movemask_ps((__m128)m.m);
#elif defined(__wasm_simd128__) && POLYFLY_LANES == 4
  return (u32)wasm_i32x4_bitmask((v128_t)m.m);
#else
  u32 r = 0;
  for (int i = 0; i < POLYFLY_LANES; ++i) r |= (u32)(m.m[i] & 1) << i;
  return r;
#endif
}
POLYFLY_FN Int lane_index();
POLYFLY_FN Mask first_lanes(int n) { return lane_index() < Int(n); }
POLYFLY_FN Real select(Mask m, Real a, Real b) { return Real((VReal)((m.m & (VInt)a.v) | (~m.m & (VInt)b.v))); }
POLYFLY_FN Int select(Mask m, Int a, Int b) { return Int((m.m & a.v) | (~m.m & b.v)); }
#if defined(__AVX__) && POLYFLY_LANES == 8
POLYFLY_FN Real min(Real a, Real b) { return Real((VReal)_mm256_min_ps((__m256)a.v, (__m256)b.v)); }
POLYFLY_FN Real max(Real a, Real b) { return Real((VReal)_mm256_max_ps((__m256)a.v, (__m256)b.v)); }
#elif defined(__x86_64__) && POLYFLY_LANES == 4
POLYFLY_FN Real min(Real a, Real b) { return Real((VReal)_mm_min_ps((__m128)a.v, (__m128)b.v)); }
POLYFLY_FN Real max(Real a, Real b) { return Real((VReal)_mm_max_ps((__m128)a.v, (__m128)b.v)); }
#else
POLYFLY_FN Real min(Real a, Real b) { return Real(a.v < b.v ? a.v : b.v); }
POLYFLY_FN Real max(Real a, Real b) { return Real(a.v > b.v ? a.v : b.v); }
#endif
#if defined(__FMA__) && POLYFLY_LANES == 8
POLYFLY_FN Real fma(Real a, Real b, Real c) {
  return Real((VReal)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v));
}
POLYFLY_FN Real minus_fma(Real a, Real b, Real c) {
  return Real((VReal)_mm256_fnmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v));
}
#define POLYFLY_MINUS_FMA
POLYFLY_FN Real sqrt(Real a) { return Real((VReal)_mm256_sqrt_ps((__m256)a.v)); }
#elif (defined(__x86_64__) || defined(__wasm_simd128__)) && POLYFLY_LANES == 4
// No fused instruction before AVX2, and none in WebAssembly (its relaxed one may round twice). The exact product of two
// floats fits a double. Its sum with c is rounded to a double and then to a float. The first rounding keeps the order of
// numbers, so the result is wrong only where it made the middle of two floats of what was no middle. Nearly all sums are
// far from that.
typedef double VDouble __attribute__((vector_size(16)));
typedef long long VLong __attribute__((vector_size(16)));
// For the others: rounding the sum to odd makes the second rounding the only one that counts (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", 2008).
POLYFLY_FN VDouble sum_to_odd(VDouble product, VDouble c) {
  VDouble sum = product + c;
  VDouble back = sum - product;
  VDouble error = (product - (sum - back)) + (c - back);
  VLong inexact = (error > 0.0) | (error < 0.0);
  VLong even = ((VLong)sum & 1) - 1;           // -1 where the last bit is 0
  VLong toward = (error > 0.0) ^ (sum > 0.0);  // -1 where the exact sum is nearer to zero
  return (VDouble)((VLong)sum + (inexact & even & (toward | 1)));
}
// Lanes whose sum may be the middle of two floats, by the lower and upper words of doubles: of normal floats, or below
// them and not zero.
POLYFLY_FN VInt may_round_twice(VInt lower, VInt upper) {
  const VUint low = (VUint)lower, up = (VUint)upper;
  const VUint half = VUint{} + 0x80000000u, below = VUint{} + 0x7fffffffu, smallest = VUint{} + (0x70200000u + 0x7fffffffu);
  return (VInt)((low << 3) == half) | (VInt)((VInt)(up + up + below) < (VInt)smallest);
}
// Out of line: thousands of copies would take a compiler a minute, and are slower than calls.
#ifdef __wasm_simd128__
static __attribute__((noinline)) v128_t fused(v128_t a, v128_t b, v128_t c) {
#define DOUBLES(x) (VDouble) wasm_f64x2_promote_low_f32x4(x)
#define UPPER(x) wasm_i32x4_shuffle(x, x, 2, 3, 2, 3)
#define FLOATS(low, high) \
  wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero((v128_t)(low)), wasm_f32x4_demote_f64x2_zero((v128_t)(high)), 0, 1, 4, 5)
  const VDouble low = DOUBLES(a) * DOUBLES(b), low_c = DOUBLES(c), low_sum = low + low_c;
  const VDouble high = DOUBLES(UPPER(a)) * DOUBLES(UPPER(b)), high_c = DOUBLES(UPPER(c)), high_sum = high + high_c;
  const VInt lower = (VInt)wasm_i32x4_shuffle((v128_t)low_sum, (v128_t)high_sum, 0, 2, 4, 6);
  const VInt upper = (VInt)wasm_i32x4_shuffle((v128_t)low_sum, (v128_t)high_sum, 1, 3, 5, 7);
  if (__builtin_expect(wasm_v128_any_true((v128_t)may_round_twice(lower, upper)), 0))
    return FLOATS(sum_to_odd(low, low_c), sum_to_odd(high, high_c));
  return FLOATS(low_sum, high_sum);
#undef DOUBLES
#undef UPPER
#undef FLOATS
}
POLYFLY_FN Real fma(Real a, Real b, Real c) { return Real((VReal)fused((v128_t)a.v, (v128_t)b.v, (v128_t)c.v)); }
POLYFLY_FN Real sqrt(Real a) { return Real((VReal)wasm_f32x4_sqrt((v128_t)a.v)); }
#else
static __attribute__((noinline)) __m128 fused(__m128 a, __m128 b, __m128 c) {
#define UPPER(x) _mm_cvtps_pd(_mm_movehl_ps(x, x))
#define FLOATS(low, high) _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high))
  const VDouble low = _mm_cvtps_pd(a) * _mm_cvtps_pd(b), low_c = _mm_cvtps_pd(c), low_sum = low + low_c;
  const VDouble high = UPPER(a) * UPPER(b), high_c = UPPER(c), high_sum = high + high_c;
  const VInt lower = (VInt)_mm_shuffle_ps((__m128)low_sum, (__m128)high_sum, _MM_SHUFFLE(2, 0, 2, 0));
  const VInt upper = (VInt)_mm_shuffle_ps((__m128)low_sum, (__m128)high_sum, _MM_SHUFFLE(3, 1, 3, 1));
  if (__builtin_expect(_mm_movemask_ps((__m128)may_round_twice(lower, upper)), 0))
    return FLOATS(sum_to_odd(low, low_c), sum_to_odd(high, high_c));
  return FLOATS(low_sum, high_sum);
#undef UPPER
#undef FLOATS
}
POLYFLY_FN Real fma(Real a, Real b, Real c) { return Real((VReal)fused((__m128)a.v, (__m128)b.v, (__m128)c.v)); }
POLYFLY_FN Real sqrt(Real a) { return Real((VReal)_mm_sqrt_ps((__m128)a.v)); }
#endif
#elif defined(__aarch64__) && POLYFLY_LANES == 4
POLYFLY_FN Real fma(Real a, Real b, Real c) {
  return Real((VReal)vfmaq_f32((float32x4_t)c.v, (float32x4_t)a.v, (float32x4_t)b.v));
}
POLYFLY_FN Real sqrt(Real a) { return Real((VReal)vsqrtq_f32((float32x4_t)a.v)); }
#else
POLYFLY_FN Real fma(Real a, Real b, Real c) {
  VReal r;
  for (int i = 0; i < POLYFLY_LANES; ++i) r[i] = POLYFLY_FMAF(a.v[i], b.v[i], c.v[i]);
  return Real(r);
}
POLYFLY_FN Real sqrt(Real a) {
  VReal r;
  for (int i = 0; i < POLYFLY_LANES; ++i) r[i] = __builtin_sqrtf(a.v[i]);
  return Real(r);
}
#endif
#if defined(__AVX2__) && POLYFLY_LANES == 8
// compress_store moves the lanes of a mask to the front. packing(mask) says how, once for all numbers of a ray.
// For each mask its lanes in their order, a byte each.
struct PackingOrders {
  u64 of[256];
  constexpr PackingOrders() : of() {
    for (int m = 0; m < 256; ++m)
      for (int i = 0, n = 0; i < 8; ++i)
        if (m >> i & 1) of[m] |= (u64)i << 8 * n++;
  }
};
static constexpr PackingOrders PACKING_ORDERS;
struct Packing {
  __m256i order;
};
POLYFLY_FN Packing packing(Mask m) {
  return {_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)&PACKING_ORDERS.of[mask_bits(m)]))};
}
POLYFLY_FN void compress_store(float* p, Real x, Packing to) {
  *(VRealU*)p = (VReal)_mm256_permutevar8x32_ps((__m256)x.v, to.order);
}
#else
// Where each lane but the first goes. A lane that is not in the mask goes where the next one does, which overwrites it.
struct Packing {
  bool is_whole;
  u64 to[POLYFLY_LANES - 1];
};
POLYFLY_FN Packing packing(Mask m) {
  const u32 lanes = mask_bits(m);
  Packing packing;
  packing.is_whole = lanes == (1u << POLYFLY_LANES) - 1;
  u64 at = 0;
  for (int i = 0; i < POLYFLY_LANES - 1; ++i) packing.to[i] = at += lanes >> i & 1;
  return packing;
}
POLYFLY_FN void compress_store(float* p, Real x, const Packing& packing) {
  if (packing.is_whole) {
    *(VRealU*)p = x.v;
    return;
  }
  p[0] = x.v[0];
#if POLYFLY_LANES == 4
  // Written out, since compilers leave the loop a loop.
  p[packing.to[0]] = x.v[1];
  p[packing.to[1]] = x.v[2];
  p[packing.to[2]] = x.v[3];
#else
  for (int i = 1; i < POLYFLY_LANES; ++i) p[packing.to[i - 1]] = x.v[i];
#endif
}
#endif
#if defined(__AVX2__) && POLYFLY_LANES == 8
POLYFLY_FN Real gather(const float* p, Int i, Mask m) {
  return Real((VReal)_mm256_mask_i32gather_ps(_mm256_setzero_ps(), p, (__m256i)i.v, (__m256)m.m, 4));
}
POLYFLY_FN Int gather(const int* p, Int i, Mask m) {
  return Int((VInt)_mm256_mask_i32gather_epi32(_mm256_setzero_si256(), p, (__m256i)i.v, (__m256i)m.m, 4));
}
#else
POLYFLY_FN Real gather(const float* p, Int i, Mask m) {
  VReal r = {};
  for (u32 b = mask_bits(m); b; b &= b - 1) r[__builtin_ctz(b)] = p[i.v[__builtin_ctz(b)]];
  return Real(r);
}
POLYFLY_FN Int gather(const int* p, Int i, Mask m) {
  VInt r = {};
  for (u32 b = mask_bits(m); b; b &= b - 1) r[__builtin_ctz(b)] = p[i.v[__builtin_ctz(b)]];
  return Int(r);
}
#endif
#endif

POLYFLY_FN bool any(Mask m) { return mask_bits(m) != 0; }
POLYFLY_FN Mask given_any(Mask m) { return m; }
POLYFLY_FN int count(Mask m) { return __builtin_popcount(mask_bits(m)); }
POLYFLY_FN Int lane_index() {
  VInt r;
  for (int i = 0; i < POLYFLY_LANES; ++i) r[i] = i;
  return Int(r);
}
POLYFLY_FN bool lane(Mask m, int i) { return (mask_bits(m) >> i) & 1u; }
POLYFLY_FN Int to_int(Real x) { return Int(__builtin_convertvector(x.v, VInt)); }
POLYFLY_FN Real to_real(Int x) { return Real(__builtin_convertvector(x.v, VReal)); }
POLYFLY_FN Int bits(Real x) { return Int((VInt)x.v); }
POLYFLY_FN Real from_bits(Int x) { return Real((VReal)x.v); }
POLYFLY_FN Real abs(Real x) { return from_bits(bits(x) & Int(0x7fffffff)); }
POLYFLY_FN float lane(Real x, int i) { return x.v[i]; }
POLYFLY_FN int lane(Int x, int i) { return x.v[i]; }
POLYFLY_FN Real load(const float* p) { return Real((VReal)(*(const VRealU*)p)); }
POLYFLY_FN Int load(const int* p) { return Int((VInt)(*(const VIntU*)p)); }
POLYFLY_FN void store(float* p, Real x) { *(VRealU*)p = x.v; }
POLYFLY_FN void store(int* p, Int x) { *(VIntU*)p = x.v; }

// Adds three numbers of each lane of m to the first three of the four sums at its index of an array of sums.
#if defined(__AVX2__)
// All lanes add, those outside of m zeros.
POLYFLY_FN void add_to_sums(i64* sums, Int place, Int x, Int y, Int z, Mask m) {
  alignas(64) int at[POLYFLY_LANES];
  store(at, place);
  const Int none = Int(0);
#ifdef POLYFLY_AVX512
#define WIDE(name) _mm512_##name##_epi32
#define QUARTER(k, four) _mm512_extracti32x4_epi32(four, k)
  typedef __m512i Wide;
#else
#define WIDE(name) _mm256_##name##_epi32
#define QUARTER(k, four) _mm256_extracti128_si256(four, k)
  typedef __m256i Wide;
#endif
  const Wide a = (Wide)select(m, x, none).v, b = (Wide)select(m, y, none).v, c = (Wide)select(m, z, none).v, d = (Wide)none.v;
  const Wide lower[2] = {WIDE(unpacklo)(a, c), WIDE(unpacklo)(b, d)}, upper[2] = {WIDE(unpackhi)(a, c), WIDE(unpackhi)(b, d)};
  // The four numbers of lanes i, i + 4 and so on.
  const Wide fours[4] = {WIDE(unpacklo)(lower[0], lower[1]), WIDE(unpackhi)(lower[0], lower[1]),
                         WIDE(unpacklo)(upper[0], upper[1]), WIDE(unpackhi)(upper[0], upper[1])};
#define ADD(i, k)                                                                                               \
  {                                                                                                             \
    __m256i* sum = (__m256i*)(sums + 4 * (u32)at[4 * k + i]);                                                   \
    _mm256_storeu_si256(sum, _mm256_add_epi64(_mm256_loadu_si256(sum), _mm256_cvtepi32_epi64(QUARTER(k, fours[i])))); \
  }
#define ADD_FOUR(k) ADD(0, k) ADD(1, k) ADD(2, k) ADD(3, k)
  ADD_FOUR(0)
  ADD_FOUR(1)
#ifdef POLYFLY_AVX512
  ADD_FOUR(2)
  ADD_FOUR(3)
#endif
#undef WIDE
#undef QUARTER
#undef ADD
#undef ADD_FOUR
}
#else
POLYFLY_FN void add_to_sums(i64* sums, Int place, Int x, Int y, Int z, Mask m) {
  int at[POLYFLY_LANES], a[POLYFLY_LANES], b[POLYFLY_LANES], c[POLYFLY_LANES];
  store(at, place);
  store(a, x);
  store(b, y);
  store(c, z);
  for (u32 lanes = mask_bits(m); lanes; lanes &= lanes - 1) {
    const int i = __builtin_ctz(lanes);
    i64* sum = sums + 4 * at[i];
    sum[0] += a[i];
    sum[1] += b[i];
    sum[2] += c[i];
  }
}
#endif

#endif

#ifndef POLYFLY_MINUS_FMA
// c - a * b, rounded once. Compilers find the instruction for it only where the sign stands beside the operation.
POLYFLY_FN Real minus_fma(Real a, Real b, Real c) { return fma(-a, b, c); }
#endif

#ifndef POLYFLY_CALLER
// Parameters that name the caller, and the same as arguments; the set `domain` defines them to record stray calls.
#define POLYFLY_CALLER
#define POLYFLY_OF_CALLER
#endif

// The whole part of x as the number of an array's element, from 0 to last. NaN gives last: where the first argument of min or max is
// NaN, the result is the second one on every device.
POLYFLY_FN Int to_index(Real x, Real last POLYFLY_CALLER) {
  return to_int(max(min(x, last POLYFLY_OF_CALLER), Real(0.0f)));
}

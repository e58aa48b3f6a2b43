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
// A float that counts operations for `polyfly bench`: an addition, multiplication, division or square root counts as
// one, a fused multiply-add as two; comparisons, selections and conversions are not counted.
static thread_local u64 flops = 0;
struct Real {
  float v;
  Real() = default;
  POLYFLY_METHOD Real(float x) : v(x) {}
  POLYFLY_METHOD explicit operator float() const { return v; }
};
#define POLYFLY_COUNTED(op)                     \
  POLYFLY_FN Real operator op(Real a, Real b) { \
    ++flops;                                    \
    return Real(a.v op b.v);                    \
  }
POLYFLY_COUNTED(+)
POLYFLY_COUNTED(-)
POLYFLY_COUNTED(*)
POLYFLY_COUNTED(/)
#undef POLYFLY_COUNTED
POLYFLY_FN Real operator-(Real a) { return Real(-a.v); }
#define POLYFLY_COMPARE(op) \
  POLYFLY_FN bool operator op(Real a, Real b) { return a.v op b.v; }
POLYFLY_COMPARE(<)
POLYFLY_COMPARE(>)
POLYFLY_COMPARE(<=)
POLYFLY_COMPARE(>=)
POLYFLY_COMPARE(==)
POLYFLY_COMPARE(!=)
#undef POLYFLY_COMPARE
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
#ifdef POLYFLY_DOMAIN
// Tests only: operations that return NaN where a GPU's may differ from a CPU's (tests/domain).
#include POLYFLY_DOMAIN
#else
POLYFLY_FN int to_int(float x) { return (int)x; }
POLYFLY_FN float min(float a, float b) { return a < b ? a : b; }
POLYFLY_FN float max(float a, float b) { return a > b ? a : b; }
POLYFLY_FN float sqrt(float x) { return __builtin_sqrtf(x); }
POLYFLY_FN float reciprocal(float x) { return 1.0f / x; }
#endif
#endif
POLYFLY_FN float abs(float x) { return from_bits(bits(x) & 0x7fffffff); }
#ifdef POLYFLY_COUNT
POLYFLY_FN Real select(bool m, Real a, Real b) { return m ? a : b; }
POLYFLY_FN int to_int(Real x) { return (int)x.v; }
POLYFLY_FN Real min(Real a, Real b) { return a.v < b.v ? a : b; }
POLYFLY_FN Real max(Real a, Real b) { return a.v > b.v ? a : b; }
POLYFLY_FN Real fma(Real a, Real b, Real c) {
  flops += 2;
  return Real(POLYFLY_FMAF(a.v, b.v, c.v));
}
POLYFLY_FN Real sqrt(Real x) {
  ++flops;
  return Real(__builtin_sqrtf(x.v));
}
POLYFLY_FN Real reciprocal(Real x) {
  ++flops;
  return Real(1.0f / x.v);
}
POLYFLY_FN int bits(Real x) { return bits(x.v); }
POLYFLY_FN Real abs(Real x) { return Real(abs(x.v)); }
POLYFLY_FN float lane(Real x, int) { return x.v; }
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
POLYFLY_FN void compress_store(float* p, Real x, Mask m) {
  // Compressing in a register and storing whole is several times faster than the storing form.
  *(VRealU*)p = (VReal)_mm512_maskz_compress_ps(m.m, (__m512)x.v);
}
POLYFLY_FN void compress_store(int* p, Int x, Mask m) {
  *(VIntU*)p = (VInt)_mm512_maskz_compress_epi32(m.m, (__m512i)x.v);
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
POLYFLY_FN Real min(Real a, Real b) { return Real(a.v < b.v ? a.v : b.v); }
POLYFLY_FN Real max(Real a, Real b) { return Real(a.v > b.v ? a.v : b.v); }
#if defined(__FMA__) && POLYFLY_LANES == 8
POLYFLY_FN Real fma(Real a, Real b, Real c) {
  return Real((VReal)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v));
}
POLYFLY_FN Real sqrt(Real a) { return Real((VReal)_mm256_sqrt_ps((__m256)a.v)); }
#elif (defined(__x86_64__) || defined(__wasm_simd128__)) && POLYFLY_LANES == 4
// No fused instruction before AVX2, and none in WebAssembly (its relaxed one may round twice): the exact product of two
// floats fits a double, and rounding the sum to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// 2008) makes the second rounding, to float, the only one that counts.
typedef double VDouble __attribute__((vector_size(16)));
typedef long long VLong __attribute__((vector_size(16)));
POLYFLY_FN VDouble fma_to_odd(VDouble a, VDouble b, VDouble c) {
  VDouble product = a * b;
  VDouble sum = product + c;
  VDouble back = sum - product;
  VDouble error = (product - (sum - back)) + (c - back);
  VLong inexact = (error > 0.0) | (error < 0.0);
  VLong even = ((VLong)sum & 1) - 1;           // -1 where the last bit is 0
  VLong toward = (error > 0.0) ^ (sum > 0.0);  // -1 where the exact sum is nearer to zero
  return (VDouble)((VLong)sum + (inexact & even & (toward | 1)));
}
// Out of line: thousands of copies would take a compiler a minute, and are slower than calls.
#ifdef __wasm_simd128__
static __attribute__((noinline)) v128_t fused(v128_t a, v128_t b, v128_t c) {
#define DOUBLES(x) (VDouble) wasm_f64x2_promote_low_f32x4(x)
#define UPPER(x) wasm_i32x4_shuffle(x, x, 2, 3, 2, 3)
  const VDouble low = fma_to_odd(DOUBLES(a), DOUBLES(b), DOUBLES(c));
  const VDouble high = fma_to_odd(DOUBLES(UPPER(a)), DOUBLES(UPPER(b)), DOUBLES(UPPER(c)));
#undef DOUBLES
#undef UPPER
  return wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero((v128_t)low), wasm_f32x4_demote_f64x2_zero((v128_t)high), 0, 1, 4, 5);
}
POLYFLY_FN Real fma(Real a, Real b, Real c) { return Real((VReal)fused((v128_t)a.v, (v128_t)b.v, (v128_t)c.v)); }
POLYFLY_FN Real sqrt(Real a) { return Real((VReal)wasm_f32x4_sqrt((v128_t)a.v)); }
#else
static __attribute__((noinline)) __m128 fused(__m128 a, __m128 b, __m128 c) {
  const VDouble low = fma_to_odd(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
  a = _mm_movehl_ps(a, a), b = _mm_movehl_ps(b, b), c = _mm_movehl_ps(c, c);
  const VDouble high = fma_to_odd(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
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
template <class P, class V>
POLYFLY_FN void compress_lanes(P* p, V v, u32 m) {
  for (int n = 0; m; m &= m - 1) p[n++] = v[__builtin_ctz(m)];
}
POLYFLY_FN void compress_store(float* p, Real x, Mask m) { compress_lanes(p, x.v, mask_bits(m)); }
POLYFLY_FN void compress_store(int* p, Int x, Mask m) { compress_lanes(p, x.v, mask_bits(m)); }
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

#endif

#ifndef POLYFLY_CALLER
// Parameters that name the caller, and the same as arguments; the set `domain` defines them to record stray calls.
#define POLYFLY_CALLER
#define POLYFLY_OF_CALLER
#endif

// The bits of a single float, with any number of lanes.
POLYFLY_FN u32 float_bits(float x) {
#ifdef __CUDACC__
  return (u32)__float_as_int(x);
#else
  u32 i;
  __builtin_memcpy(&i, &x, 4);
  return i;
#endif
}

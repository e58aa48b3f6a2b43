// Reads of an array at an index of each lane. A processor's own gathers take one word of one lane at a time, so
// consecutive words are loaded together, lane by lane, and transposed.
#pragma once
#include "lane.cuh"

// Words of an array of T, of each lane.
template <class T>
struct LanesOf {
  typedef Int Type;
};
template <>
struct LanesOf<float> {
  typedef Real Type;
};
template <class T>
struct Two {
  typename LanesOf<T>::Type first, second;
};
template <class T>
struct Three {
  typename LanesOf<T>::Type first, second, third;
};

#if POLYFLY_LANES > 1 && defined(__x86_64__)
#if defined(POLYFLY_AVX512)
typedef __m512i Wide;
#define WIDE(name) _mm512_##name
#elif defined(__AVX2__)
typedef __m256i Wide;
#define WIDE(name) _mm256_##name
#else
typedef __m128i Wide;
#define WIDE(name) _mm_##name
#endif
// The words of lanes k, k + 4 and so on. at: the index of each lane.
template <class Load>
POLYFLY_FN Wide every_fourth(const int* p, const int* at, int k, const Load& load) {
#if defined(POLYFLY_AVX512)
  const Wide one = _mm512_inserti32x4(_mm512_castsi128_si512(load(p + at[k])), load(p + at[k + 4]), 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(one, load(p + at[k + 8]), 2), load(p + at[k + 12]), 3);
#elif defined(__AVX2__)
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load(p + at[k])), load(p + at[k + 4]), 1);
#else
  return load(p + at[k]);
#endif
}
// The first two words, and the first three without a read of the fourth.
struct LoadTwo {
  POLYFLY_METHOD __m128i operator()(const int* p) const { return _mm_loadl_epi64((const __m128i*)p); }
};
struct LoadThree {
  POLYFLY_METHOD __m128i operator()(const int* p) const {
#ifdef __AVX2__
    return _mm_maskload_epi32(p, _mm_setr_epi32(-1, -1, -1, 0));
#else
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i*)p), _mm_cvtsi32_si128(p[2]));
#endif
  }
};
// The lanes' words two by two: the first two of lanes i and i + 1, and the third ones.
struct Pairs {
  Wide low[2], high[2];
};
// Lanes outside of m read the array's first words.
template <class Load>
POLYFLY_FN Pairs gather_pairs(const int* p, Int i, Mask m, const Load& load) {
  alignas(64) int at[POLYFLY_LANES];
  store(at, select(m, i, Int(0)));
  const Wide a = every_fourth(p, at, 0, load), b = every_fourth(p, at, 1, load);
  const Wide c = every_fourth(p, at, 2, load), d = every_fourth(p, at, 3, load);
  return {{WIDE(unpacklo_epi32)(a, b), WIDE(unpacklo_epi32)(c, d)}, {WIDE(unpackhi_epi32)(a, b), WIDE(unpackhi_epi32)(c, d)}};
}
// The lanes of m as integers or floats, and zeros.
POLYFLY_FN Int words_of(const int*, Wide words, Mask m) { return select(m, Int((VInt)words), Int(0)); }
POLYFLY_FN Real words_of(const float*, Wide words, Mask m) { return select(m, Real((VReal)words), Real(0.0f)); }
template <class T>
POLYFLY_FN Two<T> gather_two(const T* p, Int i, Mask m) {
  if (!any(m)) return {0, 0};
  const Pairs pairs = gather_pairs((const int*)p, i, m, LoadTwo{});
  return {words_of(p, WIDE(unpacklo_epi64)(pairs.low[0], pairs.low[1]), m),
          words_of(p, WIDE(unpackhi_epi64)(pairs.low[0], pairs.low[1]), m)};
}
template <class T>
POLYFLY_FN Three<T> gather_three(const T* p, Int i, Mask m) {
  if (!any(m)) return {0, 0, 0};
  const Pairs pairs = gather_pairs((const int*)p, i, m, LoadThree{});
  return {words_of(p, WIDE(unpacklo_epi64)(pairs.low[0], pairs.low[1]), m),
          words_of(p, WIDE(unpackhi_epi64)(pairs.low[0], pairs.low[1]), m),
          words_of(p, WIDE(unpacklo_epi64)(pairs.high[0], pairs.high[1]), m)};
}
#undef WIDE
#else
template <class T>
POLYFLY_FN Two<T> gather_two(const T* p, Int i, Mask m) {
  return {gather(p, i, m), gather(p, i + Int(1), m)};
}
template <class T>
POLYFLY_FN Three<T> gather_three(const T* p, Int i, Mask m) {
  return {gather(p, i, m), gather(p, i + Int(1), m), gather(p, i + Int(2), m)};
}
#endif

// In builds with POLYFLY_BOUNDS: stops unless the indices of the lanes of m lie in an array of that length.
POLYFLY_FN void check_reads(int len, Int i, Mask m) {
#ifdef POLYFLY_BOUNDS
  const Int index = select(m, i, Int(0));
  for (int k = 0; k < POLYFLY_LANES; ++k) POLYFLY_CHECK(lane(index, k) >= 0 && lane(index, k) < len);
#else
  (void)len, (void)i, (void)m;
#endif
}
// Reads data[i] in the lanes of m. All reads of arrays whose index differs between lanes go through this and the next two.
// Other lanes get zeros.
template <class T>
POLYFLY_FN auto read(const T* data, int len, Int i, Mask m) -> decltype(gather(data, i, m)) {
  check_reads(len, i, m);
  return gather(data, i, m);
}
// Reads data[i] and data[i + 1].
template <class T>
POLYFLY_FN Two<T> read_two(const T* data, int len, Int i, Mask m) {
  check_reads(len, i, m);
  check_reads(len, i + Int(1), m);
  return gather_two(data, i, m);
}
// Reads data[i] to data[i + 2].
template <class T>
POLYFLY_FN Three<T> read_three(const T* data, int len, Int i, Mask m) {
  check_reads(len, i, m);
  check_reads(len, i + Int(2), m);
  return gather_three(data, i, m);
}

// The structs of types.def and builders.def, and the array types that they use.
#pragma once
#include "platform.cuh"

// A read-only array with its length. Scene data is read through at(), load() or read() of math.cuh only. load() reads a
// whole element, of whose fields most are used: a GPU takes sixteen bytes at a time from an array.
template <class T>
struct Array {
  const T* data;
  int len;
  int pad;
  POLYFLY_METHOD const T& at(int i) const {
    POLYFLY_CHECK(i >= 0 && i < len);
    return data[i];
  }
#ifdef __CUDACC__
  POLYFLY_METHOD T load(int i) const {
    static_assert(sizeof(T) % sizeof(float4) == 0, "at() reads smaller elements");
    T element;
    const float4* from = (const float4*)(data + i);
    for (int k = 0; k < (int)(sizeof(T) / sizeof(float4)); ++k) ((float4*)&element)[k] = __ldg(from + k);
    return element;
  }
#else
  POLYFLY_METHOD const T& load(int i) const { return at(i); }
#endif
};

// An array of few elements, stored in place.
template <class T, int N>
struct Inline {
  T data[N];
  int len;
  int pad[3];
  POLYFLY_METHOD const T& at(int i) const {
    POLYFLY_CHECK(i >= 0 && i < len);
    return data[i];
  }
  POLYFLY_METHOD const T& load(int i) const { return at(i); }
};

#define CONSTANT(name, value) constexpr int name = value;
#define REAL_CONSTANT(name, value) constexpr float name = (float)(value);
#define FEATURE(name, bit) constexpr u64 name = (u64)1 << bit;
#define FEATURES(name, features) constexpr u64 name = features;
#define STRUCT(name) struct alignas(16) name {
#define PLAIN_STRUCT(name) struct name {
#define FIELD(type, name) type name;
#define FIELDS(type, name, count) type name[count];
#define INLINE(type, name, max) Inline<type, max> name;
#define ABSENT(type, name) static constexpr Array<type> name = {nullptr, 0, 0};
// types.def's sizes are those with addresses of eight bytes, which hosts of GPUs have.
#define END(name, bytes) \
  }                      \
  ;                      \
  static_assert(sizeof(name) == bytes || sizeof(void*) != 8, "types.def says otherwise");
#include "features.def"
#include "types.def"
#include "builders.def"
#undef CONSTANT
#undef REAL_CONSTANT
#undef FEATURE
#undef FEATURES
#undef STRUCT
#undef PLAIN_STRUCT
#undef FIELD
#undef FIELDS
#undef INLINE
#undef ABSENT
#undef END

#define SHAPE(KIND, name, array, features) SHAPE_##KIND,
enum ShapeKind {
#include "shapes.def"
  SHAPE_KINDS
};
#undef SHAPE

// A struct's size and a field's offset in 32-bit words, for gathers.
#define WORDS(type) ((int)(sizeof(type) / 4))
#ifdef __CUDACC__
#define WORD(type, field) ((int)((u64) & ((type*)0)->field / 4))
#else
#define WORD(type, field) ((int)(__builtin_offsetof(type, field) / 4))
#endif

// The features that scenes of a type may have (Constants::features). Kernels for the type leave out all others, since
// unused code takes space in a GPU's instruction cache.
template <u64 FEATURES>
struct TraitsOf {
  static constexpr u64 features = FEATURES;
  static constexpr bool small = (FEATURES & FEATURE_ARRAYS) == 0;
  static constexpr bool grid = (FEATURES & FEATURE_TREE) == 0;  // balls in a grid, and no other shape
};
template <class S>
struct SceneTraits;
struct GridScene : Scene {};
struct PrimitivesScene : Scene {};
struct FullScene : Scene {};
template <>
struct SceneTraits<SmallScene> : TraitsOf<SMALL_FEATURES> {};
template <>
struct SceneTraits<GridScene> : TraitsOf<GRID_FEATURES> {};
// CPUs with several lanes trace small scenes by the plain kernels too: those for all features take up to an eighth longer.
#if POLYFLY_LANES > 1
template <>
struct SceneTraits<Scene> : TraitsOf<PLAIN_FEATURES | SMALL_FEATURES> {};
#else
template <>
struct SceneTraits<Scene> : TraitsOf<PLAIN_FEATURES> {};
#endif
template <>
struct SceneTraits<PrimitivesScene> : TraitsOf<PRIMITIVES_FEATURES> {};
template <>
struct SceneTraits<FullScene> : TraitsOf<ALL_FEATURES> {};

// Whether kernels for the type have all of these features, or one of them.
template <class S>
POLYFLY_METHOD constexpr bool has_features(u64 features) {
  return (features & ~SceneTraits<S>::features) == 0;
}
template <class S>
POLYFLY_METHOD constexpr bool has_any(u64 features) {
  return (features & SceneTraits<S>::features) != 0;
}
// Whether the scene has all of these features. What it does not have, kernels leave out: those for a type leave out all
// features that the type lacks; and when a GPU loads its kernels, the host tells them the features of the scene as a constant
// (src/device/gpu/modules.rs), so that the driver leaves out the others. CPUs ask the scene.
#ifdef POLYFLY_GPU
#ifdef __CUDACC__
// A driver folds numbers of 32 bits best, so it is told of half of the features at a time.
template <bool UPPER>
POLYFLY_FN u32 loaded_features() {
  u32 features;
  if constexpr (UPPER)
    asm("mov.b32 %0, 0x7eed7eee;" : "=r"(features));
  else
    asm("mov.b32 %0, 0x7eed7eed;" : "=r"(features));
  return features;
}
#else
template <bool UPPER>
POLYFLY_FN u32 loaded_features() {
  return spec_constant(UPPER, UPPER ? 0x7eed7eeeu : 0x7eed7eedu);
}
#endif
template <u64 FEATURES>
POLYFLY_FN bool has_loaded(bool all) {
  constexpr u32 lower = (u32)FEATURES, upper = (u32)(FEATURES >> 32);
  bool has = all;
  if constexpr (lower != 0) {
    const u32 found = loaded_features<false>() & lower;
    has = all ? found == lower : found != 0;
  }
  if constexpr (upper != 0) {
    const u32 found = loaded_features<true>() & upper;
    has = all ? has & (found == upper) : has | (found != 0);
  }
  return has;
}
#endif
template <u64 FEATURES, class S>
POLYFLY_FN bool uses(const S& scene) {
  if constexpr (!has_features<S>(FEATURES)) return false;
#ifdef POLYFLY_GPU
  return has_loaded<FEATURES>(true);
#else
  return (scene.constants.features & FEATURES) == FEATURES;
#endif
}
// Whether it has one of them.
template <u64 FEATURES, class S>
POLYFLY_FN bool uses_any(const S& scene) {
  if constexpr (!has_any<S>(FEATURES)) return false;
#ifdef POLYFLY_GPU
  return has_loaded<FEATURES>(false);
#else
  return (scene.constants.features & FEATURES) != 0;
#endif
}
// Whether surfaces may differ from those of simple materials: a floor's relief has a roughness as materials have.
template <class S>
POLYFLY_METHOD constexpr bool has_materials() {
  return has_any<S>(FEATURE_MATERIALS | FEATURE_FLOOR);
}
template <class S>
POLYFLY_FN bool uses_materials(const S& scene) {
  return uses_any<FEATURE_MATERIALS | FEATURE_FLOOR>(scene);
}
template <class S>
POLYFLY_FN bool uses_roughness(const S& scene) {
  return has_materials<S>() && uses<FEATURE_ROUGHNESS>(scene);
}

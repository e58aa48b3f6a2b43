// The structs of types.def, and the arrays that they are made of.
#pragma once
#include "platform.cuh"

// A read-only array with its length; every read of scene data goes through at() or math.cuh's read().
template <class T>
struct Array {
  const T* data;
  int len;
  int pad;
  POLYFLY_METHOD const T& at(int i) const {
    POLYFLY_CHECK(i >= 0 && i < len);
    return data[i];
  }
};

// The same for few elements, inside the struct that holds it.
template <class T, int N>
struct Inline {
  T data[N];
  int len;
  int pad[3];
  POLYFLY_METHOD const T& at(int i) const {
    POLYFLY_CHECK(i >= 0 && i < len);
    return data[i];
  }
};

#define CONSTANT(name, value) constexpr int name = value;
#define REAL_CONSTANT(name, value) constexpr float name = (float)(value);
#define STRUCT(name) struct alignas(16) name {
#define PLAIN_STRUCT(name) struct name {
#define FIELD(type, name) type name;
#define FIELDS(type, name, count) type name[count];
#define INLINE(type, name, max) Inline<type, max> name;
#define END(name, bytes) \
  }                      \
  ;                      \
  static_assert(sizeof(name) == bytes, "types.def says otherwise");
#include "types.def"
#undef CONSTANT
#undef REAL_CONSTANT
#undef STRUCT
#undef PLAIN_STRUCT
#undef FIELD
#undef FIELDS
#undef INLINE
#undef END

// A struct's size and a field's place in 32-bit words, for reads that differ from lane to lane.
#define WORDS(type) ((int)(sizeof(type) / 4))
#ifdef __CUDACC__
#define WORD(type, field) ((int)((u64) & ((type*)0)->field / 4))
#else
#define WORD(type, field) ((int)(__builtin_offsetof(type, field) / 4))
#endif

// What the text leaves out for scenes of few bodies: the tree, spheres and triangles, path tracing. And for plain ones:
// the sky's map; floors that are not square, flat and plain; lenses, filters and adaptive sampling; balls of light and
// emitters that light more than the floor; lamps that chase or are on one side; one-way mirrors, metal bodies, rough
// mirrors, glass that tints by distance or bends colours apart, smooth meshes; what shines, for paths. A RichScene may
// have them. A GPU has kernels for each, since what a scene does not need costs it room in the instruction cache; CPUs
// trace plain scenes as such without paths, and all others as rich ones.
struct RichScene : Scene {};
template <class S>
struct SceneTraits {
  static constexpr bool small = false;
  static constexpr bool plain = true;
};
template <>
struct SceneTraits<RichScene> {
  static constexpr bool small = false;
  static constexpr bool plain = false;
};
template <>
struct SceneTraits<SmallScene> {
  static constexpr bool small = true;
  static constexpr bool plain = true;
};

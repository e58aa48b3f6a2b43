// The CPU's entry points, compiled once per instruction set; build.rs defines POLYFLY_ISA and POLYFLY_LANES.
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace polyfly {
// Unnamed, so that the linker does not merge functions of different instruction sets.
namespace {
#include "../drivers/depth_first.cuh"
#include "../drivers/wavefront.cuh"
#include "../modules.cuh"
#include "../shapes/cells.cuh"
namespace tree {
#include "../shapes/tree.cuh"
}

// The scene as a type.
template <class S>
const S& scene_as(const Scene& scene, const SmallScene* small) {
  if constexpr (SceneTraits<S>::small)
    return static_cast<const S&>(*small);
  else
    return static_cast<const S&>(scene);
}

// Traces a tile with the first template instance of modules.def that covers the scene. The set of tests/domain has the
// instances of a GPU, which it stands in for; other sets have fewer.
void trace_any_tile(const Scene& scene, const SmallScene* small, const FrameParams& frame, const Launch& launch,
                    const FilmBuffers& film, int left, int top, void* scratch, Counts& counts) {
  const int code = scene.constants.integrator;
  const u64 features = scene.constants.features;
#define TRACE(integrator, kind)                                                               \
  if (code == integrator##_code && !(features & ~SceneTraits<kind##_scene>::features))        \
    return trace_tile<integrator##_integrator>(scene_as<kind##_scene>(scene, small), frame, launch, film, left, top, \
                                               scratch, counts);
#if defined(POLYFLY_DOMAIN)
#define MODULE(integrator, kind, threads, blocks, adaptive_blocks) TRACE(integrator, kind)
#else
#define TILE(integrator, kind) TRACE(integrator, kind)
#endif
#include "../modules.def"
  __builtin_trap();
}

template <class Integrator>
void trace_feature_tile(const FullScene& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film,
                        int left, int top) {
  const Constants& constants = scene.constants;
  for (int y = top; y < top + TILE && y < constants.height; ++y) {
    for (int x = left; x < left + TILE && x < constants.width; x += POLYFLY_LANES) {
      const int n = constants.width - x < left + TILE - x ? constants.width - x : left + TILE - x;
      Features out[POLYFLY_LANES];
      trace_features<Integrator>(scene, frame, launch, lane_index() + Int(x), Int(y), first_lanes(n), out);
      for (int i = 0; i < POLYFLY_LANES && i < n; ++i) film.features[film_index(constants, film, x + i, y)] = out[i];
    }
  }
}
}  // namespace

#include "entries.cuh"

extern "C" {

u64 POLYFLY_NAME(scratch_bytes)(const Scene* scene) { return scratch_bytes(scene->constants.depth); }

void POLYFLY_NAME(trace_tile)(const Scene* scene, const SmallScene* small, const FrameParams* frame,
                               const Launch* launch, const FilmBuffers* film, int left, int top, void* scratch,
                               Counts* counts) {
  if (!film->features) {
    trace_any_tile(*scene, small, *frame, *launch, *film, left, top, scratch, *counts);
    return;
  }
#define INTEGRATOR(name, type, rays)         \
  if (scene->constants.integrator == name##_code) \
    trace_feature_tile<type>(static_cast<const FullScene&>(*scene), *frame, *launch, *film, left, top);
#include "../modules.def"
}

void POLYFLY_NAME(tone_map)(const Scene* scene, const float* linear, i64 n, int dither, int row, u32* rgba) {
  for (i64 at = 0; at < n; at += POLYFLY_LANES) {
    const int lanes = n - at < POLYFLY_LANES ? (int)(n - at) : POLYFLY_LANES;
    const Mask m = first_lanes(lanes);
    const Int i = lane_index() * Int(3);
    const Vec light = read_vec(linear + 3 * at, 3 * lanes, i, m);
    const Int threshold = dither ? dither_threshold(lane_index() + Int((int)at), Int(row)) : Int(128);
    const Int colour = tone_map_rgb(*scene, light.x, light.y, light.z, m, threshold);
    for (int j = 0; j < lanes; ++j) rgba[at + j] = (u32)lane(colour, j);
  }
}

void POLYFLY_NAME(closest_hits)(const Scene* scene, const float* origins, const float* directions, int n, int way,
                                 float* t, int* surface) {
  for (int at = 0; at < n; at += POLYFLY_LANES) {
    const Mask m = first_lanes(n - at);
    const Int i = (lane_index() + Int(at)) * Int(3);
    Ray ray = {};
    ray.o = read_vec(origins, 3 * n, i, m);
    ray.d = read_vec(directions, 3 * n, i, m);
    ray.last_surface = Int(NO_ORIGIN);
    Hit hit = {Real(FAR), Int(NO_SURFACE), first_lanes(0), Real(0.0f), Real(0.0f)};
    const FullScene& full = static_cast<const FullScene&>(*scene);
    const Interval kept = kept_interval(full, ray.o, ray.d);
    if (way == 1) {
#define SHAPE(KIND, name, array, features) \
  for (int k = 0; k < scene->array.len; ++k) intersect_##name(full, k, ray, kept, m, hit);
#include "../shapes.def"
#undef SHAPE
    } else {
      ClosestHitVisitor<FullScene> visitor = {full, ray, kept, m, hit};
#if POLYFLY_LANES == 1
      if (way == 2)
        walk_grid(*scene, ray.o, ray.d, visitor);
      else
#endif
        walk_bvh(*scene, ray.o, ray.d, visitor);
    }
    for (int j = 0; j < POLYFLY_LANES && at + j < n; ++j) {
      t[at + j] = lane(hit.t, j);
      surface[at + j] = lane(hit.surface, j);
    }
  }
}

void POLYFLY_NAME(cells)(const CellPlan* plan, const Sphere* spheres, int step, u32* cells, CellTotals* totals,
                         int* list) {
  for (int i = 0; i < (step == 2 ? plan->runs : plan->balls); ++i) {
    if (step == 1) count_ball(*plan, spheres, cells, i);
    if (step == 2) place_cells(*plan, cells, totals, i);
    if (step == 3) list_ball(*plan, spheres, cells, list, i);
  }
}

void POLYFLY_NAME(tree_step)(const TreeWork* work, int step, int threads) {
  int row = 0;
#define TREE_STEP(name) \
  if (row++ == step)    \
    for (int i = threads; i-- > 0;) tree::name(*work, i);
#include "../shapes/tree_steps.def"
#undef TREE_STEP
}

void POLYFLY_NAME(light_points)(const Scene* scene, const float* points, int n, const float* normal,
                                 const float* lamps, const float* normals, const float* colours, int lamp_count,
                                 int from, float softening, float* light) {
  for (int at = 0; at < n; at += POLYFLY_LANES) {
    const Mask m = first_lanes(n - at);
    const Int i = (lane_index() + Int(at)) * Int(3);
    const Vec p =
        vec(read(points, 3 * n, i, m), read(points, 3 * n, i + Int(1), m), read(points, 3 * n, i + Int(2), m));
    Vec sum = vec(Real(0.0f), Real(0.0f), Real(0.0f));
    for (int k = 0; k < lamp_count; ++k) {
      const Vec d = vec(lamps + 3 * k) - p;
      const Real cosine = dot(normal, d), lamp_cosine = -dot(normals + 3 * k, d);
      const Mask facing = m & (cosine > Real(0.0f)) & (lamp_cosine > Real(0.0f));
      if (!any(facing)) continue;
      const Real square = dot(d, d) + Real(softening);
      const Real strength = cosine * lamp_cosine / (square * square);
      const Vec left = transmittance(static_cast<const FullScene&>(*scene), p, d, Int(from), facing);
      sum = sum + select(facing, left * vec(colours + 3 * k) * strength, vec(Real(0.0f), Real(0.0f), Real(0.0f)));
    }
    for (int j = 0; j < POLYFLY_LANES && at + j < n; ++j) {
      light[3 * (at + j)] = lane(sum.x, j);
      light[3 * (at + j) + 1] = lane(sum.y, j);
      light[3 * (at + j) + 2] = lane(sum.z, j);
    }
  }
}

void POLYFLY_NAME(get_2d)(const Scene* scene, const FrameParams* frame, int px, int py, int pair, int n, float* out) {
  for (int at = 0; at < n; at += POLYFLY_LANES) {
    const Int sample = lane_index() + Int(at);
    const Pair drawn = get_2d(sample_point(scene->constants, *frame, Int(px), Int(py), sample), Int(pair));
    for (int j = 0; j < POLYFLY_LANES && at + j < n; ++j) {
      out[2 * (at + j)] = (float)lane(drawn.u, j);
      out[2 * (at + j) + 1] = (float)lane(drawn.v, j);
    }
  }
}

int POLYFLY_NAME(layout)(int* out) {
  int n = 0;
#define CONSTANT(name, value)
#define REAL_CONSTANT(name, value)
#define FEATURE(name, bit)
#define FEATURES(name, features)
#define STRUCT(name)     \
  {                      \
    typedef name Struct; \
    out[n++] = (int)sizeof(Struct);
#define PLAIN_STRUCT(name) STRUCT(name)
#define FIELD(type, name) out[n++] = (int)__builtin_offsetof(Struct, name);
#define FIELDS(type, name, count) FIELD(type, name)
#define INLINE(type, name, max) FIELD(type, name)
#define ABSENT(type, name)
#define END(name, bytes) }
#include "../types.def"
#include "../builders.def"
  return n;
}

void POLYFLY_NAME(fused)(const float* a, const float* b, const float* c, float* r, int n) {
  for (int at = 0; at + POLYFLY_LANES <= n; at += POLYFLY_LANES) {
#if POLYFLY_LANES > 1
    store(r + at, fma(load(a + at), load(b + at), load(c + at)));
#else
    r[at] = (float)fma(Real(a[at]), Real(b[at]), Real(c[at]));
#endif
  }
}
}

}  // namespace polyfly

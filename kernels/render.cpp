// The CPU's entries, one object for each instruction set; build.rs says which this one is.
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace {
#include "wave.cuh"
}

#define POLYFLY_PASTE2(a, b) a##b
#define POLYFLY_PASTE(a, b) POLYFLY_PASTE2(a, b)
#define ENTRY(name) POLYFLY_PASTE(name##_, POLYFLY_ISA)

extern "C" {

// Bytes of scratch memory that trace_tile needs, 64-byte aligned.
u64 ENTRY(polyfly_scratch_bytes)(const Scene* scene) { return scratch_bytes(scene->depth); }

// Traces the tile whose first pixel is (left, top) into the picture, and adds to the counts.
void ENTRY(polyfly_trace_tile)(const Scene* scene, const Frame* frame, int left, int top, u32* rgba, void* scratch, Counts* counts) {
  trace_tile(*scene, *frame, left, top, rgba, scratch, *counts);
}

// The picture of n pixels from their sums; scale: 1 / (FIXED_ONE samples).
void ENTRY(polyfly_develop)(const Scene* scene, const i64* sums, i64 n, float scale, u32* rgba) {
#if POLYFLY_LANES > 1
  const Mask all = first_lanes(POLYFLY_LANES);
#else
  const Mask all = true;
#endif
  for (i64 at = 0; at < n; at += POLYFLY_LANES) {
    float light[3][POLYFLY_LANES];
    int colours[POLYFLY_LANES];
    for (int i = 0; i < POLYFLY_LANES; ++i)
      for (int c = 0; c < 3; ++c) light[c][i] = at + i < n ? (float)sums[3 * (at + i) + c] : 0.0f;
#if POLYFLY_LANES > 1
    store(colours, pack_rgba(develop(*scene, load(light[0]), scale, all), develop(*scene, load(light[1]), scale, all),
                             develop(*scene, load(light[2]), scale, all)));
#else
    colours[0] = pack_rgba(develop(*scene, light[0][0], scale, all), develop(*scene, light[1][0], scale, all),
                           develop(*scene, light[2][0], scale, all));
#endif
    for (int i = 0; i < POLYFLY_LANES && at + i < n; ++i) rgba[at + i] = (u32)colours[i];
  }
}

// For tests: what n rays meet first, with the tree (0) or by asking everything in turn (1): distance and surface.
void ENTRY(polyfly_meet)(const Scene* scene, const float* origins, const float* directions, int n, int in_turn, float* t, int* surface) {
  for (int at = 0; at < n; at += POLYFLY_LANES) {
    const Mask m = first_lanes(n - at);
    const Int i = (lane_index() + Int(at)) * Int(3);
    Ray ray = {};
    ray.o = read_vec(origins, 3 * n, i, m);
    ray.d = read_vec(directions, 3 * n, i, m);
    ray.from = Int(FROM_NOWHERE);
    Hit hit = {Real(FAR), Int(NO_SURFACE), first_lanes(0), Real(0.0f), Real(0.0f)};
    if (in_turn) {
      for (int k = 0; k < scene->bodies.len; ++k) meet_body(*scene, k, ray, m, hit);
      for (int k = 0; k < scene->balls.len; ++k) meet_ball(*scene, k, ray, m, hit);
      for (int k = 0; k < scene->triangles.len; ++k) meet_triangle(*scene, k, ray, m, hit);
    } else {
      closest_in_tree(*scene, ray, m, hit);
    }
    for (int j = 0; j < POLYFLY_LANES && at + j < n; ++j) {
      t[at + j] = lane(hit.t, j);
      surface[at + j] = lane(hit.surface, j);
    }
  }
}

// Converts block rows first .. end of a picture to the planes of a YUV 4:2:0 one.
void ENTRY(polyfly_convert)(const u32* rgba, int width, int height, int first, int end, u8* y, u8* u, u8* v) {
  for (int by = first; by < end; ++by)
    for (int bx = 0; bx < (width + 1) / 2; ++bx) convert_block(rgba, width, height, bx, by, y, u, v);
}

// How much light of the lamps reaches points: for each point, the light of each lamp times the
// cosine over the squared distance, through whatever stands between.
// points and lamps: x, y, z; colours: linear; light: r, g, b for each point.
void ENTRY(polyfly_light_points)(const Scene* scene, const float* points, int n, const float* normal, const float* lamps,
                                 const float* colours, int lamp_count, int from, float softening, float* light) {
#if POLYFLY_LANES > 1
  const Mask everything = first_lanes(POLYFLY_LANES);
#else
  const Mask everything = true;
#endif
  for (int at = 0; at < n; at += POLYFLY_LANES) {
    const Mask m = first_lanes(n - at) & everything;
    const Int i = (lane_index() + Int(at)) * Int(3);
    const Vec p = vec(read(points, 3 * n, i, m), read(points, 3 * n, i + Int(1), m), read(points, 3 * n, i + Int(2), m));
    Vec sum = vec(Real(0.0f), Real(0.0f), Real(0.0f));
    for (int k = 0; k < lamp_count; ++k) {
      const Vec d = vec(lamps + 3 * k) - p;
      const Real cosine = dot(normal, d);
      const Mask facing = m & (cosine > Real(0.0f));
      if (!any(facing)) continue;
      const Real square = dot(d, d) + Real(softening);
      const Real strength = cosine / (square * root(square));
      const Vec left = transmittance(*scene, p, d, Int(from), facing);
      sum = sum + select(facing, left * vec(colours + 3 * k) * strength, vec(Real(0.0f), Real(0.0f), Real(0.0f)));
    }
    for (int j = 0; j < POLYFLY_LANES && at + j < n; ++j) {
      light[3 * (at + j)] = lane(sum.x, j);
      light[3 * (at + j) + 1] = lane(sum.y, j);
      light[3 * (at + j) + 2] = lane(sum.z, j);
    }
  }
}

#ifdef POLYFLY_COUNT
// Floating-point operations of this thread so far.
u64 ENTRY(polyfly_flops)() { return flops; }
#endif

// For tests: r = fused multiply-add of n triples, lane by lane.
void ENTRY(polyfly_fused)(const float* a, const float* b, const float* c, float* r, int n) {
  for (int at = 0; at + POLYFLY_LANES <= n; at += POLYFLY_LANES) {
#if POLYFLY_LANES > 1
    store(r + at, mad(load(a + at), load(b + at), load(c + at)));
#else
    r[at] = (float)mad(Real(a[at]), Real(b[at]), Real(c[at]));
#endif
  }
}
}

// src/layout.rs asserts the same numbers.
static_assert(sizeof(Slab) == 32, "");
static_assert(sizeof(Body) == 112 && __builtin_offsetof(Body, lamp_colour) == 64, "");
static_assert(sizeof(Light) == 32, "");
static_assert(sizeof(Patch) == 64, "");
static_assert(sizeof(Level) == 16, "");
static_assert(sizeof(Node) == 64, "");
static_assert(sizeof(Ball) == 16, "");
static_assert(sizeof(Triangle) == 48, "");
static_assert(sizeof(Material) == 64, "");
static_assert(sizeof(Emitter) == 48, "");
static_assert(sizeof(Scene) == 368 && __builtin_offsetof(Scene, glow_size) == 304, "");
static_assert(sizeof(Frame) == 64, "");
static_assert(sizeof(Counts) == 32, "");

// The CPU's driver: a tile's rays and shadow rays wait in piles, and the tracer always takes as many
// from the top of one as there are lanes. Children are written back side by side, so no lane idles
// because its neighbour's path ended; the last-in, first-out order keeps the piles small. Rays inside
// a sealed body have a pile of their own: together they ask one body, apart they would ask them all.
#pragma once
#include "trace.cuh"

#define TILE 16  // pixels along a tile's side

#if POLYFLY_LANES > 1

#define RAY_WORDS 13
#define SHADOW_WORDS 11

// Room for the rays of a tile: a pile usually holds a few lanes' worth a level. When one nears its end,
// rays are taken from it one at a time and all their children go back to it, which adds one a level at
// most, so it cannot overflow.
#define RAY_SPARE (DEPTH_MOST + 3 * POLYFLY_LANES)
#define RAY_ROOM (POLYFLY_LANES * (DEPTH_MOST + 4) + RAY_SPARE)
#define SHADOW_ROOM (3 * POLYFLY_LANES)

template <int ROOM>
struct Pile {
  float* words;  // word w of entry i at words[w * ROOM + i]
  int len;
};
template <int ROOM>
POLYFLY_FN float* word(const Pile<ROOM>& pile, int w, int at) {
  POLYFLY_CHECK(at >= 0 && at + POLYFLY_LANES <= ROOM);
  return pile.words + w * ROOM + at;
}
typedef Pile<RAY_ROOM> Rays;
typedef Pile<SHADOW_ROOM> Shadows;
POLYFLY_FN void push(Rays& pile, const Ray& r, Mask m) {
  POLYFLY_CHECK(pile.len + POLYFLY_LANES <= RAY_ROOM);
  const Real reals[10] = {r.o.x, r.o.y, r.o.z, r.d.x, r.d.y, r.d.z, r.weight.x, r.weight.y, r.weight.z, r.length};
  for (int w = 0; w < 10; ++w) compress_store(word(pile, w, pile.len), reals[w], m);
  compress_store(word(pile, 10, pile.len), from_bits(r.from), m);
  compress_store(word(pile, 11, pile.len), from_bits(r.bounces), m);
  compress_store(word(pile, 12, pile.len), from_bits(r.pixel), m);
  pile.len += count(m);
}
template <int ROOM>
POLYFLY_FN Vec load_vec(const Pile<ROOM>& pile, int w, int at) {
  return vec(load(word(pile, w, at)), load(word(pile, w + 1, at)), load(word(pile, w + 2, at)));
}
// Takes the top n rays into the first n lanes.
POLYFLY_FN Ray pop(Rays& pile, int n) {
  pile.len -= n;
  Ray r;
  r.o = load_vec(pile, 0, pile.len);
  r.d = load_vec(pile, 3, pile.len);
  r.weight = load_vec(pile, 6, pile.len);
  r.length = load(word(pile, 9, pile.len));
  r.from = bits(load(word(pile, 10, pile.len)));
  r.bounces = bits(load(word(pile, 11, pile.len)));
  r.pixel = bits(load(word(pile, 12, pile.len)));
  return r;
}

// The tile's light: three sums a pixel.
POLYFLY_FN void add(i64* sums, Int pixel, Vec light, Mask m) {
  int at[POLYFLY_LANES], r[POLYFLY_LANES], g[POLYFLY_LANES], b[POLYFLY_LANES];
  store(at, pixel);
  store(r, to_fixed(light.x));
  store(g, to_fixed(light.y));
  store(b, to_fixed(light.z));
  for (u32 left = mask_bits(m); left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    // The bits above hold path tracing's sample.
    i64* sum = sums + 4 * (at[i] & (TILE * TILE - 1));
    sum[0] += r[i];
    sum[1] += g[i];
    sum[2] += b[i];
  }
}

struct Tracer {
  const Scene& scene;
  const Frame& frame;
  Rays open, sealed;
  Shadows shadows;
  i64* sums;
  Counts counts;
  int left, top;  // the tile's first pixel
};

static __attribute__((noinline)) void settle_shadows(Tracer& t, int n) {
  t.shadows.len -= n;
  const int at = t.shadows.len;
  const Vec o = load_vec(t.shadows, 0, at), d = load_vec(t.shadows, 3, at), colour = load_vec(t.shadows, 6, at);
  const Int from = bits(load(word(t.shadows, 9, at))), pixel = bits(load(word(t.shadows, 10, at)));
  const Mask active = first_lanes(n);
  t.counts.shadow_rays += n;
  const Vec left = transmittance(t.scene, o, d, from, active);
  add(t.sums, pixel, colour * left, active & (brightest(left) > Real(0.0f)));
}
POLYFLY_FN void push_shadow(Shadows& pile, const Surface& s, const Lit& lit, Int pixel) {
  const Real reals[9] = {s.p.x, s.p.y, s.p.z, lit.towards.x, lit.towards.y, lit.towards.z, lit.colour.x, lit.colour.y, lit.colour.z};
  for (int w = 0; w < 9; ++w) compress_store(word(pile, w, pile.len), reals[w], lit.some);
  compress_store(word(pile, 9, pile.len), from_bits(s.same_side), lit.some);
  compress_store(word(pile, 10, pile.len), from_bits(pixel), lit.some);
  pile.len += count(lit.some);
}

// Puts children on the pile they belong to, or all of them on `only`.
POLYFLY_FN void keep(Tracer& t, const Ray& ray, Mask m, Rays* only) {
  if (!any(m)) return;
  if (only) {
    push(*only, ray, m);
    return;
  }
  const Mask shut = m & ((ray.from & Int(SEALED)) != Int(0));
  const Mask open = m & !shut;
  if (any(shut)) push(t.sealed, ray, shut);
  if (any(open)) push(t.open, ray, open);
}

// Asks for the light of lit lanes, many at a time.
POLYFLY_FN void ask(Tracer& t, const Surface& s, const Lit& lit, Int pixel) {
  if (!any(lit.some)) return;
  if (!t.scene.shadows) {
    add(t.sums, pixel, lit.colour, lit.some);
    return;
  }
  push_shadow(t.shadows, s, lit, pixel);
  if (t.shadows.len >= POLYFLY_LANES) settle_shadows(t, POLYFLY_LANES);
}

// Item -> pixel of the tile: neighbouring items are 4 x 4 blocks of pixels, for lanes that agree.
POLYFLY_FN void pixel_place(Int pixel, Int& x, Int& y) {
  x = (pixel & Int(3)) | ((pixel >> 2) & Int(12));
  y = ((pixel >> 2) & Int(3)) | ((pixel >> 4) & Int(12));
}

// One bounce of path tracing for the active lanes.
static __attribute__((noinline)) void bounce_path(Tracer& t, const Ray& ray, Mask active, Rays* only) {
  const Scene& scene = t.scene;
  t.counts.rays += count(active);
  const Hit hit = closest(scene, ray, active);
  const Mask met = active & (hit.surface != Int(NO_SURFACE)), away = active & !met;
  if (any(away)) add(t.sums, ray.pixel, ray.weight * sky(scene, ray.d), away);
  if (!any(met)) return;
  const Surface s = find_surface(scene, t.frame, ray, hit, met);
  const Mask glows = met & ((ray.bounces & Int(ASKED_EMITTERS)) == Int(0)) & (brightest(s.emission) > Real(0.0f));
  if (any(glows)) add(t.sums, ray.pixel, ray.weight * s.emission, glows);
  Int x, y;
  pixel_place(ray.pixel & Int(TILE * TILE - 1), x, y);
  const Int seed = seed_of(t.frame, x + Int(t.left), y + Int(t.top), ray.pixel >> 8);
  const Mask lit_ones = met & (brightest(s.albedo) > Real(0.0f));
  if (any(lit_ones)) {
    for (int i = 0; i < scene.lights.len; ++i) ask(t, s, lit_by(scene, scene.lights.at(i), ray, s, lit_ones), ray.pixel);
    if (scene.emitters.len > 0) ask(t, s, ask_emitter(scene, ray, s, seed, lit_ones), ray.pixel);
  }
  Mask goes;
  const Ray next = scatter(scene, ray, s, seed, hit.t, met, goes);
  keep(t, next, goes, only);
}

// One bounce for the active lanes.
static __attribute__((noinline)) void bounce(Tracer& t, const Ray& ray, Mask active, Rays* only) {
  const Scene& scene = t.scene;
  t.counts.rays += count(active);
  const Hit hit = closest(scene, ray, active);
  const Mask met = active & (hit.surface != Int(NO_SURFACE));
  if (!any(met)) {
    add(t.sums, ray.pixel, ray.weight * sky(scene, ray.d), active);
    return;
  }
  const Surface s = find_surface(scene, t.frame, ray, hit, met);
  add(t.sums, ray.pixel, unshadowed(scene, ray, s, met), active);
  for (int i = 0; i < scene.lights.len; ++i) {
    ask(t, s, lit_by(scene, scene.lights.at(i), ray, s, met), ray.pixel);
  }
  const Children c = spread(scene, ray, s, hit.t, met);
  keep(t, c.reflected, c.reflects, only);
  keep(t, c.transmitted, c.transmits, only);
}

// Takes the top n rays of a pile one bounce further.
POLYFLY_FN void take(Tracer& t, Rays& pile, int n, Rays* only) {
  const Ray ray = pop(pile, n);
  if (t.scene.path) {
    bounce_path(t, ray, first_lanes(n), only);
  } else {
    bounce(t, ray, first_lanes(n), only);
  }
}

POLYFLY_FN u64 scratch_bytes(int) { return 8ull * 4 * TILE * TILE + 4ull * (2 * RAY_WORDS * RAY_ROOM + SHADOW_WORDS * SHADOW_ROOM); }

POLYFLY_FN void trace_tile(const Scene& scene, const Frame& frame, int left, int top, u32* rgba, void* scratch, Counts& counts) {
  i64* sums = (i64*)scratch;
  float* open = (float*)(sums + 4 * TILE * TILE);
  float* sealed = open + RAY_WORDS * RAY_ROOM;
  float* shadows = sealed + RAY_WORDS * RAY_ROOM;
  Tracer t = {scene, frame, {open, 0}, {sealed, 0}, {shadows, 0}, sums, {0, 0, 0, 0}, left, top};
  for (int i = 0; i < 4 * TILE * TILE; ++i) sums[i] = 0;

  const int each = scene.each;
  const int items = TILE * TILE * each;
  int next = 0;
  for (;;) {
    if (t.open.len + RAY_SPARE > RAY_ROOM) {
      take(t, t.open, 1, &t.open);
    } else if (t.sealed.len + RAY_SPARE > RAY_ROOM) {
      take(t, t.sealed, 1, &t.sealed);
    } else if (t.open.len >= POLYFLY_LANES) {
      take(t, t.open, POLYFLY_LANES, 0);
    } else if (t.sealed.len >= POLYFLY_LANES) {
      take(t, t.sealed, POLYFLY_LANES, 0);
    } else if (next < items) {
      const Int item = lane_index() + Int(next);
      // Exact for every item: items stay far below 2^24.
      const Int pixel = each == 1 ? item : to_int((to_real(item) + Real(0.5f)) / Real((float)each));
      Int x, y;
      pixel_place(pixel, x, y);
      const Int px = x + Int(left), py = y + Int(top);
      const Mask inside = (item < Int(items)) & (px < Int(scene.width)) & (py < Int(scene.height));
      next += POLYFLY_LANES;
      const Int sample = item - pixel * Int(each) + Int(scene.first_sample);
      if (!any(inside)) continue;
      const Ray ray = camera_ray(scene, frame, px, py, sample, scene.path ? pixel | (sample << 8) : pixel);
      if (scene.path) {
        bounce_path(t, ray, inside, 0);
      } else {
        bounce(t, ray, inside, 0);
      }
    } else if (t.open.len > 0) {
      take(t, t.open, t.open.len, 0);
    } else if (t.sealed.len > 0) {
      take(t, t.sealed, t.sealed.len, 0);
    } else {
      break;
    }
  }
  if (t.shadows.len > 0) settle_shadows(t, t.shadows.len);
  counts.rays += t.counts.rays;
  counts.shadow_rays += t.counts.shadow_rays;

  const float scale = 1.0f / (FIXED_ONE * (float)each);
  if (scene.sums.len > 0) {
    for (int i = 0; i < TILE * TILE; ++i) {
      Int x, y;
      pixel_place(Int(i), x, y);
      const int px = lane(x, 0) + left, py = lane(y, 0) + top;
      if (px < scene.width && py < scene.height) leave_sums(scene, px, py, sums[4 * i], sums[4 * i + 1], sums[4 * i + 2]);
    }
    return;
  }
  for (int at = 0; at < TILE * TILE; at += POLYFLY_LANES) {
    float r[POLYFLY_LANES], g[POLYFLY_LANES], b[POLYFLY_LANES];
    int colours[POLYFLY_LANES], xs[POLYFLY_LANES], ys[POLYFLY_LANES];
    for (int i = 0; i < POLYFLY_LANES; ++i) {
      const i64* sum = sums + 4 * (at + i);
      r[i] = (float)sum[0];
      g[i] = (float)sum[1];
      b[i] = (float)sum[2];
    }
    const Mask m = first_lanes(POLYFLY_LANES);
    store(colours, pack_rgba(develop(scene, load(r), scale, m), develop(scene, load(g), scale, m), develop(scene, load(b), scale, m)));
    Int x, y;
    pixel_place(lane_index() + Int(at), x, y);
    store(xs, x + Int(left));
    store(ys, y + Int(top));
    for (int i = 0; i < POLYFLY_LANES; ++i)
      if (xs[i] < scene.width && ys[i] < scene.height) rgba[(i64)ys[i] * scene.width + xs[i]] = (u32)colours[i];
  }
}

#else

POLYFLY_FN u64 scratch_bytes(int depth) { return sizeof(Pending) * (u64)depth; }

// The GPU's driver on the host, pixel after pixel: what the tests without a GPU compare.
POLYFLY_FN void trace_tile(const Scene& scene, const Frame& frame, int left, int top, u32* rgba, void* scratch, Counts& counts) {
  const int each = scene.each;
  const float scale = 1.0f / (FIXED_ONE * (float)each);
  for (int py = top; py < top + TILE && py < scene.height; ++py) {
    for (int px = left; px < left + TILE && px < scene.width; ++px) {
      Sum sum = {0, 0, 0};
      Tally tally = {0, 0};
      for (int i = 0; i < each; ++i) {
        const int sample = i + scene.first_sample;
        if (scene.path) {
          trace_path(scene, frame, camera_ray(scene, frame, px, py, sample, 0), seed_of(frame, px, py, sample), sum, tally);
        } else {
          trace_sample(scene, frame, camera_ray(scene, frame, px, py, sample, 0), (Pending*)scratch, sum, tally);
        }
      }
      counts.rays += tally.rays;
      counts.shadow_rays += tally.shadow_rays;
      if (scene.sums.len > 0) {
        leave_sums(scene, px, py, sum.r, sum.g, sum.b);
        continue;
      }
      rgba[(i64)py * scene.width + px] =
          (u32)pack_rgba(develop(scene, (float)sum.r, scale, true), develop(scene, (float)sum.g, scale, true), develop(scene, (float)sum.b, scale, true));
    }
  }
}

#endif

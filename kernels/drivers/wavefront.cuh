// The wavefront driver of CPUs: a tile's rays and shadow rays wait in queues, and each bounce takes as many rays from
// the end of a queue as there are lanes. Secondary rays are compacted, so lanes stay busy when paths end at different
// depths; last-in, first-out order keeps the queues short. Rays inside an isolated body have a queue of their own, so
// that all lanes test a single body. Where rays meet the floor, shapes or nothing, those of one kind wait for others, so that
// all lanes shade alike.
#pragma once
#include "../adaptive.cuh"
#include "../integrators/features.cuh"

#if POLYFLY_LANES > 1

// Words of a ray, and of an integrator's state.
constexpr int RAY_WORDS = 13, MAX_STATE_WORDS = 1, QUEUE_WORDS = RAY_WORDS + MAX_STATE_WORDS;
constexpr int SHADOW_WORDS = 11;

// Kinds of hits that wait apart, and a ray's words with those of its hit.
constexpr int HIT_KINDS = 3, HIT_WORDS = QUEUE_WORDS + 5;
// Hits of this many lanes do not wait.
constexpr int FULL_ENOUGH = POLYFLY_LANES * 3 / 4;

// Capacity of a tile's ray queues: usually a queue holds a few lanes' worth per bounce. When a queue is nearly full,
// rays are taken from it one at a time and all their children return to it. That adds at most one ray per bounce, so
// the queue cannot overflow. The step before that may shade a full set of lanes for each kind of hit, each with two rays.
constexpr int RAY_SPARE = MAX_DEPTH + 2 * (HIT_KINDS + 1) * POLYFLY_LANES;
constexpr int RAY_CAPACITY = POLYFLY_LANES * (MAX_DEPTH + 4) + RAY_SPARE;
constexpr int SHADOW_CAPACITY = 3 * POLYFLY_LANES;
constexpr int HIT_CAPACITY = 2 * POLYFLY_LANES;

template <int CAPACITY>
struct Queue {
  float* words;  // word w of entry i at words[w * CAPACITY + i]
  int len;
  POLYFLY_METHOD float* word(int w, int at) const {
    POLYFLY_CHECK(at >= 0 && at + POLYFLY_LANES <= CAPACITY);
    return words + w * CAPACITY + at;
  }
  POLYFLY_METHOD Vec load_vec(int w, int at) const {
    return vec(load(word(w, at)), load(word(w + 1, at)), load(word(w + 2, at)));
  }
  POLYFLY_METHOD Int load_int(int w, int at) const { return bits(load(word(w, at))); }
};
typedef Queue<RAY_CAPACITY> RayQueue;
typedef Queue<SHADOW_CAPACITY> ShadowQueue;
typedef Queue<HIT_CAPACITY> HitQueue;

template <int CAPACITY, class State>
POLYFLY_FN void enqueue(Queue<CAPACITY>& queue, const Ray& r, State state, Mask m) {
  POLYFLY_CHECK(queue.len + POLYFLY_LANES <= CAPACITY);
  const Packing to = packing(m);
  int w = 0;
  const auto put = [&](Real word) POLYFLY_LAMBDA { compress_store(queue.word(w++, queue.len), word, to); };
  const auto put_vec = [&](Vec words) POLYFLY_LAMBDA { put(words.x), put(words.y), put(words.z); };
  put_vec(r.o);
  put_vec(r.d);
  put_vec(r.weight);
  put(r.cone_width);
  put(from_bits(r.last_surface));
  put(from_bits(r.bounces));
  put(from_bits(r.pixel));
  if constexpr (State::WORDS > 0)
    for (int i = 0; i < State::WORDS; ++i) put(state.word(i));
  queue.len += count(m);
}
// Takes the last n rays into the first n lanes.
template <int CAPACITY, class State>
POLYFLY_FN Ray dequeue(Queue<CAPACITY>& queue, int n, State& state) {
  queue.len -= n;
  const int at = queue.len;
  Ray r;
  r.o = queue.load_vec(0, at);
  r.d = queue.load_vec(3, at);
  r.weight = queue.load_vec(6, at);
  r.cone_width = load(queue.word(9, at));
  r.last_surface = queue.load_int(10, at);
  r.bounces = queue.load_int(11, at);
  r.pixel = queue.load_int(12, at);
  if constexpr (State::WORDS > 0)
    for (int w = 0; w < State::WORDS; ++w) state.word(w) = load(queue.word(RAY_WORDS + w, at));
  return r;
}

// A ray and its hit.
template <class State>
POLYFLY_FN void enqueue_hit(HitQueue& queue, const Ray& r, const State& state, const Hit& hit, Mask m) {
  const int at = queue.len;
  const Packing to = packing(m);
  int w = QUEUE_WORDS;
  const auto put = [&](Real word) POLYFLY_LAMBDA { compress_store(queue.word(w++, at), word, to); };
  put(hit.t);
  put(from_bits(hit.surface));
  put(select(hit.leaving, Real(1.0f), Real(0.0f)));
  put(hit.u);
  put(hit.v);
  enqueue(queue, r, state, m);
}
template <class State>
POLYFLY_FN Ray dequeue_hit(HitQueue& queue, int n, State& state, Hit& hit) {
  const Ray r = dequeue(queue, n, state);
  const int at = queue.len, w = QUEUE_WORDS;
  hit.t = load(queue.word(w, at));
  hit.surface = queue.load_int(w + 1, at);
  hit.leaving = load(queue.word(w + 2, at)) > Real(0.0f);
  hit.u = load(queue.word(w + 3, at));
  hit.v = load(queue.word(w + 4, at));
  return r;
}

// Item -> pixel of the tile: consecutive items form 4 x 4 blocks, so that lanes stay coherent. I is Int or int.
template <class I>
POLYFLY_FN void tile_pixel(I pixel, I& x, I& y) {
  x = (pixel & I(3)) | ((pixel >> 2) & I(12));
  y = ((pixel >> 2) & I(3)) | ((pixel >> 4) & I(12));
}
constexpr int TILE_PIXELS = TILE * TILE;

template <class State, class S>
struct Wavefront;
template <class State, class S>
void trace_shadow_batch(Wavefront<State, S>& t, int n);

// The queue of integrator.cuh for one tile. Ray::pixel is the pixel within the tile, and the sample's number above it.
template <class State, class S>
struct Wavefront {
  static_assert(State::WORDS <= MAX_STATE_WORDS);
  const S& scene;
  const FrameParams& frame;
  RayQueue open, isolated;
  ShadowQueue shadows;
  HitQueue hits[HIT_KINDS];
  i64* sums;  // four a pixel, the last unused
  Counts counts;
  int left, top;   // the tile's first pixel
  int shift;       // its pixels are 2^shift apart
  RayQueue* only;  // the destination of all secondary rays when a queue is nearly full

  POLYFLY_METHOD void add_radiance(const Ray& ray, Vec light, Mask m) { add(ray.pixel, light, m); }
  POLYFLY_METHOD void add(Int pixel, Vec light, Mask m) {
    const Int place = pixel & Int(TILE_PIXELS - 1);
    const Mask bright = m & is_bright(light);
    if (any(bright)) add_bright_light(place, bright_to_fixed(light), bright);
    const FixedLight fixed = to_fixed(light);
    add_to_sums(sums, place, fixed.r, fixed.g, fixed.b, m & !bright);
  }
  __attribute__((noinline)) void add_bright_light(Int place, const FixedLight& fixed, Mask m) {
    for (u32 lanes = mask_bits(m); lanes; lanes &= lanes - 1) {
      const int i = __builtin_ctz(lanes);
      i64* sum = sums + 4 * lane(place, i);
      sum[0] += (i64)lane(fixed.r, i) << BRIGHT_SHIFT;
      sum[1] += (i64)lane(fixed.g, i) << BRIGHT_SHIFT;
      sum[2] += (i64)lane(fixed.b, i) << BRIGHT_SHIFT;
    }
  }
  POLYFLY_METHOD void shadow_ray(const Ray& ray, const Surface<S>& s, const LightSample& sample) {
    if (!any(sample.valid)) return;
    if (!scene.constants.shadows) {
      add(ray.pixel, sample.colour, sample.valid);
      return;
    }
    const Packing to = packing(sample.valid);
    int w = 0;
    const auto put = [&](Real word) POLYFLY_LAMBDA { compress_store(shadows.word(w++, shadows.len), word, to); };
    const auto put_vec = [&](Vec words) POLYFLY_LAMBDA { put(words.x), put(words.y), put(words.z); };
    put_vec(s.p);
    put_vec(sample.towards);
    put_vec(sample.colour);
    put(from_bits(s.reflect_origin));
    put(from_bits(ray.pixel));
    shadows.len += count(sample.valid);
    if (shadows.len >= POLYFLY_LANES) trace_shadow_batch(*this, POLYFLY_LANES);
  }
  // The frame's column and row of those of the tile.
  POLYFLY_METHOD Int column(Int x) const { return shift_up(x, shift) + Int(left); }
  POLYFLY_METHOD Int row(Int y) const { return shift_up(y, shift) + Int(top); }
  POLYFLY_METHOD SamplePoint sampler(const Ray& ray) const {
    Int x, y;
    tile_pixel(ray.pixel & Int(TILE_PIXELS - 1), x, y);
    return sample_point(scene.constants, frame, column(x), row(y), ray.pixel >> 8);
  }
  // Rays do not continue at once: all go through the queues.
  POLYFLY_METHOD bool spawn(const Ray& ray, const State& state, Mask m) {
    if (!any(m)) return false;
    if (only) {
      enqueue(*only, ray, state, m);
      return false;
    }
    const Mask shut = m & ((ray.last_surface & Int(ISOLATED)) != Int(0));
    const Mask free = m & !shut;
    if (any(shut)) enqueue(isolated, ray, state, shut);
    if (any(free)) enqueue(open, ray, state, free);
    return false;
  }
  POLYFLY_METHOD bool spawn(const SecondaryRays& rays) {
    spawn(rays.reflected, State(), rays.reflects);
    return spawn(rays.transmitted, State(), rays.transmits);
  }
};

// Traces the last n shadow rays.
template <class State, class S>
__attribute__((noinline)) void trace_shadow_batch(Wavefront<State, S>& t, int n) {
  t.shadows.len -= n;
  const int at = t.shadows.len;
  const Vec o = t.shadows.load_vec(0, at), d = t.shadows.load_vec(3, at), colour = t.shadows.load_vec(6, at);
  const Int from = t.shadows.load_int(9, at), pixel = t.shadows.load_int(10, at);
  const Mask active = first_lanes(n);
  t.counts.shadow_rays += n;
  const Vec left = transmittance(t.scene, o, d, from, active);
  t.add(pixel, colour * left, active & (max_component(left) > Real(0.0f)));
}

template <class Integrator, class S>
static __attribute__((noinline)) void shade(Wavefront<typename Integrator::State, S>& t, const Ray& ray,
                                            const typename Integrator::State& state, const Hit& hit, Mask active) {
  Integrator::shade(t.scene, t.frame, ray, state, hit, active, t);
}

// Shades the last n hits of a kind.
template <class Integrator, class S>
POLYFLY_FN void shade_waiting(Wavefront<typename Integrator::State, S>& t, HitQueue& queue, int n) {
  typename Integrator::State state = {};
  Hit hit;
  const Ray ray = dequeue_hit(queue, n, state, hit);
  shade<Integrator>(t, ray, state, hit, first_lanes(n));
}

// Traces the active lanes one bounce further. Hits of a few lanes of a kind wait for others, if they may differ in kind.
template <class Integrator, class S>
static __attribute__((noinline)) void bounce(Wavefront<typename Integrator::State, S>& t, const Ray& ray,
                                             const typename Integrator::State& state, Mask active, bool may_differ) {
  t.counts.rays += count(active);
  const Hit hit = closest_hit(t.scene, ray, active);
  if (!Integrator::GATHERS_HITS || !may_differ) return shade<Integrator>(t, ray, state, hit, active);
  const Mask away = active & (hit.surface == Int(NO_SURFACE)), floor = active & (surface_kind(hit.surface) == Int(SHAPE_FLOOR));
  const Mask kinds[HIT_KINDS] = {active & !away & !floor, floor, away};
  for (int kind = 0; kind < HIT_KINDS; ++kind) {
    const Mask m = kinds[kind];
    const int lanes = count(m);
    if (lanes == 0) continue;
    if (lanes >= FULL_ENOUGH) {
      shade<Integrator>(t, ray, state, hit, m);
      continue;
    }
    HitQueue& queue = t.hits[kind];
    enqueue_hit(queue, ray, state, hit, m);
    if (queue.len >= POLYFLY_LANES) shade_waiting<Integrator>(t, queue, POLYFLY_LANES);
  }
}

// Takes the last n rays of a queue one bounce further.
template <class Integrator, class S>
POLYFLY_FN void step(Wavefront<typename Integrator::State, S>& t, RayQueue& queue, int n, RayQueue* only) {
  typename Integrator::State state = {};
  const Ray ray = dequeue(queue, n, state);
  t.only = only;
  bounce<Integrator>(t, ray, state, first_lanes(n), &queue == &t.open && !only);
}

POLYFLY_FN u64 scratch_bytes(int) {
  const u64 words = 2 * QUEUE_WORDS * RAY_CAPACITY + SHADOW_WORDS * SHADOW_CAPACITY + HIT_KINDS * HIT_WORDS * HIT_CAPACITY;
  return 8ull * 4 * TILE_PIXELS + 4ull * words;
}

template <class S>
POLYFLY_FN void store_tile(const S& scene, const Launch& launch, const FilmBuffers& film, int left, int top,
                           const i64* sums) {
  const Constants& constants = scene.constants;
  const float scale = mean_scale(launch.samples_per_pixel);
  for (int at = 0; at < TILE_PIXELS; at += POLYFLY_LANES) {
    float r[POLYFLY_LANES], g[POLYFLY_LANES], b[POLYFLY_LANES];
    int colours[POLYFLY_LANES];
    for (int i = 0; i < POLYFLY_LANES; ++i) {
      const i64* sum = sums + 4 * (at + i);
      r[i] = (float)sum[0];
      g[i] = (float)sum[1];
      b[i] = (float)sum[2];
    }
    if (!film.sums) {
      const Real mean = Real(scale);
      store(colours, tone_map_rgb(scene, load(r) * mean, load(g) * mean, load(b) * mean, first_lanes(POLYFLY_LANES)));
    }
    // Four consecutive items are pixels of one row.
    for (int i = 0; i < POLYFLY_LANES; i += 4) {
      int x, y;
      tile_pixel(at + i, x, y);
      x = (x << launch.shift) + left;
      y = (y << launch.shift) + top;
      const int inside = y < constants.height ? constants.width - x : 0;
      if (film.sums) {
        const i64* sum = sums + 4 * (at + i);
        for (int j = 0; j < 4 && j << launch.shift < inside; ++j, sum += 4)
          store_sums(constants, film, x + (j << launch.shift), y, sum[0], sum[1], sum[2]);
        continue;
      }
      u32* to = film.rgba + film_index(constants, film, x, y);
      if (inside >= 4) {
        for (int j = 0; j < 4; ++j) to[j] = (u32)colours[i + j];
      } else {
        for (int j = 0; j < inside; ++j) to[j] = (u32)colours[i + j];
      }
    }
  }
}

// The kind with most hits, if there are any.
POLYFLY_FN HitQueue* fullest(HitQueue (&hits)[HIT_KINDS]) {
  HitQueue* most = &hits[0];
  for (HitQueue& queue : hits)
    if (queue.len > most->len) most = &queue;
  return most->len > 0 ? most : nullptr;
}

// Traces samples of the chosen pixels of the tile, or of all pixels.
template <class Integrator, class S>
static __attribute__((noinline)) void trace_samples(Wavefront<typename Integrator::State, S>& t, int first_sample, int samples, int stride,
                                                    const int* chosen, int pixels) {
  const int items = pixels * samples;
  int next = 0;
  for (;;) {
    if (t.open.len + RAY_SPARE > RAY_CAPACITY) {
      step<Integrator>(t, t.open, 1, &t.open);
    } else if (t.isolated.len + RAY_SPARE > RAY_CAPACITY) {
      step<Integrator>(t, t.isolated, 1, &t.isolated);
    } else if (t.open.len >= POLYFLY_LANES) {
      step<Integrator>(t, t.open, POLYFLY_LANES, 0);
    } else if (t.isolated.len >= POLYFLY_LANES) {
      step<Integrator>(t, t.isolated, POLYFLY_LANES, 0);
    } else if (next < items) {
      const Int item = lane_index() + Int(next);
      const Mask valid = item < Int(items);
      // Exact for every item: items stay far below 2^24.
      const Int place = samples == 1 ? item : to_int((to_real(item) + Real(0.5f)) / Real((float)samples));
      const Int pixel = chosen ? read(chosen, pixels, place, valid) : place;
      Int x, y;
      tile_pixel(pixel, x, y);
      const Int px = t.column(x), py = t.row(y);
      const Mask inside = valid & (px < Int(t.scene.constants.width)) & (py < Int(t.scene.constants.height));
      next += POLYFLY_LANES;
      if (!any(inside)) continue;
      const Int sample = (item - place * Int(samples)) * Int(stride) + Int(first_sample);
      t.only = 0;
      const Ray ray = Integrator::camera_ray(t.scene, t.frame, px, py, sample, pixel | (sample << 8));
      const Mask seeing = in_view(t.scene, ray, inside);
      if (any(seeing)) bounce<Integrator>(t, ray, {}, seeing, true);
    } else if (HitQueue* waiting = fullest(t.hits)) {
      t.only = 0;
      shade_waiting<Integrator>(t, *waiting, waiting->len);
    } else if (t.open.len > 0) {
      step<Integrator>(t, t.open, t.open.len, 0);
    } else if (t.isolated.len > 0) {
      step<Integrator>(t, t.isolated, t.isolated.len, 0);
    } else {
      break;
    }
  }
  if (t.shadows.len > 0) trace_shadow_batch(t, t.shadows.len);
}

// The codes of the sums of n pixels, at most one per lane.
template <class S>
POLYFLY_FN Codes sum_codes(const S& scene, const i64* sums, const int* pixels, int n, float scale) {
  float r[POLYFLY_LANES], g[POLYFLY_LANES], b[POLYFLY_LANES];
  for (int i = 0; i < POLYFLY_LANES; ++i) {
    const i64* sum = sums + 4 * pixels[i < n ? i : 0];
    r[i] = (float)sum[0];
    g[i] = (float)sum[1];
    b[i] = (float)sum[2];
  }
  const Real mean = Real(scale);
  return codes_of(scene, load(r) * mean, load(g) * mean, load(b) * mean, first_lanes(n));
}

// The pilot of a tile.
template <class Integrator, class S>
static __attribute__((noinline)) void trace_pilot(Wavefront<typename Integrator::State, S>& t, const Launch& launch, const FilmBuffers& film) {
  const Constants& constants = t.scene.constants;
  const int half = launch.min_samples / 2;
  i64 first_half[4 * TILE_PIXELS];
  trace_samples<Integrator>(t, 0, half, 1, 0, TILE_PIXELS);
  for (int i = 0; i < 4 * TILE_PIXELS; ++i) first_half[i] = t.sums[i];
  trace_samples<Integrator>(t, half, launch.min_samples - half, 1, 0, TILE_PIXELS);
  for (int at = 0; at < TILE_PIXELS; at += POLYFLY_LANES) {
    int pixels[POLYFLY_LANES], shown[POLYFLY_LANES];
    for (int i = 0; i < POLYFLY_LANES; ++i) pixels[i] = at + i;
    const Codes whole = sum_codes(t.scene, t.sums, pixels, POLYFLY_LANES, launch.gain * mean_scale(launch.min_samples));
    const Codes part =
        half ? sum_codes(t.scene, first_half, pixels, POLYFLY_LANES, launch.gain * mean_scale(half)) : whole;
    store(shown, pilot_of(part, whole));
    for (int i = 0; i < POLYFLY_LANES; ++i) {
      int x, y;
      tile_pixel(at + i, x, y);
      if (t.left + x >= constants.width || t.top + y >= constants.height) continue;
      const int to = pilot_index(constants, film, t.left + x, t.top + y);
      film.pilot[to] = (u32)shown[i];
      for (int c = 0; c < 3; ++c) film.pilot_sums[3 * to + c] = t.sums[4 * (at + i) + c];
    }
  }
}

// Refines the pixels of a tile after the pilot.
template <class Integrator, class S>
static __attribute__((noinline)) void trace_active(Wavefront<typename Integrator::State, S>& t, const Launch& launch, const FilmBuffers& film) {
  const Constants& constants = t.scene.constants;
  u32 shown[TILE + 4][TILE + 4];
  for (int y = 0; y < TILE + 4; ++y)
    for (int x = 0; x < TILE + 4; ++x) shown[y][x] = pilot_at(constants, film, t.left + x - 2, t.top + y - 2);
  int first[TILE][TILE];
  for (int y = 0; y < TILE; ++y) {
    for (int x = 0; x < TILE; ++x) {
      Neighbourhood around;
      for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 5; ++i) around.at[j][i] = shown[y + j][x + i];
      first[y][x] = pilot_error<Integrator>(around);
    }
  }

  ErrorLimit limit = {(float)launch.noise};
  int chosen[TILE_PIXELS], error[TILE_PIXELS], colours[TILE_PIXELS], taken[TILE_PIXELS], count = 0;
  for (int pixel = 0; pixel < TILE_PIXELS; ++pixel) {
    int x, y;
    tile_pixel(pixel, x, y);
    const bool inside = t.left + x < constants.width && t.top + y < constants.height;
    const bool more = inside && !limit.allows(first[y][x]);
    colours[pixel] = (int)(shown[y + 2][x + 2] | ~PILOT_COLOUR);
    taken[pixel] = launch.min_samples;
    error[pixel] = first[y][x];
    if (more) chosen[count++] = pixel;
    if (!inside || !(more || film.sums)) continue;
    const i64* from = film.pilot_sums + 3 * pilot_index(constants, film, t.left + x, t.top + y);
    for (int c = 0; c < 3; ++c) t.sums[4 * pixel + c] = from[c];
  }
  for (int n = launch.min_samples; count > 0 && n < launch.samples_per_pixel;) {
    const int more = next_round(launch, n);
    int before[3][TILE_PIXELS + POLYFLY_LANES];
    for (int at = 0; at < count; at += POLYFLY_LANES) {
      const Codes codes = sum_codes(t.scene, t.sums, chosen + at, count - at, launch.gain * mean_scale(n));
      store(before[0] + at, codes.r);
      store(before[1] + at, codes.g);
      store(before[2] + at, codes.b);
    }
    trace_samples<Integrator>(t, n, more, 1, chosen, count);
    n += more;
    limit.rise();
    int unsure = 0;
    for (int at = 0; at < count; at += POLYFLY_LANES) {
      const Codes codes = sum_codes(t.scene, t.sums, chosen + at, count - at, launch.gain * mean_scale(n));
      const Codes last = {load(before[0] + at), load(before[1] + at), load(before[2] + at)};
      int colour[POLYFLY_LANES], now[POLYFLY_LANES];
      for (int i = 0; i < POLYFLY_LANES; ++i) now[i] = error[chosen[at + i < count ? at + i : at]];
      store(colour, pack_codes(codes));
      store(now, next_error<Integrator>(max_difference(last, codes), load(now)));
      for (int i = 0; i < POLYFLY_LANES && at + i < count; ++i) {
        const int pixel = chosen[at + i];
        colours[pixel] = colour[i];
        taken[pixel] = n;
        error[pixel] = now[i];
        if (!limit.allows(now[i])) chosen[unsure++] = pixel;
      }
    }
    count = unsure;
  }
  for (int pixel = 0; pixel < TILE_PIXELS; ++pixel) {
    int x, y;
    tile_pixel(pixel, x, y);
    x += t.left;
    y += t.top;
    if (x >= constants.width || y >= constants.height) continue;
    const int to = film_index(constants, film, x, y);
    if (film.rgba) {
      film.rgba[to] = (u32)colours[pixel];
    } else {
      film.taken[to] = (u32)taken[pixel];
      const i64* sum = t.sums + 4 * pixel;
      store_sums(constants, film, x, y, sum[0], sum[1], sum[2]);
    }
  }
}

template <class Integrator, class S>
POLYFLY_FN void trace_tile(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film,
                           int left, int top, void* scratch, Counts& counts) {
  left += launch.column;
  top += launch.row;
  i64* sums = (i64*)scratch;
  float* open = (float*)(sums + 4 * TILE_PIXELS);
  float* isolated = open + QUEUE_WORDS * RAY_CAPACITY;
  float* shadows = isolated + QUEUE_WORDS * RAY_CAPACITY;
  float* hits = shadows + SHADOW_WORDS * SHADOW_CAPACITY;
  const auto kind = [&](int number) { return HitQueue{hits + number * HIT_WORDS * HIT_CAPACITY, 0}; };
  Wavefront<typename Integrator::State, S> t = {scene, frame, {open, 0}, {isolated, 0}, {shadows, 0}, {kind(0), kind(1), kind(2)},
                                                sums, {0, 0, 0, 0}, left, top, launch.shift, 0};
  for (int i = 0; i < 4 * TILE_PIXELS; ++i) sums[i] = 0;
  if (launch.min_samples == 0) {
    trace_samples<Integrator>(t, launch.first_sample, launch.samples_per_pixel, launch.stride, 0, TILE_PIXELS);
    store_tile(scene, launch, film, left, top, sums);
  } else if (is_pilot(film)) {
    trace_pilot<Integrator>(t, launch, film);
  } else {
    trace_active<Integrator>(t, launch, film);
  }
  counts.rays += t.counts.rays;
  counts.shadow_rays += t.counts.shadow_rays;
}

#endif

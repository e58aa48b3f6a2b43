// The tracer: from picture points to light. Two drivers walk the same tree of rays with the same
// functions: one thread a sample with a small stack (GPU), and a queue that keeps all lanes of a CPU
// full. Sums are integers, so that both, in whatever order, give the same picture.
#pragma once
#include "film.cuh"
#ifdef POLYFLY_INLINE_SCENE
#include "shade.cuh"
#else
#include "path.cuh"
#endif

// Most bounces along a path that a scene may ask for; the stack below holds one ray a bounce.
#define DEPTH_MOST 128

// The ray through sample `sample` of picture point (px, py); samples stand on a regular grid.
POLYFLY_FN Ray grid_ray(const Scene& scene, const Frame& frame, Int px, Int py, Int sample, Int pixel) {
  const Real step = Real(scene.sample_step), half = Real(0.5f);
  const Int row = to_int((to_real(sample) + half) * step);
  const Int column = sample - row * Int(scene.samples);
  const Real x = to_real(px) + (to_real(column) + half) * step - Real(0.5f * (float)scene.width);
  const Real y = to_real(py) + (to_real(row) + half) * step - Real(0.5f * (float)scene.height);
  Ray ray;
  ray.o = vec(frame.eye);
  ray.d = normalise(vec(mad(Real(frame.down[0]), y, mad(Real(frame.right[0]), x, Real(frame.forward[0]))),
                        mad(Real(frame.down[1]), y, mad(Real(frame.right[1]), x, Real(frame.forward[1]))),
                        mad(Real(frame.down[2]), y, mad(Real(frame.right[2]), x, Real(frame.forward[2])))));
  ray.weight = vec(Real(1.0f), Real(1.0f), Real(1.0f));
  ray.length = Real(0.0f);
  ray.from = Int(FROM_NOWHERE);
  ray.bounces = Int(0);
  ray.pixel = pixel;
  return ray;
}

#ifndef POLYFLY_INLINE_SCENE
// The same for path tracing: somewhere in the sample's cell of the grid, samples beyond the grid's anywhere in the
// pixel; through a point of the lens, when there is one.
POLYFLY_FN Ray lot_ray(const Scene& scene, const Frame& frame, Int px, Int py, Int sample, Int pixel) {
  const Int seed = seed_of(frame, px, py, sample);
  const Real half = Real(0.5f), step = Real(scene.sample_step);
  const Int row = to_int((to_real(sample) + half) * step), column = sample - row * Int(scene.samples);
  const Mask beyond = row > Int(scene.samples - 1);
  const Real u = draw(seed, Int(0)), v = draw(seed, Int(1));
  const Real x = to_real(px) + select(beyond, u, (to_real(column) + u) * step) - Real(0.5f * (float)scene.width);
  const Real y = to_real(py) + select(beyond, v, (to_real(row) + v) * step) - Real(0.5f * (float)scene.height);
  Ray ray;
  ray.o = vec(frame.eye);
  Vec d = along(along(vec(frame.forward), vec(frame.right), x), vec(frame.down), y);
  if (frame.lens > 0.0f) {
    Real sine, cosine;
    turn(draw(seed, Int(2)), sine, cosine);
    const Real r = root(most(draw(seed, Int(3)), Real(1.0e-20f))) * Real(frame.lens);
    const Vec aside = along(vec(frame.right) * (r * cosine), vec(frame.down), r * sine);
    ray.o = ray.o + aside;
    d = along(d, aside, Real(-frame.focus));
  }
  ray.d = normalise(d);
  ray.weight = vec(Real(1.0f), Real(1.0f), Real(1.0f));
  ray.length = Real(0.0f);
  ray.from = Int(FROM_NOWHERE);
  ray.bounces = Int(0);
  ray.pixel = pixel;
  return ray;
}
#endif
POLYFLY_FN Ray camera_ray(const Scene& scene, const Frame& frame, Int px, Int py, Int sample, Int pixel) {
#ifndef POLYFLY_INLINE_SCENE
  if (scene.path) return lot_ray(scene, frame, px, py, sample, pixel);
#endif
  return grid_ray(scene, frame, px, py, sample, pixel);
}

// Light that needs no shadow ray: the sky, lamps, the ambient part.
POLYFLY_FN Vec unshadowed(const Scene& scene, const Ray& ray, const Surface& s, Mask met) {
  return ray.weight * select(met, s.emission + s.albedo * vec(scene.ambient), sky(scene, ray.d));
}

// The two rays that go on, and in which lanes they are heavy enough to.
struct Children {
  Ray reflected, transmitted;
  Mask reflects, transmits;
};
POLYFLY_FN Children spread(const Scene& scene, const Ray& ray, const Surface& s, Real t, Mask met) {
  Children c;
  const Real cutoff = Real(scene.cutoff);
  const Mask deeper = met & (ray.bounces < Int(scene.depth));
  c.reflected = ray;
  c.reflected.o = s.p;
  c.reflected.length = ray.length + t;
  c.reflected.bounces = ray.bounces + Int(1);
  c.transmitted = c.reflected;
  const Real twice = Real(-2.0f) * dot(s.n, ray.d);
  c.reflected.d = vec(mad(s.n.x, twice, ray.d.x), mad(s.n.y, twice, ray.d.y), mad(s.n.z, twice, ray.d.z));
  c.reflected.weight = ray.weight * s.reflect;
  c.reflected.from = s.same_side;
  c.reflects = deeper & !(brightest(c.reflected.weight) < cutoff) & (brightest(s.reflect) > Real(0.0f));
  c.transmitted.d = through(s, ray.d);
  c.transmitted.from = s.other_side;
  c.transmitted.weight = ray.weight * s.transmit;
  c.transmits = deeper & !(brightest(c.transmitted.weight) < cutoff) & (brightest(s.transmit) > Real(0.0f));
  return c;
}

#ifndef POLYFLY_INLINE_SCENE
// Leaves a pixel's light for the host, which adds up the passes.
POLYFLY_FN void leave_sums(const Scene& scene, int x, int y, i64 r, i64 g, i64 b) {
  const int at = 3 * (y * scene.width + x);
  POLYFLY_CHECK(at + 2 < scene.sums.len);
  i64* to = const_cast<i64*>(scene.sums.data) + at;
  to[0] = r;
  to[1] = g;
  to[2] = b;
}
#endif

#if POLYFLY_LANES == 1

struct Sum {
  i64 r, g, b;
};
POLYFLY_FN void add(Sum& sum, Vec light) {
  sum.r += to_fixed(light.x);
  sum.g += to_fixed(light.y);
  sum.b += to_fixed(light.z);
}

// What a thread counts.
struct Tally {
  u32 rays, shadow_rays;
};

// A pending ray, as the stack keeps it.
struct Pending {
  Vec o, d, weight;
  Real length;
  Int from, bounces;
};

// One sample, depth first. Each bounce leaves at most one ray pending, so depth entries are enough.
POLYFLY_FN void trace_sample(const Scene& scene, const Frame& frame, Ray ray, Pending* stack, Sum& sum, Tally& tally) {
  int pending = 0;
  for (;;) {
    ++tally.rays;
    const Hit hit = closest(scene, ray, true);
    const bool met = hit.surface != NO_SURFACE;
    if (!met) {
      add(sum, ray.weight * sky(scene, ray.d));
    } else {
      const Surface s = find_surface(scene, frame, ray, hit, true);
      add(sum, unshadowed(scene, ray, s, true));
      POLYFLY_ROLLED
      for (int i = 0; i < scene.lights.len; ++i) {
        const Lit lit = lit_by(scene, scene.lights.at(i), ray, s, true);
        if (!lit.some) continue;
#ifndef POLYFLY_INLINE_SCENE
        if (!scene.shadows) {
          add(sum, lit.colour);
          continue;
        }
#endif
        ++tally.shadow_rays;
        add(sum, lit.colour * transmittance(scene, s.p, lit.towards, s.same_side, true));
      }
      const Children c = spread(scene, ray, s, hit.t, true);
      if (c.transmits) {
        if (c.reflects) {
          const Ray& r = c.reflected;
          POLYFLY_CHECK(pending < scene.depth);
          const Pending p = {r.o, r.d, r.weight, r.length, r.from, r.bounces};
          stack[pending++] = p;
        }
        ray = c.transmitted;
        continue;
      }
      if (c.reflects) {
        ray = c.reflected;
        continue;
      }
    }
    if (pending == 0) return;
    const Pending& p = stack[--pending];
    ray.o = p.o;
    ray.d = p.d;
    ray.weight = p.weight;
    ray.length = p.length;
    ray.from = p.from;
    ray.bounces = p.bounces;
  }
}

#ifndef POLYFLY_INLINE_SCENE
// Adds what comes of a light, through whatever stands in its way.
POLYFLY_FN void settle(const Scene& scene, const Surface& s, const Lit& lit, Sum& sum, Tally& tally) {
  if (!lit.some) return;
  if (!scene.shadows) {
    add(sum, lit.colour);
    return;
  }
  ++tally.shadow_rays;
  add(sum, lit.colour * transmittance(scene, s.p, lit.towards, s.same_side, true));
}

// One sample of path tracing: a path has no branches, so there is no stack.
POLYFLY_FN void trace_path(const Scene& scene, const Frame& frame, Ray ray, Int seed, Sum& sum, Tally& tally) {
  for (;;) {
    ++tally.rays;
    const Hit hit = closest(scene, ray, true);
    if (hit.surface == NO_SURFACE) {
      add(sum, ray.weight * sky(scene, ray.d));
      return;
    }
    const Surface s = find_surface(scene, frame, ray, hit, true);
    if (!(ray.bounces & ASKED_EMITTERS) && brightest(s.emission) > 0.0f) add(sum, ray.weight * s.emission);
    if (brightest(s.albedo) > 0.0f) {
      POLYFLY_ROLLED
      for (int i = 0; i < scene.lights.len; ++i) {
        settle(scene, s, lit_by(scene, scene.lights.at(i), ray, s, true), sum, tally);
      }
      if (scene.emitters.len > 0) settle(scene, s, ask_emitter(scene, ray, s, seed, true), sum, tally);
    }
    Mask goes;
    const Ray next = scatter(scene, ray, s, seed, hit.t, true, goes);
    if (!goes) return;
    ray = next;
  }
}
#endif

#endif

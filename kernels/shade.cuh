// What a ray finds where it lands: colour, light of its own, and the rays that go on from there.
#pragma once
#include "closest.cuh"

// What is mirrored: a polyhedron mirrors all colours alike.
#ifdef POLYFLY_INLINE_SCENE
typedef Real Share;
POLYFLY_FN Share share(Real x) { return x; }
#else
typedef Vec Share;
POLYFLY_FN Share share(Real x) { return vec(x, x, x); }
#endif

struct Surface {
  Vec p;
  Vec n;               // unit, on the side the ray came from
  Vec albedo;          // of the surface's own shading, already times its weight 1 - R - T
  Vec emission;
  Real shine;          // weight of the highlight, likewise times 1 - R - T
  Share reflect;
  Real fuzz;           // for path tracing
  Vec transmit;        // T times the tint
  Real ior;            // on the way through; 1 = straight
  Int same_side;       // Ray::from of the reflected ray
  Int other_side;      // and of the transmitted one
};

// --- pictures: the floor's texture and the lamp light that lies on it ---

struct Texel {
  Real r, g, b;
};
POLYFLY_FN Texel fetch(const Array<int>& texels, Int i, Mask m) {
  const Int j = i << 1;
  const Int rg = read(texels.data, texels.len, j, m);
  const Int blue = read(texels.data, texels.len, j + Int(1), m);
  Texel t = {to_real(rg & Int(0xffff)), to_real((rg >> 16) & Int(0xffff)), to_real(blue & Int(0xffff))};
  return t;
}
POLYFLY_FN Real mix(Real a, Real b, Real t) { return mad(b - a, t, a); }
POLYFLY_FN Vec mix(Vec a, Vec b, Real t) { return vec(mix(a.x, b.x, t), mix(a.y, b.y, t), mix(a.z, b.z, t)); }
POLYFLY_FN Vec mix(Texel a, Texel b, Real t) { return vec(mix(a.r, b.r, t), mix(a.g, b.g, t), mix(a.b, b.b, t)); }

// Bilinear, clamped at the rim. first, width and height may differ from lane to lane.
POLYFLY_FN Vec bilinear(const Array<int>& texels, Int first, Int width, Int height, Real u, Real v, Mask m) {
  const Real half = Real(0.5f), zero = Real(0.0f);
  Real x = most(mad(u, to_real(width), -half), zero);
  Real y = most(mad(v, to_real(height), -half), zero);
  Int x0 = to_int(x), y0 = to_int(y);
  Real fx = x - to_real(x0), fy = y - to_real(y0);
  Int right = width - Int(1), bottom = height - Int(1);
  x0 = select(x0 > right, right, x0);
  y0 = select(y0 > bottom, bottom, y0);
  Int x1 = select(x0 < right, x0 + Int(1), x0), y1 = select(y0 < bottom, y0 + Int(1), y0);
  Int row0 = first + y0 * width, row1 = first + y1 * width;
  Vec upper = mix(fetch(texels, row0 + x0, m), fetch(texels, row0 + x1, m), fx);
  Vec lower = mix(fetch(texels, row1 + x0, m), fetch(texels, row1 + x1, m), fx);
  return mix(upper, lower, fy) * Real(1.0f / 65535.0f);
}

POLYFLY_FN Vec of_level(const Scene& scene, Int level, Real u, Real v, Mask m) {
  const int* table = &scene.levels.data[0].first;
  const int words = 4 * scene.levels.len;
  const Int a = level << 2;
  const Int first = read(table, words, a, m), width = read(table, words, a + Int(1), m), height = read(table, words, a + Int(2), m);
  return bilinear(scene.texels, first, width, height, u, v, m);
}

// Trilinear: texels a sample covers choose between levels that each halve the one before, so that a
// distant floor does not shimmer. The logarithm is read off the number's bits, straight between powers.
POLYFLY_FN Vec texture(const Scene& scene, Real u, Real v, Real covered, Mask m) {
  const Level& finest = scene.levels.at(0);
  int larger = finest.width > finest.height ? finest.width : finest.height;
  Real texels = most(covered * Real((float)larger), Real(1.0f));
  Int word = bits(texels);
  Int level = (word >> 23) - Int(127);
  Real part = from_bits((word & Int(0x7fffff)) | Int(0x3f800000)) - Real(1.0f);
  Int last = Int(scene.levels.len - 1);
  part = select(level < last, part, Real(0.0f));
  level = select(level < last, level, last);
  Int next = select(level < last, level + Int(1), last);
  const Vec fine = of_level(scene, level, u, v, m);
  const Mask between = m & (part > Real(0.0f));
  if (!any(between)) return fine;
  return mix(fine, of_level(scene, next, u, v, m), part);
}

// --- the sky, a gradient from the horizon up ---
POLYFLY_FN Vec sky(const Scene& scene, Vec d) {
  return mix(vec(scene.horizon), vec(scene.zenith), most(mad(d.z, Real(scene.sky_slope), Real(scene.sky_base)), Real(0.0f)));
}

// --- lamps: discs set along a bar, hot in the middle, with a glow on the bar around them ---
// across: distance to the edge within the face; place: position along the edge, 0 in its middle.
POLYFLY_FN Vec lamp_light(const Body& body, Real across, Real place) {
  const Real half = Real(0.5f);
  Real cell = mad(place, Real(body.lamps_a_length), Real(0.5f * (float)body.lamps));
  const Real first = Real(0.0f), last = Real((float)(body.lamps - 1));
  Real aside = (cell - to_real(to_int(least(most(cell, first), last))) - half) * Real(body.lamp_spacing);
  Real far2 = mad(aside, aside, across * across) * Real(body.lamp_sharpness);
  Mask lit = far2 < Real(1.0f);
  Real core = Real(1.0f) - far2;
  Real white = core * core * Real(1.6f);
  Real tinted = mad(core, Real(1.4f), Real(1.2f));
  Vec colour = vec(body.lamp_colour);
  Real strength = brightest(colour);
  Vec disc = vec(mad(colour.x, tinted, strength * white), mad(colour.y, tinted, strength * white), mad(colour.z, tinted, strength * white));
  Real around = Real(0.22f) * reciprocal(most(far2, Real(1.0f)));
  return select(lit, disc, colour * around);
}

POLYFLY_FN void find_body(const Scene& scene, int k, const Ray& ray, const Hit& hit, Mask m, Surface& s) {
  const Body& body = scene.bodies.at(k);
  const Vec q = s.p - vec(body.centre);
  // The face is the nearest plane, the edge is shared with the next.
  Vec n = vec(Real(0.0f), Real(0.0f), Real(1.0f));
  Real own = Real(FAR), nearest = Real(FAR);
  POLYFLY_ROLLED
  for (int i = 0; i < body.slabs; ++i) {
    const Slab& slab = scene.slabs.at(body.first_slab + i);
    const Real gap = beside(slab, q);
    n = select(gap < own, vec(slab.n), n);
    nearest = least(nearest, most(own, gap));
    own = least(own, gap);
  }
  s.n = select(m, select(dot(n, ray.d) < Real(0.0f), n, -n), s.n);
  const Vec colour = vec(body.colour);
  s.albedo = select(m, colour * Real(body.local), s.albedo);
  s.shine = select(m, Real(body.local * scene.highlight), s.shine);
  s.reflect = select(m, share(Real(body.reflect)), s.reflect);
  s.transmit = select(m, colour * Real(body.transmit), s.transmit);
  s.ior = select(m, select(hit.leaving, Real(body.ior), Real(body.ior_inward)), s.ior);
  const Int in = Int(body.code_in), out = Int(4 * k);
  s.same_side = select(m, select(hit.leaving, in, out), s.same_side);
  s.other_side = select(m, select(hit.leaving, out, in), s.other_side);
  const Mask bar = m & (nearest < Real(body.bar));
  if (!any(bar)) return;
  const Real zero = Real(0.0f);
  s.albedo = select(bar, vec(body.bar_colour), s.albedo);
  s.shine = select(bar, Real(scene.highlight), s.shine);
  s.reflect = select(bar, share(zero), s.reflect);
  s.transmit = select(bar, vec(zero, zero, zero), s.transmit);
  if (body.lamps > 0) {
    Vec other = n;
    POLYFLY_ROLLED
    for (int i = 0; i < body.slabs; ++i) {
      const Slab& slab = scene.slabs.at(body.first_slab + i);
      other = select(beside(slab, q) == nearest, vec(slab.n), other);
    }
    // The edge runs along n x other, whose length is the sine that bar_to_edge undoes.
    const Real place = dot(cross(n, other), q) * Real(body.bar_to_edge);
    const Vec light = lamp_light(body, nearest * Real(body.bar_to_edge), place);
    s.emission = select(bar, light, s.emission);
  }
}

POLYFLY_FN void find_floor(const Scene& scene, const Frame& frame, int k, const Ray& ray, const Hit& hit, Mask m, Surface& s) {
  const Patch& patch = scene.patches.at(k);
  const Vec n = vec(patch.n);
  const Real facing = dot(n, ray.d);
  s.n = select(m, select(facing < Real(0.0f), n, -n), s.n);
  Vec albedo = vec(scene.floor_tint) * Real(1.0f - scene.floor_reflect);
  if (scene.levels.len > 0) {
    // A sample's footprint, widened by the root of its foreshortening: between blur and shimmer.
    const Real slant = most(facing * facing, Real(1.0e-4f));
    const Real covered = (ray.length + hit.t) * Real(frame.spread * patch.density) * reciprocal(root(root(slant)));
    albedo = albedo * texture(scene, hit.u, hit.v, covered, m);
  }
  s.albedo = select(m, albedo, s.albedo);
  s.shine = select(m, Real(scene.highlight * (1.0f - scene.floor_reflect)), s.shine);
  s.reflect = select(m, share(Real(scene.floor_reflect)), s.reflect);
  if (scene.glow_size > 0) {
    // Lamp light lies on the side that the floor's normal points to, which is the upper one.
    const Mask above = m & (facing < Real(0.0f));
    const Int size = Int(scene.glow_size);
    const Vec light = bilinear(scene.glow, Int(0), size, size, hit.u, hit.v, above) * Real(scene.glow_scale);
    s.emission = select(above, albedo * light, s.emission);
  }
  s.same_side = select(m, Int(FROM_FLOOR + k), s.same_side);
}

#ifndef POLYFLY_INLINE_SCENE
POLYFLY_FN Vec read_vec(const float* data, int len, Int i, Mask m) {
  return vec(read(data, len, i, m), read(data, len, i + Int(1), m), read(data, len, i + Int(2), m));
}

// A ball or a triangle.
POLYFLY_FN void find_primitive(const Scene& scene, const Ray& ray, const Hit& hit, Mask m, Surface& s) {
  const Int number = hit.surface - Int(PRIMITIVE);
  const Mask ball = m & (number < Int(scene.balls.len)), flat = m & !ball;
  Vec n = s.n;
  Int paint = Int(0);
  if (any(ball)) {
    const float* data = (const float*)scene.balls.data;
    const int words = 4 * scene.balls.len;
    const Vec centre = read_vec(data, words, number << 2, ball);
    const Real radius = read(data, words, (number << 2) + Int(3), ball);
    // Rounding has moved the point off the ball: it is put back.
    const Vec out = normalise(select(ball, s.p - centre, n));
    n = select(ball, out, n);
    s.p = select(ball, along(centre, out, radius), s.p);
    paint = select(ball, read(scene.paints.data, scene.paints.len, number, ball), paint);
  }
  if (any(flat)) {
    const float* data = (const float*)scene.triangles.data;
    const int words = 12 * scene.triangles.len;
    const Int at = (number - Int(scene.balls.len)) * Int(12);
    const Vec normal = cross(read_vec(data, words, at + Int(4), flat), read_vec(data, words, at + Int(8), flat));
    n = select(flat, normalise(select(flat, normal, n)), n);
    paint = select(flat, read((const int*)data, words, at + Int(3), flat), paint);
  }
  n = select(dot(n, ray.d) < Real(0.0f), n, -n);
  s.n = select(m, n, s.n);
  const float* data = (const float*)scene.materials.data;
  const int words = 16 * scene.materials.len;
  const Int at = paint << 4;
  s.albedo = select(m, read_vec(data, words, at, m), s.albedo);
  s.shine = select(m, read(data, words, at + Int(3), m), s.shine);
  const Real ior = select(m, read(data, words, at + Int(11), m), Real(1.0f));
  s.ior = select(m, select(hit.leaving, ior, reciprocal(ior)), s.ior);
  s.fuzz = select(m, read(data, words, at + Int(7), m), s.fuzz);
  s.emission = select(m, read_vec(data, words, at + Int(12), m), s.emission);
  Vec mirror = read_vec(data, words, at + Int(4), m), through = read_vec(data, words, at + Int(8), m);
  const Real normal = read(data, words, at + Int(15), m);
  const Mask glass = m & (normal > Real(0.0f));
  if (any(glass)) {
    // Schlick, "An inexpensive BRDF model for physically-based rendering", 1994; past the critical angle all is mirrored.
    const Real one = Real(1.0f), cosine = most(least(-dot(n, ray.d), one), Real(0.0f));
    const Mask total = s.ior * s.ior * mad(-cosine, cosine, one) > one;
    const Real rest = one - cosine, rest2 = rest * rest;
    const Real share = select(total, one, mad(one - normal, rest2 * rest2 * rest, normal));
    mirror = select(glass, vec(share, share, share), mirror);
    through = select(glass, through * (one - share), through);
  }
  s.reflect = select(m, mirror, s.reflect);
  s.transmit = select(m, through, s.transmit);
  const Int out = (number << 2) + Int(FROM_PRIMITIVE), in = out + Int(1);
  s.same_side = select(m, select(hit.leaving, in, out), s.same_side);
  s.other_side = select(m, select(hit.leaving, out, in), s.other_side);
}
#endif

// Past the critical angle all is mirrored, whatever the surface's shares are.
POLYFLY_FN void reflect_totally(Vec d, Mask met, Surface& s) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask bends = met & (s.ior != one);
  if (!any(bends)) return;
  const Real cosine = -dot(s.n, d);
  const Mask total = bends & (mad(s.ior * s.ior, mad(cosine, cosine, -one), one) < zero) & (brightest(s.transmit) > zero);
  const Vec black = vec(zero, zero, zero);
  s.albedo = select(total, black, s.albedo);
  s.shine = select(total, zero, s.shine);
  s.reflect = select(total, share(one), s.reflect);
  s.transmit = select(total, black, s.transmit);
}

POLYFLY_FN Surface find_surface(const Scene& scene, const Frame& frame, const Ray& ray, const Hit& hit, Mask met) {
  const Real zero = Real(0.0f);
  const Vec black = vec(zero, zero, zero);
  Surface s = {along(ray.o, ray.d, hit.t), vec(zero, zero, Real(1.0f)), black, black, zero, share(zero), zero, black, Real(1.0f),
               Int(FROM_NOWHERE), Int(FROM_NOWHERE)};
#ifdef POLYFLY_INLINE_SCENE
  POLYFLY_ROLLED
  for (int k = 0; k < scene.bodies.len; ++k) {
    const Mask m = met & (hit.surface == Int(k));
    if (any(m)) find_body(scene, k, ray, hit, m, s);
  }
#else
  const Mask primitive = met & (hit.surface > Int(PRIMITIVE - 1)), body = met & !primitive & (hit.surface > Int(-1));
  if (any(primitive)) find_primitive(scene, ray, hit, primitive, s);
#if POLYFLY_LANES == 1
  if (body) find_body(scene, hit.surface, ray, hit, true, s);
#else
  for (u32 left = mask_bits(body); left;) {
    const int k = lane(hit.surface, __builtin_ctz(left));
    const Mask m = body & (hit.surface == Int(k));
    find_body(scene, k, ray, hit, m, s);
    left &= ~mask_bits(m);
  }
#endif
#endif
  POLYFLY_ROLLED
  for (int k = 0; k < scene.patches.len; ++k) {
    const Mask m = met & (hit.surface == Int(FROM_FLOOR + k));
    if (any(m)) find_floor(scene, frame, k, ray, hit, m, s);
  }
  reflect_totally(ray.d, met, s);
  return s;
}

// Light from one point light before anything stands in its way; lanes where it cannot be seen are left out.
// Lambert's cosine and Blinn's highlight (n.h)^64, h halfway between the light and the eye. With unit
// vectors l and v, (n.h)^2 = (n.l + n.v)^2 / (2 + 2 l.v): no need for h itself.
struct Lit {
  Vec towards;  // from the point to the light
  Vec colour;   // times the ray's weight
  Mask some;
};
POLYFLY_FN Lit lit_by(const Scene& scene, const Light& light, const Ray& ray, const Surface& s, Mask met) {
  Lit lit;
  lit.towards = vec(light.position) - s.p;
  const Real across = dot(s.n, lit.towards);
  lit.some = met & (across > Real(0.0f));
  lit.colour = s.albedo;
  if (!any(lit.some)) return lit;
  const Real nearness = reciprocal(root(dot(lit.towards, lit.towards)));
  const Real lambert = across * nearness;
  const Real facing = -dot(s.n, ray.d);
  const Real turned = mad(-dot(lit.towards, ray.d), nearness, Real(1.0f));
  const Real both = lambert + facing;
  Real nh = both * both * reciprocal(most(turned + turned, Real(1.0e-6f)));
  nh = nh * nh;
  nh = nh * nh;
  nh = nh * nh;
  nh = nh * nh;
  nh = nh * nh;
  const Real shine = s.shine * nh;
  const Vec seen = vec(mad(s.albedo.x, lambert, shine), mad(s.albedo.y, lambert, shine), mad(s.albedo.z, lambert, shine));
  lit.colour = ray.weight * seen * vec(light.colour);
  lit.some = lit.some & (brightest(lit.colour) > Real(0.5f * scene.cutoff));
  return lit;
}

// Where the transmitted ray goes: straight, or bent by Snell's law.
POLYFLY_FN Vec through(const Surface& s, Vec d) {
  const Mask bends = s.ior != Real(1.0f);
  if (!any(bends)) return d;
  const Real cosine = -dot(s.n, d);
  const Real k = mad(s.ior * s.ior, mad(cosine, cosine, Real(-1.0f)), Real(1.0f));
  const Vec bent = normalise(d * s.ior + s.n * (mad(s.ior, cosine, -root(most(k, Real(1.0e-20f))))));
  return select(bends, bent, d);
}

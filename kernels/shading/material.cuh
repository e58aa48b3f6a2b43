// Materials: what a ray finds where it lands. Colour, light of its own, and what goes on from there.
#pragma once
#include "../shapes/convex.cuh"
#include "floor.cuh"

// Glass: what bends light of the ray's wavelength, what is left of it on its way through, and its colour from here on,
// mirrored or not: the mirrored share depends on the wavelength too.
// index, dispersion and absorb are the glass's; the share that is mirrored follows later, by s.ior.
template <class S>
POLYFLY_FN void shade_glass(const Ray& ray, const Hit& hit, Mask m, const Wavelength& wave, Real index, Real dispersion,
                            Vec absorb, Surface<S>& s) {
  const Mask disperses = m & (dispersion > Real(0.0f));
  if (any(disperses)) {
    const Real bent = fma(dispersion, wave.term, index);
    s.ior = select(disperses, select(hit.leaving, bent, reciprocal(bent)), s.ior);
    const Mask anew = disperses & ((ray.bounces & Int(DISPERSED)) == Int(0));
    s.dye = select(anew, wave.response, s.dye);
    s.spawn_flags = select(anew, Int(DISPERSED), s.spawn_flags);
  }
  const Mask absorbs = m & hit.leaving & (max_component(absorb) > Real(0.0f));
  if (any(absorbs)) s.transmittance = select(absorbs, exp_minus(absorb * hit.t), s.transmittance);
}

// What a sample covers of a face: a cone of rays is longer the way it leans, and mirrors and panes, which are flat, do
// not change its angle (Amanatides, "Ray tracing with cones", 1984).
struct Footprint {
  Real width;  // of the cone where it meets the face
  Real slant;  // over the cosine of its lean
};
// How much wider it is in a direction within the face, in which the ray's own has this share.
POLYFLY_FN Real stretch_along(const Footprint& f, Real share) {
  const Real lean = share * f.slant;
  return sqrt(fma(lean, lean, Real(1.0f)));
}
// The share of something that ends at `far` from x, seen through a box: 1 well within, a half on its rim.
POLYFLY_FN Real box_coverage(Real far, Real x, Real inverse_width) {
  return max(min(fma(far - x, inverse_width, Real(0.5f)), Real(1.0f)), Real(0.0f));
}

// Radii from the edge to the nearest that a lamp may be: it fills at most 0.42 of the bar's width.
#define LAMP_REACH 1.19f

// --- lamps: discs set along the middle of a bar, hot in theirs, with a glow on the bar around them ---
// across: distance to the edge within the face; place: position along the edge, 0 in its middle; width: the footprint's
// across the edge; sideways: the share of the ray's direction that runs across it; cover: the share of the footprint
// that the bar fills. A lamp smaller than the footprint is spread over it; of a row closer than that the mean is seen.
template <class S>
POLYFLY_FN Vec lamp_light(const S&, const Body& body, Real across, Real place, const Footprint& f, Real width,
                          Real sideways, Real cover) {
  const Real zero = Real(0.0f), half = Real(0.5f), one = Real(1.0f);
  const bool strip = body.lamps < 0;
  Real cell = fma(place, Real(body.lamps_per_length), Real(0.5f * (float)body.lamps));
  const Real first = zero, last = Real((float)(body.lamps - 1));
  const Real number = to_real(to_int(min(max(cell, first), last)));
  // What the footprint is long, squared, is its longest way's by the sine between that and the edge. A row of lamps
  // closer than it is one line of light; from half as long on it tends to that.
  const Real longest = f.width * f.slant, long2 = longest * longest * fma(-sideways, sideways, one);
  const Real row = strip ? one : max(min(fma(long2, Real(body.lamp_merging), Real(-1.0f / 3.0f)), one), zero);
  const Real aside = (cell - number - half) * Real(body.lamp_spacing) * (one - row);
  // In lamp radii from here on, squared where it says so.
  const Real sharpness = Real(body.lamp_sharpness * body.lamp_sharpness), aside2 = aside * aside;
  const Real off = across - Real(body.lamp_across), beyond = across + Real(body.lamp_across);
  const Real far2 = fma(off, off, aside2) * sharpness;
  const Real spread = Real(0.5f * body.lamp_sharpness) * (strip ? width : f.width * sqrt(f.slant));
  const Real half_width = max(min(spread, Real(1.0e18f)), Real(1.0e-9f));
  // A disc through a box: of the larger one's size, with a rim as wide as the smaller.
  const Real inverse = reciprocal(half_width), rim = half * max(inverse, one);
  const Real grown = max(half_width, one), soft = min(half_width, one), blurred = soft * soft;
  const Real own = box_coverage(grown, sqrt_or_zero(far2), rim);
  Real shown = own;
  if (any(grown + soft > Real(LAMP_REACH))) {
    // With that of the lamp on the other side of the edge.
    shown = shown + box_coverage(grown, sqrt_or_zero(fma(beyond, beyond, aside2) * sharpness), rim);
  }
  // Its light is spread over a disc, and that of a line over its width.
  const Real line = min(inverse, one) * Real(body.lamp_fill);
  shown = shown * (strip ? line : mix(reciprocal(fma(blurred, Real(1.0f / 3.0f), grown * grown)), line, row));
  const Real core = max(one - far2, zero);
  const Real white = mix(core * core * Real(1.6f), Real(strip ? 1.6f * 8.0f / 15.0f : 1.6f / 3.0f), blurred) * shown;
  const Real tinted =
      mix(fma(core, Real(1.4f), Real(1.2f)), Real(strip ? 1.2f + 1.4f * 2.0f / 3.0f : 1.9f), blurred) * shown;
  const Vec colour = vec(body.lamp_colour);
  const Real strength = max_component(colour) * white;
  const Real around = fma(Real(0.22f) * reciprocal(max(far2, one)), (one - own) * cover, tinted);
  const Vec light =
      vec(fma(colour.x, around, strength), fma(colour.y, around, strength), fma(colour.z, around, strength));
  if (SceneTraits<S>::plain || body.chase < 0.0f) return light;
  // A bright head every fourth lamp, or four on a strip, with a tail behind it.
  const Real head = fract(fma(strip ? cell * Real(4.0f) : number * Real(0.25f), Real(1.0f), Real(-body.chase)));
  return light * fma(head * head, Real(0.95f), Real(0.05f));
}

// Past the critical angle what would have passed, the share T, is mirrored, undyed. What the surface mirrors and
// spreads itself stays as it is.
template <class S>
POLYFLY_FN void total_reflection(Vec d, Real transparency, Mask met, Surface<S>& s) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Mask bends = met & (s.ior != one);
  if (!any(bends)) return;
  const Real cosine = -dot(s.n, d);
  const Mask total = bends & (fma(s.ior * s.ior, fma(cosine, cosine, -one), one) < zero);
  // Shares of more than all are a scene's own, and would add up here without end.
  const Real both = min(Reflectance<S>::max(s.reflect) + transparency, one);
  s.reflect = select(total, Reflectance<S>::all(both), s.reflect);
  s.transmit = select(total, vec(zero, zero, zero), s.transmit);
}

// How far the rim of a bar leans away from its edge, as a tangent; and bounces after which bars mirror nothing.
#define BAR_RIM 1.2f
#define BAR_BOUNCES 2
// A bar's rim is filtered by this share of the footprint: of what a bar half covers a ray has to go on, alone among its
// neighbours, and the whole footprint blurs more than it calms.
#define BAR_BLUR 0.6f

// A bar at q from the body's centre, for lanes that are `near` one: half-round metal along the edge between the face
// with the normal n and the one that is `nearest` to q, of the others. Its normal runs from the edge's own, between
// both faces, to one that leans into the face. f: what the sample covers. Where the footprint lies half on the bar
// and half on the pane their shares are mixed, and the normal is that of the one that mirrors more.
template <class S>
POLYFLY_FN void shade_bar(const S& scene, const Body& body, const Ray& ray, Vec q, Vec n, Real nearest,
                          const Footprint& f, Mask near, Surface<S>& s) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  Vec other = n;
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.at(i);
    other = select(slab_distance(slab, q) == nearest, vec(slab.n), other);
  }
  // The edge runs along n x other, whose length is the sine that bar_to_edge undoes.
  const Real place = dot(cross(n, other), q) * Real(body.bar_to_edge);
  // The centre is inside: what points away from it is outward.
  n = select(dot(n, q) < zero, -n, n);
  other = select(dot(other, q) < zero, -other, other);
  const Vec inward = fma(other, Real(-body.bar_to_edge), n * Real(body.bar_inward));
  const Real facing = dot(n, ray.d), across = nearest * Real(body.bar_to_edge);
  const Real sideways = dot(inward, ray.d), stretch = stretch_along(f, sideways);
  const Real width = f.width * stretch;
  const Real inverse_width = reciprocal(max(width * Real(BAR_BLUR), Real(1.0e-20f)));
  const Real rim = Real(body.bar * body.bar_to_edge);
  const Real cover = box_coverage(rim, across, inverse_width) - box_coverage(-rim, across, inverse_width);
  const Mask outside = facing < zero;
  if (body.lamps != 0) {
    Mask shines = near;
    if constexpr (!SceneTraits<S>::plain) {
      if (!(body.lamp_sides & LAMPS_INSIDE)) shines = shines & outside;
      if (!(body.lamp_sides & LAMPS_OUTSIDE)) shines = shines & !outside;
    }
    s.emission = select(shines, lamp_light(scene, body, across, place, f, width, sideways, cover), s.emission);
  }
  const Mask bar = near & (cover > zero);
  if (!any(bar)) return;
  const Real pane = one - cover;
  // Inside, and in the mirrors of mirrors, they are dull: what they mirror there would be noise.
  const Mask mirrors = bar & outside & ((ray.bounces & Int(BOUNCE_MASK)) < Int(BAR_BOUNCES));
  const Real mirrored_share = select(mirrors, Real(body.bar_reflect) * cover, zero);
  const Mask dominates = bar & (cover > Real(0.5f)) & !(Reflectance<S>::max(s.reflect) * pane > mirrored_share);
  s.albedo = select(bar, mix(s.albedo, vec(body.bar_colour), cover), s.albedo);
  s.highlight_weight = select(bar, mix(s.highlight_weight, Real(scene.constants.highlight), cover), s.highlight_weight);
  s.transmit = select(bar, s.transmit * pane, s.transmit);
  s.reflect = select(bar, fma(s.reflect, pane, Reflectance<S>::all(mirrored_share)), s.reflect);
  if (!any(dominates)) return;
  const Vec face = select(outside, n, -n);
  const Real first = select(outside, Real(-body.bar_lean), Real(body.bar_lean));
  const Real lean = fma(Real(BAR_RIM) - first, min(nearest * Real(body.bar_inverse), one), first);
  const Real size = reciprocal(sqrt(fma(lean, lean, one)));
  const Vec leaning = fma(inward, lean, face) * size;
  // What turns away from the eye is seen from the side at most.
  const Vec round = fma(ray.d, -max(dot(leaning, ray.d), zero), leaning);
  s.n = select(dominates, round, s.n);
  s.alpha = select(dominates, zero, s.alpha);
  s.edge = select(dominates, zero, s.edge);
  // Over the footprint the normal turns with the lean, as a tangent, and what is mirrored twice as far.
  s.widening =
      select(dominates, s.cone * stretch * (Real(BAR_RIM) - first) * Real(body.bar_turn) * (size * size), s.widening);
  // What they mirror stays on this side of the face: where it would not, the normal gives way.
  const Vec mirrored = fma(round, Real(-2.0f) * dot(round, ray.d), ray.d);
  const Real below = dot(mirrored, face) - Real(0.02f);
  const Mask gives_way = dominates & (mirrors | (cover < one)) & (below < zero);
  if (!any(gives_way)) return;
  const Vec kept_above = normalise(fma(face, -below, mirrored));
  s.n = select(gives_way, normalise(kept_above - ray.d), s.n);
}

// Body k, for lanes that met it.
template <class S>
POLYFLY_FN void shade_body(const S& scene, const FrameParams& frame, int k, const Ray& ray, const Hit& hit, Mask m,
                           const Wavelength& wave, Surface<S>& s) {
  const Body& body = scene.bodies.at(k);
  const Vec q = s.p - vec(body.centre);
  // The face is the nearest plane, the edge is shared with the next.
  Vec n = vec(Real(0.0f), Real(0.0f), Real(1.0f));
  Real own = Real(FAR), nearest = Real(FAR);
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.at(i);
    const Real gap = slab_distance(slab, q);
    n = select(gap < own, vec(slab.n), n);
    nearest = min(nearest, max(own, gap));
    own = min(own, gap);
  }
  const Real facing = dot(n, ray.d);
  s.n = select(m, select(facing < Real(0.0f), n, -n), s.n);
  const Vec colour = vec(body.colour);
  Real local = Real(body.local), highlight_weight = Real(body.highlight_weight);
  Real mirrored = Real(body.reflect), transparency = Real(body.transmit);
  Mask passes_shadow_rays = first_lanes(body.shadow_transmit > 0.0f ? POLYFLY_LANES : 0);
  if constexpr (!SceneTraits<S>::plain) {
    local = select(hit.leaving, Real(body.local_inside), local);
    highlight_weight = select(hit.leaving, Real(body.highlight_weight_inside), highlight_weight);
    mirrored = select(hit.leaving, Real(body.reflect_inside), mirrored);
    transparency = select(hit.leaving, Real(body.transmit_inside), transparency);
  }
  s.albedo = select(m, colour * local, s.albedo);
  s.highlight_weight = select(m, highlight_weight, s.highlight_weight);
  s.reflect = select(m, Reflectance<S>::all(mirrored), s.reflect);
  s.transmit = select(m, colour * transparency, s.transmit);
  s.passes_shadow_rays = (s.passes_shadow_rays & !m) | (m & passes_shadow_rays);
  s.ior = select(m, select(hit.leaving, Real(body.ior), Real(body.inverse_ior)), s.ior);
  if constexpr (!SceneTraits<S>::plain) {
    if (body.metal) {
      s.reflect = select(m, colour, s.reflect);
      s.fuzz = select(m, Real(body.fuzz), s.fuzz);
      s.edge = select(m, Real(body.metal == 2 ? 1.0f : 0.0f), s.edge);
    }
    s.alpha = select(m, Real(body.alpha), s.alpha);
    if (body.glass) shade_glass(ray, hit, m, wave, Real(body.ior), Real(body.dispersion), vec(body.absorb), s);
  }
  if (body.glass) {
    const Real share = fresnel(s.ior, -dot(s.n, ray.d));
    s.reflect = select(m, Reflectance<S>::all(share), s.reflect);
    s.transmit = select(m, s.transmit * (Real(1.0f) - share), s.transmit);
  }
  const Int in = Int(body.code_in), out = Int(origin_outside(SHAPE_BODY, k));
  s.reflect_origin = select(m, select(hit.leaving, in, out), s.reflect_origin);
  s.transmit_origin = select(m, select(hit.leaving, out, in), s.transmit_origin);
  total_reflection(ray.d, transparency, m, s);
  if (!(body.bar > 0.0f)) return;
  // A footprint's half reaches the bar.
  const Footprint f = {s.cone * Real(frame.pixel_footprint), reciprocal(max(abs(facing), Real(0.01f)))};
  const Mask near =
      m & (nearest * Real(body.bar_to_edge) < fma(f.width, f.slant * Real(0.5f), Real(body.bar * body.bar_to_edge)));
  if (any(near)) shade_bar(scene, body, ray, q, n, nearest, f, near, s);
}

// The normal at p of a smooth triangle, between those at its corners, on the side of the face's; of a flat one the
// face's.
template <class S>
POLYFLY_NOINLINE Vec smooth_normal(const S& scene, Vec d, Vec p, Int number, Mask flat, Vec face) {
  const float* data = (const float*)scene.triangles.data;
  const int words = WORDS(Triangle) * scene.triangles.len;
  const Int at = number * Int(WORDS(Triangle));
  const Int smooth = read((const int*)data, words, at + Int(WORD(Triangle, smooth)), flat);
  const Mask curved = flat & (smooth > Int(0));
  if (!any(curved)) return face;
  const Vec side = read_vec(data, words, at + Int(WORD(Triangle, ab)), curved),
            other = read_vec(data, words, at + Int(WORD(Triangle, ac)), curved);
  // As if its longer side were about 1: the products of four lengths stay within the domain.
  const Real size = inverse_power_of_two(max(largest(side), largest(other)));
  const Vec ab = side * size, ac = other * size,
            q = (p - read_vec(data, words, at + Int(WORD(Triangle, a)), curved)) * size;
  // p's shares of b and c.
  const Real bb = dot(ab, ab), bc = dot(ab, ac), cc = dot(ac, ac), qb = dot(q, ab), qc = dot(q, ac);
  const Real one = Real(1.0f), zero = Real(0.0f), all = fma(bb, cc, -(bc * bc));
  const Real inverse = reciprocal(select(curved & (all > Real(1.0e-30f)), all, one));
  const Real b = max(min(fma(cc, qb, -(bc * qc)) * inverse, one), zero);
  const Real c = max(min(fma(bb, qc, -(bc * qb)) * inverse, one - b), zero);
  const float* normals = scene.normals.data;
  const int len = scene.normals.len;
  const Int first = select(curved, smooth - Int(1), Int(0)) * Int(9);
  const Vec interpolated = read_vec(normals, len, first, curved) * (one - b - c) +
      read_vec(normals, len, first + Int(3), curved) * b + read_vec(normals, len, first + Int(6), curved) * c;
  // Corners that point against each other may leave nothing.
  const Mask valid = curved & (dot(interpolated, interpolated) > Real(1.0e-12f));
  const Vec unit = normalise(select(valid, interpolated, face));
  const Vec leaning = select(dot(unit, face) < zero, -unit, unit);
  return select(valid, bent_normal(leaning, face, d), face);
}

// A sphere or a triangle.
template <class S>
POLYFLY_FN void shade_primitive(const S& scene, const Ray& ray, const Hit& hit, Mask m, const Wavelength& wave,
                                Surface<S>& s) {
  const Int number = surface_index(hit.surface);
  const Mask round = m & (surface_kind(hit.surface) == Int(SHAPE_SPHERE)), flat = m & !round;
  Vec n = s.n;
  Int material = Int(0);
  if (any(round)) {
    const float* data = (const float*)scene.spheres.data;
    const int words = WORDS(Sphere) * scene.spheres.len;
    const Vec centre = read_vec(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, centre)), round);
    const Real radius = read(data, words, number * Int(WORDS(Sphere)) + Int(WORD(Sphere, radius)), round);
    // Rounding has moved the point off the round: it is put back.
    // Far from the origin rounding may move it to the centre.
    const Vec out = normalise_or(select(round, s.p - centre, n), -ray.d);
    n = select(round, out, n);
    s.p = select(round, fma(out, radius, centre), s.p);
    material = select(round, read(scene.sphere_materials.data, scene.sphere_materials.len, number, round), material);
  }
  if (any(flat)) {
    const float* data = (const float*)scene.triangles.data;
    const int words = WORDS(Triangle) * scene.triangles.len;
    const Int at = number * Int(WORDS(Triangle));
    const Vec normal = cross(read_vec(data, words, at + Int(WORD(Triangle, ab)), flat),
                             read_vec(data, words, at + Int(WORD(Triangle, ac)), flat));
    n = select(flat, normalise_or(select(flat, normal, n), -ray.d), n);
    material = select(flat, read((const int*)data, words, at + Int(WORD(Triangle, material_index)), flat), material);
  }
  n = select(dot(n, ray.d) < Real(0.0f), n, -n);
  if constexpr (!SceneTraits<S>::plain) {
    if (any(flat) && scene.normals.len > 0) n = smooth_normal(scene, ray.d, s.p, number, flat, n);
  }
  s.n = select(m, n, s.n);
  const float* data = (const float*)scene.materials.data;
  const int words = WORDS(Material) * scene.materials.len;
  const Int at = material * Int(WORDS(Material));
  s.albedo = select(m, read_vec(data, words, at + Int(WORD(Material, albedo)), m), s.albedo);
  s.highlight_weight = select(m, read(data, words, at + Int(WORD(Material, highlight_weight)), m), s.highlight_weight);
  const Real ior = select(m, read(data, words, at + Int(WORD(Material, ior)), m), Real(1.0f));
  s.ior = select(m, select(hit.leaving, ior, reciprocal(ior)), s.ior);
  s.fuzz = select(m, read(data, words, at + Int(WORD(Material, fuzz)), m), s.fuzz);
  s.emission = select(m, read_vec(data, words, at + Int(WORD(Material, emission)), m), s.emission);
  Vec mirror = read_vec(data, words, at + Int(WORD(Material, mirror)), m),
      refract = read_vec(data, words, at + Int(WORD(Material, transmit)), m);
  s.transmit = select(m, refract, s.transmit);
  const Int stops = read((const int*)data, words, at + Int(WORD(Material, stops_shadow_rays)), m);
  s.passes_shadow_rays = s.passes_shadow_rays & !(m & (stops > Int(0)));
  const Mask glass = m & (read((const int*)data, words, at + Int(WORD(Material, glass)), m) > Int(0));
  if (any(glass)) {
    if constexpr (!SceneTraits<S>::plain) {
      const Vec absorb = read_vec(data, words, at + Int(WORD(Material, absorb)), glass);
      shade_glass(ray, hit, glass, wave, ior, read(data, words, at + Int(WORD(Material, dispersion)), glass), absorb,
                  s);
    }
    const Real share = fresnel(s.ior, -dot(n, ray.d));
    mirror = select(glass, vec(share, share, share), mirror);
    s.transmit = select(glass, s.transmit * (Real(1.0f) - share), s.transmit);
  }
  s.reflect = select(m, mirror, s.reflect);
  if constexpr (!SceneTraits<S>::plain) {
    s.alpha = select(m, read(data, words, at + Int(WORD(Material, alpha)), m), s.alpha);
    s.edge = select(m, read(data, words, at + Int(WORD(Material, edge)), m), s.edge);
  }
  const Int out = hit.surface << ORIGIN_SHIFT, in = out | Int(INSIDE);
  s.reflect_origin = select(m, select(hit.leaving, in, out), s.reflect_origin);
  s.transmit_origin = select(m, select(hit.leaving, out, in), s.transmit_origin);
  total_reflection(ray.d, read(data, words, at + Int(WORD(Material, transparency)), m), m, s);
}

template <class S>
POLYFLY_FN Surface<S> shading_point(const S& scene, const FrameParams& frame, const Ray& ray, const Hit& hit, Mask met,
                                    const Wavelength& wave) {
  const Real zero = Real(0.0f);
  const Vec black = vec(zero, zero, zero);
  Surface<S> s = {kept(fma(ray.d, hit.t, ray.o)),
                  vec(zero, zero, Real(1.0f)),
                  black,
                  black,
                  zero,
                  Reflectance<S>::all(zero),
                  zero,
                  zero,
                  zero,
                  black,
                  Real(1.0f),
                  Int(NO_ORIGIN),
                  Int(NO_ORIGIN),
                  first_lanes(POLYFLY_LANES),
                  Int(0),
                  Int(0),
                  vec(Real(1.0f), Real(1.0f), Real(1.0f)),
                  cone_at(ray, hit.t),
                  zero,
                  vec(Real(1.0f), Real(1.0f), Real(1.0f))};
#if POLYFLY_LANES == 1
  (void)met;
  const int kind = surface_kind(hit.surface), index = surface_index(hit.surface);
  if (kind == SHAPE_BODY) {
    shade_body(scene, frame, index, ray, hit, true, wave, s);
  } else if (kind == SHAPE_FLOOR) {
    shade_floor(scene, frame, index, ray, hit, true, s);
  } else if (kind >= 0) {
    if constexpr (!SceneTraits<S>::small) shade_primitive(scene, ray, hit, true, wave, s);
  }
#else
  const Int kind = surface_kind(hit.surface), index = surface_index(hit.surface);
  const Mask body = met & (kind == Int(SHAPE_BODY)), floor = met & (kind == Int(SHAPE_FLOOR));
  const Mask primitive = met & !body & !floor;
  if (any(primitive)) shade_primitive(scene, ray, hit, primitive, wave, s);
  for (u32 pending = mask_bits(body); pending;) {
    const int k = lane(index, __builtin_ctz(pending));
    const Mask m = body & (index == Int(k));
    shade_body(scene, frame, k, ray, hit, m, wave, s);
    pending &= ~mask_bits(m);
  }
  POLYFLY_NO_UNROLL
  for (int k = 0; k < scene.floor.len; ++k) {
    const Mask m = floor & (index == Int(k));
    if (any(m)) shade_floor(scene, frame, k, ray, hit, m, s);
  }
#endif
  return s;
}

// Where the transmitted ray goes: straight, or bent by Snell's law.
template <class S>
POLYFLY_FN Vec refract(const Surface<S>& s, Vec d) {
  const Mask bends = s.ior != Real(1.0f);
  if (!any(bends)) return d;
  const Real cosine = -dot(s.n, d);
  const Real k = fma(s.ior * s.ior, fma(cosine, cosine, Real(-1.0f)), Real(1.0f));
  const Vec bent = normalise(d * s.ior + s.n * (fma(s.ior, cosine, -sqrt(max(k, Real(1.0e-20f))))));
  return select(bends, bent, d);
}

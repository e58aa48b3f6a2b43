// Bars and lamps along the edges of polyhedra, which lie over the faces' material.
#pragma once
#include "../shapes/body.cuh"
#include "material.cuh"
#include "texture.cuh"

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

// Lays the bars of body k over what its material has made of s.
template <class S>
POLYFLY_FN void shade_bars(const S& scene, const FrameParams& frame, int k, const Ray& ray, const Interaction& x,
                           Mask m, Surface<S>& s) {
  const Body& body = scene.bodies.at(k);
  if (!(body.bar > 0.0f)) return;
  const Vec q = s.p - vec(body.centre);
  const Footprint f = {s.cone * Real(frame.pixel_footprint), reciprocal(max(abs(dot(x.face, ray.d)), Real(0.01f)))};
  // Half of the footprint may reach the bar.
  const Mask near = m &
      (x.edge_distance * Real(body.bar_to_edge) <
       fma(f.width, f.slant * Real(0.5f), Real(body.bar * body.bar_to_edge)));
  if (any(near)) shade_bar(scene, body, ray, q, x.face, x.edge_distance, f, near, s);
}

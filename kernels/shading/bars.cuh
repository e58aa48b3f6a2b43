// Bars and lamps along the edges of polyhedra, which lie over the faces' material.
#pragma once
#include "../shapes/body.cuh"
#include "material.cuh"
#include "texture.cuh"

// The footprint of a sample on a face: a ray cone is stretched along its slant; flat mirrors and panes do not change
// its angle (Amanatides, "Ray tracing with cones", 1984).
struct Footprint {
  Real width;  // of the cone at the face
  Real slant;  // 1 / cosine of the incidence
};
// The stretch in a direction within the face; share: the component of the ray's direction along it.
POLYFLY_FN Real stretch_along(const Footprint& f, Real share) {
  const Real lean = share * f.slant;
  return sqrt(fma(lean, lean, Real(1.0f)));
}
// Box-filtered coverage of the interval up to `far` at x: 1 well inside, 0.5 on the border.
POLYFLY_FN Real box_coverage(Real far, Real x, Real inverse_width) {
  return max(min(fma(far - x, inverse_width, Real(0.5f)), Real(1.0f)), Real(0.0f));
}

// Smallest distance of a flat lamp's center from the edge, in lamp radii: a lamp fills at most 0.42 of the bar's width.
#define LAMP_REACH 1.19f
// The diameter of the largest lamps over the bar's width within the face.
#define LAMP_WIDTH 0.84f

// --- lamps: a row along a bar, with a bright core and a glow on the bar around them ---
// Domes are balls within the body that touch both faces of the edge, and a strip is a tube there: the line of any ray
// that crosses them meets the body beside the edge, and sees them round. Discs lie flat in the middle of both faces' bars.
struct Lamp {
  Vec light;
  Real cover;  // the fraction of the footprint that the lamp fills
};
// across: distance to the edge within the face; place: position along the edge, 0 at its middle; width: footprint
// across the edge; facing, sideways, along: components of the ray's direction along the face's outward normal, across the
// edge and along it; cover: fraction of the footprint on the bar. A lamp smaller than the footprint is spread over it; of a
// row with a smaller spacing the mean is shown.
template <class S>
POLYFLY_FN Lamp lamp_seen(const S& scene, const Body& body, Real across, Real place, const Footprint& f, Real width,
                          Real facing, Real sideways, Real along, Real cover) {
  const Real zero = Real(0.0f), half = Real(0.5f), one = Real(1.0f);
  const bool strip = body.lamps < 0, dome = (body.lamp_sides & LAMPS_DOME) != 0;
  const Real off = across - Real(body.lamp_across);
  Real cell = fma(place, Real(body.lamps_per_length), Real(0.5f * (float)body.lamps));
  // The squared length of the footprint along the edge; half its width in lamp radii.
  Real long2, spread, fill = Real(body.lamp_fill);
  // Domes: squared distance of the ray from their axis, in lamp radii, and squared sine of the angle between both.
  Real beside2 = zero, sine2 = one, inverse2 = one;
  if (dome) {
    sine2 = max(fma(facing, facing, sideways * sideways), Real(1.0e-4f));
    inverse2 = reciprocal(sine2);
    const Real over = off * Real(body.lamp_sharpness);
    const Real beside = fma(over, facing, -sideways);
    beside2 = beside * beside * inverse2;
    // Where the ray is nearest to the axis.
    const float radius_in_cells = strip ? 0.0f : 0.63661977f * body.lamp_fill;
    cell = fma(along * fma(over, sideways, facing), inverse2 * Real(-radius_in_cells), cell);
    long2 = f.width * f.width * inverse2;
    spread = Real(0.5f * body.lamp_sharpness) * f.width;
    if (!strip) fill = min(fill * sqrt(inverse2), one);
  } else {
    const Real longest = f.width * f.slant;
    long2 = longest * longest * fma(-sideways, sideways, one);
    spread = Real(0.5f * body.lamp_sharpness) * (strip ? width : f.width * sqrt(f.slant));
  }
  const Real first = zero, last = Real((float)(body.lamps - 1));
  const Real number = to_real(to_int(min(max(cell, first), last)));
  // A row of lamps with a smaller spacing than the footprint is a continuous line of light; the transition starts at half
  // that length.
  const Real row = strip ? one : max(min(fma(long2, Real(body.lamp_merging), Real(-1.0f / 3.0f)), one), zero);
  const Real aside = (cell - number - half) * Real(body.lamp_spacing) * (one - row);
  // From here on in lamp radii; names with 2 are squared.
  const Real sharpness = Real(body.lamp_sharpness * body.lamp_sharpness), aside2 = aside * aside;
  const Real far2 = dome ? fma(aside2 * sine2, sharpness, beside2) : fma(off, off, aside2) * sharpness;
  const Real half_width = max(min(spread, Real(1.0e18f)), Real(1.0e-9f));
  // A disc filtered by a box: as large as the larger of both, with a border as wide as the smaller.
  const Real inverse = reciprocal(half_width), rim = half * max(inverse, one);
  const Real grown = max(half_width, one), soft = min(half_width, one), blurred = soft * soft;
  const Real own = box_coverage(grown, sqrt_or_zero(far2), rim);
  Real shown = own;
  if (!dome && any(grown + soft > Real(LAMP_REACH))) {
    // Plus the lamp on the other side of the edge.
    const Real beyond = across + Real(body.lamp_across);
    shown = shown + box_coverage(grown, sqrt_or_zero(fma(beyond, beyond, aside2) * sharpness), rim);
  }
  // A disc's light is spread over its area, a line's over its width.
  const Real less = min(inverse, one), line = less * fill;
  shown = shown * (strip ? line : mix(reciprocal(fma(blurred, Real(1.0f / 3.0f), grown * grown)), line, row));
  if (dome && any(grown > one)) {
    // Past a silhouette no surface shows the spread light, so the part before it gets more.
    const Mask silhouette = (grown > one) & (facing < zero) & (fma(facing, Real(body.bar_inward), -sideways) > zero);
    const Real away = min(abs(fma(Real(body.bar_lean), facing, sideways)) * sqrt(inverse2) * less, one);
    // A disc, whose segment is nearly a polynomial, and a line.
    const Real slope = fma(row, Real(-0.1366f), Real(0.6366f));
    const Real before = fma(away, fma(away * away, half - slope, slope), half);
    shown = select(silhouette, shown * reciprocal(before), shown);
  }
  const Real core = max(one - far2, zero);
  const Real white = mix(core * core * Real(1.6f), Real(strip ? 1.6f * 8.0f / 15.0f : 1.6f / 3.0f), blurred) * shown;
  const Real tinted =
      mix(fma(core, Real(1.4f), Real(1.2f)), Real(strip ? 1.2f + 1.4f * 2.0f / 3.0f : 1.9f), blurred) * shown;
  // The core is equally bright in any color: white with weight lamp_core, else the lamp's color.
  const Vec colour = vec(body.lamp_colour);
  const Real strength = max_component(colour) * Real(body.lamp_core) * white;
  const Real around = fma(white, Real(1.0f - body.lamp_core),
                          fma(Real(0.22f) * reciprocal(max(far2, one)), (one - own) * cover, tinted));
  Lamp lamp;
  lamp.light = vec(fma(colour.x, around, strength), fma(colour.y, around, strength), fma(colour.z, around, strength));
  lamp.cover = min(shown, one);
  if (!uses<FEATURE_LAMP_PATTERNS>(scene) || body.chase < 0.0f) return lamp;
  // Every fourth lamp (four per strip) is a bright head with a tail behind it.
  const Real head = fract(fma(strip ? cell * Real(4.0f) : number * Real(0.25f), Real(1.0f), Real(-body.chase)));
  lamp.light = lamp.light * fma(head * head, Real(0.95f), Real(0.05f));
  return lamp;
}

// The slope of a bar's border away from the edge, and the number of bounces after which bars reflect nothing.
#define BAR_RIM 1.2f
#define BAR_BOUNCES 2
// The fraction of the footprint that filters a bar's border: a partly covered sample continues with a single ray, so
// the whole footprint would blur more than it antialiases.
#define BAR_BLUR 0.6f

// A bar at q (relative to the body's center), in the lanes of `near`: half-round metal along the edge between the face
// with normal n and the adjacent face, which is `nearest` to q. Its normal turns from that of the edge, between both
// faces, into the face. Where the footprint covers bar and pane, their weights are mixed, and the normal is that of the
// one that reflects more. from_edge: the distance from the edge, as a distance from the adjacent face's plane. f: the
// footprint. Returns the fraction of the footprint that a lamp hides.
template <class S>
POLYFLY_FN Real shade_bar(const S& scene, const Body& body, const Ray& ray, Vec q, Vec n, Real nearest, Real from_edge,
                          const Footprint& f, Mask near, Surface<S>& s) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const bool chases = uses<FEATURE_LAMP_PATTERNS>(scene) && !(body.chase < 0.0f);
  Vec other = n;
  Int own_slab = Int(0), other_slab = Int(0);
  POLYFLY_NO_UNROLL
  for (int i = body.first_slab, end = i + body.slabs; i < end; ++i) {
    const Slab& slab = scene.slabs.load(i);
    const Mask is_other = slab_distance(slab, q) == nearest;
    other = select(is_other, vec(slab.n), other);
    if (!chases) continue;
    other_slab = select(is_other, Int(i), other_slab);
    own_slab = select(abs(dot(slab.n, n)) > Real(0.999f), Int(i), own_slab);
  }
  // The edge's direction is n x other, whose length is the sine 1 / bar_to_edge.
  const Vec edge = cross(n, other);
  Real place = dot(edge, q) * Real(body.bar_to_edge), along = dot(edge, ray.d) * Real(body.bar_to_edge);
  if (chases) {
    // Both faces count the lamps from the same end: along the product of their outward normals in the order of their slabs.
    Real sense = select(own_slab < other_slab, one, -one);
    sense = select(dot(n, q) < zero, -sense, sense);
    sense = select(dot(other, q) < zero, -sense, sense);
    place = place * sense;
    along = along * sense;
  }
  // Orients both normals away from the body's center.
  n = select(dot(n, q) < zero, -n, n);
  other = select(dot(other, q) < zero, -other, other);
  const Vec inward = fma(other, Real(-body.bar_to_edge), n * Real(body.bar_inward));
  const Real facing = dot(n, ray.d), across = from_edge * Real(body.bar_to_edge);
  const Real sideways = dot(inward, ray.d), stretch = stretch_along(f, sideways);
  const Real width = f.width * stretch;
  const Real inverse_width = reciprocal(max(width * Real(BAR_BLUR), Real(1.0e-20f)));
  const Real rim = Real(body.bar * body.bar_to_edge);
  const Real cover = box_coverage(rim, across, inverse_width) - box_coverage(-rim, across, inverse_width);
  Mask outside = facing < zero;
  // Outside of a round edge, one of its faces may be seen from behind.
  if (bevel_of(scene, body) > 0.0f) outside = dot(s.n, q) > zero;
  Real hidden = zero;
  if (body.lamps != 0) {
    Mask shines = near;
    if (uses<FEATURE_LAMP_PATTERNS>(scene)) {
      if (!(body.lamp_sides & LAMPS_INSIDE)) shines = shines & outside;
      if (!(body.lamp_sides & LAMPS_OUTSIDE)) shines = shines & !outside;
    }
    const Lamp lamp = lamp_seen(scene, body, across, place, f, width, facing, sideways, along, cover);
    s.emission = select(shines, lamp.light, s.emission);
    if (body.lamp_sides & LAMPS_DOME) hidden = select(shines, lamp.cover, zero);
  }
  const Mask bar = near & (cover > zero);
  if (!any(bar)) return hidden;
  const Real pane = one - cover;
  // From inside and after several bounces bars do not reflect: their reflections would only be noise.
  const Mask mirrors = bar & outside & ((ray.bounces & Int(BOUNCE_MASK)) < Int(BAR_BOUNCES));
  const Real mirrored_share = select(mirrors, Real(body.bar_reflect) * cover, zero);
  const Mask dominates = bar & (cover > Real(0.5f)) & !(Reflectance<S>::max(s.reflect) * pane > mirrored_share);
  s.albedo = select(bar, mix(s.albedo, vec(body.bar_colour), cover), s.albedo);
  s.highlight_weight = select(bar, mix(s.highlight_weight, Real(scene.constants.highlight), cover), s.highlight_weight);
  s.transmit = select(bar, s.transmit * pane, s.transmit);
  s.reflect = select(bar, fma(s.reflect, pane, Reflectance<S>::all(mirrored_share)), s.reflect);
  s.coat = select(bar & (cover > Real(0.5f)), zero, s.coat);
  if (!any(dominates)) return hidden;
  const Vec face = select(outside, n, -n);
  const Real first = select(outside, Real(-body.bar_lean), Real(body.bar_lean));
  const Real lean = fma(Real(BAR_RIM) - first, min(from_edge * Real(body.bar_inverse), one), first);
  const Real size = reciprocal(sqrt(fma(lean, lean, one)));
  const Vec leaning = fma(inward, lean, face) * size;
  // Back-facing normals are turned to grazing ones.
  const Vec round = fma(ray.d, -max(dot(leaning, ray.d), zero), leaning);
  s.n = select(dominates, round, s.n);
  s.alpha = select(dominates, zero, s.alpha);
  s.edge = select(dominates, zero, s.edge);
  // The normal turns over the footprint, and the reflected direction turns by twice as much.
  s.widening =
      select(dominates, s.cone * stretch * (Real(BAR_RIM) - first) * Real(body.bar_turn) * (size * size), s.widening);
  // Reflected directions stay on this side of the face; where they would not, the normal is bent.
  const Vec mirrored = fma(round, Real(-2.0f) * dot(round, ray.d), ray.d);
  const Real below = dot(mirrored, face) - Real(0.02f);
  const Mask gives_way = dominates & (mirrors | (cover < one)) & (below < zero);
  if (!any(gives_way)) return hidden;
  const Vec kept_above = normalise(fma(face, -below, mirrored));
  s.n = select(gives_way, normalise(kept_above - ray.d), s.n);
  return hidden;
}

// Blends the bars of body k over the surface that its material has produced.
template <class S>
POLYFLY_FN void shade_bars(const S& scene, const FrameParams& frame, int k, const Ray& ray, const Interaction& x,
                           Mask m, Surface<S>& s) {
  const Body& body = scene.bodies.at(k);
  if (!uses<FEATURE_BARS>(scene) || !(body.bar > 0.0f)) return;
  const Vec q = s.p - vec(body.centre);
  const Footprint f = {s.cone * Real(frame.pixel_footprint), reciprocal(max(abs(dot(x.face, ray.d)), Real(0.01f)))};
  // Half of the footprint may reach the bar, or a dome that a slanting ray sees over the pane.
  const Real rim = Real(body.bar * body.bar_to_edge);
  const Real reach = body.lamps != 0 && (body.lamp_sides & LAMPS_DOME)
      ? max(rim, fma(f.slant, Real(LAMP_WIDTH * body.bar * body.bar_to_edge), Real(body.lamp_across)))
      : rim;
  Real from_edge = x.edge_distance;
  if constexpr (has_features<S>(FEATURE_ROUND)) from_edge = from_edge - x.depth;
  const Mask near = m & (from_edge * Real(body.bar_to_edge) < fma(f.width, f.slant * Real(0.5f), reach));
  if (!any(near)) return;
  const Real hidden = shade_bar(scene, body, ray, q, x.face, x.edge_distance, from_edge, f, near, s);
  if (!any(hidden > Real(0.0f))) return;
  const Real clear = Real(1.0f) - hidden;
  s.albedo = s.albedo * clear;
  s.highlight_weight = s.highlight_weight * clear;
  s.transmit = s.transmit * clear;
  s.reflect = s.reflect * clear;
}

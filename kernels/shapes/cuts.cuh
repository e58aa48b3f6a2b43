// Planes that cut particles open. What lies behind all of them is kept: a part of a line, from `enter` to `leave`. A shape that
// is cut is convex as it was, so its interval of a line ends there too, and a ray that meets it there meets a cap in the plane.
#pragma once
#include "interaction.cuh"

// The distance at which a line crosses a plane. Of one that starts on the plane, as far as rounding can tell, it is 0: caps of
// particles that overlap lie in one plane, and do not shade each other.
POLYFLY_FN Real cut_distance(const Cut& cut, Vec o, Vec d, Mask& leaves) {
  const Real zero = Real(0.0f), tiny = Real(1.0e-24f), along = dot(cut.n, d);
  const Real off = minus_fma(Real(cut.n[0]), o.x, minus_fma(Real(cut.n[1]), o.y, minus_fma(Real(cut.n[2]), o.z, Real(cut.d))));
  const Real rounding = (abs(Real(cut.n[0]) * o.x) + abs(Real(cut.n[1]) * o.y) + abs(Real(cut.n[2]) * o.z) +
                         abs(Real(cut.d))) * Real(2.0e-6f);
  leaves = !(along < zero);
  return select(abs(off) > rounding, off, zero) * reciprocal(select(abs(along) < tiny, tiny, along));
}
template <class S>
POLYFLY_NOINLINE Interval interval_between_cuts(const S& scene, Vec o, Vec d) {
  Interval kept = {Real(-FAR), Real(FAR)};
  POLYFLY_NO_UNROLL
  for (int k = 0; k < scene.cuts.len; ++k) {
    Mask leaves = first_lanes(0);
    const Real t = cut_distance(scene.cuts.at(k), o, d, leaves);
    kept.leave = select(leaves, min(kept.leave, t), kept.leave);
    kept.enter = select(leaves, kept.enter, max(kept.enter, t));
  }
  return kept;
}
template <class S>
POLYFLY_FN Interval kept_interval(const S& scene, Vec o, Vec d) {
  if (uses<FEATURE_CUTS>(scene)) return interval_between_cuts(scene, o, d);
  return {Real(-FAR), Real(FAR)};
}

// Ends the interval of a shape of this material where cuts do.
template <class S>
POLYFLY_FN void cut_open(const S& scene, int material, const Interval& kept, Interval& c) {
  if (!uses<FEATURE_CUTS>(scene) || !scene.materials.at(material).cut) return;
  c.enter = max(c.enter, kept.enter);
  c.leave = min(c.leave, kept.leave);
}

// Moves interactions with caps into their planes.
template <class S>
POLYFLY_FN void cap(const S& scene, const Ray& ray, const Hit& hit, Mask m, Interaction& x) {
  if (!uses<FEATURE_CUTS>(scene)) return;
  const Int at = select(m, x.material, Int(0)) * Int(WORDS(Material)) + Int(WORD(Material, cut));
  const int* data = (const int*)scene.materials.data;
  const Mask cut = m & (read(data, WORDS(Material) * scene.materials.len, at, m) != Int(0));
  if (!any(cut)) return;
  const Vec p = fma(ray.d, hit.t, ray.o);
  POLYFLY_NO_UNROLL
  for (int k = 0; k < scene.cuts.len; ++k) {
    const Cut& plane = scene.cuts.at(k);
    Mask leaves = first_lanes(0);
    const Mask on = cut & (cut_distance(plane, ray.o, ray.d, leaves) == hit.t);
    const Vec n = vec(plane.n);
    x.n = select(on, select(leaves, -n, n), x.n);
    x.p = select(on, fma(n, Real(plane.d) - dot(n, p), p), x.p);
    x.face = select(on, n, x.face);
    x.depth = select(on, Real(0.0f), x.depth);
    x.curvature = select(on, Real(0.0f), x.curvature);
  }
}

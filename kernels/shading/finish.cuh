// The finish of a body: a texture and a relief on each of its faces.
#pragma once
#include "../shapes/interaction.cuh"
#include "texture.cuh"

// Whether body k has a finish.
template <class S>
POLYFLY_FN bool has_finish(const S& scene, int k) {
  if (scene.finishes.len == 0) return false;
  const Finish& finish = scene.finishes.at(k);
  return finish.texture_levels + finish.relief_levels > 0;
}

// A point on a face of a body: the face's normal, and the directions and coordinates of its pictures.
struct FacePlace {
  Vec outward, right, down;
  Real u, v;
};
// For the point q of the body's surface, relative to its center. A face's pictures are as wide as the body's circumscribed sphere and
// parallel to the edge between the face and the next slab's face, or to the line where their planes meet. They are mirrored and turned
// from face to face.
template <class S>
POLYFLY_FN FacePlace face_place(const S& scene, const Body& body, const Finish& finish, Vec q) {
  const Real zero = Real(0.0f), half = Real(0.5f);
  FacePlace at = {vec(zero, zero, Real(1.0f)), vec(zero, zero, zero), vec(zero, zero, zero), half, half};
  Real own = Real(FAR);
  Int face = Int(0);
  const int first = body.first_slab, end = first + body.slabs;
  POLYFLY_NO_UNROLL
  for (int i = first; i < end; ++i) {
    const Slab& slab = scene.slabs.load(i);
    const Slab& next = scene.slabs.load(i + 1 < end ? i + 1 : first);
    const Real s = dot(slab.n, q), above = Real(slab.hi) - s, below = s - Real(slab.lo);
    const Mask back = below < above, nearer = min(above, below) < own;
    own = select(nearer, min(above, below), own);
    at.outward = select(nearer, select(back, -vec(slab.n), vec(slab.n)), at.outward);
    at.right = select(nearer, cross(vec(slab.n), vec(next.n)), at.right);
    face = select(nearer, Int(2 * (i - first)) + select(back, Int(1), Int(0)), face);
  }
  at.right = normalise_or(at.right, at.outward);
  at.down = cross(at.right, at.outward);
  at.right = select((face & Int(1)) != Int(0), -at.right, at.right);
  at.down = select((face & Int(2)) != Int(0), -at.down, at.down);
  const Mask turned = (face & Int(4)) != Int(0);
  const Vec right = select(turned, at.down, at.right);
  at.down = select(turned, at.right, at.down);
  at.right = right;
  at.u = fma(dot(q, at.right), Real(finish.per_length), half);
  at.v = fma(dot(q, at.down), Real(finish.per_length), half);
  return at;
}
template <class S>
POLYFLY_FN Vec finish_texture(const S& scene, const Finish& finish, const FacePlace& at, Real covered, Mask m) {
  return sample_texture(scene.texels, scene.finish_levels, finish.texture, finish.texture_levels, at.u, at.v, covered, m);
}

// Paint at a point of a picture: its light, and the share that it covers.
struct Paint {
  Vec light;
  Real cover;
};
template <class S>
POLYFLY_FN Paint paint_at(const S& scene, const Finish& finish, Real u, Real v, Real covered, Mask m) {
  const int first = finish.texture, levels = finish.texture_levels;
  return {sample_texture(scene.texels, scene.finish_levels, first, levels, u, v, covered, m),
          sample_texture(scene.texels, scene.finish_levels, first + levels, levels, u, v, covered, m).x};
}
// Paint on a face, which ends where its picture does.
template <class S>
POLYFLY_FN Paint face_paint(const S& scene, const Finish& finish, const FacePlace& at, Real covered, Mask m) {
  const Real zero = Real(0.0f), half = Real(0.5f), scale = Real(finish.paint_scale);
  const Real u = (at.u - half) * scale, v = (at.v - half) * scale;
  const Mask on = (abs(u) <= half) & (abs(v) <= half);
  const Paint paint = paint_at(scene, finish, u + half, v + half, covered * scale, m);
  return {select(on, paint.light, vec(zero, zero, zero)), select(on, paint.cover, zero)};
}

// Transmittance of the finish of body k at q, relative to its center.
template <class S>
POLYFLY_NOINLINE Vec finish_transmittance(const S& scene, const Body& body, int k, Vec q, Mask m) {
  const Finish& finish = scene.finishes.at(k);
  const Real zero = Real(0.0f), one = Real(1.0f);
  if (finish.texture_levels == 0) return vec(one, one, one);
  const FacePlace at = face_place(scene, body, finish, q);
  if (uses<FEATURE_PAINT>(scene) && finish.paints) {
    const Real left = one - face_paint(scene, finish, at, zero, m).cover;
    return vec(left, left, left);
  }
  return finish_texture(scene, finish, at, zero, m);
}

// The finish of body k at a point of its surface: a factor of the colors, the shading normal and the roughness; with a relief also the
// face's normal and the normal of the mean slopes.
struct Finished {
  Vec texture, n;
  Real alpha, painted;
  Vec ground, lean;
};
// p: the point; n: the normal without the finish; cone: the width of the ray's cone. (By value: on a GPU, what functions out of line
// refer to lies in memory, even where they are not called.)
template <class S>
POLYFLY_NOINLINE Finished finished(const S& scene, int k, Vec p, Vec n, Vec d, Mask leaving, Real cone, Mask m) {
  const Body& body = scene.bodies.at(k);
  const Finish& finish = scene.finishes.at(k);
  const FacePlace at = face_place(scene, body, finish, p - vec(body.centre));
  const Vec ground = bevel_of(scene, body) > 0.0f ? n : select(leaving, -at.outward, at.outward);
  const Real covered = slanted_footprint(cone * Real(finish.per_length), dot(ground, d)), one = Real(1.0f);
  Finished result = {vec(one, one, one), n, Real(0.0f), Real(0.0f), ground, n};
  if (uses<FEATURE_PAINT>(scene) && finish.paints) {
    const Paint paint = face_paint(scene, finish, at, covered, m);
    result.texture = paint.light;
    result.painted = paint.cover;
  } else if (finish.texture_levels > 0) {
    result.texture = finish_texture(scene, finish, at, covered, m);
  }
  if (finish.relief_levels == 0) return result;
  const Real tiles = Real(finish.relief_tiles), flat = Real((float)RELIEF_FLAT / 65535.0f);
  const Vec texel = sample_texture(scene.texels, scene.finish_levels, finish.relief, finish.relief_levels,
                                   fract(at.u * tiles), fract(at.v * tiles), covered * tiles, m);
  const Real steepest = Real(finish.relief_slope * finish.per_length);
  const Vec uphill = fma(at.down, (texel.y - flat) * steepest, at.right * ((texel.x - flat) * steepest));
  result.lean = n - select(leaving, -uphill, uphill);
  result.n = bent_normal(result.lean, ground, d);
  result.alpha = sqrt_or_zero(texel.z * Real(finish.relief_alpha));
  return result;
}
template <class S>
POLYFLY_FN void finish_body(const S& scene, const FrameParams& frame, int k, const Ray& ray, const Hit& hit, Mask m,
                            Interaction& x) {
  const Finish& finish = scene.finishes.at(k);
  const Real cone = cone_at(ray, hit.t) * Real(frame.pixel_footprint);
  const Finished result = finished(scene, k, x.p, x.n, ray.d, hit.leaving, cone, m);
  if (finish.texture_levels > 0) {
    x.texture = select(m, result.texture, x.texture);
    if (uses<FEATURE_PAINT>(scene) && finish.paints)
      x.painted = select(m, result.painted, x.painted);
    else
      x.has_texture = x.has_texture | m;
  }
  if (finish.relief_levels > 0) {
    x.n = select(m, result.n, x.n);
    x.alpha = select(m, result.alpha, x.alpha);
    x.ground = select(m, result.ground, x.ground);
    x.lean = select(m, result.lean, x.lean);
    x.has_relief = x.has_relief | m;
  }
}

// Caustics of polyhedra: light that reaches a surface after one reflection at a face, or after two refractions, into a
// body and out of it, with at most one reflection between them. Faces are flat, so each face, each pair of faces, and each pair
// with a third one that mirrors, has at most one path from a point of a light to the surface, and all of them are tried. No path is
// drawn at random.
//
// A mirrored path is found from the mirrored surface. A refracted one is the path of the least optical length (Fermat,
// 1662), which is a convex function of the two crossing points: Newton's method finds its minimum, and the matrix of
// second derivatives says how the light spreads. Walking to a path by Newton's method is due to Hanika, Droske and
// Fascione, "Manifold next event estimation", 2015. A path that is mirrored within the body is a refracted one to the images of the
// light and of its face.
#pragma once
#include "../shapes/scene_query.cuh"
#include "light.cuh"

// Points nearer to a face's plane than this, in radii of the body, lie within it.
#define FACET_NEAR 1.0e-4f
// Shadow rays end before the surface at their end.
#define SHORT_OF 0.9999f

template <class S>
POLYFLY_FN bool has_caustics(const S& scene) {
  return uses<FEATURE_CAUSTICS>(scene);
}
// Whether this material refracts, or tints light by a distance that shadow rays do not know.
POLYFLY_FN bool is_refracting(const Material& m) {
  return (m.ior < 1.0f || m.ior > 1.0f || m.stops_shadow_rays) && m.transparency > 0.0f;
}

template <class S>
POLYFLY_FN bool has_film(const S& scene, const Material& m) {
  return uses<FEATURE_FILMS>(scene) && m.film > 0;
}
template <class S>
POLYFLY_FN bool has_coat(const S& scene, const Material& m) {
  return uses<FEATURE_COAT>(scene) && m.coat > 0.0f;
}
// The share of light that passes a face, relative to what its material transmits.
template <class S>
POLYFLY_FN Vec facet_passes(const S& scene, const Material& m, Real ior, Real cosine, Mask lanes) {
  const Real one = Real(1.0f);
  if (has_film(scene, m)) return film_rest(film_reflectance(scene, Int(m.film), cosine, lanes), vec(m.mirror));
  const Real share = m.kind == MATERIAL_GLASS ? one - fresnel(reciprocal(ior), cosine) : one;
  return vec(share, share, share);
}

// Whether one of a color's channels is above 0.
POLYFLY_FN bool any_of(const float* colour) { return colour[0] > 0.0f || colour[1] > 0.0f || colour[2] > 0.0f; }

POLYFLY_FN Real radius_of(const Body& body) { return sqrt(within_domain(Real(body.bounds) * Real(1.0f / 1.02f))); }

// A face: the plane n.q = offset; q is relative to the body's center, and n points outwards. A body has two for each slab.
struct Facet {
  Vec n;
  Real offset;
  bool exists;  // a tetrahedron's slabs have one face each
};
template <class S>
POLYFLY_FN Facet facet_of(const S& scene, const Body& body, int i) {
  const Slab& slab = scene.slabs.load(body.first_slab + (i >> 1));
  const Vec n = vec(slab.n);
  const Facet upper = {n, Real(slab.hi), true}, lower = {-n, Real(-slab.lo), slab.lo > -1.0e29f};
  return (i & 1) == 0 ? upper : lower;
}
// The image of a point, and that of a face, in the plane of a face.
POLYFLY_FN Vec image_of(const Facet& mirror, Vec q) {
  const Real height = dot(mirror.n, q) - mirror.offset;
  return fma(mirror.n, -(height + height), q);
}
POLYFLY_FN Facet image_of(const Facet& mirror, const Facet& facet) {
  const Real turn = dot(mirror.n, facet.n) * Real(2.0f);
  return {fma(mirror.n, -turn, facet.n), fma(mirror.offset, -turn, facet.offset), facet.exists};
}
// Whether a point of the plane of face i lies in the face, farther than `rim` from the planes of its neighbors.
template <class S>
POLYFLY_FN Mask is_in_facet(const S& scene, const Body& body, int i, Vec q, Real rim) {
  Real margin = Real(FAR);
  POLYFLY_NO_UNROLL
  for (int j = 0; j < body.slabs; ++j)
    if (j != i >> 1) margin = min(margin, slab_distance(scene.slabs.load(body.first_slab + j), q));
  return margin > rim;
}
// The border of faces that throws no caustics: bars are opaque, and bevels bend the light elsewhere.
POLYFLY_FN Real facet_rim(const Body& body, const Material& m) {
  const Real bar = Real(body.bar);
  return m.bevel != 0.0f ? max(bar, reciprocal(Real(m.bevel < 0.0f ? -m.bevel : m.bevel))) : bar;
}

// Whether a segment passes through a body that bends light. Straight light does not get there; refracted light does.
template <class S>
POLYFLY_NOINLINE Mask passes_bending_body(const S& scene, Vec o, Vec d, Int last_surface, Mask active) {
  Mask through = first_lanes(0);
  const Real dd = dot(d, d);
  POLYFLY_NO_UNROLL
  for (int k = 0; k < scene.bodies.len; ++k) {
    const Body& body = scene.bodies.at(k);
    if (!is_refracting(scene.materials.at(body.material))) continue;
    const Vec q = o - vec(body.centre);
    const Mask tested =
        active & (last_surface != Int(origin_outside(SHAPE_BODY, k))) & passes_bounding_sphere(body, q, d, dd);
    if (!any(tested)) continue;
    Interval c = intersect_convex(scene, body, q, d);
    Mask crossed = tested & (c.enter < c.leave) & (c.enter < Real(1.0f)) & (c.leave > Real(0.0f));
    if (uses<FEATURE_ROUND>(scene)) crossed = bevel_interval<BevelsHere>(scene, body, q, d, first_lanes(0), crossed, c);
    through = through | (crossed & (c.enter > Real(0.0f)) & (c.leave < Real(1.0f)));
  }
  return through;
}
// Transmittance of a segment of a caustic's path. bends: refracting bodies block it.
template <class S>
POLYFLY_FN Vec open_way(const S& scene, Vec o, Vec d, Int last_surface, Mask active, bool bends) {
  const Vec none = vec(Real(0.0f), Real(0.0f), Real(0.0f)), all = vec(Real(1.0f), Real(1.0f), Real(1.0f));
  if (!scene.constants.shadows) return all;
  if (bends) active = active & !passes_bending_body(scene, o, d, last_surface, active);
  if (!any(active)) return none;
  return select(active, transmittance(scene, o, d, last_surface, active), none);
}

// The queue of a surface that sees lights through refracting bodies only by refraction. In Whitted's ray tracing, the light of lamps and
// other emitters goes straight on.
template <class S, class Q>
struct StraightLight {
  const S& scene;
  Q& queue;
  const bool bends;
  POLYFLY_METHOD auto sampler(const Ray& ray) const { return queue.sampler(ray); }
  POLYFLY_METHOD void shadow_ray(const Ray& ray, const Surface<S>& s, const LightSample& sample) {
    LightSample kept = sample;
    if (bends && any(sample.valid))
      kept.valid =
          sample.valid & !passes_bending_body(scene, s.p, sample.towards, s.reflect_origin, sample.valid);
    queue.shadow_ray(ray, s, kept);
  }
};

// The reflectance of a face at this cosine. Paths do not start inside refracting bodies.
template <class S>
POLYFLY_FN Vec facet_reflectance(const S& scene, const Body& body, Mask outside, Real cosine, Mask m) {
  const Material& outer = scene.materials.at(body.material);
  if (has_film(scene, outer)) {
    const Int film = select(outside, Int(outer.film), Int(scene.materials.at(body.material_inside).film));
    return film_reflectance(scene, film, cosine, m);
  }
  if (outer.kind == MATERIAL_GLASS) {
    const Real share = fresnel(Real(outer.inverse_ior), cosine);
    return vec(share, share, share);
  }
  const Vec mirror = vec(scene.materials.at(body.material_inside).mirror);
  const Vec bare = schlick(select(outside, vec(outer.mirror), mirror), Real(outer.edge), cosine);
  if (!has_coat(scene, outer)) return bare;
  return select(outside, coat_over_mirror(Real(outer.coat) * fresnel(Real(outer.coat_ior), cosine), bare), bare);
}

// Whether lights show on a surface: it is diffuse, or a rough mirror.
template <class S>
POLYFLY_FN Mask shows_light(const Surface<S>& s) {
  return (max_component(s.albedo) + s.highlight_weight + s.alpha) > Real(0.0f);
}

// The queue of a mirrored surface: light samples reach it through the face.
template <class S>
struct FacetQueue {
  const S& scene;
  const Body& body;
  const int k, face;
  const Facet facet;
  const SamplePoint point;
  const Vec p;         // point on the surface
  const Real height;   // its height over the face's plane
  const Real rim;
  bool is_light;
  Vec sum;

  POLYFLY_METHOD SamplePoint sampler(const Ray&) const { return point; }
  POLYFLY_METHOD void shadow_ray(const Ray&, const Surface<S>& s, const LightSample& sample) {
    const Real zero = Real(0.0f), one = Real(1.0f);
    // Height of the light over the plane = rise - height.
    const Real rise = dot(facet.n, sample.towards);
    Mask valid = sample.valid & (height * (rise - height) > zero);
    if (!any(valid)) return;
    const Real t = min(abs(height) * reciprocal(within_domain(abs(rise))), one);
    const Vec q = fma(sample.towards, t, s.p - vec(body.centre));
    valid = valid & is_in_facet(scene, body, face, q, rim);
    if (!any(valid)) return;
    const Mask outside = height > zero;
    const Real cosine = abs(rise) * reciprocal(sqrt(squared_length(sample.towards)));
    Vec light = sample.colour * facet_reflectance(scene, body, outside, cosine, valid);
    valid = valid & (max_component(light) > Real(scene.constants.light_cutoff));
    if (!any(valid)) return;
    const Vec o = q + vec(body.centre);
    const Int origin = select(outside, Int(origin_outside(SHAPE_BODY, k)), Int(body.origin_inside));
    POLYFLY_NO_UNROLL
    for (int leg = 0; leg < 2; ++leg) {
      const Vec way = leg == 0 ? sample.towards * (one - t) : (p - o) * Real(SHORT_OF);
      light = light * open_way(scene, o, way, origin, valid, is_light);
      valid = valid & (max_component(light) > zero);
      if (!any(valid)) return;
    }
    sum = select(valid, sum + light, sum);
  }
};

// Whether a face may mirror a light to a surface. The line from the surface's image to the light's center crosses the face's plane at q.
// Lines to other points of the light cross near q, or anywhere if the light intersects the plane.
POLYFLY_FN Mask may_mirror(const Light& light, const Body& body, const Facet& facet, Real height, Vec image) {
  const Real one = Real(1.0f), size = radius_of(body), radius = Real(light.radius), up = abs(height);
  const Vec way = vec(light.position) - image;
  const Real rise = abs(dot(facet.n, way));   // height of the light's center over the image
  const Real nearest = rise - radius;
  const Real distance = sqrt(within_domain(dot(way, way)));
  const Vec q = fma(way, up * reciprocal(within_domain(rise)), image - vec(body.centre)) - facet.n * facet.offset;
  const Real face = sqrt_or_zero(fma(facet.offset, -facet.offset, size * size));
  const Real moves = up * radius * reciprocal(within_domain(max(nearest, up))) * fma(distance, reciprocal(within_domain(rise)), one);
  const Real reach = fma(face + moves, Real(1.001f), size * Real(1.0e-3f));
  return (nearest <= up) | (dot(q, q) <= reach * reach);
}

// The lights that caustics are computed for. Path tracing hits emitters itself.
template <bool WITH_EMITTERS, class S>
POLYFLY_FN int caustic_lights(const S& scene) {
  if constexpr (WITH_EMITTERS) return light_count(scene);
  return scene.lights.len;
}

// The light that a body's faces mirror to a surface. Rough faces spread it, and are left out.
template <bool WITH_EMITTERS, class S>
POLYFLY_NOINLINE Vec mirrored_light(const S& scene, int k, const Ray& ray, const Surface<S>& s, SamplePoint point,
                                    Mask lit) {
  const Real zero = Real(0.0f), two = Real(2.0f);
  Vec sum = vec(zero, zero, zero);
  const Body& body = scene.bodies.at(k);
  const Material& outer = scene.materials.at(body.material);
  const Material& inner = scene.materials.at(body.material_inside);
  if (outer.alpha > 0.0f || outer.fuzz > 0.0f) return sum;
  const bool is_glass = outer.kind == MATERIAL_GLASS, filmed = has_film(scene, outer);
  const bool outwards = is_glass || filmed || has_coat(scene, outer) || any_of(outer.mirror);
  const bool inwards = !is_glass && !is_refracting(outer) && (filmed || any_of(inner.mirror));
  if (!outwards && !inwards) return sum;
  const Vec q = s.p - vec(body.centre);
  const Real near = Real(FACET_NEAR) * radius_of(body);
  Mask within = lit;
  POLYFLY_NO_UNROLL
  for (int j = 0; j < body.slabs; ++j)
    within = within & (slab_distance(scene.slabs.load(body.first_slab + j), q) > -near);
  // Inside of a closed body, light gets to and from a face only within the body.
  const Mask open = any_of(inner.transmit) ? lit : within;
  const Real rim = facet_rim(body, outer);
  POLYFLY_NO_UNROLL
  for (int i = 0; i < 2 * body.slabs; ++i) {
    const Facet facet = facet_of(scene, body, i);
    if (!facet.exists) continue;
    const Real height = dot(facet.n, q) - facet.offset;
    Mask tried = first_lanes(0);
    if (outwards) tried = lit & (height > near);
    if (inwards) tried = tried | (open & (height < -near));
    if (!any(tried)) continue;
    Ray turned = ray;
    turned.d = fma(facet.n, -(two * dot(facet.n, ray.d)), ray.d);
    Surface<S> image = s;
    image.p = fma(facet.n, -(two * height), s.p);
    image.n = fma(facet.n, -(two * dot(facet.n, s.n)), s.n);
    FacetQueue<S> queue = {scene, body, k, i, facet, point, s.p, height, rim, false, vec(zero, zero, zero)};
    POLYFLY_NO_UNROLL
    for (int l = 0; l < caustic_lights<WITH_EMITTERS>(scene); ++l) {
      queue.is_light = l < scene.lights.len;
      Mask sampled = tried;
      if (queue.is_light) sampled = sampled & may_mirror(scene.lights.at(l), body, facet, height, image.p);
      if (any(sampled)) sample_light<WITH_EMITTERS>(scene, l, turned, image, sampled, queue);
    }
    sum = sum + queue.sum;
  }
  return sum;
}

// A path from a surface into a body by one face, out of it by another, and on to a light.
struct BentPath {
  Vec near, far;           // points where it crosses the faces
  Real near_cosine, far_cosine;  // cosines between its outer segments and the faces' normals
  Real length;             // length of the inner segment
  Real spread;             // solid angle at the light per area at the surface, times the squared length
  Mask found;
};

// Newton's method: number of steps, longest step, and the step that ends it, in radii of the body. With random solids, lights and
// surfaces, nine steps find 99 of 100 paths.
#define BENT_STEPS 10
#define BENT_STEP_MAX 0.5f
#define BENT_STEP_MIN 5.0e-4f

// A point of a face towards p, no farther from its middle than the corners.
POLYFLY_FN Vec towards_facet(const Facet& facet, Vec p) {
  const Real one = Real(1.0f);
  const Vec middle = facet.n * facet.offset;
  const Vec aside = fma(p, facet.offset * reciprocal(within_domain(dot(facet.n, p))), -middle);
  const Real reach = sqrt_or_zero(fma(facet.offset, -facet.offset, one));
  return fma(aside, min(reach * reciprocal(sqrt(squared_length(aside))), one), middle);
}

// The path from p through the faces `near` and `far` to l, in radii of the body. `far` and l may be mirror images; then so is the body's
// center. The search starts at the point `start` of `far`.
// ior: the body's index of refraction. The optical length is |a - p| + ior |b - a| + |l - b|; each point has two
// coordinates within its face.
POLYFLY_FN BentPath bent_path(const Facet& near, const Facet& far, Vec middle, Vec start, Vec p, Vec l, Real ior, Mask active) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Basis ta = basis_around(near.n), tb = basis_around(far.n);
  const Real rr = dot(ta.right, tb.right), rd = dot(ta.right, tb.down), dr = dot(ta.down, tb.right),
             dd = dot(ta.down, tb.down);
  BentPath path;
  path.near = towards_facet(near, p);
  path.far = start;
  path.near_cosine = path.far_cosine = path.length = path.spread = one;
  const Real reach = sqrt_or_zero(fma(near.offset, -near.offset, one));
  path.found = first_lanes(0);
  Mask going = active, settled = first_lanes(0);
  POLYFLY_NO_UNROLL
  for (int step = 0; step < BENT_STEPS; ++step) {
    const Vec to_a = path.near - p, to_b = path.far - path.near, to_l = l - path.far;
    const Real u_length = sqrt(squared_length(to_a)), g_length = sqrt(squared_length(to_b)),
               w_length = sqrt(squared_length(to_l));
    const Real u_inverse = reciprocal(u_length), w_inverse = reciprocal(w_length),
               g_inverse = reciprocal(max(g_length, Real(1.0e-3f)));
    const Vec u = to_a * u_inverse, g = to_b * g_inverse, w = to_l * w_inverse;
    // Components of the directions within the faces.
    const Real ur = dot(ta.right, u), ud = dot(ta.down, u), gar = dot(ta.right, g), gad = dot(ta.down, g);
    const Real gbr = dot(tb.right, g), gbd = dot(tb.down, g), wr = dot(tb.right, w), wd = dot(tb.down, w);
    const Real gradient_ar = fma(-ior, gar, ur), gradient_ad = fma(-ior, gad, ud);
    const Real gradient_br = fma(ior, gbr, -wr), gradient_bd = fma(ior, gbd, -wd);
    // A convex function is lower only against its gradient. If the circles around both faces have no pair of points there, no path
    // exists.
    const Real rises = fma(gradient_ar, dot(ta.right, path.near), gradient_ad * dot(ta.down, path.near)) +
        fma(gradient_br, dot(tb.right, path.far - middle), gradient_bd * dot(tb.down, path.far - middle));
    const Real steepest = sqrt_or_zero(fma(gradient_ar, gradient_ar, gradient_ad * gradient_ad)) +
        sqrt_or_zero(fma(gradient_br, gradient_br, gradient_bd * gradient_bd));
    going = going & !(fma(steepest, reach, rises) < Real(-1.0e-5f));
    settled = settled & going;
    if (!any(going)) break;
    // The second derivatives: A within the near face, B within the far one, C across.
    const Real ng = ior * g_inverse, a0 = u_inverse + ng, b0 = w_inverse + ng;
    const Real a_rr = fma(-ur * ur, u_inverse, fma(-gar * gar, ng, a0)),
               a_rd = fma(-ur * ud, u_inverse, -gar * gad * ng),
               a_dd = fma(-ud * ud, u_inverse, fma(-gad * gad, ng, a0));
    const Real b_rr = fma(-wr * wr, w_inverse, fma(-gbr * gbr, ng, b0)),
               b_rd = fma(-wr * wd, w_inverse, -gbr * gbd * ng),
               b_dd = fma(-wd * wd, w_inverse, fma(-gbd * gbd, ng, b0));
    const Real c_rr = ng * fma(gar, gbr, -rr), c_rd = ng * fma(gar, gbd, -rd), c_dr = ng * fma(gad, gbr, -dr),
               c_dd = ng * fma(gad, gbd, -dd);
    // Elimination of the near point: S = B - C^T A^-1 C.
    const Real a_det = max(fma(a_rr, a_dd, -(a_rd * a_rd)), Real(1.0e-9f)), a_inverse = reciprocal(a_det);
    const Real i_rr = a_dd * a_inverse, i_rd = -(a_rd * a_inverse), i_dd = a_rr * a_inverse;
    const Real x_rr = fma(i_rr, c_rr, i_rd * c_dr), x_rd = fma(i_rr, c_rd, i_rd * c_dd),
               x_dr = fma(i_rd, c_rr, i_dd * c_dr), x_dd = fma(i_rd, c_rd, i_dd * c_dd);
    const Real s_rr = b_rr - fma(c_rr, x_rr, c_dr * x_dr), s_rd = b_rd - fma(c_rr, x_rd, c_dr * x_dd),
               s_dd = b_dd - fma(c_rd, x_rd, c_dd * x_dd);
    const Real s_det = max(fma(s_rr, s_dd, -(s_rd * s_rd)), Real(1.0e-9f)), s_inverse = reciprocal(s_det);
    if (any(settled)) {
      // At a minimum, the product of both determinants is the determinant of all second derivatives. It gives the mixed derivatives of
      // the shortest optical length by both ends, which are the density of light.
      const Real near_cosine = abs(dot(near.n, u)), far_cosine = abs(dot(far.n, w));
      const Real inside = abs(dot(near.n, g) * dot(far.n, g)) * ior * ior;
      const Real stretched = (u_length + g_length + w_length) * w_inverse, across = u_length * g_length;
      const Real thin = max(across * across * a_det * s_det, Real(1.0e-20f));
      const Real spread = near_cosine * far_cosine * inside * stretched * stretched * reciprocal(min(thin, Real(DOMAIN_MAX)));
      const Mask done = settled & (g_length > Real(2.0e-3f)) & (dot(near.n, g) < zero) & (dot(far.n, g) > zero);
      path.near_cosine = select(settled, near_cosine, path.near_cosine);
      path.far_cosine = select(settled, far_cosine, path.far_cosine);
      path.length = select(settled, g_length, path.length);
      path.spread = select(settled, spread, path.spread);
      path.found = path.found | done;
      going = going & !settled;
      if (!any(going)) break;
    }
    const Real y_r = fma(i_rr, gradient_ar, i_rd * gradient_ad), y_d = fma(i_rd, gradient_ar, i_dd * gradient_ad);
    const Real f_r = fma(c_rr, y_r, fma(c_dr, y_d, -gradient_br)), f_d = fma(c_rd, y_r, fma(c_dd, y_d, -gradient_bd));
    const Real br = fma(s_dd, f_r, -(s_rd * f_d)) * s_inverse, bd = fma(s_rr, f_d, -(s_rd * f_r)) * s_inverse;
    const Real ar = -fma(x_rr, br, fma(x_rd, bd, y_r)), ad = -fma(x_dr, br, fma(x_dd, bd, y_d));
    const Real longest = max(max(abs(ar), abs(ad)), max(abs(br), abs(bd)));
    const Real less = min(Real(BENT_STEP_MAX) * reciprocal(within_domain(longest)), one);
    path.near = select(going, fma(ta.right, ar * less, fma(ta.down, ad * less, path.near)), path.near);
    path.far = select(going, fma(tb.right, br * less, fma(tb.down, bd * less, path.far)), path.far);
    settled = going & (longest < Real(BENT_STEP_MIN));
    // The minimum is about as near as the last step was long. Points of faces are within distance 1.
    if (step >= 1) {
      const Real limit = fma(longest, Real(2.0f), Real(1.02f)), square = limit * limit;
      const Vec far_off = path.far - middle;
      going = going & (dot(path.near, path.near) < square) & (dot(far_off, far_off) < square);
      settled = settled & going;
      if (!any(going)) break;
    }
  }
  return path;
}

// Whether a point p above the face `near` may be in the beam, in radii of the body. Directions to p from points of the patch differ from the
// direction from its middle by at most the patch's radius over the distance.
POLYFLY_FN Mask meets_beam(const Beam& beam, const Facet& near, Vec p) {
  const Vec way = p - vec(beam.patch);
  const Real height = dot(near.n, way), distance = sqrt(within_domain(dot(way, way)));
  const Vec off = fma(way - near.n * height, reciprocal(distance), -vec(beam.lean));
  const Real patch = Real(beam.patch_radius);
  const Real spread = fma(patch, reciprocal(max(max(distance - patch, height), Real(FACET_NEAR))), Real(beam.lean_radius));
  return (dot(near.n, p) - near.offset > Real(FACET_NEAR)) & (dot(off, off) < spread * spread);
}

// The reflectance of a face from inside, at this cosine.
template <class S>
POLYFLY_FN Vec mirrored_within(const S& scene, const Material& inner, Real ior, Real cosine, Mask lanes) {
  const Real zero = Real(0.0f), one = Real(1.0f), share = fresnel(ior, cosine);
  const Real square = fma(ior * ior, fma(cosine, cosine, -one), one);
  Vec mirror = inner.kind == MATERIAL_GLASS ? vec(share, share, share) : vec(inner.mirror);
  if (has_film(scene, inner)) mirror = film_reflectance(scene, Int(inner.film), sqrt_or_zero(square), lanes);
  const Real total = min(max_component(mirror) + Real(inner.transparency), one);
  return select(square < zero, vec(total, total, total), mirror);
}

// The light that a body refracts to a surface from a point l of the light `number`. p_hat and l_hat are in radii of the body.
template <class S>
POLYFLY_FN Vec refracted_from(const S& scene, int k, int number, Vec l, const Ray& ray, const Surface<S>& s, Real ior,
                              Mask lit) {
  const Real zero = Real(0.0f);
  Vec sum = vec(zero, zero, zero);
  const Body& body = scene.bodies.at(k);
  const Light& light = scene.lights.at(number);
  const Material& outer = scene.materials.at(body.material);
  const Material& inner = scene.materials.at(body.material_inside);
  const Real size = radius_of(body), inverse = reciprocal(size);
  const Real rim = facet_rim(body, outer);
  const Vec p_hat = (s.p - vec(body.centre)) * inverse, l_hat = (l - vec(body.centre)) * inverse;
  // Squares of larger numbers would overflow.
  const Mask tried = lit & (max(largest(p_hat), largest(l_hat)) < Real(1.0e12f));
  const Int origin = Int(origin_outside(SHAPE_BODY, k));
  const bool isolated = (body.origin_inside & ISOLATED) != 0;
  const int lights = scene.lights.len, end = scene.first_beams.at(k * lights + number + 1);
  POLYFLY_NO_UNROLL
  for (int b = scene.first_beams.at(k * lights + number); b < end; ++b) {
    const Beam& beam = scene.beams.at(b);
    const int i = beam.near, j = beam.far, m = beam.mirror;
    Facet near = facet_of(scene, body, i);
    near.offset = near.offset * inverse;
    const Mask leaves = tried & meets_beam(beam, near, p_hat);
    if (!any(leaves)) continue;
    Facet far = facet_of(scene, body, j);
    far.offset = far.offset * inverse;
    const Mask enters = leaves & (dot(far.n, l_hat) - far.offset > Real(FACET_NEAR));
    if (!any(enters)) continue;
    Vec middle = vec(zero, zero, zero), start = towards_facet(far, l_hat), aim = l_hat;
    Facet pane = near;
    if (m >= 0) {
      pane = facet_of(scene, body, m);
      pane.offset = pane.offset * inverse;
      far = image_of(pane, far);
      middle = image_of(pane, middle);
      start = image_of(pane, start);
      aim = image_of(pane, aim);
    }
    const BentPath path = bent_path(near, far, middle, start, p_hat, aim, ior, enters);
    if (!any(path.found)) continue;
    const Vec near_point = path.near * size;
    Vec far_point = path.far * size, turn = far_point;
    Real turn_cosine = Real(1.0f);
    Mask valid = path.found & is_in_facet(scene, body, i, near_point, rim);
    if (m >= 0) {
      // Where the path inside meets the mirror.
      const Vec way = path.far - path.near;
      const Real rise = dot(pane.n, way), below = pane.offset - dot(pane.n, path.near);
      valid = valid & (below > zero) & (below < rise);
      if (!any(valid)) continue;
      const Real t = below * reciprocal(within_domain(rise));
      turn = fma(way, t, path.near) * size;
      turn_cosine = rise * reciprocal(within_domain(path.length));
      far_point = image_of(pane, path.far) * size;
      valid = valid & is_in_facet(scene, body, m, turn, rim);
    }
    valid = valid & is_in_facet(scene, body, j, far_point, rim);
    if (!any(valid)) continue;
    const LightSample sample = eval_light(scene, near_point + vec(body.centre) - s.p, light, ray, s, valid);
    valid = valid & sample.valid;
    if (!any(valid)) continue;
    Vec colour = sample.colour * vec(outer.transmit) * vec(inner.transmit) * path.spread;
    colour = colour * (facet_passes(scene, outer, ior, path.near_cosine, valid) *
                       facet_passes(scene, inner, ior, path.far_cosine, valid));
    if (m >= 0) colour = colour * mirrored_within(scene, inner, ior, turn_cosine, valid);
    if (absorbs(inner)) colour = colour * attenuate(vec(inner.absorb), path.length * size);
    // Shadow rays: to the light, to the surface, and inside if other things are in the body.
    const Vec begin = far_point + vec(body.centre), stop = near_point + vec(body.centre), bend = turn + vec(body.centre);
    POLYFLY_NO_UNROLL
    for (int leg = 0; leg < (isolated ? 2 : m >= 0 ? 4 : 3); ++leg) {
      const Vec from = leg == 1 ? stop : leg == 3 ? bend : begin;
      const Vec way = leg == 0 ? l - begin
          : leg == 1           ? (s.p - stop) * Real(SHORT_OF)
                               : ((leg == 2 && m >= 0 ? bend : stop) - from) * Real(0.999f);
      colour = colour * open_way(scene, from, way, leg < 2 ? origin : Int(body.origin_inside), valid, true);
      valid = valid & (max_component(colour) > zero);
      if (!any(valid)) break;
    }
    sum = select(valid, sum + colour, sum);
  }
  return sum;
}

// The light that a body refracts to a surface. A point on the disc of a spherical light is drawn as for direct light.
template <bool WITH_EMITTERS, class S>
POLYFLY_NOINLINE Vec refracted_light(const S& scene, int k, const Ray& ray, const Surface<S>& s, const Wavelength& wave,
                                     SamplePoint point, Mask lit) {
  Vec sum = vec(Real(0.0f), Real(0.0f), Real(0.0f));
  const Body& body = scene.bodies.at(k);
  const Material& outer = scene.materials.at(body.material);
  if (!is_refracting(outer)) return sum;
  const Real ior = fma(Real(outer.dispersion), wave.term, Real(outer.ior));
  const Int bounce = ray.bounces & Int(BOUNCE_MASK);
  const int tried = caustic_lights<WITH_EMITTERS>(scene), lights = tried < scene.lights.len ? tried : scene.lights.len;
  POLYFLY_NO_UNROLL
  for (int i = 0; i < lights; ++i) {
    const Light& light = scene.lights.at(i);
    const int max_samples = light.radius > 0.0f ? light.samples : 1;
    const Int count = samples_at_bounce(max_samples, bounce);
    // A body focuses light a few times at most.
    const Mask counts =
        lit & (max_component(ray.weight * vec(light.colour)) * Real(4.0f) > Real(scene.constants.light_cutoff));
    POLYFLY_NO_UNROLL
    for (int j = 0; j < max_samples; ++j) {
      const Mask sampled = counts & (Int(j) < count);
      if (!any(sampled)) break;
      Vec l = vec(light.position);
      if (light.radius > 0.0f) {
        const Pair u2 = get_2d(subsample(point, count, j), bounce * Int(scene.lights.len) + Int(i + DIM_LIGHTS));
        l = vec(body.centre) + point_on_light(light, l - vec(body.centre), s.n, u2);
      }
      const Vec seen = refracted_from(scene, k, i, l, ray, s, ior, sampled);
      sum = select(sampled, fma(seen, reciprocal(to_real(count)), sum), sum);
    }
  }
  // The color of the wavelength that was refracted, unless the ray has it already.
  if (outer.dispersion > 0.0f)
    sum = select((ray.bounces & Int(DISPERSED)) == Int(0), sum * wave.response, sum);
  return sum;
}

// The caustics' light at a surface, in the lanes of `lit`. It copies its arguments: on a GPU, what functions out of line refer to lies in
// memory, even in scenes that do not call them.
template <bool WITH_EMITTERS, class S>
POLYFLY_FN Vec caustics(const S& scene, const Ray& incoming, const Surface<S>& surface, const Wavelength& length,
                        SamplePoint point, Mask lit) {
  const Ray ray = incoming;
  const Surface<S> s = surface;
  const Wavelength wave = length;
  Vec sum = vec(Real(0.0f), Real(0.0f), Real(0.0f));
  // Not compiled for scenes without caustics, which takes long.
  if constexpr (has_features<S>(FEATURE_CAUSTICS)) {
    POLYFLY_NO_UNROLL
    for (int k = 0; k < scene.bodies.len; ++k) {
      sum = sum + mirrored_light<WITH_EMITTERS>(scene, k, ray, s, point, lit);
      sum = sum + refracted_light<WITH_EMITTERS>(scene, k, ray, s, wave, point, lit);
    }
  }
  return sum;
}

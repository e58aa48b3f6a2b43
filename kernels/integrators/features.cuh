// Features of the surfaces seen through a pixel: albedo, normal, depth and body, for files with layers and for denoisers. A
// separate pass over camera rays, so that other kernels do not pay for it.
#pragma once
#include "integrator.cuh"

// The ray through a clear surface or from a mirror: the one that carries more light.
template <class S>
POLYFLY_FN Ray followed(const S& scene, const Ray& ray, const Surface<S>& s) {
  const Vec mirrored = all_of(s.reflect);
  const Mask through = !(max_component(s.transmit) < max_component(mirrored));
  Ray next = ray;
  next.o = s.p;
  next.d = normalise(select(through, refract(scene, s, ray.d), mirror(s.n, ray.d, mirrored).d));
  next.weight = ray.weight * select(through, s.transmit, mirrored);
  next.cone_width = s.cone;
  next.last_surface = select(through, s.transmit_origin, s.reflect_origin);
  next.bounces = ray.bounces + Int(1);
  return next;
}

// One pixel per lane, over all its samples.
template <class Integrator, class S>
POLYFLY_FN void trace_features(const S& scene, const FrameParams& frame, const Launch& launch, Int px, Int py,
                               Mask lanes, Features* out) {
  const Real zero = Real(0.0f), one = Real(1.0f), fixed = Real(FIXED_ONE);
  for (int j = 0; j < POLYFLY_LANES; ++j) out[j] = {{0, 0, 0}, {0, 0, 0}, float_bits(FAR), 0, -1, 0};
  for (int i = 0; i < launch.samples_per_pixel; ++i) {
    Ray ray = Integrator::camera_ray(scene, frame, px, py, Int(launch.first_sample + i * launch.stride), Int(0));
    Mask going = in_view(scene, ray, lanes);
    POLYFLY_NO_UNROLL
    for (int bounce = 0; any(going); ++bounce) {
      const Hit hit = closest_hit(scene, ray, going);
      const Mask surface = going & (hit.surface != Int(NO_SURFACE));
      // The sky behind a clear surface has no albedo of its own.
      Vec albedo = ray.weight, normal = vec(zero, zero, zero);
      Mask ends = bounce == 0 ? surface : going;
      going = first_lanes(0);
      if (any(surface)) {
        const Mask met = given_any(surface);
        const Surface<S> s = shading_point(scene, frame, ray, hit, met, no_wavelength());
        const Real diffuse = max_component(s.albedo), mirrored = max_component(all_of(s.reflect));
        const Real clear = max(mirrored, max_component(s.transmit));
        if (bounce < launch.follows) going = met & !(s.alpha + s.fuzz > zero) & (clear > diffuse + diffuse);
        albedo = select(met, ray.weight * (s.albedo + all_of(s.reflect) + s.transmit), albedo);
        normal = select(met, s.n, normal);
        if (any(going)) ray = followed(scene, ray, s);
        ends = ends & !going;
      }
      const Int red = to_fixed(min(albedo.x, one)), green = to_fixed(min(albedo.y, one)), blue = to_fixed(min(albedo.z, one));
      const Int nx = to_int(normal.x * fixed), ny = to_int(normal.y * fixed), nz = to_int(normal.z * fixed);
      for (int j = 0; j < POLYFLY_LANES; ++j) {
        Features& f = out[j];
        if (bounce == 0 && lane(surface, j)) {
          // Distances are not negative, so their bits compare like the distances.
          const u32 t = float_bits(lane(hit.t, j));
          const int number = lane(hit.surface, j);
          if (t < f.depth) {
            f.depth = t;
            f.body = number >> SURFACE_KIND_SHIFT == SHAPE_BODY ? number & SURFACE_INDEX_MASK : -1;
          }
          ++f.hits;
        }
        if (!lane(ends, j)) continue;
        f.albedo[0] += lane(red, j);
        f.albedo[1] += lane(green, j);
        f.albedo[2] += lane(blue, j);
        f.normal[0] += lane(nx, j);
        f.normal[1] += lane(ny, j);
        f.normal[2] += lane(nz, j);
      }
    }
  }
}

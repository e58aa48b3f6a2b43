// Features of the first surfaces seen through a pixel: albedo, normal and depth, for files with layers and for
// denoisers. A separate pass over camera rays, so that other kernels do not pay for it.
#pragma once
#include "integrator.cuh"

// One pixel per lane, over all its samples.
template <class Integrator, class S>
POLYFLY_FN void trace_features(const S& scene, const FrameParams& frame, const Launch& launch, Int px, Int py,
                               Mask lanes, Features* out) {
  for (int j = 0; j < POLYFLY_LANES; ++j) out[j] = {{0, 0, 0}, {0, 0, 0}, float_bits(FAR), 0};
  for (int i = 0; i < launch.samples_per_pixel; ++i) {
    const Ray ray = Integrator::camera_ray(scene, frame, px, py, Int(launch.first_sample + i * launch.stride), Int(0));
    const Hit hit = closest_hit(scene, ray, lanes);
    const Mask surface = lanes & (hit.surface != Int(NO_SURFACE));
    if (!any(surface)) continue;
    const Mask met = given_any(surface);
    const Surface<S> s = shading_point(scene, frame, ray, hit, met, no_wavelength());
    const Vec mirrored = vec(Real(1.0f), Real(1.0f), Real(1.0f)) * s.reflect;
    const Vec sum = s.albedo + mirrored + s.transmit;
    const Real one = Real(1.0f), fixed = Real(FIXED_ONE);
    const Int red = to_fixed(min(sum.x, one)), green = to_fixed(min(sum.y, one)), blue = to_fixed(min(sum.z, one));
    const Int nx = to_int(s.n.x * fixed), ny = to_int(s.n.y * fixed), nz = to_int(s.n.z * fixed);
    for (int j = 0; j < POLYFLY_LANES; ++j) {
      if (!lane(met, j)) continue;
      Features& f = out[j];
      f.albedo[0] += lane(red, j);
      f.albedo[1] += lane(green, j);
      f.albedo[2] += lane(blue, j);
      f.normal[0] += lane(nx, j);
      f.normal[1] += lane(ny, j);
      f.normal[2] += lane(nz, j);
      // Distances are not negative, so their bits compare like the distances.
      const u32 t = float_bits(lane(hit.t, j));
      f.depth = t < f.depth ? t : f.depth;
      ++f.hits;
    }
  }
}

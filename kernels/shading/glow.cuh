// The glow of lamps in the air: the light that thin air scatters once, on its way from a lamp to a ray.
#pragma once
#include "../medium.cuh"

// The longest way of a ray that counts: beyond it, a lamp sees nearly nothing.
constexpr float GLOW_REACH = 1.0e9f;

// The arc tangent for 0 <= x <= 1, within 1e-5 (Abramowitz and Stegun, "Handbook of mathematical functions", 4.4.49).
POLYFLY_FN Real atan_of_share(Real x) {
  const Real square = x * x;
  Real sum = fma(square, Real(0.0208351f), Real(-0.0851330f));
  sum = fma(sum, square, Real(0.1801410f));
  sum = fma(sum, square, Real(-0.3302995f));
  return x * fma(sum, square, Real(0.9998660f));
}

template <class S>
POLYFLY_FN bool has_glow(const S& scene) {
  return uses<FEATURE_GLOW>(scene) && scene.air_lights.len > 0;
}

// A lamp of intensity I that a ray passes at a distance h gives it the integral of I / r^2 along the ray, which is I times
// the angle that the lamp sees of the ray, over h. In fog, light falls by the density along both ways; this is taken at
// the middles of that angle's halves. Lamps shine alike in all directions, and nothing casts a shadow into the air.
template <class S>
POLYFLY_NOINLINE Vec glow_in_air(const S& scene, Vec origin, Vec d, Real length, Mask m) {
  const Real zero = Real(0.0f), one = Real(1.0f);
  const Real far = select(m, min(length, Real(GLOW_REACH)), one);
  Vec sum = vec(zero, zero, zero);
  POLYFLY_NO_UNROLL
  for (int i = 0; i < scene.air_lights.len; ++i) {
    const AirLight& light = scene.air_lights.at(i);
    const Vec to = select(m, vec(light.centre) - origin, vec(zero, zero, zero));
    const Real along = dot(to, d);
    const Vec across = fma(d, -along, to);
    const Real square = fma(across.x, across.x, fma(across.y, across.y, fma(across.z, across.z, Real(light.softness))));
    const Real h = sqrt(square), rest = far - along;
    const Real near_end = sqrt(fma(along, along, square)), far_end = sqrt(fma(rest, rest, square));
    // The sine and the cosine of the angle, times a length: of half of it, by tan(x / 2) = sin x / (1 + cos x).
    const Real sine = h * far, cosine = max(fma(near_end, far_end, fma(-along, rest, square)), Real(1.0e-20f));
    const Mask steep = sine > cosine;
    const Real part = atan_of_share(select(steep, cosine, sine) * reciprocal(select(steep, sine, cosine)));
    const Real angle = select(steep, Real(1.57079633f) - part, part);
    Real seen = (angle + angle) * reciprocal(h);
    if (has_fog(scene)) {
      // Where the lines that halve the angle and its halves meet the ray: they divide it as the distances of its ends.
      const auto distance = [&](Real t) POLYFLY_LAMBDA { return sqrt(fma(t - along, t - along, square)); };
      const auto clear = [&](Real t) POLYFLY_LAMBDA {
        const Real z = fma(d.z, t, origin.z), way = distance(t);
        return fog_transmittance(scene, length_in_fog(scene, origin.z, d.z * t, t) +
                                            length_in_fog(scene, z, Real(light.centre[2]) - z, way));
      };
      const Real middle = far * near_end * reciprocal(near_end + far_end), middle_end = distance(middle);
      const Real first = middle * near_end * reciprocal(near_end + middle_end);
      const Real second = fma(middle, far_end, far * middle_end) * reciprocal(middle_end + far_end);
      seen = seen * Real(0.5f) * (clear(first) + clear(second));
    }
    sum = fma(vec(light.strength), seen, sum);
  }
  return sum;
}

//! A clear sky with its sun, computed from the scattering of light in the air.
//!
//! Light that is scattered once: Nishita et al., "Display of the Earth taking into account atmospheric scattering", 1993.
//! Light that is scattered more often, and the coefficients: Hillaire, "A scalable and production ready sky and atmosphere
//! rendering technique", 2020. Lengths are kilometers.

use crate::math::vec3::{Vec3, add, scale};
use crate::math::{floor, smooth_step};
use rayon::prelude::*;
use std::f64::consts::PI;

const EARTH: f64 = 6360.0;
const HEIGHT: f64 = 100.0;
/// The eye's height above the ground.
const EYE: f64 = 0.002;

// Coefficients at sea level for red, green and blue, and the heights over which air and haze thin out by e.
const RAYLEIGH: Vec3 = [5.802e-3, 13.558e-3, 33.1e-3];
const RAYLEIGH_HEIGHT: f64 = 8.0;
const HAZE_ALBEDO: f64 = 0.99;
const HAZE_HEIGHT: f64 = 1.2;
// Haze scatters blue light more than red: by the wavelength (680, 550, 440 nm) to the power of -1.3 (Angstrom, 1961), over green.
const HAZE_TINT: Vec3 = [0.759, 1.0, 1.336];
// Half of what haze scatters goes nearly straight on and stays the sun's light (the delta approximation of Joseph, Wiscombe and
// Weinman, 1976). The other half has a wide lobe; both together have an asymmetry of 0.8.
const HAZE_AHEAD: f64 = 0.5;
const HAZE_FORWARD: f64 = 0.6;
// Ozone absorbs between 10 and 40 km of height.
const OZONE: Vec3 = [0.650e-3, 1.881e-3, 0.085e-3];
const OZONE_MIDDLE: f64 = 25.0;
const OZONE_HALF: f64 = 15.0;

/// The sun's irradiance above the air. A white surface below a high sun is about white.
const SUN: f64 = 4.0;

// The ground's albedo, for the light that it sends back into the air.
const GROUND: f64 = 0.3;

/// The air over a point of the ground, and the sun above it.
pub struct Atmosphere {
    /// The extinction coefficient of the haze at sea level.
    haze: f64,
    /// Sine of the sun's elevation.
    sun_height: f64,
    depths: Table<Vec3>,
    scattered: Table<Vec3>,
    sky: Table<[Vec3; 3]>,
    /// The light of a white surface that lies on the ground.
    ground: Vec3,
}

// What a point of the air does with light, per kilometer.
struct Point {
    air: Vec3,
    haze: Vec3,
    extinction: Vec3,
}

// A straight way through the air: the height and the direction's cosine from the zenith where it begins, the sun's cosine from
// the zenith there and from the way, and the way's length.
struct Way {
    height: f64,
    cosine: f64,
    sun: f64,
    towards_sun: f64,
    whole: f64,
}

impl Way {
    // The sun's cosine from the zenith over a point of the way.
    fn sun_at(&self, t: f64) -> f64 {
        let r = EARTH + self.height;
        (r * self.sun + t * self.towards_sun) / (r * r + t * t + 2.0 * r * t * self.cosine).sqrt()
    }
}

// The middle of a step: its height, the sun's cosine from the zenith there, the share of the sun's light that arrives, and the
// light that reaches the way's begin for each unit that a kilometer scatters.
struct Seen {
    height: f64,
    sun: f64,
    light: Vec3,
    point: Point,
    share: Vec3,
}

impl Atmosphere {
    /// `turbidity`: the optical depth of air and haze over that of the air alone (for green light). `sun_height`: the sine of
    /// the sun's elevation.
    pub fn new(turbidity: f64, sun_height: f64) -> Atmosphere {
        let haze = (turbidity - 1.0) * RAYLEIGH[1] * RAYLEIGH_HEIGHT / HAZE_HEIGHT;
        let none = || Table { width: 1, cells: vec![[0.0; 3]] };
        let sky = Table { width: 1, cells: vec![[[0.0; 3]; 3]] };
        let mut atmosphere = Atmosphere { haze, sun_height, depths: none(), scattered: none(), sky, ground: [0.0; 3] };
        atmosphere.depths = Table::of(160, 32, |u, v| atmosphere.depth(v * v * HEIGHT, LOWEST + u * (1.0 - LOWEST)));
        atmosphere.scattered =
            Table::of(32, 12, |u, v| atmosphere.often_scattered(v * v * HEIGHT, LOWEST + u * (1.0 - LOWEST)));
        atmosphere.sky = Table::of(17, 97, |u, v| atmosphere.along(libm::sin(0.5 * PI * v * v), libm::cos(PI * u)));
        atmosphere.ground = add(scale(atmosphere.sun(), sun_height.max(0.0) / PI), atmosphere.mean());
        atmosphere
    }

    fn at(&self, height: f64) -> Point {
        let h = height.max(0.0);
        let air = scale(RAYLEIGH, libm::exp(-h / RAYLEIGH_HEIGHT));
        let haze = scale(HAZE_TINT, self.haze * libm::exp(-h / HAZE_HEIGHT));
        let ozone = (1.0 - (h - OZONE_MIDDLE).abs() / OZONE_HALF).max(0.0);
        let extinction = [0, 1, 2].map(|c| air[c] + haze[c] * (1.0 - HAZE_ALBEDO * HAZE_AHEAD) + OZONE[c] * ozone);
        Point { air, haze: scale(haze, HAZE_ALBEDO * (1.0 - HAZE_AHEAD)), extinction }
    }

    // The optical depth from a height to the end of the air. Below the horizon it grows beyond all bounds, as if the air went
    // on in the ground.
    fn depth(&self, height: f64, cosine: f64) -> Vec3 {
        const STEPS: u32 = 40;
        let whole = to_the_end(height, cosine);
        (0..STEPS).fold([0.0; 3], |sum, i| {
            let (from, to) = (step(i, STEPS), step(i + 1, STEPS));
            let there = height_at(height, cosine, 0.5 * (from + to) * whole);
            add(sum, scale(self.at(there).extinction, (to - from) * whole))
        })
    }

    // The share of the sun's light that reaches a height, where the sun stands at this cosine from the zenith.
    fn sunlight(&self, height: f64, cosine: f64) -> Vec3 {
        let (u, v) = ((cosine - LOWEST) / (1.0 - LOWEST), (height / HEIGHT).max(0.0).sqrt());
        self.depths.read(u, v).map(|depth| libm::exp(-depth))
    }

    // Goes along a way in steps, and hands each to `see`. Returns the share of light that passes the whole way.
    fn march(&self, way: &Way, steps: u32, mut see: impl FnMut(&Seen)) -> Vec3 {
        let mut through = [1.0; 3];
        for i in 0..steps {
            let (from, to) = (step(i, steps), step(i + 1, steps));
            let t = 0.5 * (from + to) * way.whole;
            let height = height_at(way.height, way.cosine, t);
            let sun = way.sun_at(t);
            let point = self.at(height);
            let passes = point.extinction.map(|extinction| libm::exp(-extinction * (to - from) * way.whole));
            let share = [0, 1, 2].map(|c| through[c] * (1.0 - passes[c]) / point.extinction[c]);
            see(&Seen { height, sun, light: self.sunlight(height, sun), point, share });
            through = [0, 1, 2].map(|c| through[c] * passes[c]);
        }
        through
    }

    // Light that is scattered at least twice, over the sun's irradiance: as if each direction after the first got the same.
    fn often_scattered(&self, height: f64, sun: f64) -> Vec3 {
        const STEPS: u32 = 16;
        const SIDE: u32 = 6;
        let (mut twice, mut again) = ([0.0; 3], [0.0; 3]);
        for direction in 0..SIDE * SIDE {
            let z = 1.0 - 2.0 * (f64::from(direction / SIDE) + 0.5) / f64::from(SIDE);
            let turn = 2.0 * PI * (f64::from(direction % SIDE) + 0.5) / f64::from(SIDE);
            let towards_sun = (1.0 - sun * sun).max(0.0).sqrt() * (1.0 - z * z).sqrt() * libm::cos(turn) + sun * z;
            let (whole, ground) = to_the_ground(height, z);
            let way = Way { height, cosine: z, sun, towards_sun, whole };
            let through = self.march(&way, STEPS, |seen| {
                for c in 0..3 {
                    let share = seen.share[c] * (seen.point.air[c] + seen.point.haze[c]);
                    twice[c] += share * seen.light[c] / (4.0 * PI);
                    again[c] += share;
                }
            });
            if ground {
                let above = way.sun_at(whole);
                let light = self.sunlight(0.0, above);
                twice = [0, 1, 2].map(|c| twice[c] + through[c] * GROUND / PI * above.max(0.0) * light[c]);
            }
        }
        let all = f64::from(SIDE * SIDE);
        [0, 1, 2].map(|c| twice[c] / all / (1.0 - again[c] / all))
    }

    // The light in a direction over the sun's irradiance, without the phase functions: scattered once by air, once by haze,
    // and more often. `height`: the sine of the elevation; `beside`: the cosine of the azimuth from the sun's.
    fn along(&self, height: f64, beside: f64) -> [Vec3; 3] {
        const STEPS: u32 = 40;
        let sun = self.sun_height;
        let flat = |z: f64| (1.0 - z * z).max(0.0).sqrt();
        let towards_sun = flat(height) * flat(sun) * beside + height * sun;
        let way = Way { height: EYE, cosine: height, sun, towards_sun, whole: to_the_end(EYE, height) };
        let mut sums = [[0.0; 3]; 3];
        self.march(&way, STEPS, |Seen { height, sun, light, point, share }| {
            let (u, v) = ((sun - LOWEST) / (1.0 - LOWEST), (height / HEIGHT).max(0.0).sqrt());
            let often = self.scattered.read(u, v);
            for c in 0..3 {
                sums[0][c] += share[c] * point.air[c] * light[c];
                sums[1][c] += share[c] * point.haze[c] * light[c];
                sums[2][c] += share[c] * (point.air[c] + point.haze[c]) * often[c];
            }
        });
        sums
    }

    /// The sun's irradiance at the ground, on a surface that faces it.
    pub fn sun(&self) -> Vec3 {
        scale(self.sunlight(EYE, self.sun_height), SUN)
    }

    /// The sky's light from a direction; the sun's azimuth is that of +x. Below the horizon is the ground.
    pub fn light(&self, d: Vec3, ground: Vec3) -> Vec3 {
        let below = smooth_step(0.005, 0.045, -d[2]);
        let height = d[2].clamp(0.0, 1.0);
        let flat = (d[0] * d[0] + d[1] * d[1]).sqrt().max(1e-12);
        let across = (1.0 - height * height).sqrt();
        let towards_sun =
            across * (1.0 - self.sun_height * self.sun_height).max(0.0).sqrt() * d[0] / flat + height * self.sun_height;
        let u = libm::acos((d[0] / flat).clamp(-1.0, 1.0)) / PI;
        let v = (libm::asin(height) * 2.0 / PI).sqrt();
        let [air, haze, often] = self.sky.read(u, v);
        let (by_air, by_haze) = (rayleigh_phase(towards_sun), haze_phase(towards_sun));
        let sky = [0, 1, 2].map(|c| SUN * (air[c] * by_air + haze[c] * by_haze + often[c]));
        [0, 1, 2].map(|c| sky[c] + (ground[c] * self.ground[c] - sky[c]) * below)
    }

    // The light of the sky that a level surface gets, over pi; roughly, which is enough for the ground.
    fn mean(&self) -> Vec3 {
        let overhead = self.sky.read(0.5, libm::sqrt(0.5));
        [0, 1, 2].map(|c| SUN * ((overhead[0][c] + overhead[1][c]) / (4.0 * PI) + overhead[2][c]))
    }
}

// The lowest cosine in tables: a sun this far below the horizon lights no air that is seen.
const LOWEST: f64 = -0.35;

// Rayleigh, 1871; Cornette and Shanks, 1992.
fn rayleigh_phase(cosine: f64) -> f64 {
    3.0 / (16.0 * PI) * (1.0 + cosine * cosine)
}
fn haze_phase(cosine: f64) -> f64 {
    let g = HAZE_FORWARD;
    let across = 1.0 + g * g - 2.0 * g * cosine;
    3.0 / (8.0 * PI) * (1.0 - g * g) * (1.0 + cosine * cosine) / ((2.0 + g * g) * across * across.sqrt())
}

// Where step i begins, as a share of the way: the first steps are short.
fn step(i: u32, steps: u32) -> f64 {
    let x = f64::from(i) / f64::from(steps);
    x * x
}
fn height_at(height: f64, cosine: f64, t: f64) -> f64 {
    let r = EARTH + height;
    (r * r + t * t + 2.0 * r * t * cosine).sqrt() - EARTH
}
fn to_the_end(height: f64, cosine: f64) -> f64 {
    let (r, top) = (EARTH + height, EARTH + HEIGHT);
    let along = r * cosine;
    (along * along + top * top - r * r).max(0.0).sqrt() - along
}
// The way to the ground, or else to the end of the air; and whether it is the ground.
fn to_the_ground(height: f64, cosine: f64) -> (f64, bool) {
    let r = EARTH + height;
    let along = r * cosine;
    let inside = along * along - (r * r - EARTH * EARTH);
    if cosine < 0.0 && inside > 0.0 { (-along - inside.sqrt(), true) } else { (to_the_end(height, cosine), false) }
}

// A function of the unit square.
struct Table<T> {
    width: usize,
    cells: Vec<T>,
}

// What a table can hold.
trait Mix: Copy + Send {
    fn mixed(self, other: Self, share: f64) -> Self;
}
impl Mix for Vec3 {
    fn mixed(self, other: Vec3, share: f64) -> Vec3 {
        [0, 1, 2].map(|c| self[c] + (other[c] - self[c]) * share)
    }
}
impl Mix for [Vec3; 3] {
    fn mixed(self, other: Self, share: f64) -> Self {
        [0, 1, 2].map(|i| self[i].mixed(other[i], share))
    }
}

impl<T: Mix> Table<T> {
    fn of(width: usize, height: usize, value: impl Fn(f64, f64) -> T + Sync) -> Table<T> {
        let fraction = |i: usize, n: usize| i as f64 / (n - 1) as f64;
        let cell = |at: usize| value(fraction(at % width, width), fraction(at / width, height));
        Table { width, cells: (0..width * height).into_par_iter().map(cell).collect() }
    }
    fn read(&self, u: f64, v: f64) -> T {
        let height = self.cells.len() / self.width;
        let (x, y) = (u.clamp(0.0, 1.0) * (self.width - 1) as f64, v.clamp(0.0, 1.0) * (height - 1) as f64);
        let (left, top) = (floor(x), floor(y));
        let (i, j) = (left as usize, top as usize);
        let (right, below) = ((i + 1).min(self.width - 1), (j + 1).min(height - 1));
        let at = |i: usize, j: usize| self.cells[j * self.width + i];
        at(i, j).mixed(at(right, j), x - left).mixed(at(i, below).mixed(at(right, below), x - left), y - top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(c: Vec3) -> f64 {
        0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
    }

    // Straight up, the optical depth is the coefficient times the height over which the air thins out; half of what haze scatters stays.
    #[test]
    fn a_high_sun_is_dimmed_by_the_air_above() {
        for turbidity in [1.0, 5.0] {
            let got = Atmosphere::new(turbidity, 1.0).sun();
            for c in 0..3 {
                let haze = (turbidity - 1.0) * RAYLEIGH[1] * RAYLEIGH_HEIGHT * HAZE_TINT[c];
                let air = RAYLEIGH[c] * RAYLEIGH_HEIGHT + haze * (1.0 - HAZE_ALBEDO * HAZE_AHEAD);
                let expected = SUN * libm::exp(-air - OZONE[c] * OZONE_HALF);
                assert!((got[c] / expected - 1.0).abs() < 0.01, "{turbidity}: {got:?}, expected {expected}");
            }
        }
    }

    // A low sun is red, a lower one redder and dimmer; below the horizon there is none.
    #[test]
    fn a_low_sun_is_red() {
        let suns = [30.0, 3.0, 0.5, -6.0].map(|deg: f64| Atmosphere::new(2.0, libm::sin(deg.to_radians())).sun());
        for pair in suns.windows(2) {
            assert!(pair[1][0] < pair[0][0] && pair[1][2] / pair[1][0] < pair[0][2] / pair[0][0], "{suns:?}");
        }
        assert!(suns[1][0] > 3.0 * suns[1][2] && luminance(suns[3]) < 1e-6, "{suns:?}");
    }

    // The direction at these angles, in degrees, and a sky's luminance there.
    fn at(sky: &Atmosphere, elevation: f64, azimuth: f64) -> f64 {
        let (sine, cosine) = libm::sincos(elevation.to_radians());
        let (y, x) = libm::sincos(azimuth.to_radians());
        luminance(sky.light([cosine * x, cosine * y, sine], [0.0; 3]))
    }
    fn over(turbidity: f64, sun_deg: f64) -> Atmosphere {
        Atmosphere::new(turbidity, libm::sin(sun_deg.to_radians()))
    }

    // The clear sky of the CIE (Kittler, 1967): luminance by the distance from the zenith and from the sun, over the zenith's. Also
    // near the sun, where haze makes the sky brightest.
    #[test]
    fn the_sky_is_as_bright_as_the_standard_clear_sky() {
        for (turbidity, sun_deg) in [(2.5, 25.0), (2.5, 45.0), (2.0, 20.0), (4.0, 20.0)] {
            let sky = over(turbidity, sun_deg);
            let sun_height = libm::sin(f64::to_radians(sun_deg));
            let zenith_sun = f64::to_radians(90.0 - sun_deg);
            let indicatrix = |x: f64| 0.91 + 10.0 * libm::exp(-3.0 * x) + 0.45 * libm::cos(x) * libm::cos(x);
            let gradation = |cosine: f64| 1.0 - libm::exp(-0.32 / cosine);
            for elevation in [10.0, 15.0, 30.0, 60.0] {
                for azimuth in [0.0, 5.0, 60.0, 120.0, 180.0] {
                    let (sine, cosine) = libm::sincos(f64::to_radians(elevation));
                    let across = libm::cos(f64::to_radians(azimuth));
                    let from_sun = libm::acos(cosine * across * libm::sin(zenith_sun) + sine * sun_height);
                    let expected = indicatrix(from_sun) * gradation(sine) / (indicatrix(zenith_sun) * gradation(1.0));
                    let off = at(&sky, elevation, azimuth) / at(&sky, 90.0, 0.0) / expected;
                    assert!((0.6..1.6).contains(&off), "sun {sun_deg} elevation {elevation} azimuth {azimuth}: {off}");
                }
            }
        }
    }

    // Haze brightens the horizon around, and makes the sky's blue paler.
    #[test]
    fn haze_brightens_the_horizon_and_bleaches_the_zenith() {
        let [clear, hazy] = [2.0, 4.0].map(|turbidity| over(turbidity, 50.0));
        let horizon = |sky: &Atmosphere| (0..24).map(|i| at(sky, 3.0, 15.0 * f64::from(i))).sum::<f64>();
        assert!(horizon(&hazy) > horizon(&clear), "{} and {}", horizon(&hazy), horizon(&clear));
        let blue = |sky: &Atmosphere| {
            let zenith = sky.light([0.0, 0.0, 1.0], [0.0; 3]);
            zenith[2] / zenith[0]
        };
        assert!(blue(&clear) > 2.9 && blue(&hazy) < 0.8 * blue(&clear), "{} and {}", blue(&clear), blue(&hazy));
    }
}

//! LDR-FLIP (Andersson, Nilsson, Akenine-Möller, Oskarsson, Åström, Fairchild 2020): the difference that a person sees
//! who flips between two pictures, in 0 to 1.

use super::filter::{Band, MARGIN};
use crate::math::srgb::linear;
use glam::{DMat3, DVec3, Mat3, Vec3};
use std::f64::consts::PI;
use std::sync::LazyLock;

/// Pixels per degree: a display of 0.7 m with 3840 pixels, seen from 0.7 m.
const PIXELS_PER_DEGREE: f64 = 3840.0 * PI / 180.0;
// The exponent and the knee of the color difference, and the exponent of the feature difference.
const QC: f32 = 0.7;
const PC: f32 = 0.4;
const PT: f32 = 0.95;
const QF: f32 = 0.5;
// The width of the feature detector, degrees.
const FEATURE_WIDTH: f64 = 0.082;
const DELTA: f32 = 6.0 / 29.0;

// A Gaussian of a contrast sensitivity function: a * sqrt(pi / b) * exp(-pi^2 x^2 / b), where x is in degrees.
struct Gaussian {
    kernel: Vec<f32>,
    // Its part of the function, before the sum is made 1.
    weight: f64,
}

struct Tables {
    // Linear light of the codes.
    linear: Vec<f32>,
    xyz_of_rgb: Mat3,
    rgb_of_xyz: Mat3,
    // XYZ of white, and its reciprocal.
    white: Vec3,
    per_white: Vec3,
    // Contrast sensitivity of achromatic, red-green and blue-yellow (two Gaussians).
    achromatic: Gaussian,
    red_green: Gaussian,
    blue_yellow: [Gaussian; 2],
    // A Gaussian, and its first and second derivative, which find edges and points.
    smooth: Vec<f32>,
    edge: Vec<f32>,
    point: Vec<f32>,
    // The largest difference of colors, which is that of green and blue.
    max_difference: f32,
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

fn gaussian(a: f64, b: f64) -> Gaussian {
    let value = |at: usize| {
        let x = (at as f64 - MARGIN as f64) / PIXELS_PER_DEGREE;
        libm::exp(-PI * PI * x * x / b)
    };
    let sum: f64 = (0..=2 * MARGIN).map(value).sum();
    let kernel = (0..=2 * MARGIN).map(|at| (value(at) / sum) as f32).collect();
    Gaussian { kernel, weight: a * (PI / b).sqrt() * sum * sum }
}

// Makes the positive weights sum to 1, and the negative ones to -1.
fn balanced(kernel: &[f64]) -> Vec<f32> {
    let sum = |sign: f64| kernel.iter().map(|w| (w * sign).max(0.0)).sum::<f64>();
    let (positive, negative) = (sum(1.0), sum(-1.0));
    kernel.iter().map(|&w| (if w < 0.0 { w / negative } else { w / positive }) as f32).collect()
}

impl Tables {
    fn new() -> Tables {
        // The primaries and the white of sRGB as fractions.
        let columns = [
            [10_135_552.0 / 24_577_794.0, 2_613_072.0 / 12_288_897.0, 1_425_312.0 / 73_733_382.0],
            [8_788_810.0 / 24_577_794.0, 8_788_810.0 / 12_288_897.0, 8_788_810.0 / 73_733_382.0],
            [4_435_075.0 / 24_577_794.0, 887_015.0 / 12_288_897.0, 70_074_185.0 / 73_733_382.0],
        ];
        let xyz_of_rgb = DMat3::from_cols_array_2d(&columns);
        let white = xyz_of_rgb * DVec3::ONE;
        let [blue_yellow, wide] = [gaussian(34.1, 0.04), gaussian(13.5, 0.025)];
        let sigma = 0.5 * FEATURE_WIDTH * PIXELS_PER_DEGREE;
        let radius = (3.0 * sigma).ceil() as usize;
        let kernel = |value: &dyn Fn(f64) -> f64| -> Vec<f64> {
            let at = |i: usize| {
                let x = i as f64 - radius as f64;
                value(x) * libm::exp(-x * x / (2.0 * sigma * sigma))
            };
            (0..=2 * radius).map(at).collect()
        };
        let mut tables = Tables {
            linear: (0..=255_u8).map(|code| linear(f64::from(code) / 255.0) as f32).collect(),
            xyz_of_rgb: xyz_of_rgb.as_mat3(),
            rgb_of_xyz: xyz_of_rgb.inverse().as_mat3(),
            white: white.as_vec3(),
            per_white: white.recip().as_vec3(),
            achromatic: gaussian(1.0, 0.0047),
            red_green: gaussian(1.0, 0.0053),
            blue_yellow: [blue_yellow, wide],
            smooth: balanced(&kernel(&|_| 1.0)),
            edge: balanced(&kernel(&|x| -x)),
            point: balanced(&kernel(&|x| x * x / (sigma * sigma) - 1.0)),
            max_difference: 1.0,
        };
        let difference = hyab(tables.hunt_lab(Vec3::Y), tables.hunt_lab(Vec3::Z));
        tables.max_difference = libm::powf(difference, QC);
        tables
    }

    // Opponent colors, linear in light: luminance, red-green, blue-yellow.
    fn opponent(&self, code: [u8; 3]) -> [f32; 3] {
        let rgb = Vec3::from_array(code.map(|c| self.linear[usize::from(c)]));
        let v = self.xyz_of_rgb * rgb * self.per_white;
        [116.0 * v.y - 16.0, 500.0 * (v.x - v.y), 200.0 * (v.y - v.z)]
    }

    fn rgb(&self, [luminance, red_green, blue_yellow]: [f32; 3]) -> Vec3 {
        let y = (luminance + 16.0) / 116.0;
        let xyz = Vec3::new(y + red_green / 500.0, y, y - blue_yellow / 200.0) * self.white;
        self.rgb_of_xyz * xyz
    }

    // CIELAB, with chroma that grows with lightness (the Hunt effect).
    fn hunt_lab(&self, rgb: Vec3) -> Vec3 {
        let curve = |t: f32| {
            if t > DELTA * DELTA * DELTA { libm::cbrtf(t) } else { t / (3.0 * DELTA * DELTA) + 4.0 / 29.0 }
        };
        let v = (self.xyz_of_rgb * rgb * self.per_white).to_array().map(curve);
        let lightness = 116.0 * v[1] - 16.0;
        let hunt = 0.01 * lightness;
        Vec3::new(lightness, 500.0 * (v[0] - v[1]) * hunt, 200.0 * (v[1] - v[2]) * hunt)
    }

    // The perceived colors of a band: what the eye resolves, in CIELAB.
    fn perceived(&self, [luminance, red_green, blue_yellow]: &[Band<f32>; 3]) -> Vec<Vec3> {
        let filtered = |band: &Band<f32>, g: &Gaussian| band.across(&g.kernel).down(&g.kernel);
        let (y, x) = (filtered(luminance, &self.achromatic), filtered(red_green, &self.red_green));
        let [z, wide] = self.blue_yellow.each_ref().map(|g| filtered(blue_yellow, g));
        let [narrow_part, wide_part] = self.blue_yellow.each_ref().map(|g| g.weight);
        let part = (narrow_part / (narrow_part + wide_part)) as f32;
        let pixel = |i: usize| {
            let rgb = self.rgb([y[i], x[i], part * z[i] + (1.0 - part) * wide[i]]);
            self.hunt_lab(rgb.clamp(Vec3::ZERO, Vec3::ONE))
        };
        (0..y.len()).map(pixel).collect()
    }

    // How much each pixel is an edge, and how much a point.
    fn features(&self, luminance: &Band<f32>) -> Vec<[f32; 2]> {
        let smooth = luminance.across(&self.smooth);
        let [edge, point] = [&self.edge, &self.point].map(|kernel| {
            let (across, down) = (luminance.across(kernel).down(&self.smooth), smooth.down(kernel));
            across.into_iter().zip(down).map(|(x, y)| (x * x + y * y).sqrt()).collect::<Vec<f32>>()
        });
        edge.into_iter().zip(point).map(|(edge, point)| [edge, point]).collect()
    }

    // The difference of two colors in 0 to 1. Large differences are compressed.
    fn colour_difference(&self, a: Vec3, b: Vec3) -> f32 {
        let difference = libm::powf(hyab(a, b), QC);
        let knee = PC * self.max_difference;
        match difference < knee {
            true => PT / knee * difference,
            false => PT + (difference - knee) / (self.max_difference - knee) * (1.0 - PT),
        }
    }
}

// The distance of two colors: city-block in lightness, Euclidean in chroma.
fn hyab(a: Vec3, b: Vec3) -> f32 {
    let d = a - b;
    d.x.abs() + (d.y * d.y + d.z * d.z).sqrt()
}

/// The perceived difference of each pixel of a band, from the display colors of two pictures.
pub fn difference(width: usize, a: &[[u8; 3]], b: &[[u8; 3]]) -> Vec<f32> {
    let tables = &*TABLES;
    let picture = |codes: &[[u8; 3]]| {
        let opponent: Vec<[f32; 3]> = codes.iter().map(|&code| tables.opponent(code)).collect();
        let bands = [0, 1, 2].map(|c| Band::new(width, opponent.iter().map(|v| v[c]).collect()));
        let luminance = opponent.iter().map(|v| (v[0] + 16.0) / 116.0).collect();
        (tables.perceived(&bands), tables.features(&Band::new(width, luminance)))
    };
    let ((colours_a, features_a), (colours_b, features_b)) = (picture(a), picture(b));
    let pixel = |i: usize| {
        let colour = tables.colour_difference(colours_a[i], colours_b[i]);
        let [edge, point] = [0, 1].map(|k| (features_a[i][k] - features_b[i][k]).abs());
        let feature = libm::powf(edge.max(point) * std::f32::consts::FRAC_1_SQRT_2, QF);
        if colour == 0.0 { 0.0 } else { libm::powf(colour, 1.0 - feature) }
    };
    (0..colours_a.len()).map(pixel).collect()
}

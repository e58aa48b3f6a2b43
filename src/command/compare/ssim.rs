//! Structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004) of luma.

use super::filter::Band;
use std::sync::LazyLock;

/// The radius of the Gaussian window, 11 x 11 pixels.
pub const RADIUS: usize = 5;
const SIGMA: f64 = 1.5;
// Constants that keep the quotients stable: (0.01 * 255)^2 and (0.03 * 255)^2.
const C1: f64 = 2.55 * 2.55;
const C2: f64 = 7.65 * 7.65;

static WINDOW: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let weight = |at: usize| {
        let x = at as f64 - RADIUS as f64;
        libm::exp(-x * x / (2.0 * SIGMA * SIGMA))
    };
    let sum: f64 = (0..=2 * RADIUS).map(weight).sum();
    (0..=2 * RADIUS).map(|at| weight(at) / sum).collect()
});

/// The luma of a display color (Rec. ITU-R BT.601), in 0 to 255.
pub fn luma([r, g, b]: [u8; 3]) -> f64 {
    0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)
}

/// The similarity around each pixel of a band, from the luma of two pictures.
pub fn similarity(width: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mean = |value: &dyn Fn(f64, f64) -> f64| {
        let values = a.iter().zip(b).map(|(&a, &b)| value(a, b)).collect();
        Band::new(width, values).across(&WINDOW).down(&WINDOW)
    };
    let (of_a, of_b) = (mean(&|a, _| a), mean(&|_, b| b));
    let (squares_a, squares_b, products) = (mean(&|a, _| a * a), mean(&|_, b| b * b), mean(&|a, b| a * b));
    let index = |i: usize| {
        let (a, b) = (of_a[i], of_b[i]);
        let (variance_a, variance_b) = (squares_a[i] - a * a, squares_b[i] - b * b);
        let covariance = products[i] - a * b;
        (2.0 * a * b + C1) * (2.0 * covariance + C2) / ((a * a + b * b + C1) * (variance_a + variance_b + C2))
    };
    (0..of_a.len()).map(index).collect()
}

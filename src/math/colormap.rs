//! Color maps for values.

/// Colors of a map.
pub const COLOURS: usize = 256;

/// Color i of the map, sRGB: viridis, which is perceptually uniform and safe for color-blind viewers.
pub fn viridis(i: usize) -> [f64; 3] {
    let c = colorous::VIRIDIS.eval_rational(i, COLOURS);
    [c.r, c.g, c.b].map(|x| f64::from(x) / 255.0)
}

//! Vectors of three f64: scene set-up computes with them before the kernels continue in f32.

pub type Vec3 = [f64; 3];

pub fn add(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
pub fn scale(a: Vec3, s: f64) -> Vec3 {
    [a[0] * s, a[1] * s, a[2] * s]
}
pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
/// Cross product, right-handed.
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
pub fn length(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}
/// a scaled to length 1; NaN for the zero vector.
pub fn normalise(a: Vec3) -> Vec3 {
    scale(a, 1.0 / length(a))
}
pub fn to_f32(a: Vec3) -> [f32; 3] {
    a.map(|x| x as f32)
}

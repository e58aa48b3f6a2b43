//! A camera that is held by hand.

use crate::math::vec3::{Vec3, add, scale};
use crate::scene::keys::keys;
use crate::scene::text::diagnostic::Rule;
use std::f64::consts::{PI, SQRT_2};

keys! {
    /// A camera held by hand: noise that turns it to the sides, up and down, and about its view. It loops.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Shake in "shake" {
        /// How far it turns to each side: the root mean square of the angle.
        pub angle_deg: f64 = 0.3, rule(Rule::Within(0.0, 45.0)), unit("degrees"), slider(0.0, 3.0), group("Shake"), spelled(), animated();
        /// Swings over the clip, approximately: one or two for each second look like a camera held by hand.
        pub cycles: u32 = 6, rule(Rule::Whole(1, Shake::MAX_CYCLES)), slider(1.0, 60.0), spelled();
        /// Another number gives another noise.
        pub seed: u32 = 1, rule(Rule::Whole(0, u32::MAX)), slider(0.0, 100.0), spelled();
    }
}

// A number from 0 to 1 for each number (the finalizer of SplitMix64 by Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014).
fn hash(number: u64) -> f64 {
    let x = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) as f64 / u64::MAX as f64
}

impl Shake {
    /// Maximum of `cycles`.
    pub const MAX_CYCLES: u32 = 10_000;
    // The number of waves of an axis.
    const WAVES: u32 = 8;

    // Noise of an axis at a time, with a root mean square of one: waves with whole numbers of cycles, so that it loops. They are
    // spread from half of `cycles` to its double, the faster ones lower, as the hand's tremor falls off.
    fn noise(&self, axis: u32, time: f64) -> f64 {
        let draw = |wave: u32, kind: u32| hash(u64::from(self.seed) << 32 | u64::from(axis << 16 | wave << 8 | kind));
        let wave = |wave: u32| {
            let octave = 2.0 * (f64::from(wave) + draw(wave, 0)) / f64::from(Shake::WAVES) - 1.0;
            let cycles = (f64::from(self.cycles) * libm::exp2(octave)).round().max(1.0);
            (cycles, libm::exp2(-octave), 2.0 * PI * draw(wave, 1))
        };
        let waves: Vec<(f64, f64, f64)> = (0..Shake::WAVES).map(wave).collect();
        let sum: f64 = waves.iter().map(|(n, weight, phase)| weight * libm::sin(2.0 * PI * n * time + phase)).sum();
        // Waves with the same cycles are one.
        let pairs = waves.iter().flat_map(|a| waves.iter().filter(|b| a.0 == b.0).map(move |b| (a, b)));
        let power: f64 = pairs.map(|(a, b)| a.1 * b.1 * libm::cos(a.2 - b.2)).sum();
        SQRT_2 * sum / libm::sqrt(power.max(1e-3))
    }

    /// The basis of a view (right, up, forward), turned as at a time, 0 to 1 over the clip.
    pub(crate) fn turned(&self, [right, up, forward]: [Vec3; 3], time: f64) -> [Vec3; 3] {
        let turn = |a: Vec3, b: Vec3, angle: f64| {
            let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
            (add(scale(a, cosine), scale(b, sine)), add(scale(b, cosine), scale(a, -sine)))
        };
        // A roll is smaller than a turn to the side.
        let angle = |axis, share: f64| share * self.angle_deg.to_radians() * self.noise(axis, time);
        let (forward, right) = turn(forward, right, angle(0, 1.0));
        let (forward, up) = turn(forward, up, angle(1, 1.0));
        let (up, right) = turn(up, right, angle(2, 0.5));
        [right, up, forward]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3::{cross, dot, length, sub};

    const BASIS: [Vec3; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]];

    #[test]
    fn noise_loops_and_is_as_strong_as_asked_for() {
        for cycles in [1, 6, 200] {
            let shake = Shake { angle_deg: 2.0, cycles, seed: 7 };
            assert!((shake.noise(0, 0.0) - shake.noise(0, 1.0)).abs() < 1e-9);
            let squares = (0..5000).map(|i| shake.noise(1, f64::from(i) / 5000.0)).map(|x| x * x);
            let mean = squares.sum::<f64>() / 5000.0;
            assert!((mean - 1.0).abs() < 1e-3, "{cycles}: {mean}");
        }
        let other = Shake { seed: 2, ..Shake::default() };
        assert!((other.noise(0, 0.3) - Shake::default().noise(0, 0.3)).abs() > 1e-3);
    }

    #[test]
    fn a_shaken_view_stays_a_view() {
        let shake = Shake { angle_deg: 1.0, ..Shake::default() };
        for i in 0..50 {
            let [right, up, forward] = shake.turned(BASIS, f64::from(i) / 50.0);
            assert!(length(sub(cross(right, forward), up)) < 1e-12 && (length(forward) - 1.0).abs() < 1e-12);
            assert!(dot(forward, BASIS[2]) > 0.99);
        }
        assert_eq!(Shake { angle_deg: 0.0, ..shake }.turned(BASIS, 0.2), BASIS);
    }
}

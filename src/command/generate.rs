//! `polyfly particles generate`: generates test packings.

use super::particle_files::write_steps;
use crate::assets::particles::{Column, Step};
use crate::cli::{Failure, GenerateArgs};

pub fn run(args: &GenerateArgs) -> Result<(), Failure> {
    let GenerateArgs { count, ref file, layout, steps, overwrite, seed } = *args;
    let step = |k: u32| Ok(packing(count as usize, seed, f64::from(k) / f64::from(steps)));
    write_steps(file, layout, steps, overwrite, step)
}

// SplitMix64 (Steele et al., "Fast splittable pseudorandom number generators", 2014): 0 <= x < 1.
struct Draws(u64);
impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A column of `n` particles on a jittered grid, twice as high as wide and sheared sideways. Radii are 0.8 to 1 of
/// half the spacing. Velocities grow upward and oscillate with `time`; pressures grow downward.
pub fn packing(n: usize, seed: u64, time: f64) -> Step {
    let across = (libm::cbrt(n as f64 / 2.0).ceil() as usize).max(1);
    let spacing = 1.0 / across as f64;
    let mut draws = Draws(seed);
    let height = n.div_ceil(across * across) as f64 * spacing;
    let columns = COLUMNS.map(|name| Column { name: name.into(), values: Vec::with_capacity(n) });
    let mut step = Step { columns: columns.into(), time: Some(time), ..Step::default() };
    for i in 0..n {
        let cell = [i % across, i / across % across, i / (across * across)];
        let radius = 0.5 * spacing * (0.8 + 0.2 * draws.next());
        let room = 0.5 * spacing - radius;
        let p = cell.map(|c| (c as f64 + 0.5) * spacing + room * (2.0 * draws.next() - 1.0));
        let up = p[2] / height;
        let wave = libm::sin(std::f64::consts::TAU * (time + p[0]));
        step.positions.push([p[0] + 0.1 * time * up, p[1], p[2]]);
        step.radii.push(radius);
        let velocity = [0.1 * up * (1.0 + 0.3 * wave), 0.01 * (draws.next() - 0.5), 0.01 * (draws.next() - 0.5)];
        let pressure = 1.0e4 * (1.0 - up) * (0.9 + 0.2 * draws.next());
        let values = velocity.into_iter().chain([pressure]);
        step.columns.iter_mut().zip(values).for_each(|(column, value)| column.values.push(value));
    }
    step
}

// The columns of a packing.
const COLUMNS: [&str; 4] = ["vx", "vy", "vz", "p"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balls_of_a_packing_do_not_overlap() {
        let set = packing(300, 3, 0.0);
        for i in 0..300 {
            for j in 0..i {
                let d = crate::math::vec3::length(crate::math::vec3::sub(set.positions[i], set.positions[j]));
                assert!(d >= set.radii[i] + set.radii[j] - 1e-12);
            }
        }
    }
}

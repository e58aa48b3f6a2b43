//! The ends of a color map.

use crate::assets::error::AssetError;
use crate::scene::{Particles, RangeOver, ValueRange, ValueScale};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A frame of a clip; a clip of one frame if all have the same particles.
#[derive(Clone, Copy)]
pub struct Clip {
    pub frame: u32,
    pub frames: u32,
    /// Frames of a time step.
    pub each: u32,
}

impl Clip {
    // The frames with all of its time steps.
    fn steps(self) -> impl Iterator<Item = u32> {
        let last = self.frames - 1;
        (0..last).step_by(self.each as usize).chain([last])
    }
}

type Ends = Option<[f64; 2]>;

/// The ends of the map for a frame with these values; `of` reads those of another frame.
pub fn ends(
    particles: &Particles,
    values: &[f64],
    clip: Clip,
    of: impl Fn(u32) -> Result<Option<Vec<f64>>, AssetError>,
) -> Result<[f64; 2], AssetError> {
    let (over, shares, is_symmetric) = match particles.range {
        ValueRange::Ends(ends) => return Ok(ends),
        ValueRange::Found { over, shares, is_symmetric } => (over, shares, is_symmetric),
    };
    let found = |values: &[f64]| found(values, shares, particles.scale);
    let other = |frame: u32| -> Result<Ends, AssetError> {
        if frame == clip.frame { Ok(found(values)) } else { Ok(of(frame)?.and_then(|values| found(&values))) }
    };
    let wider = |a: Ends, b: Ends| a.into_iter().chain(b).reduce(|[a, b], [c, d]| [a.min(c), b.max(d)]);
    let all = match over {
        RangeOver::Frame => found(values),
        RangeOver::Film if shares == [0.0, 1.0] => {
            clip.steps().try_fold(None, |all, frame| Ok(wider(all, other(frame)?)))?
        }
        RangeOver::Film => {
            let each = |visit: &mut dyn FnMut(f64)| {
                clip.steps().try_for_each(|frame| {
                    let other = if frame == clip.frame { None } else { of(frame)? };
                    let values = other.as_deref().unwrap_or(values);
                    values.iter().copied().filter(|x| counts(*x, particles.scale)).for_each(&mut *visit);
                    Ok(())
                })
            };
            of_all(each, shares)?
        }
        RangeOver::First => {
            // Where all frames have the same particles, any is the first.
            let first = if clip.frames == 1 { found(values) } else { other(0)? };
            match first {
                Some([low, high]) if low < high => first,
                // A missing step is reported at its own frame.
                _ if clip.frames > 1 => [clip.frames / 2, clip.frames - 1]
                    .into_iter()
                    .fold(first, |all, frame| wider(all, other(frame).ok().flatten())),
                _ => first,
            }
        }
    };
    let [low, high] = widen(all, particles.scale);
    let most = low.abs().max(high.abs());
    Ok(if is_symmetric { [-most, most] } else { [low, high] })
}

// Whether a value counts for the ends.
fn counts(x: f64, scale: ValueScale) -> bool {
    x.is_finite() && (scale != ValueScale::Log || x > 0.0)
}

// Whole numbers in the order of all numbers.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

// The same of more values than are kept: a first pass counts those that begin with the same bits, and a second one keeps those among which
// an end lies.
fn of_all<E>(each: impl Fn(&mut dyn FnMut(f64)) -> Result<(), E>, shares: [f64; 2]) -> Result<Ends, E> {
    const SHIFT: u32 = 44;
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    each(&mut |x| *counts.entry(ordered(x) >> SHIFT).or_default() += 1)?;
    let Some(last) = counts.values().sum::<usize>().checked_sub(1) else { return Ok(None) };
    let places = shares.map(|share| (share * last as f64).round() as usize);
    // The bits of each end, and how many values lie below all that have them.
    let mut below = 0;
    let mut found = [(0, 0); 2];
    for (bits, count) in &counts {
        for (place, found) in places.iter().zip(&mut found) {
            if (below..below + count).contains(place) {
                *found = (*bits, below);
            }
        }
        below += count;
    }
    let mut kept: [Vec<f64>; 2] = Default::default();
    each(&mut |x| {
        for (kept, (bits, _)) in kept.iter_mut().zip(found) {
            if ordered(x) >> SHIFT == bits {
                kept.push(x);
            }
        }
    })?;
    let end = |k: usize| {
        let kept = &mut kept[k];
        let at = (places[k] - found[k].1).min(kept.len().checked_sub(1)?);
        Some(*kept.select_nth_unstable_by(at, f64::total_cmp).1)
    };
    let mut end = end;
    Ok(end(0).zip(end(1)).map(|(low, high)| [low, high]))
}

// The numbers below which these shares of all values lie; of a logarithmic scale of those above 0. None if no value is a number.
fn found(values: &[f64], shares: [f64; 2], scale: ValueScale) -> Ends {
    let counts = |x: &&f64| counts(**x, scale);
    if shares == [0.0, 1.0] {
        let ends = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        return values.par_iter().filter(counts).map(|&x| [x, x]).reduce_with(ends);
    }
    let mut all: Vec<f64> = values.par_iter().filter(counts).copied().collect();
    let last = all.len().checked_sub(1)?;
    Some(shares.map(|share| *all.select_nth_unstable_by((share * last as f64).round() as usize, f64::total_cmp).1))
}

// Widens equal ends; never to a sign that no value has.
fn widen(ends: Ends, scale: ValueScale) -> [f64; 2] {
    match ends {
        Some([low, high]) if low < high => [low, high],
        Some([x, _]) if x != 0.0 => [x - x.abs() / 2.0, x + x.abs() / 2.0],
        _ if scale == ValueScale::Log => [1.0, 10.0],
        _ => [0.0, 1.0],
    }
}

/// The first different values, rounded, in order: at most 13, of which the last says that there are more.
pub fn classes(values: &[f64]) -> Vec<f64> {
    const MAX: usize = 13;
    let mut found: Vec<f64> = Vec::new();
    for x in values.iter().filter(|x| x.is_finite()).map(|x| x.round()) {
        if let Err(at) = found.binary_search_by(|one| one.total_cmp(&x)) {
            found.insert(at, x);
            found.truncate(MAX);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_ends_and_no_foreign_sign() {
        let of = |values: &[f64]| widen(found(values, [0.0, 1.0], ValueScale::Linear), ValueScale::Linear);
        assert_eq!(of(&[0.0, 0.0]), [0.0, 1.0]);
        assert_eq!(of(&[2.0]), [1.0, 3.0]);
        assert_eq!(of(&[-2.0, f64::NAN]), [-3.0, -1.0]);
        assert_eq!(of(&[3.0, -1.0, 2.0]), [-1.0, 3.0]);
        assert_eq!(of(&[f64::NAN]), [0.0, 1.0]);
    }

    #[test]
    fn ends_are_those_that_the_words_say() {
        let frames = [[1.0, 2.0, 4.0], [-8.0, 0.5, 3.0], [f64::NAN, 9.0, 5.0]];
        let of = |frame: u32| Ok(Some(frames[frame as usize].to_vec()));
        let range = |over, shares, is_symmetric| ValueRange::Found { over, shares, is_symmetric };
        let all = [0.0, 1.0];
        let at = |range: ValueRange, scale, frame: u32| {
            let particles = Particles { range, scale, ..Particles::default() };
            ends(&particles, &frames[frame as usize], Clip { frame, frames: 3, each: 1 }, of).unwrap()
        };
        for (range, scale, expected) in [
            (range(RangeOver::First, all, false), ValueScale::Linear, [1.0, 4.0]),
            (range(RangeOver::Film, all, false), ValueScale::Linear, [-8.0, 9.0]),
            (range(RangeOver::Film, all, false), ValueScale::Log, [0.5, 9.0]),
            (range(RangeOver::Frame, all, false), ValueScale::Linear, [-8.0, 3.0]),
            (range(RangeOver::Film, [0.25, 0.75], false), ValueScale::Linear, [1.0, 4.0]),
            (range(RangeOver::Film, [0.5, 1.0], false), ValueScale::Log, [3.0, 9.0]),
            (range(RangeOver::First, all, true), ValueScale::Linear, [-4.0, 4.0]),
            (range(RangeOver::Frame, [0.5, 1.0], false), ValueScale::Linear, [0.5, 3.0]),
            (ValueRange::Ends([0.0, 7.0]), ValueScale::Linear, [0.0, 7.0]),
        ] {
            assert_eq!(at(range, scale, 1), expected, "{range:?}");
        }
        assert_eq!(classes(&[3.0, 1.0, f64::NAN, 3.2, 2.0]), [1.0, 2.0, 3.0]);
        assert_eq!(classes(&(0..99).rev().map(f64::from).collect::<Vec<_>>()).len(), 13);
    }
}

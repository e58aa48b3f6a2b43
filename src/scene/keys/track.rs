//! Values that change over the clip: their keys, and how they go from one key to the next.

use super::names::names;
use crate::math::srgb::{linear, srgb};
use crate::math::vec3::Vec3;

names! {
    /// How a value goes from one key to the next.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Ease {
        /// without kinks, and never beyond the two keys: at rest where the value turns back, and at the ends
        Smooth = "smooth",
        /// evenly
        Linear = "linear",
        /// slow at first
        In = "in",
        /// slow at last
        Out = "out",
        /// not at all: the value jumps at the next key
        Hold = "hold",
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimedValue {
    /// A share of the clip.
    pub time: f64,
    /// One number, or two or three; the others are 0.
    pub value: Vec3,
    /// The way to the next key.
    pub ease: Ease,
}

/// A value that jumps to `to` at each beat and falls back to `from`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Beats {
    /// Beats per minute; None if `times` has them.
    pub bpm: Option<f64>,
    /// The beats, in seconds from the clip's start, in order.
    pub times: Vec<f64>,
    /// The value between beats, and at them.
    pub from: Vec3,
    pub to: Vec3,
    /// Seconds from the beat to `to`, and from there to `from`, or to the next beat if that is sooner.
    pub attack: f64,
    pub decay: f64,
    /// Seconds by which all beats are late.
    pub offset: f64,
}

// More beats than a clip of ten hours has.
const MAX_BEATS: usize = 100_000;

impl Beats {
    // The keys of a clip of this many seconds. Those of a metronome, or of a closed clip, go on before its start and after its end.
    fn keys(&self, seconds: f64, closed: bool) -> Vec<TimedValue> {
        let mut beats: Vec<f64> = match self.bpm.map(|bpm| 60.0 / bpm) {
            Some(step) => {
                let first = -(self.offset / step).floor() - 1.0;
                let beat = |i: usize| self.offset + (first + i as f64) * step;
                (0..MAX_BEATS).map(beat).take_while(|beat| beat - step <= seconds).collect()
            }
            None => self.times.iter().map(|time| time + self.offset).collect(),
        };
        if closed && self.bpm.is_none() {
            beats.retain(|beat| *beat < seconds);
            beats.iter_mut().for_each(|beat| *beat = beat.rem_euclid(seconds));
            beats.sort_by(f64::total_cmp);
            let shifted = |by: f64| beats.iter().map(move |beat| beat + by);
            beats = shifted(-seconds).chain(shifted(0.0)).chain(shifted(seconds)).collect();
            beats.dedup();
        }
        let key = |time: f64, value: Vec3, ease| TimedValue { time: time / seconds, value, ease };
        // Before the first beat.
        let mut keys: Vec<TimedValue> =
            beats.first().map(|beat| key(beat - 1.0, self.from, Ease::Hold)).into_iter().collect();
        for (i, &beat) in beats.iter().enumerate() {
            let next = beats.get(i + 1).map_or(f64::INFINITY, |next| next - beat);
            let (attack, end) = (self.attack.min(0.5 * next), (self.attack + self.decay).min(next));
            if attack > 0.0 {
                keys.push(key(beat, self.from, Ease::Linear));
            }
            keys.push(key(beat + attack, self.to, Ease::Out));
            if end < next {
                keys.push(key(beat + end, self.from, Ease::Hold));
            } else if self.attack == 0.0 {
                keys.push(key(beat + 0.999 * next, self.from, Ease::Hold));
            }
        }
        keys
    }
}

/// A value that changes over the clip.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Track {
    /// The path of its key in the scene, such as `body.0.lamp_intensity`.
    pub path: String,
    /// The number of numbers in a value: 1, 2 or 3.
    pub count: usize,
    /// At least two, in order of time. Those of beats depend on the clip's length.
    pub keys: Vec<TimedValue>,
    /// The beats that made the keys.
    pub beats: Option<Beats>,
    /// The way between keys that name none.
    pub ease: Ease,
    /// Whether the value returns to the first key after the last one.
    pub closed: bool,
    /// Colors are mixed in linear light.
    pub is_colour: bool,
    /// Values that differ by a multiple of this are equal: those of angles and phases.
    pub period: Option<f64>,
}

impl Track {
    /// Makes the keys of beats for a clip of this many seconds.
    pub fn beat(&mut self, seconds: f64) {
        if let Some(beats) = &self.beats {
            self.keys = beats.keys(seconds, self.closed);
        }
    }

    // Whether the keys go on beyond the clip, so that there is nothing to close.
    fn wraps(&self) -> bool {
        self.closed && self.beats.is_none()
    }

    /// The value at a time, 0 to 1 over the clip. It stays between those of the two nearest keys.
    pub fn at(&self, time: f64) -> Vec3 {
        let [Some(first), Some(last)] = [self.keys.first(), self.keys.last()] else { return [0.0; 3] };
        let mut time = time;
        if self.wraps() {
            time = time.rem_euclid(1.0);
            time += f64::from(u8::from(time < first.time));
        }
        let Some(i) = self.keys.iter().rposition(|key| key.time <= time) else { return first.value };
        let (a, Some(b)) = (self.keys[i], self.key(i as i64 + 1)) else { return last.value };
        if time == a.time || a.ease == Ease::Hold {
            return a.value;
        }
        let span = b.time - a.time;
        let t = (time - a.time) / span;
        let slopes = [self.slope(i as i64), self.slope(i as i64 + 1)];
        let (from, to) = (self.mixed(a.value), self.mixed(b.value));
        let value = [0, 1, 2].map(|c| {
            let (x, y) = (from[c], to[c]);
            match a.ease {
                Ease::Smooth => {
                    let (t2, t3) = (t * t, t * t * t);
                    let [m0, m1] = slopes.map(|slope| slope[c] * span);
                    let mixed = x * (2.0 * t3 - 3.0 * t2 + 1.0)
                        + m0 * (t3 - 2.0 * t2 + t)
                        + m1 * (t3 - t2)
                        + y * (3.0 * t2 - 2.0 * t3);
                    mixed.clamp(x.min(y), x.max(y))
                }
                Ease::Linear | Ease::Hold => x + (y - x) * t,
                Ease::In => x + (y - x) * t * t,
                Ease::Out => y + (x - y) * (1.0 - t) * (1.0 - t),
            }
        });
        if self.is_colour { value.map(srgb) } else { value }
    }

    // Key i, which may be out of range: a closed track continues with the same keys one clip later.
    fn key(&self, i: i64) -> Option<TimedValue> {
        let n = self.keys.len() as i64;
        let (round, at) = (i.div_euclid(n), i.rem_euclid(n) as usize);
        let key = self.keys.get(at).filter(|_| self.wraps() || round == 0)?;
        Some(TimedValue { time: key.time + round as f64, ..*key })
    }

    // A value as it is mixed with others.
    fn mixed(&self, value: Vec3) -> Vec3 {
        if self.is_colour { value.map(linear) } else { value }
    }

    // The slope of the smooth curve at key i, so that it is monotone between keys (Fritsch and Butland, "A method for
    // constructing local monotone piecewise cubic interpolants", 1984).
    fn slope(&self, i: i64) -> Vec3 {
        let (Some(before), Some(here), Some(after)) = (self.key(i - 1), self.key(i), self.key(i + 1)) else {
            return [0.0; 3];
        };
        if before.ease != Ease::Smooth || here.ease != Ease::Smooth {
            return [0.0; 3];
        }
        let (h0, h1) = (here.time - before.time, after.time - here.time);
        let values = [before, here, after].map(|key| self.mixed(key.value));
        [0, 1, 2].map(|c| {
            let (s0, s1) = ((values[1][c] - values[0][c]) / h0, (values[2][c] - values[1][c]) / h1);
            if s0 * s1 > 0.0 { 3.0 * (h0 + h1) / ((2.0 * h1 + h0) / s0 + (h1 + 2.0 * h0) / s1) } else { 0.0 }
        })
    }

    /// Whether the value at the end of the clip is that at its start.
    pub fn returns(&self) -> bool {
        let (start, end) = (self.at(0.0), self.at(1.0));
        start.iter().zip(end).all(|(a, b)| {
            let off = (a - b).abs();
            let off = self.period.map_or(off, |period| (off - period * (off / period).round()).abs());
            off <= 1e-6 * (1.0 + a.abs())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(keys: &[(f64, f64)], ease: Ease) -> Track {
        let keys = keys.iter().map(|&(time, x)| TimedValue { time, value: [x, 0.0, 0.0], ease }).collect();
        Track { path: String::new(), count: 1, keys, beats: None, ease, closed: false, is_colour: false, period: None }
    }

    #[test]
    fn values_pass_through_their_keys_and_stay_between_them() {
        let keys = [(0.1, 2.0), (0.3, 5.0), (0.35, 6.0), (0.8, -1.0)];
        for ease in [Ease::Smooth, Ease::Linear, Ease::In, Ease::Out, Ease::Hold] {
            for closed in [false, true] {
                let track = Track { closed, ..track(&keys, ease) };
                for (time, x) in keys {
                    assert_eq!(track.at(time)[0], x, "{ease:?}");
                }
                for pair in keys.windows(2) {
                    let between = |i: i32| pair[0].0 + (pair[1].0 - pair[0].0) * f64::from(i) / 100.0;
                    let (low, high) = (pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1));
                    assert!((0..100).all(|i| (low..=high).contains(&track.at(between(i))[0])), "{ease:?} {pair:?}");
                }
            }
            // Outside of its keys it has their values.
            assert_eq!([0.0, 0.9, 1.0, 1.3].map(|time| track(&keys, ease).at(time)[0]), [2.0, -1.0, -1.0, -1.0]);
        }
        let half = |ease| track(&[(0.0, 0.0), (1.0, 1.0)], ease).at(0.25)[0];
        let eases = [Ease::Smooth, Ease::Linear, Ease::In, Ease::Out, Ease::Hold];
        assert_eq!(eases.map(half), [0.15625, 0.25, 0.0625, 0.4375, 0.0]);
    }

    #[test]
    fn smooth_values_have_no_kinks() {
        let smooth = Track { closed: true, ..track(&[(0.0, 0.0), (0.2, 1.0), (0.5, 4.0), (0.7, 1.0)], Ease::Smooth) };
        let step = 1e-6;
        for time in [0.0, 0.2, 0.5, 0.7, 1.0] {
            let [before, here, after] = [time - step, time, time + step].map(|time| smooth.at(time)[0]);
            assert!(((after - here) - (here - before)).abs() < 1e-3 * step, "{time}: {before} {here} {after}");
        }
        assert!(smooth.at(0.2 + step)[0] > 1.0 + step, "it goes on through a key on its way up");
    }

    #[test]
    fn closed_values_return() {
        let open = track(&[(0.25, 1.0), (0.5, 3.0)], Ease::Linear);
        assert!(!open.returns());
        let closed = Track { closed: true, ..open };
        assert!(closed.returns());
        // From 0.5 to 1.25 it goes back; the clip's ends lie on that way.
        assert!((closed.at(0.875)[0] - 2.0).abs() < 1e-12);
        assert!((closed.at(0.0)[0] - closed.at(1.0)[0]).abs() < 1e-12);
        assert!((closed.at(-0.125)[0] - closed.at(0.875)[0]).abs() < 1e-12, "the shutter is open before the clip");
        let turned = Track { period: Some(360.0), ..track(&[(0.0, 10.0), (1.0, 730.0)], Ease::Linear) };
        assert!(turned.returns());
    }

    #[test]
    fn colors_are_mixed_as_light() {
        let colour = |value| TimedValue { time: value, value: [value; 3], ease: Ease::Linear };
        let track =
            Track { is_colour: true, count: 3, keys: vec![colour(0.0), colour(1.0)], ..track(&[], Ease::Linear) };
        assert!((track.at(0.5)[0] - srgb(0.5)).abs() < 1e-12);
    }
}

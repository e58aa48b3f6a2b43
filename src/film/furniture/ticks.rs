//! Round ticks of an axis, and their numbers.

use super::font::superscript;

/// The ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// Values and their numbers, from the lowest.
    pub marks: Vec<(f64, String)>,
    /// What all numbers are multiplied by, and what is added to them: `×10⁴`, or empty.
    pub factor: String,
}

// Mantissas of the distance between ticks, with their powers of ten.
const ROUND: [(i64, i32); 4] = [(1, 0), (2, 0), (25, -1), (5, 0)];
// The most digits of a number.
const DIGITS: i32 = 5;

/// Ticks of a range, at round distances, at most `most` of them.
pub fn linear([low, high]: [f64; 2], most: usize) -> Ticks {
    let none = Ticks { marks: Vec::new(), factor: String::new() };
    let size = low.abs().max(high.abs());
    // Distances below the precision of the numbers have no ticks.
    if !(high - low > size * 1e-12 && (high - low).is_finite()) {
        return none;
    }
    let first = libm::floor(libm::log10((high - low) / most.max(1) as f64)) as i32;
    let steps = (first..first + 4).flat_map(|power| ROUND.map(|(mantissa, shift)| (mantissa, power + shift)));
    // Ticks are whole multiples of the distance, so that their numbers have no rounding errors.
    let inside = |(mantissa, power): (i64, i32)| {
        let step = mantissa as f64 * ten(power);
        let ends = [libm::ceil(low / step - 1e-9), libm::floor(high / step + 1e-9)];
        (ends[1] - ends[0] < most as f64 && ends[0].abs().max(ends[1].abs()) < 1e15)
            .then(|| (ends[0] as i64..=ends[1] as i64).map(|n| (n as f64 * step, n * mantissa)).collect::<Vec<_>>())
    };
    let Some((power, marks)) = steps.into_iter().find_map(|step| Some((step.1, inside(step)?))) else { return none };
    let order = libm::floor(libm::log10(size)) as i32;
    // Numbers that differ in their last digits alone are counted from a common one.
    let span = marks.last().zip(marks.first()).map_or(0, |(last, first)| last.1 - first.1);
    let base = if order - power < DIGITS { 0 } else { common(marks.first().map_or(0, |m| m.1), span) };
    let order = match base {
        0 => order,
        _ => power + digits(span) - 1,
    };
    let exponent = if order >= DIGITS || order <= -DIGITS + 1 { order } else { 0 };
    let decimals = (exponent - power).max(0) as usize;
    let label = |whole: i64| decimal(whole - base, power - exponent, decimals);
    let mut factor = if exponent == 0 { String::new() } else { format!("×10{}", superscript(exponent)) };
    if base != 0 {
        let sign = if base < 0 { '−' } else { '+' };
        let blank = if factor.is_empty() { "" } else { " " };
        factor += &format!("{blank}{sign}{}", decimal(base.abs(), power, (-power).max(0) as usize));
    }
    Ticks { marks: marks.into_iter().map(|(value, whole)| (value, label(whole))).collect(), factor }
}

/// Ticks of classes, which are counted from 0: the value of each one, or of each second one and so on where there are more than `most`.
pub fn classes(values: &[f64], most: usize) -> Ticks {
    let step = values.len().div_ceil(most.max(1)).max(1);
    let label = |value: f64| decimal(value.clamp(-1e15, 1e15) as i64, 0, 0);
    let marks = values.iter().enumerate().step_by(step).map(|(i, &value)| (i as f64, label(value))).collect();
    Ticks { marks, factor: String::new() }
}

/// Ticks of a logarithmic range: powers of ten, or one, two and five times those where the range has fewer than two.
pub fn logarithmic([low, high]: [f64; 2], most: usize) -> Ticks {
    let [first, last] = [libm::ceil(libm::log10(low) - 1e-9), libm::floor(libm::log10(high) + 1e-9)].map(|x| x as i32);
    let marks = match last > first {
        true => {
            (first..=last).step_by(1 + (last - first) as usize / most.max(1)).map(|power| signed(1, power)).collect()
        }
        false => {
            let all = (first - 1..=last).flat_map(|power| [1, 2, 5].map(|mantissa| signed(mantissa, power)));
            all.filter(|(value, _)| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(value)).take(most).collect()
        }
    };
    Ticks { marks, factor: String::new() }
}

/// Ticks of a range that is logarithmic on both sides of 0 from `least` on: 0 and powers of ten.
pub fn symmetric([low, high]: [f64; 2], least: f64, most: usize) -> Ticks {
    let powers = |end: f64| {
        let [first, last] = [libm::ceil(libm::log10(least) + 1e-9), libm::floor(libm::log10(end) + 1e-9)];
        // A side without powers of ten has none.
        let count = if end > least { (last - first + 1.0).max(0.0) as usize } else { 0 };
        (0..count).map(move |i| last as i32 - i as i32)
    };
    // The outermost powers come first: they stay where there are too many.
    let half = (most.saturating_sub(1) / 2).max(1);
    let thinned = |end: f64| powers(end).step_by(powers(end).count().div_ceil(half).max(1)).collect::<Vec<_>>();
    let below = thinned(-low).into_iter().map(|power| signed(-1, power));
    let zero = (low <= 0.0 && high >= 0.0).then(|| (0.0, "0".to_owned()));
    let above = thinned(high).into_iter().rev().map(|power| signed(1, power));
    Ticks { marks: below.chain(zero).chain(above).collect(), factor: String::new() }
}

// A mantissa times a power of ten, and its number.
fn signed(mantissa: i64, power: i32) -> (f64, String) {
    let sign = if mantissa < 0 { "−" } else { "" };
    let number = match power {
        -3..5 => decimal(mantissa.abs(), power, (-power).max(0) as usize),
        _ if mantissa.abs() == 1 => format!("10{}", superscript(power)),
        _ => format!("{}×10{}", mantissa.abs(), superscript(power)),
    };
    (mantissa as f64 * ten(power), format!("{sign}{number}"))
}

// The number of decimal digits.
fn digits(n: i64) -> i32 {
    n.abs().max(1).ilog10() as i32 + 1
}

// The part of a number that all others share, which lie within `span` above it.
fn common(lowest: i64, span: i64) -> i64 {
    let unit = 10_i64.pow(digits(span) as u32);
    lowest.div_euclid(unit) * unit
}

fn ten(power: i32) -> f64 {
    // Parsed, a power is the nearest number.
    format!("1e{power}").parse().unwrap_or(1.0)
}

/// `whole` times ten to the `power`, with this many decimals and a minus sign of its own.
fn decimal(whole: i64, power: i32, decimals: usize) -> String {
    let shift = 10_i128.pow((power + decimals as i32).clamp(0, 20) as u32);
    let all = (i128::from(whole) * shift).unsigned_abs().to_string();
    let padded = format!("{all:0>width$}", width = decimals + 1);
    let (units, rest) = padded.split_at(padded.len() - decimals);
    let sign = if whole < 0 { "−" } else { "" };
    if decimals == 0 { format!("{sign}{units}") } else { format!("{sign}{units}.{rest}") }
}

/// The largest round length up to this one, and its number.
pub fn round_length(longest: f64) -> Option<(f64, String)> {
    if !(longest > 0.0 && longest.is_finite()) {
        return None;
    }
    let power = libm::floor(libm::log10(longest)) as i32;
    let fits = |mantissa: i64| mantissa as f64 * ten(power) <= longest * (1.0 + 1e-9);
    let mantissa = [5, 2, 1].into_iter().find(|&m| fits(m)).unwrap_or(1);
    Some(signed(mantissa, power))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(range: [f64; 2], most: usize) -> (String, String) {
        let ticks = linear(range, most);
        let labels: Vec<_> = ticks.marks.iter().map(|(_, label)| label.as_str()).collect();
        (labels.join(" "), ticks.factor)
    }

    #[test]
    fn ticks_are_round_and_their_numbers_short() {
        for (range, most, labels, factor) in [
            ([0.0, 1.0], 6, "0.0 0.2 0.4 0.6 0.8 1.0", ""),
            ([410.2413, 10439.5524], 6, "2000 4000 6000 8000 10000", ""),
            ([0.0, 123_456.0], 6, "0.00 0.25 0.50 0.75 1.00", "×10⁵"),
            ([-0.3, 0.3], 7, "−0.3 −0.2 −0.1 0.0 0.1 0.2 0.3", ""),
            ([0.0, 3e-7], 4, "0 1 2 3", "×10⁻⁷"),
            ([-4e12, 4e12], 5, "−4 −2 0 2 4", "×10¹²"),
            ([1.0, 1.0001], 6, "0.0 0.2 0.4 0.6 0.8 1.0", "×10⁻⁴ +1.00000"),
            ([100_000.1, 100_000.5], 5, "0.1 0.2 0.3 0.4 0.5", "+100000.0"),
            ([7.0, 93.0], 3, "25 50 75", ""),
            ([0.5, 3.5], 9, "0.5 1.0 1.5 2.0 2.5 3.0 3.5", ""),
        ] {
            assert_eq!(shown(range, most), (labels.to_owned(), factor.to_owned()), "{range:?}");
        }
        for empty in [[1.0, 1.0], [f64::NAN, 1.0], [0.0, f64::INFINITY], [2.0, 1.0], [1.0, 1.0 + 1e-15]] {
            assert_eq!(linear(empty, 5).marks.len(), 0, "{empty:?}");
        }
    }

    #[test]
    fn ticks_lie_in_any_range_and_are_few() {
        for low in [-1e30, -7.5e4, -1.0, 0.0, 3e-9, 0.1, 12345.678, 9.9e20] {
            for span in [1e-10, 1e-3, 0.7, 31.0, 1e6, 4.2e25] {
                let range = [low, low + span];
                for most in [2, 5, 9] {
                    let Ticks { marks, factor } = linear(range, most);
                    let slack = 1e-6 * span;
                    assert!(marks.iter().all(|(x, _)| (range[0] - slack..=range[1] + slack).contains(x)), "{range:?}");
                    let long = |label: &String| label.chars().filter(char::is_ascii_digit).count() > 6;
                    assert!(marks.len() <= most && !marks.iter().any(|(_, l)| long(l)), "{marks:?} {factor}");
                }
            }
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        let shown = |ticks: Ticks| ticks.marks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ");
        assert_eq!(shown(logarithmic([0.02, 3e3], 6)), "0.1 1 10 100 1000");
        assert_eq!(shown(logarithmic([1e-9, 1e9], 5)), "10⁻⁹ 10⁻⁵ 0.1 1000 10⁷");
        assert_eq!(shown(logarithmic([1.5, 30.0], 6)), "2 5 10 20");
        assert_eq!(shown(symmetric([-100.0, 50.0], 1.0, 7)), "−100 −10 0 10");
        assert_eq!(shown(symmetric([2.0, 1e6], 1e4, 5)), "10⁵ 10⁶");
        assert_eq!(shown(classes(&[1.0, 4.0, -2.0], 7)), "1 4 −2");
    }

    #[test]
    fn lengths_of_scale_bars_are_round() {
        for (longest, expected) in
            [(0.73, "0.5"), (1.0, "1"), (2e-5, "2×10⁻⁵"), (1999.0, "1000"), (3e7, "2×10⁷"), (1.2e9, "10⁹")]
        {
            assert_eq!(round_length(longest).unwrap().1, expected);
        }
        assert_eq!(round_length(0.0), None);
    }
}

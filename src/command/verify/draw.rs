//! Which frames an audit renders again, and how likely it is that it misses some.

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Draws `count` of `total` things by SHA-256 of the seed and a counter, so that anybody can draw them again.
pub fn draw(seed: &str, total: u64, count: u64) -> BTreeSet<u64> {
    let mut drawn = BTreeSet::new();
    let mut counter = 0_u64;
    while (drawn.len() as u64) < count.min(total) {
        let hash = Sha256::digest(format!("{seed} {counter}"));
        drawn.insert(hash[..8].iter().fold(0, |n, &byte| n << 8 | u64::from(byte)) % total);
        counter += 1;
    }
    drawn
}

/// The probability that `drawn` of `total` things miss all wrong ones, if this share of them is wrong.
pub fn unseen(total: u64, drawn: u64, share: f64) -> f64 {
    let wrong = ((share * total as f64).ceil() as u64).min(total);
    (0..drawn).map(|i| total.saturating_sub(wrong + i) as f64 / (total - i) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_the_seed_and_miss_as_often_as_they_say() {
        assert_eq!(draw("a", 10, 20), (0..10).collect());
        assert_eq!(draw("a", 1000, 5), draw("a", 1000, 5));
        assert_ne!(draw("a", 1000, 5), draw("b", 1000, 5));
        assert!((unseen(10, 2, 0.2) - 8.0 / 10.0 * 7.0 / 9.0).abs() < 1e-12);
        assert_eq!((unseen(10, 10, 0.01), unseen(10, 9, 0.2), unseen(10, 0, 0.5)), (0.0, 0.0, 1.0));
        // Frames 0 to 9 of 100 are wrong; five are drawn.
        let missed = (0..2000).filter(|i| draw(&i.to_string(), 100, 5).iter().all(|&n| n >= 10)).count();
        assert!((missed as f64 / 2000.0 - unseen(100, 5, 0.1)).abs() < 0.05, "{missed}");
    }
}

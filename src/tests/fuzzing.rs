//! A short run of `fuzz/`: seeds of every target, with mutations from a generator with a fixed start.

use crate::fuzz_targets::{FUZZ_TARGETS, FuzzTarget};
use std::path::Path;

// Seeds of a target: real files, and small ones for its corner cases.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    let folder = root.join("fuzz/seeds").join(target);
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    seeds.extend(names.iter().map(|path| std::fs::read(path).unwrap()));
    let more = match target {
        "tokens" => vec!["scenes/coursework.txt", "scenes/default.txt"],
        "toml" => vec!["scenes/garland.toml", "scenes/weekend.toml", "scenes/walk.toml"],
        _ => vec![],
    };
    seeds.extend(more.iter().map(|name| std::fs::read(root.join(name)).unwrap()));
    assert!(!seeds.is_empty(), "{target} has no seeds");
    seeds
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

// Words that have broken programs before.
const WORDS: [&str; 16] = [
    "nan",
    "-inf",
    "1e309",
    "-1",
    "0",
    "4294967295",
    "99999999999999999999",
    "1e-320",
    "%d",
    "[[",
    "\"",
    "-0.0",
    "2147483648",
    "0x10",
    "\u{feff}",
    "true",
];

fn changed(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + dice.below(24)).min(bytes.len());
        match dice.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => drop(bytes.splice(at..end, WORDS[dice.below(WORDS.len())].bytes()).count()),
            5 if at < bytes.len() => bytes[at] = dice.below(256) as u8,
            _ => {
                let other = dice.below(bytes.len() + 1);
                let piece = bytes[at..end].to_vec();
                bytes.splice(other..other, piece);
            }
        }
    }
    bytes
}

fn run_mutants(name: &str, target: FuzzTarget) {
    let mut dice = Dice(1);
    for seed in seeds(name) {
        target(&seed);
        // Large seeds take longer.
        for _ in 0..(30_000 / seed.len().max(300)).clamp(4, 60) {
            let bytes = changed(&seed, &mut dice);
            let result = std::panic::catch_unwind(|| target(&bytes));
            assert!(result.is_ok(), "{name} panics on {:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn no_target_breaks() {
    FUZZ_TARGETS.iter().filter(|(name, _)| *name != "picture").for_each(|&(name, target)| run_mutants(name, target));
}

// Whatever a scene contains, its picture stays within the domain of a GPU's operations.
#[test]
fn no_scene_leaves_the_domain() {
    run_mutants("picture", crate::fuzz_targets::picture);
}

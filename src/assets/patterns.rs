//! The built-in pictures and maps, as functions of (u, v) in 0 .. 1, and the grids that have been made of them.

use super::grid::Grid;
use crate::math::smooth_step;
use crate::threads::lock;
use std::sync::Mutex;

/// Grids of built-in pictures and maps by their sources. Frames in which a relief changes and edits of a scene ask for the same again.
pub struct Made<K, T>(Mutex<Vec<(K, Grid<T>)>>);

impl<K: Clone + PartialEq, T: Clone> Made<K, T> {
    pub const fn new() -> Made<K, T> {
        Made(Mutex::new(Vec::new()))
    }
    /// A copy of a source's grid, which `make` makes the first time. It works on several threads, which may ask meanwhile: nothing is
    /// locked then, and whoever asks makes a grid too.
    pub fn get(&self, source: &K, make: impl FnOnce() -> Grid<T>) -> Grid<T> {
        let known = |all: &[(K, Grid<T>)]| all.iter().find(|(of, _)| of == source).map(|(_, grid)| grid.clone());
        if let Some(grid) = known(&lock(&self.0)) {
            return grid;
        }
        let grid = make();
        let mut all = lock(&self.0);
        if known(&all).is_none() {
            all.push((source.clone(), grid.clone()));
        }
        grid
    }
}

// --- noise ---

// A number in 0 .. 1 for each point of an integer lattice.
fn hash(i: i64, j: i64) -> f64 {
    let mut h = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (j as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    h = (h ^ (h >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((h ^ (h >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
// Value noise on an integer lattice, smooth, 0 .. 1.
fn lattice_noise(x: f64, y: f64, corner: impl Fn(i64, i64) -> (i64, i64)) -> f64 {
    let value = |i: i64, j: i64| {
        let (i, j) = corner(i, j);
        hash(i, j)
    };
    let (i, j) = (x.floor(), y.floor());
    let smooth = |t: f64| t * t * (3.0 - 2.0 * t);
    let (s, t) = (smooth(x - i), smooth(y - j));
    let (i, j) = (i as i64, j as i64);
    let row = |j| value(i, j) + (value(i + 1, j) - value(i, j)) * s;
    row(j) + (row(j + 1) - row(j)) * t
}
fn noise(x: f64, y: f64) -> f64 {
    lattice_noise(x, y, |i, j| (i, j))
}
// Value noise over the unit square with that many cells along its sides; it tiles.
fn periodic_noise(u: f64, v: f64, (across, down): (i64, i64)) -> f64 {
    lattice_noise(u * across as f64, v * down as f64, |i, j| (i.rem_euclid(across), j.rem_euclid(down)))
}
// Layers of noise, each twice as fine and half as strong, from so many cells a side on; 0 .. 1. It tiles.
fn periodic_layers(u: f64, v: f64, cells: i64, layers: u32) -> f64 {
    let layer = |l: u32| (cells << l, 1.0 / f64::from(1u32 << l));
    let sum: f64 = (0..layers).map(layer).map(|(n, share)| share * periodic_noise(u, v, (n, n))).sum();
    sum / (0..layers).map(layer).map(|(_, share)| share).sum::<f64>()
}
fn turbulence(x: f64, y: f64) -> f64 {
    (0..6).map(|o| (noise(x * f64::from(1 << o), y * f64::from(1 << o)) - 0.5).abs() / f64::from(1 << o)).sum()
}
fn mix(a: [f64; 3], b: [f64; 3], t: f64) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t)
}

// --- pictures: sRGB colors ---

pub fn checker(u: f64, v: f64) -> [f64; 3] {
    let cell = |x: f64| (x * 8.0).floor() as i64;
    if (cell(u) + cell(v)) % 2 == 0 { [0.92; 3] } else { [0.16, 0.16, 0.18] }
}

/// The bright checker that stands in for a missing file.
pub fn missing(u: f64, v: f64) -> [f64; 3] {
    let cell = |x: f64| (x * 16.0).floor() as i64;
    if (cell(u) + cell(v)) % 2 == 0 { [1.0, 0.04, 1.0] } else { [0.45, 0.02, 0.45] }
}

/// Concrete slabs with joints, stains and pores.
pub fn concrete(u: f64, v: f64) -> [f64; 3] {
    let octaves = |x: f64, y: f64| -> f64 {
        (0..6).map(|o| (noise(x * f64::from(1 << o), y * f64::from(1 << o)) - 0.5) / f64::from(1 << o)).sum()
    };
    let grey = 0.56 + 0.18 * octaves(u * 5.0, v * 5.0) + 0.05 * (noise(u * 240.0, v * 240.0) - 0.5);
    let joint = |x: f64| ((2.0 * x).fract() - 0.5).abs() < 0.007;
    let is_pore = noise(u * 90.0 + 40.0, v * 90.0) > 0.93;
    let shade = if joint(u) || joint(v) {
        0.55
    } else if is_pore {
        0.8
    } else {
        1.0
    };
    [1.0, 0.985, 0.955].map(|tint| grey * shade * tint)
}

pub fn marble(u: f64, v: f64) -> [f64; 3] {
    let bend = turbulence(u * 4.0, v * 4.0);
    let vein = libm::sin((u * 3.0 + v * 2.0 + bend * 3.2) * std::f64::consts::PI * 2.0).abs();
    let thin = 1.0 - libm::pow(1.0 - vein, 3.0);
    let base = mix([0.34, 0.37, 0.42], [0.93, 0.92, 0.9], thin);
    mix(base, [0.75, 0.72, 0.68], 0.35 * turbulence(u * 11.0 + 7.0, v * 11.0))
}

pub fn wood(u: f64, v: f64) -> [f64; 3] {
    // Planks across v, each with its own rings.
    let plank = (v * 6.0).floor();
    let shift = noise(plank * 7.3, 1.7) * 9.0;
    let along = u * 2.0 + shift;
    let across = v * 6.0 - plank - 0.5 + 0.25 * (noise(along * 1.5, plank * 3.1) - 0.5);
    let ring = libm::sqrt(across * across + 0.02 * along * along) * 7.0 + noise(along * 3.0, across * 6.0 + plank);
    let grain = libm::pow(0.5 + 0.5 * libm::sin(ring * std::f64::consts::PI * 2.0), 2.0);
    let fibre = noise(along * 60.0, v * 400.0);
    let tone = 0.8 + 0.25 * noise(plank * 13.7, 5.1);
    let colour = mix([0.62, 0.42, 0.24], [0.42, 0.25, 0.13], 0.65 * grain + 0.25 * fibre).map(|c| c * tone);
    let gap = (v * 6.0 - plank).min(1.0 - (v * 6.0 - plank));
    if gap < 0.012 { colour.map(|c| c * 0.35) } else { colour }
}

/// Split slate: dark layers, each a little other than the next, with rust where water stood.
pub fn slate_colour(u: f64, v: f64) -> [f64; 3] {
    let layer = (slate_layers(u, v).floor() as i64, 0);
    let shade = 0.9 + 0.2 * hash(layer.0, 7) + 0.16 * (periodic_noise(u, v, (160, 160)) - 0.5);
    let damp = smooth_step(0.52, 0.72, periodic_layers(u, v, 3, 5));
    let rust = 0.5 * smooth_step(0.62, 0.78, periodic_layers(u, v, 6, 4));
    let base = mix([0.235, 0.25, 0.27], [0.165, 0.185, 0.215], damp);
    mix(base, [0.33, 0.235, 0.17], rust).map(|c| c * shade)
}

// --- maps: 0 .. 1, and they tile ---

/// Waves of a light wind: many directions, whole periods across the map, amplitudes that fall with the frequency.
pub fn ripples(u: f64, v: f64) -> f64 {
    const WAVES: [(f64, f64, f64); 12] = [
        (5.0, 2.0, 0.13),
        (7.0, -1.0, 0.71),
        (6.0, 5.0, 0.37),
        (11.0, 3.0, 0.93),
        (9.0, -7.0, 0.22),
        (14.0, 8.0, 0.58),
        (17.0, -3.0, 0.05),
        (13.0, 15.0, 0.81),
        (23.0, 6.0, 0.44),
        (19.0, -16.0, 0.67),
        (29.0, 13.0, 0.29),
        (31.0, -10.0, 0.88),
    ];
    let (mut sum, mut max) = (0.0, 0.0);
    for (across, down, phase) in WAVES {
        let height = 1.0 / libm::sqrt(across * across + down * down);
        // Crests are narrower than troughs.
        let wave = libm::sin((across * u + down * v + phase) * std::f64::consts::TAU) * 0.5 + 0.5;
        sum += height * libm::pow(wave, 1.5);
        max += height;
    }
    sum / max
}

pub fn tiles(u: f64, v: f64) -> f64 {
    let rim = |x: f64| {
        let within = x * 8.0 - (x * 8.0).floor();
        within.min(1.0 - within)
    };
    smooth_step(0.02, 0.09, rim(u)) * smooth_step(0.02, 0.09, rim(v))
}

pub fn puddles(u: f64, v: f64) -> f64 {
    let layers = [(4, 0.5), (8, 0.25), (16, 0.14), (32, 0.07), (64, 0.04)];
    let height: f64 = layers.iter().map(|&(n, share)| share * periodic_noise(u, v, (n, n))).sum();
    smooth_step(0.4, 0.5, height)
}

// The number of layers of slate below a point.
fn slate_layers(u: f64, v: f64) -> f64 {
    9.0 * periodic_layers(u, v, 2, 5)
}

/// Split stone: steps from layer to layer, which are worn, and a grain.
pub fn slate(u: f64, v: f64) -> f64 {
    let layers = slate_layers(u, v);
    let step = layers.floor() + smooth_step(0.6, 1.0, layers - layers.floor());
    let (coarse, fine) = (periodic_layers(u, v, 13, 3), periodic_noise(u, v, (220, 220)));
    0.86 * step / 9.0 + 0.125 * coarse + 0.015 * fine
}

/// Grooves along u.
pub fn brushed(u: f64, v: f64) -> f64 {
    let layers = [((3, 97), 0.3), ((5, 211), 0.4), ((9, 499), 0.3)];
    layers.iter().map(|&(cells, share)| share * periodic_noise(u, v, cells)).sum()
}

/// Scratches: thin lines in all directions, few of them long and deep.
pub fn scratches() -> impl Fn(f64, f64) -> f64 + Sync {
    struct Line {
        cosine: f64,
        sine: f64,
        half: f64,
        bend: f64,
        depth: f64,
    }
    let layers = [(3, 0.0011, 0.7, 1.0), (5, 0.0008, 0.8, 0.8), (11, 0.0006, 0.9, 0.55), (19, 0.0005, 0.9, 0.35)].map(
        |(cells, width, chance, depth)| {
            let line = |random: &dyn Fn(i64) -> f64| {
                let turn = random(1) * std::f64::consts::TAU;
                (random(0) <= chance).then(|| Line {
                    cosine: libm::cos(turn),
                    sine: libm::sin(turn),
                    half: 0.3 + 0.55 * random(2),
                    bend: (random(3) - 0.5) * 0.35,
                    depth: 0.3 + 0.7 * random(4),
                })
            };
            (Scattered::new(cells, 100, line), width, depth)
        },
    );
    let light = |line: &Line, (x, y): (f64, f64), cells: i64, width: f64| {
        let (along, across) = (line.cosine * x + line.sine * y, line.cosine * y - line.sine * x);
        // It bends a little, and ends thin.
        let off = (across + line.bend * along * along).abs() / cells as f64;
        if off > 1.5 * width {
            return 0.0;
        }
        let end = smooth_step(0.0, 0.35, 1.0 - (along / line.half).abs());
        end * line.depth * (1.0 - smooth_step(0.5 * width, 1.5 * width, off))
    };
    move |u, v| {
        let deepest = |(lines, width, depth): &(Scattered<Option<Line>>, f64, f64)| {
            let seen =
                lines.around(u, v).filter_map(|(x, y, line)| Some(light(line.as_ref()?, (x, y), lines.cells, *width)));
            seen.fold(0.0, f64::max) * depth
        };
        layers.iter().map(deepest).fold(0.0, f64::max)
    }
}

/// Specks of dust, and smears where somebody has wiped.
pub fn dust() -> impl Fn(f64, f64) -> f64 + Sync {
    let layers = [(23, 0.5), (57, 0.7), (121, 0.8)].map(|(cells, chance)| {
        Scattered::new(cells, 77, |random| {
            let radius = 0.06 + 0.3 * random(1) * random(1);
            (radius, f64::from(u8::from(random(0) < chance)) * (0.35 + 0.65 * random(2)))
        })
    });
    move |u, v| {
        let speck = |(x, y, &(radius, seen)): (f64, f64, &(f64, f64))| {
            seen * (1.0 - smooth_step(0.5 * radius, radius, libm::sqrt(x * x + y * y)))
        };
        let specks = layers.iter().flat_map(|layer| layer.around(u, v)).map(speck).fold(0.0, f64::max);
        let wiped = periodic_noise(u, v, (5, 40)) * smooth_step(0.45, 0.75, periodic_layers(u, v, 3, 4));
        (specks + 0.3 * wiped).min(1.0)
    }
}

// One thing at a random position in each cell of a grid over the unit square. It tiles.
struct Scattered<T> {
    // Cells along a side.
    cells: i64,
    // The things with their positions in their cells, row after row.
    things: Vec<([f64; 2], T)>,
}

impl<T> Scattered<T> {
    // `thing` gets a source of random numbers in 0 .. 1, by their index. Other salts give other numbers.
    fn new(cells: i64, salt: i64, thing: impl Fn(&dyn Fn(i64) -> f64) -> T) -> Scattered<T> {
        let offset = |number, k| 0.6 * hash(number, 1000 * cells + k);
        let one = |number| ([offset(number, 1), offset(number, 2)], thing(&|k| hash(number, salt * cells + k)));
        Scattered { cells, things: (0..cells * cells).map(one).collect() }
    }
    // The things of the nine cells around a point, and the point relative to each, in cells.
    fn around(&self, u: f64, v: f64) -> impl Iterator<Item = (f64, f64, &T)> {
        let (x, y) = (u * self.cells as f64, v * self.cells as f64);
        let (column, row) = (x.floor() as i64, y.floor() as i64);
        (0..9).map(move |k| {
            let (i, j) = (column + k % 3 - 1, row + k / 3 - 1);
            let number = j.rem_euclid(self.cells) * self.cells + i.rem_euclid(self.cells);
            let ([right, down], thing) = &self.things[number as usize];
            (x - (i as f64 + 0.2 + right), y - (j as f64 + 0.2 + down), thing)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_made_once() {
        let (made, mut times) = (Made::new(), 0);
        for (source, value) in [("a", 1), ("b", 2), ("a", 3), ("b", 4)] {
            let grid = made.get(&source, || {
                times += 1;
                Grid::new(1, 1, |_, _| value)
            });
            assert_eq!(grid.cells, if source == "a" { [1] } else { [2] });
        }
        assert_eq!(times, 2);
    }

    #[test]
    fn made_maps_join_at_their_sides() {
        let (scratches, dust) = (scratches(), dust());
        let maps: [&dyn Fn(f64, f64) -> f64; 7] = [&ripples, &tiles, &puddles, &slate, &brushed, &scratches, &dust];
        for map in maps {
            for i in 0..50 {
                let t = f64::from(i) / 50.0;
                assert!((map(0.0, t) - map(1.0, t)).abs() < 1e-9 && (map(t, 0.0) - map(t, 1.0)).abs() < 1e-9);
                assert!((0.0..=1.0).contains(&map(t, 0.37)));
            }
        }
    }
}

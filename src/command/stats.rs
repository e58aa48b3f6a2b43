//! `polyfly particles stats`: porosity and means by slices, coordination, sizes and the radial distribution of particles, as CSV.

use crate::assets::files::Files;
use crate::assets::particles::{self, Neighbours, Step};
use crate::cli::{Failure, StatsArgs, StatsKind};
use crate::language::msg;
use crate::math::vec3::{cross, dot, length, scale, sub};
use crate::output::OutputError;
use crate::report::print;
use crate::scene::{Particles, series};
use crate::threads::shared_pool;
use std::f64::consts::PI;

pub fn run(args: &StatsArgs) -> Result<(), Failure> {
    let particles = Particles {
        path: args.file.clone(),
        names: series::files(&args.file),
        first: args.step,
        colour_by: args.value.as_deref().unwrap_or_default().into(),
        only: args.only.clone().unwrap_or_default(),
        radius: args.radius,
        ..Particles::default()
    };
    let text = shared_pool().map_err(OutputError::from)?.install(|| -> Result<String, Failure> {
        let (step, values) = particles::shown(&particles, &Files::default())?;
        Ok(match args.what {
            StatsKind::Slices => slices(&step, values.as_deref(), args),
            StatsKind::Coordination => coordination(&step, args.gap),
            StatsKind::Sizes => sizes(&step, args.bins as usize),
            StatsKind::Distances => distances(&step, args)?,
        })
    })?;
    Ok(print(&text)?)
}

fn row(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n"
}

// The ends of so many equal parts.
fn part(i: usize, parts: usize, [low, high]: [f64; 2]) -> [f64; 2] {
    [i, i + 1].map(|i| low + (high - low) * i as f64 / parts as f64)
}

fn place(x: f64, parts: usize, [low, high]: [f64; 2]) -> Option<usize> {
    let share = (x - low) / (high - low);
    (0.0..=1.0).contains(&share).then(|| ((share * parts as f64) as usize).min(parts - 1))
}

// The volume of a ball between two parallel planes, at these distances from its middle.
fn between_planes(radius: f64, ends: [f64; 2]) -> f64 {
    let below = |h: f64| {
        let h = h.clamp(-radius, radius);
        PI * (radius * radius * h - h * h * h / 3.0)
    };
    below(ends[1]) - below(ends[0])
}

// Slices of the box between two of its faces.
fn slices(step: &Step, values: Option<&[f64]>, args: &StatsArgs) -> String {
    let (cell, axis, parts) = (step.cell_or_bounds(), args.axis as usize, args.bins as usize);
    let face = cross(cell.vectors[(axis + 1) % 3], cell.vectors[(axis + 2) % 3]);
    let area = length(face);
    let normal = scale(face, 1.0 / area);
    let height = dot(cell.vectors[axis], normal);
    let ends = [0.0, height.abs()];
    let start = dot(cell.origin, normal) * height.signum();
    let (mut solid, mut count, mut sum) = (vec![0.0; parts], vec![0usize; parts], vec![0.0; parts]);
    let shifts: &[f64] = if cell.periodic[axis] { &[-1.0, 0.0, 1.0] } else { &[0.0] };
    for (i, (p, r)) in step.positions.iter().zip(&step.radii).enumerate() {
        let mut at = dot(sub(*p, cell.origin), normal) * height.signum();
        if cell.periodic[axis] {
            at -= (at / ends[1]).floor() * ends[1];
        }
        for at in shifts.iter().map(|shift| at + shift * ends[1]) {
            let [first, last] = [at - r, at + r].map(|x| place(x.clamp(0.0, ends[1]), parts, ends).unwrap_or(0));
            for (k, solid) in (first..=last).zip(&mut solid[first..=last]) {
                *solid += between_planes(*r, part(k, parts, ends).map(|end| end - at));
            }
        }
        if let Some(k) = place(at, parts, ends) {
            count[k] += 1;
            sum[k] += values.map_or(0.0, |values| values[i]);
        }
    }
    let mut text = format!("from,to,porosity,particles{}\n", if values.is_some() { ",mean" } else { "" });
    for k in 0..parts {
        let [from, to] = part(k, parts, ends);
        let mut numbers = vec![start + from, start + to, 1.0 - solid[k] / (area * (to - from)), count[k] as f64];
        numbers.extend(values.map(|_| sum[k] / count[k] as f64));
        text += &row(&numbers);
    }
    text
}

// How many particles touch so many others.
fn coordination(step: &Step, gap: f64) -> String {
    let most = step.radii.iter().fold(0.0, |most: f64, &r| most.max(r));
    let near = Neighbours::of(step, 2.0 * most * (1.0 + gap));
    let touched = near.of_each(|i, found| {
        found.filter(|&(j, distance)| distance <= (step.radii[i] + step.radii[j]) * (1.0 + gap)).count()
    });
    let mut counts: Vec<usize> = Vec::new();
    for contacts in touched {
        counts.resize(counts.len().max(contacts + 1), 0);
        counts[contacts] += 1;
    }
    let mut text = "contacts,particles,share\n".to_owned();
    for (contacts, &count) in counts.iter().enumerate() {
        text += &row(&[contacts as f64, count as f64, count as f64 / step.count() as f64]);
    }
    text
}

fn sizes(step: &Step, parts: usize) -> String {
    let diameters: Vec<f64> = step.radii.iter().map(|r| 2.0 * r).collect();
    let ends = diameters.iter().fold([f64::INFINITY, 0.0], |[low, high], &d| [low.min(d), f64::max(high, d)]);
    let parts = if ends[0] == ends[1] { 1 } else { parts };
    let (mut counts, mut volumes) = (vec![0.0; parts], vec![0.0; parts]);
    for &d in &diameters {
        let k = place(d, parts, ends).unwrap_or(0);
        counts[k] += 1.0;
        volumes[k] += d * d * d;
    }
    let (count, volume) = (step.count() as f64, volumes.iter().sum::<f64>());
    let mut text = "from,to,particles,share,volume_share\n".to_owned();
    for k in 0..parts {
        let [from, to] = part(k, parts, ends);
        text += &row(&[from, to, counts[k], counts[k] / count, volumes[k] / volume]);
    }
    text
}

// The radial distribution function: how many are at a distance, over how many there would be if all places were alike.
fn distances(step: &Step, args: &StatsArgs) -> Result<String, Failure> {
    let Some(cell) = step.cell.filter(|cell| cell.periodic == [true; 3]) else {
        return Err(Failure::usage(msg!(
            "g(r) needs a box that repeats along all of its edges, and the file has none"
        )));
    };
    let heights = cell.heights();
    let reach = args.reach.unwrap_or(0.5 * heights.into_iter().fold(f64::INFINITY, f64::min));
    let (parts, ends) = (args.bins as usize, [0.0, reach]);
    let near = Neighbours::of(step, reach);
    let found = near.of_each(|_, found| {
        let mut counts = vec![0usize; parts];
        found.filter_map(|(_, distance)| place(distance, parts, ends)).for_each(|k| counts[k] += 1);
        counts
    });
    let mut all = vec![0usize; parts];
    found.iter().for_each(|counts| all.iter_mut().zip(counts).for_each(|(all, count)| *all += count));
    let [a, b, c] = cell.vectors;
    let density = step.count() as f64 / dot(a, cross(b, c)).abs();
    let mut text = "r,g,pairs\n".to_owned();
    for (k, count) in all.into_iter().enumerate() {
        let [from, to] = part(k, parts, ends);
        let shell = 4.0 / 3.0 * PI * (to * to * to - from * from * from);
        let expected = density * shell * step.count() as f64;
        text += &row(&[0.5 * (from + to), count as f64 / expected, 0.5 * count as f64]);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::particles::Cell;

    // Balls of diameter 1 on a cubic lattice that fills a periodic box.
    fn lattice(n: usize) -> Step {
        let places = (0..n * n * n).map(|i| [i % n, i / n % n, i / (n * n)].map(|x| x as f64));
        let mut vectors = [[0.0; 3]; 3];
        (0..3).for_each(|axis| vectors[axis][axis] = n as f64);
        let cell = Some(Cell { origin: [0.0; 3], vectors, periodic: [true; 3] });
        Step { positions: places.collect(), radii: vec![0.5; n * n * n], cell, ..Step::default() }
    }

    fn args(what: StatsKind, bins: u32) -> StatsArgs {
        let (value, only, radius, reach) = (None, None, None, None);
        StatsArgs {
            what,
            file: "a".into(),
            step: 0,
            axis: Default::default(),
            bins,
            value,
            only,
            radius,
            gap: 0.0,
            reach,
        }
    }

    fn table(text: &str) -> Vec<Vec<f64>> {
        text.lines().skip(1).map(|line| line.split(',').map(|word| word.parse().unwrap()).collect()).collect()
    }

    #[test]
    fn a_cubic_lattice_has_its_known_numbers() {
        let step = lattice(4);
        let values: Vec<f64> = step.positions.iter().map(|p| p[2]).collect();
        let found = table(&slices(&step, Some(&values), &args(StatsKind::Slices, 4)));
        for (k, row) in found.iter().enumerate() {
            assert!((row[2] - (1.0 - PI / 6.0)).abs() < 1e-12 && row[3..] == [16.0, k as f64], "{row:?}");
        }
        // Half a diameter from a layer's middle on: 11/16 of each half ball's volume lies in the half nearer to its middle.
        let found = table(&slices(&step, None, &args(StatsKind::Slices, 16)));
        let near = 1.0 - PI / 6.0 * 2.0 * 11.0 / 16.0;
        assert!((found[0][2] - near).abs() < 1e-12 && (found[3][2] - near).abs() < 1e-12);
        assert_eq!(table(&coordination(&step, 0.0)).last(), Some(&vec![6.0, 64.0, 1.0]));
        assert_eq!(table(&coordination(&step, 0.5)).last(), Some(&vec![18.0, 64.0, 1.0]));
        // Not across borders that do not repeat.
        let open = Step { cell: None, ..step.clone() };
        assert_eq!(
            table(&coordination(&open, 0.0))[3..],
            [[3.0, 8.0, 0.125], [4.0, 24.0, 0.375], [5.0, 24.0, 0.375], [6.0, 8.0, 0.125]]
        );
        assert!(distances(&open, &args(StatsKind::Distances, 4)).is_err());
        // 6, 12 and 8 neighbors at 1, the roots of 2 and of 3; more images than one where the box is small.
        let of = |step: &Step, reach: f64, bins: u32| {
            let args = StatsArgs { reach: Some(reach), ..args(StatsKind::Distances, bins) };
            table(&distances(step, &args).unwrap()).iter().map(|row| row[2]).collect::<Vec<_>>()
        };
        assert_eq!(of(&step, 1.8, 6), [0.0, 0.0, 0.0, 192.0, 384.0, 256.0]);
        assert_eq!(of(&lattice(1), 1.8, 6), [0.0, 0.0, 0.0, 3.0, 6.0, 4.0]);
        // Particles anywhere: as many as the volume says, in a tilted box.
        let mut random = crate::command::generate::packing(2000, 5, 0.0);
        let vectors = [[1.0, 0.0, 0.0], [0.3, 1.0, 0.0], [0.2, -0.4, 2.0]];
        let cell = Cell { origin: [0.0; 3], vectors, periodic: [true; 3] };
        random.cell = Some(cell);
        let far = table(&distances(&random, &args(StatsKind::Distances, 2)).unwrap());
        let brute = |from: f64, to: f64| {
            let pairs = (0..2000).flat_map(|i| (0..i).map(move |j| (i, j)));
            let all = pairs.flat_map(|(i, j)| {
                let (d, random) = (sub(random.positions[i], random.positions[j]), cell);
                (0..27).map(move |k| {
                    let shift = [k % 3, k / 3 % 3, k / 9].map(|x| f64::from(x) - 1.0);
                    length(sub(d, sub(random.unscaled(shift), random.origin)))
                })
            });
            all.filter(|d| (from..to).contains(d)).count() as f64
        };
        let reach = 2.0 * far[0][0];
        assert_eq!(far[0][2], brute(0.0, reach));
        let parts = table(&sizes(&random, 3));
        assert_eq!(parts.iter().map(|row| row[2]).sum::<f64>(), 2000.0);
        assert!((parts.iter().map(|row| row[4]).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

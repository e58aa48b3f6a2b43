//! The paths of particles over the time steps before the one that is shown.
//!
//! Earlier places are columns of the step, relative to the present place, so that selections and copies of particles keep them.

use super::shape::Rod;
use super::step::{Cell, Column, Step};
use super::views::{ID, partners};
use crate::assets::error::AssetError;
use crate::assets::files::Files;
use crate::language::Message;
use crate::math::vec3::{Vec3, add, scale, sub};
use crate::scene::{Particles, Trails};
use rayon::prelude::*;
use std::sync::Arc;

// Steps that are kept beside those of a trail, for frames that are made side by side.
const MORE: usize = 16;

/// Where the particles of a step are.
pub struct StepPositions {
    ids: Option<Vec<f64>>,
    positions: Vec<Vec3>,
}

/// The places of a step's particles, which are kept for later frames.
pub fn places(
    particles: &Particles,
    files: &Files,
    number: u64,
    read: impl FnOnce() -> Result<Step, AssetError>,
) -> Result<Arc<StepPositions>, AssetError> {
    let most = particles.trails.as_ref().map_or(0, |trails| trails.steps as usize) + MORE;
    let key = format!("places {number} {:?}", particles.columns);
    files.keep((&particles.file_of(number), &key), most, || {
        let step = read()?;
        Ok(StepPositions { ids: step.column(&[ID]).map(<[f64]>::to_vec), positions: step.positions })
    })
}

fn name(back: usize, axis: usize) -> String {
    format!("trail {back}.{axis}")
}

/// Adds earlier places, the latest first.
pub fn add_places<'a>(step: &mut Step, earlier: impl Iterator<Item = &'a StepPositions>) -> Result<(), Message> {
    for (back, there) in earlier.enumerate() {
        let partners = partners([step.column(&[ID]), there.ids.as_deref()], [step.count(), there.positions.len()])?;
        let columns = [0, 1, 2].map(|axis| {
            let way = |(here, partner): (&Vec3, &Option<usize>)| {
                partner.map_or(f64::NAN, |i| there.positions[i][axis] - here[axis])
            };
            let values = step.positions.par_iter().zip(&partners).map(way).collect();
            Column { name: name(back, axis), values }
        });
        step.columns.extend(columns);
    }
    Ok(())
}

// The straight way from a place to an earlier one, as far as a part of it, cut where it crosses a border of a periodic box.
fn pieces(cell: Option<Cell>, newer: Vec3, older: Vec3, part: f64) -> Vec<[Vec3; 2]> {
    let way = sub(older, newer);
    let short = cell.map_or(way, |cell| cell.less(way, f64::round));
    let at = |share: f64| add(newer, scale(short, share));
    let Some(cell) = cell.filter(|_| short != way) else { return vec![[newer, at(part)]] };
    let shares = |p: Vec3| cell.shares(sub(p, cell.origin)).unwrap_or_default();
    let (start, end) = (shares(newer), shares(at(part)));
    let mut cuts = vec![0.0, part];
    // The way is shorter than an edge, and crosses each border once at most.
    for axis in (0..3).filter(|&axis| cell.periodic[axis]) {
        let (from, to) = (start[axis].floor(), end[axis].floor());
        if from != to {
            cuts.push(part * (from.max(to) - start[axis]) / (end[axis] - start[axis]));
        }
    }
    cuts.sort_unstable_by(f64::total_cmp);
    let piece = |ends: &[f64]| {
        let middle = shares(at(f64::midpoint(ends[0], ends[1])));
        let home = (0..3).filter(|&axis| cell.periodic[axis]).fold([0.0; 3], |shift, axis| {
            add(shift, scale(cell.vectors[axis], start[axis].floor() - middle[axis].floor()))
        });
        [ends[0], ends[1]].map(|share| add(at(share), home))
    };
    cuts.windows(2).map(piece).collect()
}

/// The trails of a step that is such a share of the way to the next one, of those particles that have one.
pub fn rods(
    given: &Trails,
    (step, share): (&Step, f64),
    has_one: &[bool],
    origin: Vec3,
    colour: impl Fn(usize) -> u16 + Sync,
) -> Vec<Rod> {
    let column = |back, axis| step.column(&[&name(back, axis)]);
    let earlier: Vec<[&[f64]; 3]> =
        (0..).map_while(|back| Some([column(back, 0)?, column(back, 1)?, column(back, 2)?])).collect();
    let of = |i: usize| {
        let radius = given.radius.unwrap_or(step.radii[i] / 3.0);
        let here = step.positions[i];
        let mut newer = here;
        let mut rods = Vec::new();
        for (back, ways) in earlier.iter().enumerate() {
            let older = add(here, [0, 1, 2].map(|axis| ways[axis][i]));
            // It was not there yet.
            if !older.iter().all(|x| x.is_finite()) {
                break;
            }
            let part = if back == given.steps as usize { 1.0 - share } else { 1.0 };
            rods.extend(pieces(step.cell, newer, older, part).into_iter().map(|ends| Rod {
                ends: ends.map(|end| sub(end, origin)),
                radii: [radius; 2],
                is_round: true,
                colour: colour(i),
            }));
            newer = older;
        }
        rods.retain(|rod| rod.length() > 0.0);
        rods
    };
    (0..step.count()).into_par_iter().filter(|&i| has_one[i]).flat_map_iter(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::particles::views;

    fn trails(steps: u32) -> Trails {
        Trails { steps, ..Trails::default() }
    }
    fn step(ids: &[f64], x: &[f64]) -> Step {
        let vectors = [[4.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]];
        Step {
            positions: x.iter().map(|&x| [x, 0.5, 0.0]).collect(),
            radii: vec![0.75; x.len()],
            columns: vec![Column { name: ID.into(), values: ids.to_vec() }],
            cell: Some(Cell { origin: [0.0; 3], vectors, periodic: [true; 3] }),
            ..Step::default()
        }
    }
    fn places_of(ids: &[f64], x: &[f64]) -> StepPositions {
        StepPositions { ids: Some(ids.to_vec()), positions: step(ids, x).positions }
    }
    fn ends(rods: &[Rod]) -> Vec<[f64; 2]> {
        rods.iter().map(|rod| rod.ends.map(|end| end[0])).collect()
    }

    #[test]
    fn trails_follow_ids_and_are_cut_at_borders() {
        let earlier = [places_of(&[2.0, 1.0], &[1.5, 3.5]), places_of(&[3.0, 1.0], &[0.0, 2.5])];
        let mut now = step(&[1.0, 2.0], &[0.25, 2.0]);
        add_places(&mut now, earlier.iter()).unwrap();
        let of = |step: &Step, share: f64, steps: u32, has_one: &[bool]| {
            ends(&rods(&trails(steps), (step, share), has_one, [0.25, 0.0, 0.0], |_| 0))
        };
        // The first has crossed the border; the second was not there two steps before.
        let first = [[0.0, -0.25], [3.75, 3.25], [3.25, 2.25]];
        assert_eq!(of(&now, 0.0, 2, &[true, false]), first);
        assert_eq!(of(&now, 0.0, 2, &[false, true]), [[1.75, 1.25]]);
        // Between two steps the last piece is as much shorter.
        assert_eq!(of(&now, 0.75, 1, &[true, false]), [[0.0, -0.25], [3.75, 3.25], [3.25, 3.0]]);
        let rods = rods(&trails(2), (&now, 0.0), &[true; 2], [0.0; 3], |i| i as u16);
        assert_eq!((rods[0].radii, rods[3].colour, rods[0].is_round), ([0.25; 2], 1, true));
        // A particle at rest has none, and one without a box is not cut.
        let mut open = Step { cell: None, ..step(&[1.0], &[0.25]) };
        add_places(&mut open, [places_of(&[1.0], &[0.25]), places_of(&[1.0], &[3.5])].iter()).unwrap();
        assert_eq!(of(&open, 0.0, 2, &[true]), [[0.0, 3.25]]);
        // Selections keep the places, and copies have them along their own borders.
        let copies = views::repeated(views::kept(now, |i| i == 0), [2, 1, 1]).unwrap();
        let second = first.map(|ends| ends.map(|x| x + 4.0));
        assert_eq!(of(&copies, 0.0, 2, &[true; 2]), [first, second].concat());
    }

    #[test]
    fn a_way_is_cut_at_each_border_that_it_crosses() {
        let cell = step(&[], &[]).cell.unwrap();
        let found = pieces(Some(cell), [0.25, 0.25, 1.0], [3.75, 8.25, 1.0], 1.0);
        assert_eq!(found.len(), 3);
        assert_eq!([found[0][0], found[2][1]], [[0.25, 0.25, 1.0], [3.75, 8.25, 1.0]]);
        let long: f64 = found.iter().map(|&[a, b]| crate::math::vec3::length(sub(a, b))).sum();
        assert!((long - libm::hypot(0.5, 1.0)).abs() < 1e-12);
        let is_within = |p: &Vec3| (0.0..=4.0).contains(&p[0]) && (0.0..=9.0).contains(&p[1]);
        assert!(found.as_flattened().iter().all(is_within));
        // A wall is no border.
        let walled = Cell { periodic: [false; 3], ..cell };
        assert_eq!(
            pieces(Some(walled), [0.25, 0.0, 0.0], [3.75, 0.0, 0.0], 0.5),
            [[[0.25, 0.0, 0.0], [2.0, 0.0, 0.0]]]
        );
    }
}

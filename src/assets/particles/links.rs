//! What is drawn of particles beside themselves: bonds between them, and arrows.

use super::pairs::Neighbours;
use super::shape::Rod;
use super::step::Step;
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, length, scale, sub};
use crate::scene::{Arrows, Bonds};
use rayon::prelude::*;

// More bonds of a particle are a mistake, and would not fit into memory.
const MOST_BONDS: usize = 1000;
// The length and the width of an arrow's head over the width of its shaft, and the longest share that it has of an arrow.
const HEAD: [f64; 2] = [2.5, 2.2];
const HEAD_SHARE: f64 = 0.5;

// The pairs of particles that are so near to each other, or that touch.
fn near(step: &Step, images: Vec3, cutoff: Option<f64>) -> Result<Vec<[usize; 2]>, Message> {
    let largest = step.radii.iter().copied().fold(0.0, f64::max);
    // Particles that only just touch do so whatever their coordinates are rounded to.
    let touch = |i: usize, j: usize| (1.0 + 1e-6) * (step.radii[i] + step.radii[j]);
    let reach = cutoff.unwrap_or(2.1 * largest);
    // Copies fill as many boxes.
    let mut cell = step.cell_or_bounds();
    cell.vectors.iter_mut().zip(images).for_each(|(edge, count)| *edge = scale(*edge, count));
    let of_each = Neighbours::within(step, cell, reach, 1).of_each(|i, others| {
        let is_bonded = |&(j, distance): &(usize, f64)| j > i && distance <= cutoff.unwrap_or_else(|| touch(i, j));
        let mut all: Vec<usize> = others.filter(is_bonded).map(|(j, _)| j).take(MOST_BONDS + 1).collect();
        all.sort_unstable();
        all.dedup();
        all
    });
    match of_each.iter().any(|all| all.len() > MOST_BONDS) {
        true => Err(msg!("a particle has more than {most} bonds; give a smaller `cutoff`", most = MOST_BONDS)),
        false => Ok(of_each.iter().enumerate().flat_map(|(i, all)| all.iter().map(move |&j| [i, j])).collect()),
    }
}

/// The halves of bonds of a step with so many images, each towards the nearest image of the other particle; `widths` are values of particles that the radii are proportional to,
/// and `colour` is that of a particle's.
pub fn bonds(
    given: &Bonds,
    (step, images): (&Step, Vec3),
    widths: Option<&[f64]>,
    origin: Vec3,
    colour: impl Fn(usize) -> u16 + Sync,
) -> Result<Vec<Rod>, Message> {
    let is_of_file = given.cutoff.is_none() && !step.bonds.is_empty();
    let pairs = match is_of_file {
        true => step.bonds.iter().map(|pair| pair.map(|i| i as usize)).collect(),
        false => near(step, images, given.cutoff)?,
    };
    let of_bonds = step.bond_columns.iter().find(|column| is_of_file && column.name == given.width_by);
    let width = |(k, &[i, j]): (usize, &[usize; 2])| match (of_bonds, widths) {
        (Some(column), _) => column.values[k].abs(),
        (_, Some(widths)) => f64::midpoint(widths[i], widths[j]).abs(),
        _ => 1.0,
    };
    let widest = pairs.iter().enumerate().map(width).filter(|width| width.is_finite()).fold(0.0, f64::max);
    let half = |share: f64, from: usize, to: usize| {
        let way = sub(step.positions[to], step.positions[from]);
        let way = step.cell.map_or(way, |cell| cell.less(way, f64::round));
        let start = sub(step.positions[from], origin);
        let radius = share * given.radius.unwrap_or_else(|| step.radii[from].min(step.radii[to]) / 3.0);
        Rod { ends: [start, add(start, scale(way, 0.5))], radii: [radius; 2], is_round: false, colour: colour(from) }
    };
    let halves = |(k, pair): (usize, &[usize; 2])| {
        let (share, &[i, j]) = (width((k, pair)) / widest, pair);
        [half(share, i, j), half(share, j, i)]
    };
    // Those of no width, or of one that is no number, are left out.
    let is_shown = |rod: &Rod| rod.length() > 0.0 && rod.radii[0] > 0.0 && rod.radii[0].is_finite();
    Ok(pairs.par_iter().enumerate().flat_map_iter(halves).filter(is_shown).collect())
}

/// The shafts and heads of arrows along vectors, which are given by their parts.
pub fn arrows(
    given: &Arrows,
    step: &Step,
    vectors: &[Vec<f64>],
    origin: Vec3,
    colour: impl Fn(usize) -> u16 + Sync,
) -> Vec<Rod> {
    let arrow = |i: usize| {
        let way = scale([0, 1, 2].map(|axis| vectors[axis][i]), given.scale);
        let whole = length(way);
        let wished = given.radius.unwrap_or(step.radii[i] / 3.0);
        let head = f64::min(2.0 * HEAD[0] * wished, HEAD_SHARE * whole);
        let radius = head / (2.0 * HEAD[0]);
        let start = sub(step.positions[i], origin);
        let [neck, tip] = [1.0 - head / whole, 1.0].map(|share| add(start, scale(way, share)));
        let rod = |ends, radii| Rod { ends, radii, is_round: false, colour: colour(i) };
        let is_shown = whole.is_finite() && radius > 1e-6 * wished;
        is_shown.then(|| [rod([start, neck], [radius; 2]), rod([neck, tip], [HEAD[1] * radius, 0.0])])
    };
    (0..step.count()).into_par_iter().filter_map(arrow).flat_map_iter(|rods| rods).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::particles::{Cell, Column, views};

    fn step() -> Step {
        let vectors = [[4.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]];
        Step {
            positions: vec![[0.25, 0.5, 0.0], [1.25, 0.5, 0.0], [3.75, 0.5, 0.0]],
            radii: vec![0.5, 0.5, 0.25],
            cell: Some(Cell { origin: [0.0; 3], vectors, periodic: [true; 3] }),
            ..Step::default()
        }
    }
    fn ends(rods: &[Rod]) -> Vec<[f64; 2]> {
        rods.iter().map(|rod| rod.ends.map(|end| end[0])).collect()
    }

    #[test]
    fn bonds_are_those_of_touching_particles_of_a_cutoff_or_of_the_file() {
        let of = |given: &Bonds, step: &Step| {
            ends(&bonds(given, (step, [1.0; 3]), None, [0.25, 0.0, 0.0], |i| i as u16).unwrap())
        };
        // The last one touches the first across the border: each half ends where the other particle's image begins.
        let touching = Bonds::default();
        assert_eq!(of(&touching, &step()), [[0.0, 0.5], [1.0, 0.5], [0.0, -0.25], [3.5, 3.75]]);
        let near = Bonds { cutoff: Some(0.75), ..Bonds::default() };
        assert_eq!(of(&near, &step()), [[0.0, -0.25], [3.5, 3.75]]);
        let of_file = Step { bonds: vec![[2, 1]], ..step() };
        assert_eq!(of(&touching, &of_file), [[3.5, 4.25], [1.0, 0.25]]);
        assert_eq!(of(&near, &of_file).len(), 2);
        let open = Step { cell: None, ..of_file.clone() };
        assert_eq!(of(&touching, &open), [[3.5, 2.25], [1.0, 2.25]]);
        let rods = bonds(&touching, (&open, [1.0; 3]), None, [0.0; 3], |i| i as u16).unwrap();
        assert_eq!((rods[0].radii, rods[0].colour, rods[1].colour), ([0.25 / 3.0; 2], 2, 1));
        // Wide as a value of particles, or of the bonds.
        let radii = |step: &Step, widths: Option<&[f64]>| {
            let given = Bonds { radius: Some(0.5), width_by: "force".into(), ..Bonds::default() };
            bonds(&given, (step, [1.0; 3]), widths, [0.0; 3], |_| 0)
                .unwrap()
                .iter()
                .map(|rod| rod.radii[0])
                .collect::<Vec<_>>()
        };
        assert_eq!(radii(&step(), Some(&[2.0, 6.0, -2.0])), [0.5, 0.5]);
        assert_eq!(radii(&step(), Some(&[2.0, 6.0, 0.0])), [0.5, 0.5, 0.125, 0.125]);
        let force = Column { name: "force".into(), values: vec![-3.0, 1.5, f64::NAN] };
        let valued = Step { bonds: vec![[0, 1], [1, 2], [2, 0]], bond_columns: vec![force], ..step() };
        assert_eq!(radii(&valued, None), [0.5, 0.5, 0.25, 0.25]);
        // A cutoff longer than the box, with and without copies of it.
        let all = Bonds { cutoff: Some(1e9), ..Bonds::default() };
        assert_eq!(of(&all, &step()), of(&all, &Step { bonds: Vec::new(), ..of_file }));
        assert_eq!((of(&all, &step()).len(), of(&all, &Step { cell: None, ..step() }).len()), (6, 6));
        // Of copies, too: each touches its own neighbors.
        let copies = views::repeated(Step { bonds: Vec::new(), ..step() }, [2, 1, 1]).unwrap();
        let rods = bonds(&touching, (&copies, [2.0, 1.0, 1.0]), None, [0.0; 3], |_| 0).unwrap();
        let short = rods.iter().all(|rod| rod.length() <= 0.5);
        assert_eq!((rods.len(), short), (8, true));
        let crowd = Step { positions: vec![[0.0; 3]; 1100], radii: vec![1.0; 1100], ..Step::default() };
        assert!(
            bonds(&touching, (&crowd, [1.0; 3]), None, [0.0; 3], |_| 0)
                .unwrap_err()
                .to_string()
                .contains("more than 1000 bonds")
        );
    }

    #[test]
    fn arrows_end_where_their_vectors_do() {
        let vectors = vec![vec![2.0, 0.125, f64::NAN], vec![0.0; 3], vec![0.0, 0.0, 1.0]];
        let given = Arrows { scale: 2.0, radius: Some(0.1), ..Arrows::default() };
        let rods = arrows(&given, &step(), &vectors, [0.0; 3], |_| 0);
        assert_eq!(ends(&rods), [[0.25, 3.75], [3.75, 4.25], [1.25, 1.375], [1.375, 1.5]]);
        // Short ones are thinner.
        assert_eq!([rods[0].radii, rods[1].radii], [[0.1; 2], [HEAD[1] * 0.1, 0.0]]);
        assert_eq!(rods[2].radii, [0.025; 2]);
    }
}

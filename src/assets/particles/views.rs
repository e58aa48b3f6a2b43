//! What a scene shows of the particles of a file: some of them, copies of them, and their places between two time steps.

use super::placing;
use super::step::{Cell, Step};
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, cross, dot, length, scale, sub};
use crate::scene::limits::MAX_PARTICLES;
use rayon::prelude::*;
use std::collections::HashMap;

/// The column by which the particles of two steps are known.
pub const ID: &str = "id";

// The step with all of its arrays changed alike.
fn with_arrays(step: Step, places: impl Fn(Vec<Vec3>) -> Vec<Vec3>, values: impl Fn(Vec<f64>) -> Vec<f64>) -> Step {
    let mut step = step;
    (step.positions, step.radii) = (places(step.positions), values(step.radii));
    step.columns.iter_mut().for_each(|column| column.values = values(std::mem::take(&mut column.values)));
    step
}

/// The particles whose numbers fulfil a condition.
pub fn kept(step: Step, is_kept: impl Fn(usize) -> bool) -> Step {
    fn some<T>(all: Vec<T>, is_kept: impl Fn(usize) -> bool) -> Vec<T> {
        all.into_iter().enumerate().filter(|(i, _)| is_kept(*i)).map(|(_, one)| one).collect()
    }
    let mut step = step;
    if !step.bonds.is_empty() {
        let mut next = 0;
        let place = |i: usize| {
            next += u32::from(is_kept(i));
            is_kept(i).then(|| next - 1)
        };
        let places: Vec<Option<u32>> = (0..step.count()).map(place).collect();
        let pair = |&[a, b]: &[u32; 2]| Some([places[a as usize]?, places[b as usize]?]);
        let pairs: Vec<Option<[u32; 2]>> = step.bonds.iter().map(pair).collect();
        step.bond_columns.iter_mut().for_each(|column| {
            let values = pairs.iter().zip(&column.values).filter(|(pair, _)| pair.is_some());
            column.values = values.map(|(_, value)| *value).collect();
        });
        step.bonds = pairs.into_iter().flatten().collect();
    }
    with_arrays(step, |places| some(places, &is_kept), |values| some(values, &is_kept))
}

/// The particles and copies of them, shifted by the edges of their box: so many along each edge.
pub fn repeated(step: Step, images: [usize; 3]) -> Result<Step, Message> {
    let Some(cell) = step.cell else { return Err(msg!("it has no box, along whose edges `images` repeats particles")) };
    let all = images.iter().try_fold(step.count(), |all, &count| all.checked_mul(count));
    if all.is_none_or(|all| all > MAX_PARTICLES as usize) {
        return Err(msg!("with `images` it has more particles than fit: at most {max}", max = MAX_PARTICLES));
    }
    let [along_x, along_y, along_z] = images;
    let shifts = (0..along_z).flat_map(|k| (0..along_y).flat_map(move |j| (0..along_x).map(move |i| [i, j, k])));
    let shifts: Vec<Vec3> = shifts
        .map(|counts| (0..3).fold([0.0; 3], |shift, axis| add(shift, scale(cell.vectors[axis], counts[axis] as f64))))
        .collect();
    let places =
        |places: Vec<Vec3>| shifts.iter().flat_map(|&shift| places.iter().map(move |&p| add(p, shift))).collect();
    let (count, mut step) = (step.count() as u32, step);
    let copies = (0..shifts.len() as u32).flat_map(|k| step.bonds.iter().map(move |pair| pair.map(|i| i + k * count)));
    step.bonds = copies.collect();
    step.bond_columns.iter_mut().for_each(|column| column.values = column.values.repeat(shifts.len()));
    Ok(with_arrays(step, places, |values| values.repeat(shifts.len())))
}

impl Cell {
    /// The distances of opposite faces.
    pub fn heights(&self) -> [f64; 3] {
        let [a, b, c] = self.vectors;
        let volume = dot(a, cross(b, c)).abs();
        [cross(b, c), cross(c, a), cross(a, b)].map(|face| volume / length(face))
    }
    /// The shares of the edges in a vector; none of a box without volume.
    pub fn shares(&self, v: Vec3) -> Option<Vec3> {
        let [a, b, c] = self.vectors;
        let volume = dot(a, cross(b, c));
        (volume != 0.0).then(|| [cross(b, c), cross(c, a), cross(a, b)].map(|normal| dot(v, normal) / volume))
    }
    /// A vector less whole edges along which the box repeats, as many as `count` says of each share.
    pub fn less(&self, v: Vec3, count: impl Fn(f64) -> f64) -> Vec3 {
        let Some(shares) = self.shares(v) else { return v };
        let edges = (0..3).filter(|&axis| self.periodic[axis]);
        edges.fold(v, |v, axis| sub(v, scale(self.vectors[axis], count(shares[axis]))))
    }
    fn holds(&self, p: Vec3) -> bool {
        self.shares(sub(p, self.origin)).is_some_and(|shares| shares.iter().all(|share| (0.0..1.0).contains(share)))
    }
}

/// The numbers that the particles of one step have in another one, by the ids and the counts of both; None for those that it does not have.
pub fn partners(ids: [Option<&[f64]>; 2], [count, other]: [usize; 2]) -> Result<Vec<Option<usize>>, Message> {
    match ids {
        [Some(ids), Some(others)] if ids != others => {
            let place: HashMap<u64, usize> = others.iter().enumerate().map(|(i, id)| (id.to_bits(), i)).collect();
            Ok(ids.iter().map(|id| place.get(&id.to_bits()).copied()).collect())
        }
        _ if count == other => Ok((0..count).map(Some).collect()),
        _ => Err(msg!(
            "it has no column `id`, by which the particles of two time steps are known: one step has {count}, the next {other}",
            count,
            other
        )),
    }
}

/// The step on the way to the next one. Particles go the shortest way, across the borders of a periodic box; those that the next step does not
/// have stay where they are.
pub fn between(step: Step, next: &Step, share: f64) -> Result<Step, Message> {
    let partners = partners([step.column(&[ID]), next.column(&[ID])], [step.count(), next.count()])?;
    let mut step = step;
    let cell = step.cell;
    let place = |p: Vec3, q: Vec3| {
        let way = cell.map_or(sub(q, p), |cell| cell.less(sub(q, p), f64::round));
        let there = add(p, scale(way, share));
        match cell {
            // Coordinates that are not wrapped stay so.
            Some(cell) if cell.holds(p) => add(cell.less(sub(there, cell.origin), f64::floor), cell.origin),
            _ => there,
        }
    };
    let mix = |values: &mut [f64], others: &[f64], signs: &[f64]| {
        values.par_iter_mut().zip(&partners).enumerate().for_each(|(i, (x, partner))| {
            if let Some(&other) = partner.and_then(|i| others.get(i)) {
                *x += share * (signs.get(i).unwrap_or(&1.0) * other - *x);
            }
        });
    };
    // A rotation has two quaternions. The nearer one of the next step counts.
    let rotations = placing::rotations(&step).zip(placing::rotations(next));
    let parts: Vec<&str> = rotations.map_or_else(Vec::new, |(here, _)| here.map(|(name, _)| name).to_vec());
    let sign = |(i, partner): (usize, &Option<usize>)| {
        let near = rotations.zip(*partner).map_or(1.0, |((here, there), other)| {
            here.iter().zip(&there).map(|((_, a), (_, b))| a[i] * b[other]).sum()
        });
        if near < 0.0 { -1.0 } else { 1.0 }
    };
    let signs: Vec<f64> = partners.iter().enumerate().map(sign).collect();
    step.positions.par_iter_mut().zip(&partners).for_each(|(p, partner)| {
        if let Some(&q) = partner.and_then(|i| next.positions.get(i)) {
            *p = place(*p, q);
        }
    });
    mix(&mut step.radii, &next.radii, &[]);
    for column in step.columns.iter_mut().filter(|column| !column.name.eq_ignore_ascii_case(ID)) {
        if let Some(others) = next.column(&[&column.name]) {
            let is_part = parts.iter().any(|part| part.eq_ignore_ascii_case(&column.name));
            mix(&mut column.values, others, if is_part { &signs } else { &[] });
        }
    }
    step.time = step.time.zip(next.time).map(|(a, b)| a + share * (b - a)).or(step.time);
    Ok(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::particles::step::Column;

    fn step(ids: &[f64], x: &[f64], p: &[f64]) -> Step {
        let column = |name: &str, values: &[f64]| Column { name: name.into(), values: values.to_vec() };
        let vectors = [[4.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]];
        Step {
            positions: x.iter().map(|&x| [x, 0.5, 0.0]).collect(),
            radii: vec![0.5; x.len()],
            columns: vec![column("id", ids), column("p", p)],
            cell: Some(Cell { origin: [0.0; 3], vectors, periodic: [true, false, true] }),
            time: Some(ids.len() as f64),
            ..Step::default()
        }
    }

    #[test]
    fn particles_go_the_shortest_way_and_are_known_by_their_ids() {
        let first = step(&[7.0, 3.0, 9.0], &[3.5, 1.0, 2.0], &[0.0, 10.0, 5.0]);
        let next = step(&[3.0, 7.0], &[1.5, 0.5], &[20.0, 8.0]);
        let x = |share: f64| {
            let step = between(first.clone(), &next, share).unwrap();
            (step.positions.iter().map(|p| p[0]).collect::<Vec<_>>(), step.columns[1].values.clone(), step.time)
        };
        // The first goes across the border, the last is gone in the next step.
        assert_eq!(x(0.25), (vec![3.75, 1.125, 2.0], vec![2.0, 12.5, 5.0], Some(2.75)));
        assert_eq!(x(0.75).0, [0.25, 1.375, 2.0]);
        assert_eq!(between(first.clone(), &next, 0.5).unwrap().columns[0], first.columns[0]);
        // Both quaternions of a rotation are the same to it.
        let turned = |w: f64| {
            let parts = ["qw", "qx", "qy", "qz"].map(|name| (name, if name == "qw" { w } else { 0.0 }));
            let columns = parts.map(|(name, x)| Column { name: name.into(), values: vec![x] }).to_vec();
            Step { columns, ..step(&[1.0], &[1.0], &[0.0]) }
        };
        assert_eq!(between(turned(1.0), &turned(-1.0), 0.5).unwrap().columns[0].values, [1.0]);
        // Coordinates outside of the box are not wrapped.
        let away = between(step(&[1.0], &[9.5], &[0.0]), &step(&[1.0], &[10.5], &[0.0]), 0.75).unwrap();
        assert_eq!(away.positions, [[10.25, 0.5, 0.0]]);
        let unnamed = |step: &Step| Step { columns: Vec::new(), ..step.clone() };
        assert_eq!(between(unnamed(&next), &unnamed(&next), 0.5).unwrap(), unnamed(&next));
        let fault = between(unnamed(&first), &unnamed(&next), 0.5).unwrap_err().to_string();
        assert!(fault.contains("no column `id`") && fault.contains("one step has 3, the next 2"), "{fault}");
    }

    #[test]
    fn some_are_kept_and_copies_keep_their_values() {
        let all = Step { bonds: vec![[0, 1], [2, 0]], ..step(&[1.0, 2.0, 3.0], &[0.5, 1.5, 2.5], &[7.0, 8.0, 9.0]) };
        let some = kept(all.clone(), |i| i != 1);
        assert_eq!((some.count(), &some.columns[1].values[..]), (2, &[7.0, 9.0][..]));
        assert_eq!(some.bonds, [[1, 0]]);
        let copies = repeated(some, [2, 1, 2]).unwrap();
        assert_eq!(copies.bonds, [[1, 0], [3, 2], [5, 4], [7, 6]]);
        assert_eq!((copies.count(), copies.radii.len()), (8, 8));
        assert_eq!(copies.columns[0].values, [1.0, 3.0].repeat(4));
        assert_eq!(
            [copies.positions[1], copies.positions[3], copies.positions[7]],
            [[2.5, 0.5, 0.0], [6.5, 0.5, 0.0], [6.5, 0.5, 2.0]]
        );
        assert!(repeated(Step { cell: None, ..all.clone() }, [2, 1, 1]).unwrap_err().to_string().contains("no box"));
        assert!(repeated(all, [100_000; 3]).unwrap_err().to_string().contains("more particles than fit"));
    }
}

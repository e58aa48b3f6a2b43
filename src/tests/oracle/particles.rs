//! Particles: balls, cylinders, capsules and cones, which planes may cut open.

use super::{EPSILON, Found, Oracle, Owner};
use crate::assets::particles::shape::Rod;
use crate::math::vec3::*;

// A quadric that a line crosses where a t^2 + 2 b t + c = 0.
fn roots(a: f64, b: f64, c: f64) -> Vec<f64> {
    let square = b * b - a * c;
    if a.abs() < 1e-14 || square < 0.0 {
        Vec::new()
    } else {
        [-1.0, 1.0].map(|s| (-b + s * square.sqrt()) / a).to_vec()
    }
}

// The place of a point along the axis from 0 to 1, what leads there from the axis, and the radius there.
fn place(rod: &Rod, p: Vec3) -> (f64, Vec3, f64) {
    let (from, way) = (sub(p, rod.ends[0]), sub(rod.ends[1], rod.ends[0]));
    let share = dot(from, way) / dot(way, way);
    (share, sub(from, scale(way, share)), rod.radii[0] + share * (rod.radii[1] - rod.radii[0]))
}
fn is_within(rod: &Rod, p: Vec3) -> bool {
    let (share, off, radius) = place(rod, p);
    (0.0..=1.0).contains(&share) && length(off) < radius
        || rod.is_round && rod.ends.iter().any(|&end| length(sub(p, end)) < rod.radii[0])
}

// All crossings with the surface: of the sides, of the discs at the ends, or of the parts of spheres beyond them.
fn crossings(rod: &Rod, o: Vec3, d: Vec3) -> Vec<(f64, Vec3)> {
    let way = sub(rod.ends[1], rod.ends[0]);
    let axis = normalise(way);
    let at = |t: f64| add(o, scale(d, t));
    // The square of the distance from the axis less that of the radius is a polynomial: by its values at three points.
    let form = |t: f64| {
        let (_, off, radius) = place(rod, at(t));
        dot(off, off) - radius * radius
    };
    let (past, now, next) = (form(-1.0), form(0.0), form(1.0));
    let mut all: Vec<(f64, Vec3)> = Vec::new();
    for t in roots(0.5 * (past + next) - now, 0.25 * (next - past), now) {
        let (share, off, radius) = place(rod, at(t));
        if (0.0..=1.0).contains(&share) && radius >= 0.0 {
            let lean = (rod.radii[1] - rod.radii[0]) / length(way);
            all.push((t, normalise(sub(normalise(off), scale(axis, lean)))));
        }
    }
    for (i, (&end, outward)) in rod.ends.iter().zip([scale(axis, -1.0), axis]).enumerate() {
        let from = sub(o, end);
        if rod.is_round {
            for t in roots(dot(d, d), dot(from, d), dot(from, from) - rod.radii[0] * rod.radii[0]) {
                let out = sub(at(t), end);
                if dot(out, outward) > 0.0 {
                    all.push((t, normalise(out)));
                }
            }
        } else {
            let t = -dot(from, outward) / dot(d, outward);
            if length(sub(at(t), end)) < rod.radii[i] {
                all.push((t, outward));
            }
        }
    }
    all
}

impl Oracle<'_> {
    pub(super) fn particle_hits(&self, o: Vec3, d: Vec3) -> impl Iterator<Item = Found> {
        let at = move |t: f64| add(o, scale(d, t));
        let cuts: Vec<(Vec3, f64)> = self
            .scene
            .world
            .particles
            .iter()
            .flat_map(|p| &p.cuts)
            .map(|cut| {
                let n = normalise(cut.normal);
                (n, dot(n, cut.point))
            })
            .collect();
        let is_kept = |p: Vec3, but: usize| cuts.iter().enumerate().all(|(i, (n, far))| i == but || dot(*n, p) <= *far);
        let mut all = Vec::new();
        let mut shape = |owner: Owner, surface: Vec<(f64, Vec3)>, is_within: &dyn Fn(Vec3) -> bool| {
            let kept = surface.into_iter().filter(|(t, _)| is_kept(at(*t), usize::MAX));
            let caps = cuts.iter().enumerate().map(|(i, (n, far))| (i, (far - dot(*n, o)) / dot(*n, d), *n));
            let caps = caps.filter(|&(i, t, _)| t.is_finite() && is_within(at(t)) && is_kept(at(t), i));
            let found = kept.chain(caps.map(|(_, t, n)| (t, n))).filter(|(t, _)| *t > EPSILON);
            all.extend(found.map(|(t, normal)| Found { t, normal, owner }));
        };
        for (i, &(centre, radius, _)) in self.balls.iter().enumerate().skip(self.first_particle) {
            let from = sub(o, centre);
            let surface = roots(dot(d, d), dot(from, d), dot(from, from) - radius * radius);
            let surface = surface.into_iter().map(|t| (t, normalise(sub(at(t), centre)))).collect();
            shape(Owner::Ball(i), surface, &|p| length(sub(p, centre)) < radius);
        }
        for (i, (rod, _)) in self.rods.iter().enumerate() {
            shape(Owner::Rod(i), crossings(rod, o, d), &|p| is_within(rod, p));
        }
        all.into_iter()
    }
}

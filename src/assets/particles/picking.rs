//! Which particle a line meets: those that a frame shows, with all columns of their file.

use super::placing::Forms;
use super::shape::{Shape, rotated, unit};
use super::step::{Column, ROW, Step};
use super::values::Request;
use super::{StepMoment, read_frame};
use crate::assets::error::AssetError;
use crate::assets::files::Files;
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::{Cut, Particles};
use rayon::prelude::*;

// A name beyond this is not in a path: the particles are named by their rows then.
const MAX_ID: f64 = (1_u64 << 40) as f64;
// Of more particles only the columns that the scene asks for are read.
const MAX_PARTICLES: usize = 8_000_000;
// Particles that a thread takes at once.
const CHUNK: usize = 16384;
// Sides of a cylinder's end.
const SIDES: u32 = 32;

/// A line, with a direction of any length.
#[derive(Clone, Copy)]
pub struct Line {
    pub from: Vec3,
    pub way: Vec3,
}

/// A part of a line, in lengths of its direction.
type Interval = [f64; 2];

/// What an outline goes around.
#[derive(Clone, Debug, PartialEq)]
pub enum OutlinePart {
    /// An ellipsoid: its center and its half axes.
    Ball(Vec3, [Vec3; 3]),
    /// The faces of a convex body, counterclockwise seen from outside.
    Body(Vec<Vec<Vec3>>),
    /// A disc.
    Disc(Vec<Vec3>),
}

/// What is known of a particle.
#[derive(Debug, PartialEq)]
pub struct ParticleFacts<'a> {
    /// Its number in the file, from 0.
    pub row: u64,
    /// The number of its time step, from 0.
    pub step: u64,
    /// What the file says of its time step.
    pub moment: StepMoment,
    pub position: Vec3,
    pub radius: f64,
    pub columns: Vec<(&'a str, f64)>,
}

/// The particles of a frame.
#[derive(Debug)]
pub struct ShownParticles {
    particles: Particles,
    step: Step,
    // The number of the time step, and how far the frame is on the way to the next.
    number: u64,
    share: f64,
    // Whether all frames show these.
    is_still: bool,
    // Copies of each.
    copies: usize,
    // Whether the column `id` names particles; their rows do otherwise.
    has_ids: bool,
    // The shape and the size of each, unless all are spheres.
    shapes: Vec<Shape>,
    forms: Vec<Option<(u32, Vec3)>>,
    rotations: Option<Vec<Vec<f64>>>,
}

impl ShownParticles {
    /// Reads the particles of a frame; `count` is about how many there are.
    pub fn load(particles: &Particles, frame: u32, count: usize, files: &Files) -> Result<ShownParticles, AssetError> {
        let request = Request::of(particles);
        let request = if count > MAX_PARTICLES { request.with_rows() } else { request.with_rows().with_all_columns() };
        let (step, steps) = read_frame(particles, &request, frame, files, false)?;
        let path = particles.file(frame);
        let failed = |what| AssetError::new(&path, what);
        let forms = Forms::of(particles, &step, None).map_err(failed)?;
        let rotations = forms.as_ref().map(|_| request.rotations(&step, &path)).transpose()?.flatten();
        let all = |forms: &Forms| (0..step.count()).into_par_iter().map(|i| forms.form(i)).collect();
        let (forms, shapes) = forms.map_or_else(Default::default, |forms| (all(&forms), forms.shapes));
        let is_still = particles.step == 0 || !particles.is_series() && steps == 1;
        Ok(ShownParticles {
            number: if is_still && steps == 1 { 0 } else { particles.number(frame) },
            share: if is_still { 0.0 } else { particles.share(frame) },
            is_still,
            copies: particles.images.into_iter().map(|x| x as usize).product(),
            has_ids: has_ids(&step),
            particles: particles.clone(),
            step,
            shapes,
            forms,
            rotations,
        })
    }

    /// Whether this frame shows these particles.
    pub fn are_of(&self, particles: &Particles, frame: u32) -> bool {
        // Neither the colors nor the planes that cut particles open move any.
        let places = |p: &Particles| Particles { cuts: Vec::new(), material: Default::default(), ..p.clone() };
        let is_now = self.is_still || (particles.number(frame), particles.share(frame)) == (self.number, self.share);
        is_now && places(particles) == places(&self.particles)
    }

    fn name(&self, index: usize) -> usize {
        let count = self.step.count() / self.copies;
        let (copy, first) = (index / count, index % count);
        self.named().map_or(first, |names| names[first] as usize) * self.copies + copy
    }
    fn named(&self) -> Option<&[f64]> {
        self.step.column(&[if self.has_ids { "id" } else { ROW }])
    }
    /// The index of a particle with this name.
    fn index(&self, name: usize) -> Option<usize> {
        let count = self.step.count() / self.copies;
        let (first, copy) = ((name / self.copies) as f64, name % self.copies);
        Some(self.named()?[..count].iter().position(|&one| one == first)? + copy * count)
    }

    /// The nearest particle that a line meets in its direction: its name, which it has in other time steps too, and where it is met.
    pub fn hit(&self, line: Line, cuts: &[Cut]) -> Option<(usize, f64)> {
        let kept = between_cuts(line, cuts);
        let met = |(i, (centre, radius)): (usize, (&Vec3, &f64))| {
            let ball = in_ball(line, *centre, *radius)?;
            let all = if self.form(i).is_some() { self.intervals(i, line) } else { vec![ball] };
            Some((i, all.into_iter().filter_map(|one| first_of(one, kept)).min_by(f64::total_cmp)?))
        };
        let all = self.step.positions.par_iter().zip(&self.step.radii).enumerate().with_min_len(CHUNK);
        let (index, t) = all.filter_map(met).min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((self.name(index), t))
    }

    fn form(&self, i: usize) -> Option<(&Shape, Vec3)> {
        self.forms.get(i).copied().flatten().map(|(shape, size)| (&self.shapes[shape as usize], size))
    }
    fn rotation(&self, i: usize) -> [f64; 4] {
        match self.rotations.as_deref() {
            Some([w, x, y, z]) => unit([w[i], x[i], y[i], z[i]]),
            _ => [1.0, 0.0, 0.0, 0.0],
        }
    }

    // Where a line is within a particle that is no sphere.
    fn intervals(&self, i: usize, line: Line) -> Vec<Interval> {
        let Some((shape, size)) = self.form(i) else { return Vec::new() };
        let [w, x, y, z] = self.rotation(i);
        // In the shape's own coordinates.
        let own = |v: Vec3| rotated([w, -x, -y, -z], v);
        let from = own(sub(line.from, self.step.positions[i]));
        let to_size = |v: Vec3| [0, 1, 2].map(|axis| v[axis] / size[axis]);
        let line = Line { from: to_size(from), way: to_size(own(line.way)) };
        match shape {
            Shape::Ellipsoid(axes) => {
                let within = |v: Vec3| [0, 1, 2].map(|axis| v[axis] / axes[axis]);
                let line = Line { from: within(line.from), way: within(line.way) };
                in_ball(line, [0.0; 3], 1.0).into_iter().collect()
            }
            Shape::Polyhedron(body) => {
                let faces = body.faces.iter().map(|face| (face.normal, face.distance + body.rounding));
                behind(line, faces).into_iter().collect()
            }
            Shape::Union(balls) => {
                balls.iter().filter_map(|(centre, radius)| in_ball(line, *centre, *radius)).collect()
            }
            Shape::Rod { ends, radius, is_round } => in_rod(line, *ends, *radius, *is_round).into_iter().collect(),
        }
    }

    /// The middle of a particle with this name.
    pub fn centre(&self, name: usize) -> Option<Vec3> {
        self.index(name).map(|i| self.step.positions[i])
    }

    /// What the outline of a particle with this name goes around.
    pub fn parts(&self, name: usize) -> Vec<OutlinePart> {
        let Some(i) = self.index(name) else { return Vec::new() };
        let (centre, rotation) = (self.step.positions[i], self.rotation(i));
        let axes = |radii: Vec3| {
            [0, 1, 2].map(|k| rotated(rotation, [0, 1, 2].map(|axis| if axis == k { radii[k] } else { 0.0 })))
        };
        let Some((shape, size)) = self.form(i) else {
            return vec![OutlinePart::Ball(centre, axes([self.step.radii[i]; 3]))];
        };
        let place = |v: Vec3| add(centre, rotated(rotation, [0, 1, 2].map(|axis| v[axis] * size[axis])));
        let ball = |at: Vec3, radius: f64| OutlinePart::Ball(place(at), axes([radius * size[0]; 3]));
        match shape {
            Shape::Ellipsoid(radii) => {
                vec![OutlinePart::Ball(centre, axes([0, 1, 2].map(|axis| radii[axis] * size[axis])))]
            }
            Shape::Polyhedron(body) => {
                let ring = |corners: &Vec<usize>| corners.iter().map(|&corner| place(body.vertices[corner])).collect();
                vec![OutlinePart::Body(body.faces.iter().map(|face| ring(&face.corners)).collect())]
            }
            Shape::Union(balls) => balls.iter().map(|&(at, radius)| ball(at, radius)).collect(),
            Shape::Rod { ends, radius, is_round: true } => ends.iter().map(|&end| ball(end, *radius)).collect(),
            Shape::Rod { ends, radius, .. } => {
                let ring = |end: &Vec3| disc(*end, sub(ends[1], ends[0]), *radius).into_iter().map(place).collect();
                ends.iter().map(|end| OutlinePart::Disc(ring(end))).collect()
            }
        }
    }

    /// What is known of a particle with this name.
    pub fn facts(&self, name: usize) -> Option<ParticleFacts<'_>> {
        let (i, step) = (self.index(name)?, &self.step);
        let columns = step.columns.iter().filter(|column| column.name != ROW);
        Some(ParticleFacts {
            row: step.column(&[ROW])?[i] as u64,
            step: self.number,
            moment: StepMoment { time: step.time, number: step.number },
            position: step.positions[i],
            radius: step.radii[i],
            columns: columns.map(|Column { name, values }| (name.as_str(), values[i])).collect(),
        })
    }
}

// Whether each particle has another whole number as its `id`.
fn has_ids(step: &Step) -> bool {
    let Some((ids, rows)) = step.column(&["id"]).zip(step.column(&[ROW])) else { return false };
    // Copies have the same row.
    let count = 1 + rows.iter().skip(1).take_while(|&&row| row > rows[0]).count();
    let mut all: Vec<u64> = ids[..count].iter().map(|id| id.to_bits()).collect();
    all.par_sort_unstable();
    let is_name = |id: &f64| (0.0..MAX_ID).contains(id) && id.fract() == 0.0;
    ids.iter().all(is_name) && all.windows(2).all(|two| two[0] != two[1])
}

// The first point of an interval within what is kept, in the line's direction. From within it, that where it ends.
fn first_of([enter, leave]: Interval, kept: Interval) -> Option<f64> {
    let (enter, leave) = (enter.max(kept[0]), leave.min(kept[1]));
    (enter <= leave && leave > 0.0).then_some(if enter > 0.0 { enter } else { leave })
}

// The part of a line behind planes.
fn behind(line: Line, planes: impl Iterator<Item = (Vec3, f64)>) -> Option<Interval> {
    let all = planes.fold([f64::NEG_INFINITY, f64::INFINITY], |[enter, leave], (normal, distance)| {
        let (along, before) = (dot(line.way, normal), distance - dot(line.from, normal));
        match along {
            _ if along > 0.0 => [enter, leave.min(before / along)],
            _ if along < 0.0 => [enter.max(before / along), leave],
            _ if before < 0.0 => [f64::INFINITY, f64::NEG_INFINITY],
            _ => [enter, leave],
        }
    });
    (all[0] <= all[1]).then_some(all)
}

fn between_cuts(line: Line, cuts: &[Cut]) -> Interval {
    let planes = cuts.iter().map(|cut| (normalise(cut.normal), dot(normalise(cut.normal), cut.point)));
    behind(line, planes).unwrap_or([f64::INFINITY, f64::NEG_INFINITY])
}

fn in_ball(line: Line, centre: Vec3, radius: f64) -> Option<Interval> {
    let (to, a) = (sub(centre, line.from), dot(line.way, line.way));
    let along = dot(to, line.way) / a;
    let aside = sub(to, scale(line.way, along));
    let inside = radius * radius - dot(aside, aside);
    (inside >= 0.0).then(|| {
        let half = (inside / a).sqrt();
        [along - half, along + half]
    })
}

fn in_rod(line: Line, ends: [Vec3; 2], radius: f64, is_round: bool) -> Option<Interval> {
    let axis = normalise(sub(ends[1], ends[0]));
    let across = |v: Vec3| sub(v, scale(axis, dot(v, axis)));
    let ends_at = ends.map(|end| dot(end, axis));
    let between = behind(line, [(scale(axis, -1.0), -ends_at[0]), (axis, ends_at[1])].into_iter());
    let beside = Line { from: across(sub(line.from, ends[0])), way: across(line.way) };
    let around = match dot(beside.way, beside.way) > 0.0 {
        true => in_ball(beside, [0.0; 3], radius),
        false => (length(beside.from) <= radius).then_some([f64::NEG_INFINITY, f64::INFINITY]),
    };
    let shaft = between.zip(around).map(|(a, b)| [a[0].max(b[0]), a[1].min(b[1])]).filter(|[a, b]| a <= b);
    let balls = ends.into_iter().filter(|_| is_round).filter_map(|end| in_ball(line, end, radius));
    shaft.into_iter().chain(balls).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

// Points around an axis.
fn disc(centre: Vec3, axis: Vec3, radius: f64) -> Vec<Vec3> {
    let axis = normalise(axis);
    let other = if axis[2].abs() < 0.9 { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] };
    let side = normalise(cross(axis, other));
    let above = cross(axis, side);
    let point = |i: u32| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(SIDES);
        add(centre, add(scale(side, radius * libm::cos(angle)), scale(above, radius * libm::sin(angle))))
    };
    (0..SIDES).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Scene;

    fn shown(text: &str, keys: &str, frame: u32) -> ShownParticles {
        let folder = tempfile::tempdir().unwrap();
        let ending = if text.starts_with("ITEM") { "dump" } else { "csv" };
        std::fs::write(folder.path().join(format!("a.{ending}")), text).unwrap();
        let scene = format!("[particles]\npath = \"a.{ending}\"\n{keys}\n");
        let scene = Scene::parse(&scene, "s.toml", folder.path()).unwrap().scene;
        ShownParticles::load(&scene.world.particles.unwrap(), frame, 9, &Files::default()).unwrap()
    }
    fn along_x(y: f64, z: f64) -> Line {
        Line { from: [-10.0, y, z], way: [2.0, 0.0, 0.0] }
    }

    const BED: &str = "x,y,z,radius,id,p\n0,0,0,1,7,0.5\n3,0,0,1,3,1.5\n3,2,0,1,9,2.5\n";

    #[test]
    fn the_nearest_particle_is_met_and_has_its_columns() {
        let bed = shown(BED, "where = \"p > 0\"", 0);
        assert_eq!(bed.hit(along_x(0.0, 0.0), &[]), Some((7, 4.5)));
        assert_eq!(bed.hit(along_x(2.0, 0.0), &[]).map(|hit| hit.0), Some(9));
        assert_eq!(bed.hit(along_x(5.0, 0.0), &[]), None);
        let facts = bed.facts(9).unwrap();
        assert_eq!((facts.row, facts.position, facts.radius), (2, [3.0, 2.0, 0.0], 1.0));
        assert_eq!(facts.columns, [("id", 9.0), ("p", 2.5)]);
        // Behind the eye nothing is met; from within a particle its far side.
        assert_eq!(bed.hit(Line { from: [0.0; 3], way: [1.0, 0.0, 0.0] }, &[]), Some((7, 1.0)));
        assert_eq!(bed.hit(Line { from: [9.0, 0.0, 0.0], way: [1.0, 0.0, 0.0] }, &[]), None);
        // What is cut away is not there.
        let cut = |x: f64| Cut { point: [x, 0.0, 0.0], normal: [-1.0, 0.0, 0.0] };
        assert_eq!(bed.hit(along_x(0.0, 0.0), &[cut(0.5)]), Some((7, 5.25)));
        assert_eq!(bed.hit(along_x(0.0, 0.0), &[cut(1.5)]), Some((3, 6.0)));
        // Without an `id`, or with one that several have, rows are names; they stay those of the file.
        for text in [BED.replace("id", "key"), BED.replace(",7,", ",9,")] {
            let bed = shown(&text, "where = \"p != 1.5\"", 0);
            assert_eq!(bed.hit(along_x(2.0, 0.0), &[]), Some((2, 6.0)), "{text}");
            assert_eq!(bed.facts(2).unwrap().columns[1], ("p", 2.5));
            assert_eq!(bed.facts(1), None);
        }
    }

    #[test]
    fn names_stay_from_step_to_step_and_in_copies() {
        let step = |n: u32, rows: &str| {
            let cell = "ITEM: BOX BOUNDS pp pp pp\n0 4\n0 4\n0 4\n";
            format!("ITEM: TIMESTEP\n{n}\nITEM: NUMBER OF ATOMS\n2\n{cell}ITEM: ATOMS id x y z radius\n{rows}")
        };
        let text = step(100, "1 1 1 1 0.5\n2 3 3 1 0.5\n") + &step(200, "2 3 3 2 0.5\n1 1 1 2 0.5\n");
        let keys = "images = [1, 2, 1]\ninterpolate = 2";
        let second = shown(&text, keys, 2);
        for (y, name) in [(1.0, 2), (3.0, 4), (5.0, 3), (7.0, 5)] {
            assert_eq!(second.hit(along_x(y, 2.0), &[]).map(|hit| hit.0), Some(name));
            assert_eq!(second.centre(name).unwrap()[1], y);
        }
        let facts = second.facts(3).unwrap();
        assert_eq!((facts.row, facts.step, facts.moment.number), (1, 1, Some(200)));
        assert_eq!(facts.columns, [("id", 1.0)]);
        let between = shown(&text, keys, 1);
        assert_eq!(between.centre(3), Some([1.0, 5.0, 1.5]));
        assert_eq!(between.facts(3).unwrap().row, 0);
        assert!(between.are_of(&between.particles, 1) && !between.are_of(&between.particles, 2));
        let cut = Particles { cuts: vec![Cut { point: [0.0; 3], normal: [1.0; 3] }], ..between.particles.clone() };
        assert!(between.are_of(&cut, 1) && !between.are_of(&Particles { every: 2, ..cut }, 1));
    }

    #[test]
    fn each_shape_is_met_where_it_is() {
        for (keys, far, near) in [
            // The particle is twice as long along z as across.
            ("shape = \"capsule\"", [0.0, 1.2], [0.0, 0.9]),
            ("shape = \"capsule\"", [0.6, 0.0], [0.4, 0.0]),
            ("shape = \"cylinder\"", [0.5, 0.0], [0.4, 0.8]),
            ("shape = \"cube\"", [0.6, 0.6], [0.5, 0.5]),
            ("shape = { vertices = [[0, 0, -1], [0, 0, 1]], radius = 0.25 }", [0.3, 0.0], [0.2, 0.9]),
        ] {
            let one = shown("x,y,z,radius\n0,0,0,1\n", keys, 0);
            let is_met = |[y, z]: [f64; 2]| one.hit(along_x(y, z), &[]).is_some();
            assert!(is_met(near) && !is_met(far), "{keys}");
            assert!(!one.parts(0).is_empty());
        }
        // A turn by a right angle about x leads z to y.
        let turned = "x,y,z,radius,qw,qx,qy,qz\n0,0,0,1,1,1,0,0\n";
        let rod = shown(turned, "shape = \"capsule\"", 0);
        assert!(rod.hit(along_x(0.9, 0.0), &[]).is_some() && rod.hit(along_x(0.0, 0.9), &[]).is_none());
        let egg = "x,y,z,radius,shapex,shapey,shapez\n0,0,0,1,1,2,0.5\n";
        let egg = shown(egg, "", 0);
        assert!(egg.hit(along_x(0.9, 0.0), &[]).is_some() && egg.hit(along_x(0.0, 0.3), &[]).is_none());
        let ball = shown("x,y,z,radius\n0,0,0,1\n", "", 0);
        assert_eq!(ball.parts(0).len(), 1);
        assert_eq!(ball.parts(5), []);
    }
}

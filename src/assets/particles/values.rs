//! What a scene asks of a file's columns: positions and radii under other names, and the value that selects colors.

use super::expression::{Expression, Values, is_true};
use super::placing;
use super::step::{Column, ROW, Step, Wanted};
use super::views;
use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use crate::math::vec3::length;
use crate::quote::brief;
use crate::scene::text::suggest::nearest;
use crate::scene::{ParticleShape, Particles};
use rayon::prelude::*;
use std::path::Path;

// Names of one thing in files of several programs. The first name is a user's word too.
const SAME: [&[&str]; 4] = [
    &["velocity", "vel", "v", "velo", "velocities", "speed"],
    &["pressure", "p", "press", "c_press"],
    &["type", "typeid", "species"],
    &["mass", "m"],
];

/// What readers are asked for bonds by, as for a column.
pub const BONDS: &str = "bonds";

/// What a scene asks of its files.
pub struct Request<'a> {
    particles: &'a Particles,
    // Of the value that selects colors. A name that is no expression may still be that of a column.
    colour: Result<Expression, Message>,
    // Of the condition that selects particles.
    only: Result<Expression, Message>,
    // Whether all columns are read, and whether there is one of the particles' numbers in their file.
    has_all_columns: bool,
    has_rows: bool,
}

// The columns that a name may stand for, the likeliest first: one, or three of which it is the length.
fn meanings(name: &str) -> Vec<Vec<String>> {
    let lower = name.to_ascii_lowercase();
    let others = |name: &str| {
        let same = SAME.iter().find(|all| all.contains(&name)).copied().unwrap_or_default();
        let others: Vec<String> = same.iter().filter(|one| **one != name).map(|one| (*one).to_owned()).collect();
        [vec![name.to_owned()], others].concat()
    };
    let parts = |base: &str, axis: usize| {
        let (letter, number) = (["x", "y", "z"][axis], axis + 1);
        [
            format!("{base}.{letter}"),
            format!("{base}{letter}"),
            format!("{base}_{letter}"),
            format!("{base}:{axis}"),
            format!("{base}_{axis}"),
            format!("{base}[{number}]"),
        ]
    };
    let mut all: Vec<Vec<String>> = others(&lower).into_iter().map(|name| vec![name]).collect();
    let component = [".x", ".y", ".z"].iter().position(|end| lower.ends_with(end));
    match component {
        Some(axis) => {
            let bases = others(&lower[..lower.len() - 2]);
            all.extend(bases.iter().flat_map(|base| parts(base, axis)).map(|name| vec![name]));
        }
        None => {
            for base in others(&lower) {
                let [x, y, z] = [0, 1, 2].map(|axis| parts(&base, axis));
                all.extend(x.into_iter().zip(y).zip(z).map(|((x, y), z)| vec![x, y, z]));
            }
        }
    }
    all
}

impl<'a> Request<'a> {
    /// What these particles ask for.
    pub fn of(particles: &'a Particles) -> Request<'a> {
        let [colour, only] = [particles.colour_by.name(), &particles.only].map(Expression::parse);
        Request { particles, colour, only, has_all_columns: false, has_rows: false }
    }
    /// The same with all columns.
    #[must_use]
    pub fn with_all_columns(self) -> Request<'a> {
        Request { has_all_columns: true, ..self }
    }
    /// The same with a column of the particles' numbers in their file.
    #[must_use]
    pub fn with_rows(self) -> Request<'a> {
        Request { has_rows: true, ..self }
    }

    // The expressions of columns by other names.
    fn given(&self, name: &str) -> Option<&'a [String]> {
        self.particles.columns.as_ref()?.get(name)
    }

    /// The columns that are read.
    pub fn wanted(&self) -> Wanted {
        if self.has_all_columns {
            return Wanted::all();
        }
        let mut names: Vec<String> = Vec::new();
        let mut add = |text: &str, expression: &Result<Expression, Message>| {
            names.push(text.to_owned());
            let all = expression.as_ref().map_or(&[][..], Expression::names);
            names.extend(all.iter().flat_map(|name| meanings(name)).flatten());
        };
        if !self.particles.colour_by.is_nothing() {
            add(self.particles.colour_by.name(), &self.colour);
        }
        if !self.particles.only.is_empty() {
            add(&self.particles.only, &self.only);
        }
        if self.particles.interpolate > 1 || self.particles.trails.is_some() {
            add(views::ID, &Expression::parse(views::ID));
        }
        for (_, texts) in self.particles.columns.iter().flat_map(|columns| columns.all()) {
            texts.iter().for_each(|text| add(text, &Expression::parse(text)));
        }
        if self.particles.radii.is_some() {
            add("type", &Expression::parse("type"));
        }
        for text in self.particles.arrows.iter().flat_map(|arrows| parts_of(&arrows.by)) {
            add(&text, &Expression::parse(&text));
        }
        if let Some(trails) = self.particles.trails.as_ref().filter(|trails| !trails.only.is_empty()) {
            add(&trails.only, &Expression::parse(&trails.only));
        }
        if let Some(bonds) = &self.particles.bonds {
            if !bonds.width_by.is_empty() {
                add(&bonds.width_by, &Expression::parse(&bonds.width_by));
            }
            names.push(BONDS.into());
        }
        let shapes = placing::columns().filter(|_| self.particles.shape != Some(ParticleShape::Sphere));
        Wanted::only(names.iter().map(String::as_str)).and(shapes)
    }

    /// The step with positions and radii as the scene gives them.
    pub fn complete(&self, mut step: Step, path: &Path) -> Result<Step, AssetError> {
        let count = step.count();
        let value = |step: &Step, text: &str| self.evaluate(step, text, &Expression::parse(text), false, path);
        if let Some(texts) = self.given("position") {
            let axes = self.columns_of(&step, texts, path)?;
            let axis = |axis: usize, i: usize| axes.get(axis).map_or(0.0, |values| values[i]);
            step.positions = (0..count).into_par_iter().map(|i| [0, 1, 2].map(|a| axis(a, i))).collect();
        }
        if let Some(radius) = self.particles.radius {
            step.radii = vec![radius; count];
        } else if let Some([text, ..]) = self.given("radius") {
            step.radii = value(&step, text)?;
        } else if let Some(radii) = &self.particles.radii {
            let types = value(&step, "type")?;
            let of = |of: &f64| {
                radii
                    .get(*of)
                    .ok_or_else(|| AssetError::new(path, msg!("`radii` has no radius of type {kind}", kind = of)))
            };
            step.radii = types.iter().map(of).collect::<Result<_, _>>()?;
        } else if let Some(radii) = placing::radii(self.particles, &step) {
            step.radii = radii;
        }
        if step.positions.len() < count {
            let fault = msg!("it has no columns of positions; it has {list}", list = list(&step));
            return Err(AssetError::new(path, fault)
                .help(msg!("name them in [particles]: `columns = {{ position = [\"px\", \"py\", \"pz\"] }}`")));
        }
        if step.radii.len() < count {
            let fault = msg!("it has no column of radii; it has {list}", list = list(&step));
            return Err(AssetError::new(path, fault)
                .help(msg!("give `radius = 0.5` in [particles], or `columns = {{ radius = \"d/2\" }}`")));
        }
        let given = &self.particles;
        match given.columns.is_some() || given.radius.is_some() || given.radii.is_some() {
            true => step.check(|_| msg!("`columns`")).map_err(|what| AssetError::new(path, what)),
            // Its reader has checked it.
            false => Ok(step),
        }
    }

    // The values of columns or expressions.
    fn columns_of(&self, step: &Step, texts: &[String], path: &Path) -> Result<Vec<Vec<f64>>, AssetError> {
        texts.iter().map(|text| self.evaluate(step, text, &Expression::parse(text), false, path)).collect()
    }

    /// The quaternions of the particles, by their parts: those that the scene or the file names.
    pub fn rotations(&self, step: &Step, path: &Path) -> Result<Option<Vec<Vec<f64>>>, AssetError> {
        match self.given("orientation") {
            Some(texts) => self.columns_of(step, texts, path).map(Some),
            None => Ok(placing::rotations(step).map(|parts| parts.map(|(_, part)| part.to_vec()).to_vec())),
        }
    }

    /// What the widths of bonds are proportional to, of each particle; None if it is a value of bonds, or if all are equally wide.
    pub fn widths(&self, step: &Step, by: &str, path: &Path) -> Result<Option<Vec<f64>>, AssetError> {
        let is_of_particles = !by.is_empty() && !step.bond_columns.iter().any(|column| column.name == by);
        is_of_particles.then(|| self.evaluate(step, by, &Expression::parse(by), true, path)).transpose()
    }
    /// Whether each particle fulfills a condition; without one, all do.
    pub fn condition(&self, step: &Step, text: &str, path: &Path) -> Result<Vec<bool>, AssetError> {
        if text.is_empty() {
            return Ok(vec![true; step.count()]);
        }
        let values = self.evaluate(step, text, &Expression::parse(text), true, path)?;
        Ok(values.into_iter().map(is_true).collect())
    }
    /// The vectors of a name, by their parts.
    pub fn vectors(&self, step: &Step, by: &str, path: &Path) -> Result<Vec<Vec<f64>>, AssetError> {
        let part = |text: String| self.evaluate(step, &text, &Expression::parse(&text), true, path);
        parts_of(by).into_iter().map(part).collect()
    }

    /// The values that select colors, if any do.
    pub fn values(&self, step: &Step, path: &Path) -> Result<Option<Vec<f64>>, AssetError> {
        let by = &self.particles.colour_by;
        match by.is_nothing() {
            true => Ok(None),
            false => self.evaluate(step, by.name(), &self.colour, true, path).map(Some),
        }
    }

    /// The particles that the scene shows, with their copies.
    pub fn selected(&self, step: Step, path: &Path) -> Result<Step, AssetError> {
        let Particles { every, images, only, .. } = self.particles;
        let mut step = step;
        if self.has_rows {
            let values = (0..step.count()).map(|i| i as f64).collect();
            step.columns.push(Column { name: ROW.into(), values });
        }
        let fault = |what| AssetError::new(path, what);
        if !only.is_empty() || *every > 1 {
            let shown = match only.as_str() {
                "" => vec![1.0; step.count()],
                text => self.evaluate(&step, text, &self.only, true, path)?,
            };
            let is_shown = |i: usize| i.is_multiple_of(*every as usize) && is_true(shown[i]);
            step = views::kept(step, is_shown);
            if step.count() == 0 {
                return Err(fault(msg!("it has no particles with `{condition}`", condition = brief(only)))
                    .help(msg!("give another condition: `where` and `every` in [particles] hide all of them")));
            }
        }
        let images = images.map(|x| x as usize);
        if images == [1; 3] { Ok(step) } else { views::repeated(step, images).map_err(fault) }
    }

    fn evaluate(
        &self,
        step: &Step,
        text: &str,
        expression: &Result<Expression, Message>,
        with_names: bool,
        path: &Path,
    ) -> Result<Vec<f64>, AssetError> {
        if let Some(column) = step.column(&[text]) {
            return Ok(column.to_vec());
        }
        let expression = expression.as_ref().map_err(|fault| AssetError::new(path, fault.clone()).help(known(step)))?;
        let columns = expression.names().iter().map(|name| {
            let found = if with_names { self.named(step, name, path)? } else { None };
            found.or_else(|| find(step, name)).ok_or_else(|| unknown(step, name, path))
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        Ok(expression.values(step.count(), &columns))
    }

    // The column or the vector that the scene names so.
    fn named<'s>(&self, step: &'s Step, name: &str, path: &Path) -> Result<Option<Values<'s>>, AssetError> {
        let part = [".x", ".y", ".z"].iter().position(|end| name.ends_with(end));
        let vector = part.and_then(|axis| self.given(&name[..name.len() - 2])?.get(axis)).map(std::slice::from_ref);
        let Some(texts) = self.given(name).or(vector).filter(|_| !["position", "radius"].contains(&name)) else {
            return Ok(None);
        };
        let of = |text: &String| self.evaluate(step, text, &Expression::parse(text), false, path);
        let mut all = texts.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        Ok(match all.as_slice() {
            [x, y, z] => Some(Values::Own(lengths(x, y, z))),
            _ => all.pop().map(Values::Own),
        })
    }
}

// The names of a vector's parts.
fn parts_of(vector: &str) -> [String; 3] {
    ["x", "y", "z"].map(|axis| format!("{}.{axis}", vector.trim()))
}

fn lengths(x: &[f64], y: &[f64], z: &[f64]) -> Vec<f64> {
    x.par_iter().zip(y).zip(z).map(|((&x, &y), &z)| length([x, y, z])).collect()
}

// The values that a name stands for in a file.
fn find<'s>(step: &'s Step, name: &str) -> Option<Values<'s>> {
    if let Some(column) = step.column(&[name]) {
        return Some(Values::Column(column));
    }
    let has_radii = step.radii.len() == step.count();
    match name.to_ascii_lowercase().as_str() {
        "x" => return Some(Values::Axis(&step.positions, 0)),
        "y" => return Some(Values::Axis(&step.positions, 1)),
        "z" => return Some(Values::Axis(&step.positions, 2)),
        "r" | "radius" if has_radii => return Some(Values::Column(&step.radii)),
        "d" | "diameter" if has_radii => return Some(Values::Own(step.radii.iter().map(|r| 2.0 * r).collect())),
        _ => {}
    }
    meanings(name).iter().find_map(|columns| match columns.as_slice() {
        [one] => step.column(&[one]).map(Values::Column),
        [x, y, z] => Some(Values::Own(lengths(step.column(&[x])?, step.column(&[y])?, step.column(&[z])?))),
        _ => None,
    })
}

// The columns of a file.
fn list(step: &Step) -> Message {
    const SOME: usize = 40;
    let mut names: Vec<String> = step.names.iter().take(SOME).map(|name| brief(name)).collect();
    if step.names.len() > SOME {
        names.push("...".into());
    }
    Message::text(names.join(", "))
}

fn known(step: &Step) -> Message {
    msg!("it has {list}", list = list(step))
}

fn unknown(step: &Step, name: &str, path: &Path) -> AssetError {
    let error =
        AssetError::new(path, msg!("it has no column `{name}`; it has {list}", name = brief(name), list = list(step)));
    let builtin = ["x", "y", "z", "radius", "speed"];
    match nearest(name, step.names.iter().map(String::as_str).chain(builtin)) {
        Some(near) => error.help(msg!("did you mean `{name}`?", name = brief(near))),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Scene;

    fn particles(keys: &str) -> Particles {
        let text = format!("[particles]\npath = \"a\"\n{keys}\n");
        Scene::parse(&text, "a.toml", Path::new("")).unwrap().scene.world.particles.unwrap()
    }

    fn step(columns: &[(&str, [f64; 2])]) -> Step {
        let column = |(name, values): &(&str, [f64; 2])| Column { name: (*name).into(), values: values.to_vec() };
        let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let columns = columns.iter().map(column).collect();
        Step { positions: vec![[1.0, 2.0, 3.0], [4.0; 3]], radii: vec![0.5, 0.25], columns, names, ..Step::default() }
    }

    fn values(keys: &str, step: &Step) -> Result<Vec<f64>, String> {
        let particles = particles(keys);
        let request = Request::of(&particles);
        // What is read is enough.
        let (mut step, names) = (step.clone(), request.wanted());
        step.columns.retain(|column| names.has(&column.name));
        let step = request.complete(step, Path::new("a")).map_err(|e| e.to_string())?;
        let all = request.values(&step, Path::new("a"));
        let shown = |e: AssetError| format!("{e}; {}", e.remedy.as_ref().map_or_else(String::new, Message::to_string));
        all.map(|values| values.unwrap_or_default()).map_err(shown)
    }

    #[test]
    fn names_stand_for_columns_vectors_and_expressions() {
        let dump = step(&[
            ("vx", [3.0, 0.0]),
            ("vy", [4.0, 1.0]),
            ("vz", [0.0, 0.0]),
            ("c_press", [7.0, 8.0]),
            ("mass", [2.0, 2.0]),
            ("Kinetic Energy (J)", [1.0, 2.0]),
            ("force.x", [0.0, 0.0]),
            ("force.y", [0.0, 6.0]),
            ("force.z", [2.0, 8.0]),
        ]);
        for (keys, expected) in [
            ("color_by = \"velocity\"", [5.0, 1.0]),
            ("color_by = \"speed\"", [5.0, 1.0]),
            ("color_by = \"vel.y\"", [4.0, 1.0]),
            ("color_by = \"pressure\"", [7.0, 8.0]),
            ("color_by = \"C_PRESS\"", [7.0, 8.0]),
            ("color_by = \"0.5*mass*(vx^2+vy^2+vz^2)\"", [25.0, 1.0]),
            ("color_by = \"force\"", [2.0, 10.0]),
            ("color_by = \"Kinetic Energy (J)\"", [1.0, 2.0]),
            ("color_by = \"2*`Kinetic Energy (J)` + z\"", [5.0, 8.0]),
            ("color_by = \"radius\"", [0.5, 0.25]),
            ("color_by = \"u - u.x\"\ncolumns = { u = [\"vx\", \"2*vy\", \"0\"] }", [73f64.sqrt() - 3.0, 2.0]),
            ("color_by = \"r\"\nradius = 0.125", [0.125, 0.125]),
            ("color_by = \"d\"\ncolumns = { radius = \"mass/4\" }", [1.0, 1.0]),
            ("color_by = \"z\"\ncolumns = { position = [\"vx\", \"vy\"] }", [0.0, 0.0]),
        ] {
            assert_eq!(values(keys, &dump).as_deref(), Ok(&expected[..]), "{keys}");
        }
        let fault = values("color_by = \"c_pres\"", &dump).unwrap_err();
        assert!(
            fault.contains("it has no column `c_pres`; it has vx, vy") && fault.contains("mean `c_press`"),
            "{fault}"
        );
        let fault = values("color_by = \"2*(vx\"", &dump).unwrap_err();
        assert!(fault.contains("a closing parenthesis") && fault.contains("it has vx, vy"), "{fault}");
    }

    #[test]
    fn radii_may_come_from_the_scene() {
        let atoms = Step { radii: Vec::new(), ..step(&[("type", [1.0, 2.0])]) };
        assert!(values("color_by = \"type\"", &atoms).unwrap_err().contains("no column of radii; it has type"));
        let radii = |keys: &str| values(&format!("color_by = \"radius\"\n{keys}"), &atoms);
        assert_eq!(radii("radii = { 1 = 0.3, 2 = 0.5 }").unwrap(), [0.3, 0.5]);
        assert!(radii("radii = { 1 = 0.3 }").unwrap_err().contains("no radius of type 2"));
        assert!(radii("columns = { radius = \"type-2\" }").unwrap_err().contains("has the radius -1e0"));
        let places = Step { positions: Vec::new(), ..atoms };
        let fault = values("radius = 1\ncolor_by = \"type\"", &places).unwrap_err();
        assert!(fault.contains("no columns of positions; it has type"), "{fault}");
    }

    #[test]
    fn positions_may_be_columns_of_any_name() {
        use crate::assets::particles::readers::FileSteps;
        let box_lines = "ITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n";
        let dump =
            format!("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\n{box_lines}ITEM: ATOMS px py pz w\n1 2 3 0.5\n");
        for text in [&dump[..], "px,py,pz,w\n1,2,3,0.5\n"] {
            let file = FileSteps::of(Path::new("a"), text.as_bytes().into(), Default::default()).unwrap();
            let read = |keys: &str| {
                let particles = particles(keys);
                let request = Request::of(&particles);
                request
                    .complete(file.read(0, &request.wanted()).map_err(|e| e.to_string())?, Path::new("a"))
                    .map_err(|e| e.to_string())
            };
            let step = read("columns = { position = [\"px\", \"py\", \"pz\"], radius = \"w/2\" }").unwrap();
            assert_eq!((step.positions, step.radii), (vec![[1.0, 2.0, 3.0]], vec![0.25]));
            assert!(read("color_by = \"w\"\nradius = 1").unwrap_err().contains("no columns of positions; it has px"));
        }
    }
}

//! Particles as GSD, HOOMD-blue's frames. What its schema has is in single precision there, and the box is around the origin.

use crate::assets::particles::Step;
use crate::language::{Message, msg};
use crate::math::vec3::sub;

const MAGIC: u64 = 0x65df_65df_65df_65df;
const HEADER: usize = 256;
// Kinds of numbers.
const U4: u8 = 3;
const U8: u8 = 4;
const I1: u8 = 5;
const F4: u8 = 9;
const F8: u8 = 10;
// Types beyond stay a logged value.
const MAX_TYPES: f64 = 1000.0;

/// Frames that become a file.
#[derive(Default)]
pub struct Writer {
    data: Vec<u8>,
    // Frame, rows, place, columns, name and kind of each block.
    blocks: Vec<(u64, u64, u64, u32, u16, u8)>,
    names: Vec<String>,
    frames: u64,
}

fn singles(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(|x| (x as f32).to_le_bytes()).collect()
}

impl Writer {
    fn block(&mut self, name: &str, rows: usize, columns: u32, kind: u8, bytes: &[u8]) {
        let id = self.names.iter().position(|one| one == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        let at = (HEADER + self.data.len()) as u64;
        self.blocks.push((self.frames, rows as u64, at, columns, id as u16, kind));
        self.data.extend(bytes);
    }

    /// Adds a frame; `number` is that of a step that has none.
    pub fn add(&mut self, step: &Step, number: u32) -> Result<(), Message> {
        let (n, cell) = (step.count(), step.cell_or_bounds());
        let [[x, x_y, x_z], [xy, y, y_z], [xz, yz, z]] = cell.vectors;
        if [x_y, x_z, y_z] != [0.0; 3] {
            return Err(msg!(
                "GSD has no box whose first edge is not along x, or whose second is not in the plane of x and y"
            ));
        }
        let middle = cell.unscaled([0.5; 3]);
        self.block("configuration/step", 1, 1, U8, &step.number.unwrap_or(number.into()).to_le_bytes());
        self.block("configuration/box", 6, 1, F4, &singles([x, y, z, xy / y, xz / z, yz / z]));
        self.block("particles/N", 1, 1, U4, &(n as u32).to_le_bytes());
        let positions = step.positions.iter().flat_map(|&p| sub(p, middle));
        self.block("particles/position", n, 3, F4, &singles(positions));
        if !step.radii.is_empty() {
            self.block("particles/diameter", n, 1, F4, &singles(step.radii.iter().map(|r| 2.0 * r)));
        }
        let velocity = ["x", "y", "z"].map(|axis| step.column(&[&format!("velocity.{axis}"), &format!("v{axis}")]));
        let mut own: Vec<&str> = vec!["diameter"];
        if let [Some(x), Some(y), Some(z)] = velocity {
            let rows = x.iter().zip(y).zip(z).flat_map(|((x, y), z)| [*x, *y, *z]);
            self.block("particles/velocity", n, 3, F4, &singles(rows));
            own.extend(["velocity.x", "velocity.y", "velocity.z", "vx", "vy", "vz"]);
        }
        for name in ["mass", "charge"] {
            if let Some(values) = step.column(&[name]) {
                self.block(&format!("particles/{name}"), n, 1, F4, &singles(values.iter().copied()));
                own.push(name);
            }
        }
        let is_type = |x: &f64| (0.0..MAX_TYPES).contains(x) && x.fract() == 0.0;
        if let Some(types) = step.column(&["type"]).filter(|types| types.iter().all(is_type)) {
            let bytes: Vec<u8> = types.iter().flat_map(|&x| (x as u32).to_le_bytes()).collect();
            // Their names are their numbers.
            const LONGEST: usize = 4;
            let count = types.iter().fold(0.0, |most: f64, &x| most.max(x)) as usize + 1;
            let names: Vec<u8> = (0..count).flat_map(|i| format!("{i:\0<LONGEST$}").into_bytes()).collect();
            self.block("particles/types", count, LONGEST as u32, I1, &names);
            self.block("particles/typeid", n, 1, U4, &bytes);
            own.push("type");
        }
        for column in step.columns.iter().filter(|column| !own.contains(&column.name.as_str())) {
            let bytes: Vec<u8> = column.values.iter().flat_map(|x| x.to_le_bytes()).collect();
            self.block(&format!("log/particles/{}", column.name), n, 1, F8, &bytes);
        }
        self.frames += 1;
        Ok(())
    }

    /// The bytes of the file.
    pub fn finish(mut self) -> Vec<u8> {
        let mut names: Vec<u8> = self.names.iter().flat_map(|name| [name.as_bytes(), &[0]].concat()).collect();
        names.resize((names.len() + 1).next_multiple_of(64), 0);
        // A program finds a block by frame and name.
        self.blocks.sort_by_key(|&(frame, _, _, _, id, _)| (frame, id));
        let index = (HEADER + self.data.len()) as u64;
        let list = index + 32 * (self.blocks.len() as u64 + 1);
        let numbers = [MAGIC, index, self.blocks.len() as u64 + 1, list, names.len() as u64 / 64];
        let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        // The schema's version 1.4, the file's 2.0, and their names.
        bytes.extend([4, 0, 1, 0, 0, 0, 2, 0]);
        for name in [crate::output::store::origin::SOFTWARE, "hoomd"] {
            bytes.extend(format!("{name:\0<64}").as_bytes());
        }
        bytes.resize(HEADER, 0);
        bytes.append(&mut self.data);
        for (frame, rows, at, columns, id, kind) in self.blocks {
            bytes.extend([frame, rows, at].into_iter().flat_map(u64::to_le_bytes));
            bytes.extend(columns.to_le_bytes());
            bytes.extend(id.to_le_bytes());
            bytes.extend([kind, 0]);
        }
        bytes.extend([0; 32]);
        bytes.append(&mut names);
        bytes
    }
}

//! Steps of particles from memory, in place of a file.

use super::format::{Source, Steps};
use super::step::{Column, Step, Wanted};
use crate::assets::error::AssetError;
use crate::language::msg;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

/// Time steps of particles that a program has in memory, or makes when they are asked for.
pub trait StepSource: Debug + Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// The step of this number, from 0. Frames ask for their steps in order, perhaps several times and from several threads; the first, the
    /// middle and the last step may be asked for at any time.
    ///
    /// # Errors
    /// The step cannot be had, which ends the run.
    fn step(&self, number: usize) -> Result<Arc<Step>, AssetError>;

    /// Whether steps come one by one, as a simulation makes them: none is asked for before its frame then, so the first step alone frames a
    /// figure and gives the range of its map.
    fn is_in_order(&self) -> bool {
        false
    }
}

impl StepSource for Vec<Arc<Step>> {
    fn count(&self) -> usize {
        self.len()
    }
    fn step(&self, number: usize) -> Result<Arc<Step>, AssetError> {
        let last = self.len().saturating_sub(1);
        let missing = || {
            AssetError::new(Path::new("steps"), msg!("there is no step {number}: it has steps 0-{last}", number, last))
        };
        self.get(number).cloned().ok_or_else(missing)
    }
}

/// The steps as those of a file.
pub struct InMemory(pub Arc<dyn StepSource>);

impl Steps for InMemory {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn read(&self, source: &Source, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        let step = self.0.step(number)?;
        let count = step.positions.len();
        let lengths = step.columns.iter().map(|column| (column.name.as_str(), column.values.len()));
        if let Some((name, length)) =
            [("radius", step.radii.len())].into_iter().chain(lengths).find(|one| one.1 != count)
        {
            return Err(source.fault(msg!(
                "`{name}` has {length} values; expected {count}, one a particle",
                name,
                length,
                count
            )));
        }
        let names = step.columns.iter().map(|column| column.name.clone()).collect();
        let is_wanted = |column: &Column| wanted.has(&column.name);
        // Nobody else may hold it: then it is not copied.
        let step = Arc::try_unwrap(step).map_or_else(
            |step| {
                let columns = step.columns.iter().filter(|column| is_wanted(column)).cloned().collect();
                let (positions, radii, shapes) = (step.positions.clone(), step.radii.clone(), step.shapes.clone());
                let (bonds, bond_columns) = (step.bonds.clone(), step.bond_columns.clone());
                Step { positions, radii, columns, shapes, bonds, bond_columns, names: Vec::new(), ..*step }
            },
            |mut step| {
                step.columns.retain(is_wanted);
                step
            },
        );
        let step = Step { names, ..step };
        step.check(|_| msg!("step {number}", number)).map_err(|what| source.fault(what))
    }
}

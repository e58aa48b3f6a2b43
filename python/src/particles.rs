//! Particles of Python's arrays.

use polyfly::AssetError;
use polyfly::particles::{Cell, Column, Step, StepSource};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// One time step, for `polyfly.Particles`.
#[pyclass(name = "Step", module = "polyfly._polyfly", frozen)]
pub struct PyStep(Arc<Step>);

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|&word| f64::from_ne_bytes(word)).collect()
}

#[pymethods]
impl PyStep {
    /// Positions (N, 3), radii and columns are bytes of arrays of double precision.
    #[new]
    fn new(
        positions: &[u8],
        radii: &[u8],
        columns: Vec<(String, Bound<'_, PyBytes>)>,
        cell: Option<(Vec<f64>, [bool; 3])>,
        time: Option<f64>,
        number: Option<u64>,
    ) -> PyResult<PyStep> {
        let cell = cell.map(|(vectors, periodic)| match vectors.as_chunks::<3>() {
            (&[a, b, c], []) => Ok(Cell { origin: [0.0; 3], vectors: [a, b, c], periodic }),
            _ => Err(PyValueError::new_err("cell: expected three vectors, (3, 3)")),
        });
        let columns =
            columns.into_iter().map(|(name, bytes)| Column { name, values: numbers(bytes.as_bytes()) }).collect();
        let positions = numbers(positions).as_chunks::<3>().0.to_vec();
        let step = Step {
            positions,
            radii: numbers(radii),
            columns,
            cell: cell.transpose()?,
            time,
            number,
            ..Step::default()
        };
        Ok(PyStep(Arc::new(step)))
    }
}

/// A sequence of Python whose items are steps.
#[derive(Debug)]
pub struct PySteps {
    sequence: Py<PyAny>,
    count: usize,
}

impl PySteps {
    pub fn new(sequence: &Bound<'_, PyAny>) -> PyResult<PySteps> {
        Ok(PySteps { sequence: sequence.clone().unbind(), count: sequence.len()? })
    }
}

impl StepSource for PySteps {
    fn count(&self) -> usize {
        self.count
    }
    fn step(&self, number: usize) -> Result<Arc<Step>, AssetError> {
        let step = Python::attach(|py| {
            let item = self.sequence.bind(py).get_item(number)?;
            let step: PyRef<PyStep> = item.extract()?;
            Ok(Arc::clone(&step.0))
        });
        step.map_err(|e: PyErr| AssetError::custom("arrays", e))
    }
}

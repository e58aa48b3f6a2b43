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
    /// `arrays` gives names and bytes of arrays of double precision, one by one, so that no more than one is there twice: positions (N, 3),
    /// radii and columns.
    #[new]
    fn new(
        arrays: &Bound<'_, PyAny>,
        cell: Option<(Vec<f64>, [bool; 3])>,
        time: Option<f64>,
        number: Option<u64>,
    ) -> PyResult<PyStep> {
        let cell = cell.map(|(vectors, periodic)| match vectors.as_chunks::<3>() {
            (&[a, b, c], []) => Ok(Cell { origin: [0.0; 3], vectors: [a, b, c], periodic }),
            _ => Err(PyValueError::new_err("cell: expected three vectors, (3, 3)")),
        });
        let mut arrays = arrays.try_iter()?;
        let mut next = || -> PyResult<Option<(String, Bound<'_, PyBytes>)>> {
            arrays.next().map(|array| array?.extract()).transpose()
        };
        let triple = |bytes: &[u8]| {
            let place =
                |p: &[u8; 24]| [0, 8, 16].map(|at| p[at..].first_chunk().map_or(0.0, |&word| f64::from_ne_bytes(word)));
            bytes.as_chunks::<24>().0.iter().map(place).collect()
        };
        let positions = next()?.map_or_else(Vec::new, |(_, bytes)| triple(bytes.as_bytes()));
        let radii = next()?.map_or_else(Vec::new, |(_, bytes)| numbers(bytes.as_bytes()));
        let mut columns = Vec::new();
        while let Some((name, bytes)) = next()? {
            columns.push(Column { name, values: numbers(bytes.as_bytes()) });
        }
        let step = Step { positions, radii, columns, cell: cell.transpose()?, time, number, ..Step::default() };
        Ok(PyStep(Arc::new(step)))
    }
}

/// A sequence of Python whose items are steps.
#[derive(Debug)]
pub struct PySteps {
    sequence: Py<PyAny>,
    count: usize,
    is_in_order: bool,
}

impl PySteps {
    pub fn new(sequence: &Bound<'_, PyAny>) -> PyResult<PySteps> {
        let is_in_order = sequence.getattr("in_order").and_then(|is| is.extract()).unwrap_or(false);
        Ok(PySteps { sequence: sequence.clone().unbind(), count: sequence.len()?, is_in_order })
    }
}

impl StepSource for PySteps {
    fn count(&self) -> usize {
        self.count
    }
    fn is_in_order(&self) -> bool {
        self.is_in_order
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

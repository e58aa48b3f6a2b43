//! polyfly for Python: scenes, renderers that stay ready between frames, and runs.

mod job;
mod observers;
mod particles;
mod renderer;
mod run;
mod scene;

use polyfly::{Devices, Error, RenderOptions};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Scene(_) | Error::Usage(_) | Error::Misused { .. } | Error::TooMany(_) => PyValueError::new_err(text),
        Error::Asset(_) | Error::Read(..) | Error::NotText(..) | Error::SceneTooLong(..) => PyOSError::new_err(text),
        Error::Output(_) => PyOSError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

fn render_options(device: &str, threads: usize) -> PyResult<RenderOptions> {
    let devices = match device {
        "cpu" => Devices::Cpu,
        "gpu" => Devices::Gpu,
        "auto" => Devices::Auto,
        other => {
            return Err(PyValueError::new_err(format!("device is {other:?}: expected \"cpu\", \"gpu\" or \"auto\"")));
        }
    };
    Ok(RenderOptions::new().devices(devices).threads(threads))
}

#[pymodule]
fn _polyfly(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scene::PyScene>()?;
    module.add_class::<renderer::PyRenderer>()?;
    module.add_class::<particles::PyStep>()?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(scene::figure_scene, module)?)?;
    module.add_function(wrap_pyfunction!(scene::check, module)?)
}

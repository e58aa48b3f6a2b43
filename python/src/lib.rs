//! polyfly for Python: `render`, `render_linear` and `check`.

use polyfly::scene::Parsed;
use polyfly::{Devices, Error, RenderOptions, Renderer, Scene};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use std::path::{Path, PathBuf};

// A scene's text, what to call it, and where its paths start. A text of several lines is no file's name.
fn text_of(scene: &Bound<'_, PyAny>) -> PyResult<(String, String, PathBuf)> {
    if let Ok(text) = scene.extract::<String>()
        && text.contains('\n')
    {
        return Ok((text, "the scene".into(), PathBuf::new()));
    }
    let path: PathBuf = scene.extract()?;
    let text = std::fs::read_to_string(&path).map_err(|e| PyOSError::new_err(format!("{}: {e}", path.display())))?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok((text, path.display().to_string(), folder))
}

fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Scene(_) | Error::Usage(_) | Error::Misused { .. } | Error::TooMany(_) => PyValueError::new_err(text),
        Error::Asset(_) | Error::Read(..) => PyOSError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

struct RenderArgs {
    size: Option<(u32, u32)>,
    samples: Option<u32>,
    device: String,
    threads: usize,
}

fn renderer(scene: &Bound<'_, PyAny>, asked: &RenderArgs) -> PyResult<Renderer> {
    let (text, name, folder) = text_of(scene)?;
    let Parsed { mut scene, .. } =
        Scene::parse(&text, &name, &folder).map_err(|e| PyValueError::new_err(e.to_string()))?;
    if let Some(size) = asked.size {
        (scene.render.width, scene.render.height) = size;
    }
    if let Some(samples) = asked.samples {
        scene.render.set_samples(samples);
    }
    let devices = match asked.device.as_str() {
        "cpu" => Devices::Cpu,
        "gpu" => Devices::Gpu,
        "auto" => Devices::Auto,
        other => {
            return Err(PyValueError::new_err(format!("device is {other:?}: expected \"cpu\", \"gpu\" or \"auto\"")));
        }
    };
    let options = RenderOptions { devices, threads: asked.threads, ..RenderOptions::default() };
    Renderer::with_options(scene, options).map_err(raised)
}

/// A frame as it is shown: an array of uint8, (height, width, 3); (height, width, 4) with straight alpha where the sky is transparent.
#[pyfunction]
#[pyo3(signature = (scene, frame=0, *, size=None, samples=None, device="cpu".to_owned(), threads=0))]
fn render<'py>(
    py: Python<'py>,
    scene: &Bound<'py, PyAny>,
    frame: u32,
    size: Option<(u32, u32)>,
    samples: Option<u32>,
    device: String,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let mut renderer = renderer(scene, &RenderArgs { size, samples, device, threads })?;
    let image = py.detach(|| renderer.still(frame)).map_err(raised)?;
    let channels = if renderer.scene().world.sky.transparent { 4 } else { 3 };
    let bytes: Vec<u8> = image.data().as_chunks::<4>().0.iter().flat_map(|p| &p[..channels]).copied().collect();
    array(py, (image.height(), image.width(), channels), &bytes, "uint8")
}

/// A frame in linear light, before the tone curve: an array of float32, (height, width, 3).
#[pyfunction]
#[pyo3(signature = (scene, frame=0, *, size=None, samples=None, device="cpu".to_owned(), threads=0))]
fn render_linear<'py>(
    py: Python<'py>,
    scene: &Bound<'py, PyAny>,
    frame: u32,
    size: Option<(u32, u32)>,
    samples: Option<u32>,
    device: String,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let mut renderer = renderer(scene, &RenderArgs { size, samples, device, threads })?;
    let (image, _) = py.detach(|| renderer.still_linear(frame)).map_err(raised)?;
    let bytes: Vec<u8> = image.data().iter().flat_map(|x| x.to_ne_bytes()).collect();
    array(py, (image.height(), image.width(), 3), &bytes, "float32")
}

// numpy's array over bytes of its own.
fn array<'py>(py: Python<'py>, shape: (u32, u32, usize), bytes: &[u8], kind: &str) -> PyResult<Bound<'py, PyAny>> {
    let flat = py.import("numpy")?.call_method1("frombuffer", (PyByteArray::new(py, bytes), kind))?;
    flat.call_method1("reshape", (shape,))
}

/// What is wrong with a scene's text: a list of dicts with line, column, what, expected and help. Files that it names are not looked at.
#[pyfunction]
fn check<'py>(py: Python<'py>, scene: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (text, name, folder) = text_of(scene)?;
    let Err(problems) = Scene::parse(&text, &name, &folder) else { return Ok(Vec::new()) };
    let fault = |problem: &polyfly::scene::Problem| {
        let before = &problems.source[..problem.span.start.min(problems.source.len())];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let dict = PyDict::new(py);
        dict.set_item("line", before.matches('\n').count() + 1)?;
        dict.set_item("column", before[line_start..].chars().count() + 1)?;
        dict.set_item("what", &problem.what)?;
        dict.set_item("expected", &problem.expected)?;
        dict.set_item("help", &problem.help)?;
        Ok(dict)
    };
    problems.list.iter().map(fault).collect()
}

#[pymodule]
fn _polyfly(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(render, module)?)?;
    module.add_function(wrap_pyfunction!(render_linear, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)
}

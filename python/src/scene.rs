//! Scenes as Python has them, and what is wrong with their texts.

use crate::raised;
use polyfly::Scene;
use polyfly::scene::Problem;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::path::{Path, PathBuf};

/// A scene: what is seen, from where, and how it is rendered.
#[pyclass(name = "Scene", module = "polyfly")]
#[derive(Clone)]
pub struct PyScene(pub Scene);

// A text of several lines is no file's name.
fn as_text(source: &Bound<'_, PyAny>) -> Option<String> {
    source.extract::<String>().ok().filter(|text| text.contains('\n'))
}

fn parsed(text: &str, folder: &Path) -> PyResult<Scene> {
    let parsed = Scene::parse(text, "the scene", folder);
    Ok(parsed.map_err(|problems| PyValueError::new_err(problems.to_string()))?.scene)
}

/// A `Scene`, or one that a text or a file's name gives; with another size and `samples` x `samples` samples of each pixel if they are given.
pub fn scene_of(source: &Bound<'_, PyAny>, size: Option<(u32, u32)>, samples: Option<u32>) -> PyResult<Scene> {
    let mut scene = match (source.extract::<PyRef<PyScene>>(), as_text(source)) {
        (Ok(scene), _) => scene.0.clone(),
        (_, Some(text)) => parsed(&text, Path::new(""))?,
        _ => Scene::load(source.extract::<PathBuf>()?).map_err(raised)?,
    };
    if let Some(size) = size {
        (scene.render.width, scene.render.height) = size;
    }
    if let Some(samples) = samples {
        scene.render.set_sample_grid(samples);
    }
    Ok(scene)
}

#[pymethods]
impl PyScene {
    #[new]
    #[pyo3(signature = (source, *, size=None, samples=None))]
    fn new(source: &Bound<'_, PyAny>, size: Option<(u32, u32)>, samples: Option<u32>) -> PyResult<PyScene> {
        scene_of(source, size, samples).map(PyScene)
    }
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<PyScene> {
        Scene::load(path).map(PyScene).map_err(raised)
    }
    #[staticmethod]
    #[pyo3(signature = (text, *, folder=PathBuf::new()))]
    fn parse(text: &str, folder: PathBuf) -> PyResult<PyScene> {
        parsed(text, &folder).map(PyScene)
    }
    #[staticmethod]
    fn sample() -> PyScene {
        PyScene(Scene::sample())
    }
    #[getter]
    fn get_size(&self) -> (u32, u32) {
        (self.0.render.width, self.0.render.height)
    }
    #[setter]
    fn set_size(&mut self, size: (u32, u32)) {
        (self.0.render.width, self.0.render.height) = size;
    }
    #[getter]
    fn get_frames(&self) -> u32 {
        self.0.output.frames
    }
    #[setter]
    fn set_frames(&mut self, frames: u32) {
        self.0.output.frames = frames;
    }
    #[getter]
    fn get_fps(&self) -> f64 {
        self.0.output.fps
    }
    #[setter]
    fn set_fps(&mut self, fps: f64) {
        self.0.output.fps = fps;
    }
    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0 = self.0.with(key, &toml_of(value)?).map_err(raised)?;
        Ok(())
    }
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }
    fn copy(&self) -> PyScene {
        self.clone()
    }
    fn __repr__(&self) -> String {
        let (width, height) = self.get_size();
        format!("<polyfly.Scene {width}x{height}, {} frames>", self.get_frames())
    }
}

// A value as TOML writes it: JSON does the same for numbers and texts.
fn toml_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(table) = value.cast::<PyDict>() {
        let entry =
            |(key, value): (Bound<PyAny>, Bound<PyAny>)| Ok(format!("{} = {}", toml_of(&key)?, toml_of(&value)?));
        let entries = table.iter().map(entry).collect::<PyResult<Vec<String>>>()?;
        return Ok(format!("{{ {} }}", entries.join(", ")));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| toml_of(&item?)).collect::<PyResult<Vec<String>>>()?;
        return Ok(format!("[{}]", items.join(", ")));
    }
    value.py().import("json")?.call_method1("dumps", (value,))?.extract()
}

/// The scene of a figure with these keys.
#[pyfunction]
pub fn figure_scene(keys: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<PyScene> {
    let values = keys.iter().map(|(_, value)| toml_of(value)).collect::<PyResult<Vec<_>>>()?;
    let keys: Vec<(&str, &str)> =
        keys.iter().zip(&values).map(|((key, _), value)| (key.as_str(), value.as_str())).collect();
    Scene::figure(&keys).map(PyScene).map_err(raised)
}

/// What is wrong with a scene's text: a list of dicts with line, column, what, expected and help. Files that it names are not read.
#[pyfunction]
pub fn check<'py>(py: Python<'py>, scene: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (text, folder) = match as_text(scene) {
        Some(text) => (text, PathBuf::new()),
        None => {
            let path: PathBuf = scene.extract()?;
            let failed = |e| PyOSError::new_err(format!("{}: {e}", path.display()));
            (std::fs::read_to_string(&path).map_err(failed)?, path.parent().unwrap_or(Path::new("")).to_owned())
        }
    };
    let Err(problems) = Scene::parse(&text, "the scene", &folder) else { return Ok(Vec::new()) };
    let fault = |problem: &Problem| {
        let before = &problems.source[..problem.span.start.min(problems.source.len())];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let dict = PyDict::new(py);
        dict.set_item("line", before.matches('\n').count() + 1)?;
        dict.set_item("column", before[line_start..].chars().count() + 1)?;
        dict.set_item("what", problem.what.to_string())?;
        dict.set_item("expected", problem.expected.to_string())?;
        dict.set_item("help", problem.help.as_ref().map(ToString::to_string))?;
        Ok(dict)
    };
    problems.list.iter().map(fault).collect()
}

//! Renderers that are kept between frames: the scene's files are read once, and devices stay ready.

use crate::job::interruptible;
use crate::observers::{PyProgress, PySink, Raised, array, picture, report};
use crate::particles::PySteps;
use crate::scene::{PyScene, scene_of};
use crate::{raised, render_options};
use polyfly::{Cancel, Error, FileSink, FrameList, Image, Renderer, Sink, VideoOptions, VideoSink};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A scene that is ready to be rendered, again and again.
#[pyclass(name = "Renderer", module = "polyfly")]
pub struct PyRenderer {
    scene: PyScene,
    renderer: Arc<Mutex<Renderer>>,
}

fn light<'py>(py: Python<'py>, image: &Image<f32>) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = image.data().iter().flat_map(|x| x.to_ne_bytes()).collect();
    let (height, width) = (image.height() as usize, image.width() as usize);
    match image.channels() {
        1 => array(py, &[height, width], &bytes, "float32"),
        channels => array(py, &[height, width, channels], &bytes, "float32"),
    }
}

/// The frames that a text or a sequence of numbers names.
pub fn frame_list(frames: Option<&Bound<'_, PyAny>>, total: u32) -> PyResult<FrameList> {
    let Some(frames) = frames else { return Ok(FrameList::all(total)) };
    if let Ok(text) = frames.extract::<String>() {
        return FrameList::parse(&text, total).map_err(|e| PyValueError::new_err(format!("frames: {e}")));
    }
    let numbers: Vec<u32> = frames.try_iter()?.map(|n| n?.extract()).collect::<PyResult<_>>()?;
    let list = FrameList::of_numbers(numbers.into_iter());
    list.ok_or_else(|| PyValueError::new_err("frames: there is none"))
}

impl PyRenderer {
    // Uses the renderer on another thread; each use has a cancel of its own.
    fn with<T: Send + 'static>(
        &self,
        py: Python<'_>,
        cancel: &Cancel,
        work: impl FnOnce(&mut Renderer) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let (renderer, own) = (Arc::clone(&self.renderer), cancel.clone());
        let result = interruptible(py, cancel, move || {
            let mut renderer = renderer.lock().unwrap_or_else(PoisonError::into_inner);
            renderer.set_cancel(own);
            work(&mut renderer)
        })?;
        result.map_err(raised)
    }

    // A function takes arrays; a path says by its ending whether it names frames or a video.
    fn sink(
        &self,
        sink: &Bound<'_, PyAny>,
        frames: &FrameList,
        raises: &Raised,
        cancel: &Cancel,
    ) -> PyResult<Box<dyn Sink>> {
        let scene = &self.scene.0;
        if sink.is_callable() {
            let has_alpha = scene.world.sky.transparent;
            let function = sink.clone().unbind();
            return Ok(Box::new(PySink { function, has_alpha, raised: raises.clone(), cancel: cancel.clone() }));
        }
        let path: PathBuf = sink.extract()?;
        if VideoSink::is_video(&path) {
            let options = VideoOptions::new().fps(scene.output.fps);
            return Ok(Box::new(VideoSink::create(&path, frames, &options).map_err(raised)?));
        }
        Ok(Box::new(FileSink::create(&path, scene).map_err(raised)?))
    }
}

#[pymethods]
impl PyRenderer {
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[new]
    #[pyo3(signature = (scene, *, size=None, samples=None, device="auto", threads=0, particles=None))]
    fn new(
        py: Python<'_>,
        scene: &Bound<'_, PyAny>,
        size: Option<(u32, u32)>,
        samples: Option<u32>,
        device: &str,
        threads: usize,
        particles: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyRenderer> {
        let (scene, mut options) = (scene_of(scene, size, samples)?, render_options(device, threads)?);
        if let Some(steps) = particles {
            options = options.particles(Arc::new(PySteps::new(steps)?));
        }
        let own = scene.clone();
        let prepared = interruptible(py, &Cancel::new(), move || Renderer::with_options(own, options))?;
        let mut renderer = prepared.map_err(raised)?;
        renderer.keep_devices(true);
        Ok(PyRenderer { scene: PyScene(scene), renderer: Arc::new(Mutex::new(renderer)) })
    }

    #[getter]
    fn scene(&self) -> PyScene {
        self.scene.clone()
    }

    #[pyo3(signature = (frame=0))]
    fn render<'py>(&self, py: Python<'py>, frame: u32) -> PyResult<Bound<'py, PyAny>> {
        let image = self.with(py, &Cancel::new(), move |renderer| renderer.still(frame))?;
        picture(py, (image.width(), image.height()), image.data(), self.scene.0.world.sky.transparent)
    }

    #[pyo3(signature = (frame=0))]
    fn render_linear<'py>(&self, py: Python<'py>, frame: u32) -> PyResult<Bound<'py, PyAny>> {
        let (image, _) = self.with(py, &Cancel::new(), move |renderer| renderer.still_linear(frame))?;
        light(py, &image)
    }

    #[pyo3(signature = (frame=0))]
    fn layers<'py>(&self, py: Python<'py>, frame: u32) -> PyResult<Bound<'py, PyDict>> {
        let (image, layers) = self.with(py, &Cancel::new(), move |renderer| renderer.still_linear(frame))?;
        let dict = PyDict::new(py);
        dict.set_item("color", light(py, &image)?)?;
        let Some(layers) = layers else { return Ok(dict) };
        for (name, image) in [
            ("albedo", &layers.albedo),
            ("normal", &layers.normal),
            ("depth", &layers.depth),
            ("coverage", &layers.coverage),
            ("samples", &layers.samples),
        ] {
            dict.set_item(name, light(py, image)?)?;
        }
        Ok(dict)
    }

    #[pyo3(signature = (extension="png", frame=0))]
    fn encode<'py>(&self, py: Python<'py>, extension: &str, frame: u32) -> PyResult<Bound<'py, PyBytes>> {
        let extension = extension.to_owned();
        let bytes = self.with(py, &Cancel::new(), move |renderer| renderer.encode(frame, &extension))?;
        Ok(PyBytes::new(py, &bytes))
    }

    // The frames whose hashes differ from those in the list, with their hashes.
    #[pyo3(signature = (path, *, frames=None, bless=false))]
    fn golden(
        &self,
        py: Python<'_>,
        path: PathBuf,
        frames: Option<&Bound<'_, PyAny>>,
        bless: bool,
    ) -> PyResult<BTreeMap<u32, String>> {
        let total = self.scene.0.output.frames;
        let frames = frames.map(|frames| frame_list(Some(frames), total)).transpose()?;
        let wrong = self.with(py, &Cancel::new(), move |renderer| renderer.golden(&path, frames.as_ref(), bless))?;
        Ok(wrong.into_iter().map(|one| (one.frame, one.found)).collect())
    }

    // The values at the ends of the particles' color map, and its colors.
    #[getter]
    fn color_map(&self) -> Option<([f64; 2], Vec<[f64; 3]>)> {
        self.renderer.lock().unwrap_or_else(PoisonError::into_inner).colour_map()
    }

    #[pyo3(signature = (*sinks, frames=None, progress=None))]
    fn animate<'py>(
        &self,
        py: Python<'py>,
        sinks: &Bound<'py, PyTuple>,
        frames: Option<&Bound<'py, PyAny>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let frames = frame_list(frames, self.scene.0.output.frames)?;
        let (cancel, own) = (Cancel::new(), Raised::default());
        let sinks = sinks.iter().map(|sink| self.sink(&sink, &frames, &own, &cancel)).collect::<PyResult<Vec<_>>>()?;
        if sinks.is_empty() {
            return Err(PyValueError::new_err("there is no sink: give a function, a pattern of files or a video"));
        }
        let mut heard = PyProgress::new(progress, own.clone(), cancel.clone());
        let run = self.with(py, &cancel, move |renderer| renderer.run(&frames, sinks, &mut heard));
        own.take().map_or(run, Err).and_then(|run| report(py, &run))
    }
}

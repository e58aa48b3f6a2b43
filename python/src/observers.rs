//! What Python hears of a run: its progress, and frames as arrays.

use polyfly::{Cancel, FrameReport, OutputError, PixelFormats, Progress, RenderedFrame, RunInfo, RunReport, Sink};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception of a callback, which ends the run and is raised when it has ended.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
    /// The exception, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// numpy's array over bytes of its own.
pub fn array<'py>(py: Python<'py>, shape: &[usize], bytes: &[u8], kind: &str) -> PyResult<Bound<'py, PyAny>> {
    let flat = py.import("numpy")?.call_method1("frombuffer", (PyByteArray::new(py, bytes), kind))?;
    flat.call_method1("reshape", (shape,))
}

/// A picture of 8 bits a channel, without its alpha where all of it is opaque by the scene.
pub fn picture<'py>(
    py: Python<'py>,
    (width, height): (u32, u32),
    rgba: &[u8],
    has_alpha: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let channels = if has_alpha { 4 } else { 3 };
    let bytes: Vec<u8> = rgba.as_chunks::<4>().0.iter().flat_map(|p| &p[..channels]).copied().collect();
    array(py, &[height as usize, width as usize, channels], &bytes, "uint8")
}

/// Calls a Python function after each frame, and logs remarks.
pub struct PyProgress {
    callback: Option<Py<PyAny>>,
    raised: Raised,
    cancel: Cancel,
    total: usize,
    done: usize,
}

impl PyProgress {
    /// One that stops a run where its callback raises.
    pub fn new(callback: Option<Py<PyAny>>, raised: Raised, cancel: Cancel) -> PyProgress {
        PyProgress { callback, raised, cancel, total: 0, done: 0 }
    }
}

impl Progress for PyProgress {
    fn start(&mut self, run: &RunInfo, _devices: &[String], _threads: usize) {
        self.total = run.frames;
    }
    fn frame(&mut self, report: &FrameReport) {
        self.done += 1;
        // After Ctrl-C the interpreter may be ending.
        let Some(callback) = self.callback.as_ref().filter(|_| !self.cancel.is_abandoned()) else { return };
        Python::attach(|py| {
            if let Err(e) = callback.call1(py, (report.frame, self.done, self.total)) {
                self.raised.keep(e);
                self.cancel.stop();
            }
        });
    }
    fn remark(&mut self, text: &polyfly::Message) {
        if self.cancel.is_abandoned() {
            return;
        }
        Python::attach(|py| {
            let logged = py.import("logging").and_then(|logging| {
                logging.call_method1("getLogger", ("polyfly",))?.call_method1("info", ("%s", text.to_string()))
            });
            // A logger that fails is no reason to stop.
            drop(logged);
        });
    }
}

/// Hands each frame to a Python function as an array.
pub struct PySink {
    /// `function(number, picture)`.
    pub function: Py<PyAny>,
    /// Whether pictures have four channels.
    pub has_alpha: bool,
    /// Where its exception goes.
    pub raised: Raised,
    /// Whether anybody still waits for frames.
    pub cancel: Cancel,
}

impl Sink for PySink {
    fn needs(&self) -> PixelFormats {
        PixelFormats { rgba8: true, ..PixelFormats::default() }
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        if self.cancel.is_abandoned() {
            return Ok(());
        }
        Python::attach(|py| {
            let picture = picture(py, (frame.width, frame.height), frame.rgba8(), self.has_alpha);
            picture.and_then(|picture| self.function.call1(py, (frame.number, picture)))
        })
        .map(drop)
        .map_err(|e| {
            let text = e.to_string();
            self.raised.keep(e);
            OutputError::Custom(text.into())
        })
    }
}

/// What a run did, as a dict.
pub fn report<'py>(py: Python<'py>, run: &RunReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("frames", run.frames)?;
    dict.set_item("skipped", run.skipped)?;
    dict.set_item("seconds", (run.time + run.finishing).as_secs_f64())?;
    dict.set_item("files", &run.files)?;
    dict.set_item("devices", run.devices.iter().map(|d| d.device.clone()).collect::<Vec<_>>())?;
    Ok(dict)
}

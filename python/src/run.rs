//! Runs with files: frames in a folder, a video, and the frames that exist already.

use crate::job::interruptible;
use crate::observers::{PyProgress, Raised, report};
use crate::renderer::frame_list;
use crate::scene::scene_of;
use crate::{raised, render_options};
use polyfly::{Cancel, Encode, RunRequest, VideoOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

fn choice(name: &str) -> PyResult<Encode> {
    match name {
        "fast" => Ok(Encode::Fast),
        "standard" => Ok(Encode::Standard),
        "small" => Ok(Encode::Small),
        other => {
            Err(PyValueError::new_err(format!("encode is {other:?}: expected \"fast\", \"standard\" or \"small\"")))
        }
    }
}

/// Renders a scene's frames into files, and into a video if one is named.
#[pyfunction]
#[pyo3(signature = (scene, *, frames=None, output=None, video=None, encode=None, crf=None, resume=false, overwrite=false, size=None, samples=None, device="auto", threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python names its arguments")]
pub fn run<'py>(
    py: Python<'py>,
    scene: &Bound<'py, PyAny>,
    frames: Option<&Bound<'py, PyAny>>,
    output: Option<PathBuf>,
    video: Option<PathBuf>,
    encode: Option<&str>,
    crf: Option<u32>,
    resume: bool,
    overwrite: bool,
    size: Option<(u32, u32)>,
    samples: Option<u32>,
    device: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let scene = scene_of(scene, size, samples)?;
    let frames = frame_list(frames, scene.output.frames)?;
    let (cancel, own) = (Cancel::new(), Raised::default());
    let mut request =
        RunRequest::new(scene).frames(frames).options(render_options(device, threads)?).cancel(cancel.clone());
    if let Some(pattern) = output {
        request = request.files(&pattern).map_err(raised)?;
    }
    if let Some(path) = video {
        request = request.video(path);
    }
    let mut encoding = VideoOptions::new();
    if let Some(name) = encode {
        encoding = encoding.encode(choice(name)?);
    }
    if let Some(crf) = crf {
        encoding = encoding.crf(crf);
    }
    request = request.video_options(encoding);
    if resume {
        request = request.resume();
    }
    if overwrite {
        request = request.overwrite();
    }
    let mut heard = PyProgress::new(progress, own.clone(), cancel.clone());
    let run = interruptible(py, &cancel, move || request.plan(&mut heard)?.run(&mut heard))?;
    own.take().map_or(run.map_err(raised), Err).and_then(|run| report(py, &run))
}

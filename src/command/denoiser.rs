//! Where Open Image Denoise is: named by the environment, in the system's search path, or in a package of Python's.

use crate::cli::environment;
use crate::film::post::denoise::DenoiserLibrary;
use crate::output::video::ffmpeg::output_text;
use crate::system::PYTHON;
use std::time::Duration;

// Time-out of Python.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The library. It may be missing.
pub fn library() -> DenoiserLibrary {
    match environment("POLYFLY_OIDN") {
        Some(path) => DenoiserLibrary::At(path.into()),
        None if DenoiserLibrary::Usual.check().is_ok() => DenoiserLibrary::Usual,
        None => in_python().unwrap_or(DenoiserLibrary::Usual),
    }
}

// The library in the package pyoidn of the Python that is first in the search path.
fn in_python() -> Option<DenoiserLibrary> {
    let asked = ["-c", "import importlib.util as i; print(i.find_spec('pyoidn').submodule_search_locations[0])"];
    let folder = output_text(PYTHON.as_ref(), asked.map(str::to_owned), TIMEOUT).ok()??;
    let library = DenoiserLibrary::At(folder.trim().into());
    library.check().is_ok().then_some(library)
}

/// A line of `doctor`: where the library is, or how to get it.
pub fn place() -> String {
    let library = library();
    match (library.check(), library) {
        (Err(e), _) => format!("denoiser\tnone: {e}\n"),
        (Ok(()), DenoiserLibrary::Usual) => "denoiser\tOpen Image Denoise, in the system's search path\n".into(),
        (Ok(()), DenoiserLibrary::At(path)) => format!("denoiser\tOpen Image Denoise, {}\n", path.display()),
    }
}

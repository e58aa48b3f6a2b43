//! Where Open Image Denoise is: named by the environment, or in the system's search path.

use crate::cli::environment;
use crate::film::post::denoise::DenoiserLibrary;

/// The library. It may be missing.
pub fn library() -> DenoiserLibrary {
    environment("POLYFLY_OIDN").map_or(DenoiserLibrary::Usual, |path| DenoiserLibrary::At(path.into()))
}

/// A line of `doctor`: where the library is, or how to get it.
pub fn location() -> String {
    let library = library();
    match (library.check(), library) {
        (Err(e), _) => format!("denoiser\tnone: {e}\n"),
        (Ok(()), DenoiserLibrary::Usual) => "denoiser\tOpen Image Denoise, in the system's search path\n".into(),
        (Ok(()), DenoiserLibrary::At(path)) => format!("denoiser\tOpen Image Denoise, {}\n", path.display()),
    }
}

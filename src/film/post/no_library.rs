//! Libraries where none can be loaded at run time, by the interface of `libloading`.
#![expect(unsafe_code, reason = "the functions of libloading are unsafe")]

use std::path::Path;

/// There is none.
pub enum Library {}

impl Library {
    /// Fails.
    ///
    /// # Safety
    /// It does nothing.
    pub unsafe fn new(_: &Path) -> Result<Library, &'static str> {
        Err("WebAssembly loads no libraries")
    }

    /// A function of the library, of which there is none.
    ///
    /// # Safety
    /// It is never called.
    pub unsafe fn get<T>(&self, _: &str) -> Result<&T, &'static str> {
        match *self {}
    }
}

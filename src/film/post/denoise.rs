//! Denoising by Intel's Open Image Denoise (<https://www.openimagedenoise.org>). The library is loaded at run time;
//! no build links it. Its results need not be equal byte for byte on all machines.
#![expect(unsafe_code, reason = "calls a C library that is loaded at run time")]

use crate::film::image::Image;
use crate::language::{Message, msg};
use crate::system::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Why a picture cannot be denoised.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.message())]
pub enum DenoiserError {
    /// The library is missing or has another version.
    NotFound(Message),
    /// The library's own error.
    Failed(String),
}

impl DenoiserError {
    pub(crate) fn message(&self) -> Message {
        match self {
            DenoiserError::NotFound(what) => what.clone(),
            DenoiserError::Failed(why) => msg!("{what}: {why}", what = "Open Image Denoise", why),
        }
    }
}

/// Where to find the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DenoiserLibrary {
    /// By its name, in the system's search path.
    Usual,
    /// A file, or a folder of a release or of the package pyoidn.
    At(PathBuf),
}

impl DenoiserLibrary {
    /// Tries to load it.
    ///
    /// # Errors
    /// It is missing, or is another version.
    pub fn check(&self) -> Result<(), DenoiserError> {
        find(self).map(drop)
    }
}

const NAMES: [&str; 4] =
    ["libOpenImageDenoise.so.2", "libOpenImageDenoise.so", "libOpenImageDenoise.2.dylib", "OpenImageDenoise.dll"];
// Folders of the library: in a release, and in the package pyoidn.
const FOLDERS: [&str; 5] = ["", "lib", "bin", "oidn/lib", "pyoidn/oidn/lib"];

// OIDNDeviceType and OIDNFormat of the C interface, version 2.
const CPU: c_int = 1;
const FLOAT3: c_int = 3;

type Handle = *mut c_void;

// The functions of the library.
struct Calls {
    set_image: unsafe extern "C" fn(Handle, *const c_char, Handle, c_int, usize, usize, usize, usize, usize),
    execute: unsafe extern "C" fn(Handle),
    error: unsafe extern "C" fn(Handle, *mut *const c_char) -> c_int,
    set_bool: unsafe extern "C" fn(Handle, *const c_char, bool),
    commit: unsafe extern "C" fn(Handle),
    release_filter: unsafe extern "C" fn(Handle),
    release_device: unsafe extern "C" fn(Handle),
}

// The filter's images. The filter keeps their addresses, so they must not move.
struct Filter {
    device: Handle,
    filter: Handle,
    colour: Vec<f32>,
    albedo: Vec<f32>,
    normal: Vec<f32>,
    output: Vec<f32>,
}
// SAFETY: the library's objects may be used from any thread, one at a time: a lock holds them.
unsafe impl Send for Filter {}

/// The library with a filter for pictures of one size.
pub struct Denoiser {
    calls: Calls,
    filter: Mutex<Filter>,
    // Last, because the functions are part of it.
    _library: Library,
}

fn missing(why: Message) -> DenoiserError {
    DenoiserError::NotFound(msg!(
        "--denoise needs the library Open Image Denoise 2: {why}; set POLYFLY_OIDN to its folder (`pip install --target oidn pyoidn` makes one: `oidn`)",
        why
    ))
}

fn find(from: &DenoiserLibrary) -> Result<Library, DenoiserError> {
    let open = |path: &Path| {
        // SAFETY: the library's start-up code is run, as of any library that the user names.
        unsafe { Library::new(path) }
    };
    match from {
        DenoiserLibrary::Usual => NAMES
            .iter()
            .find_map(|name| open(Path::new(name)).ok())
            .ok_or_else(|| missing(msg!("{name} is not found", name = NAMES[0]))),
        DenoiserLibrary::At(path) => {
            let names = || FOLDERS.iter().flat_map(|folder| NAMES.map(|name| path.join(folder).join(name)));
            let file = if path.is_dir() { names().find(|file| file.exists()) } else { Some(path.clone()) };
            let file = file.ok_or_else(|| {
                missing(msg!("{folder} does not have {name}", folder = path.display(), name = NAMES[0]))
            })?;
            open(&file).map_err(|e| {
                missing(msg!("{file} cannot be loaded: {why}", file = file.display(), why = e.to_string()))
            })
        }
    }
}

// A function of the library.
fn call<T: Copy>(library: &Library, name: &str) -> Result<T, DenoiserError> {
    // SAFETY: T is its type as oidn.h, version 2, declares it: the fields of Calls, and the types that Denoiser::new names.
    let symbol = unsafe { library.get::<T>(name) };
    symbol.map(|s| *s).map_err(|e| missing(msg!("it is another version: {why}", why = e.to_string())))
}

impl Denoiser {
    /// Loads the library for pictures of a size. With `threads` 0, the library chooses their number.
    pub fn new(
        from: &DenoiserLibrary,
        (width, height): (usize, usize),
        threads: usize,
    ) -> Result<Denoiser, DenoiserError> {
        let library = find(from)?;
        let new_device: unsafe extern "C" fn(c_int) -> Handle = call(&library, "oidnNewDevice")?;
        let set_int: unsafe extern "C" fn(Handle, *const c_char, c_int) = call(&library, "oidnSetDeviceInt")?;
        let set_device_bool: unsafe extern "C" fn(Handle, *const c_char, bool) = call(&library, "oidnSetDeviceBool")?;
        let commit_device: unsafe extern "C" fn(Handle) = call(&library, "oidnCommitDevice")?;
        let new_filter: unsafe extern "C" fn(Handle, *const c_char) -> Handle = call(&library, "oidnNewFilter")?;
        let calls = Calls {
            set_image: call(&library, "oidnSetSharedFilterImage")?,
            execute: call(&library, "oidnExecuteFilter")?,
            error: call(&library, "oidnGetDeviceError")?,
            set_bool: call(&library, "oidnSetFilterBool")?,
            commit: call(&library, "oidnCommitFilter")?,
            release_filter: call(&library, "oidnReleaseFilter")?,
            release_device: call(&library, "oidnReleaseDevice")?,
        };
        let values = 3 * width * height;
        let image = || vec![0.0f32; values];
        // SAFETY: handles are the library's own, names end with a nought, and the images live as long as the filter.
        let filter = unsafe {
            let device = new_device(CPU);
            if device.is_null() {
                return Err(missing(msg!("it makes no CPU device")));
            }
            if threads > 0 {
                set_int(device, c"numThreads".as_ptr(), threads as c_int);
            }
            // Without affinity, the library's threads may run on all cores that the tracing threads use.
            set_device_bool(device, c"setAffinity".as_ptr(), false);
            commit_device(device);
            let handle = new_filter(device, c"RT".as_ptr());
            let mut filter =
                Filter { device, filter: handle, colour: image(), albedo: image(), normal: image(), output: image() };
            let Filter { colour, albedo, normal, output, .. } = &mut filter;
            for (name, image) in [(c"color", colour), (c"albedo", albedo), (c"normal", normal), (c"output", output)] {
                let start = image.as_mut_ptr().cast();
                (calls.set_image)(handle, name.as_ptr(), start, FLOAT3, width, height, 0, 0, 0);
            }
            (calls.set_bool)(filter.filter, c"hdr".as_ptr(), true);
            (calls.commit)(filter.filter);
            filter
        };
        let denoiser = Denoiser { calls, filter: Mutex::new(filter), _library: library };
        denoiser.check(&denoiser.filter.lock().unwrap_or_else(PoisonError::into_inner))?;
        Ok(denoiser)
    }

    // The library's last error.
    fn check(&self, filter: &Filter) -> Result<(), DenoiserError> {
        let mut words: *const c_char = std::ptr::null();
        // SAFETY: the device is alive, and the words are a string of the library's until the next call.
        let failure = unsafe {
            let code = (self.calls.error)(filter.device, &mut words);
            let text = || CStr::from_ptr(words).to_string_lossy().into_owned();
            (code != 0).then(|| if words.is_null() { format!("error {code}") } else { text() })
        };
        failure.map_or(Ok(()), |words| Err(DenoiserError::Failed(words)))
    }

    /// Denoises a picture's mean light, with albedo and normals of its first surfaces.
    pub fn apply(&self, image: &mut Image<f32>, albedo: &Image<f32>, normal: &Image<f32>) -> Result<(), DenoiserError> {
        let mut filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
        filter.colour.copy_from_slice(image.data());
        filter.albedo.copy_from_slice(albedo.data());
        filter.normal.copy_from_slice(normal.data());
        // SAFETY: the filter is committed, and its images are as large as its width and height say.
        unsafe { (self.calls.execute)(filter.filter) };
        self.check(&filter)?;
        image.data_mut().copy_from_slice(&filter.output);
        Ok(())
    }
}

impl Drop for Denoiser {
    fn drop(&mut self) {
        let filter = self.filter.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: both were made once, and nothing uses them any more.
        unsafe {
            (self.calls.release_filter)(filter.filter);
            (self.calls.release_device)(filter.device);
        }
    }
}

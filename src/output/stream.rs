//! Writes frames one after the other to a stream: stdout, a pipe or a device.

use super::error::{NameFile, OutputError};
use super::formats::{Format, FormatOptions, sums};
use super::sink::{PixelFormats, RenderedFrame, Sink};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name of stdout. `-.EXTENSION` selects another format than PNG.
const STDOUT: &str = "-";
// Other names of stdout. A file that is opened by such a name has its own position, so what others write to stdout
// would end up among its bytes.
const STDOUT_PATHS: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// A stream of pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    // None for stdout.
    path: Option<PathBuf>,
    extension: String,
}

impl Stream {
    /// Parses a flag's value: `-`, `-.ppm` or `/dev/stdout` for stdout, or the path of an existing device or pipe. The default
    /// format is PNG.
    pub fn of(text: &str) -> Option<Stream> {
        if STDOUT_PATHS.contains(&text) {
            return Stream::of(STDOUT);
        }
        let stdout = text.strip_prefix(STDOUT).filter(|rest| rest.is_empty() || rest.starts_with('.'));
        if let Some(extension) = stdout {
            let extension = extension.strip_prefix('.').unwrap_or("png");
            return Some(Stream { path: None, extension: extension.to_ascii_lowercase() });
        }
        let path = Path::new(text);
        let what = std::fs::metadata(path).ok()?;
        (!what.is_file() && !what.is_dir()).then(|| Stream { path: Some(path.to_owned()), extension: "png".into() })
    }

    /// Whether a flag's value means stdout, or can only be meant for it.
    pub fn is_stdout(text: &str) -> bool {
        text.starts_with(STDOUT) || STDOUT_PATHS.contains(&text)
    }

    /// A line for each frame on stdout, with its SHA-256.
    pub fn sums() -> Stream {
        Stream { path: None, extension: sums::FORMAT.extension.into() }
    }

    /// The device or pipe; None for stdout.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub fn format(&self) -> Option<&'static Format> {
        if self.extension == sums::FORMAT.extension { Some(&sums::FORMAT) } else { Format::of(&self.extension) }
    }
}

pub struct StreamSink {
    pub stream: Stream,
    pub format: &'static Format,
    pub options: FormatOptions,
    pub to: Box<dyn Write + Send>,
}

impl Sink for StreamSink {
    fn needs(&self) -> PixelFormats {
        self.format.needs(&self.options)
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        // A picture is written at once, because half a picture is useless.
        let bytes = (self.format.encode)(frame, &self.options);
        let written = bytes.and_then(|bytes| self.to.write_all(&bytes)).and_then(|()| self.to.flush());
        written.writing(self.stream.path().unwrap_or(Path::new("stdout")))
    }
}

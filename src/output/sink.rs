//! The trait of outputs, and what they receive of a run and a frame.

use super::error::OutputError;
use super::opaque::opaque;
use crate::film::image::{Image, Layers};
use crate::kernels::Isa;
use crate::math::hash::{hex, of_picture};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// What a sink needs of each frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelFormats {
    /// RGBA, 8 bits per channel, after the tone curve.
    pub rgba8: bool,
    /// YUV 4:2:0 planes, BT.709 limited range, sides padded to even numbers.
    pub yuv420: bool,
    /// Linear light before the tone curve: red, green and blue.
    pub linear: bool,
    /// Albedo, normal, depth and samples of the first surfaces.
    pub layers: bool,
}

impl PixelFormats {
    pub(crate) const RGBA8: PixelFormats = PixelFormats { rgba8: true, yuv420: false, linear: false, layers: false };

    /// What at least one of the two needs.
    #[must_use]
    pub fn union(self, other: PixelFormats) -> PixelFormats {
        PixelFormats {
            rgba8: self.rgba8 || other.rgba8,
            yuv420: self.yuv420 || other.yuv420,
            linear: self.linear || other.linear,
            layers: self.layers || other.layers,
        }
    }
}

/// The facts about a run that are known before its first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// The number of frames that are rendered.
    pub frames: usize,
    /// The number of the first frame.
    pub first: u32,
    /// Picture width, pixels.
    pub width: u32,
    /// Picture height, pixels.
    pub height: u32,
}

/// A rendered frame.
pub struct RenderedFrame<'a> {
    /// The frame's number in the clip.
    pub number: u32,
    /// Picture width, pixels.
    pub width: u32,
    /// Picture height, pixels.
    pub height: u32,
    pub(crate) rgba: &'a [u8],
    pub(crate) planes: &'a [u8],
    // The YUV planes, converted once for all sinks of a frame.
    pub(crate) converted: Arc<OnceLock<Vec<u8>>>,
    pub(crate) linear: Option<&'a Image<f32>>,
    pub(crate) layers: Option<&'a Layers>,
    pub(crate) isa: Isa,
}

impl<'a> RenderedFrame<'a> {
    /// A frame from the caller's pixels, for sinks that need `rgba8` or `yuv420`. Rows run from the top, 4 bytes per
    /// pixel.
    ///
    /// # Panics
    /// The number of bytes does not match the size.
    pub fn of_rgba8(number: u32, (width, height): (u32, u32), rgba: &'a [u8]) -> RenderedFrame<'a> {
        let bytes = 4 * u64::from(width) * u64::from(height);
        assert_eq!(rgba.len() as u64, bytes, "the bytes of {width} x {height} pixels");
        RenderedFrame {
            number,
            width,
            height,
            rgba,
            planes: &[],
            converted: Arc::default(),
            linear: None,
            layers: None,
            isa: Isa::available()[0],
        }
    }
    /// Rows from the top, 4 bytes per pixel. Alpha is 255, or straight if the sky is transparent. Empty for sinks
    /// that did not request `rgba8`.
    pub fn rgba8(&self) -> &[u8] {
        self.rgba
    }
    /// SHA-256 of the picture, hexadecimal, as `--hash` prints it: width and height as little-endian 32-bit integers, then
    /// [`RenderedFrame::rgba8`].
    pub fn sha256(&self) -> String {
        hex(&of_picture((self.width, self.height), self.rgba))
    }
    /// The planes Y, U and V one after the other, sides padded to even numbers. They are converted from
    /// [`RenderedFrame::rgba8`] if the device did not make them.
    pub fn yuv420(&self) -> &[u8] {
        if !self.planes.is_empty() {
            return self.planes;
        }
        self.converted.get_or_init(|| {
            let (picture, mut planes, mut words) = (opaque(self.rgba), Vec::new(), Vec::new());
            // Kernels read aligned pixels; a caller's picture may begin at any byte.
            let aligned = match picture.as_ptr().align_offset(align_of::<u32>()) {
                0 => &*picture,
                _ => {
                    words.extend(picture.as_chunks::<4>().0.iter().map(|pixel| u32::from_ne_bytes(*pixel)));
                    bytemuck::cast_slice(&words)
                }
            };
            self.isa.convert(aligned, self.width, self.height, &mut planes);
            planes
        })
    }
    /// Linear light, 3 channels, for sinks that requested it.
    pub fn linear(&self) -> Option<&Image<f32>> {
        self.linear
    }
    /// Albedo, normal, depth and samples of the first surfaces, for sinks that requested them.
    pub fn layers(&self) -> Option<&Layers> {
        self.layers
    }
}

/// Whether a sink already has the frame of this number.
pub type Already = Box<dyn Fn(u32) -> bool + Send + Sync>;

/// How a run ended, for its sinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All frames were rendered.
    Complete,
    /// The run was stopped or failed before its last frame.
    Aborted,
}

/// An output of frames.
pub trait Sink: Send {
    /// What the sink needs of each frame. Nothing else is computed.
    fn needs(&self) -> PixelFormats;
    /// Opens the output. It is called once, before the first frame is rendered.
    ///
    /// # Errors
    /// The run ends before its first frame.
    fn open(&mut self, _run: &RunInfo) -> Result<(), OutputError> {
        Ok(())
    }
    /// Receives a frame. Frames come in order, except for [clones](Sink::worker_clone), which share them.
    ///
    /// # Errors
    /// The sink receives no more frames, and the run ends with the error. It ends at once if the sink is
    /// [essential](Sink::is_essential).
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError>;
    /// A function that tells which frames the sink already has. A frame that all sinks have is not rendered. None if
    /// the sink has no frames from earlier.
    fn completed_frames(&self) -> Option<Already> {
        None
    }
    /// A clone that receives some of the frames on its own thread. None if the sink needs all frames in order.
    fn worker_clone(&self) -> Option<Box<dyn Sink>> {
        None
    }
    /// Whether the run has no purpose without this sink.
    fn is_essential(&self) -> bool {
        true
    }
    /// Closes the output. Returns the path of the file if the sink has made a single one.
    ///
    /// # Errors
    /// The run ends with the error.
    fn finish(self: Box<Self>, _outcome: Outcome) -> Result<Option<PathBuf>, OutputError> {
        Ok(None)
    }
}

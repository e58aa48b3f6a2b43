//! What takes frames: the trait, and what a sink hears of a run and gets of a frame.

use super::error::OutputError;
use super::opaque::opaque;
use crate::film::image::{Image, Layers};
use crate::kernels::Isa;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// What a sink needs of each frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelFormats {
    /// RGBA, 8 bits a channel, after the tone curve.
    pub rgba8: bool,
    /// YUV 4:2:0 planes of it, BT.709 limited range, sides padded to even numbers.
    pub yuv420: bool,
    /// Linear light before the tone curve, red, green and blue.
    pub linear: bool,
    /// Colour, normal, distance and samples of the first surfaces.
    pub layers: bool,
}

impl PixelFormats {
    pub(crate) const RGBA8: PixelFormats = PixelFormats { rgba8: true, yuv420: false, linear: false, layers: false };

    /// What either needs.
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

/// What a run is, before its first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// Frames that it renders.
    pub frames: usize,
    /// Number of the first of them.
    pub first: u32,
    /// Picture size, pixels.
    pub width: u32,
    /// Picture size, pixels.
    pub height: u32,
}

/// A rendered frame, as sinks get it.
pub struct RenderedFrame<'a> {
    /// Its number in the clip.
    pub number: u32,
    /// Picture size, pixels.
    pub width: u32,
    /// Picture size, pixels.
    pub height: u32,
    pub(crate) rgba: &'a [u8],
    pub(crate) planes: &'a [u8],
    // The planes of a picture, once they are made: shared by all sinks of a frame.
    pub(crate) converted: Arc<OnceLock<Vec<u8>>>,
    pub(crate) linear: Option<&'a Image<f32>>,
    pub(crate) layers: Option<&'a Layers>,
    pub(crate) isa: Isa,
}

impl<'a> RenderedFrame<'a> {
    /// A frame of one's own, for sinks that need `rgba8` or `yuv420`: rows from the top, 4 bytes a pixel.
    ///
    /// # Panics
    /// There are more or fewer bytes than the size has.
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
    /// Rows from the top, 4 bytes a pixel; alpha is 255, and straight where the sky is transparent. Empty for sinks that did not ask for `rgba8`.
    pub fn rgba8(&self) -> &[u8] {
        self.rgba
    }
    /// The planes Y, U and V one after the other, sides padded to even numbers. Made of [`RenderedFrame::rgba8`] where the device
    /// did not make them.
    pub fn yuv420(&self) -> &[u8] {
        if !self.planes.is_empty() {
            return self.planes;
        }
        self.converted.get_or_init(|| {
            let (picture, mut planes, mut words) = (opaque(self.rgba), Vec::new(), Vec::new());
            // Kernels read whole pixels; a picture from elsewhere may begin at any byte.
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
    /// Linear light, 3 channels, for sinks that asked for it.
    pub fn linear(&self) -> Option<&Image<f32>> {
        self.linear
    }
    /// What the first surfaces are, for sinks that asked for it.
    pub fn layers(&self) -> Option<&Layers> {
        self.layers
    }
}

/// Whether a sink has a frame already.
pub type Already = Box<dyn Fn(u32) -> bool + Send + Sync>;

/// How a run ended, for its sinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All frames are rendered.
    Complete,
    /// It was stopped, or failed, before the last frame.
    Aborted,
}

/// Something that takes frames.
pub trait Sink: Send {
    /// What it needs of each frame; the kernels make no more than that.
    fn needs(&self) -> PixelFormats;
    /// Opens what it writes to; called once, before anything is rendered.
    ///
    /// # Errors
    /// End the run before its first frame.
    fn open(&mut self, _run: &RunInfo) -> Result<(), OutputError> {
        Ok(())
    }
    /// Takes a frame. Frames come in order, except to the [clones](Sink::worker_clone), which share them.
    ///
    /// # Errors
    /// The sink gets no more frames, and the run ends with the error; at once if it is [essential](Sink::is_essential).
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError>;
    /// What tells that it has a frame already, which then is not rendered if all sinks say so; None where none is there
    /// before it is made.
    fn completed_frames(&self) -> Option<Already> {
        None
    }
    /// Another like this one that can take every other frame on a thread of its own; None where the order counts.
    fn worker_clone(&self) -> Option<Box<dyn Sink>> {
        None
    }
    /// Whether the run has no purpose without it.
    fn is_essential(&self) -> bool {
        true
    }
    /// Closes what it writes to; gives the name of the one file that it has made, if it has.
    ///
    /// # Errors
    /// The run ends with the error.
    fn finish(self: Box<Self>, _outcome: Outcome) -> Result<Option<PathBuf>, OutputError> {
        Ok(None)
    }
}

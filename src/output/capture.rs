//! A sink that keeps frames in memory.

use super::error::OutputError;
use super::sink::{PixelFormats, RenderedFrame, Sink};
use crate::film::image::{Image, Layers};
use crate::threads::lock;
use std::sync::{Arc, Mutex};

/// A frame in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapturedFrame {
    /// The frame's number in the clip.
    pub number: u32,
    /// RGBA, 8 bits per channel, if requested.
    pub rgba8: Option<Image<u8>>,
    /// YUV 4:2:0 planes, if requested.
    pub yuv420: Option<Vec<u8>>,
    /// Linear light, if requested.
    pub linear: Option<Image<f32>>,
    /// Albedo, normal, depth and samples of the first surfaces, if requested.
    pub layers: Option<Layers>,
}

/// Keeps all frames in a list that it shares with its owner.
pub struct MemorySink {
    needs: PixelFormats,
    frames: Arc<Mutex<Vec<CapturedFrame>>>,
}

impl MemorySink {
    /// A sink, and the list that its frames are added to.
    pub fn new(needs: PixelFormats) -> (MemorySink, Arc<Mutex<Vec<CapturedFrame>>>) {
        let frames = Arc::default();
        (MemorySink { needs, frames: Arc::clone(&frames) }, frames)
    }
}

impl Sink for MemorySink {
    fn needs(&self) -> PixelFormats {
        self.needs
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let rgba8 = self.needs.rgba8.then(|| Image::new(frame.width, frame.height, 4, frame.rgba8().to_vec()));
        let kept = CapturedFrame {
            number: frame.number,
            rgba8,
            yuv420: self.needs.yuv420.then(|| frame.yuv420().to_vec()),
            linear: frame.linear().cloned(),
            layers: frame.layers().cloned(),
        };
        lock(&self.frames).push(kept);
        Ok(())
    }
}

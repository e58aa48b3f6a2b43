//! Images in memory.

use crate::math::hash::{hex, of_picture};
use rayon::prelude::*;

impl Image<u8> {
    /// SHA-256 of the picture, hexadecimal, as `--hash` and manifest.json have it: width and height as little-endian 32-bit integers,
    /// then all values.
    pub fn sha256(&self) -> String {
        hex(&of_picture((self.width, self.height), &self.data))
    }
}

/// Rows of pixels from the top, with interleaved channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image<T> {
    width: u32,
    height: u32,
    channels: usize,
    data: Vec<T>,
}

impl<T> Image<T> {
    /// An image of `width * height * channels` values.
    ///
    /// # Panics
    /// The length of `data` does not match.
    pub fn new(width: u32, height: u32, channels: usize, data: Vec<T>) -> Image<T> {
        assert_eq!(
            data.len(),
            width as usize * height as usize * channels,
            "the number of values does not match the size of the image"
        );
        Image { width, height, channels, data }
    }
    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }
    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }
    /// Values per pixel: 3 for red, green and blue, 4 with alpha, 1 for a depth.
    pub fn channels(&self) -> usize {
        self.channels
    }
    /// All values.
    pub fn data(&self) -> &[T] {
        &self.data
    }
    /// All values, mutable.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }
    /// Converts the image to its values.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }
    /// The values of the pixel at column `x`, row `y`.
    ///
    /// # Panics
    /// The position is outside the image.
    pub fn pixel(&self, x: u32, y: u32) -> &[T] {
        assert!(x < self.width && y < self.height, "({x}, {y}) is in the image");
        let at = self.channels * (y as usize * self.width as usize + x as usize);
        &self.data[at..at + self.channels]
    }
}

impl Image<f32> {
    /// Changes all rows in parallel, in the current thread pool. `change` receives the number of a row and its
    /// pixels, which have three channels.
    ///
    /// # Panics
    /// The image does not have three channels.
    pub fn each_row(&mut self, change: impl Fn(u32, &mut [[f32; 3]]) + Sync) {
        assert_eq!(self.channels, 3, "light has red, green and blue");
        let width = self.width.max(1) as usize;
        let rows = self.data.as_chunks_mut::<3>().0;
        rows.par_chunks_mut(width).enumerate().for_each(|(y, row)| change(y as u32, row));
    }
}

/// The first surfaces seen through each pixel, averaged over its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// The fraction of white light that the surface reflects or transmits, 0 to 1 per channel.
    pub albedo: Image<f32>,
    /// The surface's normal, towards the camera, in the scene's axes.
    pub normal: Image<f32>,
    /// The minimum distance from the camera, in the scene's units; infinite if there is only sky.
    pub depth: Image<f32>,
    /// The fraction of samples that hit a surface.
    pub coverage: Image<f32>,
    /// The number of samples of light.
    pub samples: Image<f32>,
}

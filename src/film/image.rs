//! Images in memory.

use rayon::prelude::*;

/// Rows of pixels from the top, with the channels of each pixel side by side.
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
    /// When there are not so many.
    pub fn new(width: u32, height: u32, channels: usize, data: Vec<T>) -> Image<T> {
        assert_eq!(
            data.len(),
            width as usize * height as usize * channels,
            "an image has as many values as it is large"
        );
        Image { width, height, channels, data }
    }
    /// Pixels across.
    pub fn width(&self) -> u32 {
        self.width
    }
    /// Pixels down.
    pub fn height(&self) -> u32 {
        self.height
    }
    /// Values of each pixel: 3 for red, green and blue, 4 with alpha, 1 for a distance.
    pub fn channels(&self) -> usize {
        self.channels
    }
    /// All values.
    pub fn data(&self) -> &[T] {
        &self.data
    }
    /// All values, to be changed.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }
    /// All values, without the image.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }
    /// The values of the pixel at column `x`, row `y`.
    ///
    /// # Panics
    /// Outside of the image.
    pub fn pixel(&self, x: u32, y: u32) -> &[T] {
        assert!(x < self.width && y < self.height, "({x}, {y}) is in the image");
        let at = self.channels * (y as usize * self.width as usize + x as usize);
        &self.data[at..at + self.channels]
    }
}

impl Image<f32> {
    /// Changes rows of three channels, with their numbers, side by side on the threads of the pool that this is called in.
    ///
    /// # Panics
    /// The image has more or fewer channels.
    pub fn each_row(&mut self, change: impl Fn(u32, &mut [[f32; 3]]) + Sync) {
        assert_eq!(self.channels, 3, "light has red, green and blue");
        let width = self.width.max(1) as usize;
        let rows = self.data.as_chunks_mut::<3>().0;
        rows.par_chunks_mut(width).enumerate().for_each(|(y, row)| change(y as u32, row));
    }
}

/// What the first surfaces seen through the pixels are: averages over each pixel's samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// The share of white light that the surface sends on, 0 to 1 by colour.
    pub albedo: Image<f32>,
    /// The surface's direction, towards the eye, in the scene's axes.
    pub normal: Image<f32>,
    /// The nearest distance from the eye, in the scene's units; infinite where there is only sky.
    pub depth: Image<f32>,
    /// The share of samples that met a surface.
    pub coverage: Image<f32>,
    /// Samples of light that were taken.
    pub samples: Image<f32>,
}

//! A picture in ever smaller images, each half the size of the one before. Post steps that scatter light work on them.

use crate::film::image::Image;
use crate::kernels::Isa;
use rayon::prelude::*;

/// A level of the pyramid, in planes of three channels.
pub struct Level {
    pub width: usize,
    pub height: usize,
    pub channels: [Vec<f32>; 3],
}

// The rows of one channel, planar or interleaved.
#[derive(Clone, Copy)]
struct Rows<'a> {
    values: &'a [f32],
    width: usize,
    stride: usize,
}

impl<'a> Rows<'a> {
    fn row(&self, y: usize) -> &'a [f32] {
        let len = self.stride * self.width;
        &self.values[y * len..(y + 1) * len]
    }
}

/// The levels of a picture, from the finest: at most `count`, at least one. The last may have one pixel.
pub fn pyramid(image: &Image<f32>, count: usize, isa: Isa) -> Vec<Level> {
    let pixels = Rows { values: image.data(), width: image.width() as usize, stride: 3 };
    let mut levels = vec![Level::halved([0, 1, 2].map(|_| pixels), image.height() as usize, isa)];
    while levels.len() < count {
        let Some(last) = levels.last().filter(|l| l.width > 1 || l.height > 1) else { break };
        let channels = [0, 1, 2].map(|i| Rows { values: &last.channels[i], width: last.width, stride: 1 });
        let next = Level::halved(channels, last.height, isa);
        levels.push(next);
    }
    levels
}

impl Level {
    /// A black image.
    pub fn new(width: usize, height: usize) -> Level {
        Level { width, height, channels: [0, 1, 2].map(|_| vec![0.0; width * height]) }
    }

    // Halves a level in both directions with the weights 1 3 3 1, first vertically. Border pixels are repeated.
    fn halved(channels: [Rows; 3], height: usize, isa: Isa) -> Level {
        let Rows { width, stride, .. } = channels[0];
        let (wide, tall) = (width.div_ceil(2), height.div_ceil(2));
        let mut level = Level::new(wide, tall);
        let around = |at: usize| {
            let last = height - 1;
            [(2 * at).saturating_sub(1), (2 * at).min(last), (2 * at + 1).min(last), (2 * at + 2).min(last)]
        };
        let [r, g, b] = level.channels.each_mut().map(|channel| channel.par_chunks_mut(wide));
        r.zip(g).zip(b).enumerate().for_each_init(
            || vec![0.0; stride * width],
            |column, (y, ((r, g), b))| {
                for (i, out) in [r, g, b].into_iter().enumerate() {
                    if stride == 1 || i == 0 {
                        isa.downsample_rows(around(y).map(|y| channels[i].row(y)), column);
                    }
                    isa.downsample_columns(&column[i % stride..], width, stride, out);
                }
            },
        );
        level
    }

    // Interpolates row `y` of the next finer level linearly between four values of this one. The center of a finer
    // pixel lies a quarter of a pixel before or after that of a coarser one.
    fn read(&self, channel: usize, y: usize, isa: Isa, out: &mut [f32]) {
        let near = (y / 2).min(self.height - 1);
        let other = if y.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(self.height - 1) };
        let row = |y: usize| &self.channels[channel][y * self.width..(y + 1) * self.width];
        isa.upsample(row(near), row(other), out);
    }

    /// Each pixel of the next finer level becomes `own` of itself and `rest` of this one.
    pub fn mix_into(&self, fine: &mut Level, own: f32, rest: f32, isa: Isa) {
        let wide = fine.width;
        for (i, channel) in fine.channels.iter_mut().enumerate() {
            channel.par_chunks_mut(wide).enumerate().for_each_init(
                || vec![0.0; wide],
                |read, (y, row)| {
                    self.read(i, y, isa, read);
                    isa.mix(row, read, own, rest);
                },
            );
        }
    }

    /// The same for the picture itself.
    pub fn mix_into_picture(&self, image: &mut Image<f32>, own: f32, rest: f32, isa: Isa) {
        image.each_row(|y, row| {
            let read = [0, 1, 2].map(|i| {
                let mut read = vec![0.0; row.len()];
                self.read(i, y as usize, isa, &mut read);
                read
            });
            isa.mix_pixels(row, read.each_ref().map(Vec::as_slice), own, rest);
        });
    }
}

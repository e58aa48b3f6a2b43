//! Which pixels are neighbors: those of both eyes of a stereo picture are not, and those at both ends of a panorama are. Post steps that look
//! around a pixel get each eye's picture by itself, a panorama with its ends repeated beyond them.

use crate::film::image::Image;
use crate::scene::{CameraPath, Projection, Scene, Stereo, View};
use rayon::prelude::*;
use std::ops::Range;

/// What lies around the pixels of a clip's pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Around {
    stereo: Stereo,
    // A frame's view if it is a panorama whose field of view does not change.
    panorama: Option<View>,
}

/// An eye's part of a picture, with what lies beside it.
pub struct EyeImage {
    // Of the picture, from left to right.
    columns: Vec<usize>,
    rows: Range<usize>,
    // The part's own ones among the columns.
    own: Range<usize>,
}

impl EyeImage {
    /// Its width and height, with what lies beside it.
    pub fn size(&self) -> (usize, usize) {
        (self.columns.len(), self.rows.len())
    }
    /// Its values, from those of a picture of this width whose rows have several planes.
    pub fn cut<T: Copy + Send + Sync>(&self, values: &[T], width: usize, planes: usize) -> Vec<T> {
        let lines = (planes * self.rows.start..planes * self.rows.end).into_par_iter();
        lines.flat_map_iter(|line| self.columns.iter().map(move |x| values[line * width + x])).collect()
    }
    /// The part of an image.
    pub fn of(&self, image: &Image<f32>) -> Image<f32> {
        let (width, height) = self.size();
        let values = self.cut(image.data().as_chunks::<3>().0, image.width() as usize, 1);
        Image::new(width as u32, height as u32, 3, values.as_flattened().to_vec())
    }
    fn put(&self, part: &Image<f32>, image: &mut Image<f32>) {
        let (wide, own) = (self.columns.len(), &self.own);
        let first = self.columns.get(own.start).copied().unwrap_or_default();
        let values = part.data().as_chunks::<3>().0;
        image.each_row(|y, row| {
            if let Some(y) = (y as usize).checked_sub(self.rows.start).filter(|y| *y < self.rows.len()) {
                let line = &values[y * wide..][own.clone()];
                row[first..first + line.len()].copy_from_slice(line);
            }
        });
    }
}

impl Around {
    pub fn of(scene: &Scene) -> Around {
        let (camera, view) = (&scene.camera, scene.camera.view(0, scene.output.frames));
        let keys = if let CameraPath::Keys { keys, .. } = &camera.path { &keys[..] } else { &[] };
        let is_still = !scene.tracks.change("camera.fov_deg") && keys.iter().all(|key| key.fov_deg == keys[0].fov_deg);
        let is_panorama = camera.projection == Projection::Panorama && is_still;
        Around { stereo: camera.stereo, panorama: is_panorama.then_some(view) }
    }

    /// Whether neighbors are just the pixels that are beside each other.
    pub fn is_plain(&self) -> bool {
        self.stereo == Stereo::None && self.panorama.is_none()
    }

    /// The parts of a picture of this size, which are of equal size.
    pub fn parts(&self, (width, height): (u32, u32)) -> Vec<EyeImage> {
        let [columns, rows] = match self.stereo {
            Stereo::None => [1, 1],
            Stereo::SideBySide => [2, 1],
            Stereo::OverUnder => [1, 2],
        };
        // With an odd number of columns or rows, both eyes have the middle one.
        let (wide, tall) = (width.div_ceil(columns), height.div_ceil(rows));
        let goes_around = |view: View| (view.per_pixel(wide, tall) * f64::from(wide) - 1.0).abs() < 1e-6;
        let margin = if self.panorama.is_some_and(goes_around) { wide as usize / 2 } else { 0 };
        let (width, height, wide, tall) = (width as usize, height as usize, wide as usize, tall as usize);
        let part = |first: usize, top: usize| EyeImage {
            columns: (0..wide + 2 * margin).map(|x| first + (x + wide - margin) % wide.max(1)).collect(),
            rows: top..top + tall,
            own: margin..margin + wide,
        };
        let lasts = [(0, 0), (width - wide, height - tall)];
        lasts[..(columns * rows) as usize].iter().map(|&(first, top)| part(first, top)).collect()
    }

    /// Changes the parts of an image, each by itself; the whole image, without a part, if all pixels are neighbors.
    pub fn each<E>(
        &self,
        image: &mut Image<f32>,
        mut change: impl FnMut(&mut Image<f32>, Option<&EyeImage>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_plain() {
            return change(image, None);
        }
        for part in self.parts((image.width(), image.height())) {
            let mut one = part.of(image);
            change(&mut one, Some(&part))?;
            part.put(&one, image);
        }
        Ok(())
    }
}

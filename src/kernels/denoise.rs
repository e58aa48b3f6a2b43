//! The kernels of the denoiser (kernels/post/denoise.cuh and steady.cuh), which make rows of pictures. Callers distribute the rows over
//! threads.

use super::Isa;
use crate::gpu_types::{
    BodyMotion, DENOISE_GUIDES, DENOISE_LIGHT, DENOISE_SAMPLES, DENOISE_SUMS, DenoiseFilm, Features, LendingView,
    SeenFrame,
};
use crate::scene::limits::MAX_SIDE;

/// Channels of the pictures.
pub const LIGHT: usize = DENOISE_LIGHT as usize;
pub const GUIDES: usize = DENOISE_GUIDES as usize;
pub const SAMPLES: usize = DENOISE_SAMPLES as usize;
pub const SUMS: usize = DENOISE_SUMS as usize;

/// Width and height in pixels.
pub type Size = (usize, usize);

/// The sums of light of a frame.
#[derive(Clone, Copy)]
pub struct FilmSums<'a> {
    /// Red, green and blue of each pixel, of two halves of the samples, with their numbers. The second one may be empty.
    pub halves: [(&'a [i64], u32); 2],
    /// The samples of each pixel if they differ; else empty.
    pub taken: &'a [u32],
}

/// A frame as the denoiser of another one sees it.
#[derive(Clone, Copy)]
pub struct SeenSlices<'a> {
    pub light: &'a [f32],
    pub guides: &'a [f32],
    pub filtered: &'a [f32],
}

impl SeenSlices<'_> {
    fn checked(&self, size: Size) -> SeenFrame {
        check(&[(self.light, LIGHT), (self.guides, GUIDES), (self.filtered, 1)], size);
        let SeenSlices { light, guides, filtered } = self;
        SeenFrame { light: light.as_ptr(), guides: guides.as_ptr(), filtered: filtered.as_ptr() }
    }
}

// The address of values that may be missing.
fn pointer_to<T>(values: &[T]) -> *const T {
    if values.is_empty() { std::ptr::null() } else { values.as_ptr() }
}

// Whether pictures of this size have all values of their channels.
fn check(pictures: &[(&[f32], usize)], (width, height): Size) {
    assert!(width.max(height) <= MAX_SIDE as usize);
    assert!(pictures.iter().all(|(picture, channels)| picture.len() == channels * width * height));
}

impl Isa {
    /// Row `y` of guides, from features that are sums over `samples`.
    pub fn denoise_guides(
        &self,
        features: &[Features],
        samples: u32,
        (width, height): Size,
        y: usize,
        guides: &mut [f32],
    ) {
        assert!(y < height && features.len() == width * height && guides.len() == GUIDES * width);
        let (samples, width, height) = (samples.cast_signed(), width as i32, height as i32);
        // SAFETY: each pixel has features, and the row all channels.
        unsafe {
            (self.entries.denoise_guides)(features.as_ptr(), samples, width, height, y as i32, guides.as_mut_ptr());
        };
    }

    /// Row `y` of light, from the sums and that row of guides.
    pub fn denoise_light(&self, film: &FilmSums, guides: &[f32], y: usize, light: &mut [f32]) {
        let width = light.len() / LIGHT;
        let [(first, first_samples), (second, second_samples)] = film.halves;
        let end = width * (y + 1);
        assert!(first.len() >= 3 * end && (second.is_empty() || second.len() >= 3 * end));
        assert!((film.taken.is_empty() || film.taken.len() >= end) && guides.len() == GUIDES * width);
        let film = DenoiseFilm {
            first: first.as_ptr(),
            second: pointer_to(second),
            taken: pointer_to(film.taken),
            first_samples: first_samples.cast_signed(),
            second_samples: second_samples.cast_signed(),
        };
        // SAFETY: all sums reach to the end of the row, and both rows have all channels.
        unsafe { (self.entries.denoise_light)(&film, guides.as_ptr(), width as i32, y as i32, light.as_mut_ptr()) };
    }

    /// Row `y` of light with noise measured between neighbors.
    pub fn denoise_noise(&self, light: &[f32], (width, height): Size, y: usize, out: &mut [f32]) {
        check(&[(light, LIGHT)], (width, height));
        assert!(y < height && out.len() == LIGHT * width);
        // SAFETY: the picture has all channels of its pixels, and out has a row of them.
        unsafe {
            (self.entries.denoise_noise)(light.as_ptr(), width as i32, height as i32, y as i32, out.as_mut_ptr());
        };
    }

    /// Row `y` of light with a smoothed variance.
    pub fn smooth_variance(&self, light: &[f32], guides: &[f32], (width, height): Size, y: usize, out: &mut [f32]) {
        check(&[(light, LIGHT), (guides, GUIDES)], (width, height));
        assert!(y < height && out.len() == LIGHT * width);
        let (light, guides, out) = (light.as_ptr(), guides.as_ptr(), out.as_mut_ptr());
        // SAFETY: the pictures have all channels of their pixels, and out has a row of light.
        unsafe { (self.entries.smooth_variance)(light, guides, width as i32, height as i32, y as i32, out) };
    }

    /// Row `y` of the sums of weights of a pass whose pixels lie `step` apart.
    pub fn denoise_weigh(
        &self,
        (light, guides): (&[f32], &[f32]),
        (width, height): Size,
        y: usize,
        step: i32,
        out: &mut [f32],
    ) {
        check(&[(light, LIGHT), (guides, GUIDES)], (width, height));
        assert!(y < height && out.len() == width);
        let (light, guides, out) = (light.as_ptr(), guides.as_ptr(), out.as_mut_ptr());
        // SAFETY: the pictures have all channels of their pixels, and out has a number for each pixel of a row.
        unsafe { (self.entries.denoise_weigh)(light, guides, width as i32, height as i32, y as i32, step, out) };
    }

    /// Row `y` of light after that pass, from light, guides and the sums of weights.
    pub fn denoise(
        &self,
        [light, guides, weighed]: [&[f32]; 3],
        (width, height): Size,
        y: usize,
        step: i32,
        out: &mut [f32],
    ) {
        check(&[(light, LIGHT), (guides, GUIDES), (weighed, 1)], (width, height));
        assert!(y < height && out.len() == LIGHT * width);
        let [light, guides, weighed] = [light, guides, weighed].map(<[f32]>::as_ptr);
        let (width, height, out) = (width as i32, height as i32, out.as_mut_ptr());
        // SAFETY: the pictures have all channels of their pixels, and out has a row of light.
        unsafe { (self.entries.denoise)(light, guides, weighed, width, height, y as i32, step, out) };
    }

    /// The luminance of a row of light.
    pub fn denoise_luminance(&self, light: &[f32], out: &mut [f32]) {
        assert_eq!(light.len(), LIGHT * out.len());
        // SAFETY: the row has all channels of out's pixels.
        unsafe { (self.entries.denoise_luminance)(light.as_ptr(), out.len() as i32, out.as_mut_ptr()) };
    }

    /// A row of pixels without noise, from those rows of light and guides.
    pub fn denoise_clean(&self, light: &[f32], guides: &[f32], row: &mut [[f32; 3]]) {
        assert!(light.len() == LIGHT * row.len() && guides.len() == GUIDES * row.len());
        let (width, row) = (row.len() as i32, row.as_flattened_mut().as_mut_ptr());
        // SAFETY: both rows have all channels of the row's pixels.
        unsafe { (self.entries.denoise_clean)(light.as_ptr(), guides.as_ptr(), width, row) };
    }

    /// Row `y` of samples of another frame. `motions` has that of things at rest, and those of the view's bodies.
    pub fn look_up(
        &self,
        (view, motions): (&LendingView, &[BodyMotion]),
        own: &SeenSlices,
        other: &SeenSlices,
        y: usize,
        samples: &mut [f32],
    ) {
        let size = (view.width.unsigned_abs() as usize, view.height.unsigned_abs() as usize);
        let (own, other) = (own.checked(size), other.checked(size));
        assert!(y < size.1 && samples.len() == SAMPLES * size.0);
        assert_eq!(motions.len(), 1 + view.bodies.unsigned_abs() as usize);
        // SAFETY: both frames have all channels of the view's pixels, samples has a row of them, and each body has a motion.
        unsafe { (self.entries.look_up)(view, motions.as_ptr(), &own, &other, y as i32, samples.as_mut_ptr()) };
    }

    /// Row `y` of sums with another frame's samples. `light` is that row of the frame's own light, with which the sums begin.
    pub fn blend(
        &self,
        samples: &[f32],
        light: &[f32],
        (width, height): Size,
        (y, begins): (usize, bool),
        sums: &mut [f32],
    ) {
        check(&[(samples, SAMPLES)], (width, height));
        assert!(y < height && light.len() == LIGHT * width && sums.len() == SUMS * width);
        let (samples, light, sums) = (samples.as_ptr(), light.as_ptr(), sums.as_mut_ptr());
        let (width, height, y) = (width as i32, height as i32, y as i32);
        // SAFETY: the picture has all channels of its pixels, and the rows have theirs.
        unsafe { (self.entries.blend)(samples, light, width, height, y, i32::from(begins), sums) };
    }

    /// A row of light from its sums.
    pub fn share(&self, sums: &[f32], light: &mut [f32]) {
        let width = light.len() / LIGHT;
        assert!(light.len() == LIGHT * width && sums.len() == SUMS * width);
        // SAFETY: both rows have all channels of as many pixels.
        unsafe { (self.entries.share)(sums.as_ptr(), width as i32, light.as_mut_ptr()) };
    }
}

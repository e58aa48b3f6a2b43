//! Post steps: from a frame's mean light to its picture. The list of steps is a value. The host runs it with the
//! kernels of its instruction set; a device runs it if it supports all of its steps.

pub mod around;
pub mod bloom;
pub mod denoise;
pub mod glare;
pub mod guided;
pub mod lens;
mod pyramid;
pub mod steady;

use super::furniture::{Furniture, MapShown};
use super::image::{Image, Layers};
use crate::device_scene::HostScene;
use crate::gpu_types::PostParams;
use crate::kernels::Isa;
use crate::kernels::develop::{curve_of, per_square, punch_of};
use crate::scene::{Camera, Denoise, Exposure, FilmSettings, Scene, Tone};
use around::Around;
use bloom::Bloom;
use denoise::{Denoiser, DenoiserError, DenoiserLibrary};
use glare::Glare;
use guided::Noisy;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// A step between the mean light and the tone curve, in linear light.
#[derive(Clone, Debug, PartialEq)]
pub enum PostStep {
    /// Removes noise with a library.
    Denoise(DenoiserLibrary),
    /// Removes noise with the built-in filter.
    Guided,
    /// Exposure and white balance: a factor for each channel.
    Gain([f32; 3]),
    /// Light that the aperture bends into rays.
    Glare(Glare),
    /// Light that the lens scatters.
    Bloom(Bloom),
    /// Darkens corners as a lens does, by 1 / (1 + k r²)², with r from 0 to 1 at the corners.
    Vignette(f32),
    /// Adds noise proportional to the square root of light, like photographic grain. It is equal in all channels and
    /// new in each frame. The value is its amplitude at a light of 1.
    Grain(f32),
    /// Draws legend, title, scale bar and axes over the picture.
    Furniture(Arc<Furniture>),
}

/// The resources of a frame's post steps.
#[derive(Clone, Copy)]
pub struct PostContext<'a> {
    /// The scene, which has the tone curve's table.
    pub scene: &'a HostScene<'a>,
    pub isa: Isa,
    pub frame: u32,
    /// The denoiser, if a step needs it.
    pub denoiser: Option<&'a Denoiser>,
    /// The noisy light, which replaces the image's, for the built-in denoiser.
    pub noisy: Option<&'a Noisy>,
}

impl PostStep {
    // Whether the bytes depend on the machine.
    fn is_library(&self) -> bool {
        matches!(self, PostStep::Denoise(_))
    }
    // Whether light of one pixel comes to others.
    fn spreads_light(&self) -> bool {
        matches!(self, PostStep::Glare(_) | PostStep::Bloom(_))
    }
    // Whether it depends on where a pixel is among others.
    fn looks_around(&self) -> bool {
        self.is_denoiser() || self.spreads_light() || matches!(self, PostStep::Vignette(_))
    }
    fn is_denoiser(&self) -> bool {
        matches!(self, PostStep::Denoise(_) | PostStep::Guided)
    }
    /// Adds the step to a device's parameters; false if only the host can run it.
    fn add_to(&self, params: &mut PostParams, height: u32) -> bool {
        match self {
            PostStep::Denoise(_) | PostStep::Furniture(_) => return false,
            // Devices take it from the task.
            PostStep::Guided => {}
            PostStep::Gain(gain) => params.gain = *gain,
            // Devices take its passes from the step itself.
            PostStep::Glare(_) => {}
            PostStep::Bloom(bloom) => {
                (params.bloom, params.bloom_levels) = (bloom.fraction as f32, bloom.levels(height) as i32);
            }
            PostStep::Vignette(k) => params.vignette = *k,
            PostStep::Grain(grain) => params.grain = *grain,
        }
        true
    }
    fn apply(
        &self,
        image: &mut Image<f32>,
        layers: Option<&Layers>,
        context: &PostContext,
        around: &Around,
    ) -> Result<(), DenoiserError> {
        let PostContext { isa, frame, denoiser, noisy, .. } = *context;
        match self {
            PostStep::Denoise(_) => {
                if let (Some(denoiser), Some(Layers { albedo, normal, .. })) = (denoiser, layers) {
                    around.each(image, |image, part| match part {
                        Some(part) => denoiser.apply(image, &part.of(albedo), &part.of(normal)),
                        None => denoiser.apply(image, albedo, normal),
                    })?;
                }
            }
            PostStep::Guided => {
                let Some(noisy) = noisy else { return Ok(()) };
                if image.data().is_empty() && !around.is_plain() {
                    let (width, height) = (noisy.width as u32, noisy.height as u32);
                    *image = Image::new(width, height, 3, vec![0.0; 3 * noisy.width * noisy.height]);
                }
                around.each(image, |image, part| {
                    *image = part.map_or_else(|| noisy.clean(isa), |part| noisy.cut(part).clean(isa));
                    Ok(())
                })?;
            }
            PostStep::Gain([r, g, b]) => {
                image.each_row(|_, row| row.iter_mut().for_each(|p| *p = [p[0] * r, p[1] * g, p[2] * b]));
            }
            PostStep::Glare(glare) => around.each(image, |image, _| {
                glare.apply(image, isa);
                Ok(())
            })?,
            PostStep::Bloom(bloom) => around.each(image, |image, _| {
                bloom.apply(image, isa);
                Ok(())
            })?,
            PostStep::Vignette(k) => around.each(image, |image, _| {
                let height = image.height();
                image.each_row(|y, row| isa.vignette(row, height, y, *k));
                Ok(())
            })?,
            PostStep::Grain(strength) => image.each_row(|y, row| isa.grain(row, y, frame, *strength)),
            // It covers pixels, and comes last: see `picture`.
            PostStep::Furniture(_) => {}
        }
        Ok(())
    }
}

/// The steps, the tone curve and the conversion to eight bits.
#[derive(Clone, Debug, PartialEq)]
pub struct PostPipeline {
    /// The steps, in order.
    pub steps: Vec<PostStep>,
    pub tone: Tone,
    /// Whether the conversion to eight bits is dithered.
    pub dither: bool,
    /// Which pixels are neighbors.
    pub around: Around,
    // The exposure, in stops: measured if it is automatic.
    stops: f64,
    // The scene, if its film changes over the clip. Then the steps are those of the start.
    changing: Option<Arc<Scene>>,
}

impl PostPipeline {
    /// The steps of a scene. `stops` is the exposure, `map` the particles' color map for the legend, `denoise` the denoiser's library if
    /// noise is to be removed. With automatic exposure, the list of steps does not depend on `stops`.
    pub fn new(scene: &Scene, stops: f64, map: Option<MapShown>, denoise: Option<&DenoiserLibrary>) -> PostPipeline {
        let furniture = Furniture::of(scene, map).map(|furniture| PostStep::Furniture(Arc::new(furniture)));
        let changing = scene.film_moves().then(|| Arc::new(scene.clone()));
        let own = (scene.film.denoise == Denoise::Guided).then_some(PostStep::Guided);
        let denoise = denoise.cloned().map(PostStep::Denoise).or(own);
        let ends = (denoise, furniture);
        let at_start = PostPipeline::of(&scene.film, &scene.camera, Around::of(scene), stops, ends);
        PostPipeline { changing, ..at_start }
    }

    // The steps of a film between the first and the last one.
    fn of(
        film: &FilmSettings,
        camera: &Camera,
        around: Around,
        automatic: f64,
        (first, last): (Option<PostStep>, Option<PostStep>),
    ) -> PostPipeline {
        let stops = if let Exposure::Stops(stops) = film.exposure { stops } else { automatic };
        let gain = lens::gain(stops, film.white_balance);
        let bloom = Bloom { fraction: film.bloom, radius: film.bloom_radius };
        let steps = [
            first,
            (film.exposure == Exposure::Auto || gain != [1.0; 3]).then_some(PostStep::Gain(gain)),
            Glare::of(film, camera).map(PostStep::Glare),
            (film.bloom > 0.0).then_some(PostStep::Bloom(bloom)),
            (film.vignette > 0.0).then(|| PostStep::Vignette(lens::vignette(film.vignette))),
            (film.grain > 0.0).then(|| PostStep::Grain(lens::grain(film.grain))),
            last,
        ];
        let steps = steps.into_iter().flatten().collect();
        PostPipeline { steps, tone: film.tone, dither: film.is_dithered(), around, stops, changing: None }
    }

    /// The steps of a frame, which has its own film if the film changes over the clip.
    pub fn of_frame(&self, frame: u32) -> Cow<'_, PostPipeline> {
        let Some(scene) = &self.changing else { return Cow::Borrowed(self) };
        let moment = f64::from(frame);
        let kept = |kind: fn(&PostStep) -> bool| self.steps.iter().find(|step| kind(step)).cloned();
        let ends = (kept(PostStep::is_denoiser), kept(|step| matches!(step, PostStep::Furniture(_))));
        let (film, camera) = (scene.film_at(moment), scene.camera_at(moment));
        Cow::Owned(PostPipeline::of(&film, &camera, self.around, self.stops, ends))
    }

    /// The factor that exposure applies to a frame's light.
    pub fn exposure(&self, frame: u32) -> f32 {
        libm::exp2(self.of_frame(frame).stops) as f32
    }

    /// Whether the tracing kernels make the picture themselves: the only step is a tone curve in single precision.
    pub fn is_plain(&self) -> bool {
        self.steps.is_empty() && self.tone.knee().is_some() && !self.dither && self.changing.is_none()
    }
    /// Whether the bytes are the same on every machine.
    pub fn is_exact(&self) -> bool {
        !self.steps.iter().any(PostStep::is_library)
    }
    /// Whether a pixel of this frame depends on the light of others.
    pub fn gathers(&self) -> bool {
        self.changing.is_some() || self.steps.iter().any(|step| step.spreads_light() || step.is_denoiser())
    }
    /// Whether noise is removed by the built-in filter, which reads features, and the light of two halves of the samples.
    pub fn is_guided(&self) -> bool {
        self.steps.contains(&PostStep::Guided)
    }
    /// Whether a step reads the layers.
    pub fn needs_layers(&self) -> bool {
        self.steps.iter().any(PostStep::is_library)
    }

    /// Whether a step needs the host.
    pub fn needs_host(&self) -> bool {
        self.params(1, 1).is_none()
    }

    /// The steps as parameters for a device; None if one needs the host.
    pub fn params(&self, width: u32, height: u32) -> Option<PostParams> {
        let mut params = PostParams {
            gain: [1.0; 3],
            per_square: per_square(width, height),
            curve: curve_of(self.tone),
            punch: punch_of(self.tone),
            dither: i32::from(self.dither),
            ..PostParams::default()
        };
        let runs = |step: &PostStep, params: &mut PostParams| {
            (self.around.is_plain() || !step.looks_around()) && step.add_to(params, height)
        };
        self.steps.iter().all(|step| runs(step, &mut params)).then_some(params)
    }

    /// The maximum number of images of the pyramid over the clip, for pictures of this height.
    pub fn pyramid_levels(&self, height: u32) -> usize {
        let levels = |step: &PostStep| match step {
            PostStep::Glare(_) => Glare::level(height),
            PostStep::Bloom(bloom) => bloom.levels(height),
            _ => 0,
        };
        // A film that changes has room for any radius: coarse levels are small.
        if self.changing.is_some() { usize::MAX } else { self.steps.iter().map(levels).max().unwrap_or(0) }
    }
    /// The glare of these steps.
    pub fn glare(&self) -> Option<Glare> {
        self.steps.iter().find_map(|step| if let PostStep::Glare(glare) = step { Some(*glare) } else { None })
    }
    /// What stands beside the particles, if anything does.
    pub fn furniture(&self) -> Option<&Furniture> {
        self.steps
            .iter()
            .find_map(|step| if let PostStep::Furniture(furniture) = step { Some(&**furniture) } else { None })
    }
    /// Whether some frame may have glare.
    pub fn may_have_glare(&self) -> bool {
        self.changing.is_some() || self.glare().is_some()
    }

    /// The steps whose bytes are the same on every machine.
    #[must_use]
    pub fn exact(&self) -> PostPipeline {
        let mut all = self.clone();
        all.steps.retain(|step| !step.is_library());
        all
    }

    /// Applies the steps to mean light, which they change, and returns the picture: RGBA, one word per pixel. With
    /// `is_transparent`, colors are straight, and alpha is the covered fraction of a pixel together with the brightness of the
    /// light that glows there.
    pub fn picture(
        &self,
        context: &PostContext,
        image: &mut Image<f32>,
        layers: Option<&mut Layers>,
        is_transparent: bool,
        rgba: &mut [u32],
    ) -> Result<(), DenoiserError> {
        // What covers pixels, without the light that the lens spreads, if there is any.
        let mut surfaces: Option<Image<f32>> = None;
        for step in &self.steps {
            match (step.spreads_light(), &mut surfaces) {
                (true, None) if is_transparent => surfaces = Some(image.clone()),
                (false, Some(surfaces)) => step.apply(surfaces, layers.as_deref(), context, &self.around)?,
                _ => {}
            }
            step.apply(image, layers.as_deref(), context, &self.around)?;
        }
        let mut coverage = layers.filter(|_| is_transparent).map(|layers| &mut layers.coverage);
        if let Some(furniture) = self.furniture() {
            let overlay = furniture.overlay(context.frame, context.scene.moment);
            for light in [Some(&mut *image), surfaces.as_mut()].into_iter().flatten() {
                overlay.apply(light, coverage.as_deref(), self.tone);
            }
            if let Some(coverage) = &mut coverage {
                overlay.cover(coverage);
            }
        }
        self.tone(context, image, rgba);
        if let Some(coverage) = coverage {
            self.uncover(context, surfaces.unwrap_or_else(|| image.clone()), coverage, rgba);
        }
        Ok(())
    }

    // Gives pixels of the opaque picture that are not covered altogether their alpha. `surfaces` is the light of what covers them.
    // What glows besides adds its codes, and has the alpha that makes it as bright over black.
    fn uncover(&self, context: &PostContext, mut surfaces: Image<f32>, coverage: &Image<f32>, rgba: &mut [u32]) {
        let mut codes_of = |scale: fn(f32) -> f32| {
            let pixels = surfaces.data_mut().as_chunks_mut::<3>().0.par_iter_mut().zip(coverage.data());
            pixels.for_each(|(pixel, &covered)| {
                *pixel = pixel.map(|x| if covered > 0.0 { x * scale(covered) } else { 0.0 })
            });
            let mut codes = vec![0; rgba.len()];
            self.tone(context, &surfaces, &mut codes);
            codes
        };
        let (dim, straight) = (codes_of(|_| 1.0), codes_of(|covered| 1.0 / covered));
        let pixels = rgba.par_iter_mut().zip(dim).zip(straight).zip(coverage.data());
        pixels.filter(|(_, covered)| **covered < 1.0).for_each(|(((code, dim), straight), &covered)| {
            let [seen, dim, straight] =
                [*code, dim, straight].map(|code| [code, code >> 8, code >> 16].map(|x| (x & 255) as f32));
            let glow: [f32; 3] = std::array::from_fn(|i| (seen[i] - dim[i]).max(0.0));
            let glows = glow.into_iter().fold(0.0, f32::max) / 255.0;
            let alpha = 1.0 - (1.0 - covered) * (1.0 - glows);
            let channel = |i: usize| ((covered * straight[i] + glow[i]) / alpha).round().min(255.0) as u32;
            let coded = (255.0 * alpha).round() as u32;
            *code = if coded == 0 { 0 } else { channel(0) | channel(1) << 8 | channel(2) << 16 | coded << 24 };
        });
    }

    // Applies the tone curve; the result is opaque.
    fn tone(&self, context: &PostContext, image: &Image<f32>, rgba: &mut [u32]) {
        let PostContext { scene, isa, frame, .. } = *context;
        let width = image.width().max(1) as usize;
        let rows = rgba.par_chunks_mut(width).zip(image.data().par_chunks(3 * width)).enumerate();
        rows.for_each_init(
            || vec![0.0; 3 * width],
            |shown, (y, (codes, light))| {
                let dither = self.dither.then(|| dither_row(y as u32, frame));
                let light = if isa.curve(self.tone, light, shown) { shown } else { light };
                isa.tone_map(scene, light, dither, codes);
            },
        );
    }
}

// The same as in kernels/film.cuh.
fn dither_row(y: u32, frame: u32) -> i32 {
    y.wrapping_mul(0x91e1_0da5).wrapping_add(frame.wrapping_mul(0x9e37_79b9)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::Assets;
    use crate::device_scene::DeviceScene;
    use crate::scene::FilmSettings;

    fn pipeline(change: impl Fn(&mut FilmSettings), denoise: Option<&DenoiserLibrary>) -> PostPipeline {
        let mut scene = Scene::sample();
        scene.film = FilmSettings::default();
        change(&mut scene.film);
        PostPipeline::new(&scene, 0.0, None, denoise)
    }

    #[test]
    fn a_device_takes_over_all_steps_or_none() {
        assert!(pipeline(|_| (), None).is_plain());
        // With automatic exposure, the step exists for any result, because memory is estimated before.
        let auto = pipeline(|film| film.exposure = Exposure::Auto, None);
        assert!(!auto.is_plain() && !auto.needs_host());
        assert!(!pipeline(|film| film.tone = Tone::AGX, None).is_plain());
        assert!(!pipeline(|film| film.dither = Some(true), None).is_plain());
        let all = |film: &mut FilmSettings| {
            (film.exposure, film.bloom, film.vignette, film.grain) = (Exposure::Stops(1.0), 0.25, 0.75, 0.5);
            film.tone = Tone::Filmic;
        };
        let params = pipeline(all, None).params(640, 480).unwrap();
        assert_eq!((params.bloom, params.bloom_levels, params.vignette, params.grain), (0.25, 6, 1.0, 0.125));
        assert_eq!((params.curve, params.dither), (curve_of(Tone::Filmic), 1));
        let denoised = pipeline(all, Some(&DenoiserLibrary::Usual));
        assert!(denoised.needs_host() && denoised.needs_layers() && !denoised.is_exact());
        assert_eq!(denoised.exact(), pipeline(all, None));
        let own = pipeline(|film| film.denoise = Denoise::Guided, None);
        assert!(!own.needs_host() && !own.needs_layers() && own.is_guided() && own.is_exact() && own.exact() == own);
        let library = pipeline(|film| film.denoise = Denoise::Guided, Some(&DenoiserLibrary::Usual));
        assert!(!library.is_exact() && !library.is_guided(), "the library takes its place");
        let mut legend = pipeline(all, None);
        let mut scene = Scene::sample();
        scene.figure = Some(crate::scene::Figure { title: "size".into(), ..Default::default() });
        legend.steps.extend(Furniture::of(&scene, None).map(|furniture| PostStep::Furniture(Arc::new(furniture))));
        assert!(legend.needs_host() && !legend.needs_layers() && legend.is_exact());
    }

    fn grey(width: u32, height: u32, value: f32) -> Image<f32> {
        Image::new(width, height, 3, vec![value; 3 * (width * height) as usize])
    }

    fn after(step: PostStep, mut image: Image<f32>, frame: u32) -> Image<f32> {
        let scene = DeviceScene::new(&Scene::sample(), &Assets::default()).unwrap();
        let isa = Isa::pick(None).unwrap();
        let context = PostContext { scene: &scene.host_for_film(), isa, frame, denoiser: None, noisy: None };
        step.apply(&mut image, None, &context, &Around::of(&Scene::sample())).unwrap();
        image
    }

    #[test]
    fn corners_lose_what_is_asked_for_and_the_middle_nothing() {
        let image = after(PostStep::Vignette(lens::vignette(0.4)), grey(201, 101, 1.0), 0);
        assert!((image.pixel(100, 50)[0] - 1.0).abs() < 1e-6);
        assert!((image.pixel(0, 0)[0] - 0.6).abs() < 0.01, "{}", image.pixel(0, 0)[0]);
    }

    #[test]
    fn grain_keeps_the_mean_and_is_new_in_each_frame() {
        let frames = [0, 1].map(|n| after(PostStep::Grain(lens::grain(0.3)), grey(200, 200, 0.3), n));
        for image in &frames {
            let mean: f64 = image.data().iter().map(|&x| f64::from(x)).sum::<f64>() / image.data().len() as f64;
            assert!((mean - 0.3).abs() < 1e-3, "{mean}");
        }
        assert_ne!(frames[0], frames[1]);
    }
}

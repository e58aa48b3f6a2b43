//! The render settings of a scene.

pub(super) mod integrator;
pub(super) mod sampling;

use super::keys::keys;
use super::limits::{MAX_DEPTH, MAX_LIGHT_SAMPLES};
use super::text::diagnostic::Rule;
use super::{Integrator, LampSamples, Sampling, defaults};

keys! {
    /// How a scene is rendered.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RenderSettings in "render settings" {
        /// Picture size, pixels.
        pub width: u32 = defaults::SIZE.0, elsewhere();
        /// Picture size, pixels.
        pub height: u32 = defaults::SIZE.1, elsewhere();
        /// How light is traced.
        pub integrator: Integrator = Integrator::Whitted, group("Rays");
        /// How many samples a pixel takes.
        pub sampling: Sampling = Sampling::PerAxis(defaults::SAMPLES), flat();
        /// Occlusion rays per shading point: surfaces near each other get less ambient light; halved at each bounce; 0: none.
        pub ao_samples: u32 = 0,
            rule(Rule::Whole(0, MAX_LIGHT_SAMPLES)), slider(0.0, 16.0), when("integrator", &["whitted"]), group("Light");
        /// How far a surface may be away and still occlude, for ambient occlusion; any distance where it is not given.
        pub ao_reach: Option<f64> = None, rule(Rule::Length), slider(0.1, 10.0), when("integrator", &["ao", "whitted"]), group("Rays");
        /// Objects cast shadows.
        pub shadows: bool = true, group("Light");
        /// Shadow rays per shading point to a spherical light; halved at each bounce (Whitted).
        pub light_samples: u32 = defaults::LIGHT_SAMPLES,
            rule(Rule::Whole(1, MAX_LIGHT_SAMPLES)), slider(1.0, 64.0), spelled();
        /// Maximum linear light that a path adds to its pixel at once after a diffuse surface; 0: no limit.
        pub clamp: f64 = 0.0, rule(Rule::NotNegative), slider(0.0, 50.0), group("Rays"), spelled();
        /// Shadow rays per shading point to lamps and other emitters, chosen with probability proportional to power, or "all": one to each; 0: lamps light the floor only.
        pub lamp_samples: LampSamples = LampSamples::Floor,
            rule(Rule::Whole(0, MAX_LIGHT_SAMPLES)), slider(0.0, 64.0), when("integrator", &["whitted"]), refused(), group("Light");
        /// Flat faces of bodies send the light of each light and of the sun onto other surfaces, without noise: mirrors by one reflection, glass by two refractions. Whitted's ray tracing does so with lamps and other emitters too; paths find those by chance.
        pub caustics: bool = false, when("integrator", &["whitted", "path"]), refused(), group("Light");
        /// Maximum number of bounces.
        pub depth: u32 = defaults::DEPTH, rule(Rule::Whole(0, MAX_DEPTH)), slider(0.0, 32.0), group("Rays"), spelled();
        /// Rays whose weight falls below this are dropped (Whitted). The exposure's gain divides it.
        pub cutoff: f64 = defaults::CUTOFF, rule(Rule::NotNegative), slider(0.0, 0.02), spelled();
    }
}

impl RenderSettings {
    /// The number of samples in the scene: along a pixel's side, or per pixel if samples are random.
    pub fn own_samples(&self) -> u32 {
        self.sampling.own()
    }
    /// Samples per pixel; the maximum if they are adaptive.
    pub fn samples_per_pixel(&self) -> u32 {
        self.sampling.per_pixel()
    }
    /// Samples along a pixel's side, for the filters of textures, bars and lamps. Adaptive sampling counts its
    /// maximum.
    pub(crate) fn filtered_side(&self) -> f64 {
        f64::from(self.samples_per_pixel()).sqrt()
    }
    /// Sets the same number of samples for all pixels: along a pixel's side, or per pixel if samples are random.
    pub fn set_samples(&mut self, own: u32) {
        self.sampling = self.sampling.with_own(own, self.integrator);
    }
    /// Takes `side` x `side` samples of each pixel, with every integrator, as `--samples` does.
    pub fn set_sample_grid(&mut self, side: u32) {
        self.set_samples(self.integrator.own(side, side.saturating_mul(side)));
    }
    /// Path tracing with this many samples per pixel.
    pub fn set_paths(&mut self, samples: u32) {
        (self.integrator, self.sampling) = (Integrator::Path, Sampling::PerPixel(samples));
    }
    /// Adaptive sampling in a range; path tracing takes at least [`Sampling::MIN_PATHS`].
    pub fn set_adaptive(&mut self, min: u32, max: u32, noise: f64) {
        self.sampling = Sampling::adaptive((min, max), noise, self.integrator);
    }
}

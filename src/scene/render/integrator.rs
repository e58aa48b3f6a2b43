//! The integrators and their properties.

use crate::language::{Message, msg};
use crate::scene::keys::words::names;
use crate::scene::limits::{MAX_PATH_SAMPLES, MAX_SAMPLES};

names! {
    /// How light is followed from surface to surface.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Integrator {
        /// Whitted ray tracing: reflected and transmitted rays branch, diffuse light comes from the lights.
        Whitted = "whitted",
        /// Path tracing: light from all directions.
        Path = "path",
        /// Ambient occlusion: how open the surroundings of a point are, without lights and colors.
        AmbientOcclusion = "ao",
    }
}

/// The properties of an integrator that matter outside the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capabilities {
    /// The name in a summary.
    pub title: fn() -> Message,
    /// A sample is a random point of the pixel, and scenes count the samples of a pixel. Otherwise samples form a grid, and scenes
    /// count them along the pixel's side.
    pub random_samples: bool,
    /// Every surface samples the emitters: lamps, glowing surfaces and the sky map.
    pub samples_emitters: bool,
    /// Lamps light the floor by a light map.
    pub bakes_lightmap: bool,
    /// Light is refracted through glass, so shadow rays end there and paths find the light.
    pub bends_light: bool,
}

impl Integrator {
    /// The properties of the integrator.
    pub(crate) fn capabilities(self) -> Capabilities {
        let whitted = Capabilities {
            title: || msg!("Whitted"),
            random_samples: false,
            samples_emitters: false,
            bakes_lightmap: true,
            bends_light: false,
        };
        let occlusion = Capabilities {
            title: || msg!("ambient occlusion"),
            random_samples: true,
            bakes_lightmap: false,
            ..whitted
        };
        match self {
            Integrator::Whitted => whitted,
            Integrator::Path => {
                Capabilities { title: || msg!("paths"), samples_emitters: true, bends_light: true, ..occlusion }
            }
            Integrator::AmbientOcclusion => occlusion,
        }
    }
    /// Selects the number of samples per axis or per pixel, whichever the integrator uses.
    pub(crate) fn own(self, per_axis: u32, per_pixel: u32) -> u32 {
        if self.capabilities().random_samples { per_pixel } else { per_axis }
    }
    /// Maximum number of samples that a pixel can have.
    pub fn max_samples(self) -> u32 {
        self.own(MAX_SAMPLES * MAX_SAMPLES, MAX_PATH_SAMPLES)
    }
    /// The maximum of the number of samples in a scene, and its default.
    pub(crate) fn own_samples(self) -> (u32, u32) {
        (self.own(MAX_SAMPLES, MAX_PATH_SAMPLES), self.own(1, 100))
    }
}

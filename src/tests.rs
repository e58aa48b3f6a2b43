//! Tests of the library's internals: kernels on all instruction sets, optics, the oracle, scenes, the scheduler and
//! devices. tests/ has the tests of the program from outside.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed unwrap fails the test; tests compare within bounds"
)]

mod alpha;
mod aperture;
mod architecture;
mod area_lights;
mod bars;
mod bevels;
mod bvh;
mod camera;
mod caustics;
mod circles;
mod coat;
pub(crate) mod common;
mod denoise;
mod displaced;
mod domain;
mod edit;
mod entries;
#[cfg(feature = "cli")]
mod explain;
mod exported;
mod extremes;
mod features;
mod figure;
mod finishes;
mod floors;
mod fog;
mod furnace;
mod fuzzing;
mod golden;
mod grid;
mod ground;
mod kernel;
mod keys;
mod lamps;
mod lights;
mod look;
mod materials;
mod microfacets;
mod motion;
mod occlusion;
mod oracle;
mod orthographic;
mod over_time;
mod particle_files;
mod particle_shapes;
mod picture_version;
mod post;
mod random_scenes;
mod regressions;
mod sampling;
mod scene;
mod scheduler;
mod schema;
mod second_opinion;
mod seed;
mod stars;
mod steady;
mod sun;
mod tone;
mod trees;
mod vectors;
mod views;
mod words;

//! polyfly renders flythroughs of polyhedra: a scene goes in, frames and a video come out, byte for
//! byte the same on every device.
//!
//! Data flows one way: [`scene`] reads and resolves a description, [`layout`] flattens it into the arrays
//! that the kernels read, a [`device`] turns each frame's camera into a picture, and the [`pipeline`]
//! hands the pictures to the [`sink`]s in order while the next ones render.

pub mod app;
pub mod assets;
pub mod bench;
pub mod bvh;
pub mod camera;
pub mod check;
pub mod cli;
pub mod device;
pub mod diagnostic;
pub mod error;
pub mod frames;
pub mod layout;
pub mod particles;
pub mod pipeline;
pub mod progressive;
pub mod report;
pub mod scene;
pub mod sink;
pub mod solid;
pub mod steps;
pub mod texture;
pub mod tiles;
pub mod vector;

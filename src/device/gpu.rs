//! GPU devices over any API that implements the traits of `api`.

pub mod api;
mod denoise;
mod modules;
mod pixels;
mod post;
mod probe;
mod queue;
mod resident;
mod slots;

pub use queue::Gpu;

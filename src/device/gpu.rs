//! GPU devices over any API that implements the traits of `api`.

pub mod api;
mod modules;
mod post;
mod probe;
mod queue;
mod resident;
mod slots;

pub use queue::Gpu;

//! GPU devices over any API that implements the traits of `api`.

pub mod api;
mod cells;
mod denoise;
mod functions;
mod modules;
mod pixels;
mod post;
mod probe;
mod queue;
mod resident;
mod slots;
mod spirv;
mod tree;

#[cfg(test)]
pub use cells::plan as cell_plan;
pub use modules::CANARY;
pub use queue::Gpu;
#[cfg(test)]
pub use resident::{Builders, ResidentScene};

//! GPUs as devices, over any API that has what `api` lists.

pub mod api;
mod modules;
mod post;
mod probe;
mod queue;
mod resident;
mod slots;

pub use queue::Gpu;

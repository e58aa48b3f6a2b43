//! Mathematics that knows nothing of scenes: vectors, solids, colour curves and maps, the bounding volume hierarchy.

pub mod bvh;
pub mod colormap;
pub mod platonic;
mod ploc;
pub mod srgb;
pub mod vec3;

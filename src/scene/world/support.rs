//! What an object stands on.

use crate::scene::keys::words::names;

/// A floor, for examples.
pub(crate) const FLOOR: &str = "[floor]\ncorners = [[-5, -5, -1], [-5, 5, -1], [5, 5, -1], [5, -5, -1]]";

names! {
    /// What of a body lies on the floor that it stands on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Rest {
        /// A face.
        Face = "face",
    }
}

names! {
    /// What an object stands on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Support {
        /// The floor.
        Floor = "floor",
    }
}

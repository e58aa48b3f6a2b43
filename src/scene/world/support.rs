//! What an object stands on.

use crate::scene::keys::words::names;

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

//! What an object stands on.

use super::keys::words::names;

names! {
    /// What an object stands on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Support {
        /// The floor.
        Floor = "floor",
    }
}

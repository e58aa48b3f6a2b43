//! What lies on disk beside and between runs: files that are whole or not there, folders of frames, what they are of.

pub mod atomic;
pub mod folder;
pub mod hidden;
pub mod manifest;
pub mod origin;

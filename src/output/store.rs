//! Files on disk that outlast a run: complete files, folders of frames and their manifests.

pub mod atomic;
pub mod folder;
pub mod hidden;
pub mod manifest;
pub mod origin;
pub mod run_lock;

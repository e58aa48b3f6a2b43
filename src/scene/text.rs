//! A scene as text: TOML and tokens, their faults, edits that keep comments and are merged, and names that are nearly right.

pub(crate) mod diagnostic;
pub(crate) mod edit;
pub(crate) mod grammar;
pub(crate) mod merge;
pub(super) mod named;
pub(crate) mod suggest;
pub(crate) mod tokens;
pub(crate) mod toml;

//! What the process was given beside its arguments.

use std::path::Path;
use std::sync::LazyLock;

/// The home folder, for `~`. Without HOME, the system's entry for the user.
pub fn home() -> Option<&'static Path> {
    static HOME: LazyLock<Option<std::path::PathBuf>> = LazyLock::new(std::env::home_dir);
    HOME.as_deref()
}

/// The value of an environment variable; an empty one counts as unset.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

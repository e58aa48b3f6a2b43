//! What `--version` tells: the version, and what this program was built from.

use crate::kernels::Isa;
use crate::output::store::manifest::PICTURES;
use std::sync::LazyLock;

/// The commit, where the build knew it: scripts/release names it, and so does a package.
pub const COMMIT: Option<&str> = option_env!("POLYFLY_COMMIT");

// A feature's name, if it is on.
macro_rules! features {
    ($($name:literal)*) => {
        [$(if cfg!(feature = $name) { $name } else { "" }),*]
    };
}

fn features() -> String {
    let all = features!["cli" "h264" "fuzzing"];
    all.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ")
}

pub static LONG: LazyLock<String> = LazyLock::new(|| {
    let sets: Vec<&str> = Isa::available().iter().map(|isa| isa.name).collect();
    let (version, target, features) = (env!("CARGO_PKG_VERSION"), env!("POLYFLY_TARGET"), features());
    let commit = COMMIT.map_or_else(String::new, |commit| format!("commit    {commit}\n"));
    format!(
        "{version}\n{commit}target    {target}\nfeatures  {features}\npictures  {PICTURES}\nsets      {} (on this machine)",
        sets.join(" ")
    )
});

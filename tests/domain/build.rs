//! Compiles the kernels with the operations of domain.cuh.

#[path = "../../build/compile.rs"]
mod compile;

use compile::{KernelSet, compile};
use std::path::Path;

fn main() {
    for path in ["../../kernels", "../../build", "build.rs", "domain.cuh", "entry.cpp"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=POLYFLY_NO_KERNELS");
    if std::env::var_os("POLYFLY_NO_KERNELS").is_some() {
        return;
    }
    // As seen from kernels/lane.cuh, which includes it.
    let operations = r#"-DPOLYFLY_DOMAIN="../tests/domain/domain.cuh""#;
    let files = &["tests/domain/entry.cpp", "kernels/entry/develop.cpp"];
    let root = Path::new("../..");
    compile(&KernelSet { root, name: "domain", lanes: 1, flags: &[operations], files });
}

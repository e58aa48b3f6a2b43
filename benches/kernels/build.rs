//! Compiles the set "counting" of the kernels, and triangles.cpp for each instruction set.

#[path = "../../build/compile.rs"]
mod compile;
#[path = "../../build/sets.rs"]
mod sets;

use compile::{KernelSet, compile};
use std::path::Path;

fn main() {
    for path in
        ["../../kernels", "../../build", "build.rs", "counting.cpp", "counting.cuh", "triangles.cpp", "triangles.cuh"]
    {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=POLYFLY_NO_KERNELS");
    if std::env::var_os("POLYFLY_NO_KERNELS").is_some() {
        return;
    }
    let root = Path::new("../..");
    let triangles = "benches/kernels/triangles.cpp";
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    for (name, lanes, flags) in sets::sets(&arch) {
        compile(&KernelSet { root, name, lanes, flags, files: &[triangles] });
    }
    // As seen from kernels/lane.cuh, which includes it. Each function says when it begins and ends.
    let mut flags = vec![r#"-DPOLYFLY_COUNT="../benches/kernels/counting.cuh""#, "-finstrument-functions"];
    // Functions of these files are parts of what calls them; clang has no such list, and counts them apart.
    let parts = "-finstrument-functions-exclude-file-list=counting,lane.cuh,math.cuh,gather.cuh,platform.cuh,include/";
    if cc::Build::new().cpp(true).is_flag_supported(parts).unwrap_or(false) {
        flags.push(parts);
    }
    let files = &["benches/kernels/counting.cpp", "kernels/entry/develop.cpp", triangles];
    compile(&KernelSet { root, name: "counting", lanes: 1, flags: &flags, files });
}

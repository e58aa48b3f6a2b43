//! Compiles the shared kernel text once for each instruction set of the target's CPU.

use std::path::Path;

const KERNELS: [&str; 13] = [
    "compat.cuh",
    "lane.cuh",
    "math.cuh",
    "types.cuh",
    "intersect.cuh",
    "bvh.cuh",
    "closest.cuh",
    "shade.cuh",
    "path.cuh",
    "film.cuh",
    "trace.cuh",
    "wave.cuh",
    "render.cpp",
];

fn main() {
    for file in KERNELS {
        println!("cargo::rerun-if-changed=kernels/{file}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    // Name, lanes, flags. "scalar" is the GPU's own driver on one lane, "counting" the same with a count of its
    // floating-point operations.
    let mut sets: Vec<(&str, u32, &[&str])> = vec![("scalar", 1, &[]), ("counting", 1, &["-DPOLYFLY_COUNT"])];
    match arch.as_str() {
        "x86_64" => sets.extend([
            ("baseline", 4, &[][..]),
            ("avx2", 8, &["-mavx2", "-mfma"]),
            ("avx512", 16, &["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl"]),
        ]),
        "aarch64" => sets.push(("neon", 4, &[])),
        _ => sets.push(("baseline", 4, &[])),
    }
    let sanitize = std::env::var_os("CARGO_FEATURE_SANITIZE").is_some();
    let debug = std::env::var("PROFILE").is_ok_and(|p| p == "debug");
    // Each is one file: they are compiled side by side.
    std::thread::scope(|threads| {
        for (name, lanes, flags) in sets {
            threads.spawn(move || compile(name, lanes, flags, sanitize && name != "counting", debug));
        }
    });
    if sanitize {
        println!("cargo::rustc-link-lib=asan");
        println!("cargo::rustc-link-lib=ubsan");
    }
}

fn compile(name: &str, lanes: u32, flags: &[&str], sanitize: bool, debug: bool) {
    // The object's name is the source's: each needs a folder of its own.
    let out = Path::new(&std::env::var_os("OUT_DIR").unwrap_or_default()).join(name);
    let mut build = cc::Build::new();
    build
        .out_dir(out)
        .cpp(true)
        .cpp_link_stdlib(None)
        .std("c++17")
        .file(Path::new("kernels").join("render.cpp"))
        .define("POLYFLY_ISA", name)
        .define("POLYFLY_LANES", lanes.to_string().as_str())
        // The promise of equal bytes hangs on the first of these.
        .flag("-ffp-contract=off")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-fno-math-errno")
        .flag("-fno-trapping-math")
        .flag_if_supported("-Wno-psabi")
        .flag_if_supported("-Wno-uninitialized")
        .flag_if_supported("-Wno-maybe-uninitialized")
        .warnings(true)
        // Slow lanes would make every debug build and test run slow.
        .opt_level(if sanitize { 1 } else { 3 })
        .debug(sanitize);
    for flag in flags {
        build.flag(flag);
    }
    if sanitize || debug {
        build.define("POLYFLY_BOUNDS", None);
    }
    if sanitize {
        build.flag("-fsanitize=address,undefined").flag("-fno-sanitize-recover=all").flag("-fno-omit-frame-pointer");
    }
    build.compile(&format!("polyfly_{name}"));
}

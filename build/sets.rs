//! The sets of kernels for a target's CPU. Included by build.rs and by the build script of benches/kernels.

/// Name, lanes and flags of each set. "scalar" is the GPU's own driver on one lane. Two more sets of one lane have packages of
/// their own: "domain" for tests (tests/domain), and "counting" for benchmarks (benches/kernels).
pub fn sets(arch: &str) -> Vec<(&'static str, u32, &'static [&'static str])> {
    let mut sets: Vec<(&str, u32, &[&str])> = vec![("scalar", 1, &[])];
    match arch {
        "x86_64" => sets.extend([
            ("baseline", 4, &[][..]),
            ("avx2", 8, &["-mavx2", "-mfma"]),
            ("avx512", 16, &["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl"]),
        ]),
        "aarch64" => sets.push(("neon", 4, &[])),
        // One set, because a page is small. The kernels need no C library, and there is none to include.
        "wasm32" => sets = vec![("simd128", 4, &["-msimd128", "-nostdlibinc"])],
        _ => sets.push(("baseline", 4, &[])),
    }
    sets
}

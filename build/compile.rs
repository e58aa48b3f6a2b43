//! Compiles one set of the kernels. Included by build.rs and by the build script of tests/domain.

use std::path::Path;
use std::time::SystemTime;

/// A set of the kernels: the shared text for an instruction set and a number of lanes.
pub struct KernelSet<'a> {
    /// The folder that holds `kernels`.
    pub root: &'a Path,
    pub name: &'a str,
    pub lanes: u32,
    pub flags: &'a [&'a str],
    /// The sources, below the root.
    pub files: &'a [&'a str],
}

pub fn compile(set: &KernelSet) {
    let name = set.name;
    let debug = std::env::var("PROFILE").is_ok_and(|p| p == "debug");
    // The object's name is the source's: each needs a folder of its own.
    let out = Path::new(&std::env::var_os("OUT_DIR").unwrap_or_default()).join(name);
    let mut build = cc::Build::new();
    build
        .out_dir(&out)
        .cpp(true)
        .cpp_link_stdlib(None)
        .std("c++17")
        .files(set.files.iter().map(|file| set.root.join(file)))
        .define("POLYFLY_ISA", name)
        .define("POLYFLY_LANES", set.lanes.to_string().as_str())
        // The promise of equal bytes hangs on the first of these.
        .flag("-ffp-contract=off")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-fno-math-errno")
        .flag("-fno-trapping-math")
        .flag_if_supported("-Wno-psabi")
        .flag_if_supported("-Wno-uninitialized")
        .flag_if_supported("-Wno-maybe-uninitialized")
        // Masks of one lane are bools.
        .flag_if_supported("-Wno-bitwise-instead-of-logical")
        .warnings(true)
        // Where variables live takes longer than all the rest.
        .debug(false)
        .opt_level(opt_level(name));
    // A release may take another compiler for a set: its code may be faster.
    let compiler = format!("POLYFLY_CXX_{}", name.to_uppercase());
    println!("cargo::rerun-if-env-changed={compiler}");
    if let Ok(compiler) = std::env::var(compiler) {
        build.compiler(compiler);
    }
    if std::env::var_os("CARGO_CFG_WINDOWS").is_some() {
        // The stack has 16 bytes of alignment there, and g++ moves wider vectors as if it had theirs (GCC bug 54412).
        build.flag("-Wa,-muse-unaligned-vector-move");
    }
    if name == "avx2" {
        // Structures of vectors are copied a vector at a time, and not by `rep movs`, which is slow to begin (from g++ 12 on).
        build.flag_if_supported("-mmove-max=256").flag_if_supported("-mstore-max=256");
    }
    for flag in set.flags {
        build.flag(flag);
    }
    if debug {
        build.define("POLYFLY_BOUNDS", None);
    }
    let library = format!("polyfly_{name}");
    // The build script also runs again after a change of the documentation: kernels that nothing changed are not compiled again.
    let inputs = format!("{:?} {:?}", build.get_compiler().to_command(), newest_source(set));
    let (out, stamp) = (out.display(), out.join("inputs"));
    if std::fs::read_to_string(&stamp).is_ok_and(|made_of| made_of == inputs) {
        println!("cargo::rustc-link-lib=static={library}\ncargo::rustc-link-search=native={out}");
        return;
    }
    build.compile(&library);
    std::fs::write(&stamp, inputs).unwrap_or_else(|e| panic!("{}: {e}", stamp.display()));
}

// When a source of the set was changed last.
fn newest_source(set: &KernelSet) -> Option<SystemTime> {
    let parents = set.files.iter().filter_map(|file| Path::new(file).parent());
    parents.chain([Path::new("kernels")]).filter_map(|folder| newest(&set.root.join(folder))).max()
}

fn newest(path: &Path) -> Option<SystemTime> {
    let inside = std::fs::read_dir(path).into_iter().flatten().flatten().filter_map(|entry| newest(&entry.path()));
    inside.chain(path.metadata().and_then(|data| data.modified())).max()
}

// Debug builds too: slow lanes would make every test run slow. A third level takes longer to compile, and is no faster. Sets whose speed
// nobody sees need less, and take half the time: the one that counts operations, those of one lane, which stand in for GPUs, and all of a
// release build that asks for little (`scripts/windows`).
fn opt_level(name: &str) -> u32 {
    let little = ["PROFILE", "OPT_LEVEL"].map(|key| std::env::var(key).unwrap_or_default()) == ["release", "1"];
    if little || ["counting", "domain", "scalar"].contains(&name) { 1 } else { 2 }
}

//! Compiles the shared kernel text once for each instruction set of the target's CPU, and makes the Rust side of
//! what kernels/*.def declare. Packs the documentation.

#[path = "build/compile.rs"]
mod compile;
#[path = "build/definitions.rs"]
mod definitions;
#[path = "build/docs.rs"]
mod docs;
#[path = "build/entries.rs"]
mod entries;
#[path = "build/modules.rs"]
mod modules;
#[path = "build/sets.rs"]
mod sets;
#[path = "build/types.rs"]
mod types;

use compile::{KernelSet, compile};
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=kernels");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    tell_source();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let read = |name: &str| {
        let path = Path::new("kernels").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let write =
        |name: &str, text: String| std::fs::write(out.join(name), text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let modules = read("modules.def");
    let types = types::rust_types(&(read("features.def") + &read("types.def") + &read("builders.def")))
        + &types::shape_kinds(&read("shapes.def"));
    write("gpu_types.rs", types + &modules::integrator_codes(&modules));
    write("entries.rs", entries::rust_entries(&read("entries.def")));
    write("docs.rs", docs::packed());
    write("modules.rs", modules::rust_modules(&modules, Path::new("kernels"), &out));

    // The system's functions take long paths, and names in UTF-8.
    if std::env::var_os("CARGO_CFG_WINDOWS").is_some() {
        embed_manifest::embed_manifest(embed_manifest::new_manifest("polyfly"))
            .unwrap_or_else(|e| panic!("the manifest of the program: {e}"));
        // The main thread gets the stack that it has on Linux.
        println!("cargo::rustc-link-arg-bins=-Wl,--stack,8388608");
    }

    // Lints link nothing, and need no kernels, which take minutes.
    println!("cargo::rerun-if-env-changed=POLYFLY_NO_KERNELS");
    if std::env::var_os("POLYFLY_NO_KERNELS").is_some() {
        return;
    }
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    // Each is one file: they are compiled side by side.
    std::thread::scope(|threads| {
        for (name, lanes, flags) in sets::sets(&arch) {
            let files = &["kernels/entry/render.cpp", "kernels/entry/develop.cpp"];
            #[expect(clippy::disallowed_methods, reason = "a build that gets no threads may panic")]
            threads.spawn(move || compile(&KernelSet { root: Path::new(""), name, lanes, flags, files }));
        }
    });
}

// What `--version` tells of the build. A package knows its commit from cargo. In a checkout the commit comes from the environment alone:
// each commit would compile the kernels anew if this script read it.
fn tell_source() {
    println!("cargo::rustc-env=POLYFLY_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    let package = std::fs::read_to_string(".cargo_vcs_info.json").unwrap_or_default();
    let commit = package.split('"').skip_while(|word| *word != "sha1").nth(2);
    if let (Some(commit), None) = (commit, std::env::var_os("POLYFLY_COMMIT")) {
        println!("cargo::rustc-env=POLYFLY_COMMIT={commit}");
    }
}

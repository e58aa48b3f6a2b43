//! Compiles the shared kernel text once for each instruction set of the target's CPU, and makes the Rust side of
//! kernels/types.def and kernels/shapes.def.

#[path = "build/compile.rs"]
mod compile;

use compile::{KernelSet, compile};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=kernels");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let definitions = std::fs::read_to_string("kernels/types.def").unwrap_or_else(|e| panic!("kernels/types.def: {e}"));
    let shapes = std::fs::read_to_string("kernels/shapes.def").unwrap_or_else(|e| panic!("kernels/shapes.def: {e}"));
    let types = rust_types(&definitions) + &shape_kinds(&shapes);
    std::fs::write(out.join("gpu_types.rs"), types).unwrap_or_else(|e| panic!("gpu_types.rs: {e}"));

    // Lints link nothing, and need no kernels, which take minutes.
    println!("cargo::rerun-if-env-changed=POLYFLY_NO_KERNELS");
    if std::env::var_os("POLYFLY_NO_KERNELS").is_some() {
        return;
    }
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    // Name, lanes, flags. "scalar" is the GPU's own driver on one lane, "counting" the same with a count of its
    // floating-point operations.
    // A third of one lane, "domain", is for tests: tests/domain builds it.
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
    // Each is one file: they are compiled side by side.
    std::thread::scope(|threads| {
        for (name, lanes, flags) in sets {
            // One lane and several: the text of the other sets is theirs, and takes minutes to compile so.
            let sanitize = sanitize && !["counting", "baseline", "avx512"].contains(&name);
            let files = &["kernels/entry/render.cpp", "kernels/entry/develop.cpp"];
            #[expect(clippy::disallowed_methods, reason = "a build that gets no threads may panic")]
            threads.spawn(move || compile(&KernelSet { root: Path::new(""), name, lanes, flags, files, sanitize }));
        }
    });
    if sanitize {
        println!("cargo::rustc-link-lib=asan");
        println!("cargo::rustc-link-lib=ubsan");
    }
}

// What C++ makes of types.def by macros (kernels/types.cuh), for Rust.
fn rust_types(definitions: &str) -> String {
    let mut out = String::new();
    let mut table = String::from(
        "/// Sizes and places of everything above, in order, by name.\npub const LAYOUT: &[(&str, usize)] = &[\n",
    );
    let mut comment: Vec<&str> = Vec::new();
    let mut open: Option<(String, String, bool, bool)> = None; // name, fields, aligned, has a pointer
    for line in definitions.lines() {
        let trimmed = line.trim();
        if let Some(text) = trimmed.strip_prefix("//") {
            comment.push(text.trim());
            continue;
        }
        let Some((word, rest)) = trimmed.split_once('(') else {
            comment.clear();
            continue;
        };
        let Some((arguments, after)) = split_call(rest) else { panic!("kernels/types.def: {line}") };
        let parts: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let remark = after.trim().trim_start_matches("//").trim();
        match (word, parts.as_slice()) {
            ("CONSTANT", [name, value]) => {
                let _ = writeln!(out, "{}pub const {name}: i32 = {value};", doc("", remark));
            }
            ("REAL_CONSTANT", [name, value]) => {
                let _ = writeln!(out, "pub const {name}: f32 = {value};");
            }
            ("STRUCT" | "PLAIN_STRUCT", [name]) => {
                comment.iter().for_each(|c| {
                    let _ = writeln!(out, "/// {c}");
                });
                let _ = writeln!(table, "    (\"{name}\", size_of::<{name}>()),");
                open = Some(((*name).to_owned(), String::new(), word == "STRUCT", false));
            }
            ("FIELD" | "FIELDS" | "INLINE", _) => {
                let Some((owner, fields, _, pointer)) = &mut open else { panic!("kernels/types.def: {line}") };
                let (kind, name) = match parts.as_slice() {
                    [kind, name] => (rust_type(kind), name),
                    [kind, name, count] if word == "FIELDS" => (format!("[{}; {count}]", rust_type(kind)), name),
                    [kind, name, most] => (format!("Inline<{}, {{ {most} as usize }}>", rust_type(kind)), name),
                    _ => panic!("kernels/types.def: {line}"),
                };
                *pointer |= kind.contains("Array") || kind.contains('*') || word == "INLINE";
                let _ = writeln!(fields, "{}    pub {name}: {kind},", doc("    ", remark));
                let _ = writeln!(table, "    (\"{owner}.{name}\", std::mem::offset_of!({owner}, {name})),");
            }
            ("END", [name, bytes]) => {
                let Some((_, fields, aligned, pointer)) = open.take() else { panic!("kernels/types.def: {line}") };
                let repr = if aligned { "C, align(16)" } else { "C" };
                let derives = if pointer { "Clone, Copy, Debug" } else { "Clone, Copy, Debug, Default, PartialEq" };
                let _ = writeln!(out, "#[repr({repr})]\n#[derive({derives})]\npub struct {name} {{\n{fields}}}");
                let _ = writeln!(out, "const _: () = assert!(size_of::<{name}>() == {bytes});\n");
            }
            _ => panic!("kernels/types.def: {line}"),
        }
        comment.clear();
    }
    out + &table + "];\n"
}

// The kinds of shapes.def, in order.
fn shape_kinds(definitions: &str) -> String {
    let names = definitions.lines().filter_map(|line| line.strip_prefix("SHAPE(")?.split(',').next());
    names.enumerate().map(|(kind, name)| format!("pub const SHAPE_{name}: i32 = {kind};\n")).collect()
}

// A line of documentation, where there is something to say.
fn doc(indent: &str, remark: &str) -> String {
    if remark.is_empty() { String::new() } else { format!("{indent}/// {remark}\n") }
}

// What is within the call's parentheses, and what comes after them.
fn split_call(rest: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    let end = rest.char_indices().find(|&(_, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    Some((&rest[..end.0], &rest[end.0 + 1..]))
}

fn rust_type(name: &str) -> String {
    if let Some(of) = name.strip_suffix('*') {
        return format!("*mut {}", rust_type(of));
    }
    if let Some(of) = name.strip_prefix("Array<").and_then(|n| n.strip_suffix('>')) {
        return format!("Array<{}>", rust_type(of));
    }
    match name {
        "float" => "f32".into(),
        "int" => "i32".into(),
        other => other.into(),
    }
}

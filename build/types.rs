//! Rust's side of kernels/features.def, types.def and builders.def, as C++ makes its own by macros (kernels/types.cuh).

use crate::definitions::{calls, doc, rust_type};
use std::fmt::Write;

pub fn rust_types(definitions: &str) -> String {
    let mut out = String::new();
    let mut table = String::from(
        "/// Sizes and offsets of everything above, in order, by name.\npub const LAYOUT: &[(&str, usize)] = &[\n",
    );
    let mut open: Option<(String, bool, bool)> = None; // fields, aligned, only numbers without padding
    let mut owner = "";
    for call in calls("types.def", definitions) {
        let parts = call.arguments.as_slice();
        let wrong = || panic!("kernels/types.def: {}({})", call.word, parts.join(", "));
        // Writing to a String cannot fail.
        let _ = match (call.word, parts) {
            ("CONSTANT", [name, value]) => writeln!(out, "{}pub const {name}: i32 = {value};", doc("", [call.remark])),
            ("FEATURE", [name, bit]) => {
                writeln!(out, "{}pub const {name}: FeatureSet = 1 << {bit};", doc("", [call.remark]))
            }
            ("FEATURES", [name, value]) => writeln!(out, "pub const {name}: FeatureSet = {value};"),
            ("REAL_CONSTANT", [name, value]) => writeln!(out, "pub const {name}: f32 = {value};"),
            ("STRUCT" | "PLAIN_STRUCT", [name]) => {
                out += &doc("", call.comment);
                owner = name;
                open = Some((String::new(), call.word == "STRUCT", call.word != "STRUCT"));
                writeln!(table, "    (\"{name}\", size_of::<{name}>()),")
            }
            ("FIELD" | "FIELDS" | "INLINE", [kind, name, rest @ ..]) => {
                let Some((fields, _, is_pod)) = &mut open else { wrong() };
                let element = rust_type(kind, "");
                let kind = match (call.word, rest) {
                    ("FIELD", []) => element,
                    ("FIELDS", [count]) if count.parse::<usize>().is_ok() => format!("[{element}; {count}]"),
                    ("FIELDS", [count]) => format!("[{element}; {count} as usize]"),
                    ("INLINE", [max]) => format!("Inline<{element}, {{ {max} as usize }}>"),
                    _ => wrong(),
                };
                *is_pod &= !kind.contains(['*', '<']);
                let _ = writeln!(fields, "{}    pub {name}: {kind},", doc("    ", [call.remark]));
                writeln!(table, "    (\"{owner}.{name}\", std::mem::offset_of!({owner}, {name})),")
            }
            // Takes no room.
            ("ABSENT", _) => continue,
            ("END", [name, bytes]) => {
                let Some((fields, aligned, is_pod)) = open.take() else { wrong() };
                let repr = if aligned { "C, align(16)" } else { "C" };
                let pod = if is_pod { ", bytemuck::Pod, bytemuck::Zeroable" } else { "" };
                let derives = format!("Clone, Copy, Debug, Default, PartialEq{pod}");
                let _ = writeln!(out, "#[repr({repr})]\n#[derive({derives})]\npub struct {name} {{\n{fields}}}");
                // A size with addresses of eight bytes, as in kernels/types.cuh. As lengths of arrays the compiler shows both numbers.
                writeln!(
                    out,
                    "#[cfg(target_pointer_width = \"64\")]\nconst _: [(); {bytes}] = [(); size_of::<{name}>()];\n"
                )
            }
            _ => wrong(),
        };
    }
    out + &table + "];\n"
}

/// The kinds of shapes.def, in order.
pub fn shape_kinds(definitions: &str) -> String {
    let shapes = calls("shapes.def", definitions).into_iter().filter(|call| call.word == "SHAPE").enumerate();
    shapes.map(|(kind, shape)| format!("pub const SHAPE_{}: i32 = {kind};\n", shape.arguments[0])).collect()
}

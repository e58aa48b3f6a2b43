//! Rust's side of kernels/entries.def: a struct of function pointers, and a macro that fills it for an instruction set.

use crate::definitions::{calls, doc, rust_type};
use std::fmt::Write;

pub fn rust_entries(definitions: &str) -> String {
    let (mut fields, mut declared, mut names, mut single) =
        (String::new(), String::new(), String::new(), String::new());
    for call in calls("entries.def", definitions) {
        let (set, signature) = match (call.word, call.arguments.as_slice()) {
            ("ENTRY" | "TEST_ENTRY", signature) => (None, signature),
            ("TEST_ENTRY_OF", [set, signature @ ..]) => (Some(*set), signature),
            (other, _) => panic!("kernels/entries.def: {other}"),
        };
        let [result, name, parameters @ ..] = signature else { panic!("kernels/entries.def: {signature:?}") };
        let parameters: Vec<String> = parameters.iter().map(|p| parameter(p)).collect();
        let parameters = parameters.join(", ");
        let result = if *result == "void" { String::new() } else { format!(" -> {}", kind(result)) };
        let is_test = call.word.starts_with("TEST");
        // Writing to a String cannot fail.
        let _ = match set {
            None => {
                let unused = if is_test {
                    "    #[cfg_attr(not(test), expect(dead_code, reason = \"for tests\"))]\n"
                } else {
                    ""
                };
                fields += &format!("{}{unused}", doc("    ", call.comment));
                let _ = writeln!(names, "{name},");
                let _ = writeln!(fields, "    pub {name}: unsafe extern \"C\" fn({parameters}){result},");
                writeln!(declared, "#[link_name = concat!(\"polyfly_{name}_\", $isa)] fn {name}({parameters}){result};")
            }
            Some(set) => {
                single += &doc("    ", call.comment);
                writeln!(single, "    #[cfg(test)]\n    pub fn polyfly_{name}_{set}({parameters}){result};")
            }
        };
    }
    format!(
        "#[derive(Clone, Copy)]\n#[allow(clippy::type_complexity, reason = \"entries have many parameters\")]\n\
         pub struct Entries {{\n{fields}}}\n\
         macro_rules! entries {{\n($isa:literal) => {{{{\nunsafe extern \"C\" {{\n{declared}}}\n\
         Entries {{ {names} }}\n}}}};\n}}\n\
         unsafe extern \"C\" {{\n{single}}}\n"
    )
}

// `const Scene* scene` as `scene: *const Scene`.
fn parameter(text: &str) -> String {
    let end = text.rfind([' ', '*']).unwrap_or_else(|| panic!("kernels/entries.def: {text}"));
    format!("{}: {}", &text[end + 1..], kind(text[..=end].trim()))
}

fn kind(name: &str) -> String {
    rust_type(name, "crate::gpu_types::")
}

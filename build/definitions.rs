//! Reads the kernels' .def files: calls of macros, each with the comment above it and the remark behind it.

/// `// comment` above, then `WORD(argument, ..)  // remark`.
pub struct Call<'a> {
    pub comment: Vec<&'a str>,
    pub word: &'a str,
    pub arguments: Vec<&'a str>,
    pub remark: &'a str,
}

/// All calls of a file, in its order. An empty line ends a comment.
pub fn calls<'a>(file: &str, text: &'a str) -> Vec<Call<'a>> {
    let mut calls = Vec::new();
    let mut comment = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if let Some(words) = line.trim().strip_prefix("//") {
            comment.push(words.trim());
            rest = after;
            continue;
        }
        // What C++'s preprocessor reads.
        if line.starts_with('#') {
            rest = after;
            continue;
        }
        let Some((word, inside)) = rest.split_once('(').filter(|(word, _)| !word.contains('\n')) else {
            assert!(line.trim().is_empty(), "kernels/{file}: {line}");
            comment.clear();
            rest = after;
            continue;
        };
        let (arguments, behind) = split_call(inside).unwrap_or_else(|| panic!("kernels/{file}: {line}"));
        let (remark, after) = behind.split_once('\n').unwrap_or((behind, ""));
        calls.push(Call {
            comment: std::mem::take(&mut comment),
            word: word.trim(),
            arguments: arguments.split(',').map(str::trim).collect(),
            remark: remark.trim().trim_start_matches("//").trim(),
        });
        rest = after;
    }
    calls
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

/// A type of the kernels in Rust. `structs`: the path of those that types.def declares.
pub fn rust_type(name: &str, structs: &str) -> String {
    let pointed_to = |of: &str, how| format!("*{how} {}", rust_type(of.trim_end(), structs));
    if let Some(of) = name.strip_suffix('*') {
        return match of.strip_prefix("const ").filter(|of| !of.ends_with('*')) {
            Some(of) => pointed_to(of, "const"),
            None => pointed_to(of, "mut"),
        };
    }
    if let Some(of) = name.strip_prefix("Array<").and_then(|n| n.strip_suffix('>')) {
        return format!("Array<{}>", rust_type(of, structs));
    }
    match name {
        "float" => "f32".into(),
        "double" => "f64".into(),
        "int" => "i32".into(),
        "void" => "u8".into(),
        "char" => "std::ffi::c_char".into(),
        "u8" | "u32" | "u64" | "i64" => name.into(),
        _ => format!("{structs}{name}"),
    }
}

/// Documentation from a comment's lines.
pub fn doc<'a>(indent: &str, lines: impl IntoIterator<Item = &'a str>) -> String {
    lines.into_iter().filter(|line| !line.is_empty()).map(|line| format!("{indent}/// {line}\n")).collect()
}

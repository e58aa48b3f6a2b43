//! Quotes foreign text in messages: text of a user or a file may be long, and may contain control characters.

// Maximum length of a quoted text, in characters.
const MAX_CHARACTERS: usize = 80;

/// An excerpt of a text for a message: at most its first 80 characters, without control characters.
pub fn brief(text: &str) -> String {
    let cut = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(at, _)| at);
    let mut piece = printable(&text[..cut]);
    if cut < text.len() {
        piece.push_str(" ...");
    }
    piece
}

/// A text without control characters.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Why the system could not do something, without the number of its error.
pub fn reason(e: &std::io::Error) -> String {
    let text = e.to_string();
    match e.raw_os_error() {
        Some(code) => text.trim_end_matches(&format!(" (os error {code})")).to_owned(),
        None => text,
    }
}

/// Words as a sentence lists them: `a, b and c`.
pub fn listed(words: &[String], before_last: &str) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} {before_last} {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// A word, quoted for a shell.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_no_numbers() {
        let missing = std::fs::File::open("there is no such file").unwrap_err();
        let message = reason(&missing);
        assert!(!message.contains("os error") && missing.to_string().starts_with(&message), "{message}");
        assert_eq!(reason(&std::io::Error::other("it is a folder")), "it is a folder");
    }

    #[test]
    fn long_texts_are_cut_and_controls_replaced() {
        assert_eq!(brief("a\u{1b}[2Jb"), "a?[2Jb");
        let long = "ä".repeat(1_000_000);
        assert_eq!(brief(&long), format!("{} ...", "ä".repeat(MAX_CHARACTERS)));
        assert_eq!(brief(&"b".repeat(MAX_CHARACTERS)), "b".repeat(MAX_CHARACTERS));
    }
}

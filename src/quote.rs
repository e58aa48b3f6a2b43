//! Quotes foreign text in messages: what a user or a file has written may be long, and may hold what a terminal would obey.

// Letters of a quoted text that are shown.
const LONGEST: usize = 80;

/// A piece of a text for a message: at most its first 80 letters, without control characters.
pub fn brief(text: &str) -> String {
    let cut = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    let mut piece = printable(&text[..cut]);
    if cut < text.len() {
        piece.push_str(" ...");
    }
    piece
}

/// A text without what a terminal would obey.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_controls_replaced() {
        assert_eq!(brief("a\u{1b}[2Jb"), "a?[2Jb");
        let long = "ä".repeat(1_000_000);
        assert_eq!(brief(&long), format!("{} ...", "ä".repeat(LONGEST)));
        assert_eq!(brief(&"b".repeat(LONGEST)), "b".repeat(LONGEST));
    }
}

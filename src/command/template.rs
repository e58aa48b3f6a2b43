//! Text templates.

/// Replaces each `@WORDS@` of the template once. Inserted text is not searched again.
pub fn filled(template: &str, values: &[(&str, String)]) -> String {
    filled_by(template, |hole| values.iter().find(|(name, _)| *name == hole).map(|(_, value)| value.clone()))
}

/// Replaces what stands between two `@`, where it has a value.
pub fn filled_by(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut pieces = template.split('@');
    text.extend(pieces.next());
    let mut is_word = true;
    for piece in pieces {
        let value = if is_word { value(piece) } else { None };
        if value.is_none() && is_word {
            text.push('@');
        }
        is_word = value.is_none();
        text += value.as_deref().unwrap_or(piece);
    }
    text
}

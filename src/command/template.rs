//! Text templates.

/// Replaces each `@WORDS@` of the template once. Inserted text is not searched again.
pub fn filled(template: &str, values: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut pieces = template.split('@');
    text.extend(pieces.next());
    let mut is_word = true;
    for piece in pieces {
        let value = values.iter().find(|(name, _)| is_word && *name == piece);
        if value.is_none() && is_word {
            text.push('@');
        }
        text += value.map_or(piece, |(_, value)| value);
        is_word = value.is_none();
    }
    text
}

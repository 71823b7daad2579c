//! Text on its way into HTML, wherever a page is made.

/// Makes text safe between tags and inside quoted attributes.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    text.chars().for_each(|character| push_escaped(&mut safe, character));
    safe
}

/// The same for one character.
pub fn push_escaped(safe: &mut String, character: char) {
    match character {
        '&' => safe.push_str("&amp;"),
        '<' => safe.push_str("&lt;"),
        '>' => safe.push_str("&gt;"),
        '"' => safe.push_str("&quot;"),
        '\'' => safe.push_str("&#39;"),
        other => safe.push(other),
    }
}

//! Text on its way into HTML: nothing from the document reaches the page without passing here.

pub(super) use domain::html::escape;
use serde_json::Value;

/// Escapes one line of prose and sets what stands between backticks as code.
pub(super) fn inline(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // Among an odd number of backticks the last has no partner and is just a character.
    let unpaired = parts.len().is_multiple_of(2).then(|| parts.len() - 1);
    let mut html = String::new();
    for (index, part) in parts.iter().enumerate() {
        if Some(index) == unpaired {
            html.push('`');
            html.push_str(&escape(part));
        } else if index % 2 == 1 {
            html.push_str(&code(part));
        } else {
            html.push_str(&escape(part));
        }
    }
    html
}

/// Sets prose as paragraphs; an empty line starts a new one.
pub(super) fn paragraphs(text: &str) -> String {
    let filled = text.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    filled.map(|block| ["<p>", &inline(block), "</p>\n"].concat()).collect()
}

/// Sets text as code.
pub(super) fn code(text: &str) -> String {
    ["<code>", &escape(text), "</code>"].concat()
}

/// A folded block that opens with a click.
pub(super) fn folded(summary: &str, html: &str) -> String {
    format!("<details><summary>{}</summary>\n{html}</details>\n", escape(summary))
}

/// A captioned listing; `html` is already escaped. It takes the focus so that the keyboard can
/// scroll a line that is too long.
pub(super) fn listing(caption: &str, html: &str) -> String {
    format!(
        "<figure><figcaption>{}</figcaption>\
         <pre tabindex=\"0\"><code>{html}</code></pre></figure>\n",
        escape(caption)
    )
}

/// A string of the document, empty when it is not there.
pub(super) fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The entries of a list of the document, none when it is not there.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A JSON value as people write it: strings bare, large numbers with separators.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => grouped(&number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn grouped(digits: &str) -> String {
    if digits.len() < 5 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits.to_owned();
    }
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markup_in_prose_is_shown_not_obeyed() {
        assert_eq!(
            inline("a <b> & `\"<i>\"`"),
            "a &lt;b&gt; &amp; <code>&quot;&lt;i&gt;&quot;</code>"
        );
    }

    #[test]
    fn a_backtick_without_a_partner_stays_a_backtick() {
        assert_eq!(inline("`a` and `b"), "<code>a</code> and `b");
        assert_eq!(inline("plain"), "plain");
    }

    #[test]
    fn numbers_have_separators_from_five_digits_on() {
        assert_eq!(plain(&json!(1000)), "1000");
        assert_eq!(plain(&json!(10_000)), "10,000");
        assert_eq!(plain(&json!(1_048_576)), "1,048,576");
    }
}

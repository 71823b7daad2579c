//! Commands that can be pasted into a shell that knows the service's address and a key.

use super::operation::Operation;
use super::sample::Sample;
use super::schema::Schemas;
use super::text::string;

/// The longest first line; a longer address gets a line of its own, since listings are narrow.
const WIDEST: usize = 50;

/// The command that calls an operation with everything it requires.
pub(super) fn command(schemas: Schemas<'_>, operation: &Operation<'_>) -> String {
    let call = call(operation);
    let url = format!("\"$SWITCHYARD_URL{}\"", target(schemas, operation));
    let short = call.len() + url.len() <= WIDEST;
    let mut parts = if short { vec![format!("{call} {url}")] } else { vec![call, url] };
    if !operation.is_public() {
        parts.push("-H \"Authorization: Bearer $SWITCHYARD_ADMIN_KEY\"".to_owned());
    }
    for header in operation.parameters("header") {
        let name = string(header, "name");
        if name == "Idempotency-Key" {
            // A fixed key would make the second command anyone pastes fail as a reused one.
            parts.push("-H \"Idempotency-Key: $(uuidgen)\"".to_owned());
        } else if header["required"] == true {
            let value = Sample::of(schemas, name, &header["schema"]).word();
            parts.push(format!("-H {}", quoted(&format!("{name}: {value}"))));
        }
    }
    if let Some(schema) = operation.takes() {
        parts.push("-H \"Content-Type: application/json\"".to_owned());
        let body = Sample::of(schemas, "", schema).json().replace('\n', "\n  ");
        parts.push(format!("-d {}", quoted(&body)));
    }
    parts.join(" \\\n  ")
}

/// `curl` with the method when it isn't the usual one, and with the status when that is all
/// there is to see.
fn call(operation: &Operation<'_>) -> String {
    let silent = operation.successes().iter().all(|(status, ..)| *status == "204");
    let show = if silent { " -i" } else { "" };
    match operation.method {
        "get" => format!("curl{show}"),
        method => format!("curl{show} -X {}", method.to_uppercase()),
    }
}

/// The path with examples for its parameters and those of the query that must be there.
fn target(schemas: Schemas<'_>, operation: &Operation<'_>) -> String {
    let mut target = operation.path.to_owned();
    for parameter in operation.parameters("path") {
        let name = string(parameter, "name");
        let value = encoded(&Sample::of(schemas, name, &parameter["schema"]).word());
        target = target.replace(&format!("{{{name}}}"), &value);
    }
    let query = operation.parameters("query").into_iter();
    let query: Vec<String> = query
        .filter(|parameter| parameter["required"] == true)
        .map(|parameter| {
            let name = string(parameter, "name");
            format!("{name}={}", encoded(&Sample::of(schemas, name, &parameter["schema"]).word()))
        })
        .collect();
    if query.is_empty() { target } else { format!("{target}?{}", query.join("&")) }
}

/// Quotes text for a POSIX shell, where nothing between single quotes is special but the quote.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Percent-encodes what is not plain in a URL.
fn encoded(text: &str) -> String {
    let mut url = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.extend(['%', hex(byte >> 4), hex(byte & 15)]);
        }
    }
    url
}

fn hex(half: u8) -> char {
    char::from_digit(u32::from(half), 16).unwrap_or('0').to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_does_not_end_the_shell_word() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_url_keeps_only_plain_characters() {
        assert_eq!(encoded("a b/é$"), "a%20b%2F%C3%A9%24");
    }
}

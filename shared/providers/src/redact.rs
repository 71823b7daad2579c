//! A provider's error text, made fit to be stored: short, printable, and without addresses, numbers and
//! tokens.

use domain::notifications::Address;

const MAX_BYTES: usize = 160;
const MAX_CODE_LENGTH: usize = 32;
const MIN_HIDDEN_DIGITS: usize = 5;
const HIDDEN: &str = "…";

/// `text` as the answer to a message for `to`.
pub(crate) fn redact(text: &str, to: &Address) -> String {
    let identifying = identifying_parts(to);
    let mut clean = String::new();
    for word in text.split(|char: char| char.is_whitespace() || char.is_control()) {
        let hide = is_personal(word) || identifying.iter().any(|part| word.contains(part.as_str()));
        let word = if hide { HIDDEN } else { word };
        if word.is_empty() || (word == HIDDEN && clean.ends_with(HIDDEN)) {
            continue;
        }
        if clean.len() + word.len() >= MAX_BYTES {
            break;
        }
        if !clean.is_empty() {
            clean.push(' ');
        }
        clean.push_str(word);
    }
    clean
}

/// Whether it is an address, a number or a token, of any user.
fn is_personal(word: &str) -> bool {
    word.contains('@')
        || word.contains("://")
        || word.len() > MAX_CODE_LENGTH
        || word.bytes().filter(u8::is_ascii_digit).count() >= MIN_HIDDEN_DIGITS
}

/// The parts of an address that identify the recipient.
fn identifying_parts(to: &Address) -> Vec<String> {
    let parts = match to {
        Address::Email { address } => match address.rsplit_once('@') {
            Some((local, domain)) => vec![local, domain],
            None => vec![address.as_str()],
        },
        Address::Phone { number } => vec![number.trim_start_matches('+')],
        Address::Fcm { token } | Address::Apns { token } => vec![token.as_str()],
        Address::WebPush { .. } | Address::Webhook { .. } => Vec::new(),
    };
    parts.into_iter().filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_is_left_in_the_text() {
        let to = Address::Email { address: "bob@example.com".to_owned() };
        for (text, clean) in [
            ("5.1.1 <bob@example.com>: no such user", "5.1.1 … no such user"),
            ("5.1.1 bob... User unknown", "5.1.1 … User unknown"),
            ("no MX for example.com\r\nsorry", "no MX for … sorry"),
            ("call +15551234567 now", "call … now"),
            ("see https://help.test/x", "see …"),
            ("a@b c@d", "…"),
            ("\u{0}\u{7}quiet", "quiet"),
        ] {
            assert_eq!(redact(text, &to), clean);
        }
        assert!(redact(&"word ".repeat(1000), &to).len() <= MAX_BYTES);
    }
}

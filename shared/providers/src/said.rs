//! Other people's words, made fit to be kept: short, printable, and with nobody's address in them.

use domain::notifications::Address;

const LONGEST: usize = 160;
const MAX_CODE_LENGTH: usize = 32;
const DIGITS: usize = 5;
const HIDDEN: &str = "…";

/// What they said to a parcel for `to`.
pub(crate) fn cleaned(text: &str, to: &Address) -> String {
    let secret = telling(to);
    let mut clean = String::new();
    for word in text.split(|char: char| char.is_whitespace() || char.is_control()) {
        let hide = hides_somebody(word) || secret.iter().any(|part| word.contains(part.as_str()));
        let word = if hide { HIDDEN } else { word };
        if word.is_empty() || (word == HIDDEN && clean.ends_with(HIDDEN)) {
            continue;
        }
        if clean.len() + word.len() >= LONGEST {
            break;
        }
        if !clean.is_empty() {
            clean.push(' ');
        }
        clean.push_str(word);
    }
    clean
}

/// Addresses, numbers and tokens, whoever's they are.
fn hides_somebody(word: &str) -> bool {
    word.contains('@')
        || word.contains("://")
        || word.len() > MAX_CODE_LENGTH
        || word.bytes().filter(u8::is_ascii_digit).count() >= DIGITS
}

/// What would give the recipient away.
fn telling(to: &Address) -> Vec<String> {
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
    fn nobody_is_found_in_what_was_said() {
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
            assert_eq!(cleaned(text, &to), clean);
        }
        assert!(cleaned(&"word ".repeat(1000), &to).len() <= LONGEST);
    }
}

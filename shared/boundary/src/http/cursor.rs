//! Cursors: opaque to callers, checked when they come back.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Problem, Result};

/// Where the next page of a list starts.
///
/// The text names the list it belongs to, so a cursor of one list is refused by another. It holds
/// nothing a caller may not know, and anything they make up is at worst a place in their own list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(String);

impl Cursor {
    /// Wraps a position in the list of that name.
    pub fn new(list: &str, position: &str) -> Self {
        Self(URL_SAFE_NO_PAD.encode(format!("1:{list}:{position}")))
    }

    /// The text a caller passes back.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The problem with a text that is no cursor of the list.
    pub fn invalid() -> Problem {
        Problem::field("cursor", "a `nextCursor` from an earlier page of this list")
    }

    /// The position in `text`, if it is a cursor of that list.
    pub fn decode(list: &str, text: &str) -> Result<String> {
        let wrong = Self::invalid;
        if text.len() > 1024 {
            return Err(wrong());
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
        let decoded = String::from_utf8(bytes).map_err(|_| wrong())?;
        let position =
            decoded.strip_prefix("1:").and_then(|rest| rest.strip_prefix(list)?.strip_prefix(':'));
        position.filter(|position| !position.is_empty()).map(str::to_owned).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_its_own_list_only() {
        let cursor = Cursor::new("accounts", "ada:1");
        assert_eq!(Cursor::decode("accounts", cursor.as_str()).unwrap(), "ada:1");
        for (list, text) in [
            ("keys", cursor.as_str()),
            ("accounts", "nonsense!"),
            ("accounts", ""),
            ("accounts", "AAAA"),
            ("accounts", &"A".repeat(2000)),
        ] {
            assert!(Cursor::decode(list, text).is_err(), "{list} {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in ".{0,80}") {
            let _ = Cursor::decode("accounts", &text);
        }
    }
}

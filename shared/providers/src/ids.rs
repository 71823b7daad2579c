//! Ids of a message or a collapse group in each protocol's format, hashed from their keys.
//!
//! Guarantee: the same key gives the same id; an id has a fixed length and plain characters only, and
//! does not reveal the key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::hex;
use domain::notifications::ProviderMessage;
use ring::digest::{SHA256, digest};

/// 32 characters of base64url: a Web Push topic, a collapse id, a tag.
pub(crate) fn hashed_id(key: &str) -> String {
    let hash = digest(&SHA256, key.as_bytes());
    URL_SAFE_NO_PAD.encode(&hash.as_ref()[..24])
}

/// A message replaces others of its group or, without one, a copy of itself.
pub(crate) fn collapse_id(message: &ProviderMessage) -> String {
    match &message.collapse_key {
        Some(key) => hashed_id(&format!("group {key}")),
        None => hashed_id(&format!("parcel {}", message.key)),
    }
}

/// A UUID (version 8).
pub(crate) fn message_uuid(key: &str) -> String {
    let hash = digest(&SHA256, key.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_ref()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex(&bytes);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hashed_id_is_32_url_safe_characters() {
        for key in ["", "a", "order 7 shipped", "ключ\r\n"] {
            let id = hashed_id(key);
            assert_eq!(id.len(), 32);
            assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        }
        assert_eq!(hashed_id("a"), hashed_id("a"));
        assert_ne!(hashed_id("a"), hashed_id("b"));
    }

    #[test]
    fn a_uuid_looks_like_one() {
        let uuid = message_uuid("n1.push");
        assert_eq!(uuid.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert_eq!(&uuid[14..15], "8");
        assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"));
    }
}

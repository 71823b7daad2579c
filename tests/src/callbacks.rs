//! Signs the callbacks of a provider in tests, as Standard Webhooks says.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub const SECRET: [u8; 32] = [5; 32];

/// The value of `CallbackSecrets` with which `provider` may call back.
pub fn secrets(provider: &str) -> String {
    format!("{provider}:{}", STANDARD.encode(SECRET))
}

/// The headers of a call with that body that was signed at `second` with `secret`.
///
/// # Panics
/// Never: a secret may have any length.
pub fn signed(secret: &[u8], second: i64, body: &[u8]) -> [(&'static str, String); 3] {
    const ID: &str = "msg_1";
    let at = second.to_string();
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { panic!("no key") };
    for part in [ID.as_bytes(), b".", at.as_bytes(), b".", body] {
        mac.update(part);
    }
    let tag = STANDARD.encode(mac.finalize().into_bytes());
    [
        ("webhook-id", ID.to_owned()),
        ("webhook-timestamp", at),
        ("webhook-signature", format!("v1,{tag}")),
    ]
}

//! A push service and the browser behind it: VAPID (RFC 8292) and aes128gcm (RFC 8188, RFC 8291),
//! from the receiving side.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use serde_json::Value;

use super::{Refusal, header, headers, text};
use crate::http::Request;
use crate::jwt::VerifiedJwt;
use crate::message::ReceivedMessage;
use crate::sink::SinkState;

/// No push service has to take more (RFC 8030).
const MAX_BODY_BYTES: usize = 4096;
const DAY: i64 = 86_400;

pub(super) fn read(state: &SinkState, request: &Request) -> Result<ReceivedMessage, Refusal> {
    verify_vapid(state, request).map_err(|why| Refusal::new(403, why))?;
    if header(request, "ttl").parse::<u32>().is_err() {
        return Err(Refusal::new(400, "a TTL is missing"));
    }
    let topic = header(request, "topic");
    let proper = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if topic.len() > 32 || !topic.chars().all(proper) {
        return Err(Refusal::new(400, "an improper topic"));
    }
    if request.body().len() > MAX_BODY_BYTES {
        return Err(Refusal::new(413, "too large"));
    }
    if header(request, "content-encoding") != "aes128gcm" {
        return Err(Refusal::new(415, "not aes128gcm"));
    }
    let plain = decrypted(state, request.body()).ok_or(Refusal::new(400, "cannot be decrypted"))?;
    let value: Value = serde_json::from_slice(&plain).unwrap_or_default();
    let source = super::pretty(&plain);
    Ok(ReceivedMessage {
        to: request.uri().path().trim_start_matches("/push/").to_owned(),
        title: text(&value["title"]),
        text: text(&value["body"]),
        headers: headers(request),
        source,
        ..ReceivedMessage::default()
    })
}

fn verify_vapid(state: &SinkState, request: &Request) -> Result<(), &'static str> {
    let vapid = header(request, "authorization").strip_prefix("vapid ").ok_or("no vapid")?;
    let part = |name: &str| vapid.split(',').find_map(|part| part.trim().strip_prefix(name));
    let (token, key) = (part("t=").ok_or("no t")?, part("k=").ok_or("no k")?);
    let key = URL_SAFE_NO_PAD.decode(key).map_err(|_| "k is not base64url")?;
    if key != state.credentials.vapid.public_key_raw() {
        return Err("not the key that was subscribed with");
    }
    let token = VerifiedJwt::es256(token, &key)?;
    let host = request.uri().authority().map_or(header(request, "host"), |a| a.as_str());
    if token.claims["aud"] != format!("https://{host}") {
        return Err("for another push service");
    }
    let left = token.time("exp")? - state.now().as_second();
    if !(0..=DAY).contains(&left) {
        return Err("expired, or lasting longer than a day");
    }
    let reachable = |sub: &str| sub.starts_with("mailto:") || sub.starts_with("https:");
    token.claims["sub"].as_str().filter(|sub| reachable(sub)).map(drop).ok_or("no sub")
}

fn decrypted(state: &SinkState, body: &[u8]) -> Option<Vec<u8>> {
    let (salt, rest) = body.split_at_checked(16)?;
    let (_record_size, rest) = rest.split_at_checked(4)?;
    let (length, rest) = rest.split_first()?;
    let (sender, ciphertext) = rest.split_at_checked(usize::from(*length))?;
    let browser = state.credentials.browser_public();
    let shared = state.credentials.ecdh_shared_secret(sender)?;
    let info = [b"WebPush: info\0".as_slice(), &browser, sender].concat();
    let material: [u8; 32] = hkdf(&state.credentials.browser_auth, &shared, &info)?;
    let key: [u8; 16] = hkdf(salt, &material, b"Content-Encoding: aes128gcm\0")?;
    let nonce: [u8; 12] = hkdf(salt, &material, b"Content-Encoding: nonce\0")?;
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
    let mut ciphertext = ciphertext.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    let plain = key.open_in_place(nonce, Aad::empty(), &mut ciphertext).ok()?;
    // The last record ends with a 2 and padding.
    let end = plain.iter().rposition(|byte| *byte != 0)?;
    (plain[end] == 2).then(|| plain[..end].to_vec())
}

fn hkdf<const N: usize>(salt: &[u8], material: &[u8], info: &[u8]) -> Option<[u8; N]> {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut output = [0; N];
    let key = Salt::new(HKDF_SHA256, salt).extract(material);
    key.expand(&[info], Length(N)).ok()?.fill(&mut output).ok()?;
    Some(output)
}

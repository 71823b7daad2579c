//! Checks the form of an address. Only a delivered message proves one.

use url::Url;

use crate::notifications::{Address, Rejected};

/// A mailbox as RFC 5321 writes it, without quotes: nothing that could end a header or a command. The
/// part after the `@` is written in lower case and, where it is not ASCII, as IDNA does.
pub(super) fn mailbox(text: &str) -> Result<String, Rejected> {
    read_mailbox(text).ok_or_else(|| {
        Rejected::field("email", "an address like ada@example.org, at most 254 characters")
    })
}

fn read_mailbox(text: &str) -> Option<String> {
    let (local, host) = text.rsplit_once('@')?;
    let atoms = local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atom));
    if local.len() > 64 || !atoms {
        return None;
    }
    let host = idna::domain_to_ascii_strict(host).ok()?;
    let labels: Vec<&str> = host.split('.').collect();
    let top = labels.last()?;
    let fits = labels.len() >= 2
        && labels.iter().all(|label| (1..=63).contains(&label.len()))
        && top.bytes().any(|b| b.is_ascii_alphabetic());
    let mailbox = format!("{local}@{host}");
    (fits && mailbox.len() <= 254).then_some(mailbox)
}

const fn is_atom(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'/'
                | b'='
                | b'?'
                | b'^'
                | b'_'
                | b'`'
                | b'{'
                | b'|'
                | b'}'
                | b'~'
        )
}

/// E.164: `+`, a country code that does not begin with 0, 7 to 15 digits in all.
pub(super) fn phone(text: &str) -> Result<String, Rejected> {
    let digits = text.strip_prefix('+').unwrap_or_default();
    let fits = (7..=15).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && !digits.starts_with('0');
    if fits {
        Ok(text.to_owned())
    } else {
        Err(Rejected::field("phone", "a number like +34600123456 (E.164)"))
    }
}

/// The address of a device, a browser or a server.
pub(super) fn device(address: &Address) -> Result<(), Rejected> {
    let (fits, rule) = match address {
        Address::WebPush { endpoint, p256dh, auth } => (
            is_https(endpoint) && is_key(p256dh, 87) && is_key(auth, 22),
            "webpush: an https endpoint, and its keys in base64url",
        ),
        Address::Fcm { token } => (
            is_token(token, |b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'-')),
            "fcm: a registration token",
        ),
        Address::Apns { token } => (
            is_token(token, |b| b.is_ascii_hexdigit()) && token.len() >= 64,
            "apns: a device token in hexadecimal",
        ),
        Address::Webhook { url } => (is_https(url), "webhook: an https URL without credentials"),
        Address::Email { .. } | Address::Phone { .. } => (false, "webpush, fcm, apns or webhook"),
    };
    if fits { Ok(()) } else { Err(Rejected::field("devices", rule)) }
}

const MAX_URL_LENGTH: usize = 2_048;
const MAX_TOKEN_LENGTH: usize = 4_096;

/// Only the form of the URL; whether its host may be called is checked when a connection is made.
fn is_https(text: &str) -> bool {
    let plain = text.len() <= MAX_URL_LENGTH && text.bytes().all(|b| b.is_ascii_graphic());
    plain
        && Url::parse(text).is_ok_and(|url| {
            url.scheme() == "https"
                && url.has_host()
                && url.username().is_empty()
                && url.password().is_none()
        })
}

/// So many digits of base64url, without padding or with.
fn is_key(text: &str, digits: usize) -> bool {
    let key = text.trim_end_matches('=');
    key.len() == digits
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn is_token(token: &str, fits: impl Fn(u8) -> bool) -> bool {
    (1..=MAX_TOKEN_LENGTH).contains(&token.len()) && token.bytes().all(fits)
}

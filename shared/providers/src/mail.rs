//! What mails by SES and by SMTP have in common.
//!
//! Guarantee: nothing in a message begins a header of its own.

use domain::notifications::{Class, ProviderMessage};

/// A line of a mail has at most 998 characters.
const MAX_LINK_LENGTH: usize = 900;

/// Why a message cannot be sent as mail.
pub(crate) type UnsendableMail = (Class, &'static str);

/// The headers by which a mail reader offers one click to end mails like this one (RFC 8058). Without
/// TLS, as on a developer's machine, there is a link and no click.
pub(crate) fn unsubscribe_headers(
    message: &ProviderMessage,
) -> Result<Vec<(&'static str, String)>, UnsendableMail> {
    let Some(link) = &message.unsubscribe else { return Ok(Vec::new()) };
    let proper = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>');
    let secure = link.starts_with("https://");
    let leads_somewhere = secure || link.starts_with("http://");
    if !leads_somewhere || link.len() > MAX_LINK_LENGTH || !link.bytes().all(proper) {
        return Err((Class::Content, "a link to unsubscribe that is no URL of a page"));
    }
    let mut headers = vec![("List-Unsubscribe", format!("<{link}>"))];
    if secure {
        headers.push(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
    }
    Ok(headers)
}

/// One line of a text that should have only one.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|char: char| char.is_control() || char.is_whitespace());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

//! A [`ProviderMessage`] as a mail (RFC 5322), for readers with HTML and without.
//!
//! Guarantee: nothing in a message begins a header of its own. The subject is one line, addresses are
//! parsed, and a link to unsubscribe is a URL of printable characters.

use std::time::{Duration, SystemTime};

use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage};
use lettre::Message;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};

use crate::ids::hashed_id;
use crate::mail::{UnsendableMail, one_line, unsubscribe_headers};

/// A mail, ready to be sent.
#[derive(Debug)]
pub(super) struct ComposedMail {
    /// Its `Message-ID`, without brackets.
    pub(super) id: String,
    pub(super) to: lettre::Address,
    pub(super) needs_utf8: bool,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn compose(
    message: &ProviderMessage,
    from: &Mailbox,
    reply_to: Option<&Mailbox>,
    now: Timestamp,
) -> Result<ComposedMail, UnsendableMail> {
    let Address::Email { address } = &message.to else {
        return Err((Class::Unrecognised, "not for a mailbox"));
    };
    let Content::Email { subject, text, html } = &message.content else {
        return Err((Class::Content, "not a mail"));
    };
    let to: lettre::Address =
        address.parse().map_err(|_| (Class::InvalidRecipient, "not a mailbox"))?;
    let id = format!("{}@{}", hashed_id(&message.key), from.email.domain());
    let mut builder = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to.clone()))
        .subject(one_line(subject))
        .date(system_time(now))
        .message_id(Some(format!("<{id}>")));
    if let Some(reply_to) = reply_to {
        builder = builder.reply_to(reply_to.clone());
    }
    for (name, value) in unsubscribe_headers(message)? {
        builder = builder.raw_header(HeaderValue::new(HeaderName::new_from_ascii_str(name), value));
    }
    let mail = match html {
        Some(html) => {
            builder.multipart(MultiPart::alternative_plain_html(text.clone(), html.clone()))
        }
        None => builder.singlepart(SinglePart::plain(text.clone())),
    };
    let mail = mail.map_err(|_| (Class::Content, "no mail can be made of it"))?;
    let needs_utf8 = !address.is_ascii() || !AsRef::<str>::as_ref(&from.email).is_ascii();
    Ok(ComposedMail { id, to, needs_utf8, bytes: mail.formatted() })
}

fn system_time(now: Timestamp) -> SystemTime {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[cfg(test)]
mod tests;

//! A parcel as a mail (RFC 5322), for readers with HTML and without.
//!
//! Guarantee: nothing in a parcel begins a header of its own. The subject is one line, addresses are
//! parsed, and a link to unsubscribe is a URL of printable characters.

use std::time::{Duration, SystemTime};

use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage};
use lettre::Message;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};

use crate::derived::label;
use crate::mail::{Unfit, one_line, unsubscribe};

/// A mail, ready to be sent.
#[derive(Debug)]
pub(super) struct Composed {
    /// Its `Message-ID`, without brackets.
    pub(super) id: String,
    pub(super) to: lettre::Address,
    pub(super) needs_utf8: bool,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn compose(
    parcel: &ProviderMessage,
    from: &Mailbox,
    reply_to: Option<&Mailbox>,
    now: Timestamp,
) -> Result<Composed, Unfit> {
    let Address::Email { address } = &parcel.to else {
        return Err((Class::Unrecognised, "not for a mailbox"));
    };
    let Content::Email { subject, text, html } = &parcel.content else {
        return Err((Class::Content, "not a mail"));
    };
    let to: lettre::Address =
        address.parse().map_err(|_| (Class::InvalidRecipient, "not a mailbox"))?;
    let id = format!("{}@{}", label(&parcel.key), from.email.domain());
    let mut builder = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to.clone()))
        .subject(one_line(subject))
        .date(time(now))
        .message_id(Some(format!("<{id}>")));
    if let Some(reply_to) = reply_to {
        builder = builder.reply_to(reply_to.clone());
    }
    for (name, value) in unsubscribe(parcel)? {
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
    Ok(Composed { id, to, needs_utf8, bytes: mail.formatted() })
}

fn time(now: Timestamp) -> SystemTime {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[cfg(test)]
mod tests;

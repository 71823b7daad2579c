//! The content for each channel, and its limits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Channel, Content};

/// The content by channel, as a caller writes it: ready to send, or each text a template.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelContents {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<EmailContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sms: Option<SmsContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<PushContent>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmailContent {
    pub subject: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmsContent {
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushContent {
    pub title: String,
    pub body: String,
    /// What opens when it is touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// For the app, not for the person.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
}

/// Says for which channels there are any: what a person reads is in no log.
impl std::fmt::Debug for ChannelContents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.channels().map(Channel::name).collect();
        write!(f, "Words({})", names.join(", "))
    }
}

impl ChannelContents {
    /// The channels that there are words for.
    pub fn channels(&self) -> impl Iterator<Item = Channel> {
        let has = [self.email.is_some(), self.sms.is_some(), self.push.is_some()];
        Channel::ALL.into_iter().zip(has).filter_map(|(channel, has)| has.then_some(channel))
    }

    /// What is said on `channel`.
    pub fn for_channel(&self, channel: Channel) -> Option<Content> {
        match channel {
            Channel::Email => self
                .email
                .clone()
                .map(|EmailContent { subject, text, html }| Content::Email { subject, text, html }),
            Channel::Sms => self.sms.clone().map(|SmsContent { text }| Content::Sms { text }),
            Channel::Push => self.push.clone().map(|PushContent { title, body, link, data }| {
                Content::Push { title, body, link, data }
            }),
        }
    }
}

/// What a text has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// A line: nothing in it may begin another.
    Line,
    Text,
    Html,
    Link,
}

/// Each text of a content, changed or refused.
pub(super) fn try_map_texts<E>(
    content: &Content,
    mut change: impl FnMut(&'static str, TextKind, &str) -> Result<String, E>,
) -> Result<Content, E> {
    Ok(match content {
        Content::Email { subject, text, html } => Content::Email {
            subject: change("email.subject", TextKind::Line, subject)?,
            text: change("email.text", TextKind::Text, text)?,
            html: html
                .as_ref()
                .map(|html| change("email.html", TextKind::Html, html))
                .transpose()?,
        },
        Content::Sms { text } => Content::Sms { text: change("sms.text", TextKind::Text, text)? },
        Content::Push { title, body, link, data } => Content::Push {
            title: change("push.title", TextKind::Line, title)?,
            body: change("push.body", TextKind::Text, body)?,
            link: link
                .as_ref()
                .map(|link| change("push.link", TextKind::Link, link))
                .transpose()?,
            data: data
                .iter()
                .map(|(key, value)| Ok((key.clone(), change("push.data", TextKind::Text, value)?)))
                .collect::<Result<_, E>>()?,
        },
    })
}

/// The longest that a text may be: characters.
fn max_chars(field: &str) -> usize {
    match field {
        "email.subject" => 255,
        "email.text" => 100_000,
        "email.html" => 200_000,
        "sms.text" => 1_600,
        "push.title" => 200,
        "push.body" => 2_000,
        "push.link" => 2_048,
        _ => 1_024,
    }
}

/// Push services take 4 KB, of which some is theirs.
const MAX_PUSH: usize = 3_500;

/// What is wrong with a content that is ready to send: which field, and what it must be.
pub(super) fn invalid_field(content: &Content) -> Option<(&'static str, String)> {
    let validated =
        try_map_texts(content, |field, form, text| match broken_rule(field, form, text) {
            Some(rule) => Err((field, rule)),
            None => Ok(String::new()),
        });
    if let Err(invalid_field) = validated {
        return Some(invalid_field);
    }
    let Content::Push { data, .. } = content else { return None };
    let keys_fit = data.len() <= 20
        && data
            .keys()
            .all(|key| (1..=64).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic()));
    if !keys_fit {
        return Some((
            "push.data",
            "at most 20 entries, with printable names of 1 to 64".to_owned(),
        ));
    }
    let size = serde_json::to_string(content).map_or(usize::MAX, |json| json.len());
    (size > MAX_PUSH).then(|| ("push", format!("at most {MAX_PUSH} bytes as JSON")))
}

fn broken_rule(field: &str, form: TextKind, text: &str) -> Option<String> {
    let most = max_chars(field);
    let may_be_empty = matches!(field, "push.data" | "push.body");
    if text.chars().count() > most || (text.trim().is_empty() && !may_be_empty) {
        return Some(format!("1 to {most} characters"));
    }
    match form {
        TextKind::Line if text.chars().any(breaks_line) => {
            Some("one line, without control characters".to_owned())
        }
        TextKind::Link if !is_link(text) => Some("an http(s) URL, or one of an app".to_owned()),
        TextKind::Text | TextKind::Html if text.contains('\0') => {
            Some("text without null characters".to_owned())
        }
        TextKind::Line | TextKind::Link | TextKind::Text | TextKind::Html => None,
    }
}

/// Whether a character could begin a new line, somewhere.
fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The text as one line: each line break becomes a space.
pub(super) fn to_single_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if breaks_line(c) { ' ' } else { c }).collect();
    spaced.trim().to_owned()
}

/// Apps have schemes of their own; those that run or read something do not belong in a message.
fn is_link(text: &str) -> bool {
    let harmful = ["javascript", "data", "vbscript", "file", "blob", "about"];
    !text.chars().any(breaks_line)
        && url::Url::parse(text).is_ok_and(|url| !harmful.contains(&url.scheme()))
}

#[cfg(test)]
mod tests;

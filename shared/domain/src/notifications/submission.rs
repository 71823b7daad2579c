//! What a caller asks for, checked.

mod request;

pub use request::{NotificationRequest, TemplateRequest};

use serde_json::Value;

use super::contents::invalid_field;
use super::{
    Body, Category, Channel, ChannelContents, Notification, NotificationId, Priority, Rejected,
    TemplateId,
};
use crate::Timestamp;
use crate::accounts::UserId;

/// People that one call tells, at most.
pub const MAX_USERS: usize = 1_000;

/// The most that a template is filled in with: bytes of JSON.
const MAX_DATA: usize = 64 * 1024;

/// All words together, in bytes: a row has its limits.
const MAX_CONTENT: usize = 300_000;

/// A year ahead at most: a mistyped time should not look like a lost notification.
const FURTHEST_SECONDS: i64 = 366 * 86_400;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentSource {
    Template {
        id: TemplateId,
        /// Which version; the active one if none.
        version: Option<u32>,
        data: String,
    },
    Inline(ChannelContents),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    pub users: Vec<UserId>,
    pub category: Category,
    pub priority: Priority,
    /// How to tell them; as they prefer if empty.
    pub channels: Vec<Channel>,
    pub source: ContentSource,
    pub send_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// A later one with the same key takes its place on a device.
    pub collapse_key: Option<String>,
    /// Whether opened mails and followed links are noted.
    pub tracked: bool,
}

impl NotificationRequest {
    /// Checks what does not depend on anything stored.
    pub fn validated(self, now: Timestamp) -> Result<Submission, Rejected> {
        let channels = channels(self.channels.as_deref())?;
        let users = users(self.user_id, self.user_ids)?;
        let category = Category::parse(&self.category)?;
        let priority = match self.priority {
            None => Priority::Normal,
            Some(name) => Priority::from_name(&name)
                .ok_or_else(|| Rejected::field("priority", "critical, normal or low"))?,
        };
        let source = match (self.template, self.content) {
            (Some(template), None) => template.validated(self.data.as_ref())?,
            (None, Some(contents)) if self.data.is_none() => inline(contents, &channels)?,
            (None, Some(_)) => return Err(Rejected::field("data", "only with a template")),
            _ => return Err(Rejected::field("template", "either a template or content")),
        };
        check_times(self.send_at, self.expires_at, now)?;
        let collapse_key = self.collapse_key;
        let is_key = |key: &String| {
            (1..=64).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic())
        };
        if !collapse_key.as_ref().is_none_or(is_key) {
            let rule = "1 to 64 printable ASCII characters without spaces";
            return Err(Rejected::field("collapseKey", rule));
        }
        let (send_at, expires_at) = (self.send_at, self.expires_at);
        Ok(Submission {
            users,
            category,
            priority,
            channels,
            source,
            send_at,
            expires_at,
            collapse_key,
            tracked: self.track,
        })
    }
}

impl Submission {
    /// The notification for one of the people. `active` is the version of the template that is used
    /// if the caller named none.
    pub fn notification(
        &self,
        id: NotificationId,
        user: &UserId,
        active: u32,
        by: &UserId,
        now: Timestamp,
    ) -> Notification {
        let body = match &self.source {
            ContentSource::Template { id, version, data } => Body::Template {
                id: id.clone(),
                version: version.unwrap_or(active),
                data: data.clone(),
            },
            ContentSource::Inline(contents) => Body::Inline { contents: contents.clone() },
        };
        Notification {
            id,
            user: user.clone(),
            category: self.category.clone(),
            priority: self.priority,
            body,
            send_at: self.send_at,
            expires_at: self.expires_at,
            collapse_key: self.collapse_key.clone(),
            tracked: self.tracked,
            created_by: by.clone(),
            created_at: now,
        }
    }
}

impl TemplateRequest {
    fn validated(self, data: Option<&Value>) -> Result<ContentSource, Rejected> {
        if self.version == Some(0) {
            return Err(Rejected::field("template.version", "1 or more"));
        }
        let data = match data {
            None => "{}".to_owned(),
            Some(Value::Object(object)) => serde_json::to_string(object).unwrap_or_default(),
            Some(_) => return Err(Rejected::field("data", "an object")),
        };
        if data.len() > MAX_DATA {
            return Err(Rejected::field("data", format!("at most {MAX_DATA} bytes of JSON")));
        }
        Ok(ContentSource::Template {
            id: TemplateId::parse(&self.id)?,
            version: self.version,
            data,
        })
    }
}

fn users(one: Option<String>, several: Option<Vec<String>>) -> Result<Vec<UserId>, Rejected> {
    let (field, names) = match (one, several) {
        (Some(one), None) => ("userId", vec![one]),
        (None, Some(several)) => ("userIds", several),
        _ => return Err(Rejected::field("userId", "either `userId` or `userIds`")),
    };
    if !(1..=MAX_USERS).contains(&names.len()) {
        return Err(Rejected::field(field, format!("1 to {MAX_USERS} people")));
    }
    let mut seen = std::collections::HashSet::new();
    let mut users = Vec::with_capacity(names.len());
    for name in &names {
        let user = UserId::parse(name).map_err(|_| Rejected::field(field, super::id::NAME_RULE))?;
        if seen.insert(user.clone()) {
            users.push(user);
        }
    }
    Ok(users)
}

fn channels(names: Option<&[String]>) -> Result<Vec<Channel>, Rejected> {
    let Some(names) = names else { return Ok(Vec::new()) };
    let rule = || Rejected::field("channels", "some of email, sms and push");
    let known = |name: &String| Channel::ALL.into_iter().find(|channel| channel.name() == name);
    let mut channels =
        names.iter().map(|name| known(name).ok_or_else(rule)).collect::<Result<Vec<_>, _>>()?;
    if channels.is_empty() {
        return Err(rule());
    }
    channels.sort();
    channels.dedup();
    Ok(channels)
}

fn inline(contents: ChannelContents, channels: &[Channel]) -> Result<ContentSource, Rejected> {
    let written: Vec<Channel> = contents.channels().collect();
    if written.is_empty() {
        return Err(Rejected::field("content", "words for at least one channel"));
    }
    if let Some(channel) = channels.iter().find(|channel| !written.contains(channel)) {
        return Err(Rejected::field("content", format!("words for `{}` too", channel.name())));
    }
    for content in written.into_iter().filter_map(|channel| contents.for_channel(channel)) {
        if let Some((field, rule)) = invalid_field(&content) {
            return Err(Rejected::field(format!("content.{field}"), rule));
        }
    }
    let size = serde_json::to_string(&contents).map_or(usize::MAX, |json| json.len());
    if size > MAX_CONTENT {
        return Err(Rejected::field("content", format!("at most {MAX_CONTENT} bytes in all")));
    }
    Ok(ContentSource::Inline(contents))
}

fn check_times(
    send_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), Rejected> {
    let latest = now.as_second().saturating_add(FURTHEST_SECONDS);
    if send_at.is_some_and(|at| at.as_second() > latest) {
        return Err(Rejected::field("sendAt", "within a year from now"));
    }
    let earliest = send_at.map_or(now, |at| at.max(now));
    if expires_at.is_some_and(|at| at <= earliest) {
        return Err(Rejected::field("expiresAt", "after now and after `sendAt`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! What a caller sends to have people told.

use domain::Timestamp;
use domain::notifications::{ChannelContents, NotificationRequest, TemplateRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::http::schemas::ContentsSchema;

/// Whom to tell what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewNotification {
    /// Whom to tell; this or `userIds`.
    user_id: Option<String>,
    /// Whom to tell, if several: 1 to 1,000, each once.
    user_ids: Option<Vec<String>>,
    /// What it is about: what a person switches off. 1 to 64 of a-z, 0-9, `.`, `_` and `-`.
    category: String,
    /// `critical`, `normal` (if left out) or `low`. Critical passes do-not-disturb and what a person
    /// usually gets, never an opt-out.
    priority: Option<String>,
    /// Some of `email`, `sms` and `push`; all that the person has not switched off if left out.
    channels: Option<Vec<String>>,
    /// What to say; this or `content`.
    template: Option<TemplateBody>,
    /// What to fill the template in with: an object of at most 64 KB.
    data: Option<Value>,
    /// What to say, ready to send: at most 300,000 bytes in all.
    #[schemars(with = "Option<ContentsSchema>")]
    content: Option<ChannelContents>,
    /// A repeat with the same key and body within 24 hours gets the first answer. The header
    /// `Idempotency-Key` does the same.
    pub(crate) idempotency_key: Option<String>,
    /// Not before that; within a year.
    #[schemars(with = "Option<String>")]
    send_at: Option<Timestamp>,
    /// Of no use after that: what has not gone out by then does not.
    #[schemars(with = "Option<String>")]
    expires_at: Option<Timestamp>,
    /// A later one with the same key takes its place on a device: 1 to 64 characters.
    collapse_key: Option<String>,
    /// Whether to count who opens a mail and follows its links; not if left out.
    track: Option<bool>,
}

/// Which template.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TemplateBody {
    /// Its id.
    id: String,
    /// Its version; the active one if left out.
    version: Option<u32>,
}

impl NewNotification {
    /// In the domain's words.
    pub(crate) fn into_domain(self) -> NotificationRequest {
        NotificationRequest {
            user_id: self.user_id,
            user_ids: self.user_ids,
            category: self.category,
            priority: self.priority,
            channels: self.channels,
            template: self.template.map(|it| TemplateRequest { id: it.id, version: it.version }),
            data: self.data,
            content: self.content,
            send_at: self.send_at,
            expires_at: self.expires_at,
            collapse_key: self.collapse_key,
            track: self.track.unwrap_or_default(),
        }
    }
}

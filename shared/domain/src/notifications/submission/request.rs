//! What a caller asks for, as they write it.

use serde::Deserialize;
use serde_json::Value;

use crate::Timestamp;
use crate::notifications::ChannelContents;

/// What a caller asks for, as they write it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotificationRequest {
    /// Whom to tell; this or `user_ids`.
    pub user_id: Option<String>,
    pub user_ids: Option<Vec<String>>,
    pub category: String,
    /// How urgent it is; normal if left out.
    pub priority: Option<String>,
    /// How to tell them; as they prefer if left out.
    pub channels: Option<Vec<String>>,
    /// What to say; this or `content`.
    pub template: Option<TemplateRequest>,
    /// What to fill the template in with.
    pub data: Option<Value>,
    /// What to say, ready to send.
    pub content: Option<ChannelContents>,
    pub send_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// A later one with the same key takes its place on a device.
    pub collapse_key: Option<String>,
    /// Whether opened mails and followed links are noted; not if left out.
    #[serde(default)]
    pub track: bool,
}

/// A template, as a caller names it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateRequest {
    pub id: String,
    /// Which version; the active one if left out.
    pub version: Option<u32>,
}

//! A dead letter as callers see it.

use domain::notifications::{DeadLetter, Priority, Remedy};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::view::{AttemptView, WhyView};

/// A delivery that could not be made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LetterView {
    delivery_id: String,
    notification_id: String,
    user_id: String,
    channel: &'static str,
    category: String,
    priority: &'static str,
    class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<WhyView>,
    /// What was tried, oldest first.
    attempts: Vec<AttemptView>,
    /// What can be done, or was.
    remedy: &'static str,
    created_at: String,
    failed_at: String,
}

impl From<&DeadLetter> for LetterView {
    fn from(letter: &DeadLetter) -> Self {
        Self {
            delivery_id: letter.id.key(),
            notification_id: letter.id.notification_id.as_str().to_owned(),
            user_id: letter.user.as_str().to_owned(),
            channel: letter.id.way.channel().name(),
            category: letter.category.as_str().to_owned(),
            priority: Priority::name(letter.priority),
            class: letter.class.name(),
            why: letter.why.as_ref().map(WhyView::from),
            attempts: letter.attempts.iter().map(AttemptView::from).collect(),
            remedy: Remedy::advice(letter.remedy),
            created_at: letter.created_at.to_string(),
            failed_at: letter.failed_at.to_string(),
        }
    }
}

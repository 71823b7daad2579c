//! A dead letter as callers see it.

use domain::notifications::{DeadLetter, Priority, Remedy};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::view::{AttemptView, ReasonView};

/// A delivery that could not be made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetterView {
    delivery_id: String,
    notification_id: String,
    user_id: String,
    channel: &'static str,
    category: String,
    priority: &'static str,
    class: &'static str,
    #[serde(rename = "why", skip_serializing_if = "Option::is_none")]
    reason: Option<ReasonView>,
    /// What was tried, oldest first.
    attempts: Vec<AttemptView>,
    /// What can be done, or was.
    remedy: &'static str,
    created_at: String,
    failed_at: String,
}

impl From<&DeadLetter> for DeadLetterView {
    fn from(view: &DeadLetter) -> Self {
        Self {
            delivery_id: view.id.key(),
            notification_id: view.id.notification_id.as_str().to_owned(),
            user_id: view.user.as_str().to_owned(),
            channel: view.id.endpoint.channel().name(),
            category: view.category.as_str().to_owned(),
            priority: Priority::name(view.priority),
            class: view.class.name(),
            reason: view.reason.as_ref().map(ReasonView::from),
            attempts: view.attempts.iter().map(AttemptView::from).collect(),
            remedy: Remedy::advice(view.remedy),
            created_at: view.created_at.to_string(),
            failed_at: view.failed_at.to_string(),
        }
    }
}

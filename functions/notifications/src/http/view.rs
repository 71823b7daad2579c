//! Notifications as callers see them: what was asked for, how far it is, and why.

use domain::notifications::{
    Attempt, AttemptOutcome, Body, Delivery, Notification, Reason, Rendering, Status,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A notification.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationView {
    notification_id: String,
    user_id: String,
    category: String,
    priority: &'static str,
    /// The best that became of it on any way: `pending`, `sending`, `delivered`, `unknown`, `failed`,
    /// `suppressed` or `cancelled`; `unreachable` if the person had no address for it.
    status: &'static str,
    /// The template and its version, unless the words were the caller's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<UsedTemplate>,
    /// What the template is filled in with.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    /// The caller's own words, by channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    send_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    collapse_key: Option<String>,
    created_at: String,
    /// Who asked for it.
    created_by: String,
    /// One for each way it goes.
    deliveries: Vec<DeliveryView>,
}

/// Which template.
#[derive(Debug, Serialize, JsonSchema)]
struct UsedTemplate {
    id: String,
    version: u32,
}

/// A notification on its way to one address.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryView {
    delivery_id: String,
    /// `email`, `sms`, or `push-` and a device.
    #[serde(rename = "way")]
    endpoint: String,
    channel: &'static str,
    status: &'static str,
    /// What it waits for, or why it ended as it did.
    #[serde(rename = "why", skip_serializing_if = "Option::is_none")]
    reason: Option<ReasonView>,
    /// Why no attempt follows the one that is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<ReasonView>,
    /// From when on it may be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    ready_at: Option<String>,
    /// The latest attempts, oldest first.
    attempts: Vec<AttemptView>,
    /// Attempts that may have reached the person without our knowing.
    uncertain: u32,
    /// What its text was made from: the variant, and the locale if another stood in for the one that
    /// was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendering: Option<RenderingView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounced_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complained_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
}

/// The rule that holds a delivery, or that ended it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReasonView {
    /// For people.
    sentence: String,
    /// For programs: `scheduled`, `quiet`, `opted-out`, `expired` and the like.
    rule: String,
    /// What belongs to the rule: `switch`, `limit`, `provider`, `attempt`, `class` and the like.
    details: Value,
}

/// One attempt.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttemptView {
    attempt: u32,
    provider: String,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// `open`, `accepted`, `refused`, `unknown`, `lost` or `move_to_pending`.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
    /// The provider's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// What a text was made from.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RenderingView {
    template: String,
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    /// The locale it was wanted in.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<String>,
    /// The locale it was made in.
    locale: String,
}

impl NotificationView {
    pub(crate) fn of(notification: &Notification, deliveries: &[Delivery]) -> Self {
        let time = |at: Option<domain::Timestamp>| at.map(|at| at.to_string());
        let (template, data, content) = match &notification.body {
            Body::Template { id, version, data } => {
                let used = UsedTemplate { id: id.as_str().to_owned(), version: *version };
                (Some(used), serde_json::from_str(data).ok(), None)
            }
            Body::Inline { contents } => (None, None, serde_json::to_value(contents).ok()),
        };
        Self {
            notification_id: notification.id.as_str().to_owned(),
            user_id: notification.user.as_str().to_owned(),
            category: notification.category.as_str().to_owned(),
            priority: notification.priority.name(),
            status: overall_status(deliveries),
            template,
            data,
            content,
            send_at: time(notification.send_at),
            expires_at: time(notification.expires_at),
            collapse_key: notification.collapse_key.clone(),
            created_at: notification.created_at.to_string(),
            created_by: notification.created_by.as_str().to_owned(),
            deliveries: deliveries.iter().map(DeliveryView::from).collect(),
        }
    }
}

/// The best that became of a notification on any way; what is still under way comes first.
pub(crate) fn overall_status(deliveries: &[Delivery]) -> &'static str {
    let order = [
        Status::Sending,
        Status::Pending,
        Status::Delivered,
        Status::Unknown,
        Status::Failed,
        Status::Cancelled,
        Status::Suppressed,
    ];
    let is_there = |status: &Status| deliveries.iter().any(|it| it.status == *status);
    order.into_iter().find(is_there).map_or("unreachable", Status::name)
}

impl From<&Delivery> for DeliveryView {
    fn from(delivery: &Delivery) -> Self {
        let time = |at: Option<domain::Timestamp>| at.map(|at| at.to_string());
        let waits = delivery.status == Status::Pending;
        Self {
            delivery_id: delivery.id.key(),
            endpoint: delivery.id.endpoint.name(),
            channel: delivery.channel().name(),
            status: delivery.status.name(),
            reason: delivery.reason.as_ref().map(ReasonView::from),
            withdrawn: delivery
                .withdrawn
                .as_ref()
                .filter(|_| delivery.status == Status::Sending)
                .map(ReasonView::from),
            ready_at: waits.then(|| delivery.ready_at.to_string()),
            attempts: delivery.attempts.iter().map(AttemptView::from).collect(),
            uncertain: delivery.uncertain,
            rendering: delivery.rendering.as_ref().map(RenderingView::from),
            bounced_at: time(delivery.bounced_at),
            complained_at: time(delivery.complained_at),
            ended_at: time(delivery.ended_at),
        }
    }
}

impl From<&Reason> for ReasonView {
    fn from(reason: &Reason) -> Self {
        let mut details = serde_json::to_value(reason).unwrap_or_default();
        let rule = details.as_object_mut().and_then(|members| members.remove("rule"));
        let rule = rule.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { sentence: boundary::http::sentence(&reason.to_string()), rule, details }
    }
}

impl From<&Attempt> for AttemptView {
    fn from(attempt: &Attempt) -> Self {
        Self {
            attempt: attempt.number,
            provider: attempt.provider.as_str().to_owned(),
            at: attempt.at.to_string(),
            ended_at: attempt.ended_at.map(|at| at.to_string()),
            outcome: match attempt.outcome {
                AttemptOutcome::Open => "open",
                AttemptOutcome::Accepted => "accepted",
                AttemptOutcome::Refused => "refused",
                AttemptOutcome::Unknown => "unknown",
                AttemptOutcome::Lost => "lost",
                AttemptOutcome::Released => "released",
            },
            class: attempt.class.map(domain::notifications::Class::name),
            reason: attempt.reason.clone(),
        }
    }
}

impl From<&Rendering> for RenderingView {
    fn from(rendering: &Rendering) -> Self {
        Self {
            template: rendering.template.as_str().to_owned(),
            version: rendering.version,
            variant: rendering.variant.clone(),
            wanted: rendering.wanted.as_ref().map(|locale| locale.as_str().to_owned()),
            locale: rendering.locale.as_str().to_owned(),
        }
    }
}

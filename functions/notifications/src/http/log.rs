//! A user's notifications, newest first, and up to where they have read.

use std::sync::Arc;

use boundary::http::{Call, Cursor, Json, Operation, Problem, Query, Result, State};
use domain::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PathUser;
use super::view::NotificationView;
use crate::http::state::App;

/// Which part of a log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 50; 20 if left out.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<i32>,
}

/// A page of a log.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogView {
    items: Vec<LogEntryView>,
    /// Up to where they have read.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_until: Option<String>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// An entry of a log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogEntryView {
    /// Whether it came after what they have read.
    unread: bool,
    #[serde(flatten)]
    notification: NotificationView,
}

/// Up to where the user has read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadBody {
    /// Everything up to then; up to now if left out.
    #[schemars(with = "Option<String>")]
    until: Option<Timestamp>,
}

/// Up to where the user has read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReadView {
    read_until: String,
}

pub(super) const LIST: Operation = Operation::get(
    "/api/v1/users/{userId}/notifications",
    "listNotifications",
    "A person's notifications, newest first",
)
.key();

pub(super) async fn list(
    State(app): State<Arc<App>>,
    PathUser(user): PathUser,
    Query(query): Query<LogQuery>,
) -> Result<Json<LogView>> {
    const LIST: &str = "log";
    let limit = query.limit.unwrap_or(20);
    if !(1..=50).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 50"));
    }
    let after = query.cursor.map(|text| Cursor::decode(LIST, &text)).transpose()?;
    if after.as_deref().is_some_and(|position| !is_position(position)) {
        return Err(Cursor::invalid());
    }
    let read_until = app.notifications.read_until(&user).await?;
    let page = app.notifications.log(&user, limit, after.as_deref()).await?;
    let items = page.items.iter().map(|record| LogEntryView {
        unread: read_until.is_none_or(|until| record.notification.created_at > until),
        notification: NotificationView::of(&record.notification, &record.deliveries),
    });
    Ok(Json(LogView {
        items: items.collect(),
        read_until: read_until.map(|until| until.to_string()),
        next_cursor: page.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned()),
    }))
}

pub(super) const MARK: Operation = Operation::post(
    "/api/v1/users/{userId}/notifications/read",
    "markNotificationsRead",
    "Everything up to then was read",
)
.key();

/// One write, however long the log is. It only moves on.
pub(super) async fn mark(
    State(app): State<Arc<App>>,
    call: Call,
    PathUser(user): PathUser,
    body: Option<Json<ReadBody>>,
) -> Result<Json<ReadView>> {
    let until = body.and_then(|Json(body)| body.until);
    // What is still to come can't have been read.
    let until = until.map_or(call.now, |until| until.min(call.now));
    app.notifications.mark_read(&user, until).await?;
    let read_until = app.notifications.read_until(&user).await?.unwrap_or(until);
    Ok(Json(ReadView { read_until: read_until.to_string() }))
}

/// Whether a position could be one in a log: a time and an id.
fn is_position(position: &str) -> bool {
    position.split_once('#').is_some_and(|(at, id)| {
        at.len() == 13 && at.bytes().all(|b| b.is_ascii_digit()) && id.len() <= 64
    })
}

//! One notification: read, or taken back as far as it has not gone out.

use std::sync::Arc;

use crate::store::{Applied, Told};
use boundary::http::{Call, Caller, Json, Operation, Problem, State};
use domain::accounts::Role;
use domain::notifications::{Event, Rejected, Why};

use super::Found;
use super::view::NotificationView;
use crate::http::state::{App, sends};

pub(super) const READ: Operation = Operation::get(
    "/api/v1/notifications/{notificationId}",
    "readNotification",
    "What became of it, and why?",
)
.description("For whoever sends, and for the person it is for.")
.key();

pub(super) async fn read(
    caller: Caller,
    Found(told): Found,
) -> Result<Json<NotificationView>, Problem> {
    if !sends(&caller) && told.notification.user != caller.user_id {
        return Err(Rejected::UnknownNotification.into());
    }
    Ok(shown(&told))
}

pub(super) const CANCEL: Operation = Operation::delete(
    "/api/v1/notifications/{notificationId}",
    "cancelNotification",
    "Take a notification back",
)
.description(
    "Cancels what has not gone out. What is being sent this moment may still arrive, but is not \
     tried again. Repeating it changes nothing.",
)
.role(Role::Notifier);

/// What was claimed can't be called back, but nothing follows it; what has ended stays as it ended.
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    call: Call,
    Found(mut told): Found,
) -> Result<Json<NotificationView>, Problem> {
    let event = Event::Withdrawn { why: Why::Cancelled };
    for delivery in &mut told.deliveries {
        let token = || app.entropy.token();
        match app.notifications.apply_from(delivery, &event, call.now, token).await? {
            Applied::Changed { after, .. } => *delivery = *after,
            Applied::Stays(current) | Applied::Refused(_, current) => *delivery = *current,
            Applied::Unknown => {}
        }
    }
    Ok(shown(&told))
}

fn shown(told: &Told) -> Json<NotificationView> {
    Json(NotificationView::of(&told.notification, &told.deliveries))
}

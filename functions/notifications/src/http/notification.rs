//! One notification: read it, or cancel what has not been sent.

use std::sync::Arc;

use crate::store::{ApplyOutcome, NotificationRecord};
use boundary::http::{Call, Caller, Json, Operation, Result, State};
use domain::accounts::Role;
use domain::notifications::{Event, Reason, Rejected};

use super::FoundNotification;
use super::view::NotificationView;
use crate::http::state::{App, may_send};

pub(super) const READ: Operation = Operation::get(
    "/api/v1/notifications/{notificationId}",
    "readNotification",
    "What became of it, and why?",
)
.description("For callers who may send, and for the user it is for.")
.key();

pub(super) async fn read(
    caller: Caller,
    FoundNotification(record): FoundNotification,
) -> Result<Json<NotificationView>> {
    if !may_send(&caller) && record.notification.user != caller.user_id {
        return Err(Rejected::UnknownNotification.into());
    }
    Ok(shown(&record))
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
    FoundNotification(mut record): FoundNotification,
) -> Result<Json<NotificationView>> {
    let event = Event::Withdrawn { reason: Reason::Cancelled };
    for delivery in &mut record.deliveries {
        let token = || app.entropy.token();
        match app.notifications.apply_from(delivery, &event, call.now, token).await? {
            ApplyOutcome::Changed { after, .. } => *delivery = *after,
            ApplyOutcome::Unchanged(current) | ApplyOutcome::Illegal(_, current) => {
                *delivery = *current;
            }
            ApplyOutcome::NotFound => {}
        }
    }
    Ok(shown(&record))
}

fn shown(record: &NotificationRecord) -> Json<NotificationView> {
    Json(NotificationView::of(&record.notification, &record.deliveries))
}

//! One notification: read, or taken back as far as it has not gone out.

use boundary::http::{Answer, Error, Request, Response};
use domain::notifications::{Event, Rejected, Why};
use http::StatusCode;
use store::notifications::{Applied, Told};

use crate::State;
use crate::state::{named, sends};
use crate::view::NotificationView;

/// For whoever sends, and for the person it is for.
pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let told = find(state, &request).await?;
    if !sends(&request)? && told.notification.user != request.caller()?.user_id {
        return Err(Rejected::UnknownNotification.into());
    }
    Ok(shown(&told))
}

/// What was claimed can't be called back, but nothing follows it; what has ended stays as it ended.
pub(crate) async fn cancel(state: &State, request: Request) -> Answer {
    let mut told = find(state, &request).await?;
    let event = Event::Withdrawn { why: Why::Cancelled };
    for delivery in &mut told.deliveries {
        let token = || state.entropy.token();
        match state.notifications.apply_from(delivery, &event, request.now, token).await? {
            Applied::Changed { after, .. } => *delivery = *after,
            Applied::Stays(current) | Applied::Refused(_, current) => *delivery = *current,
            Applied::Unknown => {}
        }
    }
    Ok(shown(&told))
}

async fn find(state: &State, request: &Request) -> Result<Told, Error> {
    let found = state.notifications.find(&named(request)?).await?;
    found.ok_or_else(|| Rejected::UnknownNotification.into())
}

fn shown(told: &Told) -> Response {
    let view = NotificationView::of(&told.notification, &told.deliveries);
    Response::json(StatusCode::OK, &view)
}

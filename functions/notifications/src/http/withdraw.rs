//! After an opt-out: withdraws what waits for the user.
//!
//! A message has `deliver` withdraw everything; the first few are withdrawn here, so that the user finds
//! it done. Where the message can't be sent, all of it is done here. A caller who is cut off in between
//! calls again: so this follows every opt-out, also one that was written before. What both overlook, the
//! claim before sending stops.

use crate::store::DeliverySnapshot;
use boundary::http::Call;
use domain::Result;
use domain::accounts::UserId;
use domain::notifications::{AddressState, DeliveryId, Event, stop_reason};

use crate::http::state::App;

/// Deliveries that are withdrawn here, at most, if `deliver` withdraws the rest.
const LOOKED_AT: i32 = 25;

/// Publishes the opt-out, and withdraws the first deliveries. The opt-out itself stands if this fails,
/// which it does if neither `deliver` was told nor everything was withdrawn.
pub(crate) async fn withdraw_unwanted(app: &App, user: &UserId, call: &Call) -> Result {
    let record = app.publish_preferences_narrowed(user, call).await;
    let withdrawn = withdraw(app, user, record.is_err(), call).await;
    for failure in [record.as_ref().err(), withdrawn.as_ref().err()].into_iter().flatten() {
        app.warn(failure, call);
    }
    record.or(withdrawn)
}

async fn withdraw(app: &App, user: &UserId, everything: bool, call: &Call) -> Result {
    let mut after: Option<String> = None;
    loop {
        let waiting = app.notifications.waiting_for(user, LOOKED_AT, after.as_deref()).await?;
        for id in &waiting.items {
            withdraw_one(app, user, id, call).await?;
        }
        after = waiting.next.filter(|_| everything);
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn withdraw_one(app: &App, user: &UserId, id: &DeliveryId, call: &Call) -> Result {
    let Some(snapshot) = app.notifications.load(id, Some(user)).await? else { return Ok(()) };
    let DeliverySnapshot { notification, delivery, recipient } = &snapshot;
    let address_state = match recipient.contacts.address(&id.endpoint) {
        Some(_) => AddressState::Usable,
        None => AddressState::Gone,
    };
    let Some(reason) =
        stop_reason(notification, delivery, &recipient.preferences, &address_state, call.now)
    else {
        return Ok(());
    };
    let token = || app.entropy.token();
    let event = Event::Withdrawn { reason };
    app.notifications.apply_from(delivery, &event, call.now, token).await.map(|_| ())
}

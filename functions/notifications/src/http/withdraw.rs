//! After a person wants less than before: what waits for them is taken back.
//!
//! A message says so to `deliver`, which looks at everything; a part that is cheap is done here, so that
//! the person finds it done. Where the message can't be sent, all of it is done here. A caller who is
//! cut off in between is not answered, and asks again: so this follows every opt-out that is said, also
//! one that was written before. What either overlooks, the claim before sending stops.

use crate::store::DeliverySnapshot;
use boundary::http::Call;
use domain::Failure;
use domain::accounts::UserId;
use domain::notifications::{AddressState, DeliveryId, Event, Facts, LimitVerdict, stop_reason};

use crate::http::state::App;

/// Deliveries that are looked at here, at most, if `deliver` looks at the rest.
const LOOKED_AT: i32 = 25;

/// Tells of it, and takes back what is found at once. The change itself stands whatever comes of this;
/// it fails if nobody was told and not everything was taken back.
pub(crate) async fn withdraw_unwanted(
    app: &App,
    user: &UserId,
    call: &Call,
) -> Result<(), Failure> {
    let record = app.publish_preferences_narrowed(user, call).await;
    let withdrawn = withdraw(app, user, record.is_err(), call).await;
    for failure in [record.as_ref().err(), withdrawn.as_ref().err()].into_iter().flatten() {
        app.warn(failure, call);
    }
    record.or(withdrawn)
}

async fn withdraw(app: &App, user: &UserId, everything: bool, call: &Call) -> Result<(), Failure> {
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

async fn withdraw_one(
    app: &App,
    user: &UserId,
    id: &DeliveryId,
    call: &Call,
) -> Result<(), Failure> {
    let Some(snapshot) = app.notifications.load(id, Some(user)).await? else { return Ok(()) };
    let DeliverySnapshot { notification, delivery, recipient } = &snapshot;
    let address_state = match recipient.contacts.address(&id.endpoint) {
        Some(_) => AddressState::Usable,
        None => AddressState::Gone,
    };
    let facts = Facts {
        notification,
        delivery,
        preferences: &recipient.preferences,
        address_state,
        verdict: LimitVerdict::Within,
        providers: &[],
    };
    let Some(reason) = stop_reason(&facts, call.now) else { return Ok(()) };
    let token = || app.entropy.token();
    let event = Event::Withdrawn { reason };
    app.notifications.apply_from(delivery, &event, call.now, token).await.map(|_| ())
}

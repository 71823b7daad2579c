//! After somebody wants less than before: what waits for them is taken back.
//!
//! A message says so to whoever delivers, who looks at everything; a part that is cheap is done here,
//! so that the person finds it done. What either overlooks, the claim before sending stops.

use boundary::http::Request;
use domain::Failure;
use domain::accounts::UserId;
use domain::notifications::{DeliveryId, Event, Facts, Standing, Verdict, stopped};
use store::notifications::Look;

use crate::State;

/// Deliveries that are looked at here, at most.
const LOOKED_AT: i32 = 25;

/// Tells of it, and takes back what is found at once. The change itself stands whatever comes of this.
pub(crate) async fn follow(state: &State, user: &UserId, request: &Request) {
    state.tell_narrowed(user, request).await;
    if let Err(failure) = withdraw(state, user, request).await {
        state.warn(&failure, request);
    }
}

async fn withdraw(state: &State, user: &UserId, request: &Request) -> Result<(), Failure> {
    let waiting = state.notifications.waiting_for(user, LOOKED_AT, None).await?;
    for id in &waiting.items {
        withdraw_one(state, user, id, request).await?;
    }
    Ok(())
}

async fn withdraw_one(
    state: &State,
    user: &UserId,
    id: &DeliveryId,
    request: &Request,
) -> Result<(), Failure> {
    let Some(look) = state.notifications.look(id, Some(user)).await? else { return Ok(()) };
    let Look { notification, delivery, person } = &look;
    let standing = match person.contacts.address(&id.way) {
        Some(_) => Standing::Good,
        None => Standing::Gone,
    };
    let facts = Facts {
        notification,
        delivery,
        preferences: &person.preferences,
        standing,
        verdict: Verdict::Within,
        providers: &[],
    };
    let Some(why) = stopped(&facts, request.now) else { return Ok(()) };
    let token = || state.entropy.token();
    let event = Event::Withdrawn { why };
    state.notifications.apply_from(delivery, &event, request.now, token).await.map(|_| ())
}

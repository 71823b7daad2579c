//! After somebody wants less than before: what waits for them is taken back.
//!
//! A message says so to whoever delivers, who looks at everything; a part that is cheap is done here,
//! so that the person finds it done. Where the message can't be sent, all of it is done here. Whoever
//! is cut off in between is not answered, and asks again: so this follows every opt-out that is said,
//! also one that was written before. What either overlooks, the claim before sending stops.

use boundary::http::Request;
use domain::Failure;
use domain::accounts::UserId;
use domain::notifications::{DeliveryId, Event, Facts, Standing, Verdict, stopped};
use store::notifications::Look;

use crate::State;

/// Deliveries that are looked at here, at most, if somebody else looks at the rest.
const LOOKED_AT: i32 = 25;

/// Tells of it, and takes back what is found at once. The change itself stands whatever comes of this;
/// it fails if nobody was told and not everything was taken back.
pub(crate) async fn follow(state: &State, user: &UserId, request: &Request) -> Result<(), Failure> {
    let told = state.tell_narrowed(user, request).await;
    let withdrawn = withdraw(state, user, told.is_err(), request).await;
    for failure in [told.as_ref().err(), withdrawn.as_ref().err()].into_iter().flatten() {
        state.warn(failure, request);
    }
    told.or(withdrawn)
}

async fn withdraw(
    state: &State,
    user: &UserId,
    everything: bool,
    request: &Request,
) -> Result<(), Failure> {
    let mut after: Option<String> = None;
    loop {
        let waiting = state.notifications.waiting_for(user, LOOKED_AT, after.as_deref()).await?;
        for id in &waiting.items {
            withdraw_one(state, user, id, request).await?;
        }
        after = waiting.next.filter(|_| everything);
        if after.is_none() {
            return Ok(());
        }
    }
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

//! A person wants less than before: what waits for them and is not wanted any more is taken back.
//!
//! If the message could not be sent, whoever took the opt-out has done this before they answered. Nothing
//! is sent in either case: every claim checks what they want.

use crate::store::{Applied, Look};
use boundary::telemetry::{Trace, Unit, measure};
use domain::Failure;
use domain::accounts::UserId;
use domain::notifications::{DeliveryId, Event, Facts, Standing, Verdict, Why, stopped};

use crate::deliver::State;

/// Deliveries read at once.
const PAGE: i32 = 100;

/// Takes back whatever waits for `user` and has to end.
pub(crate) async fn withdraw(state: &State, user: &UserId, trace: &Trace) -> Result<(), Failure> {
    let mut after: Option<String> = None;
    loop {
        let page = state.notifications.waiting_for(user, PAGE, after.as_deref()).await?;
        for id in &page.items {
            take_back(state, id, user, trace).await?;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

async fn take_back(
    state: &State,
    id: &DeliveryId,
    user: &UserId,
    trace: &Trace,
) -> Result<(), Failure> {
    let Some(look) = state.notifications.look(id, Some(user)).await? else { return Ok(()) };
    let Some(why) = unwanted(state, &look) else { return Ok(()) };
    let (event, token) = (Event::Withdrawn { why }, || state.token());
    let now = state.now();
    let applied = state.notifications.apply_from(&look.delivery, &event, now, token).await?;
    if matches!(applied, Applied::Changed { .. }) {
        measure("NotificationsWithdrawn", Unit::Count, 1.0);
    }
    crate::deliver::after::follow(state, &look.notification, applied, trace).await
}

/// The opt-out that stands against it, if one does. What has expired ends by itself.
fn unwanted(state: &State, look: &Look) -> Option<Why> {
    let facts = Facts {
        notification: &look.notification,
        delivery: &look.delivery,
        preferences: &look.person.preferences,
        standing: Standing::Good,
        verdict: Verdict::Within,
        providers: &[],
    };
    stopped(&facts, state.now()).filter(|why| matches!(why, Why::OptedOut { .. }))
}

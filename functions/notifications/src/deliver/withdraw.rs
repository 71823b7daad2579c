//! Handles `PreferencesNarrowed`: withdraws the deliveries that the user has opted out of.
//!
//! If that message could not be sent, `notify` has done this before it answered. Nothing is sent in either
//! case: every claim checks the preferences.

use crate::store::{ApplyOutcome, DeliverySnapshot};
use boundary::telemetry::{Trace, Unit, measure};
use domain::Result;
use domain::accounts::UserId;
use domain::notifications::{AddressState, DeliveryId, Event, Reason, stop_reason};

use crate::deliver::State;

const PAGE: i32 = 100;

/// Withdraws what waits for `user` against their preferences.
pub(crate) async fn withdraw(state: &State, user: &UserId, trace: &Trace) -> Result {
    let mut after: Option<String> = None;
    loop {
        let page = state.notifications.waiting_for(user, PAGE, after.as_deref()).await?;
        for id in &page.items {
            withdraw_one(state, id, user, trace).await?;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

async fn withdraw_one(state: &State, id: &DeliveryId, user: &UserId, trace: &Trace) -> Result {
    let Some(snapshot) = state.notifications.load(id, Some(user)).await? else { return Ok(()) };
    let Some(reason) = opt_out_reason(state, &snapshot) else { return Ok(()) };
    let (event, token) = (Event::Withdrawn { reason }, || state.token());
    let now = state.now();
    let applied = state.notifications.apply_from(&snapshot.delivery, &event, now, token).await?;
    if matches!(applied, ApplyOutcome::Changed { .. }) {
        measure("NotificationsWithdrawn", Unit::Count, 1.0);
    }
    crate::deliver::follow_up::follow_up(state, &snapshot.notification, applied, trace).await
}

/// The opt-out that stops it, if one does. What has expired ends by itself.
fn opt_out_reason(state: &State, snapshot: &DeliverySnapshot) -> Option<Reason> {
    let DeliverySnapshot { notification, delivery, recipient } = snapshot;
    let usable = AddressState::Usable;
    stop_reason(notification, delivery, &recipient.preferences, &usable, state.now())
        .filter(|reason| matches!(reason, Reason::OptedOut { .. }))
}

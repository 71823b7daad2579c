//! What providers say later: delivered, bounced, complained about.
//!
//! Guarantee: nobody without the provider's secret is listened to, and no provider about what was
//! never handed to it. Saying something twice changes nothing. What is not known is passed over and
//! counted, because a provider repeats a call that fails, and would for ever.

mod said;
mod secrets;

use boundary::http::{Answer, Error, Problem, Request, Response};
use boundary::telemetry::{Unit, measure, measure_of};
use domain::accounts::UserId;
use domain::notifications::{
    Address, By, Callback, Delivery, Event, Fate, OptOut, Preferences, ProviderName, Suppression,
    Way,
};
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use store::notifications::{Applied, What};

use crate::State;
use crate::narrow;

pub(crate) use said::SaidShape;
pub(crate) use secrets::Secrets;

/// What came of a call.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct HeardView {
    /// Written down, now or before.
    noted: u32,
    /// About nothing that this provider was handed, or nothing that matters any more.
    ignored: u32,
}

pub(crate) async fn hear(state: &State, request: Request) -> Answer {
    let unknown = || Problem::unknown("provider that calls back here");
    let provider = ProviderName::parse(request.param("provider")).map_err(|_| unknown())?;
    if !state.secrets.knows(&provider) {
        return Err(unknown().into());
    }
    if !state.secrets.signed(&provider, &request) {
        return Err(Problem::unauthenticated().into());
    }
    let mut heard = HeardView::default();
    for callback in said::read(&request)? {
        match callback {
            Some(callback) if note(state, &request, &provider, &callback).await? => {
                heard.noted += 1;
            }
            _ => heard.ignored += 1,
        }
    }
    Ok(Response::json(StatusCode::OK, &heard))
}

/// Writes down what became of a delivery, and what follows for its address; `false` if it is none of
/// this provider's.
async fn note(
    state: &State,
    request: &Request,
    provider: &ProviderName,
    callback: &Callback,
) -> Result<bool, Error> {
    let Some(id) = state.notifications.referred(provider, &callback.reference).await? else {
        return Ok(false);
    };
    let Some(known) = state.notifications.delivery(&id).await? else { return Ok(false) };
    if !known.trail.iter().any(|attempt| attempt.provider == *provider) {
        return Ok(false);
    }
    let fate = callback.fate;
    let event = Event::CalledBack { fate, at: callback.at.min(request.now) };
    let token = || state.entropy.token();
    let applied = state.notifications.apply_from(&known, &event, request.now, token).await?;
    let (delivery, is_new) = match applied {
        Applied::Changed { after, .. } => (after, true),
        Applied::Stays(current) => (current, false),
        Applied::Refused(..) | Applied::Unknown => return Ok(false),
    };
    if is_new {
        count(provider, fate);
    }
    // All of it can be repeated, for whoever was cut off in between.
    match fate {
        Fate::Delivered => count_arrival(state, request, &delivery).await?,
        Fate::Bounced { hard: true } if delivery.bounced_at.is_some() => {
            suppress(state, request, &delivery, fate).await?;
        }
        Fate::Complained if delivery.complained_at.is_some() => {
            suppress(state, request, &delivery, fate).await?;
            opt_out(state, request, &delivery).await?;
        }
        Fate::Bounced { .. } | Fate::Complained => {}
    }
    Ok(true)
}

/// Nothing more goes to the address that it went to; a device's is taken out of the person's contacts.
/// About an address that they have instead by now, it says nothing.
async fn suppress(
    state: &State,
    request: &Request,
    delivery: &Delivery,
    fate: Fate,
) -> Result<(), Error> {
    let contacts = state.notifications.person(&delivery.user).await?.contacts;
    let way = &delivery.id.way;
    let sent_to = |address: &Address| {
        delivery.sent_to.as_ref().is_none_or(|known| *known == Suppression::key(address))
    };
    let address = contacts.address(way).filter(sent_to);
    let (Some(address), Some(because)) = (address, fate.suppresses()) else { return Ok(()) };
    match way {
        Way::Push(device) => {
            let token = || state.entropy.token();
            state.notifications.drop_device(&delivery.user, device, &address, token).await?;
        }
        Way::Email | Way::Sms => {
            let suppression = Suppression { because, at: request.now };
            state.notifications.suppress(&address, &suppression).await?;
        }
    }
    Ok(())
}

/// Whoever calls something spam wants no more of it, at another address neither.
async fn opt_out(state: &State, request: &Request, delivery: &Delivery) -> Result<(), Error> {
    let found = state.notifications.find(&delivery.id.notification_id).await?;
    let Some(told) = found else { return Ok(()) };
    let (category, channel) = (told.notification.category, delivery.channel());
    let user: &UserId = &delivery.user;
    let switch = OptOut::Category { category: category.clone(), channel };
    let change = |before: &Preferences| {
        before.against(&category, channel).is_none().then(|| {
            let mut wanted = before.clone();
            wanted.switch_off(&switch);
            before.changed(wanted, By::Complaint, request.now)
        })
    };
    let token = || state.entropy.token();
    state.notifications.change_preferences(user, change, token).await?;
    Ok(narrow::follow(state, user, request).await?)
}

async fn count_arrival(state: &State, request: &Request, delivery: &Delivery) -> Result<(), Error> {
    if let Some(rendering) = &delivery.rendering {
        let (id, token) = (&delivery.id, state.entropy.token());
        let what = What::Delivered;
        state.notifications.count(id, rendering, what, request.now, &token).await?;
    }
    Ok(())
}

fn count(provider: &ProviderName, fate: Fate) {
    let name = match fate {
        Fate::Delivered => "NotificationsConfirmed",
        Fate::Bounced { .. } => "NotificationsBounced",
        Fate::Complained => "NotificationsComplained",
    };
    measure(name, Unit::Count, 1.0);
    measure_of(name, Unit::Count, 1.0, vec![("Provider", provider.as_str().to_owned())]);
}

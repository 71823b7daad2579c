//! What providers say later: delivered, bounced, complained about.
//!
//! Guarantee: nobody without the provider's secret is listened to, and no provider about what was
//! never handed to it. Saying something twice changes nothing. What is not known is passed over and
//! counted, because a provider repeats a call that fails, and would for ever.

mod said;
mod secrets;

use std::sync::Arc;

use crate::store::{Applied, What};
use axum::extract::FromRequestParts;
use boundary::http::{Call, Json, Operation, Path, Problem, State};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use boundary::telemetry::{Unit, measure, measure_by};
use domain::accounts::UserId;
use domain::notifications::{
    Address, By, Callback, Delivery, Event, Fate, OptOut, Preferences, ProviderName, Suppression,
    Way,
};
use http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

use super::{BODY_CAP, ProviderPath, narrow};
use crate::http::state::App;

use said::Said;
pub(crate) use secrets::Secrets;

/// What came of a call.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct HeardView {
    /// Written down, now or before.
    noted: u32,
    /// About nothing that this provider was handed, or nothing that matters any more.
    ignored: u32,
}

pub(super) const HEAR: Operation = Operation::post(
    "/api/v1/providers/{provider}/events",
    "hearProvider",
    "What became of what a provider was handed",
)
.description(
    "Signed as Standard Webhooks says, with a secret that the stack has for the provider. An event of \
     SES as SNS wraps it is taken too. What is about nothing that the provider was handed is ignored \
     and counted.",
)
.body_up_to(BODY_CAP);

pub(super) async fn hear(
    State(app): State<Arc<App>>,
    call: Call,
    Signatory(provider): Signatory,
    Said(callbacks): Said,
) -> Result<Json<HeardView>, Problem> {
    let mut heard = HeardView::default();
    for callback in callbacks {
        match callback {
            Some(callback) if note(&app, &call, &provider, &callback).await? => heard.noted += 1,
            _ => heard.ignored += 1,
        }
    }
    Ok(Json(heard))
}

/// The provider that the path names, if it calls back here (404 otherwise) and has signed the call (401
/// otherwise).
pub(crate) struct Signatory(ProviderName);

impl FromRequestParts<Arc<App>> for Signatory {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let call = Call::from_request_parts(parts, app).await?;
        let Path(provider) = Path::<ProviderPath>::from_request_parts(parts, app).await?;
        if !app.secrets.knows(&provider) {
            return Err(unknown());
        }
        let signed = app.secrets.signed(&provider, &parts.headers, &call.body, call.now);
        if signed { Ok(Self(provider)) } else { Err(Problem::unauthenticated()) }
    }
}

impl DescribeExtractor for Signatory {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<ProviderPath>::describe(entry, schemas);
        let at = "Seconds since 1970, at most five minutes off.";
        let signature = "`v1,` and base64 of the HMAC-SHA256; several, spaced.";
        entry.header_parameter("webhook-id", "Names the call.", true);
        entry.header_parameter("webhook-timestamp", at, true);
        entry.header_parameter("webhook-signature", signature, true);
        entry.errors(&[401, 404]);
    }
}

/// A provider that there is not, or that says nothing later.
pub(super) fn unknown() -> Problem {
    Problem::unknown("provider that calls back here")
}

/// Writes down what became of a delivery, and what follows for its address; `false` if it is none of
/// this provider's.
async fn note(
    app: &App,
    call: &Call,
    provider: &ProviderName,
    callback: &Callback,
) -> Result<bool, Problem> {
    let Some(id) = app.notifications.referred(provider, &callback.reference).await? else {
        return Ok(false);
    };
    let Some(known) = app.notifications.delivery(&id).await? else { return Ok(false) };
    if !known.trail.iter().any(|attempt| attempt.provider == *provider) {
        return Ok(false);
    }
    let fate = callback.fate;
    let event = Event::CalledBack { fate, at: callback.at.min(call.now) };
    let token = || app.entropy.token();
    let applied = app.notifications.apply_from(&known, &event, call.now, token).await?;
    let (delivery, is_new) = match applied {
        Applied::Changed { after, .. } => (after, true),
        Applied::Stays(current) => (current, false),
        Applied::Refused(..) | Applied::Unknown => return Ok(false),
    };
    if is_new {
        count(provider, fate);
    }
    // All of it can be repeated, for a call that was cut off in between.
    match fate {
        Fate::Delivered => count_arrival(app, call, &delivery).await?,
        Fate::Bounced { hard: true } if delivery.bounced_at.is_some() => {
            suppress(app, call, &delivery, fate).await?;
        }
        Fate::Complained if delivery.complained_at.is_some() => {
            suppress(app, call, &delivery, fate).await?;
            opt_out(app, call, &delivery).await?;
        }
        Fate::Bounced { .. } | Fate::Complained => {}
    }
    Ok(true)
}

/// Nothing more goes to the address that it went to; a device's is taken out of the person's contacts.
/// About an address that they have instead by now, it says nothing.
async fn suppress(app: &App, call: &Call, delivery: &Delivery, fate: Fate) -> Result<(), Problem> {
    let contacts = app.notifications.person(&delivery.user).await?.contacts;
    let way = &delivery.id.way;
    let sent_to = |address: &Address| {
        delivery.sent_to.as_ref().is_none_or(|known| *known == Suppression::key(address))
    };
    let address = contacts.address(way).filter(sent_to);
    let (Some(address), Some(because)) = (address, fate.suppresses()) else { return Ok(()) };
    match way {
        Way::Push(device) => {
            let token = || app.entropy.token();
            app.notifications.drop_device(&delivery.user, device, &address, token).await?;
        }
        Way::Email | Way::Sms => {
            let suppression = Suppression { because, at: call.now };
            app.notifications.suppress(&address, &suppression).await?;
        }
    }
    Ok(())
}

/// A person who calls something spam wants no more of it, at another address neither.
async fn opt_out(app: &App, call: &Call, delivery: &Delivery) -> Result<(), Problem> {
    let found = app.notifications.find(&delivery.id.notification_id).await?;
    let Some(told) = found else { return Ok(()) };
    let (category, channel) = (told.notification.category, delivery.channel());
    let user: &UserId = &delivery.user;
    let switch = OptOut::Category { category: category.clone(), channel };
    let change = |before: &Preferences| {
        before.against(&category, channel).is_none().then(|| {
            let mut wanted = before.clone();
            wanted.switch_off(&switch);
            before.changed(wanted, By::Complaint, call.now)
        })
    };
    let token = || app.entropy.token();
    app.notifications.change_preferences(user, change, token).await?;
    Ok(narrow::follow(app, user, call).await?)
}

async fn count_arrival(app: &App, call: &Call, delivery: &Delivery) -> Result<(), Problem> {
    if let Some(rendering) = &delivery.rendering {
        let (id, token) = (&delivery.id, app.entropy.token());
        let what = What::Delivered;
        app.notifications.count(id, rendering, what, call.now, &token).await?;
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
    measure_by(name, Unit::Count, 1.0, vec![("Provider", provider.as_str().to_owned())]);
}

//! Events of providers about messages that they accepted: delivered, bounced, complained about.
//!
//! Guarantee: a call without the provider's signature is refused, and so is an event about a delivery that
//! this provider was never given. A repeated event changes nothing. An unknown one is ignored and counted,
//! because a provider repeats a call that fails, and would for ever.

mod events;
mod secrets;

use std::sync::Arc;

use crate::store::{ApplyOutcome, CountedEvent};
use axum::extract::FromRequestParts;
use boundary::http::{Call, Json, Operation, Path, Problem, Result, State};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use boundary::telemetry::{Unit, measure, measure_by};
use domain::notifications::{
    Address, Callback, CallbackKind, ChangeSource, Delivery, Endpoint, Event, ProviderName,
    Suppression,
};
use http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

use super::{BODY_CAP, ProviderPath, withdraw};
use crate::http::state::App;

use events::ProviderEvents;
pub(crate) use secrets::CallbackSecrets;

/// What came of a call.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct EventsReceivedView {
    /// Written down, now or before.
    noted: u32,
    /// About nothing that this provider was handed, or nothing that matters any more.
    ignored: u32,
}

pub(super) const RECEIVE: Operation = Operation::post(
    "/api/v1/providers/{provider}/events",
    "hearProvider",
    "Receive events of a provider",
)
.description(
    "Signed as Standard Webhooks says, with a secret that the stack has for the provider. An event of \
     SES as SNS wraps it is taken too. An event about a message that the provider was not given is \
     ignored and counted.",
)
.body_up_to(BODY_CAP);

pub(super) async fn receive(
    State(app): State<Arc<App>>,
    call: Call,
    SignedProvider(provider): SignedProvider,
    ProviderEvents(callbacks): ProviderEvents,
) -> Result<Json<EventsReceivedView>> {
    let mut received = EventsReceivedView::default();
    for callback in callbacks {
        match callback {
            Some(callback) if apply_callback(&app, &call, &provider, &callback).await? => {
                received.noted += 1;
            }
            _ => received.ignored += 1,
        }
    }
    Ok(Json(received))
}

/// The provider that the path names, if it calls back here (404 otherwise) and has signed the call (401
/// otherwise).
pub(crate) struct SignedProvider(ProviderName);

impl FromRequestParts<Arc<App>> for SignedProvider {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let call = Call::from_request_parts(parts, app).await?;
        let Path(provider) = Path::<ProviderPath>::from_request_parts(parts, app).await?;
        if !app.secrets.knows(&provider) {
            return Err(unknown());
        }
        let signed = app.secrets.signed(&provider, &parts.headers, &call.body, call.now);
        if signed { Ok(Self(provider)) } else { Err(Problem::unauthenticated()) }
    }
}

impl DescribeExtractor for SignedProvider {
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

pub(super) fn unknown() -> Problem {
    Problem::unknown("provider that calls back here")
}

/// Records what became of a delivery, and suppresses its address if need be; `false` if the delivery is
/// not of this provider.
async fn apply_callback(
    app: &App,
    call: &Call,
    provider: &ProviderName,
    callback: &Callback,
) -> Result<bool> {
    let Some(id) = app.notifications.delivery_by_reference(provider, &callback.reference).await?
    else {
        return Ok(false);
    };
    let Some(known) = app.notifications.delivery(&id).await? else { return Ok(false) };
    if !known.attempts.iter().any(|attempt| attempt.provider == *provider) {
        return Ok(false);
    }
    let kind = callback.kind;
    let event = Event::CalledBack { kind, at: callback.at.min(call.now) };
    let token = || app.entropy.token();
    let applied = app.notifications.apply_from(&known, &event, call.now, token).await?;
    let (delivery, is_new) = match applied {
        ApplyOutcome::Changed { after, .. } => (after, true),
        ApplyOutcome::Unchanged(current) => (current, false),
        ApplyOutcome::Illegal(..) | ApplyOutcome::NotFound => return Ok(false),
    };
    if is_new {
        count(provider, kind);
    }
    // All of it can be repeated, for a call that was cut off in between.
    match kind {
        CallbackKind::Delivered => count_arrival(app, call, &delivery).await?,
        CallbackKind::Bounced { hard: true } if delivery.bounced_at.is_some() => {
            suppress(app, call, &delivery, kind).await?;
        }
        CallbackKind::Complained if delivery.complained_at.is_some() => {
            suppress(app, call, &delivery, kind).await?;
            opt_out(app, call, &delivery).await?;
        }
        CallbackKind::Bounced { .. } | CallbackKind::Complained => {}
    }
    Ok(true)
}

/// Nothing more goes to the address that it went to; a device's is taken out of the person's contacts.
/// About an address that they have instead by now, it says nothing.
async fn suppress(app: &App, call: &Call, delivery: &Delivery, kind: CallbackKind) -> Result {
    let contacts = app.notifications.recipient(&delivery.user).await?.contacts;
    let endpoint = &delivery.id.endpoint;
    let sent_to = |address: &Address| {
        delivery.sent_to.as_ref().is_none_or(|known| *known == Suppression::key(address))
    };
    let address = contacts.address(endpoint).filter(sent_to);
    let (Some(address), Some(reason)) = (address, kind.suppression_reason()) else { return Ok(()) };
    match endpoint {
        Endpoint::Push(device) => {
            let token = || app.entropy.token();
            app.notifications.remove_device(&delivery.user, device, &address, token).await?;
        }
        Endpoint::Email | Endpoint::Sms => {
            let suppression = Suppression { reason, at: call.now };
            app.notifications.suppress(&address, &suppression).await?;
        }
    }
    Ok(())
}

/// A spam complaint opts the user out of the category, at every address.
async fn opt_out(app: &App, call: &Call, delivery: &Delivery) -> Result {
    let found = app.notifications.find(&delivery.id.notification_id).await?;
    let Some(record) = found else { return Ok(()) };
    let (user, category) = (&delivery.user, &record.notification.category);
    let (source, token) = (ChangeSource::Complaint, || app.entropy.token());
    let switch = (category, delivery.channel());
    app.notifications.opt_out(user, switch, source, call.now, token).await?;
    Ok(withdraw::withdraw_unwanted(app, user, call).await?)
}

async fn count_arrival(app: &App, call: &Call, delivery: &Delivery) -> Result {
    if let Some(rendering) = &delivery.rendering {
        let (id, token) = (&delivery.id, app.entropy.token());
        let what = CountedEvent::Delivered;
        app.notifications.count(id, rendering, what, call.now, &token).await?;
    }
    Ok(())
}

fn count(provider: &ProviderName, kind: CallbackKind) {
    let name = match kind {
        CallbackKind::Delivered => "NotificationsConfirmed",
        CallbackKind::Bounced { .. } => "NotificationsBounced",
        CallbackKind::Complained => "NotificationsComplained",
    };
    measure(name, Unit::Count, 1.0);
    measure_by(name, Unit::Count, 1.0, vec![("Provider", provider.as_str().to_owned())]);
}

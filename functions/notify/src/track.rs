//! Opens and clicks, each counted once for a delivery, as a person's or a machine's.
//!
//! Whoever opens a mail or follows a link gets what they came for, also where nothing can be counted.

use boundary::http::{Answer, Error, Problem, Request, Response};
use domain::Failure;
use domain::notifications::engagement::{Visit, Who, label};
use domain::notifications::token::{Claim, Scope, Untrusted};
use domain::notifications::{DeliveryId, Status};
use http::{Method, StatusCode, header};
use store::notifications::What;

use crate::State;

/// One transparent pixel.
const PIXEL: [u8; 43] = *b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\
      \x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

pub(crate) async fn opened(state: &State, request: Request) -> Answer {
    match verified(state, &request, Scope::Open)? {
        Claim::Open { delivery } => note(state, &request, &delivery, What::Opened).await,
        Claim::Unsubscribe { .. } | Claim::Click { .. } => return Err(unknown()),
    }
    Ok(Response::bytes(StatusCode::OK, "image/gif", PIXEL.to_vec()))
}

pub(crate) async fn clicked(state: &State, request: Request) -> Answer {
    match verified(state, &request, Scope::Click)? {
        Claim::Click { delivery, target } if is_of_the_web(&target) => {
            note(state, &request, &delivery, What::Clicked).await;
            Ok(Response::empty(StatusCode::FOUND).with_text(header::LOCATION, &target))
        }
        Claim::Unsubscribe { .. } | Claim::Open { .. } | Claim::Click { .. } => Err(unknown()),
    }
}

fn verified(state: &State, request: &Request, scope: Scope) -> Result<Claim, Error> {
    let ring = state.ring.as_ref().ok_or_else(unknown)?;
    ring.verify(scope, request.param("token"), request.now).map_err(|untrusted| match untrusted {
        Untrusted::Forged => unknown(),
        Untrusted::Expired => Problem::gone("link").into(),
    })
}

fn unknown() -> Error {
    Problem::unknown("link").into()
}

fn is_of_the_web(target: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| target.starts_with(scheme))
}

/// Counts it; a count that fails costs nobody their link.
async fn note(state: &State, request: &Request, id: &DeliveryId, what: fn(Who) -> What) {
    if let Err(failure) = count(state, request, id, what).await {
        state.warn(&failure, request);
    }
}

async fn count(
    state: &State,
    request: &Request,
    id: &DeliveryId,
    what: fn(Who) -> What,
) -> Result<(), Failure> {
    let Some(delivery) = state.notifications.delivery(id).await? else { return Ok(()) };
    // Results are those of templates; the caller's own words have none.
    let Some(rendering) = &delivery.rendering else { return Ok(()) };
    let arrived = delivery.ended_at.filter(|_| delivery.status == Status::Delivered);
    let purposes = ["sec-purpose", "purpose", "x-moz"];
    let visit = Visit {
        user_agent: request.header("user-agent"),
        purpose: purposes.into_iter().find_map(|name| request.header(name)),
        head: request.method == Method::HEAD,
        delivered_at: arrived,
    };
    let what = what(label(&visit, request.now));
    let token = state.entropy.token();
    state.notifications.count(id, rendering, what, request.now, &token).await.map(|_| ())
}

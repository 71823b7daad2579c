//! Opens and clicks, each counted once for a delivery, as a person's or a machine's.
//!
//! A reader who opens a mail or follows a link gets what they came for, also where nothing can be counted.

use std::convert::Infallible;
use std::sync::Arc;

use crate::store::CountedEvent;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use boundary::http::{Call, Operation, Path, Problem, State};
use boundary::openapi::DescribeExtractor;
use domain::notifications::engagement::{Actor, TrackedRequest, label};
use domain::notifications::token::{InvalidToken, TokenClaim, TokenScope};
use domain::notifications::{DeliveryId, Status};
use domain::{Result, Timestamp};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};

use super::TokenPath;
use crate::http::header as text_of;
use crate::http::state::App;

const PIXEL: [u8; 43] = *b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\
      \x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

pub(super) const OPENED: Operation =
    Operation::get("/t/o/{token}", "trackOpen", "A mail was opened")
        .media(&["image/gif"])
        .refuses(&[404, 410]);

pub(super) async fn opened(
    State(app): State<Arc<App>>,
    call: Call,
    Path(token): Path<TokenPath>,
    visitor: Visitor,
) -> Result<Response, Problem> {
    match verified(&app, TokenScope::Open, &token, call.now)? {
        TokenClaim::Open { delivery } => {
            record(&app, &call, &visitor, &delivery, CountedEvent::Opened).await;
        }
        TokenClaim::Unsubscribe { .. } | TokenClaim::Click { .. } => return Err(unknown()),
    }
    Ok(([(header::CONTENT_TYPE, "image/gif")], PIXEL).into_response())
}

pub(super) const CLICKED: Operation =
    Operation::get("/t/c/{token}", "trackClick", "A link in a mail was followed")
        .description("Leads to where the link leads.")
        .statuses(&[302])
        .refuses(&[404, 410]);

pub(super) async fn clicked(
    State(app): State<Arc<App>>,
    call: Call,
    Path(token): Path<TokenPath>,
    visitor: Visitor,
) -> Result<Response, Problem> {
    match verified(&app, TokenScope::Click, &token, call.now)? {
        TokenClaim::Click { delivery, target } if is_http(&target) => {
            record(&app, &call, &visitor, &delivery, CountedEvent::Clicked).await;
            Ok(redirect_to(&target))
        }
        TokenClaim::Unsubscribe { .. } | TokenClaim::Open { .. } | TokenClaim::Click { .. } => {
            Err(unknown())
        }
    }
}

fn verified(
    app: &App,
    scope: TokenScope,
    token: &str,
    now: Timestamp,
) -> Result<TokenClaim, Problem> {
    let key_ring = app.key_ring.as_ref().ok_or_else(unknown)?;
    key_ring.verify(scope, token, now).map_err(|invalid| match invalid {
        InvalidToken::Forged => unknown(),
        InvalidToken::Expired => Problem::gone("link"),
    })
}

fn unknown() -> Problem {
    Problem::unknown("link")
}

fn is_http(target: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| target.starts_with(scheme))
}

fn redirect_to(target: &str) -> Response {
    let mut response = StatusCode::FOUND.into_response();
    // A target that no header can hold is left out.
    if let Ok(target) = HeaderValue::try_from(target) {
        response.headers_mut().insert(header::LOCATION, target);
    }
    response
}

/// What a request says of the person or the program that sends it.
pub(crate) struct Visitor {
    user_agent: Option<String>,
    purpose: Option<String>,
    head: bool,
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Infallible> {
        let text = |name| text_of(&parts.headers, name).map(str::to_owned);
        Ok(Self {
            user_agent: text("user-agent"),
            purpose: ["sec-purpose", "purpose", "x-moz"].into_iter().find_map(text),
            head: parts.method == Method::HEAD,
        })
    }
}

impl DescribeExtractor for Visitor {}

/// Counts it; a count that fails does not fail the reader's request.
async fn record(
    app: &App,
    call: &Call,
    visitor: &Visitor,
    id: &DeliveryId,
    what: fn(Actor) -> CountedEvent,
) {
    if let Err(failure) = count(app, call, visitor, id, what).await {
        app.warn(&failure, call);
    }
}

async fn count(
    app: &App,
    call: &Call,
    visitor: &Visitor,
    id: &DeliveryId,
    what: fn(Actor) -> CountedEvent,
) -> Result {
    let Some(delivery) = app.notifications.delivery(id).await? else { return Ok(()) };
    // Results are those of templates; the caller's own words have none.
    let Some(rendering) = &delivery.rendering else { return Ok(()) };
    let arrived = delivery.ended_at.filter(|_| delivery.status == Status::Delivered);
    let visit = TrackedRequest {
        user_agent: visitor.user_agent.as_deref(),
        purpose: visitor.purpose.as_deref(),
        head: visitor.head,
        delivered_at: arrived,
    };
    let what = what(label(&visit, call.now));
    let token = app.entropy.token();
    app.notifications.count(id, rendering, what, call.now, &token).await.map(|_| ())
}

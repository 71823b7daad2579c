//! Ending mails of a kind by the link in one, without a session.
//!
//! GET shows a page and changes nothing, because programs that scan mails follow links. POST does it: from
//! the page's button, or from a mail program by RFC 8058. The token alone says whose, what and where.

mod page;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use boundary::http::{Call, Operation, Problem, Result, State, Text};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::token::{InvalidToken, TokenClaim, TokenScope};
use domain::notifications::{Category, ChangeSource, Channel};
use http::request::Parts;
use http::{HeaderName, StatusCode, header};
use maud::Markup;
use schemars::{JsonSchema, SchemaGenerator};

use super::withdraw;
use crate::http::header as text_of;
use crate::http::state::App;

/// The page has its style inside, no script, and a form that leads back here.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// A page, with what it may do.
type Page = ([(HeaderName, &'static str); 1], Text);

pub(super) const SHOW: Operation =
    Operation::get("/unsubscribe", "showUnsubscribe", "Unsubscribe?")
        .description("A page with a button. It changes nothing, because programs follow links.")
        .media(&["text/html"]);

pub(super) async fn show(link: UnsubscribeLink) -> Page {
    html(page::confirm(&link.token, &link.category, link.channel))
}

pub(super) const UNSUBSCRIBE: Operation =
    Operation::post("/unsubscribe", "unsubscribe", "Unsubscribe")
        .description(
            "One POST, by the page's button or by a mail program (RFC 8058), ends what the link is \
         about. Repeating it changes nothing.",
        )
        .reads("application/x-www-form-urlencoded")
        .media(&["text/html"]);

pub(super) async fn unsubscribe(
    State(app): State<Arc<App>>,
    call: Call,
    UnsubscribeLink { user, channel, category, .. }: UnsubscribeLink,
    _: OneClick,
) -> Result<Page> {
    let (source, token) = (ChangeSource::Unsubscribe, || app.entropy.token());
    app.notifications.opt_out(&user, (&category, channel), source, call.now, token).await?;
    withdraw::withdraw_unwanted(&app, &user, &call).await?;
    Ok(html(page::done(&category, channel)))
}

/// What the link says.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its shape is used; other parameters may be added on the way")]
pub(crate) struct UnsubscribeQuery {
    /// As it is in the link.
    token: String,
}

/// What a link that we have made asks to end: 403 for another, 410 for an old one.
pub(crate) struct UnsubscribeLink {
    token: String,
    user: UserId,
    channel: Channel,
    category: Category,
}

impl UnsubscribeLink {
    fn read(app: &App, query: &str, now: Timestamp) -> Result<Self, InvalidToken> {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let token =
            pairs.find(|(name, _)| name == "token").ok_or(InvalidToken::Forged)?.1.into_owned();
        let key_ring = app.key_ring.as_ref().ok_or(InvalidToken::Forged)?;
        match key_ring.verify(TokenScope::Unsubscribe, &token, now)? {
            TokenClaim::Unsubscribe { user, channel, category } => {
                Ok(Self { token, user, channel, category })
            }
            TokenClaim::Open { .. } | TokenClaim::Click { .. } => Err(InvalidToken::Forged),
        }
    }
}

impl FromRequestParts<Arc<App>> for UnsubscribeLink {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let call = Call::from_request_parts(parts, app).await;
        let now = call.map_err(IntoResponse::into_response)?.now;
        let query = parts.uri.query().unwrap_or_default();
        Self::read(app, query, now).map_err(|invalid| {
            let accept = text_of(&parts.headers, header::ACCEPT.as_str());
            invalid_link(invalid, accept.is_some_and(|accept| accept.contains("text/html")))
        })
    }
}

impl DescribeExtractor for UnsubscribeLink {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.query_parameters(schemas.subschema_for::<UnsubscribeQuery>(), schemas);
        entry.errors(&[403, 410]);
    }
}

/// What a mail program sends.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "that it was sent says all; mail programs may send more")]
pub(crate) struct OneClick {
    /// `One-Click`.
    #[schemars(rename = "List-Unsubscribe")]
    list_unsubscribe: String,
}

impl FromRequestParts<Arc<App>> for OneClick {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let call = Call::from_request_parts(parts, app).await?;
        form_urlencoded::parse(&call.body)
            .find(|(name, value)| name == "List-Unsubscribe" && value == "One-Click")
            .map(|(_, value)| Self { list_unsubscribe: value.into_owned() })
            .ok_or_else(|| {
                let rule = "`One-Click`, in a form (RFC 8058)";
                Problem::field("List-Unsubscribe", rule)
            })
    }
}

impl DescribeExtractor for OneClick {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.request_body(true, schemas.subschema_for::<Self>());
    }
}

/// People get a page, programs a problem.
fn invalid_link(invalid: InvalidToken, wants_page: bool) -> Response {
    if wants_page {
        let status = match invalid {
            InvalidToken::Forged => StatusCode::FORBIDDEN,
            InvalidToken::Expired => StatusCode::GONE,
        };
        return (status, html(page::invalid_link(invalid))).into_response();
    }
    let problem = match invalid {
        InvalidToken::Forged => Problem::forbidden("The link is not valid."),
        InvalidToken::Expired => Problem::gone("link"),
    };
    problem.into_response()
}

fn html(page: Markup) -> Page {
    (
        [(header::CONTENT_SECURITY_POLICY, POLICY)],
        Text("text/html; charset=utf-8", page.into_string()),
    )
}

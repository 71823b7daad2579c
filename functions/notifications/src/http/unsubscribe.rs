//! Ending mails of a kind by the link in one, without a session.
//!
//! GET shows a page and changes nothing, because programs that scan mails follow links. POST does it: from
//! the page's button, or from a mail program by RFC 8058. The token alone says whose, what and where.

mod page;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use boundary::http::{Call, Operation, Problem, State, Text};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::token::{Claim, Scope, Untrusted};
use domain::notifications::{By, Category, Channel, OptOut, Preferences};
use http::request::Parts;
use http::{HeaderName, StatusCode, header};
use schemars::{JsonSchema, SchemaGenerator};

use super::narrow;
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

pub(super) async fn show(link: Link) -> Page {
    html(page::ask(&link.token, &link.category, link.channel))
}

pub(super) const END: Operation = Operation::post("/unsubscribe", "unsubscribe", "Unsubscribe")
    .description(
        "One POST, by the page's button or by a mail program (RFC 8058), ends what the link is \
         about. Repeating it changes nothing.",
    )
    .reads("application/x-www-form-urlencoded")
    .media(&["text/html"]);

pub(super) async fn end(
    State(app): State<Arc<App>>,
    call: Call,
    Link { user, channel, category, .. }: Link,
    _: OneClick,
) -> Result<Page, Problem> {
    let switch = OptOut::Category { category: category.clone(), channel };
    let change = |before: &Preferences| {
        before.against(&category, channel).is_none().then(|| {
            let mut wanted = before.clone();
            wanted.switch_off(&switch);
            before.changed(wanted, By::Unsubscribe, call.now)
        })
    };
    let token = || app.entropy.token();
    app.notifications.change_preferences(&user, change, token).await?;
    narrow::follow(&app, &user, &call).await?;
    Ok(html(page::done(&category, channel)))
}

/// What the link says.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its shape is used; other parameters may be added on the way")]
pub(crate) struct LinkQuery {
    /// As it is in the link.
    token: String,
}

/// What a link that we have made asks to end: 403 for another, 410 for an old one.
pub(crate) struct Link {
    token: String,
    user: UserId,
    channel: Channel,
    category: Category,
}

impl Link {
    fn read(app: &App, query: &str, now: Timestamp) -> Result<Self, Untrusted> {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let token =
            pairs.find(|(name, _)| name == "token").ok_or(Untrusted::Forged)?.1.into_owned();
        let ring = app.ring.as_ref().ok_or(Untrusted::Forged)?;
        match ring.verify(Scope::Unsubscribe, &token, now)? {
            Claim::Unsubscribe { user, channel, category } => {
                Ok(Self { token, user, channel, category })
            }
            Claim::Open { .. } | Claim::Click { .. } => Err(Untrusted::Forged),
        }
    }
}

impl FromRequestParts<Arc<App>> for Link {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let call = Call::from_request_parts(parts, app).await;
        let now = call.map_err(IntoResponse::into_response)?.now;
        let query = parts.uri.query().unwrap_or_default();
        Self::read(app, query, now).map_err(|untrusted| {
            let accept = text_of(&parts.headers, header::ACCEPT.as_str());
            refused(untrusted, accept.is_some_and(|accept| accept.contains("text/html")))
        })
    }
}

impl DescribeExtractor for Link {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.query_parameters(schemas.subschema_for::<LinkQuery>(), schemas);
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

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
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
fn refused(untrusted: Untrusted, wants_page: bool) -> Response {
    if wants_page {
        let status = match untrusted {
            Untrusted::Forged => StatusCode::FORBIDDEN,
            Untrusted::Expired => StatusCode::GONE,
        };
        return (status, html(page::refused(untrusted))).into_response();
    }
    let problem = match untrusted {
        Untrusted::Forged => Problem::forbidden("The link is not valid."),
        Untrusted::Expired => Problem::gone("link"),
    };
    problem.into_response()
}

fn html(page: String) -> Page {
    ([(header::CONTENT_SECURITY_POLICY, POLICY)], Text("text/html; charset=utf-8", page))
}

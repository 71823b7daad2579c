//! Ending mails of a kind by the link in one, without a session.
//!
//! GET shows a page and changes nothing, because whoever scans mails follows links. POST does it: from
//! the page's button, or from a mail program by RFC 8058. The token alone says whose, what and where.

mod page;

use boundary::http::{Answer, Problem, Request, Response};
use domain::notifications::token::{Claim, Scope, Untrusted};
use domain::notifications::{By, OptOut, Preferences};
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::State;
use crate::narrow;

/// The page has its style inside, no script, and a form that leads back here.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// What the link says.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape is used; other parameters may be added on the way")]
pub(crate) struct LinkQuery {
    /// As it is in the link.
    token: String,
}

/// What a mail program sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape is used; mail programs may send more")]
pub(crate) struct OneClick {
    /// `One-Click`.
    #[serde(rename = "List-Unsubscribe")]
    list_unsubscribe: String,
}

/// What somebody asks to end.
struct Asked {
    token: String,
    claim: Claim,
}

pub(crate) async fn show(state: &State, request: Request) -> Answer {
    Ok(match read(state, &request) {
        Ok(Asked { token, claim: Claim::Unsubscribe { channel, category, .. } }) => {
            html(StatusCode::OK, page::ask(&token, &category, channel))
        }
        Ok(_) => refused(&request, Untrusted::Forged),
        Err(untrusted) => refused(&request, untrusted),
    })
}

pub(crate) async fn end(state: &State, request: Request) -> Answer {
    let (user, channel, category) = match read(state, &request) {
        Ok(Asked { claim: Claim::Unsubscribe { user, channel, category }, .. }) => {
            (user, channel, category)
        }
        Ok(_) => return Ok(refused(&request, Untrusted::Forged)),
        Err(untrusted) => return Ok(refused(&request, untrusted)),
    };
    if !is_one_click(&request.body) {
        let rule = "`One-Click`, in a form (RFC 8058)";
        return Err(Problem::field("List-Unsubscribe", rule).into());
    }
    let switch = OptOut::Category { category: category.clone(), channel };
    let change = |before: &Preferences| {
        before.against(&category, channel).is_none().then(|| {
            let mut wanted = before.clone();
            wanted.switch_off(&switch);
            before.changed(wanted, By::Unsubscribe, request.now)
        })
    };
    let token = || state.entropy.token();
    state.notifications.change_preferences(&user, change, token).await?;
    narrow::follow(state, &user, &request).await?;
    Ok(html(StatusCode::OK, page::done(&category, channel)))
}

fn read(state: &State, request: &Request) -> Result<Asked, Untrusted> {
    let token = request.query_value("token").ok_or(Untrusted::Forged)?;
    let ring = state.ring.as_ref().ok_or(Untrusted::Forged)?;
    let claim = ring.verify(Scope::Unsubscribe, &token, request.now)?;
    Ok(Asked { token, claim })
}

fn is_one_click(body: &[u8]) -> bool {
    form_urlencoded::parse(body)
        .any(|(name, value)| name == "List-Unsubscribe" && value == "One-Click")
}

/// People get a page, programs a problem.
fn refused(request: &Request, untrusted: Untrusted) -> Response {
    let status = match untrusted {
        Untrusted::Forged => StatusCode::FORBIDDEN,
        Untrusted::Expired => StatusCode::GONE,
    };
    let wants_page = request.header("accept").is_some_and(|accept| accept.contains("text/html"));
    if wants_page {
        return html(status, page::refused(untrusted));
    }
    let problem = match untrusted {
        Untrusted::Forged => Problem::forbidden("The link is not valid."),
        Untrusted::Expired => Problem::gone("link"),
    };
    problem.into_response(&request.path)
}

fn html(status: StatusCode, page: String) -> Response {
    Response::typed(status, "text/html; charset=utf-8", page)
        .with_header(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
}

//! The page over HTTP: what is shown, what can be changed, and for whom.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};

use super::{MOUNT_PATH, Tab, View, controls, render};
use crate::http::{Request, Response};
use crate::sink::SinkState;
use crate::{MailFeedback, ProviderKind, Sink, SinkMessage};

/// No scripts, and nothing from anywhere. Styles may stand in the page, since a mail in its frame is
/// bound by the same policy and brings its own.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const NO_SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// Answers a request for the page, mounted at `at` (`/_sink`) in another HTTP server: the page, a
/// message as JSON, and the two forms.
pub fn respond(sink: &Sink, at: &str, request: &Request) -> Response {
    route(&sink.state, at, request)
}

/// The feedback about a mail that a form of the page requests, as a request to the API, to be made before
/// [`respond`] answers.
pub fn feedback_request(sink: &Sink, at: &str, request: &Request) -> Option<Request> {
    if request.method() != Method::POST || !is_same_origin(request) || !has_local_host(request) {
        return None;
    }
    let (id, feedback) = parse_feedback(request.uri().path().strip_prefix(at)?)?;
    sink.feedback_request(id, feedback)
}

/// A message and the feedback on it: `/7/bounced`.
fn parse_feedback(path: &str) -> Option<(u64, MailFeedback)> {
    let (id, name) = path.strip_prefix('/')?.split_once('/')?;
    let feedback = MailFeedback::ALL.into_iter().find(|feedback| feedback.name() == name)?;
    Some((id.parse().ok()?, feedback))
}

/// As [`respond`], at the sink's own server.
pub(crate) fn respond_own(state: &SinkState, request: &Request) -> Response {
    if request.uri().path() == "/" {
        redirect_to(MOUNT_PATH)
    } else {
        route(state, MOUNT_PATH, request)
    }
}

fn route(state: &SinkState, at: &str, request: &Request) -> Response {
    if !has_local_host(request) {
        return plain(
            StatusCode::FORBIDDEN,
            "This page is for this machine: open it at localhost.",
        );
    }
    let path = request.uri().path().strip_prefix(at).unwrap_or_default();
    match (request.method(), path.trim_end_matches('/')) {
        (&Method::GET | &Method::HEAD, "/messages.json") => {
            json(&state.messages.all().iter().map(AsRef::as_ref).collect::<Vec<&SinkMessage>>())
        }
        (&Method::GET | &Method::HEAD, path) => show(state, at, path, request),
        (&Method::POST, _) if !is_same_origin(request) => {
            plain(StatusCode::FORBIDDEN, "Another site may not do that.")
        }
        (&Method::POST, "/clear") => {
            state.messages.clear();
            redirect_to(at)
        }
        (&Method::POST, "/behave") => behave(state, at, request),
        (&Method::POST, path) if parse_feedback(path).is_some() => {
            let (message, _) = path.rsplit_once('/').unwrap_or_default();
            redirect_to(&format!("{at}{message}"))
        }
        _ => plain(StatusCode::NOT_FOUND, "There is nothing here."),
    }
}

fn show(state: &SinkState, at: &str, path: &str, request: &Request) -> Response {
    let (messages, name) = (state.messages.all(), path.trim_start_matches('/'));
    let (name, as_json) = match name.strip_suffix(".json") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let id = name.parse::<u64>().ok();
    let found = messages.iter().find(|message| Some(message.id) == id);
    if found.is_none() && !name.is_empty() {
        return plain(StatusCode::NOT_FOUND, "There is no such message, or no longer.");
    }
    if let Some(message) = found.filter(|_| as_json) {
        return json(&**message);
    }
    let query: Vec<_> =
        form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes()).collect();
    let query_parameter =
        |name: &str| query.iter().find(|(found, _)| found == name).map(|(_, value)| &**value);
    let tab = Tab::ALL.into_iter().find(|tab| Some(tab.name()) == query_parameter("tab"));
    let selected = found.map(|message| (message.id, tab.unwrap_or(View::first_tab(message))));
    let rules = ProviderKind::ALL.map(|via| (via, state.rules.get(via)));
    let via = query_parameter("via").and_then(ProviderKind::from_name);
    let page = render(&View { at, messages: &messages, rules: &rules, via, selected });
    with_security_headers(page.into(), "text/html; charset=utf-8")
}

fn behave(state: &SinkState, at: &str, request: &Request) -> Response {
    let form: Vec<_> = form_urlencoded::parse(request.body()).into_owned().collect();
    match controls::parse_form(&form) {
        Ok((via, rule)) => {
            state.rules.set(via, rule);
            redirect_to(at)
        }
        Err(why) => plain(StatusCode::UNPROCESSABLE_ENTITY, why),
    }
}

/// Browsers say where a request comes from; a terminal says nothing.
fn is_same_origin(request: &Request) -> bool {
    let site = request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes);
    matches!(site, None | Some(b"same-origin" | b"none"))
}

/// DNS rebinding: a name of another site can resolve to this machine.
fn has_local_host(request: &Request) -> bool {
    let named = request.headers().get("host").and_then(|host| host.to_str().ok());
    let host = request.uri().host().or(named).unwrap_or("localhost");
    let port = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = port.map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") || name.ends_with(".localhost")
}

fn json(value: &impl serde::Serialize) -> Response {
    let body = serde_json::to_vec_pretty(value).unwrap_or_default();
    with_security_headers(body.into(), "application/json")
}

fn with_security_headers(body: Bytes, kind: &'static str) -> Response {
    let mut answer = ::http::Response::new(body);
    answer.headers_mut().extend([
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (NO_SNIFF, HeaderValue::from_static("nosniff")),
    ]);
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut answer =
        with_security_headers(Bytes::from_static(text.as_bytes()), "text/plain; charset=utf-8");
    *answer.status_mut() = status;
    answer
}

fn redirect_to(to: &str) -> Response {
    let mut answer = plain(StatusCode::SEE_OTHER, "");
    answer.headers_mut().extend(HeaderValue::try_from(to).ok().map(|to| (LOCATION, to)));
    answer
}

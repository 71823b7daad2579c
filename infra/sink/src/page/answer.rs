//! The page over HTTP: what is shown, what can be changed, and for whom.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY,
};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};

use super::{AT, Tab, View, controls, render};
use crate::sink::Desk;
use crate::{Message, Sink, Via, Word};

/// No scripts, and nothing from anywhere. Styles may stand in the page, since a mail in its frame is
/// bound by the same policy and brings its own.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const NO_SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// Answers a request for the page, mounted at `at` (`/_sink`) in somebody's HTTP server: the page, a
/// message as JSON, and the two forms.
pub fn respond(sink: &Sink, at: &str, request: &Request<Bytes>) -> Response<Bytes> {
    answer(&sink.desk, at, request)
}

/// What a provider is to say later about a message, if that is what was asked for on the page mounted at
/// `at`: a request for the API, to be made before [`respond`] answers.
pub fn callback(sink: &Sink, at: &str, request: &Request<Bytes>) -> Option<Request<Bytes>> {
    if request.method() != Method::POST
        || !from_here(request)
        || !by_a_name_of_this_machine(request)
    {
        return None;
    }
    let (id, word) = word(request.uri().path().strip_prefix(at)?)?;
    sink.callback(id, word)
}

/// A message and what is to be said of it: `/7/bounced`.
fn word(path: &str) -> Option<(u64, Word)> {
    let (id, name) = path.strip_prefix('/')?.split_once('/')?;
    let word = Word::ALL.into_iter().find(|word| word.name() == name)?;
    Some((id.parse().ok()?, word))
}

/// The same for the sink's own server.
pub(crate) fn respond_at(desk: &Desk, request: &Request<Bytes>) -> Response<Bytes> {
    if request.uri().path() == "/" { moved(AT) } else { answer(desk, AT, request) }
}

fn answer(desk: &Desk, at: &str, request: &Request<Bytes>) -> Response<Bytes> {
    if !by_a_name_of_this_machine(request) {
        return plain(
            StatusCode::FORBIDDEN,
            "This page is for this machine: open it at localhost.",
        );
    }
    let path = request.uri().path().strip_prefix(at).unwrap_or_default();
    match (request.method(), path.trim_end_matches('/')) {
        (&Method::GET | &Method::HEAD, "/messages.json") => {
            json(&desk.kept.all().iter().map(AsRef::as_ref).collect::<Vec<&Message>>())
        }
        (&Method::GET | &Method::HEAD, path) => show(desk, at, path, request),
        (&Method::POST, _) if !from_here(request) => {
            plain(StatusCode::FORBIDDEN, "Another site may not do that.")
        }
        (&Method::POST, "/clear") => {
            desk.kept.clear();
            moved(at)
        }
        (&Method::POST, "/behave") => behave(desk, at, request),
        (&Method::POST, path) if word(path).is_some() => {
            let (message, _) = path.rsplit_once('/').unwrap_or_default();
            moved(&format!("{at}{message}"))
        }
        _ => plain(StatusCode::NOT_FOUND, "There is nothing here."),
    }
}

fn show(desk: &Desk, at: &str, path: &str, request: &Request<Bytes>) -> Response<Bytes> {
    let (messages, name) = (desk.kept.all(), path.trim_start_matches('/'));
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
    let asked =
        |name: &str| query.iter().find(|(found, _)| found == name).map(|(_, value)| &**value);
    let tab = Tab::ALL.into_iter().find(|tab| Some(tab.name()) == asked("tab"));
    let open = found.map(|message| (message.id, tab.unwrap_or(View::first_tab(message))));
    let plans = Via::ALL.map(|via| (via, desk.plans.get(via)));
    let via = asked("via").and_then(Via::named);
    let page = render(&View { at, messages: &messages, plans: &plans, via, open });
    secured(page.into(), "text/html; charset=utf-8")
}

fn behave(desk: &Desk, at: &str, request: &Request<Bytes>) -> Response<Bytes> {
    let form: Vec<_> = form_urlencoded::parse(request.body()).into_owned().collect();
    match controls::read(&form) {
        Ok((via, plan)) => {
            desk.plans.set(via, plan);
            moved(at)
        }
        Err(why) => plain(StatusCode::UNPROCESSABLE_ENTITY, why),
    }
}

/// Browsers say where a request comes from; a terminal says nothing.
fn from_here(request: &Request<Bytes>) -> bool {
    let site = request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes);
    matches!(site, None | Some(b"same-origin" | b"none"))
}

/// A name elsewhere can be made to lead here, and its owner would read along.
fn by_a_name_of_this_machine(request: &Request<Bytes>) -> bool {
    let named = request.headers().get("host").and_then(|host| host.to_str().ok());
    let host = request.uri().host().or(named).unwrap_or("localhost");
    let port = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = port.map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") || name.ends_with(".localhost")
}

fn json(value: &impl serde::Serialize) -> Response<Bytes> {
    let body = serde_json::to_vec_pretty(value).unwrap_or_default();
    secured(body.into(), "application/json")
}

fn secured(body: Bytes, kind: &'static str) -> Response<Bytes> {
    let mut answer = Response::new(body);
    answer.headers_mut().extend([
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (NO_SNIFF, HeaderValue::from_static("nosniff")),
    ]);
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Response<Bytes> {
    let mut answer = secured(Bytes::from_static(text.as_bytes()), "text/plain; charset=utf-8");
    *answer.status_mut() = status;
    answer
}

fn moved(to: &str) -> Response<Bytes> {
    let mut answer = plain(StatusCode::SEE_OTHER, "");
    answer.headers_mut().extend(HeaderValue::try_from(to).ok().map(|to| (LOCATION, to)));
    answer
}

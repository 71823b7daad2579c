//! `Idempotency-Key`: what a handler does before and after its effect.
//!
//! The handler passes the [`Ticket`] and its answer to the store, which writes both with the effect
//! in one transaction. A request that is refused gives its key back, so that it can be corrected.

use domain::Timestamp;
use http::{StatusCode, header};
use sha2::{Digest, Sha256};
use store::Idempotency;
use store::idempotency::{Answer, Claim, Request as Once, Ticket};

use crate::Entropy;
use crate::http::{Error, Problem, Request, Response};

/// Whether the handler has to run.
#[derive(Debug)]
pub enum Turn {
    /// Yes; with a ticket if the caller sent a key.
    Run(Option<Ticket>),
    /// No: this is what was answered.
    Repeat(Response),
}

/// Claims the request's key, if it has one, for `operation`.
pub async fn begin(
    once: &Idempotency,
    request: &Request,
    operation: &'static str,
    entropy: &Entropy,
) -> Result<Turn, Error> {
    let caller = request.caller()?.user_id.as_str().to_owned();
    begin_for(once, &caller, request, operation, entropy).await
}

/// The same for a caller who is known by something else than an account.
pub async fn begin_for(
    once: &Idempotency,
    caller: &str,
    request: &Request,
    operation: &'static str,
    entropy: &Entropy,
) -> Result<Turn, Error> {
    let Some(key) = request.idempotency_key()? else { return Ok(Turn::Run(None)) };
    let claimant = entropy.token();
    let claim = name(key, request, (caller, operation), &claimant);
    match once.claim(&claim, request.now).await? {
        Claim::Won(ticket) => Ok(Turn::Run(Some(ticket))),
        before @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
            met(before, request.now).map(Turn::Repeat)
        }
    }
}

/// What a request is known by that came with `key`. A handler that writes its answer with its effect needs no
/// more than that, and no claim before.
pub fn name<'a>(
    key: &'a str,
    request: &Request,
    (caller, operation): (&'a str, &'static str),
    claimant: &'a str,
) -> Once<'a> {
    // The path belongs to it: one key on two accounts' keys is two requests.
    let fingerprint = digest(&request.path, &request.body);
    Once { caller, operation, key, fingerprint, claimant, deadline: request.deadline }
}

/// What a repeat is told: the first answer, or why there is none.
pub fn met(claim: Claim, now: Timestamp) -> Result<Response, Error> {
    match claim {
        Claim::Answered(answer) => Ok(repeated(answer)),
        Claim::Running(until) => Err(Problem::in_progress(seconds_until(until, now)).into()),
        Claim::Mismatch => Err(Problem::key_reused().into()),
        // Our own claim, written and not heard of.
        Claim::Won(_) => Err(Problem::in_progress(1).into()),
    }
}

/// Gives the key back unless the handler's effect was written; then the outcome stands as it is.
pub async fn settle<T>(
    once: &Idempotency,
    ticket: Option<&Ticket>,
    outcome: Result<T, Error>,
) -> Result<T, Error> {
    if let (Some(ticket), Err(Error::Problem(_))) = (ticket, &outcome) {
        // If it can't be given back, its deadline does so; the refusal is the answer either way.
        let _ = once.release(ticket).await;
    }
    outcome
}

/// What is kept of a response: everything the caller needs, except what is shown only once.
pub fn kept(response: &Response, body: Vec<u8>) -> Answer {
    Answer {
        status: response.status().as_u16(),
        location: response.location().map(str::to_owned),
        etag: response.etag().map(str::to_owned),
        body,
    }
}

fn repeated(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = Response::rendered(status, answer.body)
        .with_text(http::HeaderName::from_static("idempotent-replayed"), "true");
    if let Some(location) = &answer.location {
        response = response.with_text(header::LOCATION, location);
    }
    if let Some(etag) = &answer.etag {
        response = response.with_text(header::ETAG, etag);
    }
    response
}

/// What tells one request from another under the same key.
pub fn digest(path: &str, body: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(path.as_bytes());
    digest.update([0]);
    digest.update(body);
    digest.finalize().into()
}

fn seconds_until(until: Timestamp, now: Timestamp) -> i64 {
    (until.as_millisecond() - now.as_millisecond()).max(0) / 1000 + 1
}

//! `Idempotency-Key`: what a handler does before and after its effect.
//!
//! The handler passes the [`Ticket`] and its response to the store, which writes both with the effect
//! in one transaction. A request that is refused releases its key, so that it can be corrected.

use domain::Timestamp;
use sha2::{Digest, Sha256};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse, Ticket};

use crate::Entropy;
use crate::http::{Call, IdempotencyKey, Problem};

/// Whether the handler has to run.
#[derive(Debug)]
pub enum Execution {
    /// Yes; with a ticket if the caller sent a key.
    Run(Option<Ticket>),
    /// No: this is the response to an earlier request.
    Replay(StoredResponse),
}

/// A request's key, and the digest that tells the request from another one with the same key.
#[derive(Debug, Clone)]
pub struct RequestKey {
    pub text: String,
    pub fingerprint: [u8; 32],
}

impl RequestKey {
    /// The key of a call with its path and body. The path belongs to the digest: one key on two accounts' keys
    /// is two requests.
    pub fn new(text: String, call: &Call) -> Self {
        Self { text, fingerprint: fingerprint(&call.path, &call.body) }
    }

    /// The request that a store claims for `claimant`. A handler that writes its response with its effect needs
    /// no claim before.
    pub fn request<'a>(
        &'a self,
        call: &Call,
        caller: &'a str,
        operation: &'static str,
        claimant: &'a str,
    ) -> IdempotentRequest<'a> {
        let Self { text: key, fingerprint } = self;
        let (fingerprint, deadline) = (*fingerprint, call.deadline);
        IdempotentRequest { caller, operation, key, fingerprint, claimant, deadline }
    }
}

/// Claims the request's key, if it has one, for `operation`.
pub async fn claim(
    store: &Idempotency,
    call: &Call,
    key: &IdempotencyKey,
    operation: &'static str,
    entropy: &Entropy,
) -> Result<Execution, Problem> {
    let caller = call.caller()?.user_id.as_str().to_owned();
    claim_for(store, &caller, call, key, operation, entropy).await
}

/// The same for a caller who is known by something else than an account.
pub async fn claim_for(
    store: &Idempotency,
    caller: &str,
    call: &Call,
    key: &IdempotencyKey,
    operation: &'static str,
    entropy: &Entropy,
) -> Result<Execution, Problem> {
    let Some(key) = &key.0 else { return Ok(Execution::Run(None)) };
    let (key, claimant) = (RequestKey::new(key.clone(), call), entropy.token());
    let request = key.request(call, caller, operation, &claimant);
    match store.claim(&request, call.now).await? {
        Claim::Won(ticket) => Ok(Execution::Run(Some(ticket))),
        lost @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
            replay(lost, call.now).map(Execution::Replay)
        }
    }
}

/// The response to a repeat: the first one, or why there is none.
pub fn replay(claim: Claim, now: Timestamp) -> Result<StoredResponse, Problem> {
    match claim {
        Claim::Answered(response) => Ok(response),
        Claim::Running(until) => Err(Problem::in_progress(seconds_until(until, now))),
        Claim::Mismatch => Err(Problem::key_reused()),
        // The claim of this very request, whose write was committed while its answer was lost.
        Claim::Won(_) => Err(Problem::in_progress(1)),
    }
}

/// Releases the key unless the handler's effect was written; then the outcome stands as it is.
pub async fn release_if_refused<T>(
    store: &Idempotency,
    ticket: Option<&Ticket>,
    outcome: Result<T, Problem>,
) -> Result<T, Problem> {
    if let (Some(ticket), Err(problem)) = (ticket, &outcome)
        && !problem.is_fault()
    {
        // If the release fails, the claim ends with its deadline; the refusal is the response either way.
        let _ = store.release(ticket).await;
    }
    outcome
}

/// What tells one request from another under the same key.
pub fn fingerprint(path: &str, body: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(path.as_bytes());
    digest.update([0]);
    digest.update(body);
    digest.finalize().into()
}

fn seconds_until(until: Timestamp, now: Timestamp) -> i64 {
    (until.as_millisecond() - now.as_millisecond()).max(0) / 1000 + 1
}

//! `Idempotency-Key`: what a handler does before and after its effect.
//!
//! The handler passes the [`Ticket`] and its answer to the store, which writes both with the effect
//! in one transaction. A request that is refused gives its key back, so that it can be corrected.

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
    /// No: this is what was answered.
    Replay(StoredResponse),
}

/// Claims the request's key, if it has one, for `operation`.
pub async fn begin(
    once: &Idempotency,
    call: &Call,
    key: &IdempotencyKey,
    operation: &'static str,
    entropy: &Entropy,
) -> Result<Execution, Problem> {
    let caller = call.caller()?.user_id.as_str().to_owned();
    begin_for(once, &caller, call, key, operation, entropy).await
}

/// The same for a caller who is known by something else than an account.
pub async fn begin_for(
    once: &Idempotency,
    caller: &str,
    call: &Call,
    key: &IdempotencyKey,
    operation: &'static str,
    entropy: &Entropy,
) -> Result<Execution, Problem> {
    let Some(key) = &key.0 else { return Ok(Execution::Run(None)) };
    let claimant = entropy.token();
    let claim = name(key, call, (caller, operation), &claimant);
    match once.claim(&claim, call.now).await? {
        Claim::Won(ticket) => Ok(Execution::Run(Some(ticket))),
        before @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
            met(before, call.now).map(Execution::Replay)
        }
    }
}

/// What a request is known by that came with `key`. A handler that writes its answer with its effect needs no
/// more than that, and no claim before.
pub fn name<'a>(
    key: &'a str,
    call: &Call,
    (caller, operation): (&'a str, &'static str),
    claimant: &'a str,
) -> IdempotentRequest<'a> {
    // The path belongs to it: one key on two accounts' keys is two requests.
    let fingerprint = digest(&call.path, &call.body);
    IdempotentRequest { caller, operation, key, fingerprint, claimant, deadline: call.deadline }
}

/// What a repeat is told: the first answer, or why there is none.
pub fn met(claim: Claim, now: Timestamp) -> Result<StoredResponse, Problem> {
    match claim {
        Claim::Answered(answer) => Ok(answer),
        Claim::Running(until) => Err(Problem::in_progress(seconds_until(until, now))),
        Claim::Mismatch => Err(Problem::key_reused()),
        // Our own claim, written and not heard of.
        Claim::Won(_) => Err(Problem::in_progress(1)),
    }
}

/// Gives the key back unless the handler's effect was written; then the outcome stands as it is.
pub async fn settle<T>(
    once: &Idempotency,
    ticket: Option<&Ticket>,
    outcome: Result<T, Problem>,
) -> Result<T, Problem> {
    if let (Some(ticket), Err(problem)) = (ticket, &outcome)
        && !problem.is_fault()
    {
        // If it can't be given back, its deadline does so; the refusal is the answer either way.
        let _ = once.release(ticket).await;
    }
    outcome
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

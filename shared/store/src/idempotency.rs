//! Repeated requests: the first one runs, the others get its answer.
//!
//! A row's life: absent → `running` (claimed by one request until its deadline) → `done` (with the
//! answer, for 24 hours) → absent. The claim is one conditional put; the answer is written in the
//! same transaction as the effect, so there is no moment at which one exists without the other.
//! Absent: a repeat that runs twice, a caller whose key collides with another caller's, and a row that stays
//! locked when its function died (the next request wins once the deadline has passed).

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{
    Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use domain::{Failure, Result, Timestamp};

use crate::ignore_lost_condition;
use crate::row::{Builder, Item, ItemReader, broken, bytes, instant, key, number, text};
use crate::schema::EXPIRES;
use crate::transaction;

const KEPT_SECONDS: i64 = 24 * 3600;

const ABSENT: &str = "attribute_not_exists(pk)";
const EXPIRED: &str = "kept_until <= :now";
const ABANDONED: &str = "(progress = :running AND lock_until <= :now)";

/// The rows that remember requests, in one system's table.
#[derive(Debug, Clone)]
pub struct Idempotency {
    client: Client,
    table: String,
}

/// One request: its caller, operation, key and a digest of its body.
#[derive(Debug, Clone)]
pub struct IdempotentRequest<'a> {
    /// The caller; another caller's equal key is another request.
    pub caller: &'a str,
    /// The operation; an equal key on another operation is another request.
    pub operation: &'static str,
    /// What the caller sent as `Idempotency-Key`.
    pub key: &'a str,
    /// Digest of the body.
    pub fingerprint: [u8; 32],
    /// Random, new for each try: the owner of the claim.
    pub claimant: &'a str,
    /// When the function's own deadline releases the claim.
    pub deadline: Timestamp,
}

/// Whether the request has to run.
#[derive(Debug, PartialEq, Eq)]
pub enum Claim {
    Won(Ticket),
    /// An earlier request did; this was the response.
    Answered(StoredResponse),
    /// An earlier request is running, at the latest until then.
    Running(Timestamp),
    /// The key was used with another body.
    Mismatch,
}

/// The response to the first request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    pub status: u16,
    /// Where the created thing is, if anything was.
    pub location: Option<String>,
    /// `ETag` of it.
    pub etag: Option<String>,
    /// JSON body, without what is shown only once.
    pub body: Vec<u8>,
}

/// A won claim, to be completed in the effect's transaction or released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pk: String,
    claimant: String,
    kept_until: Timestamp,
}

impl Idempotency {
    /// Works on the rows of `table`.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }

    /// Claims the request for `request.claimant`.
    pub async fn claim(&self, request: &IdempotentRequest<'_>, now: Timestamp) -> Result<Claim> {
        const ACTION: &str = "claim an idempotency key";
        let (pk, kept_until) = row_key(request, now)?;
        let row = claim_row(request, &pk, kept_until)
            .with("progress", text("running"))
            .with("lock_until", instant(request.deadline));
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(row.build()))
            .condition_expression(format!("{ABSENT} OR {EXPIRED} OR {ABANDONED}"))
            .expression_attribute_values(":now", instant(now))
            .expression_attribute_values(":running", text("running"))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        let ticket = Ticket { pk, claimant: request.claimant.to_owned(), kept_until };
        match sent {
            Ok(_) => Ok(Claim::Won(ticket)),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(lost)) => {
                    let item = lost.item().ok_or_else(|| broken("pk"))?;
                    lost_claim(item, request, ticket)
                }
                _ => Err(Failure::new(ACTION, error)),
            },
        }
    }

    /// The item that, inside the effect's transaction, turns the claim into an answer. It loses if
    /// the claim was taken over after its deadline, and the effect is then not written either.
    pub fn completion(
        &self,
        ticket: &Ticket,
        answer: &StoredResponse,
    ) -> Result<TransactWriteItem> {
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&ticket.pk, "once")))
            .update_expression(
                "SET progress = :done, answer_status = :status, answer_body = :body, \
                 answer_location = :location, answer_etag = :etag, kept_until = :kept",
            )
            .condition_expression("claimant = :claimant AND progress = :running")
            .expression_attribute_values(":done", text("done"))
            .expression_attribute_values(":running", text("running"))
            .expression_attribute_values(":claimant", text(&ticket.claimant))
            .expression_attribute_values(":status", number(answer.status))
            .expression_attribute_values(":body", bytes(&answer.body))
            .expression_attribute_values(
                ":location",
                text(answer.location.as_deref().unwrap_or("")),
            )
            .expression_attribute_values(":etag", text(answer.etag.as_deref().unwrap_or("")))
            .expression_attribute_values(":kept", instant(ticket.kept_until))
            .build()
            .map_err(|cause| Failure::new("build the answer's update", cause))?;
        Ok(transaction::update(update))
    }

    /// The item that, inside the effect's transaction, claims a request and keeps its answer at once:
    /// for effects that are one transaction, so that there is nothing to be at it for.
    pub fn claim_with_response(
        &self,
        request: &IdempotentRequest<'_>,
        answer: &StoredResponse,
        now: Timestamp,
    ) -> Result<TransactWriteItem> {
        const ACTION: &str = "keep the answer";
        let (pk, kept_until) = row_key(request, now)?;
        let row = claim_row(request, &pk, kept_until)
            .with("progress", text("done"))
            .with("answer_status", number(answer.status))
            .with("answer_body", bytes(&answer.body))
            .with_some("answer_location", answer.location.as_ref().map(text))
            .with_some("answer_etag", answer.etag.as_ref().map(text));
        Put::builder()
            .table_name(&self.table)
            .set_item(Some(row.build()))
            .condition_expression(format!("{ABSENT} OR {EXPIRED} OR {ABANDONED}"))
            .expression_attribute_values(":now", instant(now))
            .expression_attribute_values(":running", text("running"))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map(transaction::put)
            .map_err(|cause| Failure::new(ACTION, cause))
    }

    /// The claim that a lost [`Idempotency::claim_with_response`] collided with.
    pub fn read_claim(item: &Item, request: &IdempotentRequest<'_>) -> Result<Claim> {
        let (pk, kept_until) = row_key(request, Timestamp::UNIX_EPOCH)?;
        let ticket = Ticket { pk, claimant: request.claimant.to_owned(), kept_until };
        lost_claim(item, request, ticket)
    }

    /// Turns the claim into an answer where there is no effect to write it with. Loses silently when
    /// the claim is no longer ours.
    pub async fn store_response(
        &self,
        ticket: &Ticket,
        answer: &StoredResponse,
        token: &str,
    ) -> Result {
        let items = vec![self.completion(ticket, answer)?];
        transaction::transact(&self.client, "keep the answer", items, token).await.map(|_| ())
    }

    /// Gives the claim back after a request that changed nothing, so that a corrected one may use
    /// the key at once. Loses silently when the claim is no longer ours.
    pub async fn release(&self, ticket: &Ticket) -> Result {
        let sent = self
            .client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(key(&ticket.pk, "once")))
            .condition_expression("claimant = :claimant AND progress = :running")
            .expression_attribute_values(":claimant", text(&ticket.claimant))
            .expression_attribute_values(":running", text("running"))
            .send()
            .await;
        ignore_lost_condition("release an idempotency key", sent)
    }
}

/// What a request's row has in every state.
fn claim_row(request: &IdempotentRequest<'_>, pk: &str, kept_until: Timestamp) -> Builder {
    Builder::keyed(pk, "once")
        .with("claimant", text(request.claimant))
        .with("fingerprint", bytes(&request.fingerprint))
        .with("kept_until", instant(kept_until))
        .with(EXPIRES, number(kept_until.as_second()))
}

/// The key of a request's row, and until when it is kept.
fn row_key(request: &IdempotentRequest<'_>, now: Timestamp) -> Result<(String, Timestamp)> {
    let kept_until = Timestamp::from_second(now.as_second() + KEPT_SECONDS)
        .map_err(|cause| Failure::new("keep a request", cause))?;
    // The length keeps a caller whose name has a `#` apart from everyone else.
    let IdempotentRequest { caller, operation, key, .. } = request;
    Ok((format!("once#{}#{caller}#{operation}#{key}", caller.len()), kept_until))
}

/// The claim that a lost one collided with. Our own claimant means that the SDK retried a put that had been
/// committed: the claim is ours after all.
fn lost_claim(item: &Item, request: &IdempotentRequest<'_>, ticket: Ticket) -> Result<Claim> {
    let row = ItemReader(item);
    if row.text("claimant")? == request.claimant && row.text("progress")? == "running" {
        return Ok(Claim::Won(ticket));
    }
    if row.bytes("fingerprint")? != request.fingerprint {
        return Ok(Claim::Mismatch);
    }
    if row.text("progress")? == "running" {
        return Ok(Claim::Running(row.instant("lock_until")?));
    }
    let filled = |name| row.maybe_text(name).filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(Claim::Answered(StoredResponse {
        status: row.number("answer_status")?,
        location: filled("answer_location"),
        etag: filled("answer_etag"),
        body: row.bytes("answer_body")?.to_vec(),
    }))
}

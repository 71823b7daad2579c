//! Accepting: one transaction and one publish for one person, as many as it takes for many.
//!
//! The idempotency row of one person's notification is written in its own transaction. For many people
//! the key is claimed first, and ids are derived from it, so that a repeat of a call that was cut off
//! writes what is missing and nothing else.

mod batch;

use std::sync::Arc;

use boundary::http::{
    Accepted as Taken, Call, Caller, IdempotencyKey, Json, Operation, Problem, Repeatable, Result,
    State, Storable,
};
use boundary::idempotency::{self, RequestKey};
use boundary::openapi::{DescribeResponse, OperationEntry};
use domain::accounts::{Role, UserId};
use domain::notifications::Submission;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};

use super::BODY_CAP;
use super::plan::ResolvedContent;
use super::request::NewNotification;
use crate::http::state::App;

use batch::Batch;

/// The name of the operation, as repeats are told apart by it.
const OPERATION: &str = "sendNotification";

/// What was accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AcceptedView {
    /// One for each person, in the order they were named.
    notifications: Vec<AcceptedOne>,
}

/// A notification that was accepted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AcceptedOne {
    notification_id: String,
    user_id: String,
    /// `pending`; `suppressed` if the person wants none of it; `unreachable` if they have no address
    /// on any of the channels. `GET /api/v1/notifications/{notificationId}` says why.
    status: &'static str,
}

/// What a caller is answered with: what was accepted, and where it is if it is one.
pub(crate) struct Receipt(Taken<AcceptedView>);

impl Storable for Receipt {
    fn stored(&self) -> StoredResponse {
        let location = match self.0.0.notifications.as_slice() {
            [one] => Some(format!("/api/v1/notifications/{}", one.notification_id)),
            _ => None,
        };
        StoredResponse { location, ..self.0.stored() }
    }
}

impl DescribeResponse for Receipt {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Taken::<AcceptedView>::describe(entry, schemas);
    }
}

/// A receipt, or the one that the first of several calls with the same key got.
type Answer = Repeatable<Receipt>;

pub(super) const SEND: Operation = Operation::post(
    "/api/v1/notifications",
    OPERATION,
    "Tell one person, or up to 1,000",
)
.description(
    "Their ids come back at once; each is sent by every way that the person has and has not \
     switched off, or by the channels you name. What they do not want is kept as `suppressed`, and \
     who has no address as `unreachable`, so that you can read why; neither fails the call.",
)
.role(Role::Notifier)
.body_up_to(BODY_CAP);

pub(super) async fn send(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(new): Json<NewNotification>,
    IdempotencyKey(header): IdempotencyKey,
) -> Result<Answer> {
    let key = key(&call, header.or_else(|| new.idempotency_key.clone()))?;
    let caller = &caller.user_id;
    let (submission, content) = match (checked(&app, &call, new).await, &key) {
        (Ok(checked), _) => checked,
        (Err(problem), Some(key)) => {
            return replay_or_refuse(&app, &call, caller, key, problem).await;
        }
        (Err(problem), None) => return Err(problem),
    };
    let batch = Batch { app: &app, call: &call, caller, submission, content };
    match batch.submission.users.as_slice() {
        [user] => batch.one(user, key.as_ref()).await,
        _ => batch.many(key.as_ref()).await,
    }
}

async fn checked(
    app: &App,
    call: &Call,
    new: NewNotification,
) -> Result<(Submission, ResolvedContent)> {
    let submission = new.into_domain().validated(call.now)?;
    let content = ResolvedContent::resolve(&submission, app, call.now).await?;
    Ok((submission, content))
}

/// A call that can't be accepted any more, because its time or its template has gone, may have been:
/// then the first answer stands.
async fn replay_or_refuse(
    app: &App,
    call: &Call,
    caller: &UserId,
    key: &RequestKey,
    problem: Problem,
) -> Result<Answer> {
    if problem.is_fault() {
        return Err(problem);
    }
    let claimant = app.entropy.token();
    let claim = idempotent_request(key, caller, &claimant, call);
    match app.notifications.idempotency().claim(&claim, call.now).await? {
        Claim::Won(ticket) => {
            idempotency::release_if_refused(
                app.notifications.idempotency(),
                Some(&ticket),
                Err(problem),
            )
            .await
        }
        before @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
            idempotency::replay(before, call.now).map(Repeatable::again)
        }
    }
}

fn key(call: &Call, text: Option<String>) -> Result<Option<RequestKey>> {
    let Some(text) = text else { return Ok(None) };
    if !(1..=255).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_graphic()) {
        let rule = "1 to 255 printable ASCII characters, no spaces";
        return Err(Problem::field("idempotencyKey", rule));
    }
    Ok(Some(RequestKey::new(text, call)))
}

fn idempotent_request<'a>(
    key: &'a RequestKey,
    caller: &'a UserId,
    claimant: &'a str,
    call: &Call,
) -> IdempotentRequest<'a> {
    key.request(call, caller.as_str(), OPERATION, claimant)
}

//! Cancelling a job, and retrying one that failed or was cancelled.

use std::sync::Arc;

use boundary::http::{Call, Caller, Json, Operation, Path, Result, State};
use domain::accounts::Role;
use domain::jobs::{Actor, JobEvent, JobId};

use super::JobPath;
use super::view::JobView;
use crate::http::state::{App, may_manage};

pub(super) const CANCEL: Operation =
    Operation::delete("/api/v1/jobs/{jobId}", "cancelJob", "Cancel a job")
        .description(
            "At once if it does not run. If it does, its worker is told at its next \
             heartbeat, and it is CANCELLED when the worker has stopped.",
        )
        .role(Role::JobSubmitter)
        .refuses(&[404, 409]);

pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(id): Path<JobPath>,
) -> Result<Json<JobView>> {
    apply(&app, &call, &caller, &id, JobEvent::Cancelled).await
}

pub(super) const RETRY: Operation =
    Operation::post("/api/v1/jobs/{jobId}/retry", "retryJob", "Run a job again")
        .description(
            "A FAILED or CANCELLED job runs again under the same id. Attempts count on, and it gets as many as \
             at first.",
        )
        .role(Role::JobSubmitter)
        .refuses(&[404, 409]);

pub(super) async fn retry(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(id): Path<JobPath>,
) -> Result<Json<JobView>> {
    apply(&app, &call, &caller, &id, JobEvent::Retried).await
}

async fn apply(
    app: &App,
    call: &Call,
    caller: &Caller,
    id: &JobId,
    event: JobEvent,
) -> Result<Json<JobView>> {
    let by = Actor::User(caller.user_id.clone());
    let job = app.apply_event(call, id, &event, &by, |job| may_manage(caller, job)).await?;
    Ok(Json(JobView::new(&job, call.now)))
}

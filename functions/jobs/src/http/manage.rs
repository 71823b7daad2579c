//! Not wanted any more, or wanted again.

use std::sync::Arc;

use boundary::http::{Call, Caller, Json, Operation, Path, Problem, State};
use domain::accounts::Role;
use domain::jobs::{Actor, Event, JobId};

use super::JobPath;
use super::view::JobView;
use crate::http::state::{App, decides};

pub(super) const CANCEL: Operation =
    Operation::delete("/api/v1/jobs/{jobId}", "cancelJob", "Cancel a job")
        .description(
            "At once if it does not run. If it does, its worker hears of it at its next \
             heartbeat, and it is CANCELLED when the worker has stopped.",
        )
        .role(Role::JobSubmitter)
        .refuses(&[404, 409]);

pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(id): Path<JobPath>,
) -> Result<Json<JobView>, Problem> {
    decide(&app, &call, &caller, &id, Event::Cancelled).await
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
) -> Result<Json<JobView>, Problem> {
    decide(&app, &call, &caller, &id, Event::Retried).await
}

async fn decide(
    app: &App,
    call: &Call,
    caller: &Caller,
    id: &JobId,
    event: Event,
) -> Result<Json<JobView>, Problem> {
    let by = Actor::User(caller.user_id.clone());
    let job = app.happen(call, id, &event, &by, |job| decides(caller, job)).await?;
    Ok(Json(JobView::of(&job, call.now)))
}

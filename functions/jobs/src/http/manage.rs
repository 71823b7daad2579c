//! Not wanted any more, or wanted again.

use boundary::http::{Answer, Request, Response};
use domain::jobs::{Actor, Event};
use http::StatusCode;

use crate::State;
use crate::http::view::JobView;
use crate::state::decides;

/// At once if it does not run; otherwise its worker hears of it at its next heartbeat.
pub(crate) async fn cancel(state: &State, request: Request) -> Answer {
    decided(state, request, Event::Cancelled).await
}

/// Again under the same id, with attempts counted on.
pub(crate) async fn retry(state: &State, request: Request) -> Answer {
    decided(state, request, Event::Retried).await
}

async fn decided(state: &State, request: Request, event: Event) -> Answer {
    let caller = request.caller()?.clone();
    let by = Actor::User(caller.user_id.clone());
    let job = state.happen(&request, &event, &by, |job| decides(&caller, job)).await?;
    Ok(Response::json(StatusCode::OK, &JobView::of(&job, request.now)))
}

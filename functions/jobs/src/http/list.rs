//! Jobs, newest first: the caller's own, or all for callers who may read all.

use std::sync::Arc;

use boundary::http::{Call, Cursor, Json, Operation, Problem, Query, Result, State};
use domain::jobs::{JobId, JobStatus, JobTypeName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Viewer;
use super::view::JobView;
use crate::http::state::{App, may_read_all};
use crate::store::{JobFilter, ListScope};

/// A page of a filtered list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListQuery {
    /// Only those in this state.
    status: Option<String>,
    /// Only those of this type.
    job_type: Option<String>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// A page of jobs. A page may be short and still have a next one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobsView {
    items: Vec<JobView>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(super) const LIST: Operation = Operation::get("/api/v1/jobs", "listJobs", "List jobs")
    .description("Newest first. Submitters see their own; viewers, workers and admins see all.")
    .key();

pub(super) async fn list(
    State(app): State<Arc<App>>,
    call: Call,
    Query(query): Query<ListQuery>,
    Viewer(caller): Viewer,
) -> Result<Json<JobsView>> {
    const LIST: &str = "jobs";
    let limit = query.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 100"));
    }
    let status = match query.status.as_deref() {
        None => None,
        Some(name) => Some(JobStatus::from_name(name).ok_or_else(|| {
            let names = JobStatus::ALL.map(|status| format!("`{}`", status.name())).join(", ");
            Problem::field("status", format!("one of {names}"))
        })?),
    };
    let job_type = query.job_type.as_deref().map(JobTypeName::parse).transpose()?;
    let after = query.cursor.map(|text| Cursor::decode(LIST, &text)).transpose()?;
    if after.as_ref().is_some_and(|position| JobId::parse(position).is_none()) {
        return Err(Cursor::invalid());
    }
    let scope =
        if may_read_all(&caller) { ListScope::All } else { ListScope::OwnedBy(&caller.user_id) };
    let filter = JobFilter { status, job_type };
    let page = app.jobs.list(scope, &filter, limit, after.as_deref()).await?;
    let next_cursor = page.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned());
    let items = page.items.iter().map(|job| JobView::new(job, call.now)).collect();
    Ok(Json(JobsView { items, next_cursor }))
}

//! The function `jobs`: submit, read, explain, cancel, retry, and the workers' reports.
//!
//! Trigger: HTTP. Effect: each change is one transaction of the job, the audit record and
//! its licence; then a wake-up. Guarantee: a repeated submission makes one job; a worker's report counts
//! only with the attempt it was given; a wake-up that is lost is sent again by `sweep-jobs`; what is
//! not the caller's is not found.

mod bulk;
mod cancel_retry;
mod finish;
mod job_types;
mod list;
mod new_job;
mod read;
mod state;
mod submit;
mod view;
mod workers;

use std::sync::Arc;

use ::http::request::Parts;
use axum::extract::FromRequestParts;
use boundary::http::{Api, Caller, Operations, Path, Problem, Result, Segment};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use boundary::{Host, Misconfigured};
use domain::accounts::Role;
use domain::jobs::{Job, JobId, JobTypeName};
use schemars::SchemaGenerator;

use crate::http::state::{App, may_read};

pub fn function(host: &Host) -> Result<Api, Misconfigured> {
    Api::new(host, App::from_host(host)?, operations)
}

pub fn operations(to: &mut impl Operations<App>) {
    to.on(submit::SUBMIT, submit::submit);
    to.on(bulk::SUBMIT_BULK, bulk::submit_bulk);
    to.on(list::LIST, list::list);
    to.on(read::READ, read::read);
    to.on(read::EXPLAIN, read::explain);
    to.on(read::EVENTS, read::events);
    to.on(cancel_retry::CANCEL, cancel_retry::cancel);
    to.on(cancel_retry::RETRY, cancel_retry::retry);
    to.on(job_types::LIST, job_types::list);
    to.on(job_types::READ, job_types::read);
    to.on(job_types::SAVE, job_types::save);
    to.on(workers::CLAIM, workers::claim);
    to.on(workers::START, workers::start);
    to.on(workers::HEARTBEAT, workers::heartbeat);
    to.on(finish::COMPLETE, finish::complete);
    to.on(finish::FAIL, finish::fail);
    to.on(finish::ADD_ARTIFACT, finish::add_artifact);
}

/// The path names a job.
pub(crate) struct JobPath;

impl Segment for JobPath {
    type Value = JobId;
    const NAME: &'static str = "jobId";
    const MEANING: &'static str = "The job.";

    fn parse(text: &str) -> Result<JobId> {
        JobId::parse(text).ok_or_else(|| Problem::unknown("job"))
    }
}

/// The path names an existing job type.
pub(crate) struct TypePath;

impl Segment for TypePath {
    type Value = JobTypeName;
    const NAME: &'static str = "jobType";
    const MEANING: &'static str =
        "The type: 1 to 64 of a-z, 0-9, `.`, `_` and `-`, starting with a letter or digit.";

    fn parse(text: &str) -> Result<JobTypeName> {
        JobTypeName::parse(text).map_err(|_| Problem::unknown("job type"))
    }
}

/// The path names a job type that is created if it does not exist.
pub(crate) struct NewTypePath;

impl Segment for NewTypePath {
    type Value = JobTypeName;
    const NAME: &'static str = TypePath::NAME;
    const MEANING: &'static str = TypePath::MEANING;

    fn parse(text: &str) -> Result<JobTypeName> {
        Ok(JobTypeName::parse(text)?)
    }
}

/// A caller with a role that may read jobs: 403 otherwise.
pub(crate) struct Viewer(pub(crate) Caller);

impl FromRequestParts<Arc<App>> for Viewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let caller = <Caller as FromRequestParts<Arc<App>>>::from_request_parts(parts, app).await?;
        let roles = [Role::JobSubmitter, Role::JobViewer, Role::JobWorker];
        let may = caller.is_admin() || roles.into_iter().any(|role| caller.roles.contains(role));
        if may { Ok(Self(caller)) } else { Err(Problem::role_missing(Role::JobViewer)) }
    }
}

impl DescribeExtractor for Viewer {
    fn describe(entry: &mut OperationEntry, _: &mut SchemaGenerator) {
        entry.errors(&[403]);
    }
}

/// The job that the path names, if the caller may read it: 404 otherwise.
pub(crate) struct Visible(pub(crate) Job);

impl FromRequestParts<Arc<App>> for Visible {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let Viewer(caller) = Viewer::from_request_parts(parts, app).await?;
        let Path(id) = Path::<JobPath>::from_request_parts(parts, app).await?;
        let found = app.jobs.find(&id).await?;
        let visible = found.filter(|job| may_read(&caller, job));
        visible.map(Self).ok_or_else(|| Problem::unknown("job"))
    }
}

impl DescribeExtractor for Visible {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<JobPath>::describe(entry, schemas);
        entry.errors(&[403, 404]);
    }
}

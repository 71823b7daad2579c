//! Jobs, seen from outside: submit, watch, explain, cancel, retry, and the words of workers.
//!
//! Trigger: HTTP. Effect: each change is one transaction of the job, the record of what happened and
//! its licence; then a doorbell. Guarantee: a repeated submission makes one job; a worker's word counts
//! only with the attempt it was given; a doorbell that is lost is rung again by `sweep-jobs`; what is
//! not the caller's is not found.

mod http;
mod state;

use ::http::Method;
use boundary::http::{Access, Api, Builder};
use boundary::{Host, Misconfigured};
use domain::accounts::Role;

use crate::http::{bulk, listing, manage, read, submit, types, workers};

pub use crate::http::docs;
pub use state::State;

/// Payloads over 256 KB go to the bucket; Lambda takes 6 MB.
const BODY_CAP: usize = 4 * 1024 * 1024;

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api<State>, Misconfigured> {
    const ADMIN: Access = Access::Role(Role::Admin);
    const SUBMITTER: Access = Access::Role(Role::JobSubmitter);
    const WORKER: Access = Access::Role(Role::JobWorker);
    const ALL: &str = "/api/v1/jobs";
    const ONE: &str = "/api/v1/jobs/{jobId}";
    const TYPE: &str = "/api/v1/job-types/{jobType}";
    Builder::default()
        .on(Method::POST, ALL, "submitJob", SUBMITTER, |s, r| Box::pin(submit::one(s, r)))
        .taking(BODY_CAP)
        .on(Method::POST, "/api/v1/jobs/bulk", "submitJobs", SUBMITTER, |s, r| {
            Box::pin(bulk::many(s, r))
        })
        .taking(BODY_CAP)
        .metered()
        .on(Method::GET, ALL, "listJobs", Access::Key, |s, r| Box::pin(listing::list(s, r)))
        .on(Method::GET, ONE, "readJob", Access::Key, |s, r| Box::pin(read::one(s, r)))
        .on(Method::GET, "/api/v1/jobs/{jobId}/explain", "explainJob", Access::Key, |s, r| {
            Box::pin(read::explained(s, r))
        })
        .on(Method::GET, "/api/v1/jobs/{jobId}/events", "readJobEvents", Access::Key, |s, r| {
            Box::pin(read::trail(s, r))
        })
        .on(Method::DELETE, ONE, "cancelJob", SUBMITTER, |s, r| Box::pin(manage::cancel(s, r)))
        .on(Method::POST, "/api/v1/jobs/{jobId}/retry", "retryJob", SUBMITTER, |s, r| {
            Box::pin(manage::retry(s, r))
        })
        .on(Method::GET, "/api/v1/job-types", "listJobTypes", Access::Key, |s, r| {
            Box::pin(types::list(s, r))
        })
        .on(Method::GET, TYPE, "readJobType", Access::Key, |s, r| Box::pin(types::read(s, r)))
        .on(Method::PUT, TYPE, "saveJobType", ADMIN, |s, r| Box::pin(types::save(s, r)))
        .on(Method::POST, "/api/v1/job-types/{jobType}/claim", "claimJobs", WORKER, |s, r| {
            Box::pin(workers::claim(s, r))
        })
        .on(Method::POST, "/api/v1/jobs/{jobId}/start", "startJob", WORKER, |s, r| {
            Box::pin(workers::start(s, r))
        })
        .on(Method::POST, "/api/v1/jobs/{jobId}/heartbeat", "beatJob", WORKER, |s, r| {
            Box::pin(workers::heartbeat(s, r))
        })
        .on(Method::POST, "/api/v1/jobs/{jobId}/complete", "completeJob", WORKER, |s, r| {
            Box::pin(workers::complete(s, r))
        })
        .on(Method::POST, "/api/v1/jobs/{jobId}/fail", "failJob", WORKER, |s, r| {
            Box::pin(workers::fail(s, r))
        })
        .on(Method::POST, "/api/v1/jobs/{jobId}/artifacts", "addArtifact", WORKER, |s, r| {
            Box::pin(workers::artifact(s, r))
        })
        .build(host, State::on(host)?)
}

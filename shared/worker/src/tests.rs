//! Workers against a server with the jobs API, over connections in memory, so that time can be paused: a
//! heartbeat timeout takes no time. `sockets` uses real ones.

mod errors;
mod fake_api;
mod fencing;
mod sockets;
mod stopping;
mod success;
mod transfers;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use self::fake_api::FakeApi;
use crate::{Context, Error, HttpJobApi, Job, JobOutput, RunOutcome, Worker, WorkerEvent};

/// The key every test uses.
const KEY: &str = "key1.secret";

/// A worker for the type `thumb` that does not listen for signals.
fn worker(api: &FakeApi) -> Worker {
    let http = HttpJobApi::with_client(api.client(), "http://api.test/", KEY, "w1").unwrap();
    Worker::with_api(http).job_type("thumb").stop_on(std::future::pending())
}

/// Runs one job that the API has, and stops.
async fn run_job<H, F>(api: &FakeApi, handler: H) -> RunOutcome
where
    H: Fn(Job, Context) -> F + Send + Sync + 'static,
    F: Future<Output = Result<JobOutput, Error>> + Send + 'static,
{
    api.offer("j1", &serde_json::json!({"width": 120}));
    run_jobs(worker(api), 1, handler).await.remove(0)
}

/// Runs until `count` jobs have ended, and stops.
async fn run_jobs<H, F>(worker: Worker, count: usize, handler: H) -> Vec<RunOutcome>
where
    H: Fn(Job, Context) -> F + Send + Sync + 'static,
    F: Future<Output = Result<JobOutput, Error>> + Send + 'static,
{
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let enough = Arc::new(Notify::new());
    let (all, done) = (Arc::clone(&outcomes), Arc::clone(&enough));
    let worker = worker.stop_on(async move { enough.notified().await }).on_event(move |note| {
        let WorkerEvent::JobEnded(_, outcome) = note else { return };
        let mut all = all.lock().unwrap();
        all.push(outcome);
        if all.len() == count {
            done.notify_one();
        }
    });
    // With paused time an hour passes at once when there is nothing else to do.
    tokio::time::timeout(Duration::from_hours(1), worker.run(handler)).await.unwrap().unwrap();
    outcomes.lock().unwrap().clone()
}

/// Whether something happened at `second`, give or take what is done in no time.
fn is_at(second: u64, at: Duration) -> bool {
    at >= Duration::from_secs(second)
        && at < Duration::from_secs(second) + Duration::from_millis(50)
}

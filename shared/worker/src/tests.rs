//! Workers against a server that speaks the jobs API, over connections in memory, so that time can
//! be paused: a minute of silence takes no time. `sockets` uses the real ones.

mod api;
mod fence;
mod happy;
mod sockets;
mod stopping;
mod transfers;
mod trouble;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use self::api::Api;
use crate::{Context, Done, Ending, Error, Http, Job, Note, Worker};

/// The key every test uses.
const KEY: &str = "key1.secret";

/// A worker for the type `thumb` that does not listen for signals.
fn worker(api: &Api) -> Worker {
    let http = Http::over(api.wire(), "http://api.test/", KEY, "w1").unwrap();
    Worker::over(http).job_type("thumb").stop_on(std::future::pending())
}

/// Runs one job that the API has, and stops.
async fn run_job<H, F>(api: &Api, handler: H) -> Ending
where
    H: Fn(Job, Context) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Done, Error>> + Send + 'static,
{
    api.offer("j1", &serde_json::json!({"width": 120}));
    run_jobs(worker(api), 1, handler).await.remove(0)
}

/// Runs until `count` jobs have ended, and stops.
async fn run_jobs<H, F>(worker: Worker, count: usize, handler: H) -> Vec<Ending>
where
    H: Fn(Job, Context) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Done, Error>> + Send + 'static,
{
    let endings = Arc::new(Mutex::new(Vec::new()));
    let enough = Arc::new(Notify::new());
    let (kept, ring) = (Arc::clone(&endings), Arc::clone(&enough));
    let worker = worker.stop_on(async move { enough.notified().await }).notes(move |note| {
        let Note::Ended(_, ending) = note else { return };
        let mut kept = kept.lock().unwrap();
        kept.push(ending);
        if kept.len() == count {
            ring.notify_one();
        }
    });
    // An hour is more than any of this takes, and passes at once when nothing else is left to do.
    tokio::time::timeout(Duration::from_hours(1), worker.run(handler)).await.unwrap().unwrap();
    endings.lock().unwrap().clone()
}

/// Whether something happened at `second`, give or take what is done in no time.
fn is_at(second: u64, at: Duration) -> bool {
    at >= Duration::from_secs(second)
        && at < Duration::from_secs(second) + Duration::from_millis(50)
}

//! The reports about one job, from its start to its end, and the time of the last one that got through.
//!
//! Guarantee: after a report was fenced, or once none got through within
//! [`Timeouts::heartbeat_timeout`](crate::Timeouts), no further report is sent. The timeout is counted
//! from when a report was sent, so that the worker gives the job up before the API gives it to another.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use crate::backoff::Backoff;
use crate::{
    ApiError, ApiResult, ClaimedJob, Context, Error, HeartbeatAction, JobApi, JobOutput, Reply,
    RunOutcome, StartedJob, StopReason,
};

/// Heartbeats are not sent more often, even if the API asks for it.
const MIN_PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct Heartbeat {
    api: Arc<dyn JobApi>,
    claimed: ClaimedJob,
    period: Duration,
    timeout: Duration,
    last_success: Instant,
}

enum CallOutcome<T> {
    Accepted(T),
    Stopped(StopReason),
    Failed(ApiError),
}

impl Heartbeat {
    /// The timeout of the first report begins now.
    pub(crate) fn new(api: Arc<dyn JobApi>, claimed: ClaimedJob, timeout: Duration) -> Self {
        Self { api, claimed, period: MIN_PERIOD, timeout, last_success: Instant::now() }
    }

    /// Starts the job, after any number of transient errors.
    pub(crate) async fn start(&mut self) -> Result<StartedJob, RunOutcome> {
        let mut backoff = Backoff::for_requests();
        loop {
            let sent = Instant::now();
            match self.call(self.api.start(&self.claimed)).await {
                CallOutcome::Accepted(started) => {
                    self.last_success = sent;
                    self.period = started.heartbeat.max(MIN_PERIOD);
                    return Ok(started);
                }
                CallOutcome::Stopped(why) => return Err(RunOutcome::lost(why)),
                CallOutcome::Failed(error @ ApiError::Permanent { .. }) => {
                    return Err(RunOutcome::Refused(error));
                }
                CallOutcome::Failed(error @ ApiError::Transient { .. }) => {
                    self.back_off(&mut backoff, &error).await;
                }
            }
        }
    }

    /// Sends heartbeats until the job is lost. A heartbeat that failed for any reason but the fence is sent
    /// again: a key may be restored, a lost job is not.
    pub(crate) async fn send_periodically(&mut self, ctx: &Context) -> StopReason {
        let mut backoff = Backoff::for_requests();
        loop {
            sleep_until(self.last_success + self.period).await;
            backoff.reset();
            loop {
                match self.send(ctx.percent()).await {
                    CallOutcome::Accepted(HeartbeatAction::Continue) => break,
                    CallOutcome::Accepted(HeartbeatAction::Cancel) => {
                        ctx.request_stop(StopReason::JobCancelled);
                        break;
                    }
                    CallOutcome::Stopped(why) => return why,
                    CallOutcome::Failed(error) => self.back_off(&mut backoff, &error).await,
                }
            }
        }
    }

    /// Reports the handler's result until it gets through. Heartbeats go on between two tries, so that a long
    /// run is not lost to a short outage. A completion that is refused for good fails the job instead.
    pub(crate) async fn report(&mut self, mut result: Result<JobOutput, Error>) -> RunOutcome {
        let mut backoff = Backoff::for_requests();
        loop {
            let reported = match &result {
                Ok(output) => self.call(self.api.complete(&self.claimed, output)).await,
                Err(error) => self.call(self.api.fail(&self.claimed, error)).await,
            };
            match reported {
                CallOutcome::Accepted(()) => {
                    return result.map_or_else(RunOutcome::Failed, |_| RunOutcome::Completed);
                }
                CallOutcome::Stopped(why) => return RunOutcome::lost(why),
                CallOutcome::Failed(error @ ApiError::Permanent { .. }) => {
                    if result.is_err() {
                        return RunOutcome::Refused(error);
                    }
                    let reason = format!("its completion was refused: {error}");
                    result = Err(Error::permanent(reason));
                }
                CallOutcome::Failed(error @ ApiError::Transient { .. }) => {
                    self.back_off(&mut backoff, &error).await;
                    if self.last_success + self.period <= Instant::now()
                        && let CallOutcome::Stopped(why) = self.send(None).await
                    {
                        return RunOutcome::lost(why);
                    }
                }
            }
        }
    }

    async fn send(&mut self, progress: Option<u8>) -> CallOutcome<HeartbeatAction> {
        let sent = Instant::now();
        let outcome = self.call(self.api.heartbeat(&self.claimed, progress)).await;
        if let CallOutcome::Accepted(_) = outcome {
            self.last_success = sent;
        }
        outcome
    }

    /// Makes one call, if the heartbeat timeout has not passed.
    async fn call<T>(&self, call: impl Future<Output = ApiResult<T>>) -> CallOutcome<T> {
        let deadline = self.last_success + self.timeout;
        if deadline <= Instant::now() {
            return CallOutcome::Stopped(StopReason::HeartbeatTimeout);
        }
        match timeout_at(deadline, call).await {
            Ok(Ok(Reply::Accepted(value))) => CallOutcome::Accepted(value),
            Ok(Ok(Reply::Fenced)) => CallOutcome::Stopped(StopReason::Fenced),
            Ok(Err(error)) => CallOutcome::Failed(error),
            Err(_elapsed) => CallOutcome::Stopped(StopReason::HeartbeatTimeout),
        }
    }

    /// Waits before the next try, but not past the heartbeat timeout.
    async fn back_off(&self, backoff: &mut Backoff, error: &ApiError) {
        let next = Instant::now() + backoff.next().max(error.retry_after());
        sleep_until(next.min(self.last_success + self.timeout)).await;
    }
}

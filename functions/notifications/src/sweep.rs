//! Finds what a lost message or a crashed instance left behind, and releases what comes due.
//!
//! Trigger: every minute. Effect: deliveries that could have been sent a while ago get another message;
//! those that come due within a quarter of an hour go from their bucket to their queue, to the second;
//! claims without an outcome for a minute are expired, which repeats the attempt or makes the delivery
//! `unknown`. Guarantee: a delivery whose message was lost goes on within minutes; a run that
//! is cut off or doubled sends a message too many and does nothing twice. Absent: a check of
//! opt-outs. `notify` and `deliver` withdraw what a user opts out of, and every claim checks it.

use crate::store::Notifications;
use crate::store::{ApplyOutcome, ListedDelivery};
use boundary::schedule::{Run, Summary, Task};
use boundary::telemetry::{Unit, measure};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::notifications::due::{DueBucket, Schedule, schedule};
use domain::notifications::{CLAIM_SECONDS, Delivery, Event, Priority, Status};
use domain::{Result, Timestamp};
use messaging::DeliveryQueues;
use serde_json::json;

use crate::delivery_queues;

/// Read at once of each list; a run goes on where the last one stopped.
const PAGE: i32 = 250;

/// Pages of one bucket that a run reads at most.
const MAX_PAGES: usize = 40;

/// The first sweep ever begins with buckets of so long ago.
const FIRST_LOOK_SECONDS: i64 = 3_600;

/// Work is begun for so long; the next run goes on.
const BUDGET_MS: i64 = 40_000;

/// What the handler shares between runs.
#[derive(Debug)]
pub struct State {
    notifications: Notifications,
    queues: DeliveryQueues,
    clock: Clock,
    entropy: Entropy,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Task<State>, Misconfigured> {
    let state = State {
        notifications: Notifications::from_host(host)?,
        queues: delivery_queues(host)?,
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
    };
    Ok(Task::new(host, "sweepNotifications", state, |state, run| Box::pin(sweep(state, run))))
}

async fn sweep(state: &State, run: &Run) -> Result<Summary> {
    let trace = run.trace.traceparent();
    let lost = expire_claims(state, run, &trace).await?;
    let move_to_pending = release_due_buckets(state, run, &trace).await?;
    let overlooked = requeue_overlooked(state, run, &trace).await?;
    measure("NotificationsLost", Unit::Count, float(lost));
    measure("NotificationsOverlooked", Unit::Count, float(overlooked));
    let summary = json!({ "lost": lost, "released": move_to_pending, "overlooked": overlooked });
    Ok(summary.as_object().cloned().unwrap_or_default())
}

async fn expire_claims(state: &State, run: &Run, trace: &str) -> Result<usize> {
    let before = earlier(run.now, CLAIM_SECONDS * 1_000);
    let mut lost = 0;
    for list in 0..Notifications::LISTS {
        let mut after: Option<String> = None;
        while !state.is_late(run.now) {
            let page = state.notifications.sending(list, before, PAGE, after.as_deref()).await?;
            for listed in &page.items {
                lost += usize::from(expire_claim(state, listed, run.now, trace).await?);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(lost)
}

/// Expires the claim of a delivery; `false` if it has ended meanwhile.
async fn expire_claim(
    state: &State,
    listed: &ListedDelivery,
    now: Timestamp,
    trace: &str,
) -> Result<bool> {
    let event = Event::ClaimChecked { jitter: u64::from_be_bytes(state.entropy.bytes()) };
    let token = || state.entropy.token();
    let applied = state.notifications.apply(&listed.id, &event, now, token).await?;
    let ApplyOutcome::Changed { after, .. } = applied else { return Ok(false) };
    if after.status == Status::Unknown {
        measure("NotificationsUnknown", Unit::Count, 1.0);
    }
    // If this fails, the delivery is found among those that are pending.
    enqueue(state, &[*after], now, trace).await?;
    Ok(true)
}

/// Deliveries whose bucket comes due: first the message, then the index entry.
async fn release_due_buckets(state: &State, run: &Run, trace: &str) -> Result<usize> {
    let since = state.notifications.swept_until().await?;
    let since = since.unwrap_or_else(|| earlier(run.now, FIRST_LOOK_SECONDS * 1_000));
    let mut move_to_pending = 0;
    for bucket in DueBucket::to_sweep(since, run.now) {
        let mut after: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = state.notifications.due(&bucket, PAGE, after.as_deref()).await?;
            let listed = page.items.iter().map(|listed| &listed.id);
            let deliveries = state.notifications.deliveries(listed).await?;
            enqueue(state, &deliveries, run.now, trace).await?;
            for listed in &page.items {
                state.notifications.move_to_pending(listed).await?;
            }
            move_to_pending += page.items.len();
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if state.is_late(run.now) || after.is_some() {
            // The next run begins with the same buckets, and finds what is left in them.
            return Ok(move_to_pending);
        }
    }
    state.notifications.save_swept_until(run.now).await?;
    Ok(move_to_pending)
}

/// Deliveries that could have been sent a while ago: their message was lost, or their queue is long.
/// Either way another does no harm.
async fn requeue_overlooked(state: &State, run: &Run, trace: &str) -> Result<usize> {
    let before = earlier(run.now, overdue_after_ms(Priority::Critical));
    let mut overlooked = 0;
    for list in 0..Notifications::LISTS {
        let start = state.notifications.pending_position(list).await?;
        let page = state.notifications.pending(list, before, PAGE, start.as_deref()).await?;
        let old = |listed: &&ListedDelivery| {
            listed.at <= earlier(run.now, overdue_after_ms(listed.priority))
        };
        let old = page.items.iter().filter(old).map(|listed| &listed.id);
        let deliveries = state.notifications.deliveries(old).await?;
        enqueue(state, &deliveries, run.now, trace).await?;
        overlooked += deliveries.len();
        if page.next != start {
            state.notifications.save_pending_position(list, page.next.as_deref()).await?;
        }
        if state.is_late(run.now) {
            break;
        }
    }
    Ok(overlooked)
}

/// How long after it is due a delivery is taken for overlooked.
const fn overdue_after_ms(priority: Priority) -> i64 {
    match priority {
        Priority::Critical => 30_000,
        Priority::Normal => 60_000,
        Priority::Low => 600_000,
    }
}

/// Sends a message for each delivery that waits on a queue, delayed until it is due.
async fn enqueue(state: &State, deliveries: &[Delivery], now: Timestamp, trace: &str) -> Result {
    let due = deliveries.iter().filter(|delivery| delivery.status == Status::Pending);
    let due = due.filter_map(|delivery| match schedule(delivery.ready_at, now) {
        Schedule::Queue { delay_seconds } => Some((delivery, delay_seconds)),
        Schedule::Bucket => None,
    });
    state.queues.send_due(due, trace).await
}

impl State {
    fn is_late(&self, since: Timestamp) -> bool {
        self.clock.now().as_millisecond() - since.as_millisecond() > BUDGET_MS
    }
}

fn earlier(now: Timestamp, ms: i64) -> Timestamp {
    Timestamp::from_millisecond(now.as_millisecond() - ms).unwrap_or(now)
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

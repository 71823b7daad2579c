//! Finds what a lost message or a lost sender left behind, and releases what comes due.
//!
//! Trigger: every minute. Effect: deliveries that could have been sent a while ago get another message;
//! those that come due within a quarter of an hour go from their bucket to their queue, to the second;
//! attempts that nobody has ended for a minute are taken for lost, which repeats them or makes them
//! `unknown`. Guarantee: whatever message was lost, what it was about goes on within minutes; a run that
//! is cut off or doubled sends a message too many and does nothing twice. Absent: a look at what people
//! have opted out of. That is taken back before they are answered, or by a message that was sent before;
//! and every claim checks it.

use crate::store::Notifications;
use crate::store::{Applied, Listed};
use boundary::schedule::{Run, Summary, Task};
use boundary::telemetry::{Unit, measure};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::notifications::due::{Bucket, Place, place};
use domain::notifications::{CLAIM_SECONDS, Delivery, Event, Priority, Status};
use domain::{Failure, Timestamp};
use messaging::DeliveryQueues;
use serde_json::json;

/// Read at once of each list; a run goes on where the last one stopped.
const PAGE: i32 = 250;

/// Pages of one bucket that a run reads at most.
const MAX_PAGES: usize = 40;

/// Buckets are looked at from this long ago when nobody ever has.
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
    const QUEUES: &str = "DELIVERY_QUEUES";
    let queues = DeliveryQueues::new(host.aws.sqs(), host.vars.required(QUEUES)?);
    let state = State {
        notifications: Notifications::from_host(host)?,
        queues: queues.ok_or_else(|| Misconfigured {
            name: QUEUES.to_owned(),
            problem: "must be nine queues, separated by commas".to_owned(),
        })?,
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
    };
    Ok(Task::new(host, "sweepNotifications", state, |state, run| Box::pin(sweep(state, run))))
}

async fn sweep(state: &State, run: &Run) -> Result<Summary, Failure> {
    let trace = run.trace.traceparent();
    let lost = check_senders(state, run, &trace).await?;
    let released = release(state, run, &trace).await?;
    let overlooked = ring_again(state, run, &trace).await?;
    measure("NotificationsLost", Unit::Count, float(lost));
    measure("NotificationsOverlooked", Unit::Count, float(overlooked));
    let summary = json!({ "lost": lost, "released": released, "overlooked": overlooked });
    Ok(summary.as_object().cloned().unwrap_or_default())
}

/// Attempts that nobody has ended.
async fn check_senders(state: &State, run: &Run, trace: &str) -> Result<usize, Failure> {
    let before = earlier(run.now, CLAIM_SECONDS * 1_000);
    let mut lost = 0;
    for list in 0..Notifications::LISTS {
        let mut after: Option<String> = None;
        while !state.is_late(run.now) {
            let page = state.notifications.sending(list, before, PAGE, after.as_deref()).await?;
            for listed in &page.items {
                lost += usize::from(check(state, listed, run.now, trace).await?);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(lost)
}

/// Whether whoever claimed it was lost.
async fn check(
    state: &State,
    listed: &Listed,
    now: Timestamp,
    trace: &str,
) -> Result<bool, Failure> {
    let event = Event::Checked { jitter: u64::from_be_bytes(state.entropy.bytes()) };
    let token = || state.entropy.token();
    let applied = state.notifications.apply(&listed.id, &event, now, token).await?;
    let Applied::Changed { after, .. } = applied else { return Ok(false) };
    if after.status == Status::Unknown {
        measure("NotificationsUnknown", Unit::Count, 1.0);
    }
    // If this fails, the delivery is found among those that are pending.
    send(state, &[*after], now, trace).await?;
    Ok(true)
}

/// Deliveries whose bucket comes due: first the message, then the note that there is one.
async fn release(state: &State, run: &Run, trace: &str) -> Result<usize, Failure> {
    let since = state.notifications.due_until().await?;
    let since = since.unwrap_or_else(|| earlier(run.now, FIRST_LOOK_SECONDS * 1_000));
    let mut released = 0;
    for bucket in Bucket::closing(since, run.now) {
        let mut after: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = state.notifications.due(&bucket, PAGE, after.as_deref()).await?;
            let listed = page.items.iter().map(|listed| &listed.id);
            let deliveries = state.notifications.deliveries(listed).await?;
            send(state, &deliveries, run.now, trace).await?;
            for listed in &page.items {
                state.notifications.released(listed).await?;
            }
            released += page.items.len();
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if state.is_late(run.now) || after.is_some() {
            // The next run begins with the same buckets, and finds what is left in them.
            return Ok(released);
        }
    }
    state.notifications.note_due(run.now).await?;
    Ok(released)
}

/// Deliveries that could have been sent a while ago: their message was lost, or their queue is long.
/// Either way another does no harm.
async fn ring_again(state: &State, run: &Run, trace: &str) -> Result<usize, Failure> {
    let before = earlier(run.now, patience_ms(Priority::Critical));
    let mut overlooked = 0;
    for list in 0..Notifications::LISTS {
        let start = state.notifications.pending_position(list).await?;
        let page = state.notifications.pending(list, before, PAGE, start.as_deref()).await?;
        let old = |listed: &&Listed| listed.at <= earlier(run.now, patience_ms(listed.priority));
        let old = page.items.iter().filter(old).map(|listed| &listed.id);
        let deliveries = state.notifications.deliveries(old).await?;
        send(state, &deliveries, run.now, trace).await?;
        overlooked += deliveries.len();
        if page.next != start {
            state.notifications.note_pending(list, page.next.as_deref()).await?;
        }
        if state.is_late(run.now) {
            break;
        }
    }
    Ok(overlooked)
}

/// How long what is due may wait for somebody to look before it is taken for forgotten.
const fn patience_ms(priority: Priority) -> i64 {
    match priority {
        Priority::Critical => 30_000,
        Priority::Normal => 60_000,
        Priority::Low => 600_000,
    }
}

/// Says that deliveries are due, each at its time; what does not wait, or not on a queue, is left out.
async fn send(
    state: &State,
    deliveries: &[Delivery],
    now: Timestamp,
    trace: &str,
) -> Result<(), Failure> {
    let due = deliveries.iter().filter(|delivery| delivery.status == Status::Pending);
    let due = due.filter_map(|delivery| match place(delivery.ready_at, now) {
        Place::Queue { delay_seconds } => Some((delivery, delay_seconds)),
        Place::Bucket => None,
    });
    state.queues.due(due, trace).await
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

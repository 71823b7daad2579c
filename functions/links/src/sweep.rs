//! Looks at every link again, destination by destination, a stretch a minute.
//!
//! Trigger: every minute. Effect: links to destinations that are on the blocklist, or that the
//! reputation service lists, are blocked; what a destination says of itself is fetched once and then
//! monthly; of links that were deleted 30 days ago only the code is kept; a destination that many strangers shorten is reported to the admins. Guarantee: the walk
//! goes on where the last run stopped and comes by every link; a run that is cut off or doubled does
//! nothing twice; a fetch never reaches a private address.

mod look;

use std::collections::{BTreeSet, HashMap};

use crate::store::Links;
use crate::store::{Amended, Report, Seen};
use boundary::schedule::{Run, Summary, Task};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::Failure;
use domain::links::scan::{ScanAction, Inspection, is_mass_shortened, decide_action};
use futures::StreamExt;
use futures::stream;
use outside::{Fetcher, Reputation};
use serde_json::json;

/// Links looked at in one request to the store.
const STRETCH: i32 = 200;

/// Links looked at in one run.
const MOST: usize = 5_000;

/// A run leaves its function time to note where it stopped.
const BUDGET_MS: i64 = 40_000;

/// Destinations asked at the same time.
const AT_ONCE: usize = 16;

/// What the handler shares between runs.
#[derive(Debug)]
pub struct State {
    links: Links,
    clock: Clock,
    entropy: Entropy,
    fetcher: Fetcher,
    reputation: Reputation,
    fetches_previews: bool,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Task<State>, Misconfigured> {
    let state = State {
        links: Links::from_host(host)?,
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
        fetcher: Fetcher::new(host.network.clone()),
        reputation: Reputation::from_key(host.vars.optional("WEB_RISK_KEY")),
        fetches_previews: host.vars.optional("FETCH_PREVIEWS") == Some("true"),
    };
    Ok(Task::new(host, "sweepLinks", state, |state, run| Box::pin(sweep(state, run))))
}

/// What a run did.
#[derive(Debug, Default)]
struct Done {
    seen: usize,
    blocked: usize,
    looked_at: usize,
    forgotten: usize,
    reported: usize,
    failed: Option<Failure>,
}

async fn sweep(state: &State, run: &Run) -> Result<Summary, Failure> {
    let blocklist = state.links.blocklist().await?;
    let blocklist: HashMap<String, String> =
        blocklist.into_iter().map(|entry| (entry.key, entry.reason)).collect();
    let (mut position, version) = state.links.sweep_position().await?;
    let mut done = Done::default();
    let mut crowd = Crowd::default();
    loop {
        let stretch = state.links.stretch(position.as_deref(), STRETCH).await?;
        done.seen += stretch.seen.len();
        for seen in stretch.seen.iter().filter(|seen| seen.link.deleted_at.is_none()) {
            if let Some(report) = crowd.add(seen, run.now) {
                state.links.report(&report).await?;
                done.reported += 1;
            }
        }
        look_at(state, run, &blocklist, stretch.seen, &mut done).await;
        position = stretch.next;
        let late = state.clock.now().as_millisecond() - run.now.as_millisecond() > BUDGET_MS;
        if position.is_none() || late || done.seen >= MOST {
            break;
        }
    }
    state.links.note_sweep(position.as_deref(), version).await?;
    if let Some(failure) = done.failed {
        return Err(failure);
    }
    let summary = json!({
        "seen": done.seen, "blocked": done.blocked, "looked_at": done.looked_at,
        "forgotten": done.forgotten, "reported": done.reported, "finished": position.is_none(),
    });
    Ok(summary.as_object().cloned().unwrap_or_default())
}

/// One link that can't be looked at must not keep the others waiting; it comes round again.
async fn look_at(
    state: &State,
    run: &Run,
    blocklist: &HashMap<String, String>,
    seen: Vec<Seen>,
    done: &mut Done,
) {
    let work = stream::iter(seen).map(|seen| async move {
        let listed = look::listed(blocklist, &seen.link);
        let inspection = Inspection { blocklist_reason, ..look::sight(state, &seen.link, run.now).await };
        let finding = decide_action(&seen.link, inspection, run.now);
        let next = match &finding {
            ScanAction::Keep => return Ok(finding),
            ScanAction::SavePreview(link) => {
                state.links.note_preview(link).await?;
                return Ok(finding);
            }
            ScanAction::Block(link) | ScanAction::Purge(link) => link,
        };
        // Losing means that its owner changed it just now; the next walk looks again.
        let amended = state.links.amend(next, &state.entropy.token()).await?;
        Ok::<_, Failure>(if amended == Amended::Amended { finding } else { ScanAction::Keep })
    });
    let mut work = work.buffer_unordered(AT_ONCE);
    while let Some(outcome) = work.next().await {
        match outcome {
            Ok(ScanAction::Block(_)) => done.blocked += 1,
            Ok(ScanAction::SavePreview(_)) => done.looked_at += 1,
            Ok(ScanAction::Purge(_)) => done.forgotten += 1,
            Ok(ScanAction::Keep) => {}
            Err(failure) => done.failed = Some(failure),
        }
    }
}

/// Strangers who shorten one destination: the walk meets them one after the other.
#[derive(Debug, Default)]
struct Crowd {
    destination: String,
    owners: BTreeSet<String>,
    anonymous: usize,
}

impl Crowd {
    /// The report, once, when the crowd has become one.
    fn add(&mut self, seen: &Seen, now: domain::Timestamp) -> Option<Report> {
        if self.destination != seen.destination {
            *self = Self { destination: seen.destination.clone(), ..Self::default() };
        }
        let was = is_mass_shortened(self.owners.len(), self.anonymous);
        match &seen.link.owner {
            Some(owner) => _ = self.owners.insert(owner.as_str().to_owned()),
            None => self.anonymous += 1,
        }
        let grown = !was && is_mass_shortened(self.owners.len(), self.anonymous);
        grown.then(|| look::crowd_report(seen, self.owners.len(), self.anonymous, now))
    }
}

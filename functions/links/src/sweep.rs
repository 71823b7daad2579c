//! Inspects every link again, by destination, some pages of links a minute.
//!
//! Trigger: every minute. Effect: links to destinations that are on the blocklist, or that the
//! reputation service lists, are blocked; a destination's preview is fetched once and then monthly; of
//! links that were deleted 30 days ago only the code is kept; a destination that many users shorten is
//! reported to the admins. Guarantee: the scan goes on where the last run stopped and reaches every
//! link; a run that is cut off or doubled does nothing twice; a fetch never reaches a private address.

mod inspection;

use std::collections::{BTreeSet, HashMap};

use crate::store::Links;
use crate::store::{AbuseReport, AmendOutcome, ScannedLink};
use boundary::schedule::{Run, Summary, Task};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::links::scan::{ScanAction, decide_action, is_mass_shortened};
use domain::{Failure, Result};
use egress::{Fetcher, Reputation};
use futures::StreamExt;
use futures::stream;
use serde_json::json;

/// Links read with one call.
const PAGE: i32 = 200;

/// Links inspected in one run.
const MAX_LINKS: usize = 5_000;

/// A run leaves its function time to save where it stopped.
const BUDGET_MS: i64 = 40_000;

/// Links inspected at the same time.
const CONCURRENCY: usize = 16;

/// The state that runs share.
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

#[derive(Debug, Default)]
struct SweepCounts {
    scanned: usize,
    blocked: usize,
    previews_saved: usize,
    purged: usize,
    reported: usize,
    failed: Option<Failure>,
}

async fn sweep(state: &State, run: &Run) -> Result<Summary> {
    let blocklist = state.links.blocklist().await?;
    let blocklist: HashMap<String, String> =
        blocklist.into_iter().map(|entry| (entry.key, entry.reason)).collect();
    let (mut position, version) = state.links.scan_position().await?;
    let mut counts = SweepCounts::default();
    let mut mass_shortening = MassShortening::default();
    loop {
        let page = state.links.scan_page(position.as_deref(), PAGE).await?;
        counts.scanned += page.links.len();
        for scanned in page.links.iter().filter(|scanned| scanned.link.deleted_at.is_none()) {
            if let Some(report) = mass_shortening.add(scanned, run.now) {
                state.links.report(&report).await?;
                counts.reported += 1;
            }
        }
        inspect_links(state, run, &blocklist, page.links, &mut counts).await;
        position = page.next;
        let late = state.clock.now().as_millisecond() - run.now.as_millisecond() > BUDGET_MS;
        if position.is_none() || late || counts.scanned >= MAX_LINKS {
            break;
        }
    }
    state.links.save_scan_position(position.as_deref(), version).await?;
    if let Some(failure) = counts.failed {
        return Err(failure);
    }
    let summary = json!({
        "seen": counts.scanned, "blocked": counts.blocked, "looked_at": counts.previews_saved,
        "forgotten": counts.purged, "reported": counts.reported, "finished": position.is_none(),
    });
    Ok(summary.as_object().cloned().unwrap_or_default())
}

/// A link whose inspection fails does not stop the others; the next walk inspects it again.
async fn inspect_links(
    state: &State,
    run: &Run,
    blocklist: &HashMap<String, String>,
    links: Vec<ScannedLink>,
    counts: &mut SweepCounts,
) {
    let work = stream::iter(links).map(|scanned| async move {
        let inspection = inspection::inspect(state, blocklist, &scanned.link, run.now).await;
        let action = decide_action(&scanned.link, inspection, run.now);
        let next = match &action {
            ScanAction::Keep => return Ok(action),
            ScanAction::SavePreview(link) => {
                state.links.save_preview(link).await?;
                return Ok(action);
            }
            ScanAction::Block(link) | ScanAction::Purge(link) => link,
        };
        // Its owner changed it just now; the next walk inspects it again.
        let amended = state.links.amend(next, &state.entropy.token()).await?;
        Ok::<_, Failure>(if amended == AmendOutcome::Amended { action } else { ScanAction::Keep })
    });
    let mut work = work.buffer_unordered(CONCURRENCY);
    while let Some(outcome) = work.next().await {
        match outcome {
            Ok(ScanAction::Block(_)) => counts.blocked += 1,
            Ok(ScanAction::SavePreview(_)) => counts.previews_saved += 1,
            Ok(ScanAction::Purge(_)) => counts.purged += 1,
            Ok(ScanAction::Keep) => {}
            Err(failure) => counts.failed = Some(failure),
        }
    }
}

/// Counts the owners of links to one destination, which the scan reads one after the other.
#[derive(Debug, Default)]
struct MassShortening {
    destination: String,
    owners: BTreeSet<String>,
    anonymous: usize,
}

impl MassShortening {
    /// The report, when this link makes them enough.
    fn add(&mut self, scanned: &ScannedLink, now: domain::Timestamp) -> Option<AbuseReport> {
        if self.destination != scanned.destination {
            *self = Self { destination: scanned.destination.clone(), ..Self::default() };
        }
        let was_reported = is_mass_shortened(self.owners.len(), self.anonymous);
        match &scanned.link.owner {
            Some(owner) => _ = self.owners.insert(owner.as_str().to_owned()),
            None => self.anonymous += 1,
        }
        let report = !was_reported && is_mass_shortened(self.owners.len(), self.anonymous);
        report.then(|| {
            inspection::mass_shortening_report(scanned, self.owners.len(), self.anonymous, now)
        })
    }
}

//! Inspects a link's destinations: blocklist, reputation service, preview.

use std::collections::HashMap;

use crate::store::{AbuseReport, ScannedLink};
use domain::Timestamp;
use domain::links::scan::{Inspection, preview_is_due};
use domain::links::{Link, LinkPreview};
use egress::{FetchLimits, PagePreview, ReputationVerdict};
use sha2::{Digest, Sha256};

use crate::sweep::State;

const DAY_MS: i64 = 24 * 3600 * 1000;

/// Asks the reputation service and, when it is due, the destination itself. A link is never blocked
/// because one of them does not answer.
pub(crate) async fn inspect(
    state: &State,
    blocklist: &HashMap<String, String>,
    link: &Link,
    now: Timestamp,
) -> Inspection {
    let mut keys = link.terms.destinations().flat_map(domain::links::Target::block_keys);
    let blocklist_reason = keys.find_map(|key| blocklist.get(&key).cloned());
    let mut inspection = Inspection { blocklist_reason, ..Inspection::default() };
    if link.blocked.is_some() || link.deleted_at.is_some() {
        return inspection;
    }
    for target in link.terms.destinations() {
        if let Ok(ReputationVerdict::Listed(threat)) =
            state.reputation.check(&state.fetcher, target.as_str()).await
        {
            inspection.threat = Some(threat);
            return inspection;
        }
    }
    if state.fetches_previews && preview_is_due(link, now) {
        let fetched = state.fetcher.get(link.terms.long_url.as_str(), FetchLimits::default()).await;
        match fetched {
            Ok(fetched) => {
                let PagePreview { title, description, image, .. } =
                    PagePreview::from_page(&fetched);
                inspection.preview = Some(LinkPreview { title, description, image });
            }
            Err(_) => inspection.unreachable = true,
        }
    }
    inspection
}

/// One report a destination and day: its id follows from both.
pub(crate) fn mass_shortening_report(
    scanned: &ScannedLink,
    owners: usize,
    anonymous: usize,
    now: Timestamp,
) -> AbuseReport {
    let hash = Sha256::digest(scanned.destination.as_bytes());
    let mut eight = [0; 8];
    eight.copy_from_slice(&hash[..8]);
    let day = now.as_millisecond().div_euclid(DAY_MS) * DAY_MS;
    let day = Timestamp::from_millisecond(day).unwrap_or(now);
    AbuseReport {
        id: AbuseReport::id_at(day, u64::from_be_bytes(eight)),
        domain: scanned.link.domain.clone(),
        code: scanned.link.code.clone(),
        reason: "spam".to_owned(),
        details: Some(format!(
            "{owners} accounts and {anonymous} anonymous links lead to one destination"
        )),
        at: now,
    }
}

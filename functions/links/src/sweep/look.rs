//! What can be known of a link's destination today.

use std::collections::HashMap;

use crate::store::{Report, Seen};
use domain::Timestamp;
use domain::links::scan::{Sighting, is_due};
use domain::links::{Link, Preview};
use outside::{FetchLimits, PagePreview, ReputationVerdict};
use sha2::{Digest, Sha256};

use crate::sweep::State;

const DAY_MS: i64 = 24 * 3600 * 1000;

/// Why the blocklist has one of the link's destinations, if it does.
pub(crate) fn listed(blocklist: &HashMap<String, String>, link: &Link) -> Option<String> {
    let mut keys = link.terms.destinations().flat_map(domain::links::Target::block_keys);
    keys.find_map(|key| blocklist.get(&key).cloned())
}

/// Asks the reputation service and, when it is due, the destination itself. Who does not answer has
/// said nothing: a link is never blocked for that.
pub(crate) async fn sight(state: &State, link: &Link, now: Timestamp) -> Sighting {
    let mut sighting = Sighting::default();
    if link.blocked.is_some() || link.deleted_at.is_some() {
        return sighting;
    }
    for target in link.terms.destinations() {
        if let Ok(ReputationVerdict::Listed(threat)) =
            state.reputation.check(&state.fetcher, target.as_str()).await
        {
            sighting.threat = Some(threat);
            return sighting;
        }
    }
    if state.fetches_previews && is_due(link, now) {
        let fetched = state.fetcher.get(link.terms.long_url.as_str(), FetchLimits::default()).await;
        match fetched {
            Ok(fetched) => {
                let PagePreview { title, description, image, .. } =
                    PagePreview::from_page(&fetched);
                sighting.preview = Some(Preview { title, description, image });
            }
            Err(_) => sighting.silent = true,
        }
    }
    sighting
}

/// One report a destination and day: its id follows from both.
pub(crate) fn crowd_report(seen: &Seen, owners: usize, nobodys: usize, now: Timestamp) -> Report {
    let hash = Sha256::digest(seen.destination.as_bytes());
    let mut eight = [0; 8];
    eight.copy_from_slice(&hash[..8]);
    let day = now.as_millisecond().div_euclid(DAY_MS) * DAY_MS;
    let day = Timestamp::from_millisecond(day).unwrap_or(now);
    Report {
        id: Report::id_at(day, u64::from_be_bytes(eight)),
        domain: seen.link.domain.clone(),
        code: seen.link.code.clone(),
        reason: "spam".to_owned(),
        details: Some(format!(
            "{owners} accounts and {nobodys} links of nobody's lead to one place"
        )),
        at: now,
    }
}

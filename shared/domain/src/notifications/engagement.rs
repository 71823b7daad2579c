//! Opens and clicks: by a person or by a machine, where that can be told.
//!
//! Mail servers follow links to see what is behind them, and mail programs prefetch images.
//! A request that names a program, a prefetch, or one that comes faster than a person
//! could is classified as a machine's; everything else a person's. Absent: certainty.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::links::user_agent::{self, AgentKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    Person,
    Machine,
}

/// What is known of a request for an image or a link.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrackedRequest<'a> {
    /// Its `User-Agent`.
    pub user_agent: Option<&'a str>,
    /// Its `Sec-Purpose`, `Purpose` or `X-Moz`.
    pub purpose: Option<&'a str>,
    /// Whether it only wanted the headers.
    pub head: bool,
    /// When the mail was delivered, if that is known.
    pub delivered_at: Option<Timestamp>,
}

/// A request this soon after the delivery is a machine's.
const TOO_FAST_MS: i64 = 2_000;

/// Loads images for people who have just opened a mail, so that senders do not see who they are.
const PROXY_FOR_PEOPLE: &str = "GoogleImageProxy";

/// Who asked, as far as that can be told.
pub fn label(visit: &TrackedRequest<'_>, now: Timestamp) -> Actor {
    let prefetch = visit.purpose.is_some_and(|purpose| {
        let purpose = purpose.to_ascii_lowercase();
        purpose.contains("prefetch") || purpose.contains("preview")
    });
    let too_fast = visit
        .delivered_at
        .is_some_and(|at| now.as_millisecond() - at.as_millisecond() < TOO_FAST_MS);
    if visit.head || prefetch || too_fast {
        return Actor::Machine;
    }
    if visit.user_agent.is_some_and(|agent| agent.contains(PROXY_FOR_PEOPLE)) {
        return Actor::Person;
    }
    match user_agent::parse(visit.user_agent).kind {
        AgentKind::Person => Actor::Person,
        AgentKind::Bot | AgentKind::Preview => Actor::Machine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHROME: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like \
                          Gecko) Chrome/126.0.0.0 Safari/537.36";

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_772_323_200_000 + ms).unwrap()
    }

    #[test]
    fn machines_are_told_by_name_by_purpose_and_by_haste() {
        let person = TrackedRequest {
            user_agent: Some(CHROME),
            delivered_at: Some(at(0)),
            ..TrackedRequest::default()
        };
        let gmail = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com \
                     GoogleImageProxy)";
        for (visit, ms, by) in [
            (person, 60_000, Actor::Person),
            (person, 2_000, Actor::Person),
            (person, 1_999, Actor::Machine),
            (person, -5_000, Actor::Machine),
            (TrackedRequest { delivered_at: None, ..person }, 0, Actor::Person),
            (TrackedRequest { head: true, ..person }, 60_000, Actor::Machine),
            (
                TrackedRequest { purpose: Some("prefetch;prerender"), ..person },
                60_000,
                Actor::Machine,
            ),
            (TrackedRequest { purpose: Some("Preview"), ..person }, 60_000, Actor::Machine),
            (TrackedRequest { user_agent: None, ..person }, 60_000, Actor::Machine),
            (TrackedRequest { user_agent: Some("Mozilla/5.0"), ..person }, 60_000, Actor::Machine),
            (
                TrackedRequest { user_agent: Some("python-requests/2.32"), ..person },
                60_000,
                Actor::Machine,
            ),
            (
                TrackedRequest { user_agent: Some("Slackbot-LinkExpanding 1.0"), ..person },
                60_000,
                Actor::Machine,
            ),
            (TrackedRequest { user_agent: Some(gmail), ..person }, 60_000, Actor::Person),
        ] {
            assert_eq!(label(&visit, at(ms)), by, "{visit:?} after {ms} ms");
        }
    }
}

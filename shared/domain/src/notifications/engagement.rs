//! Opens and clicks: by a person or by a machine, where that can be told.
//!
//! Mail servers follow links to see what is behind them, and mail programs load images before anybody
//! looks. What says that it is a program, asks without wanting to read, or comes faster than anybody
//! could is labelled a machine's; everything else a person's. Absent: certainty.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::links::user_agent::{self, AgentKind};

/// Who it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    Person,
    Machine,
}

/// What is known of a request for an image or a link.
#[derive(Debug, Clone, Copy, Default)]
pub struct Visit<'a> {
    /// Its `User-Agent`.
    pub user_agent: Option<&'a str>,
    /// Its `Sec-Purpose`, `Purpose` or `X-Moz`.
    pub purpose: Option<&'a str>,
    /// Whether it only wanted the headers.
    pub head: bool,
    /// When the mail was delivered, if that is known.
    pub delivered_at: Option<Timestamp>,
}

/// Nobody reads a mail and follows a link in it within so long.
const TOO_FAST_MS: i64 = 2_000;

/// Loads images for people who have just opened a mail, so that senders do not see who they are.
const PROXY_FOR_PEOPLE: &str = "GoogleImageProxy";

/// Who asked, as far as that can be told.
pub fn label(visit: &Visit<'_>, now: Timestamp) -> Who {
    let prefetch = visit.purpose.is_some_and(|purpose| {
        let purpose = purpose.to_ascii_lowercase();
        purpose.contains("prefetch") || purpose.contains("preview")
    });
    let too_fast = visit
        .delivered_at
        .is_some_and(|at| now.as_millisecond() - at.as_millisecond() < TOO_FAST_MS);
    if visit.head || prefetch || too_fast {
        return Who::Machine;
    }
    if visit.user_agent.is_some_and(|agent| agent.contains(PROXY_FOR_PEOPLE)) {
        return Who::Person;
    }
    match user_agent::parse(visit.user_agent).kind {
        AgentKind::Person => Who::Person,
        AgentKind::Bot | AgentKind::Preview => Who::Machine,
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
        let person =
            Visit { user_agent: Some(CHROME), delivered_at: Some(at(0)), ..Visit::default() };
        let gmail = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com \
                     GoogleImageProxy)";
        for (visit, ms, by) in [
            (person, 60_000, Who::Person),
            (person, 2_000, Who::Person),
            (person, 1_999, Who::Machine),
            (person, -5_000, Who::Machine),
            (Visit { delivered_at: None, ..person }, 0, Who::Person),
            (Visit { head: true, ..person }, 60_000, Who::Machine),
            (Visit { purpose: Some("prefetch;prerender"), ..person }, 60_000, Who::Machine),
            (Visit { purpose: Some("Preview"), ..person }, 60_000, Who::Machine),
            (Visit { user_agent: None, ..person }, 60_000, Who::Machine),
            (Visit { user_agent: Some("Mozilla/5.0"), ..person }, 60_000, Who::Machine),
            (Visit { user_agent: Some("python-requests/2.32"), ..person }, 60_000, Who::Machine),
            (
                Visit { user_agent: Some("Slackbot-LinkExpanding 1.0"), ..person },
                60_000,
                Who::Machine,
            ),
            (Visit { user_agent: Some(gmail), ..person }, 60_000, Who::Person),
        ] {
            assert_eq!(label(&visit, at(ms)), by, "{visit:?} after {ms} ms");
        }
    }
}

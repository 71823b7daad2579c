//! What the sweep does about a link after inspecting its destinations.
//!
//! A link is blocked for what is known of it, never for what is not: a destination or a reputation
//! service that does not answer changes nothing. Blocked links stay blocked until an admin unblocks
//! them; the scan blocks them again unless the admin takes the destination off the blocklist first.

use super::{Link, LinkPreview};
use crate::Timestamp;

/// A destination's preview is fetched once a month.
const DUE_SECONDS: i64 = 30 * 24 * 3600;

/// So many accounts, or so many anonymous links, that lead to one destination are reported.
const MASS_OWNERS: usize = 20;
const MASS_ANONYMOUS: usize = 100;

/// The result of inspecting a link's destinations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Why the blocklist has one of them.
    pub blocklist_reason: Option<String>,
    /// What the reputation service calls one of them.
    pub threat: Option<String>,
    /// The main destination's preview, if it was fetched.
    pub preview: Option<LinkPreview>,
    /// Whether it could not be fetched.
    pub unreachable: bool,
}

/// The change that an inspection leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanAction {
    Keep,
    /// Write this version, which is blocked.
    Block(Link),
    /// Save this version's preview.
    SavePreview(Link),
    /// Write this version, of which only the code is left.
    Purge(Link),
}

pub fn decide_action(link: &Link, inspection: Inspection, now: Timestamp) -> ScanAction {
    if link.deleted_at.is_some() {
        let forgotten = link.purged(now).filter(|_| !link.is_purged());
        return forgotten.map_or(ScanAction::Keep, ScanAction::Purge);
    }
    if link.blocked.is_some() {
        return ScanAction::Keep;
    }
    if let Some(reason) = inspection.blocklist_reason {
        return ScanAction::Block(link.blocked(&reason, now));
    }
    if let Some(threat) = inspection.threat {
        let reason = format!("The destination is listed as {}.", threat.to_lowercase());
        return ScanAction::Block(link.blocked(&reason, now));
    }
    match inspection.preview {
        Some(preview) => ScanAction::SavePreview(link.scanned(preview, now)),
        None if inspection.unreachable => {
            ScanAction::SavePreview(link.scanned(link.preview.clone(), due_tomorrow(now)))
        }
        None => ScanAction::Keep,
    }
}

/// The `scanned_at` that makes the next fetch due in a day.
fn due_tomorrow(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second() - DUE_SECONDS + 24 * 3600).unwrap_or(now)
}

/// Whether the destination's preview is to be fetched.
pub fn preview_is_due(link: &Link, now: Timestamp) -> bool {
    let age = |at: Timestamp| now.as_second() - at.as_second();
    link.is_live(now) && link.scanned_at.is_none_or(|at| age(at) >= DUE_SECONDS)
}

/// Whether so many links to one destination are to be reported to the admins.
pub const fn is_mass_shortened(owners: usize, anonymous: usize) -> bool {
    owners >= MASS_OWNERS || anonymous >= MASS_ANONYMOUS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::{Code, LinkTerms, Target};

    fn link() -> Link {
        let terms = LinkTerms::plain(Target::stored("https://example.com/"));
        Link::new("", Code::parse("abcdefg").unwrap(), None, terms, at(0))
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn what_is_listed_is_blocked_and_says_why() {
        let listed =
            Inspection { blocklist_reason: Some("Phishing.".to_owned()), ..Inspection::default() };
        let threat = Inspection { threat: Some("MALWARE".to_owned()), ..Inspection::default() };
        for (inspection, reason) in
            [(listed, "Phishing."), (threat, "The destination is listed as malware.")]
        {
            let ScanAction::Block(next) = decide_action(&link(), inspection, at(9)) else {
                panic!("{reason}")
            };
            assert_eq!(next.blocked.unwrap().reason, reason);
            assert_eq!(next.version, 2);
        }
    }

    #[test]
    fn a_destination_that_does_not_answer_is_not_blocked() {
        assert_eq!(decide_action(&link(), Inspection::default(), at(9)), ScanAction::Keep);
    }

    #[test]
    fn what_is_gone_or_blocked_is_left_alone() {
        let listed =
            || Inspection { blocklist_reason: Some("x".to_owned()), ..Inspection::default() };
        assert_eq!(decide_action(&link().deleted(at(1)), listed(), at(9)), ScanAction::Keep);
        assert_eq!(decide_action(&link().blocked("y", at(1)), listed(), at(9)), ScanAction::Keep);
    }

    #[test]
    fn a_destination_is_asked_once_and_then_monthly() {
        assert!(preview_is_due(&link(), at(9)));
        let seen = Inspection { preview: Some(LinkPreview::default()), ..Inspection::default() };
        let ScanAction::SavePreview(next) = decide_action(&link(), seen, at(9)) else {
            panic!("not noted")
        };
        assert!(!preview_is_due(&next, at(9 + DUE_SECONDS - 1)));
        assert!(preview_is_due(&next, at(9 + DUE_SECONDS)));
        assert!(!preview_is_due(&next.blocked("x", at(10)), at(9 + DUE_SECONDS)));
    }

    #[test]
    fn a_destination_that_does_not_answer_is_asked_again_tomorrow() {
        let now = at(40 * 24 * 3600);
        let silent = Inspection { unreachable: true, ..Inspection::default() };
        let ScanAction::SavePreview(next) = decide_action(&link(), silent, now) else {
            panic!("not noted")
        };
        assert!(!preview_is_due(&next, at(now.as_second() + 24 * 3600 - 1)));
        assert!(preview_is_due(&next, at(now.as_second() + 24 * 3600)));
    }

    #[test]
    fn what_was_deleted_long_ago_is_forgotten_once() {
        let deleted = link().deleted(at(1));
        let late = at(1 + crate::links::link::RESTORE_SECONDS);
        let ScanAction::Purge(next) = decide_action(&deleted, Inspection::default(), late) else {
            panic!("not forgotten")
        };
        assert_eq!(decide_action(&next, Inspection::default(), late), ScanAction::Keep);
    }

    #[test]
    fn many_accounts_or_very_many_anonymous_links_are_reported() {
        for (owners, anonymous, reported) in
            [(19, 99, false), (20, 0, true), (0, 100, true), (1, 0, false)]
        {
            assert_eq!(is_mass_shortened(owners, anonymous), reported, "{owners} {anonymous}");
        }
    }
}

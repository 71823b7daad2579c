//! What a second look at a link leads to.
//!
//! A link is blocked for what is known of it, never for what is not: a destination or a reputation
//! service that does not answer changes nothing. Blocked links stay blocked until an admin says
//! otherwise, and the list has priority over the admin's word: whoever unblocks takes it off first.

use super::{Link, LinkPreview};
use crate::Timestamp;

/// A destination is asked what it says of itself once a month.
const DUE_SECONDS: i64 = 30 * 24 * 3600;

/// So many accounts, or so many links of nobody's, that lead to one place are a crowd.
const MASS_OWNERS: usize = 20;
const MASS_ANONYMOUS: usize = 100;

/// What was found out about a link's destinations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Why the blocklist has one of them.
    pub blocklist_reason: Option<String>,
    /// What the reputation service calls one of them.
    pub threat: Option<String>,
    /// What the destination says of itself, if it was asked and answered.
    pub preview: Option<LinkPreview>,
    /// Whether it was asked and did not answer.
    pub unreachable: bool,
}

/// What to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanAction {
    Keep,
    /// Write this version, which is blocked.
    Block(Link),
    /// Note what is known of the destination now.
    SavePreview(Link),
    /// Write this version, of which only the code is left.
    Purge(Link),
}

/// Decides about one link.
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

/// When a look would have to have been for the next one to be due in a day.
fn due_tomorrow(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second() - DUE_SECONDS + 24 * 3600).unwrap_or(now)
}

/// Whether the destination is to be asked what it says of itself.
pub fn preview_is_due(link: &Link, now: Timestamp) -> bool {
    let age = |at: Timestamp| now.as_second() - at.as_second();
    link.is_live(now) && link.scanned_at.is_none_or(|at| age(at) >= DUE_SECONDS)
}

/// Whether what leads to one place is worth an admin's look.
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
    fn silence_blocks_nobody() {
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
    fn a_crowd_is_many_accounts_or_very_many_of_nobody() {
        for (owners, anonymous, crowd) in
            [(19, 99, false), (20, 0, true), (0, 100, true), (1, 0, false)]
        {
            assert_eq!(is_mass_shortened(owners, anonymous), crowd, "{owners} {anonymous}");
        }
    }
}

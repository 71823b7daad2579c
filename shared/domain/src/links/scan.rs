//! What a second look at a link leads to.
//!
//! A link is blocked for what is known of it, never for what is not: a destination or a reputation
//! service that does not answer changes nothing. Blocked links stay blocked until an admin says
//! otherwise, and the list has priority over the admin's word: whoever unblocks takes it off first.

use super::{Link, Preview};
use crate::Timestamp;

/// A destination is asked what it says of itself once a month.
const DUE_SECONDS: i64 = 30 * 24 * 3600;

/// So many accounts, or so many links of nobody's, that lead to one place are a crowd.
const CROWD_OWNERS: usize = 20;
const CROWD_NOBODYS: usize = 100;

/// What was found out about a link's destinations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sighting {
    /// Why the blocklist has one of them.
    pub listed: Option<String>,
    /// What the reputation service calls one of them.
    pub threat: Option<String>,
    /// What the destination says of itself, if it was asked and answered.
    pub preview: Option<Preview>,
    /// Whether it was asked and did not answer.
    pub silent: bool,
}

/// What to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    Leave,
    /// Write this version, which is blocked.
    Block(Link),
    /// Note what is known of the destination now.
    Note(Link),
    /// Write this version, of which only the code is left.
    Forget(Link),
}

/// Decides about one link.
pub fn judge(link: &Link, sighting: Sighting, now: Timestamp) -> Finding {
    if link.deleted_at.is_some() {
        let forgotten = link.forgotten(now).filter(|_| !link.is_forgotten());
        return forgotten.map_or(Finding::Leave, Finding::Forget);
    }
    if link.blocked.is_some() {
        return Finding::Leave;
    }
    if let Some(reason) = sighting.listed {
        return Finding::Block(link.blocked(&reason, now));
    }
    if let Some(threat) = sighting.threat {
        let reason = format!("The destination is listed as {}.", threat.to_lowercase());
        return Finding::Block(link.blocked(&reason, now));
    }
    match sighting.preview {
        Some(preview) => Finding::Note(link.scanned(preview, now)),
        None if sighting.silent => Finding::Note(link.scanned(link.preview.clone(), tomorrow(now))),
        None => Finding::Leave,
    }
}

/// When a look would have to have been for the next one to be due in a day.
fn tomorrow(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second() - DUE_SECONDS + 24 * 3600).unwrap_or(now)
}

/// Whether the destination is to be asked what it says of itself.
pub fn is_due(link: &Link, now: Timestamp) -> bool {
    let age = |at: Timestamp| now.as_second() - at.as_second();
    link.is_live(now) && link.scanned_at.is_none_or(|at| age(at) >= DUE_SECONDS)
}

/// Whether what leads to one place is worth an admin's look.
pub const fn is_crowd(owners: usize, nobodys: usize) -> bool {
    owners >= CROWD_OWNERS || nobodys >= CROWD_NOBODYS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::{Code, Target, Terms};

    fn link() -> Link {
        let terms = Terms::plain(Target::stored("https://example.com/"));
        Link::new("", Code::parse("abcdefg").unwrap(), None, terms, at(0))
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn what_is_listed_is_blocked_and_says_why() {
        let listed = Sighting { listed: Some("Phishing.".to_owned()), ..Sighting::default() };
        let threat = Sighting { threat: Some("MALWARE".to_owned()), ..Sighting::default() };
        for (sighting, reason) in
            [(listed, "Phishing."), (threat, "The destination is listed as malware.")]
        {
            let Finding::Block(next) = judge(&link(), sighting, at(9)) else { panic!("{reason}") };
            assert_eq!(next.blocked.unwrap().reason, reason);
            assert_eq!(next.version, 2);
        }
    }

    #[test]
    fn silence_blocks_nobody() {
        assert_eq!(judge(&link(), Sighting::default(), at(9)), Finding::Leave);
    }

    #[test]
    fn what_is_gone_or_blocked_is_left_alone() {
        let listed = || Sighting { listed: Some("x".to_owned()), ..Sighting::default() };
        assert_eq!(judge(&link().deleted(at(1)), listed(), at(9)), Finding::Leave);
        assert_eq!(judge(&link().blocked("y", at(1)), listed(), at(9)), Finding::Leave);
    }

    #[test]
    fn a_destination_is_asked_once_and_then_monthly() {
        assert!(is_due(&link(), at(9)));
        let seen = Sighting { preview: Some(Preview::default()), ..Sighting::default() };
        let Finding::Note(next) = judge(&link(), seen, at(9)) else { panic!("not noted") };
        assert!(!is_due(&next, at(9 + DUE_SECONDS - 1)));
        assert!(is_due(&next, at(9 + DUE_SECONDS)));
        assert!(!is_due(&next.blocked("x", at(10)), at(9 + DUE_SECONDS)));
    }

    #[test]
    fn a_destination_that_does_not_answer_is_asked_again_tomorrow() {
        let now = at(40 * 24 * 3600);
        let silent = Sighting { silent: true, ..Sighting::default() };
        let Finding::Note(next) = judge(&link(), silent, now) else { panic!("not noted") };
        assert!(!is_due(&next, at(now.as_second() + 24 * 3600 - 1)));
        assert!(is_due(&next, at(now.as_second() + 24 * 3600)));
    }

    #[test]
    fn what_was_deleted_long_ago_is_forgotten_once() {
        let deleted = link().deleted(at(1));
        let late = at(1 + crate::links::link::UNDO_SECONDS);
        let Finding::Forget(next) = judge(&deleted, Sighting::default(), late) else {
            panic!("not forgotten")
        };
        assert_eq!(judge(&next, Sighting::default(), late), Finding::Leave);
    }

    #[test]
    fn a_crowd_is_many_accounts_or_very_many_of_nobody() {
        for (owners, nobodys, crowd) in
            [(19, 99, false), (20, 0, true), (0, 100, true), (1, 0, false)]
        {
            assert_eq!(is_crowd(owners, nobodys), crowd, "{owners} {nobodys}");
        }
    }
}

//! A short link: where it leads, for whom, until when.
//!
//! Life: live → deleted (for 30 days it can be restored) → purged: only the code is kept, for ever, so
//! that no other user inherits a printed link or its clicks. Beside that a link may be blocked (by an
//! admin or the scan; 451), expired (410) or spent (its clicks are used up; its fallback, or 410).
//! Every change names the version it follows and makes the next one; only the destination's preview is
//! saved without. Absent: a change that undoes another unseen, a live link whose destination was never
//! checked, an expired link that looks like one that never was.

use super::code::Code;
use super::target::Target;
use super::{Tags, Utm};
use crate::accounts::UserId;
use crate::{Rejected, Timestamp};

/// How long a deleted link can be restored.
pub const RESTORE_SECONDS: i64 = 30 * 24 * 3600;

/// Stands for the destination of a purged link.
const PURGED_URL: &str = "https://forgotten.invalid/";

/// Destinations of one link at most.
pub const MAX_VARIANTS: usize = 10;

/// A short link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The custom domain it lives on; empty for the service's own.
    pub domain: String,
    /// Its code or alias, unique on its domain.
    pub code: Code,
    /// None if it was made without a key.
    pub owner: Option<UserId>,
    pub terms: LinkTerms,
    /// Names of what makes its destination suspicious.
    pub warnings: Vec<String>,
    /// The destination's title and picture, once the scan has fetched them.
    pub preview: LinkPreview,
    /// When the scan last fetched the destination.
    pub scanned_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    pub blocked: Option<LinkBlock>,
    /// When its clicks were used up.
    pub spent_at: Option<Timestamp>,
    /// Grows with each change.
    pub version: u64,
}

/// The part of a link that its owner sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTerms {
    /// Where it leads, as given.
    pub long_url: Target,
    /// Where it leads instead, by weight, if it splits its visitors.
    pub variants: Vec<Variant>,
    /// The status it answers with.
    pub redirect: Redirect,
    pub expires_at: Option<Timestamp>,
    /// After how many clicks it is spent.
    pub max_clicks: Option<u64>,
    /// Where it leads once its clicks are used up.
    pub fallback: Option<Target>,
    /// Whether a visitor's query goes on to the destination.
    pub forward_query: bool,
    /// Campaign parameters that every destination gets.
    pub utm: Utm,
    pub tags: Tags,
    pub note: Option<String>,
}

/// One of several destinations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Where it leads.
    pub url: Target,
    /// Its share, in relation to the others'.
    pub weight: u32,
}

/// The status of a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirect {
    /// 302, asked again each time.
    #[default]
    Found,
    /// 301, for search engines.
    Moved,
    /// 307, which keeps the method.
    Temporary,
}

/// A destination's own words for a preview card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkPreview {
    pub title: Option<String>,
    pub description: Option<String>,
    /// The picture's URL.
    pub image: Option<String>,
}

/// Why and when a link was blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkBlock {
    pub at: Timestamp,
    /// Shown to visitors.
    pub reason: String,
}

impl Redirect {
    pub const fn from_status(status: u16) -> Option<Self> {
        match status {
            301 => Some(Self::Moved),
            302 => Some(Self::Found),
            307 => Some(Self::Temporary),
            _ => None,
        }
    }

    pub const fn status(self) -> u16 {
        match self {
            Self::Moved => 301,
            Self::Found => 302,
            Self::Temporary => 307,
        }
    }
}

impl LinkTerms {
    /// Leads to `long_url` and nothing else.
    pub fn plain(long_url: Target) -> Self {
        Self {
            long_url,
            variants: Vec::new(),
            redirect: Redirect::default(),
            expires_at: None,
            max_clicks: None,
            fallback: None,
            forward_query: false,
            utm: Utm::default(),
            tags: Tags::default(),
            note: None,
        }
    }

    /// Checks what the types can't: what belongs together, and the time.
    pub fn check(&self, now: Timestamp) -> Result<(), Rejected> {
        if self.expires_at.is_some_and(|at| at <= now) {
            return Err(Rejected::invalid("expiresAt", "a time in the future"));
        }
        if self.variants.len() == 1 || self.variants.len() > MAX_VARIANTS {
            return Err(Rejected::invalid("variants", "2 to 10 destinations, or none"));
        }
        if self.variants.iter().any(|variant| !(1..=1000).contains(&variant.weight)) {
            return Err(Rejected::invalid("variants.weight", "a whole number from 1 to 1,000"));
        }
        if self.max_clicks == Some(0) {
            return Err(Rejected::invalid("maxClicks", "at least 1"));
        }
        if self.fallback.is_some() && self.max_clicks.is_none() {
            return Err(Rejected::invalid("fallbackUrl", "given together with `maxClicks`"));
        }
        if self.note.as_ref().is_some_and(|note| note.chars().count() > 500) {
            return Err(Rejected::invalid("note", "at most 500 characters"));
        }
        Ok(())
    }

    /// Every destination, the fallback included, as its owner gave them.
    pub fn destinations(&self) -> impl Iterator<Item = &Target> {
        let variants = self.variants.iter().map(|variant| &variant.url);
        std::iter::once(&self.long_url).chain(variants).chain(self.fallback.as_ref())
    }

    /// Whether a visitor can't tell the two apart: all but tags and note are equal.
    pub fn redirects_like(&self, other: &Self) -> bool {
        let (tags, note) = (self.tags.clone(), self.note.clone());
        *self == Self { tags, note, ..other.clone() }
    }
}

impl Link {
    /// A new link.
    pub fn new(
        domain: &str,
        code: Code,
        owner: Option<UserId>,
        terms: LinkTerms,
        now: Timestamp,
    ) -> Self {
        Self {
            domain: domain.to_owned(),
            code,
            owner,
            warnings: warnings_of(&terms),
            terms,
            preview: LinkPreview::default(),
            scanned_at: None,
            created_at: now,
            updated_at: now,
            deleted_at: None,
            blocked: None,
            spent_at: None,
            version: 1,
        }
    }

    /// The next version with other terms. Another destination drops the preview, another maximum of
    /// clicks makes a spent link live again.
    #[must_use]
    pub fn with_terms(&self, terms: LinkTerms, now: Timestamp) -> Self {
        let moved = terms.long_url != self.terms.long_url;
        let refilled = terms.max_clicks != self.terms.max_clicks;
        Self {
            warnings: warnings_of(&terms),
            preview: if moved { LinkPreview::default() } else { self.preview.clone() },
            scanned_at: self.scanned_at.filter(|_| !moved),
            spent_at: self.spent_at.filter(|_| !refilled),
            terms,
            ..self.next(now)
        }
    }

    /// The next version, deleted.
    #[must_use]
    pub fn deleted(&self, now: Timestamp) -> Self {
        Self { deleted_at: Some(now), ..self.next(now) }
    }

    /// The next version, live again; `None` if it is not deleted, or too long ago.
    pub fn restored(&self, now: Timestamp) -> Option<Self> {
        let deleted_at = self.deleted_at?;
        let in_time = now.as_second() - deleted_at.as_second() < RESTORE_SECONDS;
        in_time.then(|| Self { deleted_at: None, ..self.next(now) })
    }

    /// The next version, blocked.
    #[must_use]
    pub fn blocked(&self, reason: &str, now: Timestamp) -> Self {
        let reason = reason.to_owned();
        Self { blocked: Some(LinkBlock { at: now, reason }), ..self.next(now) }
    }

    /// The next version, not blocked.
    #[must_use]
    pub fn unblocked(&self, now: Timestamp) -> Self {
        Self { blocked: None, ..self.next(now) }
    }

    /// The same version, with what the scan fetched.
    #[must_use]
    pub fn scanned(&self, preview: LinkPreview, now: Timestamp) -> Self {
        Self { preview, scanned_at: Some(now), ..self.clone() }
    }

    /// The next version once it can't be restored any more: only its code, and that it is deleted.
    pub fn purged(&self, now: Timestamp) -> Option<Self> {
        let deleted_at = self.deleted_at?;
        let late = now.as_second() - deleted_at.as_second() >= RESTORE_SECONDS;
        let nothing = LinkTerms::plain(Target::stored(PURGED_URL));
        late.then(|| Self {
            owner: None,
            terms: nothing,
            warnings: Vec::new(),
            preview: LinkPreview::default(),
            blocked: None,
            ..self.next(now)
        })
    }

    /// Whether only its code is left.
    pub fn is_purged(&self) -> bool {
        self.deleted_at.is_some() && self.terms.long_url.as_str() == PURGED_URL
    }

    /// Whether it leads anywhere now.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.deleted_at.is_none()
            && self.blocked.is_none()
            && self.terms.expires_at.is_none_or(|at| at > now)
            && (self.spent_at.is_none() || self.terms.fallback.is_some())
    }

    /// Whether that user may see and change it.
    pub fn belongs_to(&self, user_id: &UserId) -> bool {
        self.owner.as_ref() == Some(user_id)
    }

    fn next(&self, now: Timestamp) -> Self {
        Self { version: self.version + 1, updated_at: now, ..self.clone() }
    }
}

fn warnings_of(terms: &LinkTerms) -> Vec<String> {
    let mut names: Vec<String> = terms
        .destinations()
        .flat_map(Target::warnings)
        .map(|warning| warning.name().to_owned())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn link() -> Link {
        let terms = LinkTerms::plain(Target::stored("https://example.com/a"));
        let owner = Some(UserId::parse("ada").unwrap());
        Link::new("", Code::parse("abcdefg").unwrap(), owner, terms, at(0))
    }

    #[test]
    fn a_deletion_can_be_undone_for_thirty_days_and_is_forgotten_then() {
        let deleted = link().deleted(at(100));
        let last = at(100 + RESTORE_SECONDS - 1);
        assert!(deleted.purged(last).is_none());
        let restored = deleted.restored(last).unwrap();
        assert_eq!((restored.deleted_at, restored.version), (None, 3));
        let end = at(100 + RESTORE_SECONDS);
        assert!(deleted.restored(end).is_none());
        let forgotten = deleted.purged(end).unwrap();
        assert!(forgotten.is_purged() && forgotten.owner.is_none());
        assert!(!format!("{forgotten:?}").contains("example.com"));
        assert!(link().purged(end).is_none() && !deleted.is_purged());
    }

    #[test]
    fn another_destination_is_looked_at_anew_and_another_limit_starts_over() {
        let preview = LinkPreview { title: Some("A".to_owned()), ..LinkPreview::default() };
        let seen = Link { spent_at: Some(at(5)), ..link().scanned(preview, at(5)) };
        assert_eq!(seen.version, 1);
        let same =
            seen.with_terms(LinkTerms { note: Some("x".to_owned()), ..seen.terms.clone() }, at(6));
        assert_eq!((same.preview.title.as_deref(), same.spent_at), (Some("A"), Some(at(5))));
        let moved = LinkTerms::plain(Target::stored("https://example.com/b"));
        let moved = seen.with_terms(LinkTerms { max_clicks: Some(9), ..moved }, at(6));
        assert_eq!((moved.preview.title, moved.scanned_at, moved.spent_at), (None, None, None));
    }

    #[test]
    fn only_what_leads_somewhere_is_live() {
        let until = |second| {
            let terms = LinkTerms { expires_at: Some(at(second)), ..link().terms };
            Link { terms, ..link() }
        };
        assert!(until(10).is_live(at(9)));
        assert!(!until(10).is_live(at(10)));
        assert!(!link().deleted(at(1)).is_live(at(1)));
        assert!(!link().blocked("x", at(1)).is_live(at(1)));
        assert!(!Link { spent_at: Some(at(1)), ..link() }.is_live(at(1)));
    }

    #[test]
    fn terms_that_contradict_themselves_name_the_field() {
        let target = || Target::stored("https://example.com/");
        let variant = |weight| Variant { url: target(), weight };
        let plain = || LinkTerms::plain(target());
        for (terms, field) in [
            (LinkTerms { expires_at: Some(at(10)), ..plain() }, "expiresAt"),
            (LinkTerms { variants: vec![variant(1)], ..plain() }, "variants"),
            (LinkTerms { variants: vec![variant(1); 11], ..plain() }, "variants"),
            (LinkTerms { variants: vec![variant(1), variant(0)], ..plain() }, "variants.weight"),
            (LinkTerms { max_clicks: Some(0), ..plain() }, "maxClicks"),
            (LinkTerms { fallback: Some(target()), ..plain() }, "fallbackUrl"),
            (LinkTerms { note: Some("x".repeat(501)), ..plain() }, "note"),
        ] {
            let Err(Rejected::Invalid { field: named, .. }) = terms.check(at(10)) else {
                panic!("{field} passed")
            };
            assert_eq!(named, field);
        }
        assert_eq!(plain().check(at(10)), Ok(()));
    }
}

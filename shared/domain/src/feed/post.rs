//! A post: its content, its audience, and its life.
//!
//! ```text
//!  write ─▶ LIVE ─ edit ─▶ EDITED ─┐ edit
//!             │               │ ▲──┘
//!             └──── delete ───┴──────▶ DELETED (a tombstone: the name stays, the words are gone)
//! ```
//!
//! Beside that, an admin may hide it and show it again. Absent: a way back from DELETED, a change
//! that does not move the version on, a tombstone with words in it.

mod draft;

pub(super) use draft::checked_text;
pub use draft::{MAX_MEDIA, MAX_TEXT_LENGTH, MediaId, PostBody, PostDraft, PostEdit};

use serde::{Deserialize, Serialize};

use super::{PostDelivery, PostId, Rejected};
use crate::Timestamp;
use crate::accounts::UserId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Privacy {
    #[default]
    Public,
    /// Who follows the author and is followed back.
    Friends,
    Private,
}

impl Privacy {
    pub const ALL: [Self; 3] = [Self::Public, Self::Friends, Self::Private];

    /// Its name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "PUBLIC",
            Self::Friends => "FRIENDS",
            Self::Private => "PRIVATE",
        }
    }

    /// The privacy of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|privacy| privacy.name() == name)
    }
}

/// Where a post is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostState {
    Live,
    Edited,
    Deleted,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    pub id: PostId,
    pub author: UserId,
    pub body: PostBody,
    /// Which post it passes on, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<PostId>,
    /// How it comes into feeds. Decided once, with the row that says how the author reaches people.
    #[serde(rename = "fan")]
    pub delivery: PostDelivery,
    pub created_at: Timestamp,
    /// When it was last changed by its author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_at: Option<Timestamp>,
    #[serde(rename = "v")]
    pub version: u64,
}

/// Says which: words are in no log.
impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { id, author, version, .. } = self;
        write!(f, "Post({id} by {} v{version}, {:?})", author.as_str(), self.state())
    }
}

impl Post {
    pub const fn new(
        id: PostId,
        author: UserId,
        body: PostBody,
        delivery: PostDelivery,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            author,
            body,
            shares: None,
            delivery,
            created_at: now,
            edited_at: None,
            deleted_at: None,
            hidden_at: None,
            version: 1,
        }
    }

    /// A new post that passes on `original`, which must be there for everybody. Whether the person
    /// may see it is asked before.
    pub fn sharing(self, original: &Self) -> Result<Self, Rejected> {
        if original.body.privacy != Privacy::Public || original.is_gone() {
            return Err(Rejected::NotShareable);
        }
        // Who passes on what was passed on passes on the first: chains would have to be followed.
        Ok(Self { shares: Some(original.shares.unwrap_or(original.id)), ..self })
    }

    pub const fn state(&self) -> PostState {
        match (self.deleted_at, self.edited_at) {
            (Some(_), _) => PostState::Deleted,
            (None, Some(_)) => PostState::Edited,
            (None, None) => PostState::Live,
        }
    }

    /// Whether only its author and admins can read it.
    pub const fn is_gone(&self) -> bool {
        self.deleted_at.is_some() || self.hidden_at.is_some()
    }

    /// The next version after an edit, or `None` if it changes nothing.
    pub fn edited(&self, edit: PostEdit, now: Timestamp) -> Result<Option<Self>, Rejected> {
        if self.deleted_at.is_some() {
            return Err(Rejected::UnknownPost);
        }
        let body = edit.applied(&self.body, self.shares.is_some())?;
        Ok((body != self.body).then(|| Self { body, edited_at: Some(now), ..self.next() }))
    }

    /// Whether an edit that led from `before` to here brings it to people whom it was kept from: then
    /// it is fanned out as if it were new.
    pub fn is_wider_than(&self, before: &Self) -> bool {
        before.body.privacy == Privacy::Private && self.body.privacy != Privacy::Private
    }

    /// The tombstone, or `None` if it is one.
    pub fn deleted(&self, now: Timestamp) -> Option<Self> {
        let body = PostBody { privacy: Privacy::Private, ..PostBody::default() };
        let gone = || Self { body, shares: None, deleted_at: Some(now), ..self.next() };
        self.deleted_at.is_none().then(gone)
    }

    /// The next version, hidden by an admin; `None` if it is hidden or gone.
    pub fn hidden(&self, now: Timestamp) -> Option<Self> {
        (!self.is_gone()).then(|| Self { hidden_at: Some(now), ..self.next() })
    }

    /// The next version, shown again; `None` if it is not hidden, or gone.
    pub fn unhidden(&self) -> Option<Self> {
        (self.hidden_at.is_some() && self.deleted_at.is_none())
            .then(|| Self { hidden_at: None, ..self.next() })
    }

    fn next(&self) -> Self {
        Self { version: self.version + 1, ..self.clone() }
    }
}

#[cfg(test)]
mod tests;

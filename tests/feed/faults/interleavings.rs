//! The states that interleavings of concurrent actions can reach, each action once or repeated.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{Post, PostBody, PostDelivery, PostId, Privacy, Relationship, SocialAction};

/// When something began and ended, in moments of which no two are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: u64,
    pub(super) to: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Timed<T> {
    pub(super) what: T,
    pub(super) span: Span,
}

/// A change of what is between two people.
#[derive(Debug, Clone)]
pub(super) struct RelationshipEvent {
    pub(super) me: UserId,
    pub(super) act: SocialAction,
    pub(super) other: UserId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PostEvent {
    Written(Privacy),
    Edited(Privacy),
    Deleted,
}

/// What is known of a post that matters to who may see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PostStage {
    /// Not written, or not acknowledged.
    Unborn,
    Live(Privacy),
    Gone,
}

impl Span {
    pub(super) const fn since(from: u64) -> Self {
        Self { from, to: u64::MAX }
    }
}

impl PostStage {
    pub(super) const fn after(self, turn: PostEvent) -> Self {
        match (self, turn) {
            (Self::Gone, _) | (_, PostEvent::Deleted) => Self::Gone,
            (Self::Unborn, PostEvent::Written(privacy))
            | (Self::Live(_), PostEvent::Edited(privacy)) => Self::Live(privacy),
            (Self::Unborn, PostEvent::Edited(_)) | (Self::Live(_), PostEvent::Written(_)) => self,
        }
    }

    /// The post as the domain has it; `None` if there is none.
    pub(super) fn post(self, author: &UserId) -> Option<Post> {
        let at = Timestamp::UNIX_EPOCH;
        let body = |privacy| PostBody { privacy, ..PostBody::default() };
        let post =
            |privacy| Post::new(PostId::MIN, author.clone(), body(privacy), PostDelivery::Push, at);
        match self {
            Self::Unborn => None,
            Self::Live(privacy) => Some(post(privacy)),
            Self::Gone => post(Privacy::Public).deleted(at),
        }
    }
}

/// The relationship of a pair, seen by the lesser, after an action; as it was if the action is rejected.
pub(super) fn moved(relationship: Relationship, by: &RelationshipEvent) -> Relationship {
    let is_lesser = by.me <= by.other;
    let mine = if is_lesser { relationship } else { relationship.reversed() };
    let after = match mine.apply(by.act, &by.me, &by.other, 0) {
        Ok(Some(change)) => change.relationship,
        Ok(None) | Err(_) => mine,
    };
    if is_lesser { after } else { after.reversed() }
}

/// What may be at some moment of `during`: what ended before has happened, what had not begun has
/// not, and what overlaps with it may have, in any order and more than once.
pub(super) fn reachable_states<S: Copy + PartialEq, T>(
    base: S,
    happened: &[&Timed<T>],
    during: Span,
    apply: impl Fn(S, &T) -> S,
) -> Vec<S> {
    let told: Vec<_> = happened.iter().filter(|it| it.span.from < during.to).collect();
    let is_needed = |it: &&&&Timed<T>| it.span.to < during.from;
    let needed = told.iter().enumerate().filter(|(_, it)| is_needed(it));
    let needed: u32 = needed.map(|(index, _)| 1 << index).sum();
    let mut found = vec![(base, 0_u32)];
    let mut next = 0;
    while let Some(&(state, done)) = found.get(next) {
        next += 1;
        for (index, it) in told.iter().enumerate() {
            let reached = (apply(state, &it.what), done | (1 << index));
            if !found.contains(&reached) {
                found.push(reached);
            }
        }
    }
    let mut states: Vec<S> = Vec::new();
    for (state, done) in found {
        if done & needed == needed && !states.contains(&state) {
            states.push(state);
        }
    }
    states
}

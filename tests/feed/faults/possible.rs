//! What may be, while several things happen at once: every order of them, each as often as it is tried.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{Act, Body, Fan, Post, PostId, Privacy, Tie};

/// When something began and ended, in moments of which no two are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// What happened, and when.
#[derive(Debug, Clone)]
pub(super) struct Happened<T> {
    pub(super) what: T,
    pub(super) span: Span,
}

/// A change of what is between two people.
#[derive(Debug, Clone)]
pub(super) struct Move {
    pub(super) me: UserId,
    pub(super) act: Act,
    pub(super) other: UserId,
}

/// A change of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is there from now on.
    Written(Privacy),
    /// Others may read it.
    Edited(Privacy),
    Deleted,
}

/// What is known of a post that matters to who may see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not written, or nobody was told.
    Unborn,
    Live(Privacy),
    Gone,
}

impl Span {
    /// From a moment on.
    pub(super) const fn since(from: u64) -> Self {
        Self { from, to: u64::MAX }
    }
}

impl Stage {
    pub(super) const fn after(self, turn: Turn) -> Self {
        match (self, turn) {
            (Self::Gone, _) | (_, Turn::Deleted) => Self::Gone,
            (Self::Unborn, Turn::Written(privacy)) | (Self::Live(_), Turn::Edited(privacy)) => {
                Self::Live(privacy)
            }
            (Self::Unborn, Turn::Edited(_)) | (Self::Live(_), Turn::Written(_)) => self,
        }
    }

    /// The post as the domain has it; `None` if there is none.
    pub(super) fn post(self, author: &UserId) -> Option<Post> {
        let at = Timestamp::UNIX_EPOCH;
        let body = |privacy| Body { privacy, ..Body::default() };
        let post = |privacy| Post::new(PostId::MIN, author.clone(), body(privacy), Fan::Push, at);
        match self {
            Self::Unborn => None,
            Self::Live(privacy) => Some(post(privacy)),
            Self::Gone => post(Privacy::Public).deleted(at),
        }
    }
}

/// The tie of a pair, seen by the lesser, after somebody does something; as it was if that can't be.
pub(super) fn moved(tie: Tie, by: &Move) -> Tie {
    let is_lesser = by.me <= by.other;
    let mine = if is_lesser { tie } else { tie.turned() };
    let after = match mine.after(by.act, &by.me, &by.other, 0) {
        Ok(Some(change)) => change.tie,
        Ok(None) | Err(_) => mine,
    };
    if is_lesser { after } else { after.turned() }
}

/// What may be at some moment of `during`: whatever ended before has happened, what had not begun has
/// not, and what overlaps with it may have, in any order and more than once.
pub(super) fn reach<S: Copy + PartialEq, T>(
    base: S,
    happened: &[&Happened<T>],
    during: Span,
    apply: impl Fn(S, &T) -> S,
) -> Vec<S> {
    let told: Vec<_> = happened.iter().filter(|it| it.span.from < during.to).collect();
    let is_needed = |it: &&&&Happened<T>| it.span.to < during.from;
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

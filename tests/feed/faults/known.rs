//! What was acknowledged: who follows whom, who may read what, who likes and says what.
//!
//! Within a step several things happen at once, so there is not one truth but all that may be; at its end
//! the rows say which of them it is, and it must be one of them.

use std::collections::{BTreeMap, BTreeSet};

use domain::accounts::UserId;
use domain::feed::{Place, PostId, Privacy, Tie, in_feed, visible};

use super::possible::{Happened, Move, Span, Stage, Turn, moved, reach};
use super::watch::Watch;

/// A post, by the word that it says.
#[derive(Debug, Clone)]
pub(super) struct Noted {
    pub(super) id: PostId,
    pub(super) author: UserId,
    /// At the beginning of the step.
    pub(super) stage: Stage,
    /// What it passes on.
    pub(super) shares: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Remark {
    pub(super) id: String,
    pub(super) who: &'static str,
    pub(super) note: String,
}

#[derive(Debug, Default)]
pub(super) struct Known {
    /// Seen by the lesser of the two, at the beginning of the step.
    ties: BTreeMap<(UserId, UserId), Tie>,
    pub(super) posts: BTreeMap<String, Noted>,
    pub(super) likes: BTreeSet<(&'static str, String)>,
    pub(super) remarks: Vec<Remark>,
    /// What happened in the step.
    pub(super) moves: Vec<Happened<Move>>,
    pub(super) turns: Vec<(String, Happened<Turn>)>,
}

/// How certain it is that somebody may see something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    Surely,
    Perhaps,
    Never,
}

impl Known {
    /// What may be between two people, seen by the first.
    pub(super) fn ties(&self, me: &UserId, other: &UserId, during: Span) -> Vec<Tie> {
        let (lesser, greater, is_lesser) = Tie::key(me, other);
        let base = self.tie(lesser, greater);
        let ours = |it: &&Happened<Move>| {
            let (one, two, _) = Tie::key(&it.what.me, &it.what.other);
            (one, two) == (lesser, greater)
        };
        let happened: Vec<_> = self.moves.iter().filter(ours).collect();
        let mut ties = reach(base, &happened, during, moved);
        if !is_lesser {
            for tie in &mut ties {
                *tie = tie.turned();
            }
        }
        ties
    }

    fn tie(&self, lesser: &UserId, greater: &UserId) -> Tie {
        self.ties.get(&(lesser.clone(), greater.clone())).copied().unwrap_or_default()
    }

    /// What may have become of a post.
    pub(super) fn stages(&self, note: &str, during: Span) -> Vec<Stage> {
        let Some(noted) = self.posts.get(note) else { return vec![Stage::Unborn] };
        let ours = self.turns.iter().filter(|(named, _)| named == note);
        let happened: Vec<_> = ours.map(|(_, it)| it).collect();
        reach(noted.stage, &happened, during, |stage, turn| stage.after(*turn))
    }

    /// Whether somebody may see a post somewhere.
    pub(super) fn sight(&self, me: &UserId, note: &str, place: Place, during: Span) -> Sight {
        self.looks(me, note, during, |post, tie| visible(post, tie, me, place))
    }

    /// Whether a post belongs into somebody's feed.
    pub(super) fn in_feed(&self, me: &UserId, note: &str, during: Span) -> Sight {
        self.looks(me, note, during, |post, tie| in_feed(post, tie, me))
    }

    fn looks(
        &self,
        me: &UserId,
        note: &str,
        during: Span,
        seen: impl Fn(&domain::feed::Post, &Tie) -> bool,
    ) -> Sight {
        let Some(noted) = self.posts.get(note) else { return Sight::Never };
        let ties = self.ties(me, &noted.author, during);
        let (mut some, mut all) = (false, true);
        for stage in self.stages(note, during) {
            let post = stage.post(&noted.author);
            for tie in &ties {
                let yes = post.as_ref().is_some_and(|post| seen(post, tie));
                some |= yes;
                all &= yes;
            }
        }
        match (some, all) {
            (true, true) => Sight::Surely,
            (true, false) => Sight::Perhaps,
            (false, _) => Sight::Never,
        }
    }

    /// Posts of somebody that are there.
    pub(super) fn posts_of(&self, author: &str) -> Vec<String> {
        let theirs = |noted: &&Noted| noted.author.as_str() == author;
        let live = |noted: &&Noted| matches!(noted.stage, Stage::Live(_));
        let posts = self.posts.iter().filter(|(_, it)| theirs(it) && live(it));
        posts.map(|(note, _)| note.clone()).collect()
    }

    /// The step is over: the rows say what it came to, which must be something that may be.
    pub(super) async fn close(&mut self, watch: &Watch) -> Result<(), String> {
        let after_all = Span::since(u64::MAX);
        let pairs: BTreeSet<(UserId, UserId)> = self
            .moves
            .iter()
            .map(|it| Tie::key(&it.what.me, &it.what.other))
            .map(|(lesser, greater, _)| (lesser.clone(), greater.clone()))
            .collect();
        for (lesser, greater) in pairs {
            let may_be = self.ties(&lesser, &greater, after_all);
            let is = watch.store.between(&lesser, &greater).await.unwrap().tie;
            if !may_be.contains(&is) {
                let moves = &self.moves;
                return Err(format!("{lesser:?}, {greater:?}: {is:?} follows not from {moves:?}"));
            }
            self.ties.insert((lesser, greater), is);
        }
        self.moves.clear();
        let changed: BTreeSet<String> = self.turns.iter().map(|(note, _)| note.clone()).collect();
        for note in changed {
            let may_be = self.stages(&note, after_all);
            let noted = self.posts.get_mut(&note).ok_or("a change of nothing")?;
            let row = watch.store.post(noted.id).await.unwrap();
            let is = row.map_or(Stage::Unborn, |entry| match entry.post.deleted_at {
                Some(_) => Stage::Gone,
                None => Stage::Live(entry.post.body.privacy),
            });
            if !may_be.contains(&is) {
                return Err(format!("{note} is {is:?} and may be {may_be:?}"));
            }
            noted.stage = is;
        }
        self.turns.clear();
        Ok(())
    }

    /// How often a post is liked, commented on and passed on.
    pub(super) fn counted(&self, note: &str) -> (usize, usize, usize) {
        let shares = self.posts.values().filter(|it| it.shares.as_deref() == Some(note));
        (
            self.likes.iter().filter(|(_, liked)| liked == note).count(),
            self.remarks.iter().filter(|remark| remark.note == note).count(),
            shares.filter(|it| matches!(it.stage, Stage::Live(_))).count(),
        )
    }

    /// Everything between people.
    pub(super) const fn all_ties(&self) -> &BTreeMap<(UserId, UserId), Tie> {
        &self.ties
    }
}

/// The privacies, to be drawn from.
pub(super) const PRIVACIES: [Privacy; 3] = Privacy::ALL;

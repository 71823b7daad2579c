//! What was acknowledged: who follows whom, who may read what, who likes and says what.
//!
//! Within a step several things happen at once, so there is not one truth but all that may be; at its end
//! the rows say which of them it is, and it must be one of them.

use std::collections::{BTreeMap, BTreeSet};
use tests::Result;

use domain::accounts::UserId;
use domain::feed::{PostId, Privacy, Relationship, ViewContext, belongs_in_feed, is_visible};

use super::harness::Harness;
use super::interleavings::{
    PostEvent, PostStage, RelationshipEvent, Span, Timed, moved, reachable_states,
};

/// A post, by the word that it says.
#[derive(Debug, Clone)]
pub(super) struct ModelPost {
    pub(super) id: PostId,
    pub(super) author: UserId,
    /// At the beginning of the step.
    pub(super) stage: PostStage,
    pub(super) shares: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct ModelComment {
    pub(super) id: String,
    pub(super) who: &'static str,
    pub(super) note: String,
}

#[derive(Debug, Default)]
pub(super) struct Model {
    /// Seen by the lesser of the two, at the beginning of the step.
    relationships: BTreeMap<(UserId, UserId), Relationship>,
    pub(super) posts: BTreeMap<String, ModelPost>,
    pub(super) likes: BTreeSet<(&'static str, String)>,
    pub(super) remarks: Vec<ModelComment>,
    pub(super) moves: Vec<Timed<RelationshipEvent>>,
    pub(super) turns: Vec<(String, Timed<PostEvent>)>,
}

/// How certain it is that a reader may see a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    Surely,
    Perhaps,
    Never,
}

impl Model {
    /// What may be between two people, seen by the first.
    pub(super) fn relationships(
        &self,
        me: &UserId,
        other: &UserId,
        during: Span,
    ) -> Vec<Relationship> {
        let (lesser, greater, is_lesser) = Relationship::key(me, other);
        let base = self.relationship(lesser, greater);
        let ours = |it: &&Timed<RelationshipEvent>| {
            let (one, two, _) = Relationship::key(&it.what.me, &it.what.other);
            (one, two) == (lesser, greater)
        };
        let happened: Vec<_> = self.moves.iter().filter(ours).collect();
        let mut relationships = reachable_states(base, &happened, during, moved);
        if !is_lesser {
            for relationship in &mut relationships {
                *relationship = relationship.reversed();
            }
        }
        relationships
    }

    fn relationship(&self, lesser: &UserId, greater: &UserId) -> Relationship {
        self.relationships.get(&(lesser.clone(), greater.clone())).copied().unwrap_or_default()
    }

    /// What may have become of a post.
    pub(super) fn stages(&self, note: &str, during: Span) -> Vec<PostStage> {
        let Some(noted) = self.posts.get(note) else { return vec![PostStage::Unborn] };
        let ours = self.turns.iter().filter(|(named, _)| named == note);
        let happened: Vec<_> = ours.map(|(_, it)| it).collect();
        reachable_states(noted.stage, &happened, during, |stage, turn| stage.after(*turn))
    }

    /// Whether a reader may see a post in a context.
    pub(super) fn sight(
        &self,
        me: &UserId,
        note: &str,
        place: ViewContext,
        during: Span,
    ) -> Visibility {
        self.looks(me, note, during, |post, relationship| is_visible(post, relationship, me, place))
    }

    /// Whether a post belongs into a reader's feed.
    pub(super) fn in_feed(&self, me: &UserId, note: &str, during: Span) -> Visibility {
        self.looks(me, note, during, |post, relationship| belongs_in_feed(post, relationship, me))
    }

    fn looks(
        &self,
        me: &UserId,
        note: &str,
        during: Span,
        seen: impl Fn(&domain::feed::Post, &Relationship) -> bool,
    ) -> Visibility {
        let Some(noted) = self.posts.get(note) else { return Visibility::Never };
        let relationships = self.relationships(me, &noted.author, during);
        let (mut some, mut all) = (false, true);
        for stage in self.stages(note, during) {
            let post = stage.post(&noted.author);
            for relationship in &relationships {
                let yes = post.as_ref().is_some_and(|post| seen(post, relationship));
                some |= yes;
                all &= yes;
            }
        }
        match (some, all) {
            (true, true) => Visibility::Surely,
            (true, false) => Visibility::Perhaps,
            (false, _) => Visibility::Never,
        }
    }

    /// An author's posts that are not deleted.
    pub(super) fn posts_of(&self, author: &str) -> Vec<String> {
        let theirs = |noted: &&ModelPost| noted.author.as_str() == author;
        let live = |noted: &&ModelPost| matches!(noted.stage, PostStage::Live(_));
        let posts = self.posts.iter().filter(|(_, it)| theirs(it) && live(it));
        posts.map(|(note, _)| note.clone()).collect()
    }

    /// The step is over: the rows say what it came to, which must be something that may be.
    pub(super) async fn close(&mut self, harness: &Harness) -> Result {
        let after_all = Span::since(u64::MAX);
        let pairs: BTreeSet<(UserId, UserId)> = self
            .moves
            .iter()
            .map(|it| Relationship::key(&it.what.me, &it.what.other))
            .map(|(lesser, greater, _)| (lesser.clone(), greater.clone()))
            .collect();
        for (lesser, greater) in pairs {
            let may_be = self.relationships(&lesser, &greater, after_all);
            let is = harness.store.relationship(&lesser, &greater).await.unwrap().state;
            if !may_be.contains(&is) {
                let moves = &self.moves;
                return Err(format!("{lesser:?}, {greater:?}: {is:?} follows not from {moves:?}"));
            }
            self.relationships.insert((lesser, greater), is);
        }
        self.moves.clear();
        let changed: BTreeSet<String> = self.turns.iter().map(|(note, _)| note.clone()).collect();
        for note in changed {
            let may_be = self.stages(&note, after_all);
            let noted = self.posts.get_mut(&note).ok_or("a change of nothing")?;
            let row = harness.store.post(noted.id).await.unwrap();
            let is = row.map_or(PostStage::Unborn, |entry| match entry.post.deleted_at {
                Some(_) => PostStage::Gone,
                None => PostStage::Live(entry.post.body.privacy),
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
            shares.filter(|it| matches!(it.stage, PostStage::Live(_))).count(),
        )
    }

    pub(super) const fn all_relationships(&self) -> &BTreeMap<(UserId, UserId), Relationship> {
        &self.relationships
    }
}

pub(super) const PRIVACIES: [Privacy; 3] = Privacy::ALL;

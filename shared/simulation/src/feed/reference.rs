//! The reference model of the feed: all posts and relationships, without timelines.
//!
//! It filters all posts by [`in_feed`], sorts them, ranks them window by window and cuts the result into
//! pages. Timelines, marks, floors and cursors do not exist here. Tests of the whole
//! system play the same events into it and compare: the same posts, in the same order, page by
//! page, once nothing is on its way.

use std::collections::{BTreeMap, BTreeSet};

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::rank::{Candidate, RankedItem, rank};
use domain::feed::{
    Affinity, Counts, FeedOrder, Interaction, Post, PostId, RankWeights, Rejected, Relationship,
    SeenPosts, Side, SocialAction, belongs_in_feed,
};

#[derive(Debug, Clone, Default)]
pub struct ReferenceFeed {
    /// Every post, tombstones too.
    pub posts: BTreeMap<PostId, Post>,
    pub counts: BTreeMap<PostId, Counts>,
    /// How close the first is to the second.
    pub affinities: BTreeMap<(UserId, UserId), Affinity>,
    pub seen: BTreeMap<UserId, SeenPosts>,
    /// What the first does about the second.
    sides: BTreeMap<(UserId, UserId), Side>,
}

impl ReferenceFeed {
    /// What is between two people, seen by the first.
    pub fn relationship(&self, me: &UserId, other: &UserId) -> Relationship {
        let side = |one: &UserId, two: &UserId| {
            self.sides.get(&(one.clone(), two.clone())).copied().unwrap_or_default()
        };
        Relationship { mine: side(me, other), theirs: side(other, me) }
    }

    pub fn act(&mut self, me: &UserId, act: SocialAction, other: &UserId) -> Result<(), Rejected> {
        if let Some(change) = self.relationship(me, other).apply(act, me, other, 0)? {
            self.sides.insert((me.clone(), other.clone()), change.relationship.mine);
            self.sides.insert((other.clone(), me.clone()), change.relationship.theirs);
        }
        Ok(())
    }

    pub fn interact(&mut self, who: &UserId, what: Interaction, author: &UserId, now: Timestamp) {
        if who != author {
            let pair = (who.clone(), author.clone());
            let known = self.affinities.get(&pair).copied().unwrap_or_else(|| Affinity::none(now));
            self.affinities.insert(pair, known.after(what, now));
        }
    }

    pub fn followers(&self, author: &UserId) -> BTreeSet<UserId> {
        let follows = self.sides.iter().filter(|((_, whom), side)| whom == author && side.follows);
        follows.map(|((who, _), _)| who.clone()).collect()
    }

    pub fn following(&self, reader: &UserId) -> BTreeSet<UserId> {
        let follows = self.sides.iter().filter(|((who, _), side)| who == reader && side.follows);
        follows.map(|((_, whom), _)| whom.clone()).collect()
    }

    /// A post with what is known of it for a reader at a ranking time.
    pub fn candidate(&self, post: PostId, reader: &UserId, at: Timestamp) -> Option<Candidate> {
        let post = self.posts.get(&post)?;
        let pair = (reader.clone(), post.author.clone());
        let affinity = self.affinities.get(&pair).map_or(0.0, |known| known.value_at(at));
        Some(Candidate {
            post: post.clone(),
            counts: self.counts.get(&post.id).copied().unwrap_or_default(),
            relationship: self.relationship(reader, &post.author),
            affinity,
            seen: self.seen.get(reader).is_some_and(|seen| seen.contains(post.id)),
        })
    }

    /// What belongs into a reader's feed, the newest first.
    pub fn visible(&self, reader: &UserId) -> Vec<PostId> {
        let posts = self.posts.values().rev();
        let theirs = posts
            .filter(|post| belongs_in_feed(post, &self.relationship(reader, &post.author), reader));
        theirs.map(|post| post.id).collect()
    }

    pub fn feed(
        &self,
        reader: &UserId,
        order: FeedOrder,
        weights: &RankWeights,
        at: Timestamp,
    ) -> Vec<PostId> {
        let newest_first = self.visible(reader);
        if order == FeedOrder::Latest {
            return newest_first;
        }
        let windows = newest_first.chunks(weights.window.max(1));
        windows
            .flat_map(|window| {
                let known = window.iter().filter_map(|post| self.candidate(*post, reader, at));
                rank(known.collect(), weights, at)
            })
            .map(|item: RankedItem| item.id())
            .collect()
    }

    pub fn pages(
        &self,
        reader: &UserId,
        order: FeedOrder,
        weights: &RankWeights,
        at: Timestamp,
        limit: usize,
    ) -> Vec<Vec<PostId>> {
        let feed = self.feed(reader, order, weights, at);
        feed.chunks(limit.max(1)).map(<[PostId]>::to_vec).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::{at, id, person, post};

    #[test]
    fn a_feed_is_what_others_said_who_are_followed() {
        let mut world = ReferenceFeed::default();
        for (n, author) in [(1, 2), (2, 3), (3, 2), (4, 1)] {
            world.posts.insert(id(n), post(n, author));
        }
        assert!(world.visible(&person(1)).is_empty());
        world.act(&person(1), SocialAction::Follow, &person(2)).unwrap();
        assert_eq!(world.visible(&person(1)), [id(3), id(1)]);
        let gone = world.posts[&id(3)].deleted(at(5)).unwrap();
        world.posts.insert(id(3), gone);
        let pages = |order| world.pages(&person(1), order, &RankWeights::CURRENT, at(9), 1);
        assert_eq!(pages(FeedOrder::Latest), [[id(1)]]);
        assert_eq!(pages(FeedOrder::Ranked), [[id(1)]]);
        assert_eq!(world.followers(&person(2)), BTreeSet::from([person(1)]));
        assert_eq!(world.following(&person(1)), BTreeSet::from([person(2)]));
    }

    #[test]
    fn windows_are_ranked_one_after_the_other() {
        let mut world = ReferenceFeed::default();
        world.act(&person(1), SocialAction::Follow, &person(2)).unwrap();
        for n in 1..=4 {
            world.posts.insert(id(n), post(n, 2));
        }
        world.counts.insert(id(1), Counts { likes: 9, ..Counts::default() });
        let weights = RankWeights { window: 2, ..RankWeights::PLAIN };
        let feed = world.feed(&person(1), FeedOrder::Ranked, &weights, at(9));
        assert_eq!(feed, [id(4), id(3), id(1), id(2)]);
        let whole = world.feed(&person(1), FeedOrder::Ranked, &RankWeights::PLAIN, at(9));
        assert_eq!(whole, [id(1), id(4), id(3), id(2)]);
    }
}

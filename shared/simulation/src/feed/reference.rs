//! The feed as it should be: every post, every tie, nothing kept twice, nothing clever.
//!
//! It filters all posts by [`in_feed`], sorts them, ranks them window by window and cuts the result into
//! pages. Timelines, marks, floors and cursors do not exist here. Tests of the whole
//! system play the same events into it and compare: the same posts, in the same order, page by
//! page, once nothing is on its way.

use std::collections::{BTreeMap, BTreeSet};

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::rank::{Candidate, Item, rank};
use domain::feed::{
    Act, Affinity, Counts, Interaction, Order, Post, PostId, Rejected, Seen, Side, Tie, Weights,
    in_feed,
};

/// Everything there is.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// Every post, tombstones too.
    pub posts: BTreeMap<PostId, Post>,
    /// How often each was liked and so on.
    pub counts: BTreeMap<PostId, Counts>,
    /// How close the first is to the second.
    pub affinities: BTreeMap<(UserId, UserId), Affinity>,
    /// What readers were shown.
    pub seen: BTreeMap<UserId, Seen>,
    /// What the first does about the second.
    sides: BTreeMap<(UserId, UserId), Side>,
}

impl World {
    /// What is between two people, seen by the first.
    pub fn tie(&self, me: &UserId, other: &UserId) -> Tie {
        let side = |one: &UserId, two: &UserId| {
            self.sides.get(&(one.clone(), two.clone())).copied().unwrap_or_default()
        };
        Tie { mine: side(me, other), theirs: side(other, me) }
    }

    /// An action of one user on another.
    pub fn act(&mut self, me: &UserId, act: Act, other: &UserId) -> Result<(), Rejected> {
        if let Some(change) = self.tie(me, other).after(act, me, other, 0)? {
            self.sides.insert((me.clone(), other.clone()), change.tie.mine);
            self.sides.insert((other.clone(), me.clone()), change.tie.theirs);
        }
        Ok(())
    }

    /// An action of one user on another user's post.
    pub fn interact(&mut self, who: &UserId, what: Interaction, author: &UserId, now: Timestamp) {
        if who != author {
            let pair = (who.clone(), author.clone());
            let known = self.affinities.get(&pair).copied().unwrap_or_else(|| Affinity::none(now));
            self.affinities.insert(pair, known.after(what, now));
        }
    }

    /// The followers of a user.
    pub fn followers(&self, author: &UserId) -> BTreeSet<UserId> {
        let follows = self.sides.iter().filter(|((_, whom), side)| whom == author && side.follows);
        follows.map(|((who, _), _)| who.clone()).collect()
    }

    /// The users that a user follows.
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
            tie: self.tie(reader, &post.author),
            affinity,
            seen: self.seen.get(reader).is_some_and(|seen| seen.has(post.id)),
        })
    }

    /// What belongs into a reader's feed, the newest first.
    pub fn visible(&self, reader: &UserId) -> Vec<PostId> {
        let posts = self.posts.values().rev();
        let theirs = posts.filter(|post| in_feed(post, &self.tie(reader, &post.author), reader));
        theirs.map(|post| post.id).collect()
    }

    /// A reader's whole feed.
    pub fn feed(
        &self,
        reader: &UserId,
        order: Order,
        weights: &Weights,
        at: Timestamp,
    ) -> Vec<PostId> {
        let newest_first = self.visible(reader);
        if order == Order::Latest {
            return newest_first;
        }
        let windows = newest_first.chunks(weights.window.max(1));
        windows
            .flat_map(|window| {
                let known = window.iter().filter_map(|post| self.candidate(*post, reader, at));
                rank(known.collect(), weights, at)
            })
            .map(|item: Item| item.id())
            .collect()
    }

    /// The same in pages.
    pub fn pages(
        &self,
        reader: &UserId,
        order: Order,
        weights: &Weights,
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
        let mut world = World::default();
        for (n, author) in [(1, 2), (2, 3), (3, 2), (4, 1)] {
            world.posts.insert(id(n), post(n, author));
        }
        assert!(world.visible(&person(1)).is_empty());
        world.act(&person(1), Act::Follow, &person(2)).unwrap();
        assert_eq!(world.visible(&person(1)), [id(3), id(1)]);
        let gone = world.posts[&id(3)].deleted(at(5)).unwrap();
        world.posts.insert(id(3), gone);
        let pages = |order| world.pages(&person(1), order, &Weights::CURRENT, at(9), 1);
        assert_eq!(pages(Order::Latest), [[id(1)]]);
        assert_eq!(pages(Order::Ranked), [[id(1)]]);
        assert_eq!(world.followers(&person(2)), BTreeSet::from([person(1)]));
        assert_eq!(world.following(&person(1)), BTreeSet::from([person(2)]));
    }

    #[test]
    fn windows_are_ranked_one_after_the_other() {
        let mut world = World::default();
        world.act(&person(1), Act::Follow, &person(2)).unwrap();
        for n in 1..=4 {
            world.posts.insert(id(n), post(n, 2));
        }
        world.counts.insert(id(1), Counts { likes: 9, ..Counts::default() });
        let weights = Weights { window: 2, ..Weights::PLAIN };
        let feed = world.feed(&person(1), Order::Ranked, &weights, at(9));
        assert_eq!(feed, [id(4), id(3), id(1), id(2)]);
        let whole = world.feed(&person(1), Order::Ranked, &Weights::PLAIN, at(9));
        assert_eq!(whole, [id(1), id(4), id(3), id(2)]);
    }
}

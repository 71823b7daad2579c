//! The invariants once faults have ended: every feed is what the model says, page by page.

use std::collections::BTreeMap;
use tests::Result;

use domain::Timestamp;
use domain::feed::{FeedOrder, PostId, RankWeights, Side, SocialAction};
use http::Method;
use serde_json::Value;
use simulation::feed::reference::ReferenceFeed;

use super::harness::{Harness, person};
use super::{PEOPLE, Scenario, rows};

impl Scenario {
    pub(super) async fn check(&mut self) -> Result {
        self.harness.rest().await?;
        let mut world = self.world().await?;
        rows::check_counts(&self.harness, &self.known).await?;
        rows::check_authors(&self.harness, &world).await?;
        rows::check_readers(&self.harness, &world).await?;
        self.check_feeds(&mut world, FeedOrder::Ranked, 4).await?;
        self.harness.settle().await;
        // A visit after some hours is noted, and then the timeline is tended.
        self.harness.lab.advance_seconds(7 * 3_600);
        self.check_feeds(&mut world, FeedOrder::Latest, 50).await?;
        self.harness.settle().await;
        rows::check_lengths(&self.harness).await?;
        rows::check_readers(&self.harness, &world).await?;
        self.check_feeds(&mut world, FeedOrder::Latest, 4).await
    }

    async fn check_feeds(
        &self,
        world: &mut ReferenceFeed,
        order: FeedOrder,
        limit: usize,
    ) -> Result {
        for name in PEOPLE {
            let user = person(name);
            let state = self.harness.store.reader_state(&user, self.harness.now()).await.unwrap();
            world.seen.insert(user.clone(), state.seen);
            let (at, pages) = scroll(&self.harness, name, order, limit).await?;
            let expected = world.pages(&user, order, &RankWeights::CURRENT, at, limit);
            if pages != expected {
                let reader = state.reader;
                let (is, should) = (self.notes(&pages), self.notes(&expected));
                return Err(format!("{name}, {order:?}: {is:?}, not {should:?}; {reader:?}"));
            }
        }
        Ok(())
    }

    /// The model of what was acknowledged, with what the rows say of closeness and totals.
    async fn world(&self) -> Result<ReferenceFeed> {
        let mut world = ReferenceFeed::default();
        for ((lesser, greater), relationship) in self.known.all_relationships() {
            for (me, side, other) in
                [(lesser, relationship.mine, greater), (greater, relationship.theirs, lesser)]
            {
                for act in acts(side) {
                    world.act(me, act, other).map_err(|wrong| wrong.to_string())?;
                }
            }
            let relation = self.harness.store.relationship(lesser, greater).await.unwrap();
            let pairs = [
                (lesser, relation.my_affinity, greater),
                (greater, relation.their_affinity, lesser),
            ];
            for (me, affinity, other) in pairs {
                if let Some(affinity) = affinity {
                    world.affinities.insert((me.clone(), other.clone()), affinity);
                }
            }
        }
        let ids: Vec<PostId> = self.known.posts.values().map(|noted| noted.id).collect();
        for (id, entry) in self.harness.store.posts(ids).await.unwrap() {
            world.counts.insert(id, entry.counts);
            world.posts.insert(id, entry.post);
        }
        Ok(world)
    }

    fn notes(&self, pages: &[Vec<PostId>]) -> Vec<Vec<&str>> {
        let posts = self.known.posts.iter();
        let notes: BTreeMap<PostId, &str> =
            posts.map(|(note, it)| (it.id, note.as_str())).collect();
        let named = |page: &Vec<PostId>| {
            page.iter().map(|post| notes.get(post).copied().unwrap_or("?")).collect()
        };
        pages.iter().map(named).collect()
    }
}

/// The actions that lead to one side of a relationship.
fn acts(side: Side) -> Vec<SocialAction> {
    let all = [
        (side.follows, SocialAction::Follow),
        (side.mutes, SocialAction::Mute),
        (side.blocks, SocialAction::Block),
    ];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, act)| act).collect()
}

/// A whole feed, and when it was ranked.
pub(in crate::feed) async fn scroll(
    harness: &Harness,
    who: &str,
    order: FeedOrder,
    limit: usize,
) -> Result<(Timestamp, Vec<Vec<PostId>>)> {
    let mut pages = Vec::new();
    let mut at: Option<Timestamp> = None;
    let order = match order {
        FeedOrder::Ranked => "ranked",
        FeedOrder::Latest => "latest",
    };
    let mut path = format!("/api/v1/feed?order={order}&limit={limit}");
    loop {
        let answer = harness.call(who, (Method::GET, &path), &Value::Null, None).await;
        if answer.status != 200 {
            return Err(format!("{path} was answered {}: {}", answer.status, answer.body));
        }
        at = at.or_else(|| answer.text("position").parse().ok());
        let items = answer.body["items"].as_array().into_iter().flatten();
        let ids = items.filter_map(|item| PostId::parse(item["postId"].as_str()?));
        let ids: Vec<PostId> = ids.collect();
        if !ids.is_empty() {
            pages.push(ids);
        }
        let Some(next) = answer.body["nextCursor"].as_str() else { break };
        path = format!("/api/v1/feed?order={order}&limit={limit}&cursor={next}");
    }
    Ok((at.unwrap_or_default(), pages))
}

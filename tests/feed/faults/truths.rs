//! What holds once nothing goes wrong any more: every feed is what the model says, page by page.

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::feed::{Act, Order, PostId, Side, Weights};
use http::Method;
use serde_json::Value;
use simulation::feed::reference::World;

use super::watch::{Watch, person};
use super::{Life, PEOPLE, rows};

impl Life {
    pub(super) async fn hold(&mut self) -> Result<(), String> {
        self.watch.rest().await?;
        let mut world = self.world().await?;
        rows::hold_counts(&self.watch, &self.known).await?;
        rows::hold_authors(&self.watch, &world).await?;
        rows::hold_readers(&self.watch, &world).await?;
        self.hold_feeds(&mut world, Order::Ranked, 4).await?;
        self.watch.settle().await;
        // A visit after some hours is noted, and then the timeline is tended.
        self.watch.lab.advance_seconds(7 * 3_600);
        self.hold_feeds(&mut world, Order::Latest, 50).await?;
        self.watch.settle().await;
        rows::hold_lengths(&self.watch).await?;
        rows::hold_readers(&self.watch, &world).await?;
        self.hold_feeds(&mut world, Order::Latest, 4).await
    }

    /// Every feed, page by page.
    async fn hold_feeds(
        &self,
        world: &mut World,
        order: Order,
        limit: usize,
    ) -> Result<(), String> {
        for name in PEOPLE {
            let user = person(name);
            let standing = self.watch.store.standing(&user, self.watch.now()).await.unwrap();
            world.seen.insert(user.clone(), standing.seen);
            let (at, pages) = scroll(&self.watch, name, order, limit).await?;
            let expected = world.pages(&user, order, &Weights::CURRENT, at, limit);
            if pages != expected {
                let reader = standing.reader;
                let (is, should) = (self.notes(&pages), self.notes(&expected));
                return Err(format!("{name}, {order:?}: {is:?}, not {should:?}; {reader:?}"));
            }
        }
        Ok(())
    }

    /// The model of what was acknowledged, with what the rows say of closeness and totals.
    async fn world(&self) -> Result<World, String> {
        let mut world = World::default();
        for ((lesser, greater), tie) in self.known.all_ties() {
            for (me, side, other) in [(lesser, tie.mine, greater), (greater, tie.theirs, lesser)] {
                for act in acts(side) {
                    world.act(me, act, other).map_err(|wrong| wrong.to_string())?;
                }
            }
            let between = self.watch.store.between(lesser, greater).await.unwrap();
            let pairs = [(lesser, between.mine, greater), (greater, between.theirs, lesser)];
            for (me, affinity, other) in pairs {
                if let Some(affinity) = affinity {
                    world.affinities.insert((me.clone(), other.clone()), affinity);
                }
            }
        }
        let ids: Vec<PostId> = self.known.posts.values().map(|noted| noted.id).collect();
        for (id, entry) in self.watch.store.posts(ids).await.unwrap() {
            world.counts.insert(id, entry.counts);
            world.posts.insert(id, entry.post);
        }
        Ok(world)
    }

    /// Pages by the words on them.
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

/// How somebody came to stand to somebody else, if nobody blocks anybody before.
fn acts(side: Side) -> Vec<Act> {
    let all = [(side.follows, Act::Follow), (side.mutes, Act::Mute), (side.blocks, Act::Block)];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, act)| act).collect()
}

/// A whole feed, and when it was ranked.
pub(in crate::feed) async fn scroll(
    watch: &Watch,
    who: &str,
    order: Order,
    limit: usize,
) -> Result<(Timestamp, Vec<Vec<PostId>>), String> {
    let mut pages = Vec::new();
    let mut at: Option<Timestamp> = None;
    let order = match order {
        Order::Ranked => "ranked",
        Order::Latest => "latest",
    };
    let mut path = format!("/api/v1/feed?order={order}&limit={limit}");
    loop {
        let answer = watch.call(who, (Method::GET, &path), &Value::Null, None).await;
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

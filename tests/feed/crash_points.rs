//! The same for the feed: each call of each function between a change and the feeds that show it.
//!
//! Whichever call it was that went wrong, in the end every feed is what the model says, lists and counters
//! of followers are right, authors reach people as they should, and no work is left.

mod behind;
mod callers;

use domain::accounts::UserId;
use domain::feed::{FeedOrder, PostId, RankWeights, SocialAction};
use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};
use simulation::feed::reference::ReferenceFeed;
use tests::{Lab, Response, Result, Setup};

use crate::faults::crash_points::sweep;
use crate::feed::faults::harness::{Harness, person};
use crate::feed::faults::{PEOPLE, SETTINGS, invariants, rows};

/// People, and what was acknowledged to them.
struct Scene {
    harness: Harness,
    world: ReferenceFeed,
    posts: Vec<PostId>,
}

impl Scene {
    async fn new() -> Self {
        let lab = Lab::with_parameters(Setup::default(), &[("FeedSettings", SETTINGS)]);
        Self {
            harness: Harness::over(lab).await,
            world: ReferenceFeed::default(),
            posts: Vec::new(),
        }
    }

    /// The first of them is followed by so many, and has written so much.
    async fn followed(followers: usize, posts: usize) -> Self {
        let mut scene = Self::new().await;
        for who in &PEOPLE[1..=followers] {
            scene.act(who, SocialAction::Follow, PEOPLE[0]).await;
        }
        scene.harness.settle().await;
        for _ in 0..posts {
            scene.write(PEOPLE[0], "PUBLIC").await;
        }
        scene.harness.settle().await;
        scene
    }

    /// Repeats a call until it has an answer.
    async fn persist(&self, who: &str, call: (Method, &str), body: &Value) -> Response {
        let done = self.harness.persist(who, call, body, Some("once")).await;
        done.unwrap().answer
    }

    /// Writes a post, a moment after the previous step.
    async fn write(&mut self, who: &str, privacy: &str) -> PostId {
        self.harness.lab.advance_seconds(1);
        let body = json!({ "text": "hello", "privacy": privacy });
        let made = self.harness.call(who, (Method::POST, "/api/v1/posts"), &body, None).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let id = PostId::parse(made.text("postId")).unwrap();
        self.posts.push(id);
        id
    }

    async fn act(&mut self, who: &str, act: SocialAction, whom: &str) {
        let answer = self.harness.call(who, path_of(act, whom).as_call(), &Value::Null, None).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        self.world.act(&person(who), act, &person(whom)).unwrap();
    }

    async fn get(&self, who: &str, path: &str) -> Response {
        self.harness.call(who, (Method::GET, path), &Value::Null, None).await
    }

    /// Everything from here on meets the fault, if it makes so many calls; from cold functions.
    fn strike(&self, nth: u64, fault: Fault) {
        self.harness.lab.cloud.functions.go_cold();
        self.harness.lab.cloud.faults.inject(nth, fault);
    }

    /// Lets everything come to rest and holds it against the model.
    async fn check(&mut self, context: &str) {
        let held = self.hold().await;
        held.map_err(|why| format!("{context}: {why}")).unwrap();
    }

    async fn hold(&mut self) -> Result {
        self.harness.rest().await?;
        for (id, entry) in self.harness.store.posts(self.posts.clone()).await.unwrap() {
            self.world.posts.insert(id, entry.post);
        }
        rows::check_authors(&self.harness, &self.world).await?;
        rows::check_readers(&self.harness, &self.world).await?;
        for name in PEOPLE {
            let (at, pages) = invariants::scroll(&self.harness, name, FeedOrder::Latest, 4).await?;
            let user: UserId = person(name);
            let expected = self.world.pages(&user, FeedOrder::Latest, &RankWeights::CURRENT, at, 4);
            if pages != expected {
                return Err(format!("{name} sees {pages:?}, not {expected:?}"));
            }
        }
        Ok(())
    }

    async fn kept(&self, who: &str) -> usize {
        self.harness.store.timeline(&person(who), PostId::MAX, 1_000).await.unwrap().len()
    }
}

struct Path(Method, String);

impl Path {
    fn as_call(&self) -> (Method, &str) {
        (self.0.clone(), &self.1)
    }
}

fn path_of(act: SocialAction, whom: &str) -> Path {
    let (method, name) = match act {
        SocialAction::Follow => (Method::PUT, "follow"),
        SocialAction::Unfollow => (Method::DELETE, "follow"),
        SocialAction::Block => (Method::PUT, "block"),
        SocialAction::Unblock => (Method::DELETE, "block"),
        SocialAction::Mute => (Method::PUT, "mute"),
        SocialAction::Unmute => (Method::DELETE, "mute"),
    };
    Path(method, format!("/api/v1/users/{whom}/{name}"))
}

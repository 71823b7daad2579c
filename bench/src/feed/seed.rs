//! People, follows and posts, written with the product's own store into a running cloud.
//!
//! Only what is not measured is written this way. The work rows of these follows are taken
//! for done, so that nothing of it runs while something is measured.

use std::sync::atomic::{AtomicU64, Ordering};

use boundary::{Aws, Vars};
use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{
    FeedMessage, FeedSettings, Post, PostBody, PostDelivery, PostId, PostReference, SocialAction,
};
use feed::store::{ActionOutcome, CreateOutcome, FeedStore, NewPost};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;

use crate::Result;
use crate::links::{Client, LocalCloud};

const AT_ONCE: usize = 8;

/// Everybody who has one follower is pulled.
const ALL_PULLED: FeedSettings =
    FeedSettings { pull_from: 1, push_below: 1, ..FeedSettings::DEFAULT };

/// A way into the store of a running cloud.
pub(crate) struct Seeder {
    pub(crate) feed: FeedStore,
    number: AtomicU64,
}

impl Seeder {
    pub(crate) async fn of(server: &LocalCloud) -> Result<Self> {
        let vars: Vars = [
            ("AWS_ENDPOINT_URL", format!("http://{}", server.aws)),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "local".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        let table = table(&server.aws).await?;
        let feed = FeedStore::new(Aws::from_vars(&vars)?.dynamodb(), table);
        Ok(Self { feed, number: AtomicU64::new(0) })
    }

    fn token(&self) -> String {
        format!("seed-{}", self.number.fetch_add(1, Ordering::Relaxed))
    }

    /// Lets each of some people follow each of some others.
    pub(crate) async fn follow(&self, who: &[UserId], whom: &[UserId]) -> Result {
        let pairs = who.iter().flat_map(|one| whom.iter().map(move |other| (one, other)));
        let pairs: Vec<_> = pairs.map(|(one, other)| self.follow_one(one, other)).collect();
        stream::iter(pairs).buffer_unordered(AT_ONCE).try_collect::<()>().await
    }

    async fn follow_one(&self, who: &UserId, whom: &UserId) -> Result {
        let acted =
            self.feed.apply_action(who, SocialAction::Follow, whom, now(), || self.token()).await?;
        let ActionOutcome::Changed(_, told) = acted else { return Ok(()) };
        for work in told.iter().filter_map(FeedMessage::work_id) {
            self.feed.complete_work(&work).await?;
        }
        Ok(())
    }

    /// Switches an author who has a follower to pull.
    pub(crate) async fn raise(&self, author: &UserId) -> Result {
        let token = || self.token();
        let said = self.feed.update_fan_out_policy(author, &ALL_PULLED, now(), token).await?;
        // Who is pulled already stays so.
        let Some(FeedMessage::ReachCrossed { epoch, .. }) = &said else { return Ok(()) };
        let work = said.as_ref().and_then(FeedMessage::work_id).ok_or("no work")?;
        Ok(self.feed.finish_switch_to_pull(author, *epoch, &work, now(), token).await?)
    }

    /// Writes an author's post of so many milliseconds ago; a reference if it is pushed.
    pub(crate) async fn post(&self, author: &UserId, ago_ms: i64) -> Result<Option<PostReference>> {
        let at = Timestamp::from_millisecond(now().as_millisecond() - ago_ms)?;
        let row = self.feed.author(author).await?;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let id = PostId::made_from(at, number.to_be_bytes());
        let body =
            PostBody { text: "Some words about something. ".repeat(8), ..PostBody::default() };
        let post = Post::new(id, author.clone(), body, row.recents.policy.post_delivery(), at);
        let new = NewPost { post: &post, author: &row, once: None };
        let settings = FeedSettings::DEFAULT;
        let done = self.feed.create_post(new, Vec::new(), &settings, at, &self.token()).await?;
        let CreateOutcome::Created(told) = done else {
            return Err("a post was not written".into());
        };
        if let Some(work) = told.as_ref().and_then(FeedMessage::work_id) {
            self.feed.complete_work(&work).await?;
        }
        let reference = PostReference { post_id: id, author: author.clone() };
        Ok((post.delivery == PostDelivery::Push).then_some(reference))
    }
}

/// The feed's table, by the name that the cloud gave it.
async fn table(aws: &str) -> Result<String> {
    let mut client = Client::connect(aws).await?;
    let headers = [("x-amz-target", "DynamoDB_20120810.ListTables")];
    let nothing = Value::Object(serde_json::Map::new());
    let listed = client.call(("POST", "/"), &headers, Some(&nothing), false).await?;
    let listed: Value = serde_json::from_slice(listed.body())?;
    let names = listed["TableNames"].as_array().ok_or("no tables")?.iter();
    let mut names = names.filter_map(Value::as_str);
    let found = names.find(|name| name.to_lowercase().replace('-', "").ends_with("feedtable"));
    Ok(found.ok_or("the feed has no table")?.to_owned())
}

pub(crate) fn person(kind: &str, n: usize) -> UserId {
    UserId::outside(&format!("{kind}{n}"))
}

pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

pub(crate) fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

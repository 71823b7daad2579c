//! People, follows and posts, written with the product's own store into a running cloud.
//!
//! Only what nobody measures is written this way. What the work rows of these follows would begin is taken
//! for done, so that nothing of it runs while something is measured.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

use boundary::{Aws, Vars};
use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{Act, Body, Fan, Message, Post, PostId, Reference, Settings};
use feed::store::Feed;
use feed::store::{Acted, Created, NewPost};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;

use crate::links::{Client, LocalCloud};

/// Calls at the same time.
const AT_ONCE: usize = 8;

/// Everybody who has one follower is pulled.
const ALL_PULLED: Settings = Settings { pull_from: 1, push_below: 1, ..Settings::DEFAULT };

/// A way into the store of a running cloud.
pub(crate) struct Seed {
    pub(crate) feed: Feed,
    number: AtomicU64,
}

impl Seed {
    pub(crate) async fn of(server: &LocalCloud) -> Result<Self, Box<dyn Error>> {
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
        let feed = Feed::new(Aws::from_vars(&vars)?.dynamodb(), table);
        Ok(Self { feed, number: AtomicU64::new(0) })
    }

    fn token(&self) -> String {
        format!("seed-{}", self.number.fetch_add(1, Ordering::Relaxed))
    }

    /// Lets each of some people follow each of some others.
    pub(crate) async fn follow(
        &self,
        who: &[UserId],
        whom: &[UserId],
    ) -> Result<(), Box<dyn Error>> {
        let pairs = who.iter().flat_map(|one| whom.iter().map(move |other| (one, other)));
        let pairs: Vec<_> = pairs.map(|(one, other)| self.follow_one(one, other)).collect();
        stream::iter(pairs).buffer_unordered(AT_ONCE).try_collect::<()>().await
    }

    async fn follow_one(&self, who: &UserId, whom: &UserId) -> Result<(), Box<dyn Error>> {
        let acted = self.feed.act(who, Act::Follow, whom, now(), || self.token()).await?;
        let Acted::Changed(_, told) = acted else { return Ok(()) };
        for work in told.iter().filter_map(Message::work) {
            self.feed.done(&work).await?;
        }
        Ok(())
    }

    /// Makes somebody who has a follower one whose posts are pulled.
    pub(crate) async fn raise(&self, author: &UserId) -> Result<(), Box<dyn Error>> {
        let token = || self.token();
        let said = self.feed.recount(author, &ALL_PULLED, now(), token).await?;
        // Who is pulled already stays so.
        let Some(Message::ReachCrossed { epoch, .. }) = &said else { return Ok(()) };
        let work = said.as_ref().and_then(Message::work).ok_or("no work")?;
        Ok(self.feed.risen(author, *epoch, &work, now(), token).await?)
    }

    /// Writes a post of somebody, so many milliseconds ago; a reference if it is pushed.
    pub(crate) async fn post(
        &self,
        author: &UserId,
        ago_ms: i64,
    ) -> Result<Option<Reference>, Box<dyn Error>> {
        let at = Timestamp::from_millisecond(now().as_millisecond() - ago_ms)?;
        let row = self.feed.author(author).await?;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let id = PostId::made_from(at, number.to_be_bytes());
        let body = Body { text: "Some words about something. ".repeat(8), ..Body::default() };
        let post = Post::new(id, author.clone(), body, row.recents.reach.fan(), at);
        let new = NewPost { post: &post, author: &row, once: None };
        let settings = Settings::DEFAULT;
        let done = self.feed.create(new, Vec::new(), &settings, at, &self.token()).await?;
        let Created::Created(told) = done else { return Err("a post was not written".into()) };
        if let Some(work) = told.as_ref().and_then(Message::work) {
            self.feed.done(&work).await?;
        }
        let reference = Reference { post_id: id, author: author.clone() };
        Ok((post.fan == Fan::Push).then_some(reference))
    }
}

/// The feed's table, by the name that the cloud gave it.
async fn table(aws: &str) -> Result<String, Box<dyn Error>> {
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

//! Posts, and the row of an author's newest ones, which changes with each of them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use domain::accounts::UserId;
use domain::feed::fan_out::{FanOutPlan, plan_purge, plan_push};
use domain::feed::{
    Counts, FanOutMode, FanOutPolicy, FeedMessage, FeedSettings, Post, PostId, Privacy,
    RecentPosts, ReferenceRun,
};
use domain::{Result, Timestamp};
use serde::Deserialize;

use super::requests::{RangeQuery, RowUpdate};
use super::{FeedStore, rows};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::row::{Builder, Item, ItemReader, broken, bytes, number, text};
use store::schema::{GSI1, GSI1_PK, GSI1_SK};
use store::transaction::{Transacted, transact};

/// A post, and what is counted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPost {
    pub post: Post,
    /// As it was last added up.
    pub counts: Counts,
    pub acts: u64,
    /// How many counters it is spread over.
    pub shard_count: u8,
}

#[derive(Deserialize)]
struct Totals {
    #[serde(default)]
    counts: Counts,
    #[serde(default)]
    acts: u64,
    #[serde(default, rename = "width")]
    shard_count: u8,
}

/// An author's recent posts and fan-out policy. Version 0 if they never wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthorRow {
    pub recents: RecentPosts,
    pub version: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct NewPost<'a> {
    pub post: &'a Post,
    /// Its author's row, as it was read. The post's delivery is the one that it says.
    pub author: &'a AuthorRow,
    /// The request's key and the response that a repeat gets.
    pub once: Option<(&'a IdempotentRequest<'a>, &'a StoredResponse)>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum CreateOutcome {
    /// It is written. The message to publish, if any; its work is pending until it is done.
    Created(Option<FeedMessage>),
    /// The call was made before: its answer, or why there is none.
    Replayed(Claim),
    /// The author's row or another one that was read has changed; read again.
    Conflict,
}

#[derive(Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// It is written. The message to publish, if any.
    Updated(Option<FeedMessage>),
    /// It has changed; read again.
    Conflict,
}

impl StoredPost {
    pub(super) fn read(item: &Item) -> Result<Self> {
        let Totals { counts, acts, shard_count } = rows::from_item(item)?;
        Ok(Self { post: rows::from_item(item)?, counts, acts, shard_count: shard_count.max(1) })
    }
}

impl FeedStore {
    pub async fn post(&self, id: PostId) -> Result<Option<StoredPost>> {
        let found = self.get(rows::post_key(id), "read the post").await?;
        found.as_ref().map(StoredPost::read).transpose()
    }

    /// Reads posts, up to date, a hundred in a call; what is not there is left out.
    pub async fn posts(
        &self,
        ids: impl IntoIterator<Item = PostId>,
    ) -> Result<HashMap<PostId, StoredPost>> {
        let keys = ids.into_iter().map(rows::post_key).collect();
        let found = self.get_all(keys, "read posts").await?;
        let entries = found.iter().map(StoredPost::read);
        entries.map(|entry| entry.map(|entry| (entry.post.id, entry))).collect()
    }

    /// Reads an author's row, up to date.
    pub async fn author(&self, author: &UserId) -> Result<AuthorRow> {
        let found = self.get(rows::author_key(author), "read the author").await?;
        found.as_ref().map_or_else(|| Ok(AuthorRow::default()), read_author)
    }

    /// The same for several, each once, a hundred in a call. Who never wrote is left out.
    pub async fn authors(
        &self,
        authors: impl IntoIterator<Item = &UserId>,
    ) -> Result<HashMap<UserId, AuthorRow>> {
        let keys = authors.into_iter().map(rows::author_key).collect();
        let found = self.get_all(keys, "read authors").await?;
        let author = |item: &Item| {
            let pk =
                ItemReader(item).text("pk")?.strip_prefix("author#").ok_or_else(|| broken("pk"))?;
            Ok((UserId::outside(pk), read_author(item)?))
        };
        found.iter().map(author).collect()
    }

    /// An author's newest `limit` posts below a place: from their row as far as that goes, then
    /// from the list of all.
    pub async fn posts_below(
        &self,
        author: &UserId,
        row: &RecentPosts,
        below: PostId,
        limit: usize,
    ) -> Result<ReferenceRun> {
        if let Some(run) = row.run_below(author, below) {
            return Ok(run);
        }
        let range = RangeQuery {
            index: Some(GSI1),
            condition: "gsi1pk = :author AND gsi1sk < :below",
            values: vec![(":author", text(rows::posts_of(author))), (":below", text(below.text()))],
            descending: true,
            limit: Some(limit),
        };
        let found = self.query(range, "read an author's posts").await?;
        let ids: Vec<PostId> = found
            .iter()
            .map(|item| {
                PostId::parse(ItemReader(item).text(GSI1_SK)?).ok_or_else(|| broken(GSI1_SK))
            })
            .collect::<Result<_, _>>()?;
        Ok(ReferenceRun::from_query(author, &ids, limit))
    }

    /// Writes a new post: the post, its author's row, what is left to do about it, the answer for a
    /// repeat, and the items of `with`, all of it or nothing.
    pub async fn create_post(
        &self,
        new: NewPost<'_>,
        with: Vec<TransactWriteItem>,
        settings: &FeedSettings,
        now: Timestamp,
        token: &str,
    ) -> Result<CreateOutcome> {
        const ACTION: &str = "write the post";
        let NewPost { post, author, once } = new;
        let mut recents = author.recents.clone();
        recents.add(post.id, post.delivery, settings);
        let mut items = vec![
            self.put_version(new_row(post)?, 0, ACTION)?,
            self.author_item(&post.author, &recents, author.version, ACTION)?,
        ];
        let idempotency_index = items.len();
        if let Some((request, answer)) = once {
            items.push(self.once.claim_with_response(request, answer, now)?);
        }
        let message = FeedMessage::post_created(post);
        let message = match plan_push(post, 0, settings) {
            FanOutPlan::Nothing => None,
            // What is pulled is still to be named to those who are connected.
            FanOutPlan::Pulled | FanOutPlan::Pages(_) => {
                items.push(self.pending_item(&message, now, ACTION)?);
                Some(message)
            }
        };
        items.extend(with);
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(CreateOutcome::Created(message));
        }
        match (once, outcome.refused(idempotency_index)) {
            (Some((request, _)), Some(met)) => {
                Ok(CreateOutcome::Replayed(Idempotency::read_claim(met, request)?))
            }
            // Ids are random: who finds the post there has written it.
            _ if outcome.refused(0).is_some() => Ok(CreateOutcome::Created(message)),
            _ => Ok(CreateOutcome::Conflict),
        }
    }

    /// Replaces a post by its next version: an edit, or what an admin decided. If that brings it to
    /// people whom it was kept from, it is fanned out.
    pub async fn update_post(
        &self,
        before: &Post,
        after: &Post,
        now: Timestamp,
        token: &str,
    ) -> Result<UpdateOutcome> {
        const ACTION: &str = "change the post";
        let mut items = vec![self.next_post_item(before, after, ACTION)?];
        let message = after.is_wider_than(before).then(|| FeedMessage::post_created(after));
        if let Some(message) = &message {
            items.push(self.pending_item(message, now, ACTION)?);
        }
        match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => Ok(UpdateOutcome::Updated(message)),
            Transacted::Refused(_) => Ok(UpdateOutcome::Conflict),
        }
    }

    /// Replaces `before` by its tombstone, takes it out of its author's row, and says that timelines are to
    /// be purged. `with` is what else belongs to it.
    pub async fn delete_post(
        &self,
        (before, after): (&Post, &Post),
        author: &AuthorRow,
        with: Vec<TransactWriteItem>,
        settings: &FeedSettings,
        now: Timestamp,
        token: &str,
    ) -> Result<UpdateOutcome> {
        const ACTION: &str = "delete the post";
        let mut recents = author.recents.clone();
        recents.remove(before.id);
        let mut items = vec![
            self.next_post_item(before, after, ACTION)?,
            self.author_item(&before.author, &recents, author.version, ACTION)?,
        ];
        let purged = matches!(plan_purge(after, 0, settings), FanOutPlan::Pages(_));
        let message = purged.then(|| FeedMessage::post_deleted(after));
        if let Some(message) = &message {
            items.push(self.pending_item(message, now, ACTION)?);
        }
        items.extend(with);
        match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => Ok(UpdateOutcome::Updated(message)),
            Transacted::Refused(_) => Ok(UpdateOutcome::Conflict),
        }
    }

    /// The next version of a post. Its totals, which others write, stay.
    fn next_post_item(
        &self,
        before: &Post,
        after: &Post,
        action: &'static str,
    ) -> Result<TransactWriteItem> {
        const KEEPS: &str = "SET body = :body, v = :after, edited_at = :edited, \
                             deleted_at = :deleted, hidden_at = :hidden";
        const COOLS: &str = "SET body = :body, v = :after, edited_at = :edited, \
                             deleted_at = :deleted, hidden_at = :hidden REMOVE gsi2pk, gsi2sk";
        const ENDS: &str = "SET body = :body, v = :after, edited_at = :edited, \
                            deleted_at = :deleted, hidden_at = :hidden \
                            REMOVE shares, gsi1pk, gsi1sk, gsi2pk, gsi2sk";
        let expression = if after.deleted_at.is_some() {
            ENDS
        } else if after.is_gone() || after.body.privacy != Privacy::Public {
            COOLS
        } else {
            KEEPS
        };
        let mut body = rows::to_item(&HashMap::from([("body", &after.body)]))?;
        let body = body.remove("body").ok_or_else(|| broken("body"))?;
        let at = |at: Option<Timestamp>| {
            at.map_or(AttributeValue::Null(true), |at| text(at.to_string()))
        };
        let update = RowUpdate::new(rows::post_key(before.id), expression)
            .condition("v = :before")
            .value(":before", number(before.version))
            .value(":after", number(after.version))
            .value(":body", body)
            .value(":edited", at(after.edited_at))
            .value(":deleted", at(after.deleted_at))
            .value(":hidden", at(after.hidden_at));
        self.update_item(update, action)
    }

    pub(super) fn author_item(
        &self,
        author: &UserId,
        recents: &RecentPosts,
        before: u64,
        action: &'static str,
    ) -> Result<TransactWriteItem> {
        self.put_version(author_item(author, recents, before + 1), before, action)
    }
}

fn new_row(post: &Post) -> Result<Item> {
    let mut item = rows::to_item(post)?;
    item.extend(rows::post_key(post.id));
    item.insert(GSI1_PK.to_owned(), text(rows::posts_of(&post.author)));
    item.insert(GSI1_SK.to_owned(), text(post.id.text()));
    Ok(item)
}

/// A hundred names are 1,400 bytes: as text the row would cost twice as much with each post.
fn author_item(author: &UserId, recents: &RecentPosts, version: u64) -> Item {
    let names: Vec<u8> = recents.posts.iter().flat_map(|post| post.bytes()).collect();
    let FanOutPolicy { mode, epoch } = recents.policy;
    let mut item = Builder::default()
        .with_some("posts", (!names.is_empty()).then(|| bytes(&names)))
        .with_some("cut", recents.truncated_at.map(|post| text(post.text())))
        .with_some("last_pulled", recents.last_pulled.map(|post| text(post.text())))
        .with("reach", text(mode_name(mode)))
        .with("epoch", number(epoch))
        .with("v", number(version))
        .build();
    item.extend(rows::author_key(author));
    item
}

fn read_author(item: &Item) -> Result<AuthorRow> {
    let row = ItemReader(item);
    let names = if item.contains_key("posts") { row.bytes("posts")? } else { &[] };
    let names = names.chunks_exact(PostId::BYTES).filter_map(|name| name.try_into().ok());
    let post = |name| {
        let id = row.maybe_text(name).map(PostId::parse);
        id.map(|id| id.ok_or_else(|| broken(name))).transpose()
    };
    let mode = row.text("reach")?;
    let mode = [FanOutMode::Push, FanOutMode::Switching, FanOutMode::Pull]
        .into_iter()
        .find(|known| mode_name(*known) == mode)
        .ok_or_else(|| broken("reach"))?;
    let recents = RecentPosts {
        posts: names.map(PostId::from_bytes).collect(),
        truncated_at: post("cut")?,
        last_pulled: post("last_pulled")?,
        policy: FanOutPolicy { mode, epoch: row.number("epoch")? },
    };
    Ok(AuthorRow { recents, version: row.number("v")? })
}

const fn mode_name(mode: FanOutMode) -> &'static str {
    match mode {
        FanOutMode::Push => "pushed",
        FanOutMode::Switching => "rising",
        FanOutMode::Pull => "pulled",
    }
}

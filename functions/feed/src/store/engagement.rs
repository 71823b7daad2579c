//! What people do about posts: each act once, in one transaction with one of the post's counters.
//!
//! The person's own row says what they did; it changes from the version that was read, so an act that is
//! sent twice finds itself. The counter only grows, and is put on the list of those that are to be added
//! up. Actions that raise an affinity move the relationship on, from the version by which it was
//! decided that the post may be seen: no like follows a block. A post that is deleted meanwhile is liked
//! in vain.
//!
//! If others are at the counter, the post is spread over all the counters that there are.

use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::accounts::UserId;
use domain::feed::counts::{
    CounterDelta, MAX_SHARDS, engage, hour_of, is_aggregation_due, shard_of,
};
use domain::feed::{Affinity, Engagement, Interaction, PostAction, PostId};
use domain::{Result, Timestamp};

use super::posts::StoredPost;
use super::relationships::StoredRelationship;
use super::requests::RowUpdate;
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, number, text};
use store::schema::SK;
use store::transaction::{Transacted, Tried, transact, try_transact};

const ACTION: &str = "record an action on a post";

/// Where the counter is among the items.
const COUNTER: usize = 0;

/// An act that is decided and not written.
#[derive(Debug)]
pub struct PreparedAction {
    /// What writes it, all of it or nothing.
    pub items: Vec<TransactWriteItem>,
    /// Whether `CountsMoved` is sent once it is written.
    pub aggregation_due: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngageOutcome {
    Counted {
        /// Whether `CountsMoved` is to be sent.
        aggregation_due: bool,
    },
    Unchanged,
    /// A row that was read has changed; read again.
    Conflict,
}

/// How the transaction of an act ended, for those who wrote something with it.
pub(super) enum PostActionEnd {
    /// It was so already, and nothing was written.
    Unchanged,
    Counted {
        aggregation_due: bool,
    },
    /// It is not; what came with the act begins at item `with`.
    Refused {
        ended: Transacted,
        with: usize,
    },
}

impl FeedStore {
    /// Records an action on a post that the user may see. `relation` is their relationship with its
    /// author, by which that was decided; `with` is what else is written then.
    pub async fn engage(
        &self,
        (user, act): (&UserId, PostAction),
        entry: &StoredPost,
        relation: &StoredRelationship,
        with: Vec<TransactWriteItem>,
        now: Timestamp,
        token: &str,
    ) -> Result<EngageOutcome> {
        Ok(
            match self
                .engage_in_transaction((user, act), entry, relation, &with, now, token)
                .await?
            {
                PostActionEnd::Unchanged => EngageOutcome::Unchanged,
                PostActionEnd::Counted { aggregation_due } => {
                    EngageOutcome::Counted { aggregation_due }
                }
                PostActionEnd::Refused { .. } => EngageOutcome::Conflict,
            },
        )
    }

    /// The items of an act, for a transaction that something else is written in; `None` if it is so
    /// already.
    pub async fn prepare_action(
        &self,
        (user, act): (&UserId, PostAction),
        entry: &StoredPost,
        relation: &StoredRelationship,
        now: Timestamp,
    ) -> Result<Option<PreparedAction>> {
        let post = entry.post.id;
        let counter = shard_of(post, user, entry.shard_count);
        let keys = vec![rows::engaged_key(user, post), rows::count_key(post, counter)];
        let found = self.get_all(keys, "read the user's actions on a post").await?;
        let is_counter = |item: &&Item| ItemReader(item).maybe_text(SK) == Some("count");
        let acts =
            found.iter().find(is_counter).and_then(|item| ItemReader(item).maybe_number("acts"));
        let row = found.iter().find(|item| !is_counter(item));
        let before: Option<Engagement> = row.map(rows::from_item).transpose()?;
        let version: u64 = row.map_or(Ok(0), |item| ItemReader(item).number("v"))?;
        let Some((after, delta)) = engage(before.as_ref(), act) else { return Ok(None) };
        let mut engaged = rows::to_item(&after)?;
        engaged.extend(rows::engaged_key(user, post));
        engaged.insert("v".to_owned(), number(version + 1));
        let mut items = vec![
            self.update_item(counted(post, counter, delta, now), ACTION)?,
            self.put_version(engaged, version, ACTION)?,
        ];
        if !delta.is_undo && entry.post.author != *user {
            let mine =
                relation.my_affinity.unwrap_or(Affinity::none(now)).after(delta.interaction, now);
            items.push(self.affinity_item(user, &entry.post.author, relation, mine, ACTION)?);
        }
        Ok(Some(PreparedAction {
            items,
            aggregation_due: is_aggregation_due(acts.unwrap_or(0) + 1, counter, entry.shard_count),
        }))
    }

    pub(super) async fn engage_in_transaction(
        &self,
        (user, act): (&UserId, PostAction),
        entry: &StoredPost,
        relation: &StoredRelationship,
        with: &[TransactWriteItem],
        now: Timestamp,
        token: &str,
    ) -> Result<PostActionEnd> {
        let mut entry = entry.clone();
        loop {
            let Some(PreparedAction { mut items, aggregation_due }) =
                self.prepare_action((user, act), &entry, relation, now).await?
            else {
                return Ok(PostActionEnd::Unchanged);
            };
            let own = items.len();
            items.extend_from_slice(with);
            let ended = match try_transact(&self.client, ACTION, items.clone()).await? {
                Tried::Ended(ended) => ended,
                Tried::Conflicted(at)
                    if at.contains(&COUNTER) && entry.shard_count < MAX_SHARDS =>
                {
                    self.raise_shard_count(entry.post.id, MAX_SHARDS).await?;
                    entry.shard_count = MAX_SHARDS;
                    continue;
                }
                Tried::Conflicted(_) => transact(&self.client, ACTION, items, token).await?,
            };
            return Ok(match ended {
                Transacted::Committed => PostActionEnd::Counted { aggregation_due },
                refused @ Transacted::Refused(_) => {
                    PostActionEnd::Refused { ended: refused, with: own }
                }
            });
        }
    }

    /// Spreads a post over so many counters, if it is not spread over more.
    async fn raise_shard_count(&self, post: PostId, shard_count: u8) -> Result {
        let update = RowUpdate::new(rows::post_key(post), "SET width = :width")
            .condition("attribute_exists(pk) AND (attribute_not_exists(width) OR width < :width)")
            .value(":width", number(shard_count));
        self.update(update, "spread a post over more counters").await.map(|_| ())
    }
}

/// A counter moves on, and is on the list of those that are to be added up.
fn counted(post: PostId, counter: u8, delta: CounterDelta, now: Timestamp) -> RowUpdate {
    let attribute = counter_attribute(delta.interaction, delta.is_undo);
    let newcomer =
        if delta.is_new_user { format!(", h{} :one", hour_of(now)) } else { String::new() };
    let expression = format!(
        "SET gsi2pk = if_not_exists(gsi2pk, :list), gsi2sk = if_not_exists(gsi2sk, :name) \
         ADD acts :one, {attribute} :one{newcomer}"
    );
    RowUpdate::new(rows::count_key(post, counter), expression)
        .value(":list", text(rows::dirty_pk(rows::list_of(post))))
        .value(":name", text(format!("{post}#{counter:02}")))
        .value(":one", number(1))
}

pub(super) const fn counter_attribute(interaction: Interaction, is_undo: bool) -> &'static str {
    match (interaction, is_undo) {
        (Interaction::Like, false) => "likes",
        (Interaction::Like, true) => "unlikes",
        (Interaction::Comment, false) => "comments",
        (Interaction::Comment, true) => "uncomments",
        (Interaction::Share, false) => "shares",
        (Interaction::Share, true) => "unshares",
    }
}

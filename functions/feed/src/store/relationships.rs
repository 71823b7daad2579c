//! Relationships, and the lists of followers that follow from them.
//!
//! A follow is one transaction of the relationship, both lists, one of the author's counters (if its
//! epoch is the one that was read), the follower's own row, the mark that it needs, and what is left to do.
//! So no follower slips through while an author begins to be pulled, and each is counted once.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem};
use domain::accounts::UserId;
use domain::feed::fan_out::follower_key;
use domain::feed::fan_out_policy::follower_counter;
use domain::feed::{
    Affinity, FanOutPolicy, FeedMessage, MAX_FOLLOWS, Rejected, Relationship, RelationshipChange,
    Side, SocialAction,
};
use domain::{Failure, Result, Timestamp};
use serde::{Deserialize, Serialize};

use super::requests::RowUpdate;
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, instant, key, number, text};
use store::transaction::{self, Transacted, transact};

/// Tries when another request changes the relationship.
const TRIES: usize = 8;

const ACTION: &str = "change a relationship";

/// The relationship of two users, seen by one of them. Who never met is at version 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StoredRelationship {
    pub state: Relationship,
    /// How close the one who looks is to the other.
    pub my_affinity: Option<Affinity>,
    pub their_affinity: Option<Affinity>,
    pub version: u64,
}

#[derive(Debug, PartialEq)]
pub enum ActionOutcome {
    /// The relationship now, and the messages to send.
    Changed(Relationship, Vec<FeedMessage>),
    /// It was so already.
    Unchanged(Relationship),
    Rejected(Rejected),
}

#[derive(Debug, Serialize, Deserialize)]
struct RelationshipRow {
    lesser: Side,
    greater: Side,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lesser_is_close: Option<Affinity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    greater_is_close: Option<Affinity>,
    v: u64,
}

impl StoredRelationship {
    fn read(item: &Item, is_lesser: bool) -> Result<Self> {
        let row: RelationshipRow = rows::from_item(item)?;
        let seen_by_lesser = Self {
            state: Relationship { mine: row.lesser, theirs: row.greater },
            my_affinity: row.lesser_is_close,
            their_affinity: row.greater_is_close,
            version: row.v,
        };
        Ok(if is_lesser { seen_by_lesser } else { seen_by_lesser.reversed() })
    }

    const fn reversed(self) -> Self {
        Self {
            state: self.state.reversed(),
            my_affinity: self.their_affinity,
            their_affinity: self.my_affinity,
            version: self.version,
        }
    }

    /// How close the one who looks is to the other at a moment.
    pub fn affinity_at(&self, now: Timestamp) -> f64 {
        self.my_affinity.map_or(0.0, |affinity| affinity.value_at(now))
    }
}

impl FeedStore {
    /// The relationship of two users, up to date.
    pub async fn relationship(&self, me: &UserId, other: &UserId) -> Result<StoredRelationship> {
        let found = self.get(rows::relationship_key(me, other), "read a relationship").await?;
        let (_, _, is_lesser) = Relationship::key(me, other);
        found.map_or_else(
            || Ok(StoredRelationship::default()),
            |item| StoredRelationship::read(&item, is_lesser),
        )
    }

    /// A user's relationships with some others, up to date; a hundred in a call. Users without a
    /// relationship are left out, and so are they themselves.
    pub async fn relationships(
        &self,
        me: &UserId,
        others: impl IntoIterator<Item = &UserId>,
    ) -> Result<HashMap<UserId, StoredRelationship>> {
        let mut named: HashMap<String, &UserId> = HashMap::new();
        for other in others.into_iter().filter(|other| *other != me) {
            let key = rows::relationship_key(me, other);
            named.insert(ItemReader(&key).text("pk")?.to_owned(), other);
        }
        let keys = named.values().map(|other| rows::relationship_key(me, other)).collect();
        let found = self.get_all(keys, "read relationships").await?;
        let mut relationships = HashMap::new();
        for item in found {
            if let Some(other) = named.get(ItemReader(&item).text("pk")?) {
                let (_, _, is_lesser) = Relationship::key(me, other);
                relationships.insert((*other).clone(), StoredRelationship::read(&item, is_lesser)?);
            }
        }
        Ok(relationships)
    }

    /// A follow, block, mute or the reverse. `token` makes a new idempotency token for each write.
    pub async fn apply_action(
        &self,
        me: &UserId,
        act: SocialAction,
        other: &UserId,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<ActionOutcome> {
        for _ in 0..TRIES {
            let relation = self.relationship(me, other).await?;
            let (mut policy, mut following) = (FanOutPolicy::default(), 0);
            if act == SocialAction::Follow && !relation.state.mine.follows {
                let (author, reader) =
                    futures::future::try_join(self.author(other), self.reader_state(me, now))
                        .await?;
                (policy, following) = (author.recents.policy, reader.following);
            }
            let decided = match relation.state.apply(act, me, other, following) {
                Ok(Some(decided)) => decided,
                Ok(None) => return Ok(ActionOutcome::Unchanged(relation.state)),
                Err(rejected) => return Ok(ActionOutcome::Rejected(rejected)),
            };
            let gone = self.obsolete_mark_items(me, other, decided).await?;
            let (mut items, messages) =
                self.action_items(me, other, &relation, decided, policy, now)?;
            items.extend(gone);
            let outcome = transact(&self.client, ACTION, items, &token()).await?;
            if matches!(outcome, Transacted::Committed) {
                return Ok(ActionOutcome::Changed(decided.relationship, messages));
            }
        }
        Err(Failure::new(ACTION, "it keeps changing"))
    }

    /// Everything that an act writes, and what is message afterwards.
    fn action_items(
        &self,
        me: &UserId,
        other: &UserId,
        before: &StoredRelationship,
        decided: RelationshipChange,
        policy: FanOutPolicy,
        now: Timestamp,
    ) -> Result<(Vec<TransactWriteItem>, Vec<FeedMessage>)> {
        let after = StoredRelationship {
            state: decided.relationship,
            version: before.version + 1,
            ..*before
        };
        let mut items =
            vec![self.put_version(relationship_row(me, other, &after)?, before.version, ACTION)?];
        let mut messages = Vec::new();
        if decided.their_followers > 0 {
            items.extend(self.follow_items(me, other, policy, now)?);
            let (follower, author, version) = (me.clone(), other.clone(), after.version);
            let message = FeedMessage::Followed { v: 1, follower, author, version };
            items.push(self.pending_item(&message, now, ACTION)?);
            messages.push(message);
        }
        if decided.their_followers < 0 {
            items.extend(self.unfollow_items(me, other)?);
            messages.push(FeedMessage::Unfollowed {
                v: 1,
                follower: me.clone(),
                author: other.clone(),
            });
        }
        if decided.my_followers < 0 {
            items.extend(self.unfollow_items(other, me)?);
            messages.push(FeedMessage::Unfollowed {
                v: 1,
                follower: other.clone(),
                author: me.clone(),
            });
        }
        Ok((items, messages))
    }

    fn follow_items(
        &self,
        follower: &UserId,
        author: &UserId,
        policy: FanOutPolicy,
        now: Timestamp,
    ) -> Result<Vec<TransactWriteItem>> {
        let mut listed = key(&rows::followers_pk(author), &follower_key(follower));
        listed.insert("who".to_owned(), text(follower.as_str()));
        let mut lists = key(&rows::following_pk(follower), author.as_str());
        lists.insert("since".to_owned(), instant(now));
        let counter =
            key(&rows::followers_pk(author), &rows::counter_sk(follower_counter(follower)));
        let same_epoch = match policy.epoch {
            0 => "attribute_not_exists(epoch) OR epoch = :epoch",
            _ => "epoch = :epoch",
        };
        let moved = RowUpdate::new(counter, "SET epoch = :epoch ADD followers :one")
            .condition(same_epoch)
            .value(":epoch", number(policy.epoch))
            .value(":one", number(1));
        let reader = RowUpdate::new(
            rows::reader_key(follower, rows::READER),
            "SET seen_at = if_not_exists(seen_at, :now), \
             complete_from = if_not_exists(complete_from, :floor), \
             epoch = if_not_exists(epoch, :zero) ADD following :one",
        );
        let reader = super::readers::with_reader_defaults(reader, now)
            .condition("attribute_not_exists(following) OR following < :most")
            .value(":one", number(1))
            .value(":most", number(MAX_FOLLOWS));
        let mut items = vec![
            self.put_item(listed, ACTION)?,
            self.put_item(lists, ACTION)?,
            self.update_item(moved, ACTION)?,
            self.update_item(reader, ACTION)?,
        ];
        if let Some(epoch) = policy.mark_epoch() {
            items.push(
                self.update_item(super::readers::add_mark_update(follower, author, epoch), ACTION)?,
            );
        }
        Ok(items)
    }

    fn unfollow_items(&self, follower: &UserId, author: &UserId) -> Result<Vec<TransactWriteItem>> {
        let counter =
            key(&rows::followers_pk(author), &rows::counter_sk(follower_counter(follower)));
        let moved = RowUpdate::new(counter, "ADD followers :less").value(":less", number(-1));
        let reader = rows::reader_key(follower, rows::READER);
        let reader = RowUpdate::new(reader, "ADD following :less").value(":less", number(-1));
        Ok(vec![
            self.delete_item(key(&rows::followers_pk(author), &follower_key(follower)))?,
            self.delete_item(key(&rows::following_pk(follower), author.as_str()))?,
            self.update_item(moved, ACTION)?,
            self.update_item(reader, ACTION)?,
        ])
    }

    /// Takes away the marks of those who follow no longer: a later follow adds its own. One that a
    /// page puts there at this moment costs a read and hides nothing.
    async fn obsolete_mark_items(
        &self,
        me: &UserId,
        other: &UserId,
        decided: RelationshipChange,
    ) -> Result<Vec<TransactWriteItem>> {
        let ends = [(me, other, decided.their_followers), (other, me, decided.my_followers)];
        let mut items = Vec::new();
        for (follower, author, _) in ends.into_iter().filter(|(.., more)| *more < 0) {
            let marks = self.marks_of(follower, author).await?;
            if !marks.is_empty() {
                items.push(
                    self.update_item(super::readers::remove_marks_update(follower, marks), ACTION)?,
                );
            }
        }
        Ok(items)
    }

    fn delete_item(&self, key: Item) -> Result<TransactWriteItem> {
        Delete::builder()
            .table_name(&self.table)
            .set_key(Some(key))
            .build()
            .map(transaction::delete)
            .map_err(|cause| Failure::new(ACTION, cause))
    }

    /// The item that writes an affinity if the relationship is as it was read: for actions that were
    /// allowed by it.
    pub(super) fn affinity_item(
        &self,
        me: &UserId,
        other: &UserId,
        before: &StoredRelationship,
        mine: Affinity,
        action: &'static str,
    ) -> Result<TransactWriteItem> {
        let after =
            StoredRelationship { my_affinity: Some(mine), version: before.version + 1, ..*before };
        self.put_version(relationship_row(me, other, &after)?, before.version, action)
    }
}

fn relationship_row(me: &UserId, other: &UserId, relation: &StoredRelationship) -> Result<Item> {
    let (_, _, is_lesser) = Relationship::key(me, other);
    let by_lesser = if is_lesser { *relation } else { relation.reversed() };
    let row = RelationshipRow {
        lesser: by_lesser.state.mine,
        greater: by_lesser.state.theirs,
        lesser_is_close: by_lesser.my_affinity,
        greater_is_close: by_lesser.their_affinity,
        v: by_lesser.version,
    };
    let mut item = rows::to_item(&row)?;
    item.extend(rows::relationship_key(me, other));
    Ok(item)
}

pub(super) fn string_set(text: String) -> AttributeValue {
    AttributeValue::Ss(vec![text])
}

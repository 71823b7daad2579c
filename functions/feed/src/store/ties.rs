//! What is between two people, and the lists that follow from it.
//!
//! A follow is one transaction of what is between them, both lists, one of the author's counters (if its
//! epoch is the one that was read), the follower's own row, the mark that it needs, and what is left to do.
//! So no follower slips through while an author begins to be pulled, and each is counted once.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem};
use domain::accounts::UserId;
use domain::feed::fan_out::follower_key;
use domain::feed::reach::counter_of;
use domain::feed::{
    Act, Affinity, Change as Decided, MAX_FOLLOWS, Message, Reach, Rejected, Side, Tie,
};
use domain::{Failure, Timestamp};
use serde::{Deserialize, Serialize};

use super::wire::Change;
use super::{Feed, rows};
use store::row::{Item, Row, instant, key, number, text};
use store::transaction::{self, Transacted, transact};

/// How often two people may change under our hands before we give up.
const TRIES: usize = 8;

const ACTION: &str = "change what is between two people";

/// What is between two people, seen by one of them. Who never met is at version 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Between {
    /// Who follows, blocks and mutes whom.
    pub tie: Tie,
    /// How close the one who looks is to the other.
    pub mine: Option<Affinity>,
    /// How close the other is.
    pub theirs: Option<Affinity>,
    /// Grows with each change.
    pub version: u64,
}

/// What came of an act.
#[derive(Debug, PartialEq)]
pub enum Acted {
    /// It is so now. Say these.
    Changed(Tie, Vec<Message>),
    /// It was so already. Saying these again does no harm, and mends what was cut off.
    Same(Tie),
    /// It can't be.
    Rejected(Rejected),
}

#[derive(Debug, Serialize, Deserialize)]
struct TieRow {
    lesser: Side,
    greater: Side,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lesser_is_close: Option<Affinity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    greater_is_close: Option<Affinity>,
    v: u64,
}

impl Between {
    fn read(item: &Item, is_lesser: bool) -> Result<Self, Failure> {
        let row: TieRow = rows::read(item)?;
        let seen_by_lesser = Self {
            tie: Tie { mine: row.lesser, theirs: row.greater },
            mine: row.lesser_is_close,
            theirs: row.greater_is_close,
            version: row.v,
        };
        Ok(if is_lesser { seen_by_lesser } else { seen_by_lesser.turned() })
    }

    const fn turned(self) -> Self {
        Self { tie: self.tie.turned(), mine: self.theirs, theirs: self.mine, version: self.version }
    }

    /// How close the one who looks is to the other at a moment.
    pub fn affinity_at(&self, now: Timestamp) -> f64 {
        self.mine.map_or(0.0, |affinity| affinity.value_at(now))
    }
}

impl Feed {
    /// What is between somebody and somebody else, up to date.
    pub async fn between(&self, me: &UserId, other: &UserId) -> Result<Between, Failure> {
        let found = self.get(rows::tie_key(me, other), "read what is between two people").await?;
        let (_, _, is_lesser) = Tie::key(me, other);
        found.map_or_else(|| Ok(Between::default()), |item| Between::read(&item, is_lesser))
    }

    /// What is between somebody and each of some others, up to date; a hundred in a call. Whom they
    /// never met is left out, and so are they themselves.
    pub async fn ties(
        &self,
        me: &UserId,
        others: impl IntoIterator<Item = &UserId>,
    ) -> Result<HashMap<UserId, Between>, Failure> {
        let mut named: HashMap<String, &UserId> = HashMap::new();
        for other in others.into_iter().filter(|other| *other != me) {
            let key = rows::tie_key(me, other);
            named.insert(Row(&key).text("pk")?.to_owned(), other);
        }
        let keys = named.values().map(|other| rows::tie_key(me, other)).collect();
        let found = self.get_all(keys, "read what is between people").await?;
        let mut ties = HashMap::new();
        for item in found {
            if let Some(other) = named.get(Row(&item).text("pk")?) {
                let (_, _, is_lesser) = Tie::key(me, other);
                ties.insert((*other).clone(), Between::read(&item, is_lesser)?);
            }
        }
        Ok(ties)
    }

    /// Somebody does something about somebody else. `token` makes a new name for each write.
    pub async fn act(
        &self,
        me: &UserId,
        act: Act,
        other: &UserId,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Acted, Failure> {
        for _ in 0..TRIES {
            let between = self.between(me, other).await?;
            let (mut reach, mut following) = (Reach::default(), 0);
            if act == Act::Follow && !between.tie.mine.follows {
                let (author, reader) =
                    futures::future::try_join(self.author(other), self.standing(me, now)).await?;
                (reach, following) = (author.recents.reach, reader.following);
            }
            let decided = match between.tie.after(act, me, other, following) {
                Ok(Some(decided)) => decided,
                Ok(None) => return Ok(Acted::Same(between.tie)),
                Err(rejected) => return Ok(Acted::Rejected(rejected)),
            };
            let gone = self.outdated_marks(me, other, decided).await?;
            let (mut items, told) = self.acting(me, other, &between, decided, reach, now)?;
            items.extend(gone);
            let outcome = transact(&self.client, ACTION, items, &token()).await?;
            if matches!(outcome, Transacted::Committed) {
                return Ok(Acted::Changed(decided.tie, told));
            }
        }
        Err(Failure::new(ACTION, "it keeps changing"))
    }

    /// Everything that an act writes, and what is said afterwards.
    fn acting(
        &self,
        me: &UserId,
        other: &UserId,
        before: &Between,
        decided: Decided,
        reach: Reach,
        now: Timestamp,
    ) -> Result<(Vec<TransactWriteItem>, Vec<Message>), Failure> {
        let after = Between { tie: decided.tie, version: before.version + 1, ..*before };
        let mut items = vec![self.next_row(tie_row(me, other, &after)?, before.version, ACTION)?];
        let mut told = Vec::new();
        if decided.their_followers > 0 {
            items.extend(self.followed(me, other, reach, now)?);
            let (follower, author, version) = (me.clone(), other.clone(), after.version);
            let said = Message::Followed { v: 1, follower, author, version };
            items.push(self.begin(&said, now, ACTION)?);
            told.push(said);
        }
        if decided.their_followers < 0 {
            items.extend(self.unfollowed(me, other)?);
            told.push(Message::Unfollowed { v: 1, follower: me.clone(), author: other.clone() });
        }
        if decided.my_followers < 0 {
            items.extend(self.unfollowed(other, me)?);
            told.push(Message::Unfollowed { v: 1, follower: other.clone(), author: me.clone() });
        }
        Ok((items, told))
    }

    fn followed(
        &self,
        follower: &UserId,
        author: &UserId,
        reach: Reach,
        now: Timestamp,
    ) -> Result<Vec<TransactWriteItem>, Failure> {
        let mut listed = key(&rows::followers_pk(author), &follower_key(follower));
        listed.insert("who".to_owned(), text(follower.as_str()));
        let mut lists = key(&rows::following_pk(follower), author.as_str());
        lists.insert("since".to_owned(), instant(now));
        let counter = key(&rows::followers_pk(author), &rows::counter_sk(counter_of(follower)));
        let same_epoch = match reach.epoch {
            0 => "attribute_not_exists(epoch) OR epoch = :epoch",
            _ => "epoch = :epoch",
        };
        let moved = Change::of(counter, "SET epoch = :epoch ADD followers :one")
            .given(same_epoch)
            .with(":epoch", number(reach.epoch))
            .with(":one", number(1));
        let reader = Change::of(
            rows::reader_key(follower, rows::READER),
            "SET seen_at = if_not_exists(seen_at, :now), \
             complete_from = if_not_exists(complete_from, :floor), \
             epoch = if_not_exists(epoch, :zero) ADD following :one",
        );
        let reader = super::readers::ensured(reader, now)
            .given("attribute_not_exists(following) OR following < :most")
            .with(":one", number(1))
            .with(":most", number(MAX_FOLLOWS));
        let mut items = vec![
            self.same_row(listed, ACTION)?,
            self.same_row(lists, ACTION)?,
            self.changing(moved, ACTION)?,
            self.changing(reader, ACTION)?,
        ];
        if let Some(epoch) = reach.mark() {
            items.push(self.changing(super::readers::marking(follower, author, epoch), ACTION)?);
        }
        Ok(items)
    }

    fn unfollowed(
        &self,
        follower: &UserId,
        author: &UserId,
    ) -> Result<Vec<TransactWriteItem>, Failure> {
        let counter = key(&rows::followers_pk(author), &rows::counter_sk(counter_of(follower)));
        let moved = Change::of(counter, "ADD followers :less").with(":less", number(-1));
        let reader = rows::reader_key(follower, rows::READER);
        let reader = Change::of(reader, "ADD following :less").with(":less", number(-1));
        Ok(vec![
            self.gone(key(&rows::followers_pk(author), &follower_key(follower)))?,
            self.gone(key(&rows::following_pk(follower), author.as_str()))?,
            self.changing(moved, ACTION)?,
            self.changing(reader, ACTION)?,
        ])
    }

    /// Takes away the marks of those who follow no longer: whoever follows again marks themselves. One that a
    /// page puts there at this moment costs a read and hides nothing.
    async fn outdated_marks(
        &self,
        me: &UserId,
        other: &UserId,
        decided: Decided,
    ) -> Result<Vec<TransactWriteItem>, Failure> {
        let ends = [(me, other, decided.their_followers), (other, me, decided.my_followers)];
        let mut items = Vec::new();
        for (follower, author, _) in ends.into_iter().filter(|(.., more)| *more < 0) {
            let marks = self.marks_of(follower, author).await?;
            if !marks.is_empty() {
                items.push(self.changing(super::readers::unmarking(follower, marks), ACTION)?);
            }
        }
        Ok(items)
    }

    fn gone(&self, key: Item) -> Result<TransactWriteItem, Failure> {
        Delete::builder()
            .table_name(&self.table)
            .set_key(Some(key))
            .build()
            .map(transaction::delete)
            .map_err(|cause| Failure::new(ACTION, cause))
    }

    /// The item that moves what is between two people on, if it is as it was read: for whatever is
    /// decided by it and brings somebody closer.
    pub(super) fn closer(
        &self,
        me: &UserId,
        other: &UserId,
        before: &Between,
        mine: Affinity,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        let after = Between { mine: Some(mine), version: before.version + 1, ..*before };
        self.next_row(tie_row(me, other, &after)?, before.version, action)
    }
}

fn tie_row(me: &UserId, other: &UserId, between: &Between) -> Result<Item, Failure> {
    let (_, _, is_lesser) = Tie::key(me, other);
    let by_lesser = if is_lesser { *between } else { between.turned() };
    let row = TieRow {
        lesser: by_lesser.tie.mine,
        greater: by_lesser.tie.theirs,
        lesser_is_close: by_lesser.mine,
        greater_is_close: by_lesser.theirs,
        v: by_lesser.version,
    };
    let mut item = rows::plain(&row)?;
    item.extend(rows::tie_key(me, other));
    Ok(item)
}

/// A set of one text.
pub(super) fn one(text: String) -> AttributeValue {
    AttributeValue::Ss(vec![text])
}

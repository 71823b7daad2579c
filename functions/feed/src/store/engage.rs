//! What people do about posts: each act once, in one transaction with one of the post's counters.
//!
//! The person's own row says what they did; it changes from the version that was read, so an act that is
//! sent twice finds itself. The counter only grows, and is put on the list of those that are to be added
//! up. Acts that bring somebody closer move what is between the two on, from the version by which it was
//! decided that the post may be seen: no like follows a block. A post that is deleted meanwhile is liked
//! in vain, which nobody sees.
//!
//! If others are at the counter, the post is spread over all the counters that there are.

use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::accounts::UserId;
use domain::feed::counts::{Delta, SHARDS, engage, hour_of, is_told, shard_of};
use domain::feed::{Affinity, Engage, Engaged, Interaction, PostId};
use domain::{Failure, Timestamp};

use super::posts::Entry;
use super::ties::Between;
use super::wire::Change;
use super::{Feed, rows};
use store::row::{Item, Row, number, text};
use store::schema::SK;
use store::transaction::{Transacted, Tried, transact, try_transact};

const ACTION: &str = "note what somebody does about a post";

/// Where the counter is among the items.
const COUNTER: usize = 0;

/// An act that is decided and not written.
#[derive(Debug)]
pub struct Engaging {
    /// What writes it, all of it or nothing.
    pub items: Vec<TransactWriteItem>,
    /// Whether `CountsMoved` is said once it is written.
    pub told: bool,
}

/// What came of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engagement {
    /// It is counted.
    Counted {
        /// Whether `CountsMoved` is to be said.
        told: bool,
    },
    /// It was so already.
    Same,
    /// Something that it was decided by is not what it was; look again.
    Moved,
}

/// How the transaction of an act ended, for those who wrote something with it.
pub(super) enum Ended {
    /// It was so already, and nothing was written.
    Same,
    /// It is written.
    Counted { told: bool },
    /// It is not; what came with the act begins at item `with`.
    Refused { ended: Transacted, with: usize },
}

impl Feed {
    /// Somebody does something about a post that they may see. `between` is what is between them and its
    /// author, by which that was decided; `with` is what else is written then.
    pub async fn engage(
        &self,
        (user, act): (&UserId, Engage),
        entry: &Entry,
        between: &Between,
        with: Vec<TransactWriteItem>,
        now: Timestamp,
        token: &str,
    ) -> Result<Engagement, Failure> {
        Ok(match self.engage_with((user, act), entry, between, &with, now, token).await? {
            Ended::Same => Engagement::Same,
            Ended::Counted { told } => Engagement::Counted { told },
            Ended::Refused { .. } => Engagement::Moved,
        })
    }

    /// The items of an act, for a transaction that something else is written in; `None` if it is so
    /// already.
    pub async fn engaging(
        &self,
        (user, act): (&UserId, Engage),
        entry: &Entry,
        between: &Between,
        now: Timestamp,
    ) -> Result<Option<Engaging>, Failure> {
        let post = entry.post.id;
        let counter = shard_of(post, user, entry.width);
        let keys = vec![rows::engaged_key(user, post), rows::count_key(post, counter)];
        let found = self.get_all(keys, "read what somebody did about a post").await?;
        let is_counter = |item: &&Item| Row(item).maybe_text(SK) == Some("count");
        let acts = found.iter().find(is_counter).and_then(|item| Row(item).maybe_number("acts"));
        let row = found.iter().find(|item| !is_counter(item));
        let before: Option<Engaged> = row.map(rows::read).transpose()?;
        let version: u64 = row.map_or(Ok(0), |item| Row(item).number("v"))?;
        let Some((after, delta)) = engage(before.as_ref(), act) else { return Ok(None) };
        let mut engaged = rows::plain(&after)?;
        engaged.extend(rows::engaged_key(user, post));
        engaged.insert("v".to_owned(), number(version + 1));
        let mut items = vec![
            self.changing(counted(post, counter, delta, now), ACTION)?,
            self.next_row(engaged, version, ACTION)?,
        ];
        if !delta.back && entry.post.author != *user {
            let mine = between.mine.unwrap_or(Affinity::none(now)).after(delta.what, now);
            items.push(self.closer(user, &entry.post.author, between, mine, ACTION)?);
        }
        Ok(Some(Engaging { items, told: is_told(acts.unwrap_or(0) + 1, counter, entry.width) }))
    }

    pub(super) async fn engage_with(
        &self,
        (user, act): (&UserId, Engage),
        entry: &Entry,
        between: &Between,
        with: &[TransactWriteItem],
        now: Timestamp,
        token: &str,
    ) -> Result<Ended, Failure> {
        let mut entry = entry.clone();
        loop {
            let Some(Engaging { mut items, told }) =
                self.engaging((user, act), &entry, between, now).await?
            else {
                return Ok(Ended::Same);
            };
            let own = items.len();
            items.extend_from_slice(with);
            let ended = match try_transact(&self.client, ACTION, items.clone()).await? {
                Tried::Ended(ended) => ended,
                Tried::Conflicted(at) if at.contains(&COUNTER) && entry.width < SHARDS => {
                    self.widen(entry.post.id, SHARDS).await?;
                    entry.width = SHARDS;
                    continue;
                }
                Tried::Conflicted(_) => transact(&self.client, ACTION, items, token).await?,
            };
            return Ok(match ended {
                Transacted::Committed => Ended::Counted { told },
                refused @ Transacted::Refused(_) => Ended::Refused { ended: refused, with: own },
            });
        }
    }

    /// Spreads a post over so many counters, if it is not spread over more.
    async fn widen(&self, post: PostId, width: u8) -> Result<(), Failure> {
        let change = Change::of(rows::post_key(post), "SET width = :width")
            .given("attribute_exists(pk) AND (attribute_not_exists(width) OR width < :width)")
            .with(":width", number(width));
        self.change(change, "spread a post over more counters").await.map(|_| ())
    }
}

/// A counter moves on, and is on the list of those that are to be added up.
fn counted(post: PostId, counter: u8, delta: Delta, now: Timestamp) -> Change {
    let what = number_name(delta.what, delta.back);
    let newcomer = if delta.newcomer { format!(", h{} :one", hour_of(now)) } else { String::new() };
    let expression = format!(
        "SET gsi2pk = if_not_exists(gsi2pk, :list), gsi2sk = if_not_exists(gsi2sk, :name) \
         ADD acts :one, {what} :one{newcomer}"
    );
    Change::of(rows::count_key(post, counter), expression)
        .with(":list", text(rows::dirty_pk(rows::list_of(post))))
        .with(":name", text(format!("{post}#{counter:02}")))
        .with(":one", number(1))
}

/// What a counter calls its numbers.
pub(super) const fn number_name(what: Interaction, back: bool) -> &'static str {
    match (what, back) {
        (Interaction::Like, false) => "likes",
        (Interaction::Like, true) => "unlikes",
        (Interaction::Comment, false) => "comments",
        (Interaction::Comment, true) => "uncomments",
        (Interaction::Share, false) => "shares",
        (Interaction::Share, true) => "unshares",
    }
}

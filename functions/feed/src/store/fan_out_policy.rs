//! How authors reach people: counted by a few rows that all hold the author's epoch.

use domain::accounts::UserId;
use domain::feed::fan_out_policy::{FOLLOWER_COUNTERS, FollowerCounter, followers};
use domain::feed::{FanOutMode, FanOutPolicy, FeedMessage, FeedSettings, RecentPosts};
use domain::{Failure, Result, Timestamp};

use super::posts::AuthorRow;
use super::requests::{RangeQuery, RowUpdate};
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, key, number, text};
use store::transaction::{Transacted, transact};

const ACTION: &str = "change how an author reaches people";

/// Tries when another instance changes the author's row.
const TRIES: usize = 8;

impl FeedStore {
    /// How many follow an author, by a consistent read.
    pub async fn count_followers(&self, author: &UserId) -> Result<u64> {
        let range = RangeQuery {
            condition: "pk = :author AND sk BETWEEN :first AND :last",
            values: vec![
                (":author", text(rows::followers_pk(author))),
                (":first", text(rows::counter_sk(0))),
                (":last", text(rows::counter_sk(FOLLOWER_COUNTERS))),
            ],
            ..RangeQuery::default()
        };
        let found = self.query(range, "count followers").await?;
        let counter = |item: &Item| FollowerCounter {
            followers: ItemReader(item).maybe_number("followers").unwrap_or(0),
            epoch: ItemReader(item).maybe_number("epoch").unwrap_or(0),
        };
        let counters: Vec<FollowerCounter> = found.iter().map(counter).collect();
        Ok(followers(&counters))
    }

    /// Counts an author's followers and changes their fan-out policy if a threshold was crossed. Returns
    /// what is to be message then.
    pub async fn update_fan_out_policy(
        &self,
        author: &UserId,
        settings: &FeedSettings,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Option<FeedMessage>> {
        for _ in 0..TRIES {
            let (count, row) =
                futures::future::try_join(self.count_followers(author), self.author(author))
                    .await?;
            let Some(next) = row.recents.policy.for_follower_count(count, settings) else {
                return Ok(None);
            };
            let epoch = next.epoch;
            let message = (next.mode == FanOutMode::Switching).then(|| FeedMessage::ReachCrossed {
                v: 1,
                author: author.clone(),
                epoch,
            });
            if self.write_policy(author, &row, next, message.as_ref(), None, now, &token()).await? {
                return Ok(message);
            }
        }
        Err(Failure::new(ACTION, "it keeps changing"))
    }

    /// All followers of an author are marked: from now on the author's posts are pulled. Completes `work`.
    pub async fn finish_switch_to_pull(
        &self,
        author: &UserId,
        epoch: u64,
        work: &str,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result {
        for _ in 0..TRIES {
            let row = self.author(author).await?;
            let Some(next) = row.recents.policy.all_marked(epoch) else {
                return self.complete_work(work).await;
            };
            if self.write_policy(author, &row, next, None, Some(work), now, &token()).await? {
                return Ok(());
            }
        }
        Err(Failure::new(ACTION, "it keeps changing"))
    }

    /// Writes another policy: the author's row and all counters, so that no reader
    /// follows by what they knew before.
    #[expect(clippy::too_many_arguments, reason = "one transaction, whose parts these are")]
    async fn write_policy(
        &self,
        author: &UserId,
        before: &AuthorRow,
        next: FanOutPolicy,
        begins: Option<&FeedMessage>,
        ends: Option<&str>,
        now: Timestamp,
        token: &str,
    ) -> Result<bool> {
        let recents = RecentPosts { policy: next, ..before.recents.clone() };
        let mut items = vec![self.author_item(author, &recents, before.version, ACTION)?];
        for counter in 0..FOLLOWER_COUNTERS {
            let key = key(&rows::followers_pk(author), &rows::counter_sk(counter));
            let moved =
                RowUpdate::new(key, "SET epoch = :epoch").value(":epoch", number(next.epoch));
            items.push(self.update_item(moved, ACTION)?);
        }
        if let Some(message) = begins {
            items.push(self.pending_item(message, now, ACTION)?);
        }
        if let Some(work) = ends {
            items.push(self.completion_item(work, ACTION)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        Ok(matches!(outcome, Transacted::Committed))
    }
}

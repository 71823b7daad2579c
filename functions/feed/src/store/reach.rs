//! How authors reach people: counted by a few rows that all hold the author's epoch.

use domain::accounts::UserId;
use domain::feed::reach::{COUNTERS, Counter, followers};
use domain::feed::{Message, Mode, Reach, Recents, Settings};
use domain::{Failure, Timestamp};

use super::posts::Author;
use super::wire::{Change, Stretch};
use super::{Feed, rows};
use store::row::{Item, Row, key, number, text};
use store::transaction::{Transacted, transact};

const ACTION: &str = "change how an author reaches people";

/// How often an author may change under our hands before we give up.
const TRIES: usize = 8;

impl Feed {
    /// How many follow somebody, up to date.
    pub async fn count_followers(&self, author: &UserId) -> Result<u64, Failure> {
        let stretch = Stretch {
            condition: "pk = :author AND sk BETWEEN :first AND :last",
            values: vec![
                (":author", text(rows::followers_pk(author))),
                (":first", text(rows::counter_sk(0))),
                (":last", text(rows::counter_sk(COUNTERS))),
            ],
            ..Stretch::default()
        };
        let found = self.query(stretch, "count followers").await?;
        let counter = |item: &Item| Counter {
            followers: Row(item).maybe_number("followers").unwrap_or(0),
            epoch: Row(item).maybe_number("epoch").unwrap_or(0),
        };
        let counters: Vec<Counter> = found.iter().map(counter).collect();
        Ok(followers(&counters))
    }

    /// Counts somebody's followers and changes how they reach people, if that is what follows. Returns
    /// what is to be said then.
    pub async fn recount(
        &self,
        author: &UserId,
        settings: &Settings,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Option<Message>, Failure> {
        for _ in 0..TRIES {
            let (count, row) =
                futures::future::try_join(self.count_followers(author), self.author(author))
                    .await?;
            let Some(next) = row.recents.reach.counted(count, settings) else { return Ok(None) };
            let epoch = next.epoch;
            let said = (next.mode == Mode::Rising).then(|| Message::ReachCrossed {
                v: 1,
                author: author.clone(),
                epoch,
            });
            if self.cross(author, &row, next, said.as_ref(), None, now, &token()).await? {
                return Ok(said);
            }
        }
        Err(Failure::new(ACTION, "it keeps changing"))
    }

    /// All followers of a rising author are marked: from now on their posts are pulled. Ends `work`.
    pub async fn risen(
        &self,
        author: &UserId,
        epoch: u64,
        work: &str,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<(), Failure> {
        for _ in 0..TRIES {
            let row = self.author(author).await?;
            let Some(next) = row.recents.reach.marked(epoch) else {
                return self.done(work).await;
            };
            if self.cross(author, &row, next, None, Some(work), now, &token()).await? {
                return Ok(());
            }
        }
        Err(Failure::new(ACTION, "it keeps changing"))
    }

    /// Writes another way of reaching people: the author's row and all counters, so that nobody
    /// follows by what they knew before.
    #[expect(clippy::too_many_arguments, reason = "one transaction, whose parts these are")]
    async fn cross(
        &self,
        author: &UserId,
        before: &Author,
        next: Reach,
        begins: Option<&Message>,
        ends: Option<&str>,
        now: Timestamp,
        token: &str,
    ) -> Result<bool, Failure> {
        let recents = Recents { reach: next, ..before.recents.clone() };
        let mut items = vec![self.author_row(author, &recents, before.version, ACTION)?];
        for counter in 0..COUNTERS {
            let key = key(&rows::followers_pk(author), &rows::counter_sk(counter));
            let moved = Change::of(key, "SET epoch = :epoch").with(":epoch", number(next.epoch));
            items.push(self.changing(moved, ACTION)?);
        }
        if let Some(message) = begins {
            items.push(self.begin(message, now, ACTION)?);
        }
        if let Some(work) = ends {
            items.push(self.ends(work, ACTION)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        Ok(matches!(outcome, Transacted::Committed))
    }
}

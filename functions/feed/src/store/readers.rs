//! Readers: when they were last here, from where on their timeline is complete, whose posts they pull,
//! what they were shown, and by which connections they hear of what is new.
//!
//! The row that fan-outs read of each follower is small and has no marks in it. A mark is an element of a
//! set, `epoch:author`, so putting one there twice changes nothing, and taking one away takes no later one.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::accounts::UserId;
use domain::feed::{PostId, Reader, Seen};
use domain::{Failure, Timestamp};

use super::ties::one;
use super::wire::Change;
use super::{Feed, rows};
use store::row::{Item, Row, broken, instant, number, text};
use store::schema::SK;

/// A floor that moved so long ago has not moved between two reads of one page.
const SETTLED_SECONDS: i64 = 60;

/// A reader, and what their rows say beside that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// What is known of them.
    pub reader: Reader,
    /// Whether that is written anywhere.
    pub is_known: bool,
    /// Whether the floor of their timeline has not moved for a while: a timeline that was read a moment before
    /// goes with it.
    pub is_settled: bool,
    /// How many they follow.
    pub following: u32,
    /// What they were shown.
    pub seen: Seen,
    seen_version: u64,
}

/// What a fan-out has to know of a follower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// When they were last here.
    pub seen_at: Timestamp,
    /// By which connections they hear of what is new.
    pub connections: Vec<String>,
}

impl Feed {
    /// Reads a reader with their marks and what they were shown, up to date.
    pub async fn standing(&self, user: &UserId, now: Timestamp) -> Result<Standing, Failure> {
        let keys = [rows::READER, rows::MARKS, rows::SEEN].map(|sk| rows::reader_key(user, sk));
        let found = self.get_all(keys.to_vec(), "read the reader").await?;
        let at = |sk: &str| found.iter().find(|item| Row(item).maybe_text(SK) == Some(sk));
        let mut reader = Reader::new(user.clone(), now);
        let (mut following, mut moved_at) = (0, None);
        if let Some(item) = at(rows::READER) {
            read_reader(item, &mut reader)?;
            following = Row(item).maybe_number("following").unwrap_or(0);
            moved_at = Row(item).maybe_instant("moved_at");
        }
        let settled = |at: Timestamp| now.as_second() - at.as_second() >= SETTLED_SECONDS;
        reader.marks = at(rows::MARKS).map(read_marks).unwrap_or_default();
        let shown = at(rows::SEEN);
        let seen = shown.map(|item| Row(item).bytes("posts").map(Seen::from_bytes)).transpose()?;
        let seen_version = shown.map_or(Ok(0), |item| Row(item).number("v"))?;
        Ok(Standing {
            reader,
            is_known: at(rows::READER).is_some_and(|item| item.contains_key("seen_at")),
            is_settled: moved_at.is_none_or(settled),
            following,
            seen: seen.unwrap_or_default(),
            seen_version,
        })
    }

    /// What a fan-out has to know of some followers, up to date. Whoever was never here is left out.
    pub async fn visitors(
        &self,
        users: impl IntoIterator<Item = &UserId>,
    ) -> Result<HashMap<UserId, Visitor>, Failure> {
        let keys = users.into_iter().map(|user| rows::reader_key(user, rows::READER)).collect();
        let found = self.get_all(keys, "read followers").await?;
        let visitor = |item: &Item| {
            let row = Row(item);
            let pk = row.text("pk")?.strip_prefix("reader#").ok_or_else(|| broken("pk"))?;
            let connections = row.texts("connections").to_vec();
            let seen_at = row.maybe_instant("seen_at").unwrap_or_default();
            Ok((UserId::outside(pk), Visitor { seen_at, connections }))
        };
        found.iter().map(visitor).collect()
    }

    /// Writes that somebody is here, if nobody else has: `after` is what [`Reader::arrives`] made of
    /// `before`. Who loses reads it again.
    pub async fn arrived(
        &self,
        before: &Standing,
        after: &Reader,
        now: Timestamp,
    ) -> Result<bool, Failure> {
        const ACTION: &str = "note a visit";
        let key = rows::reader_key(&after.user, rows::READER);
        let change = if before.is_known {
            Change::of(key, "SET seen_at = :seen, complete_from = :floor, epoch = :after")
                .given("epoch = :epoch AND seen_at = :before AND complete_from = :from")
                .with(":seen", instant(after.seen_at))
                .with(":after", number(after.epoch))
                .with(":epoch", number(before.reader.epoch))
                .with(":before", instant(before.reader.seen_at))
                .with(":from", text(before.reader.floor.text()))
                .with(":floor", text(after.floor.text()))
        } else {
            let first = "SET seen_at = if_not_exists(seen_at, :now), \
                         complete_from = if_not_exists(complete_from, :floor), \
                         epoch = if_not_exists(epoch, :zero)";
            ensured(Change::of(key, first), now)
        };
        Ok(self.change(change, ACTION).await?.is_some())
    }

    /// Writes another floor and epoch, if they are still those of `before`.
    pub async fn move_floor(
        &self,
        before: &Reader,
        floor: PostId,
        epoch: u64,
        now: Timestamp,
    ) -> Result<bool, Failure> {
        let key = rows::reader_key(&before.user, rows::READER);
        let moves = "SET complete_from = :floor, epoch = :after, moved_at = :now";
        let change = Change::of(key, moves)
            .given("epoch = :epoch AND complete_from = :before")
            .with(":floor", text(floor.text()))
            .with(":now", instant(now))
            .with(":after", number(epoch))
            .with(":epoch", number(before.epoch))
            .with(":before", text(before.floor.text()));
        Ok(self.change(change, "move the floor of a timeline").await?.is_some())
    }

    /// Puts a mark on a reader.
    pub async fn mark(&self, reader: &UserId, author: &UserId, epoch: u64) -> Result<(), Failure> {
        self.change(marking(reader, author, epoch), "mark a reader").await.map(|_| ())
    }

    /// Takes marks away, each only if it is still of that epoch.
    pub async fn unmark(&self, reader: &UserId, marks: &[(UserId, u64)]) -> Result<(), Failure> {
        if marks.is_empty() {
            return Ok(());
        }
        let gone = marks.iter().map(|(author, epoch)| mark_text(author, *epoch)).collect();
        self.change(unmarking(reader, gone), "take marks away").await.map(|_| ())
    }

    /// The marks of an author on a reader, as they are written there.
    pub(super) async fn marks_of(
        &self,
        reader: &UserId,
        author: &UserId,
    ) -> Result<Vec<String>, Failure> {
        let found = self.get(rows::reader_key(reader, rows::MARKS), "read marks").await?;
        let is_theirs = |mark: &&String| read_mark(mark).is_some_and(|(of, _)| of == *author);
        let marks = found.as_ref().map(|item| Row(item).texts("authors")).unwrap_or_default();
        Ok(marks.iter().filter(is_theirs).cloned().collect())
    }

    /// Notes what a reader was shown. Whoever loses to another page of theirs does not matter.
    pub async fn shown(
        &self,
        standing: &Standing,
        posts: impl IntoIterator<Item = PostId>,
    ) -> Result<(), Failure> {
        let mut seen = standing.seen.clone();
        seen.note(posts);
        if seen == standing.seen {
            return Ok(());
        }
        let change = Change::of(
            rows::reader_key(&standing.reader.user, rows::SEEN),
            "SET posts = :posts, v = :after",
        );
        let change = match standing.seen_version {
            0 => change.given("attribute_not_exists(pk)"),
            before => change.given("v = :before").with(":before", number(before)),
        };
        let change = change
            .with(":posts", store::row::bytes(&seen.bytes()))
            .with(":after", number(standing.seen_version + 1));
        self.change(change, "note what was shown").await.map(|_| ())
    }
}

/// A row of somebody who was never here says that they are.
pub(super) fn ensured(change: Change, now: Timestamp) -> Change {
    change
        .with(":now", instant(now))
        .with(":floor", text(PostId::MIN.text()))
        .with(":zero", number(0))
}

pub(super) fn marking(reader: &UserId, author: &UserId, epoch: u64) -> Change {
    Change::of(rows::reader_key(reader, rows::MARKS), "ADD authors :mark")
        .with(":mark", one(mark_text(author, epoch)))
}

/// Takes away marks, as they are written there.
pub(super) fn unmarking(reader: &UserId, marks: Vec<String>) -> Change {
    Change::of(rows::reader_key(reader, rows::MARKS), "DELETE authors :gone")
        .with(":gone", AttributeValue::Ss(marks))
}

fn mark_text(author: &UserId, epoch: u64) -> String {
    format!("{epoch}:{}", author.as_str())
}

fn read_mark(mark: &str) -> Option<(UserId, u64)> {
    let (epoch, author) = mark.split_once(':')?;
    Some((UserId::outside(author), epoch.parse().ok()?))
}

fn read_reader(item: &Item, reader: &mut Reader) -> Result<(), Failure> {
    let row = Row(item);
    // A connection can come before the first visit.
    let Some(seen_at) = row.maybe_instant("seen_at") else { return Ok(()) };
    reader.seen_at = seen_at;
    let floor = PostId::parse(row.text("complete_from")?);
    reader.floor = floor.ok_or_else(|| broken("complete_from"))?;
    reader.epoch = row.number("epoch")?;
    Ok(())
}

/// The latest mark of each author.
pub(super) fn read_marks(item: &Item) -> BTreeMap<UserId, u64> {
    let mut marks = BTreeMap::new();
    for (author, epoch) in Row(item).texts("authors").iter().filter_map(|mark| read_mark(mark)) {
        let known = marks.entry(author).or_insert(epoch);
        *known = epoch.max(*known);
    }
    marks
}

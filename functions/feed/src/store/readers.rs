//! Readers: when they were last here, from where on their timeline is complete, whose posts they pull,
//! what they were shown, and by which connections they hear of what is new.
//!
//! The row that fan-outs read of each follower is small and has no marks in it. A mark is an element of a
//! set, `epoch:author`, so putting one there twice changes nothing, and taking one away takes no later one.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::accounts::UserId;
use domain::feed::{PostId, Reader, SeenPosts};
use domain::{Result, Timestamp};

use super::relationships::string_set;
use super::requests::RowUpdate;
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, broken, instant, number, text};
use store::schema::SK;

/// A floor that moved so long ago has not moved between two reads of one page.
const SETTLED_SECONDS: i64 = 60;

/// A reader, and what their rows say beside that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderState {
    pub reader: Reader,
    pub is_known: bool,
    /// Whether the floor of their timeline has not moved for a while: a timeline that was read a moment before
    /// goes with it.
    pub is_settled: bool,
    pub following: u32,
    pub seen: SeenPosts,
    seen_version: u64,
}

/// What a fan-out has to know of a follower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    pub last_seen_at: Timestamp,
    /// By which connections they hear of what is new.
    pub connections: Vec<String>,
}

impl FeedStore {
    /// Reads a reader with their marks and what they were shown, up to date.
    pub async fn reader_state(&self, user: &UserId, now: Timestamp) -> Result<ReaderState> {
        let keys = [rows::READER, rows::MARKS, rows::SEEN].map(|sk| rows::reader_key(user, sk));
        let found = self.get_all(keys.to_vec(), "read the reader").await?;
        let at = |sk: &str| found.iter().find(|item| ItemReader(item).maybe_text(SK) == Some(sk));
        let mut reader = Reader::new(user.clone(), now);
        let (mut following, mut moved_at) = (0, None);
        if let Some(item) = at(rows::READER) {
            read_reader(item, &mut reader)?;
            following = ItemReader(item).maybe_number("following").unwrap_or(0);
            moved_at = ItemReader(item).maybe_instant("moved_at");
        }
        let settled = |at: Timestamp| now.as_second() - at.as_second() >= SETTLED_SECONDS;
        reader.pull_marks = at(rows::MARKS).map(read_marks).unwrap_or_default();
        let shown = at(rows::SEEN);
        let seen = shown
            .map(|item| ItemReader(item).bytes("posts").map(SeenPosts::from_bytes))
            .transpose()?;
        let seen_version = shown.map_or(Ok(0), |item| ItemReader(item).number("v"))?;
        Ok(ReaderState {
            reader,
            is_known: at(rows::READER).is_some_and(|item| item.contains_key("seen_at")),
            is_settled: moved_at.is_none_or(settled),
            following,
            seen: seen.unwrap_or_default(),
            seen_version,
        })
    }

    /// Last visits and connections of some followers, up to date. Followers without a row are left out.
    pub async fn presence(
        &self,
        users: impl IntoIterator<Item = &UserId>,
    ) -> Result<HashMap<UserId, Presence>> {
        let keys = users.into_iter().map(|user| rows::reader_key(user, rows::READER)).collect();
        let found = self.get_all(keys, "read followers").await?;
        let presence = |item: &Item| {
            let row = ItemReader(item);
            let pk = row.text("pk")?.strip_prefix("reader#").ok_or_else(|| broken("pk"))?;
            let connections = row.texts("connections").to_vec();
            let last_seen_at = row.maybe_instant("seen_at").unwrap_or_default();
            Ok((UserId::outside(pk), Presence { last_seen_at, connections }))
        };
        found.iter().map(presence).collect()
    }

    /// Writes a visit, unless another request has: `after` is what [`Reader::visit`] made of
    /// `before`. On `false` the caller reads again.
    pub async fn record_visit(
        &self,
        before: &ReaderState,
        after: &Reader,
        now: Timestamp,
    ) -> Result<bool> {
        const ACTION: &str = "note a visit";
        let key = rows::reader_key(&after.user, rows::READER);
        let update = if before.is_known {
            RowUpdate::new(key, "SET seen_at = :seen, complete_from = :floor, epoch = :after")
                .condition("epoch = :epoch AND seen_at = :before AND complete_from = :from")
                .value(":seen", instant(after.last_seen_at))
                .value(":after", number(after.epoch))
                .value(":epoch", number(before.reader.epoch))
                .value(":before", instant(before.reader.last_seen_at))
                .value(":from", text(before.reader.floor.text()))
                .value(":floor", text(after.floor.text()))
        } else {
            let first = "SET seen_at = if_not_exists(seen_at, :now), \
                         complete_from = if_not_exists(complete_from, :floor), \
                         epoch = if_not_exists(epoch, :zero)";
            with_reader_defaults(RowUpdate::new(key, first), now)
        };
        Ok(self.update(update, ACTION).await?.is_some())
    }

    /// Writes another floor and epoch, if they are still those of `before`.
    pub async fn move_floor(
        &self,
        before: &Reader,
        floor: PostId,
        epoch: u64,
        now: Timestamp,
    ) -> Result<bool> {
        let key = rows::reader_key(&before.user, rows::READER);
        let moves = "SET complete_from = :floor, epoch = :after, moved_at = :now";
        let update = RowUpdate::new(key, moves)
            .condition("epoch = :epoch AND complete_from = :before")
            .value(":floor", text(floor.text()))
            .value(":now", instant(now))
            .value(":after", number(epoch))
            .value(":epoch", number(before.epoch))
            .value(":before", text(before.floor.text()));
        Ok(self.update(update, "move the floor of a timeline").await?.is_some())
    }

    pub async fn add_pull_mark(&self, reader: &UserId, author: &UserId, epoch: u64) -> Result {
        self.update(add_mark_update(reader, author, epoch), "mark a reader").await.map(|_| ())
    }

    /// Takes marks away, each only if it is still of that epoch.
    pub async fn remove_pull_marks(&self, reader: &UserId, marks: &[(UserId, u64)]) -> Result {
        if marks.is_empty() {
            return Ok(());
        }
        let gone = marks.iter().map(|(author, epoch)| format_mark(author, *epoch)).collect();
        self.update(remove_marks_update(reader, gone), "take marks away").await.map(|_| ())
    }

    /// The marks of an author on a reader, as they are written there.
    pub(super) async fn marks_of(&self, reader: &UserId, author: &UserId) -> Result<Vec<String>> {
        let found = self.get(rows::reader_key(reader, rows::MARKS), "read marks").await?;
        let is_theirs = |mark: &&String| parse_mark(mark).is_some_and(|(of, _)| of == *author);
        let marks =
            found.as_ref().map(|item| ItemReader(item).texts("authors")).unwrap_or_default();
        Ok(marks.iter().filter(is_theirs).cloned().collect())
    }

    /// Notes what a reader was shown. Losing to another page of the same reader does no harm.
    pub async fn record_seen(
        &self,
        state: &ReaderState,
        posts: impl IntoIterator<Item = PostId>,
    ) -> Result {
        let mut seen = state.seen.clone();
        seen.record(posts);
        if seen == state.seen {
            return Ok(());
        }
        let update = RowUpdate::new(
            rows::reader_key(&state.reader.user, rows::SEEN),
            "SET posts = :posts, v = :after",
        );
        let update = match state.seen_version {
            0 => update.condition("attribute_not_exists(pk)"),
            before => update.condition("v = :before").value(":before", number(before)),
        };
        let update = update
            .value(":posts", store::row::bytes(&seen.bytes()))
            .value(":after", number(state.seen_version + 1));
        self.update(update, "note what was shown").await.map(|_| ())
    }
}

/// The values of a reader's first row.
pub(super) fn with_reader_defaults(update: RowUpdate, now: Timestamp) -> RowUpdate {
    update
        .value(":now", instant(now))
        .value(":floor", text(PostId::MIN.text()))
        .value(":zero", number(0))
}

pub(super) fn add_mark_update(reader: &UserId, author: &UserId, epoch: u64) -> RowUpdate {
    RowUpdate::new(rows::reader_key(reader, rows::MARKS), "ADD authors :mark")
        .value(":mark", string_set(format_mark(author, epoch)))
}

/// Takes away marks, as they are written there.
pub(super) fn remove_marks_update(reader: &UserId, marks: Vec<String>) -> RowUpdate {
    RowUpdate::new(rows::reader_key(reader, rows::MARKS), "DELETE authors :gone")
        .value(":gone", AttributeValue::Ss(marks))
}

fn format_mark(author: &UserId, epoch: u64) -> String {
    format!("{epoch}:{}", author.as_str())
}

fn parse_mark(mark: &str) -> Option<(UserId, u64)> {
    let (epoch, author) = mark.split_once(':')?;
    Some((UserId::outside(author), epoch.parse().ok()?))
}

fn read_reader(item: &Item, reader: &mut Reader) -> Result {
    let row = ItemReader(item);
    // A connection can come before the first visit.
    let Some(last_seen_at) = row.maybe_instant("seen_at") else { return Ok(()) };
    reader.last_seen_at = last_seen_at;
    let floor = PostId::parse(row.text("complete_from")?);
    reader.floor = floor.ok_or_else(|| broken("complete_from"))?;
    reader.epoch = row.number("epoch")?;
    Ok(())
}

pub(super) fn read_marks(item: &Item) -> BTreeMap<UserId, u64> {
    let mut marks = BTreeMap::new();
    for (author, epoch) in
        ItemReader(item).texts("authors").iter().filter_map(|mark| parse_mark(mark))
    {
        let known = marks.entry(author).or_insert(epoch);
        *known = epoch.max(*known);
    }
    marks
}

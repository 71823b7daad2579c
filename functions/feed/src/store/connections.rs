//! WebSocket connections, and the audiences of pulled authors.
//!
//! A connection is an element of a set on its reader's row, which fan-outs read anyway; a row by its own
//! name says whose it is; and it is in the audience of each author whose posts the reader pulls. API
//! Gateway may not report its end: the function that finds it gone deletes all of it, and what is left
//! then expires.
//!
//! A connection is written before the marks are read, and a mark before the connections are: the second of the two
//! puts the connection into the author's audience.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::accounts::UserId;
use domain::{Failure, Result, Timestamp};

use super::batch_write::BatchWrite;
use super::readers::{read_marks, with_reader_defaults};
use super::relationships::string_set;
use super::requests::{RangeQuery, RowUpdate};
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, broken, instant, key, number, text};
use store::schema::{EXPIRES, SK};

/// API Gateway cuts every connection off after two hours.
const EXPIRY_SECONDS: i64 = 3 * 3_600;

/// Tries when the reader's other clients connect meanwhile.
const TRIES: usize = 8;

const ACTION: &str = "connect";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReaderConnection {
    pub reader: UserId,
    pub connection: String,
}

/// Whose connection something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionOwner {
    pub reader: UserId,
    /// When they asked for it.
    pub opened_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AudiencePage {
    /// Those of the page who may still be there.
    pub connections: Vec<ReaderConnection>,
    /// The connection after which the next page begins, if there is one.
    pub next: Option<String>,
}

impl FeedStore {
    /// Connections of one reader, at most.
    pub const MAX_CONNECTIONS: usize = 20;

    /// Stores a connection. If its reader has too many, the oldest are evicted, which may
    /// be gone already: they are returned, to be closed.
    pub async fn add_connection(
        &self,
        new: &ReaderConnection,
        now: Timestamp,
    ) -> Result<Vec<String>> {
        let mut evicted = Vec::new();
        let row = RowUpdate::new(
            rows::connection_key(&new.connection),
            "SET who = :who, opened_at = :now, expires = :expires",
        );
        let row = row
            .value(":who", text(new.reader.as_str()))
            .value(":now", instant(now))
            .value(":expires", expires(now));
        self.update(row, ACTION).await?;
        for _ in 0..TRIES {
            if self.add_to_reader(new, now).await? {
                let marks = self.marks(&new.reader).await?;
                let rows = marks.keys().map(|author| audience_row(author, new, now));
                self.write_all(rows, ACTION).await?;
                return Ok(evicted);
            }
            evicted.extend(self.evict_oldest(&new.reader).await?);
        }
        Err(Failure::new(ACTION, "others keep connecting"))
    }

    /// Whose connection it is, up to date.
    pub async fn connection_owner(&self, connection: &str) -> Result<Option<ConnectionOwner>> {
        let key = rows::connection_key(connection);
        let found = self.get(key, "read the connection").await?;
        let read = |item: Item| {
            let row = ItemReader(&item);
            let opened_at = row.maybe_instant("opened_at").unwrap_or_default();
            Ok(ConnectionOwner { reader: UserId::outside(row.text("who")?), opened_at })
        };
        found.map(read).transpose()
    }

    /// Deletes all rows of a connection. The row by which it is found goes
    /// last, so that it can be found again if this is cut off.
    pub async fn remove_connection(&self, gone: &ReaderConnection) -> Result {
        const ACTION: &str = "forget a connection";
        let ReaderConnection { reader: who, connection } = gone;
        let marks = self.marks(who).await?;
        let rows = marks.keys().map(|author| key(&rows::audience_pk(author), connection));
        self.write_all(rows.map(BatchWrite::Delete), ACTION).await?;
        let left = RowUpdate::new(rows::reader_key(who, rows::READER), "DELETE connections :gone")
            .condition("contains(connections, :connection)")
            .value(":gone", string_set(connection.clone()))
            .value(":connection", text(connection));
        self.update(left, ACTION).await?;
        self.write_all([BatchWrite::Delete(rows::connection_key(connection))], ACTION).await
    }

    pub async fn add_to_audience(
        &self,
        author: &UserId,
        connections: impl IntoIterator<Item = ReaderConnection>,
        now: Timestamp,
    ) -> Result {
        let rows = connections.into_iter().map(|target| audience_row(author, &target, now));
        self.write_all(rows, "listen to an author").await
    }

    /// A page of an author's audience after a connection, up to date.
    pub async fn audience(
        &self,
        author: &UserId,
        after: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<AudiencePage> {
        let range = RangeQuery {
            condition: "pk = :author AND sk > :after",
            values: vec![
                (":author", text(rows::audience_pk(author))),
                (":after", text(after.unwrap_or(" "))),
            ],
            limit: Some(limit),
            ..RangeQuery::default()
        };
        let found = self.query(range, "read an author's audience").await?;
        let next = found.last().filter(|_| found.len() >= limit);
        let next = next.map(|item| ItemReader(item).text(SK).map(str::to_owned)).transpose()?;
        // Rows may stay long after they have expired.
        let alive = |item: &&Item| {
            ItemReader(item)
                .maybe_number::<i64>(EXPIRES)
                .is_some_and(|expires| expires > now.as_second())
        };
        let target = |item: &Item| {
            let row = ItemReader(item);
            let connection = row.text(SK)?.to_owned();
            Ok(ReaderConnection { reader: UserId::outside(row.text("who")?), connection })
        };
        let connections = found.iter().filter(alive).map(target).collect::<Result<_>>()?;
        Ok(AudiencePage { connections, next })
    }

    /// Puts a connection onto its reader's row; `false` if there is no room.
    async fn add_to_reader(&self, new: &ReaderConnection, now: Timestamp) -> Result<bool> {
        let update = RowUpdate::new(
            rows::reader_key(&new.reader, rows::READER),
            "SET seen_at = if_not_exists(seen_at, :now), \
             complete_from = if_not_exists(complete_from, :floor), \
             epoch = if_not_exists(epoch, :zero) ADD connections :new",
        );
        let update = with_reader_defaults(update, now)
            .condition(
                "attribute_not_exists(connections) OR size(connections) < :most \
                 OR contains(connections, :connection)",
            )
            .value(":new", string_set(new.connection.clone()))
            .value(":connection", text(&new.connection))
            .value(":most", number(Self::MAX_CONNECTIONS));
        Ok(self.update(update, ACTION).await?.is_some())
    }

    /// Takes the oldest connections of a reader away, so that there is room for one.
    async fn evict_oldest(&self, who: &UserId) -> Result<Vec<String>> {
        let presence = self.presence([who]).await?.remove(who);
        let mut known = presence.map(|presence| presence.connections).unwrap_or_default();
        let keys = known.iter().map(|connection| rows::connection_key(connection)).collect();
        let mut opened: HashMap<String, i64> = HashMap::new();
        for item in self.get_all(keys, ACTION).await? {
            let row = ItemReader(&item);
            let name = row.text("pk")?.strip_prefix("conn#").ok_or_else(|| broken("pk"))?;
            opened.insert(name.to_owned(), row.number("opened_at")?);
        }
        // What has no row any more has ended long ago.
        known.sort_by_key(|connection| opened.get(connection).copied());
        known.truncate((known.len() + 1).saturating_sub(Self::MAX_CONNECTIONS));
        for connection in &known {
            let gone = ReaderConnection { reader: who.clone(), connection: connection.clone() };
            self.remove_connection(&gone).await?;
        }
        Ok(known)
    }

    async fn marks(&self, who: &UserId) -> Result<BTreeMap<UserId, u64>> {
        let found = self.get(rows::reader_key(who, rows::MARKS), "read marks").await?;
        Ok(found.as_ref().map(read_marks).unwrap_or_default())
    }
}

fn audience_row(author: &UserId, target: &ReaderConnection, now: Timestamp) -> BatchWrite {
    let mut item = key(&rows::audience_pk(author), &target.connection);
    item.insert("who".to_owned(), text(target.reader.as_str()));
    item.insert(EXPIRES.to_owned(), expires(now));
    BatchWrite::Put(item)
}

fn expires(now: Timestamp) -> AttributeValue {
    number(now.as_second() + EXPIRY_SECONDS)
}

//! Who is connected, and to whose posts they listen.
//!
//! A connection is an element of a set on its reader's row, which fan-outs read anyway; a row by its own
//! name says whose it is; and it is in the audience of each author whose posts the reader pulls. Nobody
//! can be relied on to say that it has ended: whoever finds it gone takes all of it away, and what is left
//! then expires.
//!
//! A connection is written before the marks are read, and a mark before the connections are: whichever comes
//! second puts the connection into the author's audience.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::accounts::UserId;
use domain::{Failure, Timestamp};

use super::batches::Written;
use super::readers::{ensured, read_marks};
use super::ties::one;
use super::wire::{Change, Stretch};
use super::{Feed, rows};
use store::row::{Item, Row, broken, instant, key, number, text};
use store::schema::{EXPIRES, SK};

/// API Gateway cuts every connection off after two hours.
const KEPT_SECONDS: i64 = 3 * 3_600;

/// How often others may connect under our hands before we give up.
const TRIES: usize = 8;

const ACTION: &str = "connect";

/// A connection, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listener {
    pub who: UserId,
    /// By which connection.
    pub connection: String,
}

/// Whose connection something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub who: UserId,
    /// When they asked for it.
    pub opened_at: Timestamp,
}

/// A page of an author's audience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience {
    /// Those of the page who may still be there.
    pub listeners: Vec<Listener>,
    /// The connection after which the next page begins, if there is one.
    pub next: Option<String>,
}

impl Feed {
    /// Connections of one reader, at most.
    pub const MAX_CONNECTIONS: usize = 20;

    /// Notes that somebody is connected. If they have too many connections the oldest give way, which may
    /// be gone without anybody having said so: they are returned, to be closed.
    pub async fn connect(&self, new: &Listener, now: Timestamp) -> Result<Vec<String>, Failure> {
        let mut gave_way = Vec::new();
        let row = Change::of(
            rows::connection_key(&new.connection),
            "SET who = :who, opened_at = :now, expires = :expires",
        );
        let row = row
            .with(":who", text(new.who.as_str()))
            .with(":now", instant(now))
            .with(":expires", expires(now));
        self.change(row, ACTION).await?;
        for _ in 0..TRIES {
            if self.join(new, now).await? {
                let marks = self.marks(&new.who).await?;
                let rows = marks.keys().map(|author| audience_row(author, new, now));
                self.write_all(rows, ACTION).await?;
                return Ok(gave_way);
            }
            gave_way.extend(self.make_room(&new.who).await?);
        }
        Err(Failure::new(ACTION, "others keep connecting"))
    }

    /// Whose connection it is, up to date.
    pub async fn owner(&self, connection: &str) -> Result<Option<Owner>, Failure> {
        let key = rows::connection_key(connection);
        let found = self.get(key, "look whose connection it is").await?;
        let read = |item: Item| {
            let row = Row(&item);
            let opened_at = row.maybe_instant("opened_at").unwrap_or_default();
            Ok(Owner { who: UserId::outside(row.text("who")?), opened_at })
        };
        found.map(read).transpose()
    }

    /// Takes away everything that says that somebody is connected. The row by which it is found goes
    /// last, so that it can be found again if this is cut off.
    pub async fn disconnect(&self, gone: &Listener) -> Result<(), Failure> {
        const ACTION: &str = "forget a connection";
        let Listener { who, connection } = gone;
        let marks = self.marks(who).await?;
        let rows = marks.keys().map(|author| key(&rows::audience_pk(author), connection));
        self.write_all(rows.map(Written::Delete), ACTION).await?;
        let left = Change::of(rows::reader_key(who, rows::READER), "DELETE connections :gone")
            .given("contains(connections, :connection)")
            .with(":gone", one(connection.clone()))
            .with(":connection", text(connection));
        self.change(left, ACTION).await?;
        self.write_all([Written::Delete(rows::connection_key(connection))], ACTION).await
    }

    /// Puts connections into an author's audience.
    pub async fn listen(
        &self,
        author: &UserId,
        listeners: impl IntoIterator<Item = Listener>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let rows = listeners.into_iter().map(|listener| audience_row(author, &listener, now));
        self.write_all(rows, "listen to an author").await
    }

    /// A page of an author's audience after a connection, up to date.
    pub async fn audience(
        &self,
        author: &UserId,
        after: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Audience, Failure> {
        let stretch = Stretch {
            condition: "pk = :author AND sk > :after",
            values: vec![
                (":author", text(rows::audience_pk(author))),
                (":after", text(after.unwrap_or(" "))),
            ],
            limit: Some(limit),
            ..Stretch::default()
        };
        let found = self.query(stretch, "read an author's audience").await?;
        let next = found.last().filter(|_| found.len() >= limit);
        let next = next.map(|item| Row(item).text(SK).map(str::to_owned)).transpose()?;
        // Rows may stay long after they have expired.
        let alive = |item: &&Item| {
            Row(item).maybe_number::<i64>(EXPIRES).is_some_and(|expires| expires > now.as_second())
        };
        let listener = |item: &Item| {
            let row = Row(item);
            let connection = row.text(SK)?.to_owned();
            Ok(Listener { who: UserId::outside(row.text("who")?), connection })
        };
        let listeners = found.iter().filter(alive).map(listener).collect::<Result<_, Failure>>()?;
        Ok(Audience { listeners, next })
    }

    /// Puts a connection onto its reader's row; `false` if there is no room.
    async fn join(&self, new: &Listener, now: Timestamp) -> Result<bool, Failure> {
        let change = Change::of(
            rows::reader_key(&new.who, rows::READER),
            "SET seen_at = if_not_exists(seen_at, :now), \
             complete_from = if_not_exists(complete_from, :floor), \
             epoch = if_not_exists(epoch, :zero) ADD connections :new",
        );
        let change = ensured(change, now)
            .given(
                "attribute_not_exists(connections) OR size(connections) < :most \
                 OR contains(connections, :connection)",
            )
            .with(":new", one(new.connection.clone()))
            .with(":connection", text(&new.connection))
            .with(":most", number(Self::MAX_CONNECTIONS));
        Ok(self.change(change, ACTION).await?.is_some())
    }

    /// Takes the oldest connections of a reader away, so that there is room for one.
    async fn make_room(&self, who: &UserId) -> Result<Vec<String>, Failure> {
        let visitor = self.visitors([who]).await?.remove(who);
        let mut known = visitor.map(|visitor| visitor.connections).unwrap_or_default();
        let keys = known.iter().map(|connection| rows::connection_key(connection)).collect();
        let mut opened: HashMap<String, i64> = HashMap::new();
        for item in self.get_all(keys, ACTION).await? {
            let row = Row(&item);
            let name = row.text("pk")?.strip_prefix("conn#").ok_or_else(|| broken("pk"))?;
            opened.insert(name.to_owned(), row.number("opened_at")?);
        }
        // What has no row any more has ended long ago.
        known.sort_by_key(|connection| opened.get(connection).copied());
        known.truncate((known.len() + 1).saturating_sub(Self::MAX_CONNECTIONS));
        for connection in &known {
            let gone = Listener { who: who.clone(), connection: connection.clone() };
            self.disconnect(&gone).await?;
        }
        Ok(known)
    }

    async fn marks(&self, who: &UserId) -> Result<BTreeMap<UserId, u64>, Failure> {
        let found = self.get(rows::reader_key(who, rows::MARKS), "read marks").await?;
        Ok(found.as_ref().map(read_marks).unwrap_or_default())
    }
}

fn audience_row(author: &UserId, listener: &Listener, now: Timestamp) -> Written {
    let mut item = key(&rows::audience_pk(author), &listener.connection);
    item.insert("who".to_owned(), text(listener.who.as_str()));
    item.insert(EXPIRES.to_owned(), expires(now));
    Written::Put(item)
}

fn expires(now: Timestamp) -> AttributeValue {
    number(now.as_second() + KEPT_SECONDS)
}

//! Rows as systems declare them: written through a trait, read through serde.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{Failure, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::row::{Item, number, text};
use crate::schema::{EXPIRES, INDEXES, PK, SK};

/// The primary key of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub pk: String,
    pub sk: String,
}

impl Key {
    /// The key of these two parts.
    pub fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    pub(crate) fn item(self) -> Item {
        Item::from([(PK.to_owned(), text(self.pk)), (SK.to_owned(), text(self.sk))])
    }
}

/// The keys that a row has in the indexes `gsi1`, `gsi2` and `gsi3`; it is in none that it has no key for.
pub type IndexKeys = [Option<(String, String)>; 3];

/// What a system writes as one row. Rows are read with [`read`]: there is no second way to write one.
pub trait Row {
    /// Its primary key.
    fn key(&self) -> Key;

    /// Its attributes besides keys.
    fn attributes(&self) -> Result<Item>;

    /// Its keys in the indexes.
    fn index_keys(&self) -> IndexKeys {
        IndexKeys::default()
    }

    /// The second since 1970 from which on it may be deleted.
    fn expires(&self) -> Option<i64> {
        None
    }
}

/// A row as an item.
pub(super) fn item(row: &impl Row) -> Result<Item> {
    let mut item = row.attributes()?;
    item.extend(row.key().item());
    for ((_, pk, sk), keys) in INDEXES.into_iter().zip(row.index_keys()) {
        if let Some((partition, sort)) = keys {
            item.insert(pk.to_owned(), text(partition));
            item.insert(sk.to_owned(), text(sort));
        }
    }
    if let Some(at) = row.expires() {
        item.insert(EXPIRES.to_owned(), number(at));
    }
    Ok(item)
}

/// The attributes of a value, by the names that serde knows them by.
pub fn plain(value: &impl Serialize) -> Result<Item> {
    serde_dynamo::to_item(value).map_err(|cause| Failure::new("write a row", cause))
}

/// The value of a row; a malformed one is a failure, because no caller can do anything about it.
pub fn read<T: DeserializeOwned>(item: Item) -> Result<T> {
    serde_dynamo::from_item(item).map_err(|cause| Failure::new("read a stored row", cause))
}

/// The text of an attribute, if it has one.
pub fn text_of<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.get(name).and_then(|value: &AttributeValue| value.as_s().ok()).map(String::as_str)
}

//! Typed reading and writing of attribute values.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::{Failure, Result, Timestamp};

use crate::schema::{PK, SK};

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// The primary key of an item.
pub fn key(pk: &str, sk: &str) -> Item {
    HashMap::from([(PK.to_owned(), text(pk)), (SK.to_owned(), text(sk))])
}

/// A string attribute.
pub fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

/// A number attribute.
#[expect(clippy::needless_pass_by_value, reason = "numbers are passed by value")]
pub fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// A binary attribute.
pub fn bytes(value: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(value))
}

/// An instant, as milliseconds since 1970.
pub fn instant(value: Timestamp) -> AttributeValue {
    number(value.as_millisecond())
}

/// Builds an item; `None` leaves an attribute out.
#[derive(Debug, Default)]
pub struct Builder(Item);

impl Builder {
    /// An item with that primary key and nothing else.
    pub fn keyed(pk: &str, sk: &str) -> Self {
        Self(key(pk, sk))
    }

    /// The same with one more attribute.
    #[must_use]
    pub fn with(mut self, name: &str, value: AttributeValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// The same with one more attribute, if there is a value for it.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<AttributeValue>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub fn build(self) -> Item {
        self.0
    }
}

/// Reads an item that this crate wrote; anything missing or of another type is a failure, because
/// no caller can do anything about it.
#[derive(Debug, Clone, Copy)]
pub struct ItemReader<'a>(pub &'a Item);

impl<'a> ItemReader<'a> {
    /// A string that must be there.
    pub fn text(self, name: &'static str) -> Result<&'a str> {
        self.maybe_text(name).ok_or_else(|| broken(name))
    }

    /// A string that may be missing.
    pub fn maybe_text(self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_s().ok().map(String::as_str)
    }

    /// A number that must be there.
    pub fn number<N: std::str::FromStr>(self, name: &'static str) -> Result<N> {
        self.maybe_number(name).ok_or_else(|| broken(name))
    }

    /// A number that may be missing.
    pub fn maybe_number<N: std::str::FromStr>(self, name: &str) -> Option<N> {
        self.0.get(name)?.as_n().ok()?.parse().ok()
    }

    /// An instant that must be there.
    pub fn instant(self, name: &'static str) -> Result<Timestamp> {
        self.maybe_instant(name).ok_or_else(|| broken(name))
    }

    /// An instant that may be missing.
    pub fn maybe_instant(self, name: &str) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.maybe_number(name)?).ok()
    }

    /// A binary value that must be there.
    pub fn bytes(self, name: &'static str) -> Result<&'a [u8]> {
        let value = self.0.get(name).and_then(|value| value.as_b().ok());
        value.map(AsRef::as_ref).ok_or_else(|| broken(name))
    }

    /// A boolean; a missing one is false.
    pub fn flag(self, name: &str) -> bool {
        self.0.get(name).and_then(|value| value.as_bool().ok()).copied().unwrap_or(false)
    }

    /// A set of strings; a missing one is empty.
    pub fn texts(self, name: &str) -> &'a [String] {
        self.0.get(name).and_then(|value| value.as_ss().ok()).map_or(&[], Vec::as_slice)
    }
}

/// The failure for a row without an attribute that it must have.
pub fn broken(attribute: &'static str) -> Failure {
    Failure::new("read a stored row", format!("attribute `{attribute}` is missing or malformed"))
}

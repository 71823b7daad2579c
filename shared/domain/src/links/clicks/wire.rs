//! The JSON of a batch: `{"type":"ClickBatch","v":1,"id":…,"clicks":[{"c":…,"t":…,"u":…}]}`.
//!
//! Guarantee: an old reader passes over a new field, and a field that is missing has its usual value.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Click, ClickBatch, Malformed};

/// The version that is written, and the only one that is read.
const VERSION: u8 = 1;

/// A message, told apart from others by `type`.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Wire<'a> {
    /// A batch of clicks.
    ClickBatch { v: u8, id: Cow<'a, str>, clicks: Vec<WireClick<'a>> },
}

/// A click, with a letter for each name.
#[derive(Serialize, Deserialize)]
pub(super) struct WireClick<'a> {
    #[serde(rename = "d", default, skip_serializing_if = "is_default")]
    domain: Cow<'a, str>,
    #[serde(rename = "c")]
    code: Cow<'a, str>,
    #[serde(rename = "t")]
    at_ms: i64,
    /// Readers of JSON in other languages would round a number of 64 bits.
    #[serde(rename = "u", serialize_with = "to_hex", deserialize_with = "from_hex")]
    visitor: u64,
    #[serde(rename = "h", default, skip_serializing_if = "is_default")]
    head: bool,
    #[serde(rename = "a", default, skip_serializing_if = "is_default")]
    user_agent: Option<Cow<'a, str>>,
    #[serde(rename = "r", default, skip_serializing_if = "is_default")]
    referrer: Option<Cow<'a, str>>,
    #[serde(rename = "g", default, skip_serializing_if = "is_default")]
    country: Option<Cow<'a, str>>,
    #[serde(rename = "x", default, skip_serializing_if = "is_default")]
    variant: Option<u8>,
    #[serde(rename = "l", default, skip_serializing_if = "is_default")]
    limited: bool,
}

impl<'a> From<&'a ClickBatch> for Wire<'a> {
    fn from(batch: &'a ClickBatch) -> Self {
        let clicks = batch.clicks.iter().map(WireClick::from).collect();
        Self::ClickBatch { v: VERSION, id: Cow::Borrowed(&batch.id), clicks }
    }
}

impl Wire<'_> {
    pub(super) fn read(self) -> Result<ClickBatch, Malformed> {
        let Self::ClickBatch { v, id, clicks } = self;
        if v != VERSION {
            return Err(Malformed::Version(v));
        }
        let clicks = clicks.into_iter().map(WireClick::read).collect::<Result<_, _>>()?;
        Ok(ClickBatch { id: id.into_owned(), clicks })
    }
}

impl<'a> From<&'a Click> for WireClick<'a> {
    fn from(click: &'a Click) -> Self {
        Self {
            domain: Cow::Borrowed(&click.domain),
            code: Cow::Borrowed(&click.code),
            at_ms: click.at.as_millisecond(),
            visitor: click.visitor,
            head: click.head,
            user_agent: click.user_agent.as_deref().map(Cow::Borrowed),
            referrer: click.referrer.as_deref().map(Cow::Borrowed),
            country: click.country.as_deref().map(Cow::Borrowed),
            variant: click.variant,
            limited: click.limited,
        }
    }
}

impl WireClick<'_> {
    fn read(self) -> Result<Click, Malformed> {
        Ok(Click {
            domain: self.domain.into_owned(),
            code: self.code.into_owned(),
            at: Timestamp::from_millisecond(self.at_ms).map_err(|_| Malformed::Field("at"))?,
            visitor: self.visitor,
            head: self.head,
            user_agent: self.user_agent.map(Cow::into_owned),
            referrer: self.referrer.map(Cow::into_owned),
            country: self.country.map(Cow::into_owned),
            variant: self.variant,
            limited: self.limited,
        })
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields over by reference")]
fn to_hex<S: Serializer>(visitor: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{visitor:x}"))
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let digits = Cow::<str>::deserialize(deserializer)?;
    u64::from_str_radix(&digits, 16).map_err(D::Error::custom)
}

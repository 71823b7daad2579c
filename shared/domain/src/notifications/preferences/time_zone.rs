//! Time zones, from the database that is compiled in: every machine knows the same rules.

use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};

use crate::notifications::Rejected;

pub(super) static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The name of a time zone that exists: `Europe/Madrid`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeZoneName(String);

impl TimeZoneName {
    /// Accepts the names of the IANA database, in its own spelling or another.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let zone = DATABASE.get(text).ok();
        let name = zone.as_ref().and_then(TimeZone::iana_name).map(str::to_owned);
        name.map(Self)
            .ok_or_else(|| Rejected::field("timeZone", "a time zone like `Europe/Madrid`"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its rules. A name that a newer database had, and this one does not, counts as UTC.
    pub(super) fn rules(&self) -> TimeZone {
        DATABASE.get(&self.0).unwrap_or(TimeZone::UTC)
    }
}

impl Default for TimeZoneName {
    fn default() -> Self {
        Self("UTC".to_owned())
    }
}

impl From<TimeZoneName> for String {
    fn from(zone: TimeZoneName) -> Self {
        zone.0
    }
}

impl TryFrom<String> for TimeZoneName {
    type Error = Rejected;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

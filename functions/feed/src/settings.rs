//! What the feed is run with: JSON in `FEED_SETTINGS`.

use boundary::{Host, Misconfigured};
use domain::feed::FeedSettings;

const VARIABLE: &str = "FEED_SETTINGS";

/// Reads the settings; the defaults where the variable is not set.
pub(crate) fn settings(host: &Host) -> Result<FeedSettings, Misconfigured> {
    let Some(json) = host.vars.optional(VARIABLE) else { return Ok(FeedSettings::DEFAULT) };
    let misconfigured = |problem| Misconfigured { name: VARIABLE.to_owned(), problem };
    FeedSettings::parse(json).map_err(misconfigured)
}

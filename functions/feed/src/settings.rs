//! What the feed is run with: JSON in `FEED_SETTINGS`.

use boundary::{Host, Misconfigured};
use domain::feed::Settings;

const VARIABLE: &str = "FEED_SETTINGS";

/// Reads the settings; the defaults where the variable is not set.
pub(crate) fn settings(host: &Host) -> Result<Settings, Misconfigured> {
    let Some(json) = host.vars.optional(VARIABLE) else { return Ok(Settings::DEFAULT) };
    let misconfigured = |problem| Misconfigured { name: VARIABLE.to_owned(), problem };
    Settings::parse(json).map_err(misconfigured)
}

//! What each source calls its columns.
//!
//! Names are compared by their letters and digits alone, so `Long URL`, `long_url` and `longUrl` are
//! one. A nested JSON field is named by its path: `meta.validUntil`.

use super::ImportSource;

/// Names of one column; the first that has a value counts.
pub(super) type Names = &'static [&'static str];

/// Where to find the parts of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) url: Names,
    pub(super) code: Names,
    /// Short links as a whole, of domain and code, for files without a column for the code.
    pub(super) short: Names,
    pub(super) domain: Names,
    pub(super) note: Names,
    pub(super) tags: Names,
    pub(super) created_at: Names,
    pub(super) expires_at: Names,
    pub(super) max_clicks: Names,
    pub(super) fallback: Names,
    pub(super) redirect: Names,
    pub(super) clicks: Names,
    pub(super) variants: Names,
    pub(super) forward_query: Names,
    pub(super) utm: Names,
    /// Columns that, when true, bar a link from coming in, and why.
    pub(super) guards: &'static [(&'static str, &'static str)],
    /// Domains that belong to the source itself and can't move here.
    pub(super) source_domains: Names,
    /// Our own escapes are undone, and cells are kept to the letter.
    pub(super) is_own: bool,
}

const NONE: Columns = Columns {
    url: &[],
    code: &[],
    short: &[],
    domain: &[],
    note: &[],
    tags: &[],
    created_at: &[],
    expires_at: &[],
    max_clicks: &[],
    fallback: &[],
    redirect: &[],
    clicks: &[],
    variants: &[],
    forward_query: &[],
    utm: &[],
    guards: &[],
    source_domains: &[],
    is_own: false,
};

/// A link with a custom back-half has a random one beside it. The custom one was handed out, so it
/// comes first.
const BITLY: Columns = Columns {
    url: &["Destination URL", "Long URL", "Original URL", "Destination"],
    code: &["Back-half", "Custom back-half"],
    short: &[
        "Custom Link",
        "Custom Bitlink",
        "custom_bitlinks",
        "keyword_link",
        "Link",
        "Bitlink",
        "Short Link",
        "Short URL",
    ],
    domain: &["Domain"],
    note: &["Title"],
    tags: &["Tags"],
    created_at: &["Created", "Created At", "Date Created", "Creation Date", "Created Date", "Date"],
    expires_at: &["Expiration Date", "expiration_at"],
    clicks: &["Total Clicks", "Clicks", "Engagements", "Total Engagements", "user_clicks"],
    source_domains: &["bit.ly", "bitly.com", "j.mp"],
    ..NONE
};

/// One export plugin writes `source,target,hits`; others, and the table itself, the names before.
const YOURLS: Columns = Columns {
    url: &["url", "longurl", "target"],
    code: &["keyword", "source"],
    short: &["shorturl"],
    note: &["title"],
    created_at: &["timestamp", "date"],
    clicks: &["clicks", "hits"],
    ..NONE
};

const SHLINK: Columns = Columns {
    url: &["longUrl", "originalUrl"],
    code: &["shortCode"],
    short: &["shortUrl"],
    domain: &["domain"],
    note: &["title"],
    tags: &["tags"],
    created_at: &["createdAt", "dateCreated"],
    expires_at: &["meta.validUntil", "validUntil"],
    max_clicks: &["meta.maxVisits", "maxVisits"],
    clicks: &["visitsSummary.total", "visitsCount", "visits"],
    forward_query: &["forwardQuery"],
    ..NONE
};

const KUTT: Columns = Columns {
    url: &["target"],
    code: &["address"],
    short: &["link", "link.url", "shortUrl"],
    domain: &["domain"],
    note: &["description"],
    created_at: &["created_at"],
    expires_at: &["expire_in"],
    clicks: &["visit_count"],
    guards: &[
        ("password", "it has a password there, and would open without one here"),
        ("banned", "it was banned there"),
    ],
    ..NONE
};

const OWN: Columns = Columns {
    url: &["url"],
    code: &["code"],
    domain: &["domain"],
    note: &["note"],
    tags: &["tags"],
    created_at: &["createdAt"],
    expires_at: &["expiresAt"],
    max_clicks: &["maxClicks"],
    fallback: &["fallback"],
    redirect: &["redirect"],
    clicks: &["clicks"],
    variants: &["variants"],
    forward_query: &["forwardQuery"],
    utm: &["utm"],
    is_own: true,
    ..NONE
};

/// The columns of `source`.
pub(super) const fn columns_of(source: ImportSource) -> &'static Columns {
    match source {
        ImportSource::Bitly => &BITLY,
        ImportSource::Yourls => &YOURLS,
        ImportSource::Shlink => &SHLINK,
        ImportSource::Kutt => &KUTT,
        ImportSource::Csv => &OWN,
    }
}

/// A name as it is compared: its letters and digits, in lower case.
pub(super) fn normalized(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

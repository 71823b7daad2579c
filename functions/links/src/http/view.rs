//! Links as the API shows them.

use std::collections::BTreeMap;

use boundary::http::{Created, Cursor, Json, Problem, Result, Storable, Versioned};
use boundary::openapi::{DescribeResponse, OperationEntry};
use domain::links::{Link, Target};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use store::idempotency::StoredResponse;

use crate::http::request::Request;
use crate::http::state::App;
use crate::http::terms::VariantView;

/// A link, as shown to its owner.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LinkView {
    short_url: String,
    short_code: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    domain: String,
    long_url: String,
    created_at: String,
    updated_at: String,
    expires_at: Option<String>,
    /// The QR code of the short address.
    qr_code: String,
    redirect: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_clicks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback_url: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<VariantView>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    forward_query: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    utm: BTreeMap<String, String>,
    /// `live`, `expired`, `spent`, `blocked` or `deleted`.
    state: &'static str,
    /// What makes the destination suspicious.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// Why it is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    block_reason: Option<String>,
    /// The destination's own title, once the scan has fetched it.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Until when a deleted link can be restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    restorable_until: Option<String>,
    version: u64,
}

impl LinkView {
    pub(crate) fn new(link: &Link, app: &App, request: &Request) -> Self {
        let terms = &link.terms;
        let code = link.code.as_str();
        let text = |target: &Target| target.as_str().to_owned();
        let restorable = link.deleted_at.and_then(|at| {
            let until = at.as_second() + domain::links::link::RESTORE_SECONDS;
            domain::Timestamp::from_second(until).ok()
        });
        Self {
            short_url: app.short_url(&link.domain, &link.code, request),
            short_code: code.to_owned(),
            domain: link.domain.clone(),
            long_url: text(&terms.long_url),
            created_at: link.created_at.to_string(),
            updated_at: link.updated_at.to_string(),
            expires_at: terms.expires_at.map(|at| at.to_string()),
            qr_code: format!("{}/qr/{code}.png", app.base(&link.domain, request)),
            redirect: terms.redirect.status(),
            max_clicks: terms.max_clicks,
            fallback_url: terms.fallback.as_ref().map(text),
            variants: terms
                .variants
                .iter()
                .map(|variant| VariantView { url: text(&variant.url), weight: variant.weight })
                .collect(),
            tags: terms.tags.as_slice().to_vec(),
            note: terms.note.clone(),
            forward_query: terms.forward_query,
            utm: terms.utm.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
            state: state_of(link, request),
            warnings: link.warnings.clone(),
            block_reason: link.blocked.as_ref().map(|block| block.reason.clone()),
            title: link.preview.title.clone(),
            restorable_until: restorable.map(|at| at.to_string()),
            version: link.version,
        }
    }

    /// With the version as an `ETag`.
    pub(crate) fn versioned(link: &Link, app: &App, request: &Request) -> Versioned<Json<Self>> {
        Versioned(link.version, Json(Self::new(link, app, request)))
    }
}

fn state_of(link: &Link, request: &Request) -> &'static str {
    if link.deleted_at.is_some() {
        "deleted"
    } else if link.blocked.is_some() {
        "blocked"
    } else if link.terms.expires_at.is_some_and(|at| at <= request.now) {
        "expired"
    } else if link.spent_at.is_some() {
        "spent"
    } else {
        "live"
    }
}

/// The answer to a creation: 201 if the link is new, 200 if the caller has an equal one.
#[derive(Debug)]
pub(crate) struct Shortened {
    is_new: bool,
    version: u64,
    location: String,
    link: LinkView,
}

impl Shortened {
    pub(crate) fn new(link: &Link, is_new: bool, app: &App, request: &Request) -> Self {
        let mut location = format!("/api/v1/url/{}", link.code.as_str());
        if !link.domain.is_empty() {
            location.push_str("?domain=");
            location.push_str(&link.domain);
        }
        Self { is_new, version: link.version, location, link: LinkView::new(link, app, request) }
    }
}

impl Storable for Shortened {
    fn stored(&self) -> StoredResponse {
        let created = Created { location: self.location.clone(), body: &self.link };
        let kept = Versioned(self.version, created).stored();
        if self.is_new { kept } else { StoredResponse { status: 200, ..kept } }
    }
}

impl DescribeResponse for Shortened {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Json::<LinkView>::describe(entry, schemas);
        Created::<LinkView>::describe(entry, schemas);
    }
}

/// A link with its totals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LinkDetails {
    #[serde(flatten)]
    pub(crate) link: LinkView,
    /// Clicks by people, ever.
    pub(crate) clicks: u64,
    /// Visits by robots, ever.
    pub(crate) bots: u64,
    /// Visits by preview crawlers, ever.
    pub(crate) previews: u64,
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageView<T> {
    pub(crate) items: Vec<T>,
    /// Pass it as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl<T> PageView<T> {
    pub(crate) fn new(list: &str, items: Vec<T>, next: Option<&str>) -> Self {
        let next_cursor = next.map(|next| Cursor::new(list, next).as_str().to_owned());
        Self { items, next_cursor }
    }
}

/// Pagination.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    /// Where to go on: the `nextCursor` of the page before.
    pub(crate) cursor: Option<String>,
    /// How many, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<usize>,
}

pub(crate) fn limit(limit: Option<usize>) -> Result<usize> {
    match limit.unwrap_or(50) {
        limit @ 1..=100 => Ok(limit),
        _ => Err(Problem::field("limit", "a number from 1 to 100")),
    }
}

/// The position in the list that the cursor names.
pub(crate) fn position(list: &str, cursor: Option<&str>) -> Result<Option<String>> {
    cursor.map(|text| Cursor::decode(list, text)).transpose()
}

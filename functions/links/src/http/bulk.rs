//! Creates up to a thousand links at once, each on its own.

use std::sync::Arc;

use boundary::http::{Json, Operation, Problem, Result, State, parse_json};
use domain::accounts::Role;
use futures::StreamExt;
use futures::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::BULK_CAP;
use crate::http::create::Creation;
use crate::http::request::Request;
use crate::http::state::App;
use crate::http::terms::NewLink;
use crate::http::view::LinkView;

/// Links in one request.
pub(crate) const MAX_LINKS: usize = 1_000;

/// Writes in flight for one request.
const CONCURRENCY: usize = 32;

/// Links to make, each on its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    /// Up to 1,000 bodies of `POST /api/v1/shorten`.
    #[schemars(length(min = 1, max = 1000), with = "Vec<NewLink>")]
    urls: Vec<Value>,
}

/// The result for each link, in the order they were sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BulkView {
    /// How many are new.
    pub(crate) created: usize,
    /// How many the caller had already.
    pub(crate) reused: usize,
    /// How many were refused.
    pub(crate) failed: usize,
    pub(crate) results: Vec<BulkResult>,
}

/// The result for one link.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BulkResult {
    /// The status that `POST /api/v1/shorten` would have answered with.
    pub(crate) status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<LinkView>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<Value>,
}

pub(super) const SHORTEN_ALL: Operation =
    Operation::post("/api/v1/bulk/shorten", "shortenUrls", "Shorten many URLs")
        .description("Up to 1,000, each answered on its own: some may fail and others not.")
        .role(Role::Member)
        .body_up_to(BULK_CAP)
        .charges_itself()
        .refuses(&[429]);

pub(super) async fn shorten_all(
    State(app): State<Arc<App>>,
    request: Request,
    Json(bulk): Json<Bulk>,
) -> Result<Json<BulkView>> {
    if !(1..=MAX_LINKS).contains(&bulk.urls.len()) {
        return Err(Problem::field("urls", format!("1 to {MAX_LINKS} links")));
    }
    request.charge(u32::try_from(bulk.urls.len()).unwrap_or(u32::MAX)).await?;
    let results: Vec<BulkResult> = stream::iter(bulk.urls)
        .map(|value| shorten_one(&app, &request, value))
        .buffered(CONCURRENCY)
        .collect()
        .await;
    let count = |status| results.iter().filter(|result| result.status == status).count();
    let (created, reused) = (count(201), count(200));
    let failed = results.len() - created - reused;
    Ok(Json(BulkView { created, reused, failed, results }))
}

async fn shorten_one(app: &App, request: &Request, value: Value) -> BulkResult {
    let outcome = async {
        let new: NewLink = parse_json(value)?;
        let draft = app.draft(&new, request).await?;
        app.create_link(&draft, request, None).await
    };
    BulkResult::new(&outcome.await, app, request)
}

impl BulkResult {
    pub(crate) fn new(made: &Result<Creation>, app: &App, request: &Request) -> Self {
        let (status, link) = match made {
            Ok(Creation::New(link)) => (201, link),
            Ok(Creation::Existing(link)) => (200, link),
            Err(problem) => {
                let described = Some(problem.to_json(&request.path));
                return Self { status: problem.status(), link: None, problem: described };
            }
        };
        Self { status, link: Some(LinkView::new(link, app, request)), problem: None }
    }
}

//! Top: who and what was denied most in the last hour, as far as nodes have reported it.

use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Problem, Query, Result, State};
use domain::accounts::Role;
use domain::limits::Dimension;
use domain::limits::history::{DeniedKey, DeniedResource, TopDenied};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::state::App;
use crate::http::view::DimensionName;

/// How many.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopQuery {
    /// How many keys and resources, 1 to 100; 20 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// What was denied in the last hour.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TopView {
    /// Keys, most denied first. A request counts for each dimension it has.
    keys: Vec<KeyView>,
    /// Resources, most denied first.
    resources: Vec<ResourceView>,
    /// Units asked for, the denied ones included.
    asked: u64,
    /// Units denied.
    denied: u64,
    /// Denied ÷ asked.
    rate: f64,
}

/// A key that was denied something.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KeyView {
    #[schemars(with = "DimensionName")]
    dimension: Dimension,
    entity: String,
    asked: u64,
    denied: u64,
}

/// A resource of which something was denied.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResourceView {
    /// Like `POST /api/v1/shorten`.
    resource: String,
    asked: u64,
    denied: u64,
}

pub(super) const READ: Operation = Operation::get(
    "/admin/ratelimits/top",
    "readTop",
    "Who and what is denied most?",
)
.description(
    "In the last hour, as far as nodes have reported it: they do about once a minute, and name the \
             heaviest.",
)
.role(Role::Admin);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    Query(query): Query<TopQuery>,
) -> Result<Json<TopView>> {
    let most @ 1..=100 = query.limit.unwrap_or(20) else {
        return Err(Problem::field("limit", "a number from 1 to 100"));
    };
    let reports = app.limits.usage_reports(call.now).await?;
    let top = TopDenied::of(reports, call.now.as_millisecond(), most);
    Ok(Json(TopView::from(top)))
}

impl From<TopDenied> for TopView {
    fn from(top: TopDenied) -> Self {
        let key = |DeniedKey { dimension, entity, asked, denied }| KeyView {
            dimension,
            entity,
            asked,
            denied,
        };
        let resource =
            |DeniedResource { resource, asked, denied }| ResourceView { resource, asked, denied };
        Self {
            keys: top.keys.into_iter().map(key).collect(),
            resources: top.resources.into_iter().map(resource).collect(),
            asked: top.asked,
            denied: top.denied,
            rate: top.rate,
        }
    }
}

//! Top: who and what was denied most in the last hour, as far as nodes have reported it.

use boundary::http::{Answer, Problem, Request, Response};
use domain::limits::Dimension;
use domain::limits::history::{DeniedKey, DeniedResource, Top};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::State;
use crate::view::DimensionName;

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

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let query: TopQuery = request.query()?;
    let most @ 1..=100 = query.limit.unwrap_or(20) else {
        return Err(Problem::field("limit", "a number from 1 to 100").into());
    };
    let seen = state.limits.seen(request.now).await?;
    let top = Top::of(seen, request.now.as_millisecond(), most);
    Ok(Response::json(StatusCode::OK, &TopView::from(top)))
}

impl From<Top> for TopView {
    fn from(top: Top) -> Self {
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

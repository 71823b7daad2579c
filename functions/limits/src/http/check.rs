//! The check: other programs ask whether a request of theirs may pass.
//!
//! It is answered like a request of our own is: from what this node holds, or with one conditional
//! write. A refusal has consumed nothing.

use axum::response::{IntoResponse, Response};
use boundary::http::{Call, Json, Operation, Problem, Result};
use boundary::limits::Admission;
use boundary::openapi::{DescribeResponse, OperationEntry};
use domain::accounts::Role;
use domain::limits::Dimension;
use domain::{Failure, Timestamp};
use http::{StatusCode, header};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::http::caller;
use crate::http::view::DimensionName;

const MAX_TOKENS: i64 = 1_000_000;

/// A request that wants to pass. Without anyone in it, only rules for everyone together apply.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CheckBody {
    /// The account.
    #[schemars(length(min = 1, max = 256))]
    user_id: Option<String>,
    /// The API key's id. Of a whole key only what is before the dot counts.
    #[schemars(length(min = 1, max = 256))]
    api_key: Option<String>,
    /// The address; IPv6 counts by /64.
    client_ip: Option<String>,
    /// The tenant.
    #[schemars(length(min = 1, max = 256))]
    tenant_id: Option<String>,
    /// The path that is asked for.
    #[schemars(regex(pattern = r"^/[^?]{0,511}$"))]
    resource: String,
    /// The method; `GET` if left out.
    method: Option<String>,
    /// Units it takes; 1 if left out.
    #[schemars(range(min = 1, max = 1_000_000))]
    tokens: Option<i64>,
}

/// Whether it may pass, and how it stands with the rule that says most: the one that refuses, or else
/// the one with the smallest share left. Everything but `allowed` is null if no rule applies.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckView {
    allowed: bool,
    /// Units in the rule's window.
    limit: Option<i64>,
    /// Units that could still be had.
    remaining: Option<i64>,
    /// When everything is there again or, after a refusal, when another try is worth it.
    reset_at: Option<String>,
    /// Seconds to wait before another try; null if it may pass, or never will.
    retry_after: Option<i64>,
    /// Whom the rule counts.
    #[schemars(with = "Option<DimensionName>")]
    dimension: Option<Dimension>,
    /// The rule.
    rule: Option<String>,
    /// How long to hold the request back, where the rule is a leaky bucket.
    delay_ms: Option<i64>,
}

pub(super) const CHECK: Operation =
    Operation::post("/internal/ratelimit/check", "checkLimit", "May it pass?")
        .description(
            "Takes the units from every quota that applies, or none. 429 has the same body as 200, and \
             `Retry-After`; a 429 that is a problem is about your own quota for checks, which an admin lifts in \
             the settings. If a rule that is closed on failure can't be checked: 503.",
        )
        .role(Role::Limiter)
        .refuses(&[429, 503]);

pub(super) async fn check(call: Call, Json(body): Json<CheckBody>) -> Result<Checked> {
    let tokens = body.tokens.unwrap_or(1);
    if !(1..=MAX_TOKENS).contains(&tokens) {
        return Err(Problem::field("tokens", format!("from 1 to {MAX_TOKENS}")));
    }
    let path = caller::resource(&body.resource)?;
    let method = caller::method(body.method.as_deref())?;
    let (api_key, client_ip) = (body.api_key.as_deref(), body.client_ip.as_deref());
    let caller = caller::from_fields(body.user_id, api_key, client_ip, body.tenant_id)?;
    let limiter = call
        .limiter()
        .ok_or_else(|| Failure::new("check a quota", "the request came without a limiter"))?;
    let label = format!("{method} {path}");
    let admission = limiter.admit(&caller, &label, path, &method, tokens).await;
    if admission.refusal.is_some_and(|refusal| refusal.unavailable) {
        let problem = admission.problem();
        return Err(problem.unwrap_or_else(|| Problem::unavailable("Ask again.", 1)));
    }
    Ok(Checked(CheckView::from(&admission)))
}

/// Whether it may pass: 200, or 429 with the same body.
pub(super) struct Checked(CheckView);

impl IntoResponse for Checked {
    fn into_response(self) -> Response {
        let Self(view) = self;
        if view.allowed {
            return Json(view).into_response();
        }
        let wait = view.retry_after.map(|seconds| [(header::RETRY_AFTER, seconds.to_string())]);
        (StatusCode::TOO_MANY_REQUESTS, wait, Json(view)).into_response()
    }
}

impl DescribeResponse for Checked {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        <Json<CheckView> as DescribeResponse>::describe(entry, schemas);
    }
}

impl From<&Admission> for CheckView {
    fn from(admission: &Admission) -> Self {
        let tightest = admission.most_restrictive();
        let status = tightest.map(|tightest| tightest.status);
        Self {
            allowed: admission.refusal.is_none(),
            limit: tightest.map(|tightest| tightest.quota.limit),
            remaining: status.map(|status| status.remaining),
            reset_at: status.map(|status| time(status.reset_at_ms)),
            retry_after: admission.refusal.and_then(|refusal| refusal.retry_after),
            dimension: tightest.map(|tightest| tightest.dimension),
            rule: tightest.map(|tightest| tightest.rule.clone()),
            delay_ms: status.map(|status| status.delay_ms),
        }
    }
}

/// A time that is so far away that it can't be written is the last that can.
pub(crate) fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX).to_string()
}

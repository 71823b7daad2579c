//! Abuse: users and visitors report links; admins list reports, block and unblock links.

use std::sync::Arc;

use crate::store::AbuseReport;
use axum::response::{IntoResponse, Response};
use boundary::http::{
    Caller, Json, NoContent, Operation, Path, Problem, Query, Result, State, Versioned,
};
use domain::accounts::Role;
use domain::links::Link;
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::ReportPath;
use crate::http::link_ref::LinkRef;
use crate::http::request::Request;
use crate::http::state::App;
use crate::http::view::{LinkView, PageQuery, PageView, limit, position};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewReport {
    reason: AbuseReason,
    /// Up to 1,000 characters more.
    #[schemars(length(max = 1000))]
    details: Option<String>,
}

/// Kinds of abuse.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AbuseReason {
    /// It imitates another site.
    Phishing,
    /// It harms the visitor's machine.
    Malware,
    /// It is sent to people who did not ask for it.
    Spam,
    /// It must not be published.
    Illegal,
    Other,
}

impl AbuseReason {
    const fn name(self) -> &'static str {
        match self {
            Self::Phishing => "phishing",
            Self::Malware => "malware",
            Self::Spam => "spam",
            Self::Illegal => "illegal",
            Self::Other => "other",
        }
    }
}

/// A report, as shown to admins.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportView {
    report_id: String,
    short_code: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    domain: String,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    reported_at: String,
}

pub(super) const REPORT: Operation =
    Operation::post("/api/v1/url/{code}/report", "reportLink", "Report abuse")
        .description("Works without a key.")
        .role_or_anonymous(Role::Member)
        .charges_itself()
        .statuses(&[202])
        .refuses(&[429]);

pub(super) async fn report(
    State(app): State<Arc<App>>,
    request: Request,
    Json(body): Json<NewReport>,
    link_ref: Result<LinkRef>,
) -> Result<Response> {
    if body.details.as_ref().is_some_and(|details| details.chars().count() > 1_000) {
        return Err(Problem::field("details", "at most 1,000 characters"));
    }
    let link_ref = link_ref?;
    request.charge(1).await?;
    let found = app.links.find(&link_ref.domain, &link_ref.code).await?;
    let link = found.ok_or_else(|| Problem::unknown("link"))?;
    let report = AbuseReport {
        id: AbuseReport::id_at(request.now, u64::from_be_bytes(app.entropy.bytes())),
        domain: link.domain,
        code: link.code,
        reason: body.reason.name().to_owned(),
        details: body.details,
        at: request.now,
    };
    app.links.report(&report).await?;
    Ok(StatusCode::ACCEPTED.into_response())
}

pub(super) const REPORTS: Operation =
    Operation::get("/api/v1/reports", "listReports", "List reports")
        .description("Newest first, for 90 days.")
        .role(Role::Admin);

pub(super) async fn reports(
    State(app): State<Arc<App>>,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageView<ReportView>>> {
    const LIST: &str = "reports";
    let after = position(LIST, query.cursor.as_deref())?;
    let limit = i32::try_from(limit(query.limit)?).unwrap_or(50);
    let page = app.links.reports(limit, after.as_deref()).await?;
    let items = page.items.iter().map(|report| ReportView {
        report_id: report.id.clone(),
        short_code: report.code.as_str().to_owned(),
        domain: report.domain.clone(),
        reason: report.reason.clone(),
        details: report.details.clone(),
        reported_at: report.at.to_string(),
    });
    Ok(Json(PageView::new(LIST, items.collect(), page.next.as_deref())))
}

pub(super) const DISMISS: Operation =
    Operation::delete("/api/v1/reports/{reportId}", "dismissReport", "Dismiss a report")
        .role(Role::Admin)
        .refuses(&[404]);

pub(super) async fn dismiss(
    State(app): State<Arc<App>>,
    Path(report): Path<ReportPath>,
) -> Result<NoContent> {
    if app.links.dismiss_report(&report).await? {
        Ok(NoContent)
    } else {
        Err(Problem::unknown("report"))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBlock {
    /// 1 to 200 characters that its visitors will read.
    #[schemars(length(min = 1, max = 200))]
    reason: String,
}

pub(super) const BLOCK: Operation =
    Operation::post("/api/v1/url/{code}/block", "blockLink", "Block a link")
        .description("It answers 451 within five seconds.")
        .role(Role::Admin)
        .refuses(&[409]);

pub(super) async fn block(
    State(app): State<Arc<App>>,
    request: Request,
    caller: Caller,
    Json(body): Json<NewBlock>,
    link_ref: Result<LinkRef>,
) -> Result<Versioned<Json<LinkView>>> {
    let reason = parse_reason(&body.reason)?;
    let change = |link: &Link| Ok(Some(link.blocked(&reason, request.now)));
    let link = app.change(&caller, &link_ref?, change).await?;
    Ok(LinkView::versioned(&link, &app, &request))
}

pub(super) const UNBLOCK: Operation =
    Operation::post("/api/v1/url/{code}/unblock", "unblockLink", "Unblock a link")
        .role(Role::Admin)
        .refuses(&[409]);

pub(super) async fn unblock(
    State(app): State<Arc<App>>,
    request: Request,
    caller: Caller,
    link_ref: LinkRef,
) -> Result<Versioned<Json<LinkView>>> {
    let change = |link: &Link| match link.blocked {
        None => Ok(None),
        Some(_) => Ok(Some(link.unblocked(request.now))),
    };
    let link = app.change(&caller, &link_ref, change).await?;
    Ok(LinkView::versioned(&link, &app, &request))
}

/// A reason that visitors will read.
pub(crate) fn parse_reason(text: &str) -> Result<String> {
    let reason = text.trim();
    if (1..=200).contains(&reason.chars().count()) && !reason.chars().any(char::is_control) {
        Ok(reason.to_owned())
    } else {
        Err(Problem::field("reason", "1 to 200 characters"))
    }
}

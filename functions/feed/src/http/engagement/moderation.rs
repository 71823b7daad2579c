//! Reports of posts, and what an admin decides.
//!
//! The post is hidden or shown first, then each open report gets the ruling, once. A call that is cut off in
//! between is repeated: what is done stays done.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::store::{ReportOutcome, StoredPost, UpdateOutcome};
use boundary::http::{Accepted, Call, Caller, Cursor, Json, Operation, Path, Query, Result, State};
use domain::accounts::Role;
use domain::feed::{Post, PostId, PostReport, Rejected, ReportDraft, ReportReason, Ruling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TRIES, counts_moved, visible_post};
use crate::http::posts::contended;
use crate::http::state::App;
use crate::http::views::{PostView, post_views};
use crate::http::{PostPath, page_limit};

// A report that the domain reads; without a doc comment, so that it goes by the name and the words of its shape.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "ReportShape")]
pub(crate) struct ReportBody(ReportDraft);

/// What is wrong with a post.
#[derive(JsonSchema)]
#[schemars(rename = "NewReport")]
#[expect(dead_code, reason = "only its shape is used")]
struct ReportShape {
    /// `SPAM`, `ABUSE`, `VIOLENCE`, `FRAUD` or `OTHER`.
    reason: String,
    /// In your words, at most 1,000 characters.
    note: Option<String>,
}

/// A report.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportView {
    post_id: String,
    /// `SPAM`, `ABUSE`, `VIOLENCE`, `FRAUD` or `OTHER`.
    #[schemars(with = "String")]
    reason: ReportReason,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
    created_at: String,
}

/// An open report, for who decides.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenReportView {
    #[serde(flatten)]
    report: ReportView,
    /// Who reported it.
    reported_by: String,
    /// The post as it stands; `null` if its author has deleted it.
    post: Option<PostView>,
}

/// Which part of the open reports.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportsQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// A page of open reports. A page may be short and still have a next one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportsView {
    /// The oldest first.
    items: Vec<OpenReportView>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    next_cursor: Option<String>,
    has_more: bool,
}

/// What is decided.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulingBody {
    /// `UPHELD`: the post is hidden. `DISMISSED`: it stays, or is shown again.
    #[schemars(with = "String")]
    ruling: Ruling,
}

/// What was decided.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RulingView {
    post_id: String,
    /// Open reports that it settled.
    settled: usize,
    /// Whether the post is hidden now.
    hidden: bool,
}

pub(crate) const REPORT: Operation =
    Operation::post("/api/v1/posts/{postId}/report", "reportPost", "Report a post")
        .description(
            "An admin decides; the author is not told by whom it was reported. Reporting a \
             post again changes nothing: the answer is your first report.",
        )
        .role(Role::Member)
        .refuses(&[404]);

pub(crate) async fn report(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(ReportBody(draft)): Json<ReportBody>,
    Path(id): Path<PostPath>,
) -> Result<Accepted<ReportView>> {
    let me = &caller.user_id;
    let (entry, _) = visible_post(&app, me, id).await?;
    let report = draft.checked(&entry.post, me.clone(), call.now)?;
    let stands = match app.feed.report(&report).await? {
        ReportOutcome::Created => report,
        ReportOutcome::Existing(before) => before,
    };
    Ok(Accepted(ReportView::from(&stands)))
}

pub(crate) const LIST: Operation =
    Operation::get("/api/v1/moderation/reports", "listPostReports", "Open reports")
        .role(Role::Admin);

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(query): Query<ReportsQuery>,
) -> Result<Json<ReportsView>> {
    const LIST: &str = "reports";
    let limit = page_limit(query.limit, 50, 100)?;
    let after = query.cursor.map(|text| Cursor::decode(LIST, &text)).transpose()?;
    let open = app.feed.open_reports(after.as_deref(), limit).await?;
    let ids: BTreeSet<PostId> = open.reports.iter().map(|report| report.post).collect();
    let mut found = app.feed.posts(ids).await?;
    found.retain(|_, entry| entry.post.deleted_at.is_none());
    let entries = open.reports.iter().filter_map(|report| found.get(&report.post).cloned());
    let entries: Vec<StoredPost> = entries.collect();
    let mut posts = post_views(&app, &caller.user_id, &entries).await?.into_iter();
    let item = |report: &PostReport| OpenReportView {
        report: report.into(),
        reported_by: report.reporter.as_str().to_owned(),
        post: found.get(&report.post).and_then(|_| posts.next()),
    };
    let items = open.reports.iter().map(item).collect();
    Ok(Json(ReportsView {
        items,
        has_more: open.next.is_some(),
        next_cursor: open.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned()),
    }))
}

pub(crate) const RULE: Operation =
    Operation::post("/api/v1/moderation/posts/{postId}/ruling", "rulePost", "Decide on a post")
        .description(
            "Settles all open reports of the post, each once. What is hidden is there for \
             its author only, until a later ruling shows it again.",
        )
        .role(Role::Admin)
        .refuses(&[404, 503]);

pub(crate) async fn rule(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(RulingBody { ruling }): Json<RulingBody>,
    Path(id): Path<PostPath>,
) -> Result<Json<RulingView>> {
    let by = &caller.user_id;
    let post = decide(&app, &call, id, ruling).await?;
    let mut settled = 0;
    for report in app.feed.reports_of(post.id).await? {
        if let Some((ruled, _)) = report.with_ruling(ruling, &post, by.clone(), call.now) {
            settled += usize::from(app.feed.rule(&ruled).await?);
        }
    }
    let hidden = post.hidden_at.is_some();
    Ok(Json(RulingView { post_id: post.id.text(), settled, hidden }))
}

/// Hides a post, or shows it again; the post as it is afterwards.
async fn decide(app: &App, call: &Call, id: PostId, ruling: Ruling) -> Result<Post> {
    for _ in 0..TRIES {
        let before = app.feed.post(id).await?.ok_or(Rejected::UnknownPost)?.post;
        let after = match ruling {
            Ruling::Upheld => before.hidden(call.now),
            Ruling::Dismissed => before.unhidden(),
        };
        let Some(after) = after else { return Ok(before) };
        let token = app.entropy.token();
        let done = app.feed.update_post(&before, &after, call.now, &token);
        if let UpdateOutcome::Updated(message) = done.await? {
            app.publish(message.as_ref(), call).await;
            // It may be trending again.
            counts_moved(app, id, ruling == Ruling::Dismissed, call).await;
            return Ok(after);
        }
    }
    Err(contended())
}

impl From<&PostReport> for ReportView {
    fn from(report: &PostReport) -> Self {
        Self {
            post_id: report.post.text(),
            reason: report.reason,
            note: report.note.clone(),
            created_at: report.created_at.to_string(),
        }
    }
}

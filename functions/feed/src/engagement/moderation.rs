//! Reports of posts, and what an admin decides.
//!
//! The post is hidden or shown first, then each open report gets the ruling, once. A call that is cut off in
//! between is repeated: what is done stays done.

use std::collections::BTreeSet;

use boundary::http::{Answer, Cursor, Error, Problem, Request, Response};
use domain::feed::{Complaint, Post, PostId, Rejected, Report, ReportDraft, Ruling};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::feed::{Amended, Entry, Reported};

use super::{TRIES, counts_moved, meet};
use crate::State;
use crate::posts::busy;
use crate::state::post_named;
use crate::view::{PostView, show};

const LIST: &str = "reports";

/// A report.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportView {
    post_id: String,
    /// `SPAM`, `ABUSE`, `VIOLENCE`, `FRAUD` or `OTHER`.
    #[schemars(with = "String")]
    reason: Complaint,
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

pub(crate) async fn report(state: &State, request: Request) -> Answer {
    let draft: ReportDraft = request.json()?;
    let me = request.caller()?.user_id.clone();
    let (entry, _) = meet(state, &me, post_named(&request)?).await?;
    let report = draft.checked(&entry.post, me, request.now)?;
    let stands = match state.feed.report(&report).await? {
        Reported::Reported => report,
        Reported::Before(before) => before,
    };
    Ok(Response::json(StatusCode::ACCEPTED, &ReportView::from(&stands)))
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let query: ReportsQuery = request.query()?;
    let limit = query.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 100").into());
    }
    let after = query.cursor.map(|text| Cursor::position(LIST, &text)).transpose()?;
    let open = state.feed.open_reports(after.as_deref(), limit).await?;
    let ids: BTreeSet<PostId> = open.reports.iter().map(|report| report.post).collect();
    let mut found = state.feed.posts(ids).await?;
    found.retain(|_, entry| entry.post.deleted_at.is_none());
    let entries = open.reports.iter().filter_map(|report| found.get(&report.post).cloned());
    let entries: Vec<Entry> = entries.collect();
    let mut posts = show(state, &request.caller()?.user_id, &entries).await?.into_iter();
    let item = |report: &Report| OpenReportView {
        report: report.into(),
        reported_by: report.by.as_str().to_owned(),
        post: found.get(&report.post).and_then(|_| posts.next()),
    };
    let items = open.reports.iter().map(item).collect();
    let view = ReportsView {
        items,
        has_more: open.next.is_some(),
        next_cursor: open.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned()),
    };
    Ok(Response::json(StatusCode::OK, &view))
}

pub(crate) async fn rule(state: &State, request: Request) -> Answer {
    let RulingBody { ruling } = request.json()?;
    let by = request.caller()?.user_id.clone();
    let post = decide(state, &request, ruling).await?;
    let mut settled = 0;
    for report in state.feed.reports_of(post.id).await? {
        if let Some((ruled, _)) = report.ruled(ruling, &post, by.clone(), request.now) {
            settled += usize::from(state.feed.rule(&ruled).await?);
        }
    }
    let hidden = post.hidden_at.is_some();
    let view = RulingView { post_id: post.id.text(), settled, hidden };
    Ok(Response::json(StatusCode::OK, &view))
}

/// Hides a post, or shows it again; the post as it is afterwards.
async fn decide(state: &State, request: &Request, ruling: Ruling) -> Result<Post, Error> {
    let id = post_named(request)?;
    for _ in 0..TRIES {
        let before = state.feed.post(id).await?.ok_or(Rejected::UnknownPost)?.post;
        let after = match ruling {
            Ruling::Upheld => before.hidden(request.now),
            Ruling::Dismissed => before.unhidden(),
        };
        let Some(after) = after else { return Ok(before) };
        let token = state.entropy.token();
        let done = state.feed.amend(&before, &after, request.now, &token);
        if let Amended::Amended(told) = done.await? {
            state.tell(told.as_ref(), request).await;
            // What is shown again may be hot again.
            counts_moved(state, id, ruling == Ruling::Dismissed, request).await;
            return Ok(after);
        }
    }
    Err(busy())
}

impl From<&Report> for ReportView {
    fn from(report: &Report) -> Self {
        Self {
            post_id: report.post.text(),
            reason: report.complaint,
            note: report.note.clone(),
            created_at: report.created_at.to_string(),
        }
    }
}

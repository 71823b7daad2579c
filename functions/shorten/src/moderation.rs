//! Abuse: anyone reports, admins look, block and unblock links and whole destinations.

use boundary::http::{Answer, Problem, Request, Response};
use domain::links::target::Rules;
use domain::links::{Code, DomainName, Link, Rejected, Target};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::links::{Entry, Report};

use crate::State;
use crate::state::domain_of;
use crate::view::{LinkView, PageQuery, PageView, limit, position};

const REPORTS: &str = "reports";

/// What is wrong with a link.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewReport {
    reason: Reason,
    /// Up to 1,000 characters more.
    #[schemars(length(max = 1000))]
    details: Option<String>,
}

/// Kinds of abuse.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reason {
    /// It pretends to be someone else.
    Phishing,
    /// It harms the visitor's machine.
    Malware,
    /// It is sent to people who did not ask.
    Spam,
    /// It must not be published.
    Illegal,
    /// Something else.
    Other,
}

impl Reason {
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

/// A report, as admins see it.
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

pub(crate) async fn report(state: &State, request: Request) -> Answer {
    let body: NewReport = request.json()?;
    if body.details.as_ref().is_some_and(|details| details.chars().count() > 1_000) {
        return Err(Problem::field("details", "at most 1,000 characters").into());
    }
    let code = Code::parse(request.param("code")).ok_or(Rejected::UnknownLink)?;
    let domain = domain_of(&request)?;
    request.charge(1).await?;
    let link = state.links.find(&domain, &code).await?.ok_or(Rejected::UnknownLink)?;
    let report = Report {
        id: Report::id_at(request.now, u64::from_be_bytes(state.entropy.bytes())),
        domain: link.domain,
        code: link.code,
        reason: body.reason.name().to_owned(),
        details: body.details,
        at: request.now,
    };
    state.links.report(&report).await?;
    Ok(Response::empty(StatusCode::ACCEPTED))
}

pub(crate) async fn reports(state: &State, request: Request) -> Answer {
    let query: PageQuery = request.query()?;
    let after = position(REPORTS, query.cursor.as_deref())?;
    let most = i32::try_from(limit(query.limit)?).unwrap_or(50);
    let page = state.links.reports(most, after.as_deref()).await?;
    let items = page.items.iter().map(|report| ReportView {
        report_id: report.id.clone(),
        short_code: report.code.as_str().to_owned(),
        domain: report.domain.clone(),
        reason: report.reason.clone(),
        details: report.details.clone(),
        reported_at: report.at.to_string(),
    });
    let view = PageView::new(REPORTS, items.collect(), page.next.as_deref());
    Ok(Response::json(StatusCode::OK, &view))
}

pub(crate) async fn dismiss(state: &State, request: Request) -> Answer {
    if state.links.dismiss_report(request.param("reportId")).await? {
        Ok(Response::empty(StatusCode::NO_CONTENT))
    } else {
        Err(Problem::unknown("report").into())
    }
}

/// Why a link is blocked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBlock {
    /// 1 to 200 characters that its visitors will read.
    #[schemars(length(min = 1, max = 200))]
    reason: String,
}

pub(crate) async fn block(state: &State, request: Request) -> Answer {
    let body: NewBlock = request.json()?;
    let reason = reason_of(&body.reason)?;
    let link = state.change(&request, |link| Ok(Some(link.blocked(&reason, request.now)))).await?;
    Ok(shown(state, &link, &request))
}

pub(crate) async fn unblock(state: &State, request: Request) -> Answer {
    let change = |link: &Link| match link.blocked {
        None => Ok(None),
        Some(_) => Ok(Some(link.unblocked(request.now))),
    };
    let link = state.change(&request, change).await?;
    Ok(shown(state, &link, &request))
}

fn shown(state: &State, link: &Link, request: &Request) -> Response {
    Response::json(StatusCode::OK, &LinkView::of(link, state, request)).with_version(link.version)
}

/// A destination to block: one of the two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEntry {
    /// A host, with everything beneath it.
    host: Option<String>,
    /// One URL.
    url: Option<String>,
    /// 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    reason: String,
}

/// A blocked destination.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryView {
    /// Names the entry: `host:evil.example` or `url:` and a SHA-256.
    entry: String,
    reason: String,
    added_by: String,
    added_at: String,
}

/// The blocklist.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EntriesView {
    items: Vec<EntryView>,
}

impl From<&Entry> for EntryView {
    fn from(entry: &Entry) -> Self {
        Self {
            entry: entry.key.clone(),
            reason: entry.reason.clone(),
            added_by: entry.by.clone(),
            added_at: entry.at.to_string(),
        }
    }
}

pub(crate) async fn blocklist(state: &State, _: Request) -> Answer {
    let entries = state.links.blocklist().await?;
    let items = entries.iter().map(EntryView::from).collect();
    Ok(Response::json(StatusCode::OK, &EntriesView { items }))
}

/// Links to it that exist already are found by the scan.
pub(crate) async fn block_destination(state: &State, request: Request) -> Answer {
    let body: NewEntry = request.json()?;
    let key = match (&body.host, &body.url) {
        (Some(host), None) => {
            let name = DomainName::parse(host).map_err(|_| {
                Rejected::field("host", "a domain name like evil.example, in ASCII")
            })?;
            format!("host:{}", name.as_str())
        }
        (None, Some(url)) => {
            let rules = Rules { longest: Rules::MOST, own_hosts: &[] };
            let target = Target::parse(url, &rules);
            let target = target.map_err(|unfit| Rejected::field("url", unfit))?;
            target.block_keys().pop().unwrap_or_default()
        }
        _ => return Err(Problem::field("host", "given, or else `url`, and not both").into()),
    };
    let entry = Entry {
        key,
        reason: reason_of(&body.reason)?,
        by: request.caller()?.user_id.as_str().to_owned(),
        at: request.now,
    };
    state.links.block_destination(&entry).await?;
    state.forget_blocklist().await;
    Ok(Response::json(StatusCode::CREATED, &EntryView::from(&entry)))
}

pub(crate) async fn unblock_destination(state: &State, request: Request) -> Answer {
    state.links.unblock_destination(request.param("entry")).await?;
    state.forget_blocklist().await;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

fn reason_of(text: &str) -> Result<String, Problem> {
    let reason = text.trim();
    if (1..=200).contains(&reason.chars().count()) && !reason.chars().any(char::is_control) {
        Ok(reason.to_owned())
    } else {
        Err(Problem::field("reason", "1 to 200 characters"))
    }
}

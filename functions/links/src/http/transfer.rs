//! Import from other shorteners' exports, and export as CSV.

use std::sync::Arc;

use crate::store::{LinkFilter, OwnerList};
use axum::response::{IntoResponse, Response};
use boundary::http::{Caller, Cursor, Json, Operation, Problem, Query, Result, State, Text};
use domain::accounts::Role;
use domain::links::transfer::{ImportSource, LinkRecord, csv_header, read_links, write_csv};
use domain::links::{Link, LinkTerms};
use futures::StreamExt;
use futures::stream;
use http::{HeaderName, header as names};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::BULK_CAP;
use crate::http::bulk::{BulkResult, MAX_LINKS};
use crate::http::create::Creation;
use crate::http::request::Request;
use crate::http::state::App;
use crate::http::terms::{NewLink, VariantView};
use crate::http::view::position;

/// Writes in flight for one request.
const CONCURRENCY: usize = 32;

/// Links in one answer; the answer of a function is at most 6 MB.
const EXPORT_PAGE: usize = 1_000;

/// The header with the cursor of the rest of an export.
const NEXT_CURSOR: HeaderName = HeaderName::from_static("next-cursor");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportQuery {
    /// `bitly`, `yourls`, `shlink`, `kutt` or `csv` (what export writes).
    from: String,
    /// A verified domain of yours to put them on; the service's own if left out.
    domain: Option<String>,
}

/// The results of an import.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportView {
    created: usize,
    reused: usize,
    failed: usize,
    /// The rows that failed, by line.
    problems: Vec<LineProblem>,
}

/// A row that failed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LineProblem {
    line: usize,
    status: u16,
    detail: String,
}

pub(super) const IMPORT: Operation =
    Operation::post("/api/v1/import", "importLinks", "Import links")
        .description(
            "Up to 1,000 rows of another shortener's export, or of ours. Codes are kept. Importing the same \
             file again changes nothing.",
        )
        .role(Role::Member)
        .body_up_to(BULK_CAP)
        .charges_itself()
        .reads("text/csv")
        .refuses(&[429]);

pub(super) async fn import(
    State(app): State<Arc<App>>,
    request: Request,
    Query(query): Query<ImportQuery>,
) -> Result<Json<ImportView>> {
    let source = ImportSource::from_name(&query.from)
        .ok_or_else(|| Problem::field("from", "bitly, yourls, shlink, kutt or csv"))?;
    let rows = read_links(source, &request.body)
        .map_err(|unreadable| Problem::malformed(format!("{unreadable}.")))?;
    if rows.len() > MAX_LINKS {
        let detail = format!("{} rows are too many at once; send at most {MAX_LINKS}.", rows.len());
        return Err(Problem::malformed(detail));
    }
    request.charge(u32::try_from(rows.len()).unwrap_or(u32::MAX)).await?;
    let made = stream::iter(rows).map(|row| {
        let (app, request, domain) = (&app, &request, query.domain.as_deref());
        async move {
            match row {
                Ok(record) => (record.line, import_one(app, request, domain, &record).await),
                Err(bad) => (bad.line, refused(app, request, &bad.problem)),
            }
        }
    });
    let results: Vec<(usize, BulkResult)> = made.buffered(CONCURRENCY).collect().await;
    Ok(Json(view(results)))
}

fn refused(app: &App, request: &Request, problem: &str) -> BulkResult {
    BulkResult::new(&Err(Problem::field("row", problem)), app, request)
}

fn view(results: Vec<(usize, BulkResult)>) -> ImportView {
    let count = |status| results.iter().filter(|(_, result)| result.status == status).count();
    let (created, reused) = (count(201), count(200));
    let failed = results.len() - created - reused;
    let problems = results.into_iter().filter_map(|(line, result)| {
        let problem = result.problem?;
        let detail = problem["detail"].as_str().unwrap_or_default().to_owned();
        Some(LineProblem { line, status: result.status, detail })
    });
    ImportView { created, reused, failed, problems: problems.collect() }
}

/// A row keeps its code as an alias; importing the same file again changes nothing.
async fn import_one(
    app: &App,
    request: &Request,
    domain: Option<&str>,
    record: &LinkRecord,
) -> BulkResult {
    let outcome = async {
        let new = NewLink {
            long_url: record.url.clone(),
            custom_alias: None,
            domain: domain.map(str::to_owned),
            // An expired link is imported as an expired one, so its time is set after the check.
            expires_at: None,
            max_clicks: record.max_clicks,
            fallback_url: record.fallback.clone(),
            redirect: record.redirect,
            variants: record
                .variants
                .iter()
                .map(|(url, weight)| VariantView { url: url.clone(), weight: *weight })
                .collect(),
            tags: record.tags.clone(),
            note: record.note.clone(),
            forward_query: record.forward_query,
            utm: record.utm.iter().cloned().collect(),
            reuse: None,
        };
        let mut draft = app.draft(&new, request).await?;
        draft.terms.expires_at = record.expires_at;
        draft.alias = record.code.as_deref().map(imported_code).transpose()?;
        draft.created_at = record.created_at.filter(|at| *at < request.now);
        match app.create_link(&draft, request, None).await {
            Err(error) if error.is_conflict() => {
                existing_link(app, request, &draft.domain, draft.alias.as_ref(), &draft.terms)
                    .await?
                    .ok_or(error)
            }
            made => made,
        }
    };
    BulkResult::new(&outcome.await, app, request)
}

/// Other shorteners' codes may look like generated ones, so the rules for aliases don't apply.
fn imported_code(text: &str) -> Result<domain::links::Code> {
    let code = domain::links::Code::imported(text);
    code.map_err(|bad| Problem::field("code", bad))
}

/// The caller's own link under that code, if it leads to the same place.
async fn existing_link(
    app: &App,
    request: &Request,
    domain: &str,
    code: Option<&domain::links::Code>,
    terms: &LinkTerms,
) -> Result<Option<Creation>> {
    let Some(code) = code else { return Ok(None) };
    let caller = request.caller()?;
    let found = app.links.find(domain, code).await?;
    let same =
        |link: &Link| link.belongs_to(&caller.user_id) && link.terms.long_url == terms.long_url;
    Ok(found.filter(same).map(Creation::Existing))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportQuery {
    /// Where to go on: the `next-cursor` header of the part before.
    cursor: Option<String>,
}

pub(super) const EXPORT: Operation =
    Operation::get("/api/v1/export", "exportLinks", "Export your links")
        .description("CSV, 1,000 rows at a time; the header `next-cursor` leads to the rest.")
        .role(Role::Member)
        .media(&["text/csv"]);

pub(super) async fn export(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(query): Query<ExportQuery>,
) -> Result<Response> {
    const LIST: &str = "export";
    let after = position(LIST, query.cursor.as_deref())?;
    let list = OwnerList { owner: &caller.user_id, deleted: false };
    let page = app.links.list(list, &LinkFilter::default(), EXPORT_PAGE, after.as_deref()).await?;
    let records: Vec<LinkRecord> = page.items.iter().enumerate().map(record_of).collect();
    let mut csv = if after.is_none() { csv_header() } else { String::new() };
    csv.push_str(&write_csv(records.iter()));
    let rest = page.next.map(|next| {
        let cursor = Cursor::new(LIST, &next);
        let next = format!("</api/v1/export?cursor={}>; rel=\"next\"", cursor.as_str());
        [(NEXT_CURSOR, cursor.as_str().to_owned()), (names::LINK, next)]
    });
    let file = [(names::CONTENT_DISPOSITION, "attachment; filename=\"links.csv\"")];
    Ok((file, rest, Text("text/csv; charset=utf-8", csv)).into_response())
}

fn record_of((index, link): (usize, &Link)) -> LinkRecord {
    let terms = &link.terms;
    LinkRecord {
        line: index + 2,
        code: Some(link.code.as_str().to_owned()),
        url: terms.long_url.as_str().to_owned(),
        domain: (!link.domain.is_empty()).then(|| link.domain.clone()),
        note: terms.note.clone(),
        tags: terms.tags.as_slice().to_vec(),
        created_at: Some(link.created_at),
        expires_at: terms.expires_at,
        max_clicks: terms.max_clicks,
        fallback: terms.fallback.as_ref().map(|target| target.as_str().to_owned()),
        redirect: Some(terms.redirect.status()),
        clicks: None,
        variants: terms
            .variants
            .iter()
            .map(|variant| (variant.url.as_str().to_owned(), variant.weight))
            .collect(),
        forward_query: terms.forward_query,
        utm: terms.utm.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
    }
}

//! Making links: one, or up to a thousand, each decided on its own.

use boundary::http::{Answer, Error, Problem, Request, Response};
use boundary::idempotency::{self, Turn};
use boundary::telemetry::{Unit, measure};
use domain::accounts::UserId;
use domain::links::{Code, DomainName, Link, Rejected, Terms};
use domain::{Timestamp, hex};
use futures::StreamExt;
use futures::stream;
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use store::idempotency::Ticket;
use store::links::{Created, Same};

use crate::State;
use crate::terms::NewLink;
use crate::view::LinkView;

/// Links asked for at once.
pub(crate) const MOST: usize = 1_000;

/// Writes in flight for one request.
const AT_ONCE: usize = 32;

/// Codes that turn out to be someone's alias are passed over; more than a few in a row is a fault.
const TRIES: usize = 8;

/// A link to make, checked.
pub(crate) struct Draft {
    pub(crate) domain: String,
    pub(crate) alias: Option<Code>,
    pub(crate) terms: Terms,
    pub(crate) reuse: bool,
    /// When a link that moved in was made elsewhere.
    pub(crate) created_at: Option<Timestamp>,
}

/// What became of a draft.
pub(crate) enum Made {
    /// It is new.
    New(Link),
    /// The caller had it already.
    Had(Link),
}

pub(crate) async fn one(state: &State, request: Request) -> Answer {
    let once = state.links.once();
    let keyed = request.headers.contains_key("idempotency-key");
    let caller = if keyed { state.subject(&request).await? } else { String::new() };
    let turn = idempotency::begin_for(once, &caller, &request, "shortenUrl", &state.entropy);
    let ticket = match turn.await? {
        Turn::Run(ticket) => ticket,
        Turn::Repeat(answer) => return Ok(answer),
    };
    let outcome = one_once(state, &request, ticket.as_ref()).await;
    if let Err(Error::Problem(problem)) = &outcome {
        measure(failure_metric(problem), Unit::Count, 1.0);
    }
    idempotency::settle(once, ticket.as_ref(), outcome).await
}

async fn one_once(state: &State, request: &Request, ticket: Option<&Ticket>) -> Answer {
    let new: NewLink = request.json()?;
    let draft = state.draft(&new, request).await?;
    request.charge(1).await?;
    let made = state.make(&draft, request, ticket).await?;
    let (status, link) = match &made {
        Made::New(link) => (StatusCode::CREATED, link),
        Made::Had(link) => (StatusCode::OK, link),
    };
    let response = answer(state, status, link, request);
    // A new link's answer was written together with the link.
    if let (Made::Had(_), Some(ticket)) = (&made, ticket) {
        let kept = idempotency::kept(&response, response.text().into_bytes());
        state.links.once().keep(ticket, &kept, &state.entropy.token()).await?;
    }
    Ok(response)
}

/// Why links are not made, as metrics name it.
fn failure_metric(problem: &Problem) -> &'static str {
    match problem.status() {
        400 | 413 | 422 => "CreationFailed-invalid",
        403 => "CreationFailed-forbidden",
        409 => "CreationFailed-conflict",
        429 => "CreationFailed-rate-limited",
        _ => "CreationFailed-other",
    }
}

fn answer(state: &State, status: StatusCode, link: &Link, request: &Request) -> Response {
    let mut location = format!("/api/v1/url/{}", link.code.as_str());
    if !link.domain.is_empty() {
        location.push_str("?domain=");
        location.push_str(&link.domain);
    }
    Response::json(status, &LinkView::of(link, state, request))
        .with_version(link.version)
        .with_text(header::LOCATION, &location)
}

/// Links to make, each on its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    /// Up to 1,000 bodies of `POST /api/v1/shorten`.
    #[schemars(length(min = 1, max = 1000), with = "Vec<NewLink>")]
    urls: Vec<Value>,
}

/// What became of each, in the order they were sent.
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

/// What became of one.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BulkResult {
    /// The status it would have been answered with alone.
    pub(crate) status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<LinkView>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<Value>,
}

pub(crate) async fn many(state: &State, request: Request) -> Answer {
    let bulk: Bulk = request.json()?;
    if !(1..=MOST).contains(&bulk.urls.len()) {
        return Err(Problem::field("urls", format!("1 to {MOST} links")).into());
    }
    request.charge(u32::try_from(bulk.urls.len()).unwrap_or(u32::MAX)).await?;
    let results: Vec<BulkResult> = stream::iter(bulk.urls)
        .map(|value| one_of_many(state, &request, value))
        .buffered(AT_ONCE)
        .collect()
        .await;
    let count = |status| results.iter().filter(|result| result.status == status).count();
    let (created, reused) = (count(201), count(200));
    let failed = results.len() - created - reused;
    Ok(Response::json(StatusCode::OK, &BulkView { created, reused, failed, results }))
}

async fn one_of_many(state: &State, request: &Request, value: Value) -> BulkResult {
    let outcome = async {
        let new: NewLink = boundary::http::parse_json(value)?;
        let draft = state.draft(&new, request).await?;
        state.make(&draft, request, None).await
    };
    result(state, request, outcome.await)
}

/// One answer among many.
pub(crate) fn result(state: &State, request: &Request, made: Result<Made, Error>) -> BulkResult {
    match made {
        Ok(made) => {
            let (status, link) = match &made {
                Made::New(link) => (201, link),
                Made::Had(link) => (200, link),
            };
            let link = Some(LinkView::of(link, state, request));
            BulkResult { status, link, problem: None }
        }
        Err(error) => {
            let (status, problem) = error.described(&request.path);
            BulkResult { status, link: None, problem: Some(problem) }
        }
    }
}

impl State {
    /// Checks everything about a wanted link that does not need a write.
    pub(crate) async fn draft(&self, new: &NewLink, request: &Request) -> Result<Draft, Error> {
        let terms = self.terms(new, request)?;
        let alias = new.custom_alias.as_deref().map(Code::alias).transpose();
        let alias = alias.map_err(|bad| Rejected::field("customAlias", bad))?;
        let domain = self.own_domain(new.domain.as_deref(), request).await?;
        self.vet(terms.destinations(), request.now).await?;
        Ok(Draft { domain, alias, terms, reuse: new.reuse.unwrap_or(true), created_at: None })
    }

    /// The domain of a new link: ours, or one that the caller has proven to be theirs.
    async fn own_domain(&self, named: Option<&str>, request: &Request) -> Result<String, Error> {
        let Some(named) = named.filter(|name| !name.is_empty()) else { return Ok(String::new()) };
        let name = DomainName::parse(named)?;
        let caller = request.caller().map_err(|_| Rejected::UnknownDomain)?;
        match self.links.domain_owner(&name).await? {
            Some(owner) if owner == caller.user_id => Ok(name.as_str().to_owned()),
            _ => Err(Rejected::UnknownDomain.into()),
        }
    }

    /// Writes the link, under its alias or under a code that nobody has.
    pub(crate) async fn make(
        &self,
        draft: &Draft,
        request: &Request,
        ticket: Option<&Ticket>,
    ) -> Result<Made, Error> {
        let owner = request.principal.as_ref().map(|principal| principal.user_id.clone());
        let mut same = owner
            .as_ref()
            .filter(|_| draft.reuse && draft.alias.is_none())
            .map(|owner| Same { key: same_key(owner, draft), replaces: None });
        for _ in 0..TRIES {
            let code = match &draft.alias {
                Some(alias) => alias.clone(),
                None => self.next_code().await?,
            };
            let terms = draft.terms.clone();
            let made_at = draft.created_at.unwrap_or(request.now);
            let link = Link::new(&draft.domain, code, owner.clone(), terms, made_at);
            let response = answer(self, StatusCode::CREATED, &link, request);
            let kept = idempotency::kept(&response, response.text().into_bytes());
            let kept = ticket.map(|ticket| (ticket, &kept));
            let token = self.entropy.token();
            match self.links.create(&link, same.as_ref(), kept, &token).await? {
                Created::Created => {
                    let metric = match link.owner {
                        Some(_) => "LinksCreatedByUsers",
                        None => "LinksCreatedByNobody",
                    };
                    measure(metric, Unit::Count, 1.0);
                    return Ok(Made::New(link));
                }
                Created::Taken if draft.alias.is_some() => {
                    return Err(Rejected::AliasTaken.into());
                }
                Created::Taken => {}
                Created::ClaimLost => return Err(Problem::in_progress(1).into()),
                Created::Same(had) => {
                    let found = self.links.find(&draft.domain, &had).await?;
                    let serves = |link: &Link| {
                        link.is_live(request.now) && link.terms.lead_alike(&draft.terms)
                    };
                    if let Some(link) = found.filter(serves) {
                        return Ok(Made::Had(link));
                    }
                    // It was edited, deleted or ended since, so the next request finds the new one.
                    same = same.map(|same| Same { replaces: Some(had), ..same });
                }
            }
        }
        Err(Problem::unavailable("No free code was found in time.", 1).into())
    }
}

/// Names what a second request must have in common with the first to get the same link.
fn same_key(owner: &UserId, draft: &Draft) -> String {
    let terms = &draft.terms;
    let mut digest = Sha256::new();
    let mut field = |text: &str| {
        digest.update(text.len().to_be_bytes());
        digest.update(text.as_bytes());
    };
    field(terms.long_url.as_str());
    field(&terms.redirect.status().to_string());
    field(&terms.expires_at.map(|at| at.to_string()).unwrap_or_default());
    field(&terms.max_clicks.map(|most| most.to_string()).unwrap_or_default());
    field(terms.fallback.as_ref().map_or("", domain::links::Target::as_str));
    field(if terms.forward_query { "forward" } else { "" });
    for way in &terms.ways {
        field(way.url.as_str());
        field(&way.weight.to_string());
    }
    for (name, value) in terms.utm.iter() {
        field(name);
        field(value);
    }
    let hash = hex(&digest.finalize()[..16]);
    format!("{}#{}#{hash}", owner.as_str(), draft.domain)
}

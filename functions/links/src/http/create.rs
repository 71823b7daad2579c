//! Creates a link.

use std::sync::Arc;

use crate::store::{CreateOutcome, DedupKey};
use boundary::http::{
    IdempotencyKey, Json, Operation, Problem, Repeatable, Result, State, Storable,
};
use boundary::idempotency::{self, Execution};
use boundary::telemetry::{Unit, measure};
use domain::accounts::{Role, UserId};
use domain::links::{Code, DomainName, Link, LinkTerms};
use domain::{Timestamp, hex};
use sha2::{Digest, Sha256};
use store::idempotency::Ticket;

use crate::http::request::Request;
use crate::http::state::App;
use crate::http::terms::NewLink;
use crate::http::view::Shortened;

/// Codes that are taken as an alias are skipped; more than a few in a row is a fault.
const MAX_ATTEMPTS: usize = 8;

/// A checked request for a link.
pub(crate) struct Draft {
    pub(crate) domain: String,
    pub(crate) alias: Option<Code>,
    pub(crate) terms: LinkTerms,
    pub(crate) reuse: bool,
    /// Set for an imported link.
    pub(crate) created_at: Option<Timestamp>,
}

/// The result of a draft.
pub(crate) enum Creation {
    New(Link),
    /// The caller has an equal one already.
    Existing(Link),
}

pub(super) const SHORTEN: Operation =
    Operation::post("/api/v1/shorten", "shortenUrl", "Shorten a URL")
        .description(
            "Works without a key, up to 100 links a day and address. With a key, the same destination again \
             answers 200 with the link you have, unless `reuse` is false.",
        )
        .role_or_anonymous(Role::Member)
        .charges_itself()
        .refuses(&[404, 429]);

/// An idempotency key that was used is answered before the body is parsed, and a request that is refused
/// releases its key.
pub(super) async fn shorten(
    State(app): State<Arc<App>>,
    request: Request,
    key: Result<IdempotencyKey>,
    new: Result<Json<NewLink>>,
) -> Result<Repeatable<Shortened>> {
    let once = app.links.once();
    let keyed = !matches!(key, Ok(IdempotencyKey(None)));
    let caller = if keyed { app.idempotency_scope(&request).await? } else { String::new() };
    let key = key?;
    let turn = idempotency::claim_for(once, &caller, &request, &key, "shortenUrl", &app.entropy);
    let ticket = match turn.await? {
        Execution::Run(ticket) => ticket,
        Execution::Replay(answer) => return Ok(Repeatable::again(answer)),
    };
    let outcome = shorten_once(&app, &request, new, ticket.as_ref()).await;
    if let Err(problem) = &outcome
        && !problem.is_fault()
    {
        measure(failure_metric(problem), Unit::Count, 1.0);
    }
    idempotency::release_if_refused(once, ticket.as_ref(), outcome).await
}

async fn shorten_once(
    app: &App,
    request: &Request,
    new: Result<Json<NewLink>>,
    ticket: Option<&Ticket>,
) -> Result<Repeatable<Shortened>> {
    let Json(new) = new?;
    let draft = app.draft(&new, request).await?;
    request.charge(1).await?;
    let made = app.create_link(&draft, request, ticket).await?;
    let (is_new, link) = match &made {
        Creation::New(link) => (true, link),
        Creation::Existing(link) => (false, link),
    };
    let answer = Repeatable::first(&Shortened::new(link, is_new, app, request));
    // A new link's answer was written together with the link.
    if let (Creation::Existing(_), Some(ticket)) = (&made, ticket) {
        app.links.once().store_response(ticket, answer.stored(), &app.entropy.token()).await?;
    }
    Ok(answer)
}

/// The metric of a refused creation.
fn failure_metric(problem: &Problem) -> &'static str {
    match problem.status() {
        400 | 413 | 422 => "CreationFailed-invalid",
        403 => "CreationFailed-forbidden",
        409 => "CreationFailed-conflict",
        429 => "CreationFailed-rate-limited",
        _ => "CreationFailed-other",
    }
}

impl App {
    /// Checks everything about a new link that does not need a write.
    pub(crate) async fn draft(&self, new: &NewLink, request: &Request) -> Result<Draft> {
        let terms = self.terms(new, request)?;
        let alias = new.custom_alias.as_deref().map(Code::alias).transpose();
        let alias = alias.map_err(|bad| Problem::field("customAlias", bad))?;
        let domain = self.verified_domain(new.domain.as_deref(), request).await?;
        self.check_destinations(terms.destinations(), request.now).await?;
        Ok(Draft { domain, alias, terms, reuse: new.reuse.unwrap_or(true), created_at: None })
    }

    /// The domain of a new link: the service's own, or one that the caller has verified.
    async fn verified_domain(&self, named: Option<&str>, request: &Request) -> Result<String> {
        let Some(named) = named.filter(|name| !name.is_empty()) else { return Ok(String::new()) };
        let name = DomainName::parse(named)?;
        let caller = request.caller().map_err(|_| Problem::unknown("verified domain of yours"))?;
        match self.links.domain_owner(&name).await? {
            Some(owner) if owner == caller.user_id => Ok(name.as_str().to_owned()),
            _ => Err(Problem::unknown("verified domain of yours")),
        }
    }

    /// Writes the link, under its alias or under a new code.
    pub(crate) async fn create_link(
        &self,
        draft: &Draft,
        request: &Request,
        ticket: Option<&Ticket>,
    ) -> Result<Creation> {
        let owner = request.principal().map(|principal| principal.user_id.clone());
        let mut dedup = owner
            .as_ref()
            .filter(|_| draft.reuse && draft.alias.is_none())
            .map(|owner| DedupKey { key: dedup_key(owner, draft), replaces: None });
        for _ in 0..MAX_ATTEMPTS {
            let code = match &draft.alias {
                Some(alias) => alias.clone(),
                None => self.next_code().await?,
            };
            let terms = draft.terms.clone();
            let created_at = draft.created_at.unwrap_or(request.now);
            let link = Link::new(&draft.domain, code, owner.clone(), terms, created_at);
            let answer = || Shortened::new(&link, true, self, request).stored();
            let stored = ticket.map(|ticket| (ticket, answer()));
            let stored = stored.as_ref().map(|(ticket, answer)| (*ticket, answer));
            let token = self.entropy.token();
            match self.links.create(&link, dedup.as_ref(), stored, &token).await? {
                CreateOutcome::Created => {
                    let metric = match link.owner {
                        Some(_) => "LinksCreatedByUsers",
                        None => "LinksCreatedByNobody",
                    };
                    measure(metric, Unit::Count, 1.0);
                    return Ok(Creation::New(link));
                }
                CreateOutcome::Taken if draft.alias.is_some() => {
                    return Err(Problem::conflict("That alias is taken; choose another."));
                }
                CreateOutcome::Taken => {}
                CreateOutcome::ClaimLost => return Err(Problem::in_progress(1)),
                CreateOutcome::Existing(code) => {
                    let found = self.links.find(&draft.domain, &code).await?;
                    let serves = |link: &Link| {
                        link.is_live(request.now) && link.terms.redirects_like(&draft.terms)
                    };
                    if let Some(link) = found.filter(serves) {
                        return Ok(Creation::Existing(link));
                    }
                    // It was amended, deleted or has ended since, so the next request finds the new one.
                    dedup = dedup.map(|dedup| DedupKey { replaces: Some(code), ..dedup });
                }
            }
        }
        Err(Problem::unavailable("No free code was found in time.", 1))
    }
}

/// The key that two requests share if they lead to the same link: user, domain and a hash of the terms.
fn dedup_key(owner: &UserId, draft: &Draft) -> String {
    let terms = &draft.terms;
    let mut digest = Sha256::new();
    let mut field = |text: &str| {
        digest.update(text.len().to_be_bytes());
        digest.update(text.as_bytes());
    };
    field(terms.long_url.as_str());
    field(&terms.redirect.status().to_string());
    field(&terms.expires_at.map(|at| at.to_string()).unwrap_or_default());
    field(&terms.max_clicks.map(|max| max.to_string()).unwrap_or_default());
    field(terms.fallback.as_ref().map_or("", domain::links::Target::as_str));
    field(if terms.forward_query { "forward" } else { "" });
    for variant in &terms.variants {
        field(variant.url.as_str());
        field(&variant.weight.to_string());
    }
    for (name, value) in terms.utm.iter() {
        field(name);
        field(value);
    }
    let hash = hex(&digest.finalize()[..16]);
    format!("{}#{}#{hash}", owner.as_str(), draft.domain)
}

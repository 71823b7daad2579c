//! Making a link.

use std::sync::Arc;

use crate::store::{Created, Same};
use boundary::http::{IdempotencyKey, Json, Operation, Problem, Repeatable, State, Storable};
use boundary::idempotency::{self, Execution};
use boundary::telemetry::{Unit, measure};
use domain::accounts::{Role, UserId};
use domain::links::{Code, DomainName, Link, Rejected, Terms};
use domain::{Timestamp, hex};
use sha2::{Digest, Sha256};
use store::idempotency::Ticket;

use crate::http::request::Request;
use crate::http::state::App;
use crate::http::terms::NewLink;
use crate::http::view::Shortened;

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

pub(super) const SHORTEN: Operation =
    Operation::post("/api/v1/shorten", "shortenUrl", "Shorten a URL")
        .description(
            "Works without a key, up to 100 links a day and address. With a key, the same destination again \
             answers 200 with the link you have, unless `reuse` is false.",
        )
        .role_or_anonymous(Role::Member)
        .charges_itself()
        .refuses(&[404, 429]);

/// A key that was used is answered before the body is looked at, and a body that is refused gives its key back.
/// Whose key it is is known before the key is read.
pub(super) async fn shorten(
    State(app): State<Arc<App>>,
    request: Request,
    key: Result<IdempotencyKey, Problem>,
    new: Result<Json<NewLink>, Problem>,
) -> Result<Repeatable<Shortened>, Problem> {
    let once = app.links.once();
    let keyed = !matches!(key, Ok(IdempotencyKey(None)));
    let caller = if keyed { app.subject(&request).await? } else { String::new() };
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
    new: Result<Json<NewLink>, Problem>,
    ticket: Option<&Ticket>,
) -> Result<Repeatable<Shortened>, Problem> {
    let Json(new) = new?;
    let draft = app.draft(&new, request).await?;
    request.charge(1).await?;
    let made = app.make(&draft, request, ticket).await?;
    let (is_new, link) = match &made {
        Made::New(link) => (true, link),
        Made::Had(link) => (false, link),
    };
    let answer = Repeatable::first(&Shortened::of(link, is_new, app, request));
    // A new link's answer was written together with the link.
    if let (Made::Had(_), Some(ticket)) = (&made, ticket) {
        app.links.once().store_response(ticket, answer.stored(), &app.entropy.token()).await?;
    }
    Ok(answer)
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

impl App {
    /// Checks everything about a wanted link that does not need a write.
    pub(crate) async fn draft(&self, new: &NewLink, request: &Request) -> Result<Draft, Problem> {
        let terms = self.terms(new, request)?;
        let alias = new.custom_alias.as_deref().map(Code::alias).transpose();
        let alias = alias.map_err(|bad| Rejected::field("customAlias", bad))?;
        let domain = self.own_domain(new.domain.as_deref(), request).await?;
        self.vet(terms.destinations(), request.now).await?;
        Ok(Draft { domain, alias, terms, reuse: new.reuse.unwrap_or(true), created_at: None })
    }

    /// The domain of a new link: ours, or one that the caller has proven to be theirs.
    async fn own_domain(&self, named: Option<&str>, request: &Request) -> Result<String, Problem> {
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
    ) -> Result<Made, Problem> {
        let owner = request.principal().map(|principal| principal.user_id.clone());
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
            let answer = || Shortened::of(&link, true, self, request).stored();
            let kept = ticket.map(|ticket| (ticket, answer()));
            let kept = kept.as_ref().map(|(ticket, kept)| (*ticket, kept));
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
                Created::ClaimLost => return Err(Problem::in_progress(1)),
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
        Err(Problem::unavailable("No free code was found in time.", 1))
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

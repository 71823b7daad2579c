//! Custom domains: claim, verify, list, release.

use std::sync::Arc;

use crate::store::{LinkFilter, OwnerList, ProofOutcome};
use axum::extract::FromRequestParts;
use boundary::http::{
    Call, Caller, Created, Json, NoContent, Operation, Path, Problem, Result, State,
};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use domain::accounts::Role;
use domain::links::{DomainClaim, DomainName};
use http::StatusCode;
use http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::http::DomainPath;
use crate::http::state::App;

/// A domain to use for links.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDomain {
    /// Like `links.example.com`.
    domain: String,
}

/// A claim to a domain.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DomainView {
    domain: String,
    /// Whether links may live on it.
    verified: bool,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified_at: Option<String>,
    /// The DNS record that proves it.
    record: Record,
}

/// A DNS record.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Record {
    r#type: &'static str,
    name: String,
    value: String,
}

/// A user's domains.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DomainsView {
    items: Vec<DomainView>,
}

impl From<&DomainClaim> for DomainView {
    fn from(claim: &DomainClaim) -> Self {
        Self {
            domain: claim.name.as_str().to_owned(),
            verified: claim.verified_at.is_some(),
            created_at: claim.created_at.to_string(),
            verified_at: claim.verified_at.map(|at| at.to_string()),
            record: Record { r#type: "TXT", name: claim.name.record_name(), value: claim.proof() },
        }
    }
}

/// The caller's claim to the domain that the path names: 404 if there is none.
pub(crate) struct Claimed(DomainClaim);

impl FromRequestParts<Arc<App>> for Claimed {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let Path(name) = Path::<DomainPath>::from_request_parts(parts, app).await?;
        let caller = <Caller as FromRequestParts<Arc<App>>>::from_request_parts(parts, app).await?;
        let found = app.links.find_claim(&name, &caller.user_id).await?;
        found.map(Self).ok_or_else(|| Problem::unknown("verified domain of yours"))
    }
}

impl DescribeExtractor for Claimed {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<DomainPath>::describe(entry, schemas);
        entry.errors(&[404]);
    }
}

pub(super) const CLAIM: Operation = Operation::post(
    "/api/v1/domains",
    "claimDomain",
    "Claim a domain",
)
.description(
    "Publish the TXT record of the answer, then verify. Claiming again answers with the existing claim.",
)
.role(Role::Member)
.statuses(&[200, 201]);

/// 201 for a new claim, 200 for an existing one.
pub(super) async fn claim(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(body): Json<NewDomain>,
) -> Result<(StatusCode, Created<DomainView>)> {
    let claim = DomainClaim {
        name: DomainName::parse(&body.domain)?,
        owner: caller.user_id.clone(),
        token: app.entropy.token(),
        created_at: call.now,
        verified_at: None,
    };
    let stored = app.links.claim_domain(&claim).await?;
    let status = if stored == claim { StatusCode::CREATED } else { StatusCode::OK };
    let location = format!("/api/v1/domains/{}", stored.name.as_str());
    Ok((status, Created { location, body: DomainView::from(&stored) }))
}

pub(super) const LIST: Operation =
    Operation::get("/api/v1/domains", "listDomains", "List your domains").role(Role::Member);

pub(super) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Result<Json<DomainsView>> {
    let claims = app.links.list_claims(&caller.user_id).await?;
    Ok(Json(DomainsView { items: claims.iter().map(DomainView::from).collect() }))
}

pub(super) const READ: Operation =
    Operation::get("/api/v1/domains/{domain}", "readDomain", "Read a domain").role(Role::Member);

pub(super) async fn read(Claimed(claim): Claimed) -> Json<DomainView> {
    Json(DomainView::from(&claim))
}

pub(super) const RELEASE: Operation =
    Operation::delete("/api/v1/domains/{domain}", "releaseDomain", "Give a domain up")
        .description("Only once no link of yours lives on it.")
        .role(Role::Member)
        .refuses(&[409]);

pub(super) async fn release(
    State(app): State<Arc<App>>,
    Claimed(claim): Claimed,
) -> Result<NoContent> {
    if claim.verified_at.is_some() && app.has_links(&claim).await? {
        return Err(Problem::conflict("Links still live on this domain; delete them first."));
    }
    app.links.release_domain(&claim, &app.entropy.token()).await?;
    Ok(NoContent)
}

pub(super) const VERIFY: Operation =
    Operation::post("/api/v1/domains/{domain}/verify", "verifyDomain", "Verify a domain")
        .description("Looks for the TXT record. The first user to prove a domain owns it.")
        .role(Role::Member)
        .refuses(&[409]);

/// Looks for the proof in DNS; a domain that was proven once stays proven.
pub(super) async fn verify(
    State(app): State<Arc<App>>,
    call: Call,
    Claimed(mut claim): Claimed,
) -> Result<Json<DomainView>> {
    if claim.verified_at.is_none() {
        let record = claim.name.record_name();
        // A resolver that can't be reached proves nothing; the caller may ask again.
        let texts = app.network.txt_records(&record).await.unwrap_or_default();
        if !claim.is_proven_by(&texts) {
            let record = format!("{record} with the value {}", claim.proof());
            return Err(Problem::conflict(format!(
                "The proof was not found: publish the TXT record {record}, wait for DNS, try again."
            )));
        }
        match app.links.prove_claim(&claim, call.now, &app.entropy.token()).await? {
            ProofOutcome::Proven => claim.verified_at = Some(call.now),
            ProofOutcome::Taken => {
                return Err(Problem::conflict(
                    "Another account has proven that this domain is theirs.",
                ));
            }
        }
    }
    Ok(Json(DomainView::from(&claim)))
}

impl App {
    /// Whether links of the claimant still live on the domain.
    async fn has_links(&self, claim: &DomainClaim) -> Result<bool> {
        let list = OwnerList { owner: &claim.owner, deleted: false };
        let filter =
            LinkFilter { domain: Some(claim.name.as_str().to_owned()), ..LinkFilter::default() };
        let mut after: Option<String> = None;
        loop {
            let page = self.links.list(list, &filter, 1, after.as_deref()).await?;
            if !page.items.is_empty() {
                return Ok(true);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(false),
            }
        }
    }
}

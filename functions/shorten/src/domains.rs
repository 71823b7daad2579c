//! Custom domains: claim, prove, use, give up.

use boundary::http::{Answer, Error, Request, Response};
use domain::links::{Claim, DomainName, Rejected};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::links::{Filter, Proven, Whose};

use crate::State;

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

impl From<&Claim> for DomainView {
    fn from(claim: &Claim) -> Self {
        Self {
            domain: claim.name.as_str().to_owned(),
            verified: claim.verified_at.is_some(),
            created_at: claim.created_at.to_string(),
            verified_at: claim.verified_at.map(|at| at.to_string()),
            record: Record { r#type: "TXT", name: claim.name.record_name(), value: claim.proof() },
        }
    }
}

pub(crate) async fn claim(state: &State, request: Request) -> Answer {
    let body: NewDomain = request.json()?;
    let claim = Claim {
        name: DomainName::parse(&body.domain)?,
        owner: request.caller()?.user_id.clone(),
        token: state.entropy.token(),
        created_at: request.now,
        verified_at: None,
    };
    let stands = state.links.claim_domain(&claim).await?;
    let status = if stands == claim { StatusCode::CREATED } else { StatusCode::OK };
    let location = format!("/api/v1/domains/{}", stands.name.as_str());
    Ok(Response::json(status, &DomainView::from(&stands)).with_text(header::LOCATION, &location))
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let claims = state.links.list_claims(&request.caller()?.user_id).await?;
    let items = claims.iter().map(DomainView::from).collect();
    Ok(Response::json(StatusCode::OK, &DomainsView { items }))
}

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let claim = state.claim_for(&request).await?;
    Ok(Response::json(StatusCode::OK, &DomainView::from(&claim)))
}

/// Looks for the proof in DNS; what is proven once stays proven.
pub(crate) async fn verify(state: &State, request: Request) -> Answer {
    let mut claim = state.claim_for(&request).await?;
    if claim.verified_at.is_none() {
        let record = claim.name.record_name();
        // A resolver that can't be reached proves nothing; the caller may ask again.
        let texts = state.network.texts(&record).await.unwrap_or_default();
        if !claim.is_proven_by(&texts) {
            let record = format!("{record} with the value {}", claim.proof());
            return Err(Rejected::NotProven(record).into());
        }
        match state.links.prove_claim(&claim, request.now, &state.entropy.token()).await? {
            Proven::Proven => claim.verified_at = Some(request.now),
            Proven::Taken => return Err(Rejected::DomainTaken.into()),
        }
    }
    Ok(Response::json(StatusCode::OK, &DomainView::from(&claim)))
}

pub(crate) async fn release(state: &State, request: Request) -> Answer {
    let claim = state.claim_for(&request).await?;
    let whose = Whose { owner: &claim.owner, deleted: false };
    let filter = Filter { domain: Some(claim.name.as_str().to_owned()), ..Filter::default() };
    if claim.verified_at.is_some() {
        let mut after: Option<String> = None;
        loop {
            let page = state.links.list(whose, &filter, 1, after.as_deref()).await?;
            if !page.items.is_empty() {
                return Err(Rejected::DomainInUse.into());
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    state.links.release_domain(&claim, &state.entropy.token()).await?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

impl State {
    async fn claim_for(&self, request: &Request) -> Result<Claim, Error> {
        let name = DomainName::parse(request.param("domain"));
        let name = name.map_err(|_| Rejected::UnknownDomain)?;
        let found = self.links.find_claim(&name, &request.caller()?.user_id).await?;
        found.ok_or_else(|| Rejected::UnknownDomain.into())
    }
}

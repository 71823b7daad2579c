//! The owner's links: read, edit, delete, restore, list.

use boundary::http::{Answer, Error, Problem, Request, Response};
use domain::links::{DomainName, Link, Rejected};
use http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use store::links::{Amended, Filter, Whose};

use crate::State;
use crate::state::domain_of;
use crate::terms::LinkPatch;
use crate::view::{LinkDetails, LinkView, PageView, limit, position};

/// Changes that don't name a version are run again when they lose a race.
const TRIES: usize = 5;

const LIST: &str = "links";

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let link = state.link_for(&request).await?;
    let totals = state.links.totals(&link.domain, &link.code).await?;
    let details = LinkDetails {
        link: LinkView::of(&link, state, &request),
        clicks: totals.clicks,
        bots: totals.bots,
        previews: totals.previews,
    };
    // The version is the link's own: clicks alone don't make a new one.
    Ok(Response::json(StatusCode::OK, &details).with_version(link.version))
}

pub(crate) async fn amend(state: &State, request: Request) -> Answer {
    let version = request.if_match()?;
    let patch: LinkPatch = request.json()?;
    let link = state.link_for(&request).await?;
    if link.version != version {
        return Err(Rejected::Moved.into());
    }
    if link.deleted_at.is_some() {
        return Err(Problem::conflict("The link is deleted; restore it first.").into());
    }
    let terms = state.patched(&link.terms, patch, &request)?;
    state.vet(terms.destinations(), request.now).await?;
    let next = link.with_terms(terms, request.now);
    match state.links.amend(&next, &state.entropy.token()).await? {
        Amended::Amended => Ok(shown(state, &next, &request)),
        Amended::Moved => Err(Rejected::Moved.into()),
    }
}

/// Deleting is the same for any version, so there is no `If-Match`.
pub(crate) async fn delete(state: &State, request: Request) -> Answer {
    let change = |link: &Link| match link.deleted_at {
        Some(_) => Ok(None),
        None => Ok(Some(link.deleted(request.now))),
    };
    state.change(&request, change).await?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

pub(crate) async fn restore(state: &State, request: Request) -> Answer {
    let link = state.link_for(&request).await?;
    state.check_domain(&link).await?;
    let change = |link: &Link| match link.restored(request.now) {
        Some(next) => Ok(Some(next)),
        None => Err(Rejected::NothingToUndo),
    };
    let link = state.change(&request, change).await?;
    Ok(shown(state, &link, &request))
}

fn shown(state: &State, link: &Link, request: &Request) -> Response {
    Response::json(StatusCode::OK, &LinkView::of(link, state, request)).with_version(link.version)
}

/// Which links, and how many of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListQuery {
    /// Where to go on: the `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// Only those with this label.
    tag: Option<String>,
    /// Only those with this text in their code, destination or note.
    q: Option<String>,
    /// Only those on this domain.
    domain: Option<String>,
    /// `true` for those that were deleted and can be restored.
    deleted: Option<bool>,
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let query: ListQuery = request.query()?;
    let filter = Filter {
        tag: query.tag.as_deref().map(|tag| tag.trim().to_lowercase()),
        text: query.q.as_deref().map(|text| text.trim().to_lowercase()).filter(|t| !t.is_empty()),
        domain: query.domain.as_ref().map(|_| domain_of(&request)).transpose()?,
    };
    let whose =
        Whose { owner: &request.caller()?.user_id, deleted: query.deleted.unwrap_or(false) };
    let after = position(LIST, query.cursor.as_deref())?;
    let found = state.links.list(whose, &filter, limit(query.limit)?, after.as_deref()).await?;
    let items = found.items.iter().map(|link| LinkView::of(link, state, &request)).collect();
    Ok(Response::json(StatusCode::OK, &PageView::new(LIST, items, found.next.as_deref())))
}

impl State {
    /// A deleted link does not keep its owner from giving its domain up, so someone else may have it
    /// by now.
    async fn check_domain(&self, link: &Link) -> Result<(), Error> {
        if link.domain.is_empty() {
            return Ok(());
        }
        let owner = self.links.domain_owner(&DomainName::parse(&link.domain)?).await?;
        if owner.is_some() && owner == link.owner {
            Ok(())
        } else {
            Err(Rejected::UnknownDomain.into())
        }
    }

    /// Applies a change to the link in the path, again if someone else was faster; `None` means that
    /// there is nothing to change.
    pub(crate) async fn change(
        &self,
        request: &Request,
        change: impl Fn(&Link) -> Result<Option<Link>, Rejected>,
    ) -> Result<Link, Error> {
        for _ in 0..TRIES {
            let link = self.link_for(request).await?;
            let Some(next) = change(&link)? else { return Ok(link) };
            if self.links.amend(&next, &self.entropy.token()).await? == Amended::Amended {
                return Ok(next);
            }
        }
        Err(Problem::conflict("The link keeps changing; try again.").into())
    }
}

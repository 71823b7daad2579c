//! The owner's links: read, amend, delete, restore, list.

use std::sync::Arc;

use crate::store::{AmendOutcome, LinkFilter, OwnerList};
use boundary::http::{
    Caller, IfMatch, Json, NoContent, Operation, Problem, Query, Result, State, Versioned,
};
use domain::accounts::Role;
use domain::links::{DomainName, Link};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::link_ref::{LinkRef, OwnedLink, parse_domain};
use crate::http::request::Request;
use crate::http::state::App;
use crate::http::terms::LinkPatch;
use crate::http::view::{LinkDetails, LinkView, PageView, limit, position};

/// Attempts of a change that names no version and loses a race.
const MAX_ATTEMPTS: usize = 5;

pub(super) const READ: Operation =
    Operation::get("/api/v1/url/{code}", "readLink", "Read a link").role(Role::Member);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    request: Request,
    OwnedLink(link): OwnedLink,
) -> Result<Versioned<Json<LinkDetails>>> {
    let totals = app.links.totals(&link.domain, &link.code).await?;
    let details = LinkDetails {
        link: LinkView::new(&link, &app, &request),
        clicks: totals.clicks,
        bots: totals.bots,
        previews: totals.previews,
    };
    // The version is the link's own: clicks alone don't make a new one.
    Ok(Versioned(link.version, Json(details)))
}

pub(super) const AMEND: Operation =
    Operation::patch("/api/v1/url/{code}", "amendLink", "Change a link")
        .description("Seen by every visitor within five seconds.")
        .role(Role::Member)
        .refuses(&[409]);

pub(super) async fn amend(
    State(app): State<Arc<App>>,
    request: Request,
    IfMatch(version): IfMatch,
    Json(patch): Json<LinkPatch>,
    OwnedLink(link): OwnedLink,
) -> Result<Versioned<Json<LinkView>>> {
    if link.version != version {
        return Err(Problem::version_mismatch());
    }
    if link.deleted_at.is_some() {
        return Err(Problem::conflict("The link is deleted; restore it first."));
    }
    let terms = app.apply_patch(&link.terms, patch, &request)?;
    app.check_destinations(terms.destinations(), request.now).await?;
    let next = link.with_terms(terms, request.now);
    match app.links.amend(&next, &app.entropy.token()).await? {
        AmendOutcome::Amended => Ok(LinkView::versioned(&next, &app, &request)),
        AmendOutcome::VersionChanged => Err(Problem::version_mismatch()),
    }
}

pub(super) const DELETE: Operation =
    Operation::delete("/api/v1/url/{code}", "deleteLink", "Delete a link")
        .description("It answers 404 within five seconds and can be restored for 30 days.")
        .role(Role::Member)
        .refuses(&[409]);

/// Deleting is the same for any version, so there is no `If-Match`.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    request: Request,
    caller: Caller,
    link_ref: LinkRef,
) -> Result<NoContent> {
    let change = |link: &Link| match link.deleted_at {
        Some(_) => Ok(None),
        None => Ok(Some(link.deleted(request.now))),
    };
    app.change(&caller, &link_ref, change).await?;
    Ok(NoContent)
}

pub(super) const RESTORE: Operation =
    Operation::post("/api/v1/url/{code}/restore", "restoreLink", "Undo a deletion")
        .role(Role::Member)
        .refuses(&[409]);

pub(super) async fn restore(
    State(app): State<Arc<App>>,
    request: Request,
    caller: Caller,
    link_ref: LinkRef,
) -> Result<Versioned<Json<LinkView>>> {
    let link = app.owned_link(&caller, &link_ref).await?;
    app.check_domain(&link).await?;
    let change = |link: &Link| match link.restored(request.now) {
        Some(next) => Ok(Some(next)),
        None => Err(Problem::conflict("The link is not deleted, or was for more than 30 days.")),
    };
    let link = app.change(&caller, &link_ref, change).await?;
    Ok(LinkView::versioned(&link, &app, &request))
}

/// Filters and pagination.
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

pub(super) const LIST: Operation = Operation::get("/api/v1/urls", "listLinks", "List your links")
    .description(
        "Newest first. A new link may take a moment to appear. With a filter, a page may be short and still \
         have a next one.",
    )
    .role(Role::Member);

pub(super) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<PageView<LinkView>>> {
    const LIST: &str = "links";
    let filter = LinkFilter {
        tag: query.tag.as_deref().map(|tag| tag.trim().to_lowercase()),
        text: query.q.as_deref().map(|text| text.trim().to_lowercase()).filter(|t| !t.is_empty()),
        domain: query.domain.as_deref().map(|text| parse_domain(Some(text))).transpose()?,
    };
    let list = OwnerList { owner: &caller.user_id, deleted: query.deleted.unwrap_or(false) };
    let after = position(LIST, query.cursor.as_deref())?;
    let found = app.links.list(list, &filter, limit(query.limit)?, after.as_deref()).await?;
    let items = found.items.iter().map(|link| LinkView::new(link, &app, &request)).collect();
    Ok(Json(PageView::new(LIST, items, found.next.as_deref())))
}

impl App {
    /// A deleted link does not keep its owner from releasing its domain, so another user may own it by
    /// now.
    async fn check_domain(&self, link: &Link) -> Result {
        if link.domain.is_empty() {
            return Ok(());
        }
        let owner = self.links.domain_owner(&DomainName::parse(&link.domain)?).await?;
        if owner.is_some() && owner == link.owner {
            Ok(())
        } else {
            Err(Problem::unknown("verified domain of yours"))
        }
    }

    /// Applies a change to a link, again if another request was faster; `None` from `change` means that
    /// there is nothing to change.
    pub(crate) async fn change(
        &self,
        caller: &Caller,
        link_ref: &LinkRef,
        change: impl Fn(&Link) -> Result<Option<Link>>,
    ) -> Result<Link> {
        for _ in 0..MAX_ATTEMPTS {
            let link = self.owned_link(caller, link_ref).await?;
            let Some(next) = change(&link)? else { return Ok(link) };
            if self.links.amend(&next, &self.entropy.token()).await? == AmendOutcome::Amended {
                return Ok(next);
            }
        }
        Err(Problem::conflict("The link keeps changing; try again."))
    }
}

//! The link that a request names: the path has its code, the query its domain.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use boundary::http::{Caller, Path, Problem, Query, Result, parse_query};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use domain::links::{Code, DomainName, Link};
use http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};

use crate::http::CodePath;
use crate::http::state::App;

#[derive(Debug, JsonSchema)]
pub(crate) struct DomainQuery {
    /// The link's domain; the service's own if left out.
    #[expect(
        dead_code,
        reason = "only its shape is used; `LinkRef` ignores the rest of the query"
    )]
    domain: Option<String>,
}

/// The link that path and query name, existing or not.
#[derive(Debug)]
pub(crate) struct LinkRef {
    /// Empty for the service's own.
    pub(crate) domain: String,
    pub(crate) code: Code,
}

impl<S: Send + Sync> FromRequestParts<S> for LinkRef {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Path(code) = Path::<CodePath>::from_request_parts(parts, state).await?;
        Ok(Self { domain: domain_from_query(parts.uri.query().unwrap_or_default())?, code })
    }
}

impl DescribeExtractor for LinkRef {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<CodePath>::describe(entry, schemas);
        Query::<DomainQuery>::describe(entry, schemas);
        entry.errors(&[404]);
    }
}

/// The link that path and query name, if it is the caller's or the caller is an admin: 404 otherwise.
#[derive(Debug)]
pub(crate) struct OwnedLink(pub(crate) Link);

impl FromRequestParts<Arc<App>> for OwnedLink {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let caller = <Caller as FromRequestParts<Arc<App>>>::from_request_parts(parts, app).await?;
        let link_ref = LinkRef::from_request_parts(parts, app).await?;
        app.owned_link(&caller, &link_ref).await.map(Self)
    }
}

impl DescribeExtractor for OwnedLink {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        LinkRef::describe(entry, schemas);
    }
}

impl App {
    /// The link of that name, if it is the caller's (or the caller is an admin).
    pub(crate) async fn owned_link(&self, caller: &Caller, link_ref: &LinkRef) -> Result<Link> {
        let found = self.links.find(&link_ref.domain, &link_ref.code).await?;
        let own = found.filter(|link| link.belongs_to(&caller.user_id) || caller.is_admin());
        own.ok_or_else(|| Problem::unknown("link"))
    }
}

/// The first domain of a query; the rest is ignored.
fn domain_from_query(query: &str) -> Result<String> {
    let pairs: Vec<(String, String)> = parse_query(query)?;
    let domain = pairs.iter().find(|(name, _)| name == "domain");
    parse_domain(domain.map(|(_, text)| text.as_str()))
}

/// A domain's name; empty for the service's own.
pub(crate) fn parse_domain(text: Option<&str>) -> Result<String> {
    match text {
        None | Some("") => Ok(String::new()),
        Some(text) => Ok(DomainName::parse(text)?.as_str().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_domain_counts_and_the_rest_of_the_query_does_not() {
        for (query, domain) in [
            ("", ""),
            ("domain=", ""),
            ("a=1&domain=Go.Example.com&domain=other.example.com&b", "go.example.com"),
            ("domain=go%2Eexample%2Ecom&domain=%20", "go.example.com"),
            ("%ff=%ff&domains=x", ""),
        ] {
            assert_eq!(domain_from_query(query).ok().as_deref(), Some(domain), "{query}");
        }
        assert!(domain_from_query("domain=not%20one").is_err());
    }
}

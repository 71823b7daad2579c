//! Which link a request is about: the path has its code, the query its domain.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use boundary::http::{Caller, Path, Problem, Query, parse_query};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use domain::links::{Code, DomainName, Link, Rejected};
use http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};

use crate::http::CodePath;
use crate::http::state::App;

/// Which of a user's namespaces is meant.
#[derive(Debug, JsonSchema)]
pub(crate) struct DomainQuery {
    /// The link's domain; the service's own if left out.
    #[expect(
        dead_code,
        reason = "only its shape is used; `Named` takes no offence at what else is in the query"
    )]
    domain: Option<String>,
}

/// The link that path and query name, whether it is there or not.
#[derive(Debug)]
pub(crate) struct Named {
    /// Empty for the service's own.
    pub(crate) domain: String,
    pub(crate) code: Code,
}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(code) = Path::<CodePath>::from_request_parts(parts, state).await?;
        Ok(Self { domain: domain_in(parts.uri.query().unwrap_or_default())?, code })
    }
}

impl DescribeExtractor for Named {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<CodePath>::describe(entry, schemas);
        Query::<DomainQuery>::describe(entry, schemas);
        entry.errors(&[404]);
    }
}

/// The link that path and query name, if it is the caller's or the caller is an admin: 404 otherwise.
#[derive(Debug)]
pub(crate) struct Own(pub(crate) Link);

impl FromRequestParts<Arc<App>> for Own {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = <Caller as FromRequestParts<Arc<App>>>::from_request_parts(parts, app).await?;
        let named = Named::from_request_parts(parts, app).await?;
        app.own(&caller, &named).await.map(Self)
    }
}

impl DescribeExtractor for Own {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Named::describe(entry, schemas);
    }
}

impl App {
    /// The link of that name, if it is the caller's (or the caller is an admin).
    pub(crate) async fn own(&self, caller: &Caller, named: &Named) -> Result<Link, Problem> {
        let found = self.links.find(&named.domain, &named.code).await?;
        let own = found.filter(|link| link.belongs_to(&caller.user_id) || caller.is_admin());
        own.ok_or_else(|| Rejected::UnknownLink.into())
    }
}

/// The domain that comes first in a query; what else is in it counts for nothing.
fn domain_in(query: &str) -> Result<String, Problem> {
    let pairs: Vec<(String, String)> = parse_query(query)?;
    let domain = pairs.iter().find(|(name, _)| name == "domain");
    domain_named(domain.map(|(_, text)| text.as_str()))
}

/// The domain of that name; ours if none is named.
pub(crate) fn domain_named(text: Option<&str>) -> Result<String, Problem> {
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
            assert_eq!(domain_in(query).ok().as_deref(), Some(domain), "{query}");
        }
        assert!(domain_in("domain=not%20one").is_err());
    }
}

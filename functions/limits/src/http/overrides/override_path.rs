//! Where an override is: which dimension, which entity of it, and which rule.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use boundary::http::{Path, Problem, Result, Segment};
use boundary::limits::configuration::override_document;
use boundary::openapi::{DescribeExtractor, OperationEntry};
use domain::limits::caller::canonical;
use domain::limits::{Dimension, Rejected};
use http::request::Parts;
use schemars::SchemaGenerator;

use crate::http::RulePath;
use crate::http::caller::MAX_NAME_LENGTH;
use crate::http::rules::MAX_ID_LENGTH;
use crate::http::state::App;

/// Which override is meant.
pub(crate) struct OverridePath {
    pub(crate) dimension: Dimension,
    pub(crate) entity: String,
    pub(crate) rule: String,
}

impl OverridePath {
    pub(crate) fn document(&self) -> String {
        override_document(self.dimension, &self.entity, &self.rule)
    }
}

/// The path names a dimension.
struct DimensionPath;

impl Segment for DimensionPath {
    type Value = Dimension;
    const NAME: &'static str = "dimension";
    const MEANING: &'static str = "`user`, `apiKey`, `ip`, `tenant` or `global`.";

    fn parse(text: &str) -> Result<Dimension> {
        dimension(text)
    }
}

/// The path names an entity; what is one depends on the dimension.
struct EntityPath;

impl Segment for EntityPath {
    type Value = String;
    const NAME: &'static str = "entity";
    const MEANING: &'static str =
        "Which one; of `ip` an address, which in IPv6 stands for its /64; of `global` `all`.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}

impl FromRequestParts<Arc<App>> for OverridePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let Path(dimension) = Path::<DimensionPath>::from_request_parts(parts, app).await?;
        let Path(text) = Path::<EntityPath>::from_request_parts(parts, app).await?;
        let entity = entity(dimension, &text)?;
        let Path(rule) = Path::<RulePath>::from_request_parts(parts, app).await?;
        if rule.len() > MAX_ID_LENGTH {
            return Err(Rejected::UnknownRule.into());
        }
        Ok(Self { dimension, entity, rule })
    }
}

impl DescribeExtractor for OverridePath {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<DimensionPath>::describe(entry, schemas);
        Path::<EntityPath>::describe(entry, schemas);
        Path::<RulePath>::describe(entry, schemas);
        entry.errors(&[404, 422]);
    }
}

/// A dimension by its name.
pub(crate) fn dimension(name: &str) -> Result<Dimension> {
    let names = "`user`, `apiKey`, `ip`, `tenant` or `global`";
    Dimension::parse(name).ok_or_else(|| Problem::field("dimension", names))
}

/// An entity as rules see it, from what a person wrote.
pub(crate) fn entity(dimension: Dimension, text: &str) -> Result<String> {
    let entity = canonical(dimension, text).filter(|entity| entity.len() <= MAX_NAME_LENGTH);
    let rule = match dimension {
        Dimension::Ip => "an IPv4 or IPv6 address".to_owned(),
        Dimension::Global => "`all`".to_owned(),
        Dimension::User | Dimension::ApiKey | Dimension::Tenant => {
            format!("1 to {MAX_NAME_LENGTH} bytes")
        }
    };
    Ok(entity.ok_or_else(|| Problem::field("entity", rule))?.into_owned())
}

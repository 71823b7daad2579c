//! Overrides: another limit of a rule for one entity, perhaps for a while.
//!
//! What has expired is not found, whether its row is still there or not. An override of a rule that
//! is gone does nothing, and can be read and deleted like any other.

mod override_path;

use std::sync::Arc;

use boundary::http::{Call, Json, NoContent, Operation, Problem, Query, State, Versioned};
use boundary::limits::configuration::{Configured, ConfiguredRules};
use domain::accounts::Role;
use domain::limits::{Dimension, Override, OverrideDraft, Rejected};
use domain::{Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::DocumentPart;

use self::override_path::{OverridePath, dimension};
use super::saved::SavedResponse;
use crate::http::rules::to_json;
use crate::http::state::{App, Expected, check_version, new_document};
use crate::http::view::DimensionName;

pub(crate) use self::override_path::entity;

/// Which overrides.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverridesQuery {
    /// Only those of this dimension: `user`, `apiKey`, `ip`, `tenant` or `global`.
    dimension: Option<String>,
    /// Only those of this entity; needs `dimension`.
    entity: Option<String>,
}

/// An override to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OverrideBody {
    /// Units in the rule's window; 0 refuses everything.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    limit: i64,
    /// What a bucket holds, where the rule is one; the limit if left out.
    burst: Option<i64>,
    /// When it ends by itself, as RFC 3339; never if left out.
    #[schemars(with = "Option<String>")]
    expires_at: Option<Timestamp>,
    /// Why, for people.
    #[serde(default)]
    #[schemars(length(max = 200))]
    reason: String,
}

impl From<OverrideBody> for OverrideDraft {
    fn from(body: OverrideBody) -> Self {
        let OverrideBody { limit, burst, expires_at, reason } = body;
        Self { limit, burst, expires_at, reason }
    }
}

/// An override.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverrideView {
    #[schemars(with = "DimensionName")]
    dimension: Dimension,
    /// Whom it is for. An IPv6 address is written as the /64 that it counts by.
    entity: String,
    rule: String,
    limit: i64,
    burst: Option<i64>,
    expires_at: Option<String>,
    reason: String,
    /// Grows with each change; the same number as in `ETag`.
    version: u64,
    changed_by: Option<String>,
    changed_at: Option<String>,
}

/// Overrides, by rule and entity.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OverridesView {
    overrides: Vec<OverrideView>,
}

impl From<&Configured<Override>> for OverrideView {
    fn from(configured: &Configured<Override>) -> Self {
        let (limit_override, by) = (&configured.value, configured.changed.as_ref());
        Self {
            dimension: limit_override.dimension,
            entity: limit_override.entity.clone(),
            rule: limit_override.rule.clone(),
            limit: limit_override.limit,
            burst: limit_override.burst,
            expires_at: limit_override.expires_at.map(|at| at.to_string()),
            reason: limit_override.reason.clone(),
            version: limit_override.version,
            changed_by: by.map(|(who, _)| who.clone()),
            changed_at: by.map(|(_, at)| at.to_string()),
        }
    }
}

/// An override that holds, and the version of its document, whether it holds or not: 0 for none.
struct StoredOverride {
    limit_override: Option<Configured<Override>>,
    version: u64,
}

pub(super) const LIST: Operation =
    Operation::get("/admin/ratelimits/overrides", "listOverrides", "List overrides")
        .description("Without those that have expired.")
        .role(Role::Admin);

pub(super) async fn list(
    State(app): State<Arc<App>>,
    call: Call,
    Query(query): Query<OverridesQuery>,
) -> Result<Json<OverridesView>, Problem> {
    let wanted = query.dimension.as_deref().map(dimension).transpose()?;
    let entity = match (wanted, query.entity.as_deref()) {
        (_, None) => None,
        (Some(dimension), Some(text)) => Some(entity(dimension, text)?),
        (None, Some(_)) => return Err(Problem::field("dimension", "given with `entity`")),
    };
    let mut overrides =
        ConfiguredRules::from_documents(&app.limits.documents(DocumentPart::Rules).await?)
            .overrides;
    overrides.retain(|Configured { value: limit_override, .. }| {
        is_active(limit_override, call.now)
            && wanted.is_none_or(|dimension| limit_override.dimension == dimension)
            && entity.as_ref().is_none_or(|entity| limit_override.entity == *entity)
    });
    Ok(Json(OverridesView { overrides: overrides.iter().map(OverrideView::from).collect() }))
}

pub(super) const READ: Operation = Operation::get(
    "/admin/ratelimits/overrides/{dimension}/{entity}/{rule}",
    "readOverride",
    "Read an override",
)
.role(Role::Admin);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    path: OverridePath,
) -> Result<Versioned<Json<OverrideView>>, Problem> {
    let stored = app.limit_override(&path, call.now).await?;
    let limit_override = stored.limit_override.ok_or(Rejected::UnknownOverride)?;
    Ok(Versioned(stored.version, Json(OverrideView::from(&limit_override))))
}

pub(super) const SAVE: Operation = Operation::put(
    "/admin/ratelimits/overrides/{dimension}/{entity}/{rule}",
    "saveOverride",
    "Make or replace an override",
)
.description("Another limit of a rule for one entity. 201 if there was none.")
.role(Role::Admin);

pub(super) async fn save(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<OverrideBody>,
    path: OverridePath,
    expected: Expected,
) -> Result<SavedResponse<OverrideView>, Problem> {
    let rule = app.find_rule(&path.rule).await?.ok_or(Rejected::UnknownRule)?;
    let stored = app.limit_override(&path, call.now).await?;
    check_version(expected, stored.limit_override.as_ref().map(|_| stored.version))?;
    let (version, draft) = (stored.version + 1, OverrideDraft::from(body));
    let limit_override =
        draft.into_override(path.dimension, &path.entity, &rule, version, call.now)?;
    let document = new_document(
        &call,
        path.document(),
        version,
        to_json(&limit_override)?,
        limit_override.expires_at,
    )?;
    app.save(DocumentPart::Rules, &document).await?;
    let by = Some((document.changed_by, document.changed_at));
    let view = OverrideView::from(&Configured { value: limit_override, changed: by });
    let made_at = stored.limit_override.is_none().then(|| call.path.clone());
    Ok(SavedResponse::saved(version, made_at, view))
}

pub(super) const DELETE: Operation = Operation::delete(
    "/admin/ratelimits/overrides/{dimension}/{entity}/{rule}",
    "deleteOverride",
    "Delete an override",
)
.role(Role::Admin);

pub(super) async fn delete(
    State(app): State<Arc<App>>,
    call: Call,
    path: OverridePath,
    expected: Expected,
) -> Result<NoContent, Problem> {
    let stored = app.limit_override(&path, call.now).await?;
    stored.limit_override.ok_or(Rejected::UnknownOverride)?;
    check_version(expected, Some(stored.version))?;
    app.remove(DocumentPart::Rules, &path.document(), stored.version).await?;
    Ok(NoContent)
}

/// Whether it has not expired.
pub(crate) fn is_active(limit_override: &Override, now: Timestamp) -> bool {
    limit_override.expires_at.is_none_or(|at| now < at)
}

impl App {
    async fn limit_override(&self, path: &OverridePath, now: Timestamp) -> Result<StoredOverride> {
        let document = self.limits.document(DocumentPart::Rules, &path.document()).await?;
        let mut overrides = ConfiguredRules::from_documents(document.as_slice()).overrides;
        Ok(StoredOverride {
            limit_override: overrides
                .pop()
                .filter(|limit_override| is_active(&limit_override.value, now)),
            version: document.map_or(0, |document| document.version),
        })
    }
}

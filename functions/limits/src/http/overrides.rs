//! Overrides: another limit of a rule for one entity, perhaps for a while.
//!
//! What has expired is not found, whether its row is still there or not. An override of a rule that
//! is gone does nothing, and can be read and deleted like any other.

mod place;

use std::sync::Arc;

use boundary::http::{Call, Json, NoContent, Operation, Problem, Query, State, Versioned};
use boundary::limits::configuration::{Decided, Rules};
use domain::accounts::Role;
use domain::limits::{Dimension, Override, OverrideDraft, Rejected};
use domain::{Failure, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::Part;

use self::place::{Place, dimension};
use super::changed::Changed;
use crate::http::rules::written;
use crate::http::state::{App, Expected, check_version, decided};
use crate::http::view::DimensionName;

pub(crate) use self::place::entity;

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

impl From<&Decided<Override>> for OverrideView {
    fn from(decided: &Decided<Override>) -> Self {
        let (special, by) = (&decided.what, decided.by.as_ref());
        Self {
            dimension: special.dimension,
            entity: special.entity.clone(),
            rule: special.rule.clone(),
            limit: special.limit,
            burst: special.burst,
            expires_at: special.expires_at.map(|at| at.to_string()),
            reason: special.reason.clone(),
            version: special.version,
            changed_by: by.map(|(who, _)| who.clone()),
            changed_at: by.map(|(_, at)| at.to_string()),
        }
    }
}

/// An override that holds, and the version of its document, whether it holds or not: 0 for none.
struct Stands {
    special: Option<Decided<Override>>,
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
    let mut overrides = Rules::of(&app.limits.documents(Part::Rules).await?).overrides;
    overrides.retain(|Decided { what: special, .. }| {
        holds(special, call.now)
            && wanted.is_none_or(|dimension| special.dimension == dimension)
            && entity.as_ref().is_none_or(|entity| special.entity == *entity)
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
    place: Place,
) -> Result<Versioned<Json<OverrideView>>, Problem> {
    let stands = app.special(&place, call.now).await?;
    let special = stands.special.ok_or(Rejected::UnknownOverride)?;
    Ok(Versioned(stands.version, Json(OverrideView::from(&special))))
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
    place: Place,
    expected: Expected,
) -> Result<Changed<OverrideView>, Problem> {
    let rule = app.known_rule(&place.rule).await?.ok_or(Rejected::UnknownRule)?;
    let stands = app.special(&place, call.now).await?;
    check_version(expected, stands.special.as_ref().map(|_| stands.version))?;
    let (version, draft) = (stands.version + 1, OverrideDraft::from(body));
    let special = draft.into_override(place.dimension, &place.entity, &rule, version, call.now)?;
    let document =
        decided(&call, place.document(), version, written(&special)?, special.expires_at)?;
    app.save(Part::Rules, &document).await?;
    let by = Some((document.changed_by, document.changed_at));
    let view = OverrideView::from(&Decided { what: special, by });
    let made_at = stands.special.is_none().then(|| call.path.clone());
    Ok(Changed::saved(version, made_at, view))
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
    place: Place,
    expected: Expected,
) -> Result<NoContent, Problem> {
    let stands = app.special(&place, call.now).await?;
    stands.special.ok_or(Rejected::UnknownOverride)?;
    check_version(expected, Some(stands.version))?;
    app.remove(Part::Rules, &place.document(), stands.version).await?;
    Ok(NoContent)
}

/// Whether it has not expired.
pub(crate) fn holds(special: &Override, now: Timestamp) -> bool {
    special.expires_at.is_none_or(|at| now < at)
}

impl App {
    async fn special(&self, place: &Place, now: Timestamp) -> Result<Stands, Failure> {
        let document = self.limits.document(Part::Rules, &place.document()).await?;
        let mut overrides = Rules::of(document.as_slice()).overrides;
        Ok(Stands {
            special: overrides.pop().filter(|special| holds(&special.what, now)),
            version: document.map_or(0, |document| document.version),
        })
    }
}

//! Overrides: another limit of a rule for one entity, perhaps for a while.
//!
//! What has expired is not found, whether its row is still there or not. An override of a rule that
//! is gone does nothing, and can be read and deleted like any other.

use boundary::http::{Answer, Error, Problem, Request, Response};
use boundary::limits::configuration::{Decided, Rules, override_document};
use domain::limits::subject::canonical;
use domain::limits::{Dimension, Override, OverrideDraft, Rejected};
use domain::{Failure, Timestamp};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::Part;

use crate::rules::{LONGEST_ID, written};
use crate::state::{State, check_version, decided};
use crate::subject::LONGEST_NAME;
use crate::view::DimensionName;

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

/// Which override is meant.
struct Place {
    dimension: Dimension,
    entity: String,
    rule: String,
}

/// An override that holds, and the version of its document, whether it holds or not: 0 for none.
struct Stands {
    special: Option<Decided<Override>>,
    version: u64,
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let query: OverridesQuery = request.query()?;
    let wanted = query.dimension.as_deref().map(dimension).transpose()?;
    let entity = match (wanted, query.entity.as_deref()) {
        (_, None) => None,
        (Some(dimension), Some(text)) => Some(entity(dimension, text)?),
        (None, Some(_)) => {
            return Err(Problem::field("dimension", "given with `entity`").into());
        }
    };
    let mut overrides = Rules::of(&state.limits.documents(Part::Rules).await?).overrides;
    overrides.retain(|Decided { what: special, .. }| {
        holds(special, request.now)
            && wanted.is_none_or(|dimension| special.dimension == dimension)
            && entity.as_ref().is_none_or(|entity| special.entity == *entity)
    });
    let overrides = overrides.iter().map(OverrideView::from).collect();
    Ok(Response::json(StatusCode::OK, &OverridesView { overrides }))
}

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let stands = state.special(&place(&request)?, request.now).await?;
    let special = stands.special.ok_or(Rejected::UnknownOverride)?;
    Ok(Response::json(StatusCode::OK, &OverrideView::from(&special)).with_version(stands.version))
}

pub(crate) async fn save(state: &State, request: Request) -> Answer {
    let body: OverrideBody = request.json()?;
    let place = place(&request)?;
    let rule = state.known_rule(&place.rule).await?.ok_or(Rejected::UnknownRule)?;
    let stands = state.special(&place, request.now).await?;
    check_version(&request, stands.special.as_ref().map(|_| stands.version))?;
    let (version, draft) = (stands.version + 1, OverrideDraft::from(body));
    let special =
        draft.into_override(place.dimension, &place.entity, &rule, version, request.now)?;
    let document =
        decided(&request, place.document(), version, written(&special)?, special.expires_at)?;
    state.save(Part::Rules, &document).await?;
    let by = Some((document.changed_by, document.changed_at));
    let view = OverrideView::from(&Decided { what: special, by });
    Ok(match stands.special {
        Some(_) => Response::json(StatusCode::OK, &view),
        None => {
            Response::json(StatusCode::CREATED, &view).with_text(header::LOCATION, &request.path)
        }
    }
    .with_version(version))
}

pub(crate) async fn delete(state: &State, request: Request) -> Answer {
    let place = place(&request)?;
    let stands = state.special(&place, request.now).await?;
    stands.special.ok_or(Rejected::UnknownOverride)?;
    check_version(&request, Some(stands.version))?;
    state.remove(Part::Rules, &place.document(), stands.version).await?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// Whether it has not expired.
pub(crate) fn holds(special: &Override, now: Timestamp) -> bool {
    special.expires_at.is_none_or(|at| now < at)
}

impl State {
    async fn special(&self, place: &Place, now: Timestamp) -> Result<Stands, Failure> {
        let document = self.limits.document(Part::Rules, &place.document()).await?;
        let mut overrides = Rules::of(document.as_slice()).overrides;
        Ok(Stands {
            special: overrides.pop().filter(|special| holds(&special.what, now)),
            version: document.map_or(0, |document| document.version),
        })
    }
}

impl Place {
    fn document(&self) -> String {
        override_document(self.dimension, &self.entity, &self.rule)
    }
}

fn place(request: &Request) -> Result<Place, Error> {
    let dimension = dimension(request.param("dimension"))?;
    let entity = entity(dimension, request.param("entity"))?;
    let rule = request.param("rule");
    if rule.len() > LONGEST_ID {
        return Err(Rejected::UnknownRule.into());
    }
    Ok(Place { dimension, entity, rule: rule.to_owned() })
}

fn dimension(name: &str) -> Result<Dimension, Problem> {
    let names = "`user`, `apiKey`, `ip`, `tenant` or `global`";
    Dimension::parse(name).ok_or_else(|| Problem::field("dimension", names))
}

/// An entity as rules see it, from what a person wrote.
pub(crate) fn entity(dimension: Dimension, text: &str) -> Result<String, Problem> {
    let entity = canonical(dimension, text).filter(|entity| entity.len() <= LONGEST_NAME);
    let rule = match dimension {
        Dimension::Ip => "an IPv4 or IPv6 address".to_owned(),
        Dimension::Global => "`all`".to_owned(),
        Dimension::User | Dimension::ApiKey | Dimension::Tenant => {
            format!("1 to {LONGEST_NAME} bytes")
        }
    };
    Ok(entity.ok_or_else(|| Problem::field("entity", rule))?.into_owned())
}

//! Settings: who no rule applies to, and when an address is blocked by itself.

use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Problem, Result, State, Versioned};
use boundary::limits::configuration::{ConfiguredRules, ExemptCaller, LimitsSettings, SETTINGS};
use domain::accounts::Role;
use domain::limits::Dimension;
use domain::limits::firewall::AutoBlock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::DocumentPart;

use crate::http::overrides::entity;
use crate::http::rules::to_json;
use crate::http::state::{App, Expected, check_version, new_document};
use crate::http::view::DimensionName;

const MAX_EXEMPT: usize = 100;

/// What can be set. What is left out is as it was before anyone set anything.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SettingsBody {
    /// Callers that no rule applies to, at most 100.
    #[serde(default)]
    exempt: Vec<Exempt>,
    #[serde(default)]
    #[schemars(with = "AutoBlockBody")]
    auto_block: AutoBlock,
}

/// A caller that no rule applies to.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Exempt {
    /// Anything but `global`.
    #[schemars(with = "DimensionName")]
    dimension: Dimension,
    /// Which one. An IPv6 address stands for its /64.
    #[schemars(length(min = 1, max = 256))]
    entity: String,
}

/// When an address is blocked by itself: so many denials within so many seconds, on one node.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AutoBlock")]
#[expect(dead_code, reason = "only its schema is used")]
struct AutoBlockBody {
    /// 100 if left out; 0 blocks no address.
    #[schemars(range(min = 0, max = 1_000_000))]
    denials: Option<u32>,
    /// 60 if left out.
    #[schemars(range(min = 1, max = 3_600))]
    within_seconds: Option<u32>,
    /// How long it stays blocked; 600 if left out.
    #[schemars(range(min = 1, max = 604_800))]
    block_seconds: Option<u32>,
}

pub(super) const READ: Operation =
    Operation::get("/admin/ratelimits/settings", "readSettings", "Read the settings")
        .role(Role::Admin);

pub(super) async fn read(State(app): State<Arc<App>>) -> Result<Versioned<Json<SettingsBody>>> {
    let document = app.limits.document(DocumentPart::Rules, SETTINGS).await?;
    let ConfiguredRules { settings, settings_version, .. } =
        ConfiguredRules::from_documents(document.as_slice());
    Ok(settings_response(settings, settings_version))
}

pub(super) const SAVE: Operation =
    Operation::put("/admin/ratelimits/settings", "saveSettings", "Replace the settings")
        .role(Role::Admin);

pub(super) async fn save(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<SettingsBody>,
    expected: Expected,
) -> Result<Versioned<Json<SettingsBody>>> {
    let settings = LimitsSettings::try_from(body)?;
    let stored = app.limits.document(DocumentPart::Rules, SETTINGS).await?;
    let version = stored.map_or(0, |document| document.version);
    check_version(expected, Some(version))?;
    let body = to_json(&settings)?;
    let document = new_document(&call, SETTINGS.to_owned(), version + 1, body, None)?;
    app.save(DocumentPart::Rules, &document).await?;
    Ok(settings_response(settings, version + 1))
}

fn settings_response(settings: LimitsSettings, version: u64) -> Versioned<Json<SettingsBody>> {
    let exempt = settings.exempt.into_iter();
    let exempt = exempt.map(|it| Exempt { dimension: it.dimension, entity: it.entity }).collect();
    Versioned(version, Json(SettingsBody { exempt, auto_block: settings.auto_block }))
}

impl TryFrom<SettingsBody> for LimitsSettings {
    type Error = Problem;

    fn try_from(body: SettingsBody) -> Result<Self> {
        if body.exempt.len() > MAX_EXEMPT {
            return Err(Problem::field("exempt", format!("at most {MAX_EXEMPT} callers")));
        }
        let auto_block = body.auto_block.checked().map_err(|(field, rule)| {
            let field = format!("autoBlock.{field}");
            let detail = format!("`{field}` {rule}.");
            Problem::invalid_field(field, detail)
        })?;
        let exempt = body.exempt.into_iter().enumerate().map(|(index, it)| it.checked(index));
        Ok(Self { exempt: exempt.collect::<Result<_, _>>()?, auto_block })
    }
}

impl Exempt {
    fn checked(self, index: usize) -> Result<ExemptCaller> {
        let dimension = self.dimension;
        if dimension == Dimension::Global {
            let field = format!("exempt[{index}].dimension");
            return Err(Problem::field(field, "`user`, `apiKey`, `ip` or `tenant`"));
        }
        let entity = entity(dimension, &self.entity).map_err(|_| {
            let rule = if dimension == Dimension::Ip { "an address" } else { "1 to 256 bytes" };
            Problem::field(format!("exempt[{index}].entity"), rule)
        })?;
        Ok(ExemptCaller { dimension, entity })
    }
}

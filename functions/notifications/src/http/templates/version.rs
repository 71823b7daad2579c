//! A version of a template as callers see it, with what became of what it said.

use crate::store::VariantResults;
use boundary::http::Result;
use domain::notifications::{Channel, Template, TemplateVersion};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::state::App;

/// A version of a template.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionView {
    version: u32,
    active: bool,
    channels: Vec<&'static str>,
    created_at: String,
    created_by: String,
    /// By variant; one without a name where nothing is compared.
    results: Vec<ResultView>,
}

/// What became of a variant.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultView {
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    /// Handed to a provider.
    sent: u64,
    /// Arrived, as far as that can be told.
    delivered: u64,
    opened: u64,
    clicked: u64,
    /// Opened by what seems to be a program.
    opened_by_machine: u64,
    clicked_by_machine: u64,
}

impl VersionView {
    pub(super) async fn of(
        app: &App,
        template: &Template,
        version: &TemplateVersion,
    ) -> Result<Self> {
        let tested = version.draft.test.as_ref();
        let variants: Vec<Option<&str>> = tested.map_or_else(
            || vec![None],
            |test| test.variants.iter().map(|variant| Some(variant.name.as_str())).collect(),
        );
        let results = app.notifications.results(&template.id, version.number, &variants).await?;
        let results = variants.into_iter().zip(results);
        Ok(Self {
            version: version.number,
            active: version.number == template.active,
            channels: version.draft.channels().into_iter().map(Channel::name).collect(),
            created_at: version.created_at.to_string(),
            created_by: version.created_by.as_str().to_owned(),
            results: results.map(|(variant, results)| ResultView::of(variant, results)).collect(),
        })
    }
}

impl ResultView {
    fn of(variant: Option<&str>, results: VariantResults) -> Self {
        Self {
            variant: variant.map(str::to_owned),
            sent: results.sent,
            delivered: results.delivered,
            opened: results.opened,
            clicked: results.clicked,
            opened_by_machine: results.opened_by_machine,
            clicked_by_machine: results.clicked_by_machine,
        }
    }
}

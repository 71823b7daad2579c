//! Renders a template as a user would read it, without sending anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use boundary::http::{Json, Operation, Problem, Result, State};
use domain::accounts::{Role, UserId};
use domain::notifications::{Channel, Locale, SYSTEM_VARIABLES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FoundTemplate;
use super::plan::invalid_data;
use crate::http::state::App;

/// For whom, and with what.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PreviewBody {
    /// Which version; the active one if left out.
    version: Option<u32>,
    /// `email`, `sms` or `push`; each that it has words for if left out.
    channel: Option<String>,
    /// The locale it is wanted in; the default one if left out.
    #[schemars(with = "Option<String>")]
    locale: Option<Locale>,
    /// The user whose variant is shown; any variant if left out.
    user_id: Option<String>,
    /// What it is filled in with.
    data: Option<Value>,
}

/// What a user would read.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PreviewView {
    version: u32,
    /// One for each channel.
    previews: Vec<ChannelPreview>,
}

/// What a user would read on a channel.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChannelPreview {
    channel: &'static str,
    /// The locale it was made in.
    locale: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    /// Its texts.
    content: Value,
}

pub(super) const PREVIEW: Operation = Operation::post(
    "/api/v1/templates/{templateId}/preview",
    "previewTemplate",
    "Try a template out",
)
.description("As a user would read it; nothing is sent.")
.role(Role::Notifier);

pub(super) async fn preview(
    State(app): State<Arc<App>>,
    body: Option<Json<PreviewBody>>,
    FoundTemplate(template): FoundTemplate,
) -> Result<Json<PreviewView>> {
    let body = body.map(|Json(body)| body).unwrap_or_default();
    let version = app.version(&template.id, body.version.unwrap_or(template.active)).await?;
    let channels = match &body.channel {
        None => version.draft.channels(),
        Some(name) => vec![parse_channel(name)?],
    };
    let user = match &body.user_id {
        None => UserId::outside("preview"),
        Some(name) => UserId::parse(name)?,
    };
    let data = body.data.map_or_else(|| "{}".to_owned(), |data| data.to_string());
    // A link that looks like the real one and ends nothing.
    let link = format!("{}/unsubscribe?token=preview", app.public_url);
    let system: BTreeMap<&str, String> =
        SYSTEM_VARIABLES.into_iter().map(|name| (name, link.clone())).collect();
    let mut previews = Vec::new();
    for channel in channels {
        let rendered = version
            .render(channel, body.locale.as_ref(), &user, &data, &system)
            .map_err(|error| invalid_data(&error))?;
        previews.push(ChannelPreview {
            channel: channel.name(),
            locale: rendered.rendering.locale.as_str().to_owned(),
            variant: rendered.rendering.variant,
            content: serde_json::to_value(&rendered.content).unwrap_or_default(),
        });
    }
    Ok(Json(PreviewView { version: version.number, previews }))
}

pub(crate) fn parse_channel(name: &str) -> Result<Channel> {
    let found = Channel::ALL.into_iter().find(|channel| channel.name() == name);
    found.ok_or_else(|| Problem::field("channel", "`email`, `sms` or `push`"))
}

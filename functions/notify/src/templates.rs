//! Templates: published in versions that never change, looked at, tried out, and activated.

use boundary::http::{Answer, Error, Problem, Request, Response};
use domain::notifications::{Channel, Draft, Rejected, Template, TemplateId, TemplateVersion};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::notifications::{Published, Results, Saved};

use crate::State;

/// A template may change under our hands so often.
const TRIES: usize = 5;

/// Versions on one page.
const SHOWN: u32 = 20;

/// Which part of a template.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TemplateQuery {
    /// The version whose texts are shown; the active one if left out.
    version: Option<u32>,
    /// Lists the versions before this one; the latest 20 if left out.
    before: Option<u32>,
}

/// A template.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TemplateView {
    template_id: String,
    /// The version that whoever names none gets.
    active_version: u32,
    latest_version: u32,
    /// The version whose texts are shown.
    version: u32,
    /// What it says, as it was published.
    draft: Value,
    /// Versions, the latest first, with what became of each.
    versions: Vec<VersionView>,
}

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

/// A version that was published.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublishedView {
    template_id: String,
    version: u32,
    active_version: u32,
}

/// The same draft as the latest version again is that version: a repeat publishes nothing.
pub(crate) async fn publish(state: &State, request: Request) -> Answer {
    let id = TemplateId::parse(request.param("templateId")).map_err(|_| wrong_name())?;
    let draft = request.json::<Draft>()?.checked()?;
    let by = request.caller()?.user_id.clone();
    for _ in 0..TRIES {
        let before = state.notifications.template(&id).await?;
        if let Some(template) = &before {
            let latest = state.version(&id, template.latest).await?;
            if latest.draft == draft {
                return Ok(published(StatusCode::OK, template, template.latest));
            }
        }
        let after = Template::published(before.as_ref(), &id);
        let version = TemplateVersion {
            template: id.clone(),
            number: after.latest,
            draft: draft.clone(),
            created_by: by.clone(),
            created_at: request.now,
        };
        let token = state.entropy.token();
        let outcome = state.notifications.publish(&after, &version, None, request.now, &token);
        match outcome.await? {
            Published::Published => {
                state.remember(&after, request.now);
                return Ok(published(StatusCode::CREATED, &after, after.latest));
            }
            Published::Moved | Published::Before(_) => {}
        }
    }
    Err(Problem::unavailable("The template keeps changing.", 1).into())
}

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let query: TemplateQuery = request.query()?;
    let template = find(state, &request).await?;
    let number = query.version.unwrap_or(template.active);
    let shown = state.version(&template.id, number).await?;
    let last = query.before.map_or(template.latest, |n| n.saturating_sub(1).min(template.latest));
    let mut versions = Vec::new();
    for number in (last.saturating_sub(SHOWN) + 1..=last).rev() {
        let version = state.version(&template.id, number).await?;
        versions.push(version_view(state, &template, &version).await?);
    }
    let view = TemplateView {
        template_id: template.id.as_str().to_owned(),
        active_version: template.active,
        latest_version: template.latest,
        version: number,
        draft: serde_json::to_value(&shown.draft).unwrap_or_default(),
        versions,
    };
    Ok(Response::json(StatusCode::OK, &view))
}

/// Takes effect within five seconds everywhere. What was accepted before keeps its version.
pub(crate) async fn activate(state: &State, request: Request) -> Answer {
    let number: u32 = request.param("version").parse().map_err(|_| Problem::unknown("version"))?;
    for _ in 0..TRIES {
        let before = find(state, &request).await?;
        if before.active == number {
            return Ok(published(StatusCode::OK, &before, number));
        }
        let after = before.activated(number)?;
        let token = state.entropy.token();
        if state.notifications.activate(&after, &token).await? == Saved::Saved {
            state.remember(&after, request.now);
            return Ok(published(StatusCode::OK, &after, number));
        }
    }
    Err(Problem::unavailable("The template keeps changing.", 1).into())
}

/// The template that the path names, as it is now.
pub(crate) async fn find(state: &State, request: &Request) -> Result<Template, Error> {
    let name = request.param("templateId");
    let unknown = || Error::from(Rejected::UnknownTemplate(name.to_owned()));
    let id = TemplateId::parse(name).map_err(|_| unknown())?;
    state.notifications.template(&id).await?.ok_or_else(unknown)
}

fn wrong_name() -> Problem {
    let rule = "1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit";
    Problem::field("templateId", rule)
}

fn published(status: StatusCode, template: &Template, version: u32) -> Response {
    let id = template.id.as_str();
    let view =
        PublishedView { template_id: id.to_owned(), version, active_version: template.active };
    let location = format!("/api/v1/templates/{id}?version={version}");
    Response::json(status, &view).with_text(header::LOCATION, &location)
}

async fn version_view(
    state: &State,
    template: &Template,
    version: &TemplateVersion,
) -> Result<VersionView, Error> {
    let tested = version.draft.test.as_ref();
    let variants: Vec<Option<&str>> = tested.map_or_else(
        || vec![None],
        |test| test.variants.iter().map(|variant| Some(variant.name.as_str())).collect(),
    );
    let results = state.notifications.results(&template.id, version.number, &variants).await?;
    let results = variants.into_iter().zip(results).map(|(name, results)| result(name, results));
    Ok(VersionView {
        version: version.number,
        active: version.number == template.active,
        channels: version.draft.channels().into_iter().map(Channel::name).collect(),
        created_at: version.created_at.to_string(),
        created_by: version.created_by.as_str().to_owned(),
        results: results.collect(),
    })
}

fn result(variant: Option<&str>, results: Results) -> ResultView {
    ResultView {
        variant: variant.map(str::to_owned),
        sent: results.sent,
        delivered: results.delivered,
        opened: results.opened,
        clicked: results.clicked,
        opened_by_machine: results.opened_by_machine,
        clicked_by_machine: results.clicked_by_machine,
    }
}

//! Templates: published in versions that never change, looked at, tried out, and activated.

mod version;

use std::sync::Arc;

use crate::store::{PublishOutcome, SaveOutcome};
use boundary::http::{
    Call, Caller, Json, Operation, Path, Problem, Query, Result, State, Upserted,
};
use domain::accounts::Role;
use domain::notifications::{Template, TemplateDraft, TemplateVersion};
use http::{HeaderName, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schemas::TemplateDraftSchema;
use super::{BODY_CAP, FoundTemplate, NewTemplatePath, TemplatePath, VersionPath};
use crate::http::state::App;

use version::VersionView;

/// A template may change under our hands so often.
const TRIES: usize = 5;

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
    /// The version that a notification without one gets.
    active_version: u32,
    latest_version: u32,
    /// The version whose texts are shown.
    version: u32,
    /// What it says, as it was published.
    draft: Value,
    /// Versions, the latest first, with what became of each.
    versions: Vec<VersionView>,
}

/// A version that was published.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublishedView {
    template_id: String,
    version: u32,
    active_version: u32,
}

// A draft as it is sent. For the document it is its shape and nothing beside, so this is no doc comment: that
// would make a schema of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "TemplateDraftSchema")]
pub(crate) struct NewDraft(TemplateDraft);

/// An answer with where the version is that it is about.
type Located<A> = ([(HeaderName, String); 1], A);

pub(super) const PUBLISH: Operation = Operation::put(
    "/api/v1/templates/{templateId}",
    "publishTemplate",
    "Publish a version of a template",
)
.description(
    "Makes the next version, which never changes; the first one is active at once, others once they \
     are activated. The draft of the latest version again makes no other.",
)
.role(Role::Notifier)
.body_up_to(BODY_CAP)
.refuses(&[503]);

/// The same draft as the latest version again is that version: a repeat publishes nothing.
pub(super) async fn publish(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(id): Path<NewTemplatePath>,
    Json(NewDraft(draft)): Json<NewDraft>,
) -> Result<Located<Upserted<PublishedView>>> {
    let draft = draft.validated()?;
    for _ in 0..TRIES {
        let before = app.notifications.template(&id).await?;
        if let Some(template) = &before {
            let latest = app.version(&id, template.latest).await?;
            if latest.draft == draft {
                let body = PublishedView::of(template, template.latest);
                return Ok((body.location(), Upserted { is_new: false, body }));
            }
        }
        let after = Template::published(before.as_ref(), &id);
        let version = TemplateVersion {
            template: id.clone(),
            number: after.latest,
            draft: draft.clone(),
            created_by: caller.user_id.clone(),
            created_at: call.now,
        };
        let token = app.entropy.token();
        let outcome = app.notifications.publish(&after, &version, None, call.now, &token);
        match outcome.await? {
            PublishOutcome::Published => {
                app.cache(&after, call.now);
                let body = PublishedView::of(&after, after.latest);
                return Ok((body.location(), Upserted { is_new: true, body }));
            }
            PublishOutcome::Conflict | PublishOutcome::Repeated(_) => {}
        }
    }
    Err(Problem::unavailable("The template keeps changing.", 1))
}

pub(super) const READ: Operation = Operation::get(
    "/api/v1/templates/{templateId}",
    "readTemplate",
    "Its texts, its versions, and their results",
)
.role(Role::Notifier);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    Query(query): Query<TemplateQuery>,
    FoundTemplate(template): FoundTemplate,
) -> Result<Json<TemplateView>> {
    let number = query.version.unwrap_or(template.active);
    let shown = app.version(&template.id, number).await?;
    let last = query.before.map_or(template.latest, |n| n.saturating_sub(1).min(template.latest));
    let mut versions = Vec::new();
    for number in (last.saturating_sub(SHOWN) + 1..=last).rev() {
        let version = app.version(&template.id, number).await?;
        versions.push(VersionView::of(&app, &template, &version).await?);
    }
    Ok(Json(TemplateView {
        template_id: template.id.as_str().to_owned(),
        active_version: template.active,
        latest_version: template.latest,
        version: number,
        draft: serde_json::to_value(&shown.draft).unwrap_or_default(),
        versions,
    }))
}

pub(super) const ACTIVATE: Operation = Operation::post(
    "/api/v1/templates/{templateId}/versions/{version}/activate",
    "activateTemplate",
    "Use this version",
)
.description("For notifications that are accepted from now on; everywhere within five seconds.")
.role(Role::Notifier)
.refuses(&[404, 503]);

/// Takes effect within five seconds everywhere. What was accepted before keeps its version.
pub(super) async fn activate(
    State(app): State<Arc<App>>,
    call: Call,
    Path(name): Path<TemplatePath>,
    Path(number): Path<VersionPath>,
) -> Result<Located<Json<PublishedView>>> {
    for _ in 0..TRIES {
        let before = app.existing_template(&name).await?;
        if before.active == number {
            let view = PublishedView::of(&before, number);
            return Ok((view.location(), Json(view)));
        }
        let after = before.activated(number)?;
        let token = app.entropy.token();
        if app.notifications.activate(&after, &token).await? == SaveOutcome::Saved {
            app.cache(&after, call.now);
            let view = PublishedView::of(&after, number);
            return Ok((view.location(), Json(view)));
        }
    }
    Err(Problem::unavailable("The template keeps changing.", 1))
}

impl PublishedView {
    fn of(template: &Template, version: u32) -> Self {
        let template_id = template.id.as_str().to_owned();
        Self { template_id, version, active_version: template.active }
    }

    fn location(&self) -> [(HeaderName, String); 1] {
        let Self { template_id, version, .. } = self;
        [(header::LOCATION, format!("/api/v1/templates/{template_id}?version={version}"))]
    }
}

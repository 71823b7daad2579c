//! Plans a notification when it is accepted: a delivery for each endpoint, suppressed where the user opted out.

use std::sync::Arc;

use crate::store::{Acceptance, Recipient};
use boundary::http::{Problem, Result};
use domain::Timestamp;
use domain::notifications::{
    AddressState, Channel, ContentSource, Delivery, Endpoint, Event, Notification, RenderError,
    Submission, TemplateVersion, Transition, stop_reason, transition,
};

use crate::http::state::App;

/// What is going to be said.
pub(crate) enum ResolvedContent {
    Version(Arc<TemplateVersion>),
    Inline(Vec<Channel>),
}

impl ResolvedContent {
    /// Reads the template, if one is named, and checks that it can be filled in.
    pub(crate) async fn resolve(
        submission: &Submission,
        app: &App,
        now: Timestamp,
    ) -> Result<Self> {
        let (id, version, data) = match &submission.source {
            ContentSource::Inline(content) => {
                return Ok(Self::Inline(content.channels().collect()));
            }
            ContentSource::Template { id, version, data } => (id, version, data),
        };
        let number = match version {
            Some(number) => *number,
            None => app.template(id, now).await.map_err(unknown)?.active,
        };
        let version = app.version(id, number).await.map_err(unknown)?;
        version.accepts(data).map_err(|error| invalid_data(&error))?;
        let content = version.draft.channels();
        if let Some(channel) = submission.channels.iter().find(|it| !content.contains(it)) {
            let rule =
                format!("channels that the template has words for; not `{}`", channel.name());
            return Err(Problem::field("channels", rule));
        }
        Ok(Self::Version(version))
    }

    /// The version that is used; 0 where there is none.
    pub(crate) fn version(&self) -> u32 {
        match self {
            Self::Version(version) => version.number,
            Self::Inline(_) => 0,
        }
    }

    fn channels(&self) -> Vec<Channel> {
        match self {
            Self::Version(version) => version.draft.channels(),
            Self::Inline(channels) => channels.clone(),
        }
    }
}

/// A template that a body names is a wrong field, not a wrong path.
fn unknown(problem: Problem) -> Problem {
    if problem.status() == 404 {
        let detail = "There is no such template, or no such version of it.";
        Problem::invalid_field("template", detail)
    } else {
        problem
    }
}

/// Data that a template can't be filled in with.
pub(crate) fn invalid_data(error: &RenderError) -> Problem {
    match error {
        RenderError::MissingVariables(names) => {
            let field = format!("data.{}", names.first().map_or("", String::as_str));
            Problem::invalid_field(field, format!("The template also needs: {}.", names.join(", ")))
        }
        RenderError::DataNotAnObject => Problem::field("data", "an object"),
        RenderError::NoContent(channel) => {
            Problem::invalid_field("channel", format!("It has no words for {}.", channel.name()))
        }
        RenderError::Failed { .. } | RenderError::Invalid { .. } => {
            Problem::invalid_field("data", boundary::http::sentence(&error.to_string()))
        }
    }
}

/// A notification that is about to be written.
pub(crate) struct PlannedNotification {
    pub(crate) notification: Notification,
    pub(crate) deliveries: Vec<Delivery>,
}

impl PlannedNotification {
    /// A delivery for each way. What the person does not want is written down as suppressed, so that
    /// its caller can read why. Whether an address is suppressed is looked up right before sending.
    pub(crate) fn new(
        notification: Notification,
        submission: &Submission,
        content: &ResolvedContent,
        recipient: &Recipient,
        now: Timestamp,
    ) -> Self {
        let deliveries = endpoints(submission, content, recipient)
            .into_iter()
            .map(|endpoint| checked(&notification, endpoint, recipient, now))
            .collect();
        Self { notification, deliveries }
    }

    pub(crate) fn acceptance(&self) -> Acceptance<'_> {
        Acceptance { notification: &self.notification, deliveries: &self.deliveries }
    }
}

fn endpoints(
    submission: &Submission,
    content: &ResolvedContent,
    recipient: &Recipient,
) -> Vec<Endpoint> {
    let Recipient { preferences, contacts } = recipient;
    let channels = content.channels();
    let mut endpoints =
        contacts.endpoints_for(&submission.channels, &submission.category, preferences);
    endpoints.retain(|endpoint| channels.contains(&endpoint.channel()));
    if endpoints.is_empty() && submission.channels.is_empty() {
        // The user switched all of them off: a suppressed delivery for each says so.
        endpoints = channels.into_iter().flat_map(|channel| contacts.endpoints(channel)).collect();
    }
    endpoints
}

fn checked(
    notification: &Notification,
    endpoint: Endpoint,
    recipient: &Recipient,
    now: Timestamp,
) -> Delivery {
    let delivery = Delivery::new(notification, endpoint);
    let usable = AddressState::Usable;
    let reason = stop_reason(notification, &delivery, &recipient.preferences, &usable, now);
    let Some(reason) = reason else { return delivery };
    match transition(&delivery, &Event::Suppressed { reason }, now) {
        Transition::Changed(after) => *after,
        Transition::Unchanged | Transition::Illegal(_) => delivery,
    }
}

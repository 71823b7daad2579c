//! The HTTP API of notifications: send, read and cancel them; preferences and contacts; templates; dead
//! letters and replays; events of providers; opens, clicks and unsubscribes.
//!
//! Trigger: HTTP. Effect: a notification is one transaction of its row, its deliveries and the answer
//! that a repeat gets; then one publish. Guarantee: a repeated call sends nothing twice; an opt-out is
//! written before it is answered, and no claim passes it; a message that is lost is sent again by the
//! sweep; what is not the caller's is not found.

mod accept;
mod callbacks;
mod dead_letters;
mod log;
mod notification;
mod plan;
mod preview;
mod request;
mod schemas;
mod state;
mod templates;
mod track;
mod unsubscribe;
mod users;
mod view;
mod withdraw;

use std::sync::Arc;

use crate::store::NotificationRecord;
use ::http::HeaderMap;
use ::http::request::Parts;
use axum::extract::FromRequestParts;
use boundary::http::{Api, Caller, Operations, Path, Problem, Result, Segment};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use boundary::{Host, Misconfigured};
use domain::accounts::UserId;
use domain::notifications::{NotificationId, ProviderName, Rejected, Template, TemplateId};
use schemars::SchemaGenerator;

use crate::http::state::{App, may_send};

/// A thousand people, and words for each channel.
const BODY_CAP: usize = 1024 * 1024;

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api, Misconfigured> {
    Api::new(host, App::from_host(host)?, operations)
}

pub fn operations(to: &mut impl Operations<App>) {
    to.on(accept::SEND, accept::send);
    to.on(notification::READ, notification::read);
    to.on(notification::CANCEL, notification::cancel);
    to.on(log::LIST, log::list);
    to.on(log::MARK, log::mark);
    to.on(users::PREFERENCES, users::preferences);
    to.on(users::SAVE_PREFERENCES, users::save_preferences);
    to.on(users::CONTACTS, users::contacts);
    to.on(users::SAVE_CONTACTS, users::save_contacts);
    to.on(templates::PUBLISH, templates::publish);
    to.on(templates::READ, templates::read);
    to.on(preview::PREVIEW, preview::preview);
    to.on(templates::ACTIVATE, templates::activate);
    to.on(dead_letters::LIST, dead_letters::list);
    to.on(dead_letters::REPLAY, dead_letters::replay);
    to.on(unsubscribe::SHOW, unsubscribe::show);
    to.on(unsubscribe::UNSUBSCRIBE, unsubscribe::unsubscribe);
    to.on(callbacks::RECEIVE, callbacks::receive);
    to.on(track::OPENED, track::opened);
    to.on(track::CLICKED, track::clicked);
}

pub(crate) struct NotificationPath;

impl Segment for NotificationPath {
    type Value = NotificationId;
    const NAME: &'static str = "notificationId";
    const MEANING: &'static str = "The notification.";

    fn parse(text: &str) -> Result<NotificationId> {
        NotificationId::parse(text).ok_or_else(|| Rejected::UnknownNotification.into())
    }
}

/// The path names a user. Not parsed, because a caller's own id may have another form than ours.
pub(crate) struct UserPath;

impl Segment for UserPath {
    type Value = String;
    const NAME: &'static str = "userId";
    const MEANING: &'static str = "The person.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}

/// The path names a template that has to be there. Taken as it comes: [`App::existing_template`] refuses it.
pub(crate) struct TemplatePath;

impl Segment for TemplatePath {
    type Value = String;
    const NAME: &'static str = "templateId";
    const MEANING: &'static str =
        "The template: 1 to 64 of a-z, 0-9, `.`, `_` and `-`, starting with a letter or digit.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}

/// The path names a template that is made if it is not there.
pub(crate) struct NewTemplatePath;

impl Segment for NewTemplatePath {
    type Value = TemplateId;
    const NAME: &'static str = TemplatePath::NAME;
    const MEANING: &'static str = TemplatePath::MEANING;

    fn parse(text: &str) -> Result<TemplateId> {
        const RULE: &str = "1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit";
        TemplateId::parse(text).map_err(|_| Problem::field("templateId", RULE))
    }
}

/// The path names a version of a template.
pub(crate) struct VersionPath;

impl Segment for VersionPath {
    type Value = u32;
    const NAME: &'static str = "version";
    const MEANING: &'static str = "The version's number.";

    fn parse(text: &str) -> Result<u32> {
        text.parse().map_err(|_| Problem::unknown("version"))
    }
}

pub(crate) struct ProviderPath;

impl Segment for ProviderPath {
    type Value = ProviderName;
    const NAME: &'static str = "provider";
    const MEANING: &'static str = "The provider, as the stack names it.";

    fn parse(text: &str) -> Result<ProviderName> {
        ProviderName::parse(text).map_err(|_| callbacks::unknown())
    }
}

/// The path has what a mail's link proves itself with; what it is worth depends on what it is for.
pub(crate) struct TokenPath;

impl Segment for TokenPath {
    type Value = String;
    const NAME: &'static str = "token";
    const MEANING: &'static str = "As it is in the mail.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}

/// The notification that the path names, whosever it is: 404 if there is none.
pub(crate) struct FoundNotification(pub(crate) NotificationRecord);

impl FromRequestParts<Arc<App>> for FoundNotification {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let Path(id) = Path::<NotificationPath>::from_request_parts(parts, app).await?;
        let found = app.notifications.find(&id).await?;
        found.map(Self).ok_or_else(|| Rejected::UnknownNotification.into())
    }
}

impl DescribeExtractor for FoundNotification {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<NotificationPath>::describe(entry, schemas);
        entry.errors(&[404]);
    }
}

/// The user that the path names: the caller, or any user for a caller who may send. 404 otherwise.
pub(crate) struct PathUser(pub(crate) UserId);

impl FromRequestParts<Arc<App>> for PathUser {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let caller = <Caller as FromRequestParts<Arc<App>>>::from_request_parts(parts, app).await?;
        let Path(user_id) = Path::<UserPath>::from_request_parts(parts, app).await?;
        if caller.user_id.as_str() == user_id {
            return Ok(Self(caller.user_id.clone()));
        }
        match UserId::parse(&user_id) {
            Ok(user) if may_send(&caller) => Ok(Self(user)),
            _ => Err(Problem::unknown("user")),
        }
    }
}

impl DescribeExtractor for PathUser {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<UserPath>::describe(entry, schemas);
        entry.errors(&[404]);
    }
}

/// The template that the path names, as it is now: 404 if there is none.
pub(crate) struct FoundTemplate(pub(crate) Template);

impl FromRequestParts<Arc<App>> for FoundTemplate {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let Path(name) = Path::<TemplatePath>::from_request_parts(parts, app).await?;
        app.existing_template(&name).await.map(Self)
    }
}

impl DescribeExtractor for FoundTemplate {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<TemplatePath>::describe(entry, schemas);
        entry.errors(&[404]);
    }
}

/// A header as text; what is no UTF-8 is not there.
pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    std::str::from_utf8(headers.get(name)?.as_bytes()).ok()
}

//! Notifications, seen from outside: ask for one, follow it, take it back; decide what to get; write
//! templates; look after what could not be sent; and hear what providers and readers say.
//!
//! Trigger: HTTP. Effect: a notification is one transaction of its row, its deliveries and the answer
//! that a repeat gets; then one publish. Guarantee: a repeated call tells nobody twice; an opt-out is
//! written before it is answered, and no claim passes it; a message that is lost is said again by the
//! sweep; what is not the caller's is not found.

mod accept;
mod body;
mod callbacks;
mod dead;
pub mod docs;
mod log;
mod narrow;
mod people;
mod plan;
mod preview;
mod read;
mod shapes;
mod state;
mod templates;
mod track;
mod unsubscribe;
mod view;

use boundary::http::{Access, Api, Builder};
use boundary::{Host, Misconfigured};
use domain::accounts::Role;
use http::Method;

pub use state::State;

/// A thousand people, and words for each channel.
const BODY_CAP: usize = 1024 * 1024;

const SENDER: Access = Access::Role(Role::Notifier);

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api<State>, Misconfigured> {
    const ONE: &str = "/api/v1/notifications/{notificationId}";
    let builder = Builder::default()
        .on(Method::POST, "/api/v1/notifications", "sendNotification", SENDER, |s, r| {
            Box::pin(accept::accept(s, r))
        })
        .taking(BODY_CAP)
        .on(Method::GET, ONE, "readNotification", Access::Key, |s, r| Box::pin(read::read(s, r)))
        .on(Method::DELETE, ONE, "cancelNotification", SENDER, |s, r| Box::pin(read::cancel(s, r)));
    public(operators(people(builder))).build(host, State::on(host)?)
}

/// For people themselves, and for those who send.
fn people(builder: Builder<State>) -> Builder<State> {
    const LOG: &str = "/api/v1/users/{userId}/notifications";
    const READ: &str = "/api/v1/users/{userId}/notifications/read";
    const WANTED: &str = "/api/v1/users/{userId}/preferences";
    const WHERE: &str = "/api/v1/users/{userId}/contacts";
    const KEY: Access = Access::Key;
    builder
        .on(Method::GET, LOG, "listNotifications", KEY, |s, r| Box::pin(log::list(s, r)))
        .on(Method::POST, READ, "markNotificationsRead", KEY, |s, r| Box::pin(log::mark(s, r)))
        .on(Method::GET, WANTED, "readPreferences", KEY, |s, r| Box::pin(people::preferences(s, r)))
        .on(Method::PUT, WANTED, "savePreferences", KEY, |s, r| {
            Box::pin(people::save_preferences(s, r))
        })
        .on(Method::GET, WHERE, "readContacts", KEY, |s, r| Box::pin(people::contacts(s, r)))
        .on(Method::PUT, WHERE, "saveContacts", KEY, |s, r| Box::pin(people::save_contacts(s, r)))
}

/// For those who send.
fn operators(builder: Builder<State>) -> Builder<State> {
    const TEMPLATE: &str = "/api/v1/templates/{templateId}";
    const PREVIEW: &str = "/api/v1/templates/{templateId}/preview";
    const ACTIVATE: &str = "/api/v1/templates/{templateId}/versions/{version}/activate";
    builder
        .on(Method::PUT, TEMPLATE, "publishTemplate", SENDER, |s, r| {
            Box::pin(templates::publish(s, r))
        })
        .taking(BODY_CAP)
        .on(Method::GET, TEMPLATE, "readTemplate", SENDER, |s, r| Box::pin(templates::read(s, r)))
        .on(Method::POST, PREVIEW, "previewTemplate", SENDER, |s, r| {
            Box::pin(preview::preview(s, r))
        })
        .on(Method::POST, ACTIVATE, "activateTemplate", SENDER, |s, r| {
            Box::pin(templates::activate(s, r))
        })
        .on(Method::GET, "/api/v1/dead-letters", "listDeadLetters", SENDER, |s, r| {
            Box::pin(dead::list(s, r))
        })
        .on(Method::POST, "/api/v1/dead-letters/replay", "replayDeadLetters", SENDER, |s, r| {
            Box::pin(dead::replay(s, r))
        })
        .metered()
}

/// For whoever has a token or a signature.
fn public(builder: Builder<State>) -> Builder<State> {
    const EVENTS: &str = "/api/v1/providers/{provider}/events";
    const OPEN: Access = Access::Public;
    builder
        .on(Method::GET, "/unsubscribe", "showUnsubscribe", OPEN, |s, r| {
            Box::pin(unsubscribe::show(s, r))
        })
        .on(Method::POST, "/unsubscribe", "unsubscribe", OPEN, |s, r| {
            Box::pin(unsubscribe::end(s, r))
        })
        .on(Method::POST, EVENTS, "hearProvider", OPEN, |s, r| Box::pin(callbacks::hear(s, r)))
        .taking(BODY_CAP)
        .on(Method::GET, "/t/o/{token}", "trackOpen", OPEN, |s, r| Box::pin(track::opened(s, r)))
        .on(Method::GET, "/t/c/{token}", "trackClick", OPEN, |s, r| Box::pin(track::clicked(s, r)))
}

//! Renders what a user reads: a template, or the caller's own content, with signed links.

use std::collections::BTreeMap;

use crate::store::DeliverySnapshot;
use domain::notifications::token::TokenClaim;
use domain::notifications::{
    Address, Body, Channel, Content, Delivery, Priority, ProviderMessage, Rendering,
    SYSTEM_VARIABLES, tracking,
};
use domain::{Result, Timestamp};

use crate::deliver::State;

/// How long links in a mail work.
const LINK_SECONDS: i64 = 400 * 86_400;

/// A text that is ready to send.
#[derive(Debug)]
pub(crate) struct RenderedText {
    content: Content,
    /// What it was made from, if it was made.
    pub(crate) rendering: Option<Rendering>,
    unsubscribe: Option<String>,
}

/// Renders a delivery, or says why it can't be: sending it again would not help.
pub(crate) async fn render(
    state: &State,
    snapshot: &DeliverySnapshot,
) -> Result<Result<RenderedText, String>> {
    let (delivery, channel) = (&snapshot.delivery, snapshot.delivery.channel());
    let unsubscribe = unsubscribe(state, snapshot);
    let made = match &snapshot.notification.body {
        Body::Inline { contents } => match contents.for_channel(channel) {
            Some(content) => Ok((content, None)),
            None => Err(format!("it has no words for {}", channel.name())),
        },
        Body::Template { id, version, data } => {
            match state.notifications.template_version(id, *version).await? {
                None => Err(format!("there is no template {} v{version}", id.as_str())),
                Some(template) => {
                    let system: BTreeMap<&str, String> =
                        unsubscribe.iter().map(|url| (SYSTEM_VARIABLES[0], url.clone())).collect();
                    let wanted = snapshot.recipient.preferences.language.as_ref();
                    template
                        .render(channel, wanted, &delivery.user, data, &system)
                        .map(|made| (made.content, Some(made.rendering)))
                        .map_err(|error| error.to_string())
                }
            }
        }
    };
    Ok(made.map(|(content, rendering)| RenderedText {
        content: with_tracking(state, snapshot, content),
        rendering,
        unsubscribe: unsubscribe.filter(|_| channel == Channel::Email),
    }))
}

impl RenderedText {
    /// The message for the provider: the same for every attempt at a delivery.
    pub(crate) fn into_message(self, snapshot: &DeliverySnapshot, to: &Address) -> ProviderMessage {
        ProviderMessage {
            key: snapshot.delivery.id.key(),
            to: to.clone(),
            content: self.content,
            collapse_key: snapshot.notification.collapse_key.clone(),
            urgent: snapshot.notification.priority == Priority::Critical,
            expires_at: snapshot.notification.expires_at,
            unsubscribe: self.unsubscribe,
        }
    }
}

/// The link that unsubscribes from this category on this channel.
fn unsubscribe(state: &State, snapshot: &DeliverySnapshot) -> Option<String> {
    let claim = TokenClaim::Unsubscribe {
        user: snapshot.delivery.user.clone(),
        channel: snapshot.delivery.channel(),
        category: snapshot.notification.category.clone(),
    };
    let token = state.key_ring.as_ref()?.sign(&claim, links_expire_at(&snapshot.delivery));
    Some(format!("{}/unsubscribe?token={token}", state.public_url))
}

/// A mail with opens and clicks tracked, if its caller asked for that.
fn with_tracking(state: &State, snapshot: &DeliverySnapshot, content: Content) -> Content {
    let (Some(key_ring), true) = (&state.key_ring, snapshot.notification.tracked) else {
        return content;
    };
    let Content::Email { subject, text, html: Some(html) } = content else { return content };
    let (url, until) = (&state.public_url, links_expire_at(&snapshot.delivery));
    let delivery = || snapshot.delivery.id.clone();
    let opened = key_ring.sign(&TokenClaim::Open { delivery: delivery() }, until);
    let html = tracking::add_tracking(&html, &format!("{url}/t/o/{opened}"), |target| {
        // Links to this service are not tracked.
        if target.starts_with(url.as_str()) {
            return None;
        }
        let claim = TokenClaim::Click { delivery: delivery(), target: target.to_owned() };
        Some(format!("{url}/t/c/{}", key_ring.sign(&claim, until)))
    });
    Content::Email { subject, text, html: Some(html) }
}

/// The same for every attempt, so that a repeat is the same mail.
fn links_expire_at(delivery: &Delivery) -> Timestamp {
    let at = delivery.created_at.as_second().saturating_add(LINK_SECONDS);
    Timestamp::from_second(at).unwrap_or(Timestamp::MAX)
}

//! What a person reads: a template filled in for them, or the caller's own words; with links that only
//! they can use.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::Look;
use domain::notifications::token::Claim;
use domain::notifications::{
    Address, Body, Channel, Content, Delivery, Priority, ProviderMessage, Rendering,
    SYSTEM_VARIABLES, TemplateId, TemplateVersion, tracking,
};
use domain::{Failure, Timestamp};

use crate::deliver::State;

/// How long links in a mail work: longer than anybody should need to leave a list.
const PRESIGNED_SECONDS: i64 = 400 * 86_400;

/// Versions that are remembered; then all are forgotten, as they can be read again.
const MAX_TEMPLATES: usize = 500;

/// A text that is ready to send.
#[derive(Debug)]
pub(crate) struct Text {
    content: Content,
    /// What it was made from, if it was made.
    pub(crate) rendering: Option<Rendering>,
    unsubscribe: Option<String>,
}

/// Makes the text of a delivery, or says why there is none: sending it again would not help.
pub(crate) async fn make(state: &State, look: &Look) -> Result<Result<Text, String>, Failure> {
    let (delivery, channel) = (&look.delivery, look.delivery.channel());
    let unsubscribe = unsubscribe(state, look);
    let made = match &look.notification.body {
        Body::Inline { words } => match words.on(channel) {
            Some(content) => Ok((content, None)),
            None => Err(format!("it has no words for {}", channel.name())),
        },
        Body::Template { id, version, data } => match version_of(state, id, *version).await? {
            None => Err(format!("there is no template {} v{version}", id.as_str())),
            Some(template) => {
                let system: BTreeMap<&str, String> =
                    unsubscribe.iter().map(|url| (SYSTEM_VARIABLES[0], url.clone())).collect();
                let wanted = look.person.preferences.language.as_ref();
                template
                    .render(channel, wanted, &delivery.user, data, &system)
                    .map(|made| (made.content, Some(made.rendering)))
                    .map_err(|unfit| unfit.to_string())
            }
        },
    };
    Ok(made.map(|(content, rendering)| Text {
        content: tracked(state, look, content),
        rendering,
        unsubscribe: unsubscribe.filter(|_| channel == Channel::Email),
    }))
}

impl Text {
    /// What is handed over: the same for every attempt at a delivery.
    pub(crate) fn parcel(self, look: &Look, to: &Address) -> ProviderMessage {
        ProviderMessage {
            key: look.delivery.id.key(),
            to: to.clone(),
            content: self.content,
            collapse_key: look.notification.collapse_key.clone(),
            urgent: look.notification.priority == Priority::Critical,
            expires_at: look.notification.expires_at,
            unsubscribe: self.unsubscribe,
        }
    }
}

/// A version of a template. It never changes, so it is read once.
async fn version_of(
    state: &State,
    id: &TemplateId,
    number: u32,
) -> Result<Option<Arc<TemplateVersion>>, Failure> {
    let key = (id.clone(), number);
    let known = state.templates.lock().get(&key).cloned();
    if known.is_some() {
        return Ok(known);
    }
    let Some(found) = state.notifications.template_version(id, number).await? else {
        return Ok(None);
    };
    let found = Arc::new(found);
    let mut templates = state.templates.lock();
    if templates.len() >= MAX_TEMPLATES {
        templates.clear();
    }
    templates.insert(key, Arc::clone(&found));
    Ok(Some(found))
}

/// Where one click ends what this category says on this channel.
fn unsubscribe(state: &State, look: &Look) -> Option<String> {
    let claim = Claim::Unsubscribe {
        user: look.delivery.user.clone(),
        channel: look.delivery.channel(),
        category: look.notification.category.clone(),
    };
    let token = state.ring.as_ref()?.sign(&claim, good_until(&look.delivery));
    Some(format!("{}/unsubscribe?token={token}", state.public_url))
}

/// A mail that tells when it is opened and what is followed, if that was asked for.
fn tracked(state: &State, look: &Look, content: Content) -> Content {
    let (Some(ring), true) = (&state.ring, look.notification.tracked) else { return content };
    let Content::Email { subject, text, html: Some(html) } = content else { return content };
    let (url, until) = (&state.public_url, good_until(&look.delivery));
    let delivery = || look.delivery.id.clone();
    let opened = ring.sign(&Claim::Open { delivery: delivery() }, until);
    let html = tracking::tracked(&html, &format!("{url}/t/o/{opened}"), |target| {
        // A link of ours is no link that anybody follows out.
        if target.starts_with(url.as_str()) {
            return None;
        }
        let claim = Claim::Click { delivery: delivery(), target: target.to_owned() };
        Some(format!("{url}/t/c/{}", ring.sign(&claim, until)))
    });
    Content::Email { subject, text, html: Some(html) }
}

/// The same for every attempt, so that a repeat is the same mail.
fn good_until(delivery: &Delivery) -> Timestamp {
    let at = delivery.created_at.as_second().saturating_add(PRESIGNED_SECONDS);
    Timestamp::from_second(at).unwrap_or(Timestamp::MAX)
}

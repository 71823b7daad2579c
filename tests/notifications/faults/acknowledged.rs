//! What was acknowledged, and so must be true.

use std::collections::{BTreeMap, BTreeSet};
use tests::Result;

use domain::notifications::{Channel, Contacts, Notification, Preferences, Status};
use serde_json::Value;

use super::history::{History, before};

/// Something that was acknowledged when so many writes were done.
#[derive(Debug, Clone)]
pub(super) enum Acknowledged {
    /// Nothing of it goes out any more.
    Cancelled { id: String, at: usize },
    /// That is what the person wants.
    PreferencesSaved { user: &'static str, version: u64, body: Value, at: usize },
    /// That is where the person is.
    ContactsSaved { user: &'static str, version: u64, body: Value, at: usize },
    /// The person wants no more of what that mail was.
    Unsubscribed { delivery: String, began: usize, at: usize },
    /// A provider speaks of nothing that it was handed, as far as was known then.
    Ignored { reference: String, at: usize },
}

impl Acknowledged {
    pub(super) fn check(&self, history: &History) -> Result {
        let holds = match self {
            Self::Cancelled { id, at } => is_over(history, id, *at),
            Self::PreferencesSaved { user, version, body, at } => {
                let wanted: Preferences = serde_json::from_value(body.clone()).unwrap();
                let same = |row: &Preferences| {
                    row.version == *version
                        && row.enabled == wanted.enabled
                        && row.channels == wanted.channels
                        && row.categories == wanted.categories
                        && row.do_not_disturb == wanted.do_not_disturb
                };
                let writes = history.preferences.get(*user).into_iter().flatten();
                writes.filter(|(write, _)| write < at).any(|(_, row)| same(row))
            }
            Self::ContactsSaved { user, version, body, at } => {
                let mut wanted = body.clone();
                wanted["v"] = (*version).into();
                let wanted: Contacts = serde_json::from_value(wanted).unwrap();
                let writes = history.contacts.get(*user).into_iter().flatten();
                writes.filter(|(write, _)| write < at).any(|(_, row)| *row == wanted)
            }
            Self::Unsubscribed { delivery, began, at } => {
                is_unsubscribed(history, delivery, *began, *at)
            }
            Self::Ignored { reference, at } => !is_known(history, reference, *at),
        };
        if holds { Ok(()) } else { Err(format!("it was acknowledged and is not so: {self:?}")) }
    }
}

/// Whether each delivery has ended, or no attempt can follow the one that goes on.
fn is_over(history: &History, id: &str, at: usize) -> bool {
    let of = |key: &&String| key.starts_with(id);
    let mut keys = history.deliveries.keys().filter(of);
    keys.all(|key| {
        before(history.deliveries.get(key), at)
            .is_none_or(|row| row.status.is_final() || row.withdrawn.is_some())
    })
}

/// Whether the person wanted none of it at some moment of the call.
fn is_unsubscribed(history: &History, delivery: &str, began: usize, at: usize) -> bool {
    let first = history.deliveries.get(delivery).and_then(|writes| writes.first());
    let notification = first.and_then(|(_, row)| history.notification(row).ok());
    let Some(Notification { user, category, .. }) = notification else { return false };
    let opt_out_for = |row: &Preferences| row.opt_out_for(category, Channel::Email).is_some();
    let writes = history.preferences.get(user.as_str());
    let mut during = writes.into_iter().flatten().filter(|(write, _)| (began..at).contains(write));
    before(writes, began).is_some_and(opt_out_for) || during.any(|(_, row)| opt_out_for(row))
}

/// Whether a provider's id of a message was written down before write `at`.
fn is_known(history: &History, reference: &str, at: usize) -> bool {
    history.deliveries.values().flatten().filter(|(write, _)| *write < at).any(|(_, row)| {
        row.status == Status::Delivered && row.reference.as_deref() == Some(reference)
    })
}

/// What was asked for under one note.
#[derive(Debug, Clone)]
pub(super) struct Submitted {
    pub(super) body: Value,
    pub(super) keyed: bool,
    pub(super) ids: BTreeSet<String>,
}

/// What was accepted is there as it was asked for, once where its key says so; what was not, is not.
pub(super) fn check_asked(history: &History, submitted: &BTreeMap<String, Submitted>) -> Result {
    let mut made: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (id, notification) in &history.notifications {
        let note = notification.collapse_key.as_deref().unwrap_or_default();
        let Some(wanted) = submitted.get(note) else {
            return Err(format!("{note} was not accepted and is there: {notification:?}"));
        };
        if !is_as_asked(notification, &wanted.body) {
            return Err(format!("{} was asked for, not {notification:?}", wanted.body));
        }
        made.entry(note).or_default().insert(id.clone());
    }
    for (note, wanted) in submitted {
        let made = made.remove(note.as_str()).unwrap_or_default();
        let holds = if wanted.keyed { made == wanted.ids } else { made.is_superset(&wanted.ids) };
        if !holds {
            return Err(format!("{note} was answered with {:?} and made {made:?}", wanted.ids));
        }
    }
    Ok(())
}

fn is_as_asked(notification: &Notification, body: &Value) -> bool {
    let time = |name: &str| body[name].as_str().and_then(|at| at.parse().ok());
    notification.send_at == time("sendAt")
        && notification.expires_at == time("expiresAt")
        && body["priority"] == notification.priority.name()
        && body["category"] == notification.category.as_str()
}

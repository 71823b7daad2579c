//! Preferences and contacts of a user: read and replaced, by the user or by a caller who may send.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::SaveOutcome;
use boundary::http::{Call, IfMatch, Json, Operation, Problem, Result, State, Versioned};
use domain::accounts::UserId;
use domain::notifications::{
    Address, Category, ChangeSource, Channel, Contacts, DeviceId, DoNotDisturb, Locale,
    Preferences, TimeZoneName,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schemas::{DeviceSchema, DoNotDisturbSchema};
use super::{PathUser, withdraw};
use crate::http::state::App;

/// How often they may change meanwhile.
const TRIES: usize = 5;

/// A user's preferences. What is left out has its default.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PreferencesBody {
    /// `false`: nothing at all. `true` if left out.
    #[serde(default = "on")]
    enabled: bool,
    /// Where they are: `Europe/Madrid`; `UTC` if left out.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    time_zone: TimeZoneName,
    /// What they read: `es_MX`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    language: Option<Locale>,
    /// When they are left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DoNotDisturbSchema>")]
    do_not_disturb: Option<DoNotDisturb>,
    /// `email`, `sms` and `push`; what is not here is on.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, bool>")]
    channels: BTreeMap<Channel, bool>,
    /// By category, and for each by channel; what is not here is on. At most 200 categories.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, bool>>")]
    categories: BTreeMap<Category, BTreeMap<Channel, bool>>,
    /// At most so many a day by channel, if fewer than the default.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, u32>")]
    daily_caps: BTreeMap<Channel, u32>,
}

/// What a person wants, and what they switched.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PreferencesView {
    #[serde(flatten)]
    preferences: PreferencesBody,
    /// What was switched off or on: `what`, `channel`, `category`, `on`, `by` and `at`, oldest first.
    history: Vec<Value>,
    /// Grows with every change.
    version: u64,
}

/// Where a person is reached.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContactsBody {
    /// Their mailbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// Their telephone: `+34600123456`.
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    /// Their devices, by the names that their apps give them; at most 10.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, DeviceSchema>")]
    devices: BTreeMap<DeviceId, Address>,
}

/// Where a person is reached.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ContactsView {
    #[serde(flatten)]
    contacts: ContactsBody,
    /// Grows with every change.
    version: u64,
}

const fn on() -> bool {
    true
}

pub(super) const PREFERENCES: Operation = Operation::get(
    "/api/v1/users/{userId}/preferences",
    "readPreferences",
    "Read a user's preferences",
)
.key();

pub(super) async fn preferences(
    State(app): State<Arc<App>>,
    PathUser(user): PathUser,
) -> Result<Versioned<Json<PreferencesView>>> {
    Ok(versioned_preferences(&app.notifications.recipient(&user).await?.preferences))
}

pub(super) const SAVE_PREFERENCES: Operation = Operation::put(
    "/api/v1/users/{userId}/preferences",
    "savePreferences",
    "Replace a user's preferences",
)
.description(
    "Replaces all of it. What waits and is not wanted any more is cancelled; nothing that is \
     switched off goes out after the answer.",
)
.key()
.refuses(&[503]);

pub(super) async fn save_preferences(
    State(app): State<Arc<App>>,
    call: Call,
    PathUser(user): PathUser,
    Json(body): Json<PreferencesBody>,
    replaced: IfMatchResult,
) -> Result<Versioned<Json<PreferencesView>>> {
    let replacement = body.into_domain().validated()?;
    for _ in 0..TRIES {
        let before = app.notifications.recipient(&user).await?.preferences;
        check_version(&replaced, before.version)?;
        let after = before.updated(replacement.clone(), ChangeSource::Preferences, call.now);
        let token = app.entropy.token();
        if app.notifications.save_preferences(&user, &after, &token).await? == SaveOutcome::Saved {
            // A caller who says again what they said before may have been cut off before this.
            if after.narrows(&Preferences::default()) {
                withdraw::withdraw_unwanted(&app, &user, &call).await?;
            }
            return Ok(versioned_preferences(&after));
        }
    }
    Err(Problem::unavailable("The preferences keep changing.", 1))
}

pub(super) const CONTACTS: Operation =
    Operation::get("/api/v1/users/{userId}/contacts", "readContacts", "Read a user's contacts")
        .key();

pub(super) async fn contacts(
    State(app): State<Arc<App>>,
    PathUser(user): PathUser,
) -> Result<Versioned<Json<ContactsView>>> {
    Ok(versioned_contacts(&app.notifications.recipient(&user).await?.contacts))
}

pub(super) const SAVE_CONTACTS: Operation =
    Operation::put("/api/v1/users/{userId}/contacts", "saveContacts", "Replace a user's contacts")
        .description("Replaces all of it. What waits for an address that is gone is cancelled.")
        .key()
        .refuses(&[503]);

pub(super) async fn save_contacts(
    State(app): State<Arc<App>>,
    call: Call,
    PathUser(user): PathUser,
    Json(ContactsBody { email, phone, devices }): Json<ContactsBody>,
    replaced: IfMatchResult,
) -> Result<Versioned<Json<ContactsView>>> {
    let replacement = Contacts { email, phone, devices, version: 0 }.validated()?;
    for _ in 0..TRIES {
        let before = app.notifications.recipient(&user).await?.contacts;
        check_version(&replaced, before.version)?;
        let after = Contacts { version: before.version + 1, ..replacement.clone() };
        let token = app.entropy.token();
        if app.notifications.save_contacts(&user, &after, &token).await? == SaveOutcome::Saved {
            withdraw_from_removed(&app, &user, &before, &after, &call).await;
            return Ok(versioned_contacts(&after));
        }
    }
    Err(Problem::unavailable("The contacts keep changing.", 1))
}

/// What waits for an address that is gone waits for nothing.
async fn withdraw_from_removed(
    app: &App,
    user: &UserId,
    before: &Contacts,
    after: &Contacts,
    call: &Call,
) {
    let mut endpoints = Channel::ALL.into_iter().flat_map(|channel| before.endpoints(channel));
    if endpoints.any(|endpoint| after.address(&endpoint).is_none()) {
        // What is left ends when its time comes; what went wrong is noted.
        let _ = withdraw::withdraw_unwanted(app, user, call).await;
    }
}

/// `If-Match`, where it is sent, names the version that is replaced. It is judged only once the version that
/// stands is known: what is wrong with the body is said before.
type IfMatchResult = Result<Option<IfMatch>>;

fn check_version(replaced: &IfMatchResult, stands: u64) -> Result {
    match replaced.clone()? {
        Some(IfMatch(version)) if version != stands => Err(Problem::version_mismatch()),
        _ => Ok(()),
    }
}

fn versioned_preferences(preferences: &Preferences) -> Versioned<Json<PreferencesView>> {
    let history = preferences.history.iter();
    let view = PreferencesView {
        preferences: PreferencesBody::of(preferences),
        history: history.filter_map(|switched| serde_json::to_value(switched).ok()).collect(),
        version: preferences.version,
    };
    Versioned(preferences.version, Json(view))
}

fn versioned_contacts(contacts: &Contacts) -> Versioned<Json<ContactsView>> {
    let Contacts { email, phone, devices, version } = contacts.clone();
    let view = ContactsView { contacts: ContactsBody { email, phone, devices }, version };
    Versioned(version, Json(view))
}

impl PreferencesBody {
    fn into_domain(self) -> Preferences {
        Preferences {
            enabled: self.enabled,
            time_zone: self.time_zone,
            language: self.language,
            do_not_disturb: self.do_not_disturb,
            channels: self.channels,
            categories: self.categories,
            daily_caps: self.daily_caps,
            ..Preferences::default()
        }
    }

    fn of(preferences: &Preferences) -> Self {
        Self {
            enabled: preferences.enabled,
            time_zone: preferences.time_zone.clone(),
            language: preferences.language.clone(),
            do_not_disturb: preferences.do_not_disturb.clone(),
            channels: preferences.channels.clone(),
            categories: preferences.categories.clone(),
            daily_caps: preferences.daily_caps.clone(),
        }
    }
}

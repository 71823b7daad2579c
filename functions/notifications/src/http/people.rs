//! What a person wants, and where they are reached: read and replaced, by themselves or by who sends.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::Saved;
use boundary::http::{Call, IfMatch, Json, Operation, Problem, State, Versioned};
use domain::accounts::UserId;
use domain::notifications::{
    Address, By, Category, Channel, Contacts, DeviceId, Locale, Preferences, Quiet, Zone,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shapes::{DeviceShape, QuietShape};
use super::{Person, narrow};
use crate::http::state::App;

/// They may change under our hands so often.
const TRIES: usize = 5;

/// What a person wants. What is left out is as it is for whoever has said nothing.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PreferencesBody {
    /// `false`: nothing at all. `true` if left out.
    #[serde(default = "on")]
    enabled: bool,
    /// Where they are: `Europe/Madrid`; `UTC` if left out.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    time_zone: Zone,
    /// What they read: `es_MX`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    language: Option<Locale>,
    /// When they are left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<QuietShape>")]
    do_not_disturb: Option<Quiet>,
    /// `email`, `sms` and `push`; what is not here is on.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, bool>")]
    channels: BTreeMap<Channel, bool>,
    /// By category, and for each by channel; what is not here is on. At most 200 categories.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, bool>>")]
    categories: BTreeMap<Category, BTreeMap<Channel, bool>>,
    /// At most so many a day by channel, if fewer than anybody gets.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, u32>")]
    daily_caps: BTreeMap<Channel, u32>,
}

/// What a person wants, and what they switched.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PreferencesView {
    #[serde(flatten)]
    wanted: PreferencesBody,
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
    #[schemars(with = "BTreeMap<String, DeviceShape>")]
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
    "What does a person want?",
)
.key();

pub(super) async fn preferences(
    State(app): State<Arc<App>>,
    Person(user): Person,
) -> Result<Versioned<Json<PreferencesView>>, Problem> {
    Ok(shown(&app.notifications.person(&user).await?.preferences))
}

pub(super) const SAVE_PREFERENCES: Operation = Operation::put(
    "/api/v1/users/{userId}/preferences",
    "savePreferences",
    "Say what a person wants",
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
    Person(user): Person,
    Json(body): Json<PreferencesBody>,
    replaced: Replaced,
) -> Result<Versioned<Json<PreferencesView>>, Problem> {
    let wanted = body.wanted().checked()?;
    for _ in 0..TRIES {
        let before = app.notifications.person(&user).await?.preferences;
        check_version(&replaced, before.version)?;
        let after = before.changed(wanted.clone(), By::Preferences, call.now);
        let token = app.entropy.token();
        if app.notifications.save_preferences(&user, &after, &token).await? == Saved::Saved {
            // A caller who says again what they said before may have been cut off before this.
            if after.narrows(&Preferences::default()) {
                narrow::follow(&app, &user, &call).await?;
            }
            return Ok(shown(&after));
        }
    }
    Err(Problem::unavailable("The preferences keep changing.", 1))
}

pub(super) const CONTACTS: Operation =
    Operation::get("/api/v1/users/{userId}/contacts", "readContacts", "Where is a person reached?")
        .key();

pub(super) async fn contacts(
    State(app): State<Arc<App>>,
    Person(user): Person,
) -> Result<Versioned<Json<ContactsView>>, Problem> {
    Ok(listed(&app.notifications.person(&user).await?.contacts))
}

pub(super) const SAVE_CONTACTS: Operation = Operation::put(
    "/api/v1/users/{userId}/contacts",
    "saveContacts",
    "Say where a person is reached",
)
.description("Replaces all of it. What waits for an address that is gone is cancelled.")
.key()
.refuses(&[503]);

pub(super) async fn save_contacts(
    State(app): State<Arc<App>>,
    call: Call,
    Person(user): Person,
    Json(ContactsBody { email, phone, devices }): Json<ContactsBody>,
    replaced: Replaced,
) -> Result<Versioned<Json<ContactsView>>, Problem> {
    let wanted = Contacts { email, phone, devices, version: 0 }.checked()?;
    for _ in 0..TRIES {
        let before = app.notifications.person(&user).await?.contacts;
        check_version(&replaced, before.version)?;
        let after = Contacts { version: before.version + 1, ..wanted.clone() };
        let token = app.entropy.token();
        if app.notifications.save_contacts(&user, &after, &token).await? == Saved::Saved {
            follow_gone(&app, &user, &before, &after, &call).await;
            return Ok(listed(&after));
        }
    }
    Err(Problem::unavailable("The contacts keep changing.", 1))
}

/// What waits for an address that is gone waits for nothing.
async fn follow_gone(app: &App, user: &UserId, before: &Contacts, after: &Contacts, call: &Call) {
    let mut ways = Channel::ALL.into_iter().flat_map(|channel| before.ways(channel));
    if ways.any(|way| after.address(&way).is_none()) {
        // What is left ends when its time comes; what went wrong is noted.
        let _ = narrow::follow(app, user, call).await;
    }
}

/// `If-Match`, where it is sent, names the version that is replaced. It is judged only once the version that
/// stands is known: what is wrong with the body is said before.
type Replaced = Result<Option<IfMatch>, Problem>;

fn check_version(replaced: &Replaced, stands: u64) -> Result<(), Problem> {
    match replaced.clone()? {
        Some(IfMatch(version)) if version != stands => Err(Problem::version_mismatch()),
        _ => Ok(()),
    }
}

fn shown(preferences: &Preferences) -> Versioned<Json<PreferencesView>> {
    let history = preferences.history.iter();
    let view = PreferencesView {
        wanted: PreferencesBody::of(preferences),
        history: history.filter_map(|switched| serde_json::to_value(switched).ok()).collect(),
        version: preferences.version,
    };
    Versioned(preferences.version, Json(view))
}

fn listed(contacts: &Contacts) -> Versioned<Json<ContactsView>> {
    let Contacts { email, phone, devices, version } = contacts.clone();
    let view = ContactsView { contacts: ContactsBody { email, phone, devices }, version };
    Versioned(version, Json(view))
}

impl PreferencesBody {
    fn wanted(self) -> Preferences {
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

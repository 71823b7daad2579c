//! What people are told, what they want, and what providers do to them: all of it drawn from the seed.

use domain::Timestamp;
use domain::notifications::Class;
use serde_json::{Value, json};
use tests::scripted_providers::ScriptedOutcome;

use super::{Action, PEOPLE, PROVIDERS, World};

const CATEGORIES: [&str; 2] = ["orders", "news"];
const CHANNELS: [&str; 3] = ["email", "sms", "push"];

pub(super) fn template() -> Value {
    json!({
        "defaultLocale": "en",
        "required": ["name"],
        "texts": { "en": {
            "email": { "subject": "Hello {{ name }}", "text": "Dear {{ name }}" },
            "sms": { "text": "Hello {{ name }}" },
            "push": { "title": "Hello", "body": "Hello {{ name }}" },
        } },
    })
}

/// Contacts, with every endpoint or without one; the same place may have several addresses over time.
pub(super) fn contacts(user: &str, variant: usize) -> Value {
    let number = user.bytes().map(usize::from).sum::<usize>();
    let mut contacts = json!({
        "email": format!("{user}{variant}@example.com"),
        "phone": format!("+1555{number:05}{variant:02}"),
        "devices": { "phone": { "kind": "fcm", "token": format!("token-{user}-{variant}") } },
    });
    match variant {
        1 => contacts["devices"] = json!({}),
        2 | 3 => {
            let gone = ["email", "phone"][variant - 2];
            contacts.as_object_mut().and_then(|contacts| contacts.remove(gone));
        }
        _ => {}
    }
    contacts
}

impl World {
    fn person(&mut self) -> &'static str {
        PEOPLE[self.random.index(3)]
    }

    fn in_seconds(&self, seconds: u64) -> String {
        let ms = self.harness.lab.cloud.now_ms() + i64::try_from(seconds).unwrap_or(0) * 1_000;
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX).to_string()
    }

    /// A notification for one user or for several.
    pub(super) fn send(&mut self) -> Action {
        self.action += 1;
        let note = format!("note-{}", self.action);
        let category = CATEGORIES[self.random.index(2)];
        let priority = ["critical", "normal", "normal", "low"][self.random.index(4)];
        let mut body = json!({ "category": category, "priority": priority, "collapseKey": note });
        match self.random.below(4) {
            0 => body["userIds"] = json!(PEOPLE),
            1 => body["userIds"] = json!([PEOPLE[0], PEOPLE[2]]),
            _ => body["userId"] = json!(self.person()),
        }
        if self.random.below(2) == 0 {
            body["template"] = json!({ "id": "order" });
            body["data"] = json!({ "name": note });
        } else {
            body["content"] = json!({
                "email": { "subject": note, "text": note }, "sms": { "text": note },
                "push": { "title": note, "body": note },
            });
        }
        match self.random.below(5) {
            0 => body["channels"] = json!([CHANNELS[self.random.index(3)]]),
            1 => body["channels"] = json!(["email", "sms"]),
            _ => {}
        }
        let wait = [0, 0, 0, 0, 0, 0, 10, 10, 100, 100, 100, 960][self.random.index(12)];
        if wait > 0 {
            body["sendAt"] = json!(self.in_seconds(wait));
        }
        if self.low_caps || self.random.below(3) == 0 {
            let use_seconds = wait + 150 + self.random.below(300);
            body["expiresAt"] = json!(self.in_seconds(use_seconds));
        }
        let key = format!("key-{}", self.action);
        match self.random.below(4) {
            0 => Action::Send { key: None, note, body },
            1 => {
                body["idempotencyKey"] = json!(key);
                Action::Send { key: None, note, body }
            }
            _ => Action::Send { key: Some(key), note, body },
        }
    }

    /// The same key and body again are the same notifications.
    pub(super) fn send_again(&mut self) -> Action {
        let index = self.random.index(self.once.len());
        match self.once.iter().nth(index) {
            Some((key, (note, body))) => {
                Action::Send { key: Some(key.clone()), note: note.clone(), body: body.clone() }
            }
            None => self.send(),
        }
    }

    /// A key that stands for something else, or a body that is none.
    pub(super) fn send_invalid(&mut self) -> Action {
        let mut body = json!({
            "userIds": PEOPLE, "category": "orders", "collapseKey": "wrong",
            "content": { "email": { "subject": "wrong", "text": "wrong" } },
        });
        let index = self.random.index(self.once.len());
        let key = self.once.keys().nth(index).cloned();
        if key.is_none() || self.random.below(3) == 0 {
            body["expiresAt"] = json!("2026-01-01T00:00:00Z");
            self.action += 1;
            return Action::SendInvalid { key: Some(format!("wrong-{}", self.action)), body };
        }
        if self.random.below(2) == 0 {
            body["userIds"] = json!([PEOPLE[1]]);
        }
        Action::SendInvalid { key, body }
    }

    pub(super) fn cancel(&mut self) -> Action {
        // What was told last is the likeliest to be on its way.
        let recent = self.accepted_ids.len().min(4);
        let index = self.accepted_ids.len() - recent + self.random.index(recent);
        match self.accepted_ids.get(index).cloned() {
            Some(id) => Action::Cancel(id),
            None => self.send(),
        }
    }

    pub(super) fn save_preferences(&mut self) -> Action {
        let user = self.person();
        let (category, channel) =
            (CATEGORIES[self.random.index(2)], CHANNELS[self.random.index(3)]);
        let mut body = match self.random.below(8) {
            0 => json!({ "enabled": false }),
            1 => json!({ "channels": { channel: false } }),
            2 => json!({ "categories": { category: { channel: false } } }),
            3..6 => self.quiet(),
            _ => json!({}),
        };
        if self.low_caps {
            body["dailyCaps"] = json!({ "sms": 1, "email": 2 });
        }
        Action::SavePreferences { user, body }
    }

    /// Left alone for some minutes, from now or soon.
    fn quiet(&mut self) -> Value {
        let (zone, ahead) = [("UTC", 0), ("Asia/Kolkata", 330)][self.random.index(2)];
        let minute = self.harness.lab.cloud.now_ms() / 60_000 + ahead;
        let start = minute + i64::try_from(self.random.below(3)).unwrap_or(0) - 1;
        let end = minute + 3 + i64::try_from(self.random.below(5)).unwrap_or(0);
        let clock = |minute: i64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
        let window = json!({ "start": clock(start), "end": clock(end) });
        json!({ "timeZone": zone, "doNotDisturb": window })
    }

    /// A user opts out: by the link in a mail if there is one, or by their preferences.
    pub(super) fn opt_out(&mut self) -> Action {
        let recorded = self.harness.providers.sends();
        let mails: Vec<_> =
            recorded.iter().filter(|one| one.message.unsubscribe.is_some()).collect();
        let index = self.random.index(mails.len());
        if let Some(mail) = mails.get(index).filter(|_| self.random.below(3) > 0) {
            let link = mail.message.unsubscribe.clone().unwrap_or_default();
            return Action::Unsubscribe { link, delivery: mail.message.key.clone() };
        }
        let (user, channel) = (self.person(), CHANNELS[self.random.index(3)]);
        Action::SavePreferences { user, body: json!({ "channels": { channel: false } }) }
    }

    pub(super) fn save_contacts(&mut self) -> Action {
        let user = self.person();
        Action::SaveContacts { user, body: contacts(user, self.random.index(6)) }
    }

    /// A provider says what became of a message that it took.
    pub(super) fn provider_event(&mut self) -> Action {
        let recorded = self.harness.providers.sends();
        let came: Vec<_> = recorded.iter().filter(|one| one.delivered()).collect();
        let index = self.random.index(came.len());
        let Some(one) = came.get(index) else { return Action::Deliver };
        let key = &one.message.key;
        let reference =
            if self.random.below(2) == 0 { key.clone() } else { format!("{}:{key}", one.provider) };
        let mut event = json!({ "reference": reference, "at": self.in_seconds(0) });
        match self.random.below(6) {
            0 => event["kind"] = json!("complained"),
            1 | 2 => {
                event["kind"] = json!("bounced");
                event["hard"] = json!(self.random.below(2) == 0);
            }
            _ => event["kind"] = json!("delivered"),
        }
        Action::ProviderEvent { provider: one.provider, event }
    }

    /// Dead letters are sent again; now and then by a replay that was made before.
    pub(super) fn replay(&mut self) -> Action {
        let name = format!("replay-{}", self.random.below(2));
        match self.random.below(3) {
            0 => Action::Replay(json!({ "name": name, "channel": CHANNELS[self.random.index(3)] })),
            1 => Action::Replay(json!({ "name": name, "dryRun": true })),
            _ => Action::Replay(json!({ "name": name })),
        }
    }

    /// A provider treats the next messages badly.
    pub(super) fn fail_provider(&mut self) {
        let provider = PROVIDERS[self.random.index(4)];
        let act = match self.random.below(6) {
            0 => {
                ScriptedOutcome::Refuse { class: Class::RateLimited, retry_after_seconds: Some(90) }
            }
            1 => ScriptedOutcome::refuse(Class::InvalidRecipient),
            2 => ScriptedOutcome::refuse(Class::OptedOut),
            3 => ScriptedOutcome::AcceptThenDisconnect,
            _ => ScriptedOutcome::refuse(Class::Outage),
        };
        let times = [1, 14, 14][self.random.index(3)];
        self.harness.providers.script_next(provider, vec![act; times]);
    }
}

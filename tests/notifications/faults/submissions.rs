//! What people are told, what they want, and what providers do to them: all of it drawn from the dice.

use domain::Timestamp;
use domain::notifications::Class;
use serde_json::{Value, json};
use tests::scripted_providers::ScriptedOutcome;

use super::{PEOPLE, PROVIDERS, Wish, World};

const CATEGORIES: [&str; 2] = ["orders", "news"];
const CHANNELS: [&str; 3] = ["email", "sms", "push"];

/// A text for every channel.
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

/// Where somebody is: everywhere, or not; the same place may have several addresses over time.
pub(super) fn contacts(user: &str, lot: usize) -> Value {
    let number = user.bytes().map(usize::from).sum::<usize>();
    let mut contacts = json!({
        "email": format!("{user}{lot}@example.com"),
        "phone": format!("+1555{number:05}{lot:02}"),
        "devices": { "phone": { "kind": "fcm", "token": format!("token-{user}-{lot}") } },
    });
    match lot {
        1 => contacts["devices"] = json!({}),
        2 | 3 => {
            let gone = ["email", "phone"][lot - 2];
            contacts.as_object_mut().and_then(|contacts| contacts.remove(gone));
        }
        _ => {}
    }
    contacts
}

impl World {
    fn person(&mut self) -> &'static str {
        PEOPLE[self.below(3)]
    }

    fn in_seconds(&self, seconds: u64) -> String {
        let ms = self.watch.lab.cloud.now_ms() + i64::try_from(seconds).unwrap_or(0) * 1_000;
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX).to_string()
    }

    /// Somebody is to be told something, or several are.
    pub(super) fn tell(&mut self) -> Wish {
        self.wish += 1;
        let note = format!("note-{}", self.wish);
        let category = CATEGORIES[self.below(2)];
        let priority = ["critical", "normal", "normal", "low"][self.below(4)];
        let mut body = json!({ "category": category, "priority": priority, "collapseKey": note });
        match self.dice.below(4) {
            0 => body["userIds"] = json!(PEOPLE),
            1 => body["userIds"] = json!([PEOPLE[0], PEOPLE[2]]),
            _ => body["userId"] = json!(self.person()),
        }
        if self.dice.below(2) == 0 {
            body["template"] = json!({ "id": "order" });
            body["data"] = json!({ "name": note });
        } else {
            body["content"] = json!({
                "email": { "subject": note, "text": note }, "sms": { "text": note },
                "push": { "title": note, "body": note },
            });
        }
        match self.dice.below(5) {
            0 => body["channels"] = json!([CHANNELS[self.below(3)]]),
            1 => body["channels"] = json!(["email", "sms"]),
            _ => {}
        }
        let wait = [0, 0, 0, 0, 0, 0, 10, 10, 100, 100, 100, 960][self.below(12)];
        if wait > 0 {
            body["sendAt"] = json!(self.in_seconds(wait));
        }
        if self.sparing || self.dice.below(3) == 0 {
            let use_seconds = wait + 150 + self.dice.below(300);
            body["expiresAt"] = json!(self.in_seconds(use_seconds));
        }
        let key = format!("key-{}", self.wish);
        match self.dice.below(4) {
            0 => Wish::Tell { key: None, note, body },
            1 => {
                body["idempotencyKey"] = json!(key);
                Wish::Tell { key: None, note, body }
            }
            _ => Wish::Tell { key: Some(key), note, body },
        }
    }

    /// The same key and body again are the same notifications.
    pub(super) fn tell_again(&mut self) -> Wish {
        let index = self.below(self.once.len());
        match self.once.iter().nth(index) {
            Some((key, (note, body))) => {
                Wish::Tell { key: Some(key.clone()), note: note.clone(), body: body.clone() }
            }
            None => self.tell(),
        }
    }

    /// A key that stands for something else, or a body that is none.
    pub(super) fn tell_wrongly(&mut self) -> Wish {
        let mut body = json!({
            "userIds": PEOPLE, "category": "orders", "collapseKey": "wrong",
            "content": { "email": { "subject": "wrong", "text": "wrong" } },
        });
        let index = self.below(self.once.len());
        let key = self.once.keys().nth(index).cloned();
        if key.is_none() || self.dice.below(3) == 0 {
            body["expiresAt"] = json!("2026-01-01T00:00:00Z");
            self.wish += 1;
            return Wish::TellWrongly { key: Some(format!("wrong-{}", self.wish)), body };
        }
        if self.dice.below(2) == 0 {
            body["userIds"] = json!([PEOPLE[1]]);
        }
        Wish::TellWrongly { key, body }
    }

    pub(super) fn cancel(&mut self) -> Wish {
        // What was told last is the likeliest to be on its way.
        let recent = self.told.len().min(4);
        let index = self.told.len() - recent + self.below(recent);
        match self.told.get(index).cloned() {
            Some(id) => Wish::Cancel(id),
            None => self.tell(),
        }
    }

    /// Somebody wants something else.
    pub(super) fn prefer(&mut self) -> Wish {
        let user = self.person();
        let (category, channel) = (CATEGORIES[self.below(2)], CHANNELS[self.below(3)]);
        let mut body = match self.dice.below(8) {
            0 => json!({ "enabled": false }),
            1 => json!({ "channels": { channel: false } }),
            2 => json!({ "categories": { category: { channel: false } } }),
            3..6 => self.quiet(),
            _ => json!({}),
        };
        if self.sparing {
            body["dailyCaps"] = json!({ "sms": 1, "email": 2 });
        }
        Wish::Prefer { user, body }
    }

    /// Left alone for some minutes, from now or soon.
    fn quiet(&mut self) -> Value {
        let (zone, ahead) = [("UTC", 0), ("Asia/Kolkata", 330)][self.below(2)];
        let minute = self.watch.lab.cloud.now_ms() / 60_000 + ahead;
        let start = minute + i64::try_from(self.dice.below(3)).unwrap_or(0) - 1;
        let end = minute + 3 + i64::try_from(self.dice.below(5)).unwrap_or(0);
        let clock = |minute: i64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
        let window = json!({ "start": clock(start), "end": clock(end) });
        json!({ "timeZone": zone, "doNotDisturb": window })
    }

    /// Somebody wants less: by the link in a mail if there is one, or by their preferences.
    pub(super) fn opt_out(&mut self) -> Wish {
        let handed = self.watch.providers.sends();
        let mails: Vec<_> = handed.iter().filter(|one| one.message.unsubscribe.is_some()).collect();
        let index = self.below(mails.len());
        if let Some(mail) = mails.get(index).filter(|_| self.dice.below(3) > 0) {
            let link = mail.message.unsubscribe.clone().unwrap_or_default();
            return Wish::Unsubscribe { link, delivery: mail.message.key.clone() };
        }
        let (user, channel) = (self.person(), CHANNELS[self.below(3)]);
        Wish::Prefer { user, body: json!({ "channels": { channel: false } }) }
    }

    pub(super) fn reach(&mut self) -> Wish {
        let user = self.person();
        Wish::Reach { user, body: contacts(user, self.below(6)) }
    }

    /// A provider says what became of a parcel that it took.
    pub(super) fn call_back(&mut self) -> Wish {
        let handed = self.watch.providers.sends();
        let came: Vec<_> = handed.iter().filter(|one| one.delivered()).collect();
        let index = self.below(came.len());
        let Some(one) = came.get(index) else { return Wish::Deliver };
        let key = &one.message.key;
        let reference =
            if self.dice.below(2) == 0 { key.clone() } else { format!("{}:{key}", one.provider) };
        let mut event = json!({ "reference": reference, "at": self.in_seconds(0) });
        match self.dice.below(6) {
            0 => event["kind"] = json!("complained"),
            1 | 2 => {
                event["kind"] = json!("bounced");
                event["hard"] = json!(self.dice.below(2) == 0);
            }
            _ => event["kind"] = json!("delivered"),
        }
        Wish::CallBack { provider: one.provider, event }
    }

    /// Dead letters are sent again; now and then by a replay that was made before.
    pub(super) fn replay(&mut self) -> Wish {
        let name = format!("replay-{}", self.dice.below(2));
        match self.dice.below(3) {
            0 => Wish::Replay(json!({ "name": name, "channel": CHANNELS[self.below(3)] })),
            1 => Wish::Replay(json!({ "name": name, "dryRun": true })),
            _ => Wish::Replay(json!({ "name": name })),
        }
    }

    /// A provider treats the next parcels badly.
    pub(super) fn trouble(&mut self) {
        let provider = PROVIDERS[self.below(4)];
        let act = match self.dice.below(6) {
            0 => {
                ScriptedOutcome::Refuse { class: Class::RateLimited, retry_after_seconds: Some(90) }
            }
            1 => ScriptedOutcome::refuse(Class::InvalidRecipient),
            2 => ScriptedOutcome::refuse(Class::OptedOut),
            3 => ScriptedOutcome::AcceptThenDisconnect,
            _ => ScriptedOutcome::refuse(Class::Outage),
        };
        let times = [1, 14, 14][self.below(3)];
        self.watch.providers.script_next(provider, vec![act; times]);
    }
}

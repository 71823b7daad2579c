//! Recipients: their preferences, their contacts, and up to where they have read.
//!
//! Each of the first two is replaced by its next version, together with the stamp that says which
//! versions there are: claims check that, and so no claim passes a change.

use aws_sdk_dynamodb::types::Update;
use domain::accounts::UserId;
use domain::notifications::{
    Address, Category, ChangeSource, Channel, Contacts, DeviceId, OptOut, Preferences,
};
use domain::{Failure, Result, Timestamp};
use serde::Serialize;

use super::{Notifications, rows};
use store::ignore_lost_condition;
use store::row::{Item, ItemReader, instant, key, number};
use store::schema::SK;
use store::transaction::{Transacted, transact, update};

/// How often a recipient may change meanwhile.
const TRIES: usize = 8;

/// What a person wants, and where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recipient {
    pub preferences: Preferences,
    pub contacts: Contacts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveOutcome {
    Saved,
    /// It has changed since it was read; read it again.
    Conflict,
}

/// What came of taking a device away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DropOutcome {
    /// It is gone; these are the contacts.
    Dropped(Contacts),
    /// It was gone already, or is at another address by now.
    Kept,
}

impl Recipient {
    /// Reads the recipient from some of their rows; what was never saved is at version 0.
    pub(super) fn read(items: &[Item]) -> Result<Self> {
        let at = |sk: &str| items.iter().find(|item| ItemReader(item).maybe_text(SK) == Some(sk));
        Ok(Self {
            preferences: at(rows::PREFERENCES)
                .map(rows::from_item)
                .transpose()?
                .unwrap_or_default(),
            contacts: at(rows::CONTACTS).map(rows::from_item).transpose()?.unwrap_or_default(),
        })
    }
}

impl Notifications {
    /// Reads a person, up to date.
    pub async fn recipient(&self, user: &UserId) -> Result<Recipient> {
        let condition = "pk = :pk AND sk BETWEEN :contacts AND :preferences";
        let values = [
            (":pk", rows::user_pk(user)),
            (":contacts", rows::CONTACTS.to_owned()),
            (":preferences", rows::PREFERENCES.to_owned()),
        ];
        Recipient::read(&self.query_all("read the person", condition, values).await?)
    }

    /// Replaces the version before `after` by it.
    pub async fn save_preferences(
        &self,
        user: &UserId,
        after: &Preferences,
        token: &str,
    ) -> Result<SaveOutcome> {
        self.save(user, rows::PREFERENCES, after, after.version, token).await
    }

    /// Replaces the version before `after` by it.
    pub async fn save_contacts(
        &self,
        user: &UserId,
        after: &Contacts,
        token: &str,
    ) -> Result<SaveOutcome> {
        self.save(user, rows::CONTACTS, after, after.version, token).await
    }

    /// Switches a category off on a channel, unless it is off already.
    pub async fn opt_out(
        &self,
        user: &UserId,
        (category, channel): (&Category, Channel),
        source: ChangeSource,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result {
        let change = |before: &Preferences| {
            before.opt_out_for(category, channel).is_none().then(|| {
                let mut wanted = before.clone();
                wanted.switch_off(&OptOut::Category { category: category.clone(), channel });
                before.updated(wanted, source, now)
            })
        };
        self.change_preferences(user, change, token).await.map(|_| ())
    }

    /// Changes a user's current preferences, and returns them before and after;
    /// `None` if `change` finds nothing to change. `token` makes a new name for each write.
    pub async fn change_preferences(
        &self,
        user: &UserId,
        change: impl Fn(&Preferences) -> Option<Preferences>,
        token: impl Fn() -> String,
    ) -> Result<Option<(Preferences, Preferences)>> {
        for _ in 0..TRIES {
            let before = self.recipient(user).await?.preferences;
            let Some(after) = change(&before) else { return Ok(None) };
            if self.save_preferences(user, &after, &token()).await? == SaveOutcome::Saved {
                return Ok(Some((before, after)));
            }
        }
        Err(Failure::new("change the preferences", "they keep changing"))
    }

    /// Takes a device whose address is dead out of a person's contacts, unless it has another by now.
    pub async fn remove_device(
        &self,
        user: &UserId,
        device: &DeviceId,
        dead: &Address,
        token: impl Fn() -> String,
    ) -> Result<DropOutcome> {
        for _ in 0..TRIES {
            let mut contacts = self.recipient(user).await?.contacts;
            if contacts.devices.get(device) != Some(dead) {
                return Ok(DropOutcome::Kept);
            }
            contacts.devices.remove(device);
            contacts.version += 1;
            if self.save_contacts(user, &contacts, &token()).await? == SaveOutcome::Saved {
                return Ok(DropOutcome::Dropped(contacts));
            }
        }
        Err(Failure::new("drop the device", "the contacts keep changing"))
    }

    /// Up to where a person has read, if they have.
    pub async fn read_until(&self, user: &UserId) -> Result<Option<Timestamp>> {
        let found = self.get(key(&rows::user_pk(user), rows::READ), "read the watermark").await?;
        Ok(found.as_ref().and_then(|item| ItemReader(item).maybe_instant("read_until")))
    }

    /// Notes up to where a person has read. It only moves on; repeating it changes nothing.
    pub async fn mark_read(&self, user: &UserId, until: Timestamp) -> Result {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&rows::user_pk(user), rows::READ)))
            .update_expression("SET read_until = :until")
            .condition_expression("attribute_not_exists(read_until) OR read_until < :until")
            .expression_attribute_values(":until", instant(until))
            .send()
            .await;
        ignore_lost_condition("note what was read", sent)
    }

    async fn save(
        &self,
        user: &UserId,
        what: &'static str,
        after: &impl Serialize,
        version: u64,
        token: &str,
    ) -> Result<SaveOutcome> {
        const ACTION: &str = "save what the person wants";
        let pk = rows::user_pk(user);
        let row = rows::to_keyed_item(&pk, what, after)?;
        let stamp = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&pk, rows::STAMP)))
            .update_expression(format!("SET {what} = :version"))
            .expression_attribute_values(":version", number(version))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let before = version.saturating_sub(1);
        let items = vec![self.next_row(row, before, ACTION)?, update(stamp)];
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => SaveOutcome::Saved,
            Transacted::Refused(_) => SaveOutcome::Conflict,
        })
    }
}

//! Where a person is reached: a mailbox, a telephone, and devices.

mod check;
mod standing;

pub use standing::{Standing, Suppression};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Address, Category, Channel, DeviceId, Preferences, Rejected, Way};

/// Where a person is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Contacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    pub devices: BTreeMap<DeviceId, Address>,
    /// Grows with every change; 0 for whoever has said nothing.
    #[serde(rename = "v")]
    pub version: u64,
}

impl Contacts {
    /// Devices at most.
    pub const MAX_DEVICES: usize = 10;

    /// Checks every address, and writes each one way.
    pub fn checked(self) -> Result<Self, Rejected> {
        if self.devices.len() > Self::MAX_DEVICES {
            return Err(Rejected::field("devices", "at most 10"));
        }
        for (id, address) in &self.devices {
            DeviceId::parse(id.as_str())?;
            if address.channel() != Channel::Push {
                return Err(Rejected::field("devices", "webpush, fcm, apns or webhook"));
            }
            check::device(address)?;
        }
        Ok(Self {
            email: self.email.as_deref().map(check::mailbox).transpose()?,
            phone: self.phone.as_deref().map(check::phone).transpose()?,
            ..self
        })
    }

    /// The address at the end of a way, if there is one.
    pub fn address(&self, way: &Way) -> Option<Address> {
        match way {
            Way::Email => {
                self.email.as_ref().map(|address| Address::Email { address: address.clone() })
            }
            Way::Sms => self.phone.as_ref().map(|number| Address::Phone { number: number.clone() }),
            Way::Push(device) => self.devices.get(device).cloned(),
        }
    }

    /// The ways that there are on a channel.
    pub fn ways(&self, channel: Channel) -> Vec<Way> {
        match channel {
            Channel::Email => self.email.iter().map(|_| Way::Email).collect(),
            Channel::Sms => self.phone.iter().map(|_| Way::Sms).collect(),
            Channel::Push => self.devices.keys().cloned().map(Way::Push).collect(),
        }
    }

    /// The ways that `category` takes: those on the channels that the caller names, or, if none is
    /// named, on all that the person has not switched off for it. What is named and switched off is
    /// taken none the less, so that it ends as suppressed and its caller can read why.
    pub fn ways_for(
        &self,
        named: &[Channel],
        category: &Category,
        preferences: &Preferences,
    ) -> Vec<Way> {
        let wanted = |channel: &Channel| match named {
            [] => preferences.against(category, *channel).is_none(),
            named => named.contains(channel),
        };
        Channel::ALL.into_iter().filter(wanted).flat_map(|channel| self.ways(channel)).collect()
    }
}

#[cfg(test)]
mod tests;

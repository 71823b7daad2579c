//! Where a person is reached: a mailbox, a telephone, and devices.

mod check;
mod suppression;

pub use suppression::{AddressState, Suppression};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Address, Category, Channel, DeviceId, Endpoint, Preferences, Rejected};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Contacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    pub devices: BTreeMap<DeviceId, Address>,
    /// Grows with every change; 0 if none was ever saved.
    #[serde(rename = "v")]
    pub version: u64,
}

impl Contacts {
    pub const MAX_DEVICES: usize = 10;

    /// Checks every address, and normalizes it.
    pub fn validated(self) -> Result<Self, Rejected> {
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

    /// The address of an endpoint, if there is one.
    pub fn address(&self, endpoint: &Endpoint) -> Option<Address> {
        match endpoint {
            Endpoint::Email => {
                self.email.as_ref().map(|address| Address::Email { address: address.clone() })
            }
            Endpoint::Sms => {
                self.phone.as_ref().map(|number| Address::Phone { number: number.clone() })
            }
            Endpoint::Push(device) => self.devices.get(device).cloned(),
        }
    }

    /// The endpoints on a channel.
    pub fn endpoints(&self, channel: Channel) -> Vec<Endpoint> {
        match channel {
            Channel::Email => self.email.iter().map(|_| Endpoint::Email).collect(),
            Channel::Sms => self.phone.iter().map(|_| Endpoint::Sms).collect(),
            Channel::Push => self.devices.keys().cloned().map(Endpoint::Push).collect(),
        }
    }

    /// The endpoints for `category`: those on the channels that the caller names, or, if none is named,
    /// on all that the user has not switched off for it. What is named and switched off is included, so
    /// that it ends as suppressed and its caller can read why.
    pub fn endpoints_for(
        &self,
        named: &[Channel],
        category: &Category,
        preferences: &Preferences,
    ) -> Vec<Endpoint> {
        let wanted = |channel: &Channel| match named {
            [] => preferences.opt_out_for(category, *channel).is_none(),
            named => named.contains(channel),
        };
        Channel::ALL
            .into_iter()
            .filter(wanted)
            .flat_map(|channel| self.endpoints(channel))
            .collect()
    }
}

#[cfg(test)]
mod tests;

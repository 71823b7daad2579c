//! The providers that deliver notifications: mail, text messages, push, webhooks.
//!
//! A [`Provider`] is given a [`ProviderMessage`] and says what became of it. Guarantee: it says
//! [`SendOutcome::Refused`] only if the provider's server certainly does not have the message, and
//! [`SendOutcome::Unknown`] whenever it may; nothing is tried a second time once it can have arrived.
//! What a response means is a table without a network in each provider's `classify`. Time is bounded,
//! responses are bounded, connections are kept where that pays and move only while a send waits for
//! them. Absent: the environment, clocks other than timers, logs; and in reasons and debug output,
//! addresses, tokens, contents and secrets.

mod apns;
mod aws;
mod deadline;
mod fcm;
mod from_settings;
mod ids;
mod jwt_signer;
mod mail;
mod outcome;
mod redact;
mod ses;
pub mod settings;
mod sms;
mod smtp;
#[cfg(test)]
mod tests;
mod web_push;
mod webhook;

use async_trait::async_trait;
use domain::Timestamp;
use domain::notifications::{Address, ProviderMessage, SendOutcome};

pub use apns::Apns;
pub use fcm::Fcm;
pub use from_settings::{ProviderClients, from_settings};
pub use ses::Ses;
pub use settings::{InvalidSettings, ProviderSettings};
pub use sms::Sms;
pub use smtp::Smtp;
pub use web_push::WebPush;
pub use webhook::Webhook;

#[async_trait]
pub trait Provider: Send + Sync {
    /// Its name in the store, in metrics and in configuration.
    fn name(&self) -> &'static str;

    /// Whether it delivers to such an address.
    fn supports(&self, address: &Address) -> bool;

    /// The time is for signatures, and for how long the message is of use.
    async fn send(&self, message: &ProviderMessage, now: Timestamp) -> SendOutcome;
}

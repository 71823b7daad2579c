//! Whoever carries a notification the last mile: mail, text messages, push, webhooks.
//!
//! A [`Provider`] is given a [`ProviderMessage`] and says what became of it. Guarantee: it says
//! [`SendOutcome::Refused`] only if the other side certainly does not have the parcel, and
//! [`SendOutcome::Unknown`] whenever it may; nothing is tried a second time once it can have arrived.
//! What an answer means is a table without a network in each provider's `classify`. Time is bounded,
//! answers are bounded, connections are kept where that pays and move only while somebody waits for
//! them. Absent: the environment, clocks other than timers, logs; and in whatever is said or shown
//! for debugging, addresses, tokens, contents and secrets.

mod apns;
mod aws;
mod budget;
mod classified;
mod derived;
mod fcm;
mod jwt;
mod mail;
mod said;
mod ses;
pub mod settings;
mod sms;
mod smtp;
#[cfg(test)]
mod tests;
mod web_push;
mod webhook;
mod wired;

use async_trait::async_trait;
use domain::Timestamp;
use domain::notifications::{Address, ProviderMessage, SendOutcome};

pub use apns::Apns;
pub use fcm::Fcm;
pub use ses::Ses;
pub use settings::{Misconfigured, Settings};
pub use sms::Sms;
pub use smtp::Smtp;
pub use web_push::WebPush;
pub use webhook::Webhook;
pub use wired::{Ways, wired};

/// Somebody who takes parcels.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Its name in the store, in metrics and in configuration.
    fn name(&self) -> &'static str;

    /// Whether it delivers to such an address.
    fn takes(&self, address: &Address) -> bool;

    /// Whether a second copy of a parcel does no harm: whoever gets it can tell by the parcel's key,
    /// or sees one take the place of the other.
    fn recognises_repeats(&self) -> bool;

    /// Hands a parcel over. The time is for signatures, and for how long the parcel is of use.
    async fn send(&self, parcel: &ProviderMessage, now: Timestamp) -> SendOutcome;
}

//! Whether anything may go to an address.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::notifications::{Address, SuppressionReason};
use crate::{Timestamp, hex};

/// An address that gets nothing any more, for any user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    #[serde(rename = "because")]
    pub reason: SuppressionReason,
    pub at: Timestamp,
}

impl Suppression {
    /// A hash of the address, under which the suppression is stored.
    pub fn key(address: &Address) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| hash.update(text.as_bytes());
        match address {
            Address::Email { address } => {
                part("email:");
                part(&address.to_lowercase());
            }
            Address::Phone { number } => {
                part("phone:");
                part(number);
            }
            Address::WebPush { endpoint, .. } => {
                part("webpush:");
                part(endpoint);
            }
            Address::Fcm { token } => {
                part("fcm:");
                part(token);
            }
            Address::Apns { token } => {
                part("apns:");
                part(&token.to_lowercase());
            }
            Address::Webhook { url } => {
                part("webhook:");
                part(url);
            }
        }
        hex(&hash.finalize())
    }
}

/// The state of the address that a delivery goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressState {
    Usable,
    /// The person has it no more.
    Gone,
    Suppressed(SuppressionReason),
}

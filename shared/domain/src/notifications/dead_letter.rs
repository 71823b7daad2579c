//! Dead letters: what could not be sent, why, and what can be done about it.

use serde::{Deserialize, Serialize};

use super::{
    Attempt, Category, Channel, Class, Delivery, DeliveryId, Endpoint, Notification, Priority,
    Reason, Status, SuppressionReason,
};
use crate::Timestamp;
use crate::accounts::UserId;

/// What can be done about a kind of no. What names an address is done by the product itself, the rest
/// by people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// Take the device out of the person's contacts: its token is dead.
    DropDevice,
    /// Send nothing to the address any more.
    SuppressAddress(SuppressionReason),
    FixContent,
    SlowDown,
    /// Wait until the provider works, then replay.
    WaitAndReplay,
    #[serde(rename = "look")]
    ReadReason,
}

impl Remedy {
    /// What can be done about `class` on a way.
    pub const fn for_class(class: Class, endpoint: &Endpoint) -> Self {
        match (class, endpoint) {
            (Class::InvalidRecipient, Endpoint::Push(_)) => Self::DropDevice,
            (Class::InvalidRecipient, Endpoint::Email | Endpoint::Sms) => {
                Self::SuppressAddress(SuppressionReason::Refused)
            }
            (Class::OptedOut, _) => Self::SuppressAddress(SuppressionReason::Complained),
            (Class::Content, _) => Self::FixContent,
            (Class::RateLimited, _) => Self::SlowDown,
            (Class::Outage, _) => Self::WaitAndReplay,
            (Class::Unrecognised, _) => Self::ReadReason,
        }
    }

    pub const fn advice(self) -> &'static str {
        match self {
            Self::DropDevice => "the device was taken out of the person's contacts",
            Self::SuppressAddress(_) => "nothing goes to this address any more",
            Self::FixContent => "write another text, and send that",
            Self::SlowDown => "lower the provider's rate, then replay",
            Self::WaitAndReplay => "replay it once the provider works",
            Self::ReadReason => "read the provider's reason",
        }
    }
}

/// A dead letter. The notification's own row keeps the original.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    pub id: DeliveryId,
    pub user: UserId,
    pub category: Category,
    pub priority: Priority,
    /// What kind of no it was.
    pub class: Class,
    #[serde(rename = "why", default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What was tried, oldest first.
    pub attempts: Vec<Attempt>,
    pub remedy: Remedy,
    pub created_at: Timestamp,
    pub failed_at: Timestamp,
}

impl DeadLetter {
    /// The letter of a delivery that has failed; `None` for any other.
    pub fn from_failed(notification: &Notification, delivery: &Delivery) -> Option<Self> {
        let class = (delivery.status == Status::Failed).then_some(delivery.class)??;
        let remedy = match (delivery.bounced_at, class) {
            (Some(_), Class::InvalidRecipient) => {
                Remedy::SuppressAddress(SuppressionReason::Bounced)
            }
            _ => Remedy::for_class(class, &delivery.id.endpoint),
        };
        Some(Self {
            id: delivery.id.clone(),
            user: delivery.user.clone(),
            category: notification.category.clone(),
            priority: delivery.priority,
            class,
            reason: delivery.reason.clone(),
            attempts: delivery.attempts.clone(),
            remedy,
            created_at: delivery.created_at,
            failed_at: delivery.ended_at?,
        })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadLetterFilter {
    pub channel: Option<Channel>,
    pub class: Option<Class>,
}

impl DeadLetterFilter {
    /// Whether a letter is one of them.
    pub fn matches(&self, dead_letter: &DeadLetter) -> bool {
        self.channel.is_none_or(|channel| channel == dead_letter.id.endpoint.channel())
            && self.class.is_none_or(|class| class == dead_letter.class)
    }
}

#[cfg(test)]
mod tests;

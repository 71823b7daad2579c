//! What notifications says to itself. Rows are the truth; a message says "look".

use serde::{Deserialize, Serialize};

use super::{Delivery, Endpoint, NotificationId};
use crate::accounts::UserId;

/// Any message of this system, told apart by `type`. Fields that a reader does not know are passed
/// over, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum DeliveryMessage {
    /// A delivery may be due. The topic's attributes `channel` and `priority` lead it to its queue.
    DeliveryDue {
        /// Format version; 1.
        v: u8,
        notification_id: NotificationId,
        delivery: Endpoint,
    },
    /// A person wants less than before: what waits for them has to be looked at.
    PreferencesNarrowed {
        /// Format version; 1.
        v: u8,
        user_id: UserId,
    },
}

impl DeliveryMessage {
    /// That a delivery may be due.
    pub fn delivery_due(delivery: &Delivery) -> Self {
        Self::DeliveryDue {
            v: 1,
            notification_id: delivery.id.notification_id.clone(),
            delivery: delivery.id.endpoint.clone(),
        }
    }

    /// That a person wants less than before.
    pub const fn preferences_narrowed(user_id: UserId) -> Self {
        Self::PreferencesNarrowed { v: 1, user_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_tagged_and_versioned() {
        let notification_id = NotificationId::parse(&"0a".repeat(14)).unwrap();
        let due = DeliveryMessage::DeliveryDue {
            v: 1,
            notification_id,
            delivery: Endpoint::parse("push-d1").unwrap(),
        };
        let json = serde_json::to_string(&due).unwrap();
        let expected = format!(
            r#"{{"type":"DeliveryDue","v":1,"notificationId":"{}","delivery":"push-d1"}}"#,
            "0a".repeat(14)
        );
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<DeliveryMessage>(&json).unwrap(), due);
        let narrowed = DeliveryMessage::preferences_narrowed(UserId::outside("ada"));
        let json = serde_json::to_string(&narrowed).unwrap();
        assert_eq!(json, r#"{"type":"PreferencesNarrowed","v":1,"userId":"ada"}"#);
    }
}

//! What notifications says to itself. Rows are the truth; a message says "look".

use serde::{Deserialize, Serialize};

use super::due::{Place, place};
use super::{Delivery, NotificationId, Status, Way};
use crate::Timestamp;
use crate::accounts::UserId;

/// Any message of this system, told apart by `type`. Fields that a reader does not know are passed
/// over, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Message {
    /// A delivery may be due. The topic's attributes `channel` and `priority` lead it to its queue.
    DeliveryDue {
        /// Format version; 1.
        v: u8,
        /// Of which notification.
        notification_id: NotificationId,
        /// By which way.
        delivery: Way,
    },
    /// A person wants less than before: what waits for them has to be looked at.
    PreferencesNarrowed {
        /// Format version; 1.
        v: u8,
        user_id: UserId,
    },
}

impl Message {
    /// That a delivery may be due.
    pub fn due(delivery: &Delivery) -> Self {
        Self::DeliveryDue {
            v: 1,
            notification_id: delivery.id.notification_id.clone(),
            delivery: delivery.id.way.clone(),
        }
    }

    /// That a person wants less than before.
    pub const fn narrowed(user_id: UserId) -> Self {
        Self::PreferencesNarrowed { v: 1, user_id }
    }
}

/// What to say, and after how many seconds, once a change is written: nothing about what does not
/// wait, nor about what a sweep finds in its due-bucket.
pub fn bell(before: Option<&Delivery>, after: &Delivery, now: Timestamp) -> Option<(Message, u32)> {
    let told = before.is_some_and(|before| {
        before.status == Status::Pending && before.ready_at == after.ready_at
    });
    if after.status != Status::Pending || told {
        return None;
    }
    match place(after.ready_at, now) {
        Place::Queue { delay_seconds } => Some((Message::due(after), delay_seconds)),
        Place::Bucket => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_tagged_and_versioned() {
        let notification_id = NotificationId::parse(&"0a".repeat(14)).unwrap();
        let due = Message::DeliveryDue {
            v: 1,
            notification_id,
            delivery: Way::parse("push-d1").unwrap(),
        };
        let json = serde_json::to_string(&due).unwrap();
        let expected = format!(
            r#"{{"type":"DeliveryDue","v":1,"notificationId":"{}","delivery":"push-d1"}}"#,
            "0a".repeat(14)
        );
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<Message>(&json).unwrap(), due);
        let narrowed = Message::narrowed(UserId::outside("ada"));
        let json = serde_json::to_string(&narrowed).unwrap();
        assert_eq!(json, r#"{"type":"PreferencesNarrowed","v":1,"userId":"ada"}"#);
    }
}

//! What several tests begin with.

use super::{Body, Category, ChannelContents, Notification, NotificationId, Priority};
use crate::Timestamp;
use crate::accounts::UserId;

/// So many seconds after midnight, UTC, of a Sunday.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

/// A notification that was accepted at second 0 and may go at once.
pub(super) fn notification(priority: Priority) -> Notification {
    Notification {
        id: NotificationId::new(at(0), [1; 8]),
        user: UserId::outside("ada"),
        category: Category::parse("orders").unwrap(),
        priority,
        body: Body::Inline { contents: ChannelContents::default() },
        send_at: None,
        expires_at: None,
        collapse_key: None,
        tracked: false,
        created_by: UserId::outside("shop"),
        created_at: at(0),
    }
}

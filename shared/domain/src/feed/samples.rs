//! What several tests begin with.

use super::{Post, PostBody, PostDelivery, PostId};
use crate::Timestamp;
use crate::accounts::UserId;

/// So many seconds after midnight, UTC, of a Sunday.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

pub(super) fn person(n: u64) -> UserId {
    UserId::outside(&format!("p{n}"))
}

/// The id of a post of second `n`.
pub(super) fn id(n: i64) -> PostId {
    PostId::made_from(at(n), [7; 8])
}

/// A public post of second `n`.
pub(super) fn post(n: i64, author: u64) -> Post {
    let body = PostBody { text: format!("post {n}"), ..PostBody::default() };
    Post::new(id(n), person(author), body, PostDelivery::Push, at(n))
}

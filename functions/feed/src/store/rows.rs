//! The feed's keys, and values as rows.

use domain::accounts::UserId;
use domain::feed::{PostId, Relationship};
use domain::{Failure, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use store::row::{Item, key};

pub(super) const POST: &str = "post";
pub(super) const RECENTS: &str = "recents";
pub(super) const READER: &str = "reader";
pub(super) const MARKS: &str = "marks";
pub(super) const SEEN: &str = "seen";
pub(super) const PROFILE: &str = "profile";
pub(super) const ENGAGED: &str = "engaged#";

/// Over how many lists work that is not done is spread.
pub(super) const WORK_LISTS: u8 = 16;

/// Over how many lists counters that are not added up are spread, and so are trending posts.
pub(super) const COUNT_LISTS: u8 = 16;

pub(super) fn post_key(id: PostId) -> Item {
    key(&format!("post#{id}"), POST)
}

pub(super) fn author_key(author: &UserId) -> Item {
    key(&format!("author#{}", author.as_str()), RECENTS)
}

/// The list of an author's posts, on the first index.
pub(super) fn posts_of(author: &UserId) -> String {
    format!("author#{}", author.as_str())
}

/// The length keeps people whose names have a `#` apart.
pub(super) fn relationship_key(me: &UserId, other: &UserId) -> Item {
    let (lesser, greater, _) = Relationship::key(me, other);
    let (lesser, greater) = (lesser.as_str(), greater.as_str());
    key(&format!("tie#{}#{lesser}#{greater}", lesser.len()), "tie")
}

pub(super) fn followers_pk(author: &UserId) -> String {
    format!("followers#{}", author.as_str())
}

/// Counters come before every follower.
pub(super) fn counter_sk(counter: u8) -> String {
    format!("#{counter:02}")
}

pub(super) fn following_pk(reader: &UserId) -> String {
    format!("following#{}", reader.as_str())
}

pub(super) fn reader_key(reader: &UserId, sk: &str) -> Item {
    key(&format!("reader#{}", reader.as_str()), sk)
}

pub(super) fn timeline_pk(reader: &UserId) -> String {
    format!("timeline#{}", reader.as_str())
}

pub(super) fn user_key(user: &UserId, sk: &str) -> Item {
    key(&format!("user#{}", user.as_str()), sk)
}

/// With the person and not with the post: a post that everybody likes would make its partition hot.
pub(super) fn engaged_key(user: &UserId, post: PostId) -> Item {
    user_key(user, &format!("{ENGAGED}{post}"))
}

pub(super) fn count_key(post: PostId, counter: u8) -> Item {
    key(&format!("count#{post}#{counter}"), "count")
}

/// The list, on the second index, of counters that are not added up.
pub(super) fn dirty_pk(list: u8) -> String {
    format!("dirty#{list}")
}

/// The list, on the second index, of trending posts.
pub(super) fn hot_pk(list: u8) -> String {
    format!("hot#{list}")
}

/// Which of those lists a post is on. Its last byte is random.
pub(super) fn list_of(post: PostId) -> u8 {
    post.bytes()[PostId::BYTES - 1] % COUNT_LISTS
}

pub(super) fn comments_pk(post: PostId) -> String {
    format!("comments#{post}")
}

pub(super) fn reports_pk(post: PostId) -> String {
    format!("reports#{post}")
}

pub(super) fn connection_key(connection: &str) -> Item {
    key(&format!("conn#{connection}"), "conn")
}

pub(super) fn audience_pk(author: &UserId) -> String {
    format!("audience#{}", author.as_str())
}

pub(super) fn work_pk(list: u8) -> String {
    format!("work#{list}")
}

pub(super) fn work_key(name: &str) -> Item {
    let lot = Sha256::digest(name.as_bytes())[0];
    key(&work_pk(lot % WORK_LISTS), name)
}

/// The attributes of a value, by their names in the domain.
pub(super) fn to_item(value: &impl Serialize) -> Result<Item> {
    serde_dynamo::to_item(value).map_err(|cause| Failure::new("write a row", cause))
}

pub(super) fn from_item<T: DeserializeOwned>(item: &Item) -> Result<T> {
    serde_dynamo::from_item(item.clone()).map_err(|cause| Failure::new("read a stored row", cause))
}

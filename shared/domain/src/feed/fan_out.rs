//! From one post to the timelines of those who follow its author.
//!
//! Followers are kept in the order of a hash ([`follower_key`]), so any number of ranges of it are
//! about equally long. A fan-out is a message for each range; each message handles one page and says
//! where the next begins. The same message always means the same page, so a retry repeats one page,
//! and what it writes has names that follow from the post and the follower: a repeat changes nothing.
//!
//! A deletion purges the same way, and a switch to pull adds pull marks the same way. What a page writes is
//! decided by the rows it finds ([`page_writes`]): a message only says where to look.
//!
//! Absent: a function that outlives its time because of one author, a write for a reader who is away,
//! a reference to a post that is pulled, deleted or private, a purge of a post that is there.

mod page_writes;
mod progress;

pub use page_writes::{PageInput, TimelineWrite, page_writes};
pub use progress::FanOutProgress;

use serde::{Deserialize, Serialize};

use super::id::stable_hash;
use super::{FeedSettings, Post, PostDelivery, PostId, Privacy};
use crate::Timestamp;
use crate::accounts::UserId;

/// A stretch of an author's followers: the slots from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SlotRange {
    pub from: u16,
    /// The last slot; it belongs to it.
    pub to: u16,
}

impl SlotRange {
    pub fn text(self) -> String {
        format!("{:04x}-{:04x}", self.from, self.to)
    }

    /// The range that such a text names.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let edge = |text: &str| u16::from_str_radix(text, 16).ok();
        Some(Self { from: edge(from)?, to: edge(to)? })
    }
}

/// Where a page begins: at the start of its range, or after a follower.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FollowerPage {
    pub range: SlotRange,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<UserId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FanOutPlan {
    /// Nothing: it is deleted, or private, or there is nothing to purge.
    Nothing,
    /// Nothing, because readers pull it.
    Pulled,
    /// These pages, and those that follow them.
    Pages(Vec<FollowerPage>),
}

/// The slot of a follower: the same for ever.
pub fn follower_slot(follower: &UserId) -> u16 {
    let [.., high, low] = stable_hash(&[b"follower", follower.as_str().as_bytes()]).to_be_bytes();
    u16::from_be_bytes([high, low])
}

/// The key that a follower is sorted by among an author's.
pub fn follower_key(follower: &UserId) -> String {
    format!("{:04x}#{}", follower_slot(follower), follower.as_str())
}

/// What a post's fan-out comes to. `followers` may be off: it only decides how many ranges there are.
/// What an admin hides is fanned out, because it may be shown again.
pub fn plan_push(post: &Post, followers: u64, settings: &FeedSettings) -> FanOutPlan {
    if !is_visible_to_others(post) {
        return FanOutPlan::Nothing;
    }
    match post.delivery {
        PostDelivery::Pull => FanOutPlan::Pulled,
        PostDelivery::Push => FanOutPlan::Pages(first_pages(followers, settings)),
    }
}

/// What taking a deleted post out of timelines comes to.
pub fn plan_purge(post: &Post, followers: u64, settings: &FeedSettings) -> FanOutPlan {
    match (post.deleted_at, post.delivery) {
        (None, _) => FanOutPlan::Nothing,
        (Some(_), PostDelivery::Pull) => FanOutPlan::Pulled,
        (Some(_), PostDelivery::Push) => FanOutPlan::Pages(first_pages(followers, settings)),
    }
}

fn is_visible_to_others(post: &Post) -> bool {
    post.deleted_at.is_none() && post.body.privacy != Privacy::Private
}

/// The first page of each range, for about so many followers.
pub fn first_pages(followers: u64, settings: &FeedSettings) -> Vec<FollowerPage> {
    split_slots(range_count(followers, settings))
}

/// How many ranges so many followers are worth: about two pages each.
pub fn range_count(followers: u64, settings: &FeedSettings) -> u8 {
    let size = 2 * u64::try_from(settings.page_size).unwrap_or(1).max(1);
    u8::try_from(followers.div_ceil(size).clamp(1, 64)).unwrap_or(64)
}

/// The first page of each of so many ranges.
pub fn split_slots(ranges: u8) -> Vec<FollowerPage> {
    let count = u32::from(ranges.max(1));
    let edge = |index: u32| index * 0x1_0000 / count;
    (0..count)
        .map(|index| {
            let from = u16::try_from(edge(index)).unwrap_or(u16::MAX);
            let to = u16::try_from(edge(index + 1) - 1).unwrap_or(u16::MAX);
            FollowerPage { range: SlotRange { from, to }, after: None }
        })
        .collect()
}

impl FollowerPage {
    /// The keys between which the page lies, the lower one excluded.
    pub fn keys(&self) -> (String, String) {
        let start = || format!("{:04x}#", self.range.from);
        // `$` comes right after `#`, so this is above every key of the last slot.
        (self.after.as_ref().map_or_else(start, follower_key), format!("{:04x}$", self.range.to))
    }

    /// The page after this one, which had these followers; `None` if it was the last.
    #[must_use]
    pub fn next(&self, found: &[UserId], settings: &FeedSettings) -> Option<Self> {
        let full = found.len() >= settings.page_size;
        found.last().filter(|_| full).map(|last| Self { after: Some(last.clone()), ..self.clone() })
    }
}

/// Whether a follower's timeline is written to: not if they were away for a week.
pub fn is_active(last_seen_at: Timestamp, now: Timestamp, settings: &FeedSettings) -> bool {
    now.as_second() - last_seen_at.as_second() < settings.dormant_seconds
}

/// What an author's fan-outs are measured under.
pub const fn follower_band(followers: u64) -> &'static str {
    match followers {
        0..100 => "under-100",
        100..1_000 => "under-1000",
        1_000..10_000 => "under-10000",
        _ => "10000-and-more",
    }
}

/// The key of a post in a timeline: the same for every writer, sorted by time.
pub fn timeline_key(post: PostId) -> String {
    post.text()
}

#[cfg(test)]
mod tests;

//! Where a scroll goes on: everything that must not change in the middle of it.
//!
//! A ranked scroll carries the time and the weights it is ranked by, the newest post it knows of, the
//! posts of its window that were not shown yet, in their order, and where the next window begins. So
//! likes, edits, new posts and new weights move nothing that has begun. A scroll by time needs only the
//! last post shown.
//!
//! In text it is base64url of about 15 bytes a post, at most 1,600 characters, with a checksum that binds
//! it to its reader. It is not signed, because there is nothing to gain: each post it names is
//! looked at again with [`super::in_feed`], so whoever makes one up gets posts of their own feed
//! in another order. Absent: anything in it that its reader may not know.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::id::lot;
use super::{PostId, Rejected, Weights};
use crate::Timestamp;
use crate::accounts::UserId;

/// By what a feed is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    #[default]
    Ranked,
    Latest,
}

impl Order {
    /// The order of that name.
    pub fn parse(name: &str) -> Result<Self, Rejected> {
        match name {
            "ranked" => Ok(Self::Ranked),
            "latest" => Ok(Self::Latest),
            _ => Err(Rejected::field("order", "`ranked` or `latest`")),
        }
    }
}

/// Where a scroll goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// By what it is sorted.
    pub order: Order,
    /// The version of the weights.
    pub weights: u8,
    /// When it began: what it is ranked by.
    pub at: Timestamp,
    /// The newest post that it knows of.
    pub top: PostId,
    /// What is below this was not looked at.
    pub below: PostId,
    /// What is left of the window, in order.
    pub left: Vec<PostId>,
}

const FORMAT: u8 = 1;
const HEAD: usize = 3 + 6 + 2 * PostId::BYTES;
const CHECK: usize = 8;

/// No window is larger, so no cursor is longer.
const MAX_REMAINING: usize = 200;

impl Cursor {
    /// As text for its reader.
    pub fn encode(&self, reader: &UserId) -> String {
        let order = match self.order {
            Order::Ranked => 0,
            Order::Latest => 1,
        };
        let mut bytes = vec![FORMAT, order, self.weights];
        bytes.extend(&self.at.as_millisecond().max(0).to_be_bytes()[2..]);
        for post in [self.top, self.below].iter().chain(&self.left) {
            bytes.extend(post.bytes());
        }
        bytes.extend(check(&bytes, reader));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// What a reader gives back, if it is what they were given.
    pub fn decode(text: &str, reader: &UserId) -> Result<Self, Rejected> {
        let rule = "a `nextCursor` from an earlier page of this feed";
        Self::read(text, reader).ok_or_else(|| Rejected::field("cursor", rule))
    }

    fn read(text: &str, reader: &UserId) -> Option<Self> {
        if text.len() > (HEAD + CHECK + MAX_REMAINING * PostId::BYTES) * 4 / 3 + 3 {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (said, tag) = bytes.split_at_checked(bytes.len().checked_sub(CHECK)?)?;
        let (head, names) = said.split_at_checked(3 + 6)?;
        if tag != check(said, reader) || names.len() % PostId::BYTES != 0 {
            return None;
        }
        let mut posts = names
            .chunks_exact(PostId::BYTES)
            .filter_map(|name| name.try_into().ok())
            .map(PostId::from_bytes);
        let &[FORMAT, order, weights, ref at @ ..] = head else { return None };
        let ms = at.iter().fold(0, |sum, byte| (sum << 8) | i64::from(*byte));
        let cursor = Self {
            order: [Order::Ranked, Order::Latest].into_iter().nth(order.into())?,
            weights: Weights::of(weights)?.version,
            at: Timestamp::from_millisecond(ms).ok()?,
            top: posts.next()?,
            below: posts.next()?,
            left: posts.collect(),
        };
        cursor.is_sound().then_some(cursor)
    }

    /// Whether it can have been made by a scroll.
    fn is_sound(&self) -> bool {
        let within = |post: &PostId| (self.below..=self.top).contains(post);
        let mut sorted = self.left.clone();
        sorted.sort_unstable();
        let apart = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        let fits = match self.order {
            Order::Ranked => self.left.len() <= MAX_REMAINING,
            Order::Latest => self.left.is_empty(),
        };
        fits && apart && self.below <= self.top && self.left.iter().all(within)
    }
}

fn check(said: &[u8], reader: &UserId) -> [u8; CHECK] {
    lot(&[b"feed-cursor", reader.as_str().as_bytes(), said]).to_be_bytes()
}

#[cfg(test)]
mod tests;

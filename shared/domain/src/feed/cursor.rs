//! Where a scroll goes on: everything that must not change in the middle of it.
//!
//! A ranked scroll carries the time and the weights it is ranked by, the newest post it knows of, the
//! posts of its window that were not shown yet, in their order, and where the next window begins. So
//! likes, edits, new posts and new weights move nothing that has begun. A scroll by time needs only the
//! last post shown.
//!
//! In text it is base64url of about 15 bytes a post, at most 1,600 characters, with a checksum that binds
//! it to its reader. It is not signed, because there is nothing to gain: each post it names is
//! looked at again with [`super::in_feed`], so a client that makes one up gets posts of its reader's own feed
//! in another order. Absent: anything in it that its reader may not know.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::id::stable_hash;
use super::{PostId, RankWeights, Rejected};
use crate::Timestamp;
use crate::accounts::UserId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FeedOrder {
    #[default]
    Ranked,
    Latest,
}

impl FeedOrder {
    pub fn parse(name: &str) -> Result<Self, Rejected> {
        match name {
            "ranked" => Ok(Self::Ranked),
            "latest" => Ok(Self::Latest),
            _ => Err(Rejected::field("order", "`ranked` or `latest`")),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedCursor {
    pub order: FeedOrder,
    pub weights: u8,
    /// When it began: what it is ranked by.
    pub ranked_at: Timestamp,
    /// The newest post that it knows of.
    pub newest: PostId,
    /// What is below this was not looked at.
    pub below: PostId,
    /// What is left of the window, in order.
    pub remaining: Vec<PostId>,
}

const FORMAT: u8 = 1;
const HEADER_BYTES: usize = 3 + 6 + 2 * PostId::BYTES;
const CHECKSUM_BYTES: usize = 8;

/// No window is larger, so no cursor is longer.
const MAX_REMAINING: usize = 200;

impl FeedCursor {
    pub fn encode(&self, reader: &UserId) -> String {
        let order = match self.order {
            FeedOrder::Ranked => 0,
            FeedOrder::Latest => 1,
        };
        let mut bytes = vec![FORMAT, order, self.weights];
        bytes.extend(&self.ranked_at.as_millisecond().max(0).to_be_bytes()[2..]);
        for post in [self.newest, self.below].iter().chain(&self.remaining) {
            bytes.extend(post.bytes());
        }
        bytes.extend(checksum(&bytes, reader));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// What a reader gives back, if it is what they were given.
    pub fn decode(text: &str, reader: &UserId) -> Result<Self, Rejected> {
        let rule = "a `nextCursor` from an earlier page of this feed";
        Self::parse(text, reader).ok_or_else(|| Rejected::field("cursor", rule))
    }

    fn parse(text: &str, reader: &UserId) -> Option<Self> {
        if text.len() > (HEADER_BYTES + CHECKSUM_BYTES + MAX_REMAINING * PostId::BYTES) * 4 / 3 + 3
        {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (payload, tag) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM_BYTES)?)?;
        let (head, names) = payload.split_at_checked(3 + 6)?;
        if tag != checksum(payload, reader) || names.len() % PostId::BYTES != 0 {
            return None;
        }
        let mut posts = names
            .chunks_exact(PostId::BYTES)
            .filter_map(|name| name.try_into().ok())
            .map(PostId::from_bytes);
        let &[FORMAT, order, weights, ref at @ ..] = head else { return None };
        let ms = at.iter().fold(0, |sum, byte| (sum << 8) | i64::from(*byte));
        let cursor = Self {
            order: [FeedOrder::Ranked, FeedOrder::Latest].into_iter().nth(order.into())?,
            weights: RankWeights::by_version(weights)?.version,
            ranked_at: Timestamp::from_millisecond(ms).ok()?,
            newest: posts.next()?,
            below: posts.next()?,
            remaining: posts.collect(),
        };
        cursor.is_sound().then_some(cursor)
    }

    /// Whether it can have been made by a scroll.
    fn is_sound(&self) -> bool {
        let within = |post: &PostId| (self.below..=self.newest).contains(post);
        let mut sorted = self.remaining.clone();
        sorted.sort_unstable();
        let apart = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        let fits = match self.order {
            FeedOrder::Ranked => self.remaining.len() <= MAX_REMAINING,
            FeedOrder::Latest => self.remaining.is_empty(),
        };
        fits && apart && self.below <= self.newest && self.remaining.iter().all(within)
    }
}

fn checksum(payload: &[u8], reader: &UserId) -> [u8; CHECKSUM_BYTES] {
    stable_hash(&[b"feed-cursor", reader.as_str().as_bytes(), payload]).to_be_bytes()
}

#[cfg(test)]
mod tests;

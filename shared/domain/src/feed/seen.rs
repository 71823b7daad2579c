//! What a reader was shown lately: one small row, so that the same posts do not come first for ever.
//!
//! A post is remembered by 32 bits of its name, the last 500 of them. Two posts that share them are
//! mistaken for each other once in millions; the worst of it is that one of them comes a little later.

use std::collections::VecDeque;

use super::PostId;
use super::id::lot;

/// Posts that are remembered, at most.
const MOST: usize = 500;

/// What a reader was shown lately.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(VecDeque<u32>);

impl Seen {
    /// Whether a post was shown.
    pub fn has(&self, post: PostId) -> bool {
        self.0.contains(&short(post))
    }

    /// Notes a page. One that was noted before changes nothing.
    pub fn note(&mut self, posts: impl IntoIterator<Item = PostId>) {
        for post in posts {
            if !self.has(post) {
                self.0.push_back(short(post));
            }
        }
        let over = self.0.len().saturating_sub(MOST);
        self.0.drain(..over);
    }

    /// In binary: at most 2,000 bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|post| post.to_be_bytes()).collect()
    }

    /// What such bytes say.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let posts = bytes.chunks_exact(4).filter_map(|post| post.try_into().ok());
        Self(posts.map(u32::from_be_bytes).collect())
    }
}

fn short(post: PostId) -> u32 {
    u32::try_from(lot(&[b"seen", &post.bytes()]) >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::id;

    #[test]
    fn the_latest_are_remembered() {
        let mut seen = Seen::default();
        seen.note((0..600).map(id));
        let once = seen.clone();
        seen.note((590..600).map(id));
        assert_eq!(seen, once);
        assert!(!seen.has(id(99)) && seen.has(id(100)) && seen.has(id(599)) && !seen.has(id(600)));
        assert_eq!((seen.bytes().len(), Seen::from_bytes(&seen.bytes())), (2_000, seen));
    }
}

//! Posts that a reader was shown lately: one small row, so that the same posts do not come first for ever.
//!
//! A post is remembered by 32 bits of its name, the last 500 of them. Two posts that share them are
//! mistaken for each other once in millions; the worst of it is that one of them comes a little later.

use std::collections::VecDeque;

use super::PostId;
use super::id::stable_hash;

/// Posts that are remembered, at most.
const MAX_SEEN: usize = 500;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenPosts(VecDeque<u32>);

impl SeenPosts {
    pub fn contains(&self, post: PostId) -> bool {
        self.0.contains(&fingerprint(post))
    }

    /// Notes a page. One that was noted before changes nothing.
    pub fn record(&mut self, posts: impl IntoIterator<Item = PostId>) {
        for post in posts {
            if !self.contains(post) {
                self.0.push_back(fingerprint(post));
            }
        }
        let over = self.0.len().saturating_sub(MAX_SEEN);
        self.0.drain(..over);
    }

    /// In binary: at most 2,000 bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|post| post.to_be_bytes()).collect()
    }

    pub fn from_bytes(bytes: &[u8]) -> Self {
        let posts = bytes.chunks_exact(4).filter_map(|post| post.try_into().ok());
        Self(posts.map(u32::from_be_bytes).collect())
    }
}

fn fingerprint(post: PostId) -> u32 {
    u32::try_from(stable_hash(&[b"seen", &post.bytes()]) >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::id;

    #[test]
    fn the_latest_are_remembered() {
        let mut seen = SeenPosts::default();
        seen.record((0..600).map(id));
        let once = seen.clone();
        seen.record((590..600).map(id));
        assert_eq!(seen, once);
        assert!(
            !seen.contains(id(99))
                && seen.contains(id(100))
                && seen.contains(id(599))
                && !seen.contains(id(600))
        );
        assert_eq!((seen.bytes().len(), SeenPosts::from_bytes(&seen.bytes())), (2_000, seen));
    }
}

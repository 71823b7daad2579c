//! One author's posts, as a reader may see them: leave out, then make up for it.
//!
//! Like [`super::FeedPager`] it reads nothing: it is told what was found and says what comes next. Absent: a
//! page that is short before the end, unless nearly nothing of very many posts may be seen, and a place to go on
//! from when nothing follows.

use super::{Post, PostId, Relationship, ViewContext, is_visible};
use crate::accounts::UserId;

/// So often posts are found for one page; what is left is for the next one.
const MAX_ROUNDS: usize = 10;

/// A page of one author's posts that is being made.
#[derive(Debug, Clone)]
pub struct UserPostsPager {
    reader: UserId,
    relationship: Relationship,
    limit: usize,
    rounds: usize,
    posts: Vec<Post>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserPostsStep {
    /// Find the author's posts below this one and tell [`UserPostsPager::posts_fetched`].
    FetchBelow { below: PostId },
    Done {
        posts: Vec<Post>,
        /// The next page is below this; `None` at the end.
        next: Option<PostId>,
    },
}

impl UserPostsPager {
    /// A page for a reader; `relationship` is between them and the author, seen by the reader.
    pub const fn new(reader: UserId, relationship: Relationship, limit: usize) -> Self {
        Self { reader, relationship, limit, rounds: 0, posts: Vec::new() }
    }

    /// Whether the relationship hides all of the author's posts from the reader.
    pub fn is_hidden(&self, author: &UserId) -> bool {
        *author != self.reader && (self.relationship.is_blocked() || self.relationship.mine.mutes)
    }

    /// Some of the author's posts were found, the newest first, and maybe there are more.
    pub fn posts_fetched(&mut self, posts: Vec<Post>, more: bool) -> UserPostsStep {
        let last = posts.last().map(|post| post.id);
        let seen =
            |post: &Post| is_visible(post, &self.relationship, &self.reader, ViewContext::Listed);
        self.posts.extend(posts.into_iter().filter(seen));
        self.rounds += 1;
        let is_short = more && self.posts.len() <= self.limit;
        match last {
            // One more than the page has is known of before a place to go on is given.
            Some(below) if is_short && self.rounds < MAX_ROUNDS => {
                UserPostsStep::FetchBelow { below }
            }
            Some(_) if is_short => {
                UserPostsStep::Done { posts: std::mem::take(&mut self.posts), next: last }
            }
            _ => {
                let follows = self.posts.len() > self.limit;
                self.posts.truncate(self.limit);
                let posts = std::mem::take(&mut self.posts);
                let next = posts.last().map(|post| post.id).filter(|_| follows);
                UserPostsStep::Done { posts, next }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[test]
    fn who_may_see_next_to_nothing_gets_short_pages_and_misses_nothing() {
        let open = |n: i64| n % 50 == 0;
        let all: Vec<Post> = (0..500)
            .rev()
            .map(|n| {
                let privacy = if open(n) { Privacy::Public } else { Privacy::Private };
                Post { body: PostBody { privacy, ..PostBody::default() }, ..post(n, 1) }
            })
            .collect();
        let (mut below, mut shown, mut count) = (PostId::MAX, 0, 0);
        loop {
            let mut pager = UserPostsPager::new(person(2), Relationship::default(), 3);
            let next = loop {
                let rest = all.iter().filter(|post| post.id < below);
                let found: Vec<_> = rest.clone().take(6).cloned().collect();
                match pager.posts_fetched(found, rest.count() > 6) {
                    UserPostsStep::FetchBelow { below: next } => below = next,
                    UserPostsStep::Done { posts, next } => {
                        shown += posts.len();
                        break next;
                    }
                }
            };
            count += 1;
            let Some(next) = next else { break };
            below = next;
        }
        assert_eq!((shown, count), (10, 9));
    }

    use super::*;
    use crate::feed::samples::{at, person, post};
    use crate::feed::{PostBody, Privacy, Side};

    proptest! {
        #[test]
        fn a_profile_shows_what_may_be_seen_once_in_full_pages(
            kinds in prop::collection::vec(0_usize..5, 0..40), follows: bool, mutes: bool,
            limit in 1_usize..6, step in 5_usize..9,
        ) {
            let mut all: Vec<Post> = (0_i64..).zip(kinds).map(|(n, kind)| {
                let post = post(n, 1);
                match kind {
                    3 => post.deleted(at(99)).unwrap(),
                    4 => post.hidden(at(99)).unwrap(),
                    kind => Post { body: PostBody { privacy: Privacy::ALL[kind], ..PostBody::default() }, ..post },
                }
            }).collect();
            all.reverse();
            let side = Side { follows, ..Side::default() };
            let relationship = Relationship { mine: Side { mutes, ..side }, theirs: side };
            let (mut below, mut shown) = (PostId::MAX, Vec::new());
            'pages: loop {
                let mut pager = UserPostsPager::new(person(2), relationship, limit);
                loop {
                    let mut rest = all.iter().filter(|post| post.id < below).cloned();
                    let found: Vec<_> = rest.by_ref().take(step).collect();
                    match pager.posts_fetched(found, rest.next().is_some()) {
                        UserPostsStep::FetchBelow { below: next } => below = next,
                        UserPostsStep::Done { posts, next } => {
                            prop_assert!(next.is_none() || posts.len() == limit);
                            shown.extend(posts);
                            let Some(next) = next else { break 'pages };
                            below = next;
                            break;
                        }
                    }
                }
            }
            let seen = |post: &&Post| is_visible(post, &relationship, &person(2), ViewContext::Listed);
            let expected: Vec<_> = all.iter().filter(seen).cloned().collect();
            prop_assert_eq!(shown, expected);
        }
    }
}

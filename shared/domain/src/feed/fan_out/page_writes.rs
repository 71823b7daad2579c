//! What is written for one page of followers: decided by rows, not by the message.

use super::{is_active, is_visible_to_others};
use crate::Timestamp;
use crate::accounts::UserId;
use crate::feed::{
    FanOutMode, FanOutPolicy, FanOutTask, FeedSettings, Post, PostDelivery, PostId, PostReference,
};

#[derive(Debug, Clone, Copy)]
pub struct PageInput<'a> {
    pub author: &'a UserId,
    /// The post that it is about, if there is one.
    pub post: Option<&'a Post>,
    pub policy: FanOutPolicy,
    /// The followers, each with their last visit.
    pub followers: &'a [(UserId, Timestamp)],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimelineWrite {
    AddReference(UserId, PostReference),
    RemoveReference(UserId, PostId),
    /// Onto a reader's row: the greater of this epoch and what is there.
    AddPullMark(UserId, u64),
}

/// What to write for a page of followers.
pub fn page_writes(
    task: FanOutTask,
    found: &PageInput<'_>,
    now: Timestamp,
    settings: &FeedSettings,
) -> Vec<TimelineWrite> {
    let everybody = found.followers.iter().map(|(who, _)| who.clone());
    let active = found
        .followers
        .iter()
        .filter(|(_, last_seen_at)| is_active(*last_seen_at, now, settings))
        .map(|(who, _)| who.clone());
    let is_it = |post: &&Post, id: PostId| {
        post.id == id && post.author == *found.author && post.delivery == PostDelivery::Push
    };
    match task {
        FanOutTask::Push { post_id, .. } => {
            let post = found.post.filter(|post| is_it(post, post_id) && is_visible_to_others(post));
            let Some(post) = post else { return Vec::new() };
            let reference = PostReference { post_id, author: post.author.clone() };
            active.map(|who| TimelineWrite::AddReference(who, reference.clone())).collect()
        }
        FanOutTask::Purge { post_id } => {
            let gone = found.post.filter(|post| is_it(post, post_id) && post.deleted_at.is_some());
            let Some(gone) = gone else { return Vec::new() };
            active.map(|who| TimelineWrite::RemoveReference(who, gone.id)).collect()
        }
        FanOutTask::Mark { epoch } => {
            if found.policy.mode != FanOutMode::Switching || found.policy.epoch != epoch {
                return Vec::new();
            }
            everybody.map(|who| TimelineWrite::AddPullMark(who, epoch)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::{at, id, person, post};
    use crate::feed::{PostBody, Privacy};

    const LONG_AGO: i64 = -8 * 86_400;

    fn writes(task: FanOutTask, post: Option<&Post>, mode: FanOutMode) -> Vec<TimelineWrite> {
        let author = person(1);
        let followers = [(person(2), at(0)), (person(3), at(LONG_AGO))];
        let policy = FanOutPolicy { mode, epoch: 4 };
        let found = PageInput { author: &author, post, policy, followers: &followers };
        page_writes(task, &found, at(1), &FeedSettings::DEFAULT)
    }

    #[test]
    fn only_who_is_active_gets_a_reference_and_only_while_there_is_a_post() {
        let push = FanOutTask::Push { post_id: id(1), version: 1 };
        let live = post(1, 1);
        let reference = PostReference { post_id: id(1), author: person(1) };
        let expected = [TimelineWrite::AddReference(person(2), reference)];
        for mode in [FanOutMode::Push, FanOutMode::Switching, FanOutMode::Pull] {
            assert_eq!(writes(push, Some(&live), mode), expected, "its own fan counts");
        }
        let private = PostBody { privacy: Privacy::Private, ..PostBody::default() };
        for post in [
            live.deleted(at(2)).unwrap(),
            Post { body: private, ..live.clone() },
            Post { delivery: PostDelivery::Pull, ..live.clone() },
            Post { author: person(9), ..live.clone() },
            post(2, 1),
        ] {
            assert_eq!(writes(push, Some(&post), FanOutMode::Push), []);
        }
        assert_eq!(writes(push, None, FanOutMode::Push), []);
        let hidden = live.hidden(at(2)).unwrap();
        assert_eq!(
            writes(push, Some(&hidden), FanOutMode::Push),
            expected,
            "it may be shown again"
        );
    }

    #[test]
    fn only_a_tombstone_is_purged() {
        let purge = FanOutTask::Purge { post_id: id(1) };
        let gone = post(1, 1).deleted(at(2)).unwrap();
        assert_eq!(
            writes(purge, Some(&gone), FanOutMode::Pull),
            [TimelineWrite::RemoveReference(person(2), id(1))]
        );
        assert_eq!(writes(purge, Some(&post(1, 1)), FanOutMode::Push), []);
        assert_eq!(writes(purge, None, FanOutMode::Push), []);
    }

    #[test]
    fn readers_who_are_away_are_marked_too_and_none_once_the_switch_is_over() {
        let mark = FanOutTask::Mark { epoch: 4 };
        let everybody =
            [TimelineWrite::AddPullMark(person(2), 4), TimelineWrite::AddPullMark(person(3), 4)];
        assert_eq!(writes(mark, None, FanOutMode::Switching), everybody);
        assert_eq!(writes(mark, None, FanOutMode::Push), []);
        assert_eq!(writes(mark, None, FanOutMode::Pull), []);
        assert_eq!(writes(FanOutTask::Mark { epoch: 2 }, None, FanOutMode::Switching), []);
    }
}

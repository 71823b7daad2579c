//! What one page of followers comes to: decided by rows, whatever the message was sent for.

use super::{is_for_others, is_written_to};
use crate::Timestamp;
use crate::accounts::UserId;
use crate::feed::{Fan, Mode, Post, PostId, Reach, Reference, Settings, Task};

/// What a page finds.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// Whose followers they are.
    pub author: &'a UserId,
    /// The post that it is about, if there is one.
    pub post: Option<&'a Post>,
    /// How the author reaches people.
    pub reach: Reach,
    /// The followers, each with their last visit.
    pub followers: &'a [(UserId, Timestamp)],
}

/// A write. Each can be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Into a timeline.
    Refer(UserId, Reference),
    /// Out of a timeline.
    Forget(UserId, PostId),
    /// Onto a reader's row: the greater of this epoch and what is there.
    Mark(UserId, u64),
}

/// What to write for a page of followers.
pub fn work(task: Task, found: &Found<'_>, now: Timestamp, settings: &Settings) -> Vec<Write> {
    let everybody = found.followers.iter().map(|(who, _)| who.clone());
    let active = found
        .followers
        .iter()
        .filter(|(_, seen_at)| is_written_to(*seen_at, now, settings))
        .map(|(who, _)| who.clone());
    let is_it = |post: &&Post, id: PostId| {
        post.id == id && post.author == *found.author && post.fan == Fan::Push
    };
    match task {
        Task::Push { post_id, .. } => {
            let post = found.post.filter(|post| is_it(post, post_id) && is_for_others(post));
            let Some(post) = post else { return Vec::new() };
            let reference = Reference { post_id, author: post.author.clone() };
            active.map(|who| Write::Refer(who, reference.clone())).collect()
        }
        Task::Purge { post_id } => {
            let gone = found.post.filter(|post| is_it(post, post_id) && post.deleted_at.is_some());
            let Some(gone) = gone else { return Vec::new() };
            active.map(|who| Write::Forget(who, gone.id)).collect()
        }
        Task::Mark { epoch } => {
            if found.reach.mode != Mode::Rising || found.reach.epoch != epoch {
                return Vec::new();
            }
            everybody.map(|who| Write::Mark(who, epoch)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::{at, id, person, post};
    use crate::feed::{Body, Privacy};

    const LONG_AGO: i64 = -8 * 86_400;

    fn writes(task: Task, post: Option<&Post>, mode: Mode) -> Vec<Write> {
        let author = person(1);
        let followers = [(person(2), at(0)), (person(3), at(LONG_AGO))];
        let reach = Reach { mode, epoch: 4 };
        let found = Found { author: &author, post, reach, followers: &followers };
        work(task, &found, at(1), &Settings::DEFAULT)
    }

    #[test]
    fn only_who_is_active_gets_a_reference_and_only_while_there_is_a_post() {
        let push = Task::Push { post_id: id(1), version: 1 };
        let live = post(1, 1);
        let reference = Reference { post_id: id(1), author: person(1) };
        let expected = [Write::Refer(person(2), reference)];
        for mode in [Mode::Pushed, Mode::Rising, Mode::Pulled] {
            assert_eq!(writes(push, Some(&live), mode), expected, "its own fan counts");
        }
        let private = Body { privacy: Privacy::Private, ..Body::default() };
        for post in [
            live.deleted(at(2)).unwrap(),
            Post { body: private, ..live.clone() },
            Post { fan: Fan::Pull, ..live.clone() },
            Post { author: person(9), ..live.clone() },
            post(2, 1),
        ] {
            assert_eq!(writes(push, Some(&post), Mode::Pushed), []);
        }
        assert_eq!(writes(push, None, Mode::Pushed), []);
        let hidden = live.hidden(at(2)).unwrap();
        assert_eq!(writes(push, Some(&hidden), Mode::Pushed), expected, "it may be shown again");
    }

    #[test]
    fn only_a_tombstone_is_purged() {
        let purge = Task::Purge { post_id: id(1) };
        let gone = post(1, 1).deleted(at(2)).unwrap();
        assert_eq!(writes(purge, Some(&gone), Mode::Pulled), [Write::Forget(person(2), id(1))]);
        assert_eq!(writes(purge, Some(&post(1, 1)), Mode::Pushed), []);
        assert_eq!(writes(purge, None, Mode::Pushed), []);
    }

    #[test]
    fn who_is_away_is_marked_too_and_nobody_once_the_rise_is_over() {
        let mark = Task::Mark { epoch: 4 };
        let everybody = [Write::Mark(person(2), 4), Write::Mark(person(3), 4)];
        assert_eq!(writes(mark, None, Mode::Rising), everybody);
        assert_eq!(writes(mark, None, Mode::Pushed), []);
        assert_eq!(writes(mark, None, Mode::Pulled), []);
        assert_eq!(writes(Task::Mark { epoch: 2 }, None, Mode::Rising), []);
    }
}

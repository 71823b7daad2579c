//! What rows must be once nothing is on its way: lists, counters, marks, timelines and totals.

use std::collections::BTreeSet;
use tests::Result;

use domain::accounts::UserId;
use domain::feed::{FanOutMode, FeedSettings, PostId, ReaderVisit};
use simulation::feed::reference::ReferenceFeed;

use super::harness::{Harness, person};
use super::interleavings::PostStage;
use super::model::Model;
use super::{PEOPLE, SETTINGS};

/// Every counter and list of followers is what was acknowledged, and authors reach people as many as there
/// are want it.
pub(in crate::feed) async fn check_authors(harness: &Harness, world: &ReferenceFeed) -> Result {
    let settings = FeedSettings::parse(SETTINGS)?;
    for name in PEOPLE {
        let author = person(name);
        let followers = world.followers(&author);
        let listed = harness.store.followers(&author, None, 100).await.unwrap();
        let count = harness.store.count_followers(&author).await.unwrap();
        let listed: BTreeSet<UserId> = listed.into_iter().collect();
        if listed != followers || count != followers.len() as u64 {
            return Err(format!("{name}: {count} and {listed:?}, not {followers:?}"));
        }
        let policy = harness.store.author(&author).await.unwrap().recents.policy;
        let is_right = match policy.mode {
            FanOutMode::Push => count < settings.pull_from,
            FanOutMode::Switching => false,
            FanOutMode::Pull => count >= settings.push_below,
        };
        if !is_right {
            return Err(format!("{name} has {count} followers and is {policy:?}"));
        }
        for follower in followers.iter().filter(|_| policy.mode == FanOutMode::Pull) {
            let state = harness.store.reader_state(follower, harness.now()).await.unwrap();
            if !state.reader.pull_marks.contains_key(&author) {
                return Err(format!("{follower:?} has no mark of {name}, who is pulled"));
            }
        }
    }
    Ok(())
}

/// Whom a reader follows is listed, and what they may see is pushed or pulled.
pub(in crate::feed) async fn check_readers(harness: &Harness, world: &ReferenceFeed) -> Result {
    let settings = FeedSettings::parse(SETTINGS)?;
    for name in PEOPLE {
        let user = person(name);
        let following = world.following(&user);
        let listed = harness.store.following(&user, None, None).await.unwrap();
        let state = harness.store.reader_state(&user, harness.now()).await.unwrap();
        let count = usize::try_from(state.following).unwrap_or(0);
        let listed: BTreeSet<UserId> = listed.into_iter().collect();
        if listed != following || count != following.len() {
            return Err(format!("{name} follows {count}, {listed:?}, not {following:?}"));
        }
        let reader = state.reader;
        // Nothing is written for a reader who is away; their next visit says that nothing counts.
        if matches!(reader.visit(harness.now(), &settings), ReaderVisit::Returned(_)) {
            continue;
        }
        let timeline = harness.store.timeline(&user, PostId::MAX, 1_000).await.unwrap();
        let pushed: BTreeSet<PostId> = timeline.iter().map(|(it, _)| it.post_id).collect();
        for post in world.visible(&user).into_iter().filter(|post| *post >= reader.floor) {
            let author = &world.posts[&post].author;
            if !pushed.contains(&post) && !reader.pull_marks.contains_key(author) {
                let at = world.posts[&post].clone();
                return Err(format!("{at:?} is neither pushed to nor pulled by {reader:?}"));
            }
        }
    }
    Ok(())
}

/// No timeline is longer than it may be, once it was tended.
pub(super) async fn check_lengths(harness: &Harness) -> Result {
    let settings = FeedSettings::parse(SETTINGS)?;
    let most = settings.timeline_size + settings.timeline_size / 10;
    for name in PEOPLE {
        let timeline = harness.store.timeline(&person(name), PostId::MAX, 1_000).await.unwrap();
        if timeline.len() > most {
            return Err(format!("{name} has a timeline of {}", timeline.len()));
        }
    }
    Ok(())
}

pub(super) async fn check_counts(harness: &Harness, known: &Model) -> Result {
    for (note, noted) in &known.posts {
        if !matches!(noted.stage, PostStage::Live(_)) {
            continue;
        }
        let entry = harness.store.post(noted.id).await.unwrap().ok_or("a post is gone")?;
        let is = [entry.counts.likes, entry.counts.comments, entry.counts.shares];
        let (likes, comments, shares) = known.counted(note);
        if is != [likes, comments, shares].map(|count| count as u64) {
            return Err(format!("{note} counts {is:?}, not {likes}, {comments}, {shares}"));
        }
    }
    Ok(())
}

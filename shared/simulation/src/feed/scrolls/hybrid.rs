//! A small system of timelines, marks and floors beside the model, as the store will keep them.

use std::collections::{BTreeMap, BTreeSet};

use super::ops::Op;
use crate::feed::reference::ReferenceFeed;
use crate::feed::samples::{at, id, person, post};
use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::candidates::{
    CandidateSources, PostReference, RecentPosts, candidate_sources, merge_runs,
};
use domain::feed::fan_out::{PageInput, TimelineWrite, page_writes};
use domain::feed::rank::Candidate;
use domain::feed::reader::{Reader, ReaderVisit};
use domain::feed::{
    Counts, FanOutMode, FanOutPolicy, FanOutTask, FeedPage, FeedPager, FeedSettings, Interaction,
    PagerStep, Post, PostBody, PostId, Privacy, RankWeights, ReferenceRun, Relationship,
    SocialAction,
};

/// Everything small, so that every rule is met often.
pub(super) const SETTINGS: FeedSettings = FeedSettings {
    pull_from: 3,
    push_below: 2,
    timeline_size: 6,
    recent_size: 3,
    candidate_batch: 4,
    ..FeedSettings::DEFAULT
};

pub(super) const WEIGHTS: RankWeights =
    RankWeights { window: 5, author_cap: 2, author_span: 4, ..RankWeights::CURRENT };

pub(super) const PEOPLE: u64 = 5;
const DAY: i64 = 86_400;

#[derive(Default)]
pub(super) struct HybridFeed {
    pub(super) world: ReferenceFeed,
    readers: BTreeMap<UserId, Reader>,
    timelines: BTreeMap<UserId, BTreeSet<PostReference>>,
    recents: BTreeMap<UserId, RecentPosts>,
    second: i64,
}

impl HybridFeed {
    pub(super) fn now(&self) -> Timestamp {
        at(self.second)
    }

    /// After some things have happened.
    pub(super) fn after(ops: Vec<Op>) -> Self {
        let mut hybrid = Self::default();
        for op in ops {
            hybrid.play(op);
        }
        hybrid
    }

    fn reader(&mut self, who: &UserId) -> &mut Reader {
        self.readers.entry(who.clone()).or_insert_with(|| Reader::new(who.clone(), at(0)))
    }

    pub(super) fn play(&mut self, op: Op) {
        self.second += 1;
        let now = self.now();
        let nth = |world: &ReferenceFeed, which: usize| {
            let count = world.posts.len().max(1);
            world.posts.values().nth(which % count).cloned()
        };
        match op {
            Op::Post(author, privacy) => self.write(author, privacy),
            Op::Edit(which, privacy) => {
                let Some(before) = nth(&self.world, which).filter(|post| !post.is_gone()) else {
                    return;
                };
                let body = PostBody { privacy, ..before.body.clone() };
                let after = Post { body, ..before.clone() };
                self.world.posts.insert(after.id, after.clone());
                if after.is_wider_than(&before) {
                    self.fan_out(&after);
                }
            }
            Op::Delete(which) => {
                let Some(gone) = nth(&self.world, which).and_then(|post| post.deleted(now)) else {
                    return;
                };
                if which % 2 == 0 {
                    self.recents.entry(gone.author.clone()).or_default().remove(gone.id);
                }
                self.world.posts.insert(gone.id, gone);
            }
            Op::Hide(which) => {
                let Some(post) = nth(&self.world, which) else { return };
                let next = post.hidden(now).or_else(|| post.unhidden());
                self.world.posts.extend(next.map(|next| (next.id, next)));
            }
            Op::Like(which, who) => {
                let Some(post) = nth(&self.world, which) else { return };
                self.world.counts.entry(post.id).or_default().likes += 1;
                self.world.interact(&person(who), Interaction::Like, &post.author, now);
                self.world.seen.entry(person(who)).or_default().record([post.id]);
            }
            Op::Act(me, act, other) => self.act(&person(me), act, &person(other)),
            Op::Trim(who) => self.trim(&person(who)),
            Op::Away(who) => {
                let long_ago = at(self.second - 8 * DAY);
                self.reader(&person(who)).last_seen_at = long_ago;
            }
            Op::Rebuild(who) => {
                self.visit(&person(who));
                self.rebuild(&person(who));
            }
        }
    }

    fn write(&mut self, author: u64, privacy: Privacy) {
        let row = self.recents.entry(person(author)).or_default();
        let plain = post(self.second, author);
        let body = PostBody { privacy, ..plain.body.clone() };
        let written = Post { body, delivery: row.policy.post_delivery(), ..plain };
        row.add(written.id, written.delivery, &SETTINGS);
        self.world.posts.insert(written.id, written.clone());
        self.fan_out(&written);
    }

    /// Twice, as queues do.
    fn fan_out(&mut self, post: &Post) {
        let followers: Vec<_> = self.world.followers(&post.author).into_iter().collect();
        let followers: Vec<_> = followers
            .into_iter()
            .map(|who| (who.clone(), self.reader(&who).last_seen_at))
            .collect();
        let found = PageInput {
            author: &post.author,
            post: Some(post),
            policy: FanOutPolicy::default(),
            followers: &followers,
        };
        let task = FanOutTask::Push { post_id: post.id, version: post.version };
        let writes = page_writes(task, &found, self.now(), &SETTINGS);
        for write in writes.clone().into_iter().chain(writes) {
            if let TimelineWrite::AddReference(reader, reference) = write {
                self.timelines.entry(reader).or_default().insert(reference);
            }
        }
    }

    fn act(&mut self, me: &UserId, act: SocialAction, other: &UserId) {
        let before = self.world.relationship(me, other).mine.follows;
        if self.world.act(me, act, other).is_err() {
            return;
        }
        if !before && self.world.relationship(me, other).mine.follows {
            let row = self.recents.entry(other.clone()).or_default().clone();
            let reader = self.reader(me);
            if let Some(epoch) = row.policy.mark_epoch() {
                reader.pull_marks.insert(other.clone(), epoch);
            }
            let (next, references) = reader.backfill(other, &row);
            *reader = next;
            self.timelines.entry(me.clone()).or_default().extend(references);
        }
        for author in [me, other] {
            self.count(author);
        }
    }

    fn count(&mut self, author: &UserId) {
        let followers = self.world.followers(author);
        let row = self.recents.entry(author.clone()).or_default();
        let Some(policy) = row.policy.for_follower_count(followers.len() as u64, &SETTINGS) else {
            return;
        };
        row.policy = policy;
        if policy.mode == FanOutMode::Switching {
            row.policy = policy.all_marked(policy.epoch).unwrap();
            for follower in followers {
                self.reader(&follower).pull_marks.insert(author.clone(), policy.epoch);
            }
        }
    }

    fn trim(&mut self, who: &UserId) {
        let now = self.now();
        let timeline = self.timelines.entry(who.clone()).or_default();
        let rows: Vec<_> = timeline.iter().rev().cloned().collect();
        let reader = self.reader(who);
        if let Some(truncated_at) = reader.trim(&rows, now, &SETTINGS) {
            reader.floor = truncated_at.floor;
            let timeline = self.timelines.entry(who.clone()).or_default();
            timeline.retain(|row| !truncated_at.dropped.contains(&row.post_id));
        }
        let recents = self.recents.clone();
        let reader = self.reader(who);
        for (author, _) in reader.obsolete_marks(&recents) {
            reader.pull_marks.remove(&author);
        }
    }

    pub(super) fn visit(&mut self, who: &UserId) {
        let now = self.now();
        let reader = self.reader(who);
        match reader.visit(now, &SETTINGS) {
            ReaderVisit::Recent => {}
            ReaderVisit::Recorded(next) | ReaderVisit::Returned(next) => *reader = next,
        }
    }

    fn rebuild(&mut self, who: &UserId) {
        if self.reader(who).floor != PostId::MAX {
            return;
        }
        let following = self.world.following(who);
        let rows: Vec<_> = following
            .into_iter()
            .map(|author| (author.clone(), self.recents.get(&author).cloned().unwrap_or_default()))
            .collect();
        let reader = self.reader(who);
        let run = reader.rebuild(&rows, &SETTINGS);
        reader.floor = run.floor.unwrap_or(PostId::MIN);
        self.timelines.entry(who.clone()).or_default().extend(run.references);
    }

    fn pull(&self, author: &UserId, below: PostId) -> ReferenceRun {
        let row = self.recents.get(author).cloned().unwrap_or_default();
        row.run_below(author, below).unwrap_or_else(|| {
            let posts = self.world.posts.range(..below).rev().map(|(_, post)| post);
            let ids: Vec<_> =
                posts.filter(|post| post.author == *author).map(|post| post.id).take(2).collect();
            ReferenceRun::from_query(author, &ids, 2)
        })
    }

    fn gather(&mut self, who: &UserId, below: PostId, most: usize) -> ReferenceRun {
        let reader = self.reader(who).clone();
        let runs = match candidate_sources(&reader, below) {
            CandidateSources::Timeline(marked) => {
                let rows = self.timelines.entry(who.clone()).or_default().iter().rev();
                let rows = rows.filter(|row| row.post_id < below).take(most).cloned().collect();
                let timeline = ReferenceRun::from_timeline(rows, most, &reader);
                let pulled = marked.iter().map(|author| self.pull(author, below));
                std::iter::once(timeline).chain(pulled).collect()
            }
            CandidateSources::AllFollowed => {
                let following = self.world.following(who);
                following.iter().map(|author| self.pull(author, below)).collect()
            }
        };
        merge_runs(runs, below, most)
    }

    /// A page, with something that happens between any two reads.
    pub(super) fn page(
        &mut self,
        scroll: &mut FeedPager,
        who: &UserId,
        mut between: impl FnMut(&mut Self),
    ) -> FeedPage {
        for _ in 0..1_000 {
            match scroll.step() {
                PagerStep::FetchCandidates { below, limit } => {
                    let run = self.gather(who, below, limit);
                    scroll.candidates_fetched(run);
                }
                PagerStep::Hydrate(posts) => {
                    let at = scroll.ranked_at();
                    let found =
                        posts.iter().filter_map(|post| self.world.candidate(*post, who, at));
                    scroll.posts_hydrated(found.collect());
                }
                PagerStep::Done(page) => {
                    let timeline = self.timelines.entry(who.clone()).or_default();
                    timeline.retain(|row| !page.stale.contains(&row.post_id));
                    return page;
                }
            }
            between(self);
        }
        panic!("a page takes for ever")
    }
}

pub(super) fn references(count: i64) -> Vec<PostReference> {
    let reference = |n| PostReference { post_id: id(n), author: person(u64::try_from(n).unwrap()) };
    (0..count).rev().map(reference).collect()
}

pub(super) fn candidates(references: &[PostReference]) -> Vec<Candidate> {
    let posts = (0_i64..).zip(references.iter().rev());
    followed(posts.map(|(n, _)| post(n, u64::try_from(n).unwrap())))
}

/// Posts of people whom the reader follows.
pub(super) fn followed(posts: impl IntoIterator<Item = Post>) -> Vec<Candidate> {
    let follows = domain::feed::Side { follows: true, ..Default::default() };
    posts
        .into_iter()
        .map(|post| Candidate {
            post,
            counts: Counts::default(),
            relationship: Relationship { mine: follows, ..Relationship::default() },
            affinity: 0.0,
            seen: false,
        })
        .collect()
}

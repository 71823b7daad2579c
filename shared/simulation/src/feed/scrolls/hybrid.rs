//! A small system of timelines, marks and floors beside the model, as the store will keep them.

use std::collections::{BTreeMap, BTreeSet};

use super::ops::Op;
use crate::feed::reference::World;
use crate::feed::samples::{at, id, person, post};
use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::fan_out::{Found, Write, work};
use domain::feed::gather::{Recents, Reference, Sources, merge, sources};
use domain::feed::rank::Candidate;
use domain::feed::reader::{Arrival, Reader};
use domain::feed::{
    Act, Body, Counts, Interaction, Mode, Page, Post, PostId, Privacy, Reach, Run, Scroll,
    Settings, Step, Task, Tie, Weights,
};

/// Everything small, so that every rule is met often.
pub(super) const SETTINGS: Settings =
    Settings { pull_from: 3, push_below: 2, kept: 6, recents: 3, gathered: 4, ..Settings::DEFAULT };

pub(super) const WEIGHTS: Weights = Weights { window: 5, cap: 2, span: 4, ..Weights::CURRENT };

pub(super) const PEOPLE: u64 = 5;
const DAY: i64 = 86_400;

#[derive(Default)]
pub(super) struct Hybrid {
    pub(super) world: World,
    readers: BTreeMap<UserId, Reader>,
    timelines: BTreeMap<UserId, BTreeSet<Reference>>,
    recents: BTreeMap<UserId, Recents>,
    second: i64,
}

impl Hybrid {
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
        let nth = |world: &World, which: usize| {
            let count = world.posts.len().max(1);
            world.posts.values().nth(which % count).cloned()
        };
        match op {
            Op::Post(author, privacy) => self.write(author, privacy),
            Op::Edit(which, privacy) => {
                let Some(before) = nth(&self.world, which).filter(|post| !post.is_gone()) else {
                    return;
                };
                let body = Body { privacy, ..before.body.clone() };
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
                self.world.seen.entry(person(who)).or_default().note([post.id]);
            }
            Op::Act(me, act, other) => self.act(&person(me), act, &person(other)),
            Op::Trim(who) => self.trim(&person(who)),
            Op::Away(who) => {
                let long_ago = at(self.second - 8 * DAY);
                self.reader(&person(who)).seen_at = long_ago;
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
        let body = Body { privacy, ..plain.body.clone() };
        let written = Post { body, fan: row.reach.fan(), ..plain };
        row.add(written.id, written.fan, &SETTINGS);
        self.world.posts.insert(written.id, written.clone());
        self.fan_out(&written);
    }

    /// Twice, as queues do.
    fn fan_out(&mut self, post: &Post) {
        let followers: Vec<_> = self.world.followers(&post.author).into_iter().collect();
        let followers: Vec<_> =
            followers.into_iter().map(|who| (who.clone(), self.reader(&who).seen_at)).collect();
        let found = Found {
            author: &post.author,
            post: Some(post),
            reach: Reach::default(),
            followers: &followers,
        };
        let task = Task::Push { post_id: post.id, version: post.version };
        let writes = work(task, &found, self.now(), &SETTINGS);
        for write in writes.clone().into_iter().chain(writes) {
            if let Write::Refer(reader, reference) = write {
                self.timelines.entry(reader).or_default().insert(reference);
            }
        }
    }

    fn act(&mut self, me: &UserId, act: Act, other: &UserId) {
        let before = self.world.tie(me, other).mine.follows;
        if self.world.act(me, act, other).is_err() {
            return;
        }
        if !before && self.world.tie(me, other).mine.follows {
            let row = self.recents.entry(other.clone()).or_default().clone();
            let reader = self.reader(me);
            if let Some(epoch) = row.reach.mark() {
                reader.marks.insert(other.clone(), epoch);
            }
            let (next, references) = reader.backfilled(other, &row);
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
        let Some(reach) = row.reach.counted(followers.len() as u64, &SETTINGS) else { return };
        row.reach = reach;
        if reach.mode == Mode::Rising {
            row.reach = reach.marked(reach.epoch).unwrap();
            for follower in followers {
                self.reader(&follower).marks.insert(author.clone(), reach.epoch);
            }
        }
    }

    fn trim(&mut self, who: &UserId) {
        let now = self.now();
        let timeline = self.timelines.entry(who.clone()).or_default();
        let rows: Vec<_> = timeline.iter().rev().cloned().collect();
        let reader = self.reader(who);
        if let Some(cut) = reader.trimmed(&rows, now, &SETTINGS) {
            reader.floor = cut.floor;
            let timeline = self.timelines.entry(who.clone()).or_default();
            timeline.retain(|row| !cut.dropped.contains(&row.post_id));
        }
        let recents = self.recents.clone();
        let reader = self.reader(who);
        for (author, _) in reader.outlived(&recents) {
            reader.marks.remove(&author);
        }
    }

    pub(super) fn visit(&mut self, who: &UserId) {
        let now = self.now();
        let reader = self.reader(who);
        match reader.arrives(now, &SETTINGS) {
            Arrival::Here => {}
            Arrival::Noted(next) | Arrival::Returned(next) => *reader = next,
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
        let run = reader.rebuilt(&rows, &SETTINGS);
        reader.floor = run.floor.unwrap_or(PostId::MIN);
        self.timelines.entry(who.clone()).or_default().extend(run.references);
    }

    fn pull(&self, author: &UserId, below: PostId) -> Run {
        let row = self.recents.get(author).cloned().unwrap_or_default();
        row.run(author, below).unwrap_or_else(|| {
            let posts = self.world.posts.range(..below).rev().map(|(_, post)| post);
            let ids: Vec<_> =
                posts.filter(|post| post.author == *author).map(|post| post.id).take(2).collect();
            Run::queried(author, &ids, 2)
        })
    }

    fn gather(&mut self, who: &UserId, below: PostId, most: usize) -> Run {
        let reader = self.reader(who).clone();
        let runs = match sources(&reader, below) {
            Sources::Timeline(marked) => {
                let rows = self.timelines.entry(who.clone()).or_default().iter().rev();
                let rows = rows.filter(|row| row.post_id < below).take(most).cloned().collect();
                let timeline = Run::timeline(rows, most, &reader);
                let pulled = marked.iter().map(|author| self.pull(author, below));
                std::iter::once(timeline).chain(pulled).collect()
            }
            Sources::Everybody => {
                let following = self.world.following(who);
                following.iter().map(|author| self.pull(author, below)).collect()
            }
        };
        merge(runs, below, most)
    }

    /// A page, with something that happens between any two reads.
    pub(super) fn page(
        &mut self,
        scroll: &mut Scroll,
        who: &UserId,
        mut between: impl FnMut(&mut Self),
    ) -> Page {
        for _ in 0..1_000 {
            match scroll.step() {
                Step::Gather { below, most } => {
                    let run = self.gather(who, below, most);
                    scroll.gathered(run);
                }
                Step::Hydrate(posts) => {
                    let at = scroll.ranked_at();
                    let found =
                        posts.iter().filter_map(|post| self.world.candidate(*post, who, at));
                    scroll.hydrated(found.collect());
                }
                Step::Done(page) => {
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

/// The newest posts of many authors.
pub(super) fn references(count: i64) -> Vec<Reference> {
    let reference = |n| Reference { post_id: id(n), author: person(u64::try_from(n).unwrap()) };
    (0..count).rev().map(reference).collect()
}

/// The same, read.
pub(super) fn candidates(references: &[Reference]) -> Vec<Candidate> {
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
            tie: Tie { mine: follows, ..Tie::default() },
            affinity: 0.0,
            seen: false,
        })
        .collect()
}

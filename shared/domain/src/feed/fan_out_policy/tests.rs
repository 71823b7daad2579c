//! Hysteresis as a table, and crossing as an exhaustive search.

use super::*;
use crate::model_check::{Outcome, visit_all};

#[test]
fn crossing_has_hysteresis() {
    let settings = FeedSettings::DEFAULT;
    for (mode, followers, next) in [
        (FanOutMode::Push, 9_999, None),
        (FanOutMode::Push, 10_000, Some(FanOutMode::Switching)),
        (FanOutMode::Switching, 10_000, None),
        (FanOutMode::Switching, 9_000, None),
        (FanOutMode::Switching, 8_999, Some(FanOutMode::Push)),
        (FanOutMode::Pull, 9_000, None),
        (FanOutMode::Pull, 8_999, Some(FanOutMode::Push)),
        (FanOutMode::Pull, 10_000_000, None),
    ] {
        let policy = FanOutPolicy { mode, epoch: 4 };
        let found = policy.for_follower_count(followers, &settings);
        assert_eq!(found, next.map(|mode| FanOutPolicy { mode, epoch: 5 }), "{mode:?} {followers}");
    }
    let rising = FanOutPolicy { mode: FanOutMode::Switching, epoch: 5 };
    assert_eq!(rising.all_marked(5), Some(FanOutPolicy { mode: FanOutMode::Pull, epoch: 6 }));
    assert_eq!(rising.all_marked(3), None, "pages of an earlier rise");
    assert_eq!(FanOutPolicy { mode: FanOutMode::Push, epoch: 5 }.all_marked(5), None);
}

#[test]
fn a_mark_is_kept_while_it_may_be_needed() {
    let pushed = FanOutPolicy { mode: FanOutMode::Push, epoch: 5 };
    let id = crate::feed::samples::id;
    assert!(pushed.is_mark_obsolete(3, None, PostId::MIN));
    assert!(pushed.is_mark_obsolete(3, Some(id(4)), id(5)));
    assert!(!pushed.is_mark_obsolete(3, Some(id(5)), id(5)));
    assert!(!pushed.is_mark_obsolete(5, None, id(5)), "a mark of a later rise");
    assert!(!FanOutPolicy { mode: FanOutMode::Switching, epoch: 6 }.is_mark_obsolete(
        3,
        None,
        id(5)
    ));
}

#[test]
fn followers_are_spread_over_counters_and_add_up() {
    let mut counters = [FollowerCounter::default(); FOLLOWER_COUNTERS as usize];
    for n in 0..1_600 {
        counters[usize::from(follower_counter(&crate::feed::samples::person(n)))].followers += 1;
    }
    assert_eq!(followers(&counters), 1_600);
    assert!(counters.iter().all(|counter| (50..=150).contains(&counter.followers)));
    assert_eq!(followers([&FollowerCounter { followers: -1, epoch: 0 }]), 0);
}

const PEOPLE: usize = 2;
const POSTS: usize = 2;

/// One author, two people who may follow, two posts: small enough to see every order of events.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    policy: FanOutPolicy,
    crossings: u8,
    /// The epoch in the followers' counter.
    counter: u64,
    people: [Person; PEOPLE],
    posts: [Option<Post>; POSTS],
    /// How many people the marking has passed, and for which epoch.
    marking: Option<(u64, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Person {
    looked: Option<FanOutPolicy>,
    follows: bool,
    mark: bool,
    backfilled: bool,
    timeline: [bool; POSTS],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Post {
    delivery: PostDelivery,
    /// How many people its fan-out has passed.
    passed: usize,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Rise,
    MarkNext,
    Fall,
    Visit(usize),
    Follow(usize),
    Backfill(usize),
    Write(usize),
    PushNext(usize),
}

fn steps(_: &World) -> Vec<Step> {
    let mut steps = vec![Step::Rise, Step::MarkNext, Step::Fall];
    for person in 0..PEOPLE {
        steps.extend([Step::Visit(person), Step::Follow(person), Step::Backfill(person)]);
    }
    for post in 0..POSTS {
        steps.extend([Step::Write(post), Step::PushNext(post)]);
    }
    steps
}

fn settings() -> FeedSettings {
    FeedSettings { pull_from: 2, push_below: 1, ..FeedSettings::DEFAULT }
}

/// `checked` says whether a follow fails when the epoch has moved on.
fn after(world: &World, step: Step, checked: bool) -> Result<Option<World>, &'static str> {
    let mut next = world.clone();
    let moved = match step {
        Step::Rise => next.cross(2),
        Step::Fall => next.cross(0),
        Step::MarkNext => next.mark_next(),
        Step::Visit(who) => {
            let person = &mut next.people[who];
            let first = !person.follows && person.looked.is_none();
            person.looked = Some(world.policy);
            first
        }
        Step::Follow(who) => next.follow(who, checked),
        Step::Backfill(who) => {
            let written = world.posts.map(|post| post.is_some());
            let person = &mut next.people[who];
            let due = person.follows && !person.backfilled;
            person.backfilled = true;
            for (kept, written) in person.timeline.iter_mut().zip(written) {
                *kept |= written;
            }
            due
        }
        Step::Write(post) => {
            let due =
                world.posts[post].is_none() && world.posts[..post].iter().all(Option::is_some);
            next.posts[post] = Some(Post { delivery: world.policy.post_delivery(), passed: 0 });
            due
        }
        Step::PushNext(post) => next.push_next(post),
    };
    if !moved {
        return Ok(None);
    }
    next.check()?;
    Ok(Some(next))
}

impl World {
    fn cross(&mut self, followers: u64) -> bool {
        let Some(policy) = self.policy.for_follower_count(followers, &settings()) else {
            return false;
        };
        self.crossings += 1;
        self.policy = policy;
        self.counter = policy.epoch;
        if policy.mode == FanOutMode::Switching {
            self.marking = Some((policy.epoch, 0));
        }
        self.crossings <= 3
    }

    fn mark_next(&mut self) -> bool {
        let Some((epoch, passed)) = self.marking else { return false };
        if passed == PEOPLE {
            self.marking = None;
            if let Some(policy) = self.policy.all_marked(epoch) {
                self.policy = policy;
                self.counter = policy.epoch;
            }
        } else {
            self.people[passed].mark |= self.people[passed].follows;
            self.marking = Some((epoch, passed + 1));
        }
        true
    }

    fn follow(&mut self, who: usize, checked: bool) -> bool {
        let counter = self.counter;
        let person = &mut self.people[who];
        let Some(policy) = person.looked.take().filter(|_| !person.follows) else { return false };
        if !checked || policy.epoch == counter {
            person.follows = true;
            person.mark |= policy.mark_epoch().is_some();
        }
        true
    }

    fn push_next(&mut self, index: usize) -> bool {
        let Some(post) = self.posts[index].filter(|post| post.delivery == PostDelivery::Push)
        else {
            return false;
        };
        if post.passed == PEOPLE {
            return false;
        }
        let person = &mut self.people[post.passed];
        person.timeline[index] |= person.follows;
        self.posts[index] = Some(Post { passed: post.passed + 1, ..post });
        true
    }

    /// Once the fan-out of a post has passed a reader, they have it, pushed or pulled.
    fn check(&self) -> Result<(), &'static str> {
        for (place, person) in self.people.iter().enumerate() {
            if !person.follows || !person.backfilled {
                continue;
            }
            for (index, post) in self.posts.iter().enumerate() {
                let Some(post) = post else { continue };
                let settled = post.delivery == PostDelivery::Pull || post.passed > place;
                let pulled = person.mark && post.delivery == PostDelivery::Pull;
                if settled && !person.timeline[index] && !pulled {
                    return Err("a follower misses a post");
                }
            }
        }
        Ok(())
    }
}

fn start() -> World {
    World {
        policy: FanOutPolicy::default(),
        crossings: 0,
        counter: 0,
        people: [Person::default(); PEOPLE],
        posts: [None; POSTS],
        marking: None,
    }
}

#[test]
fn crossing_either_way_loses_nothing_in_any_order_of_events() {
    match visit_all(start(), steps, |world, step| after(world, step, true)) {
        Outcome::Sound { states } => assert!(states > 10_000, "{states}"),
        Outcome::Broken(violation, path) => panic!("{violation}: {path:?}"),
    }
}

/// What the search is for: it has to find what the epoch in the counters prevents.
#[test]
fn without_the_epoch_in_the_counters_a_follower_slips_through() {
    let outcome = visit_all(start(), steps, |world, step| after(world, step, false));
    assert!(matches!(outcome, Outcome::Broken(..)));
}

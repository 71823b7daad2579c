//! The feed, put together from timelines and pulled posts, against the feed as it should be.

mod hybrid;
mod ops;

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::feed::samples::{at, id, person, post};
use domain::accounts::UserId;
use domain::feed::rank::RankedItem;
use domain::feed::{
    FeedCursor, FeedOrder, FeedPage, FeedPager, FeedSettings, PagerStep, PostId, Privacy,
    RankWeights, ReferenceRun, Relationship,
};
use hybrid::{HybridFeed, PEOPLE, SETTINGS, WEIGHTS};
use ops::{Op, ops};

fn start(hybrid: &HybridFeed, reader: &UserId, order: FeedOrder, limit: usize) -> FeedPager {
    FeedPager::start(reader.clone(), order, limit, &WEIGHTS, &SETTINGS, hybrid.now()).unwrap()
}

fn resume(reader: &UserId, cursor: &FeedCursor, limit: usize) -> FeedPager {
    // There and back as text, as a caller would.
    let cursor = FeedCursor::decode(&cursor.encode(reader), reader).unwrap();
    FeedPager::resume(reader.clone(), cursor, limit, &WEIGHTS, &SETTINGS).unwrap()
}

fn ids(page: &FeedPage) -> Vec<PostId> {
    page.items.iter().map(RankedItem::id).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Once nothing is on its way, pages are what the model says.
    #[test]
    fn a_quiet_feed_is_the_model_page_by_page(
        ops in ops(120), limit in 1_usize..9, latest: bool,
    ) {
        let mut hybrid = HybridFeed::after(ops);
        let order = if latest { FeedOrder::Latest } else { FeedOrder::Ranked };
        for reader in (0..PEOPLE).map(person) {
            hybrid.visit(&reader);
            let mut scroll = start(&hybrid, &reader, order, limit);
            let expected = hybrid.world.pages(&reader, order, &WEIGHTS, hybrid.now(), limit);
            let mut found = Vec::new();
            loop {
                let page = hybrid.page(&mut scroll, &reader, |_| {});
                if !page.items.is_empty() {
                    found.push(ids(&page));
                }
                let Some(cursor) = page.next else { break };
                scroll = resume(&reader, &cursor, limit);
            }
            prop_assert_eq!(found, expected);
        }
    }

    /// While anything happens between any two reads, nothing is shown twice, nothing that was there all
    /// the time is passed over, nothing is shown that may not be, and pages are full.
    #[test]
    fn a_scroll_under_writes_has_no_duplicates_and_no_omissions(
        before in ops(80), during in ops(80), limit in 1_usize..9, latest: bool, every in 1_usize..4,
    ) {
        let mut hybrid = HybridFeed::after(before);
        let reader = person(0);
        hybrid.visit(&reader);
        let order = if latest { FeedOrder::Latest } else { FeedOrder::Ranked };
        let mut always: BTreeSet<_> = hybrid.world.visible(&reader).into_iter().collect();
        let mut writes = during.into_iter().filter(|op| *op != Op::Away(0));
        let mut shown = Vec::new();
        let mut scroll = start(&hybrid, &reader, order, limit);
        let mut step = 0;
        loop {
            let page = hybrid.page(&mut scroll, &reader, |hybrid| {
                step += 1;
                if step % every == 0 && let Some(op) = writes.next() {
                    hybrid.play(op);
                    let visible: BTreeSet<_> = hybrid.world.visible(&reader).into_iter().collect();
                    always.retain(|post| visible.contains(post));
                }
            });
            let mut now = ids(&page);
            prop_assert!(page.next.is_none() || now.len() == limit, "a page is full before the end");
            shown.append(&mut now);
            let Some(cursor) = page.next else { break };
            scroll = resume(&reader, &cursor, limit);
            if let Some(op) = writes.next() {
                hybrid.play(op);
                let visible: BTreeSet<_> = hybrid.world.visible(&reader).into_iter().collect();
                always.retain(|post| visible.contains(post));
            }
        }
        let once: BTreeSet<_> = shown.iter().copied().collect();
        prop_assert_eq!(once.len(), shown.len(), "nothing is shown twice: {:?}", shown);
        prop_assert!(always.is_subset(&once), "passed over: {:?}", always.difference(&once));
    }

    /// What is shown may be seen at the moment at which it was read.
    #[test]
    fn nothing_is_shown_that_may_not_be_seen(before in ops(80), after in ops(20), limit in 1_usize..9) {
        let mut hybrid = HybridFeed::after(before);
        let reader = person(0);
        hybrid.visit(&reader);
        let page = hybrid.page(&mut start(&hybrid, &reader, FeedOrder::Ranked, limit), &reader, |_| {});
        for op in after.into_iter().filter(|op| *op != Op::Away(0)) {
            hybrid.play(op);
        }
        if let Some(cursor) = page.next {
            let page = hybrid.page(&mut resume(&reader, &cursor, limit), &reader, |_| {});
            let visible = hybrid.world.visible(&reader);
            prop_assert!(ids(&page).iter().all(|post| visible.contains(post)));
        }
    }

    /// A made-up cursor shows a reader nothing but their own feed.
    #[test]
    fn a_made_up_cursor_reveals_nothing(before in ops(80), named in prop::collection::btree_set(0_i64..90, 1..20)) {
        let mut hybrid = HybridFeed::after(before);
        let reader = person(0);
        hybrid.visit(&reader);
        let cursor = FeedCursor {
            order: FeedOrder::Ranked,
            weights: WEIGHTS.version,
            ranked_at: at(0),
            newest: PostId::MAX,
            below: PostId::MIN,
            remaining: named.into_iter().map(id).collect(),
        };
        let page = hybrid.page(&mut resume(&reader, &cursor, 50), &reader, |_| {});
        let visible = hybrid.world.visible(&reader);
        prop_assert!(ids(&page).iter().all(|post| visible.contains(post)));
    }
}

#[test]
fn pages_have_a_size() {
    for limit in [0, 51] {
        let begun =
            FeedPager::start(person(1), FeedOrder::Ranked, limit, &WEIGHTS, &SETTINGS, at(0))
                .unwrap_err();
        assert!(begun.to_string().starts_with("limit: "));
    }
}

#[test]
fn a_floor_that_does_not_get_on_ends_the_feed_instead_of_the_function() {
    let mut scroll =
        FeedPager::start(person(1), FeedOrder::Ranked, 9, &WEIGHTS, &SETTINGS, at(0)).unwrap();
    assert!(matches!(scroll.step(), PagerStep::FetchCandidates { .. }));
    scroll.candidates_fetched(ReferenceRun { references: Vec::new(), floor: Some(PostId::MAX) });
    assert!(matches!(scroll.step(), PagerStep::Done(page) if page.next.is_none()));
}

/// A reader follows an author of thousands of posts, nearly all of them for friends.
#[test]
fn who_may_see_next_to_nothing_gets_short_pages_and_misses_nothing() {
    let all: Vec<_> = (0..9_000).rev().map(|n| post(n, 1)).collect();
    let is_open = |id: PostId| all.iter().position(|post| post.id == id).unwrap() % 4_000 == 3_999;
    for order in [FeedOrder::Ranked, FeedOrder::Latest] {
        let settings = FeedSettings::DEFAULT;
        let mut scroll =
            FeedPager::start(person(2), order, 5, &RankWeights::CURRENT, &settings, at(9_000))
                .unwrap();
        let (mut shown, mut pages) = (Vec::new(), 0);
        loop {
            let page = match scroll.step() {
                PagerStep::FetchCandidates { below, limit } => {
                    let rest = all.iter().filter(|post| post.id < below).take(limit);
                    let posts: Vec<_> = rest.map(|post| post.id).collect();
                    scroll.candidates_fetched(ReferenceRun::from_query(&person(1), &posts, limit));
                    continue;
                }
                PagerStep::Hydrate(posts) => {
                    let found = all.iter().filter(|post| posts.contains(&post.id)).cloned();
                    let candidates = hybrid::followed(found.map(|mut post| {
                        if !is_open(post.id) {
                            post.body.privacy = Privacy::Friends;
                        }
                        post
                    }));
                    scroll.posts_hydrated(candidates);
                    continue;
                }
                PagerStep::Done(page) => page,
            };
            pages += 1;
            shown.extend(ids(&page));
            let Some(cursor) = page.next else { break };
            let cursor = FeedCursor::decode(&cursor.encode(&person(2)), &person(2)).unwrap();
            scroll =
                FeedPager::resume(person(2), cursor, 5, &RankWeights::CURRENT, &settings).unwrap();
        }
        assert_eq!(shown.len(), 2, "{order:?}");
        assert!(shown.iter().all(|post| is_open(*post)) && shown[0] != shown[1]);
        assert!((3..=30).contains(&pages), "{order:?}: each ends after a while: {pages}");
    }
}

/// What is not followed at the moment may be again, and then it must not have been cleaned away.
#[test]
fn only_tombstones_are_taken_out_of_timelines() {
    let mut candidates = hybrid::candidates(&hybrid::references(4));
    candidates[0].post = candidates[0].post.deleted(at(9)).unwrap();
    candidates[1].relationship = Relationship::default();
    candidates[2].post = candidates[2].post.hidden(at(9)).unwrap();
    candidates.remove(3);
    let mut scroll =
        FeedPager::start(person(9), FeedOrder::Latest, 9, &WEIGHTS, &FeedSettings::DEFAULT, at(9))
            .unwrap();
    scroll.step();
    scroll.candidates_fetched(ReferenceRun { references: hybrid::references(4), floor: None });
    scroll.step();
    scroll.posts_hydrated(candidates);
    let PagerStep::Done(page) = scroll.step() else { panic!("no page") };
    assert_eq!((page.items.len(), page.stale), (0, vec![id(0)]));
}

/// How many reads a feed takes does not depend on how many are followed.
#[test]
fn a_first_page_takes_one_gathering_and_one_reading() {
    let settings = FeedSettings::DEFAULT;
    let mut scroll =
        FeedPager::start(person(1), FeedOrder::Ranked, 20, &RankWeights::CURRENT, &settings, at(0))
            .unwrap();
    let PagerStep::FetchCandidates { limit: 100, below: PostId::MAX } = scroll.step() else {
        panic!("no gathering")
    };
    let references = hybrid::references(100);
    let candidates = hybrid::candidates(&references);
    scroll.candidates_fetched(ReferenceRun {
        floor: references.last().map(|last| last.post_id),
        references,
    });
    let PagerStep::Hydrate(asked) = scroll.step() else { panic!("no reading") };
    assert_eq!(asked.len(), 100);
    scroll.posts_hydrated(candidates.clone());
    let PagerStep::Done(page) = scroll.step() else { panic!("no page") };
    assert_eq!(page.items.len(), 20);
    let cursor = page.next.unwrap();
    assert_eq!(cursor.remaining.len(), 60);
    // The next one reads what it shows, and a few to spare.
    let mut scroll =
        FeedPager::resume(person(1), cursor, 20, &RankWeights::CURRENT, &settings).unwrap();
    let PagerStep::Hydrate(asked) = scroll.step() else { panic!("no reading") };
    assert_eq!(asked.len(), 25);
    scroll.posts_hydrated(
        candidates.into_iter().filter(|one| asked.contains(&one.post.id)).collect(),
    );
    assert!(matches!(scroll.step(), PagerStep::Done(page) if page.items.len() == 20));
}

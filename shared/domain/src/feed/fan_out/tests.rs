//! Every follower once, however often pages are repeated.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::feed::PostBody;
use crate::feed::samples::{at, person, post};

const SETTINGS: FeedSettings = FeedSettings { page_size: 5, ..FeedSettings::DEFAULT };

/// What a query between two keys finds.
fn query(followers: &BTreeMap<String, UserId>, page: &FollowerPage) -> Vec<UserId> {
    let (after, to) = page.keys();
    let range = (std::ops::Bound::Excluded(after), std::ops::Bound::Excluded(to));
    followers.range(range).take(SETTINGS.page_size).map(|(_, user)| user.clone()).collect()
}

proptest! {
    #[test]
    fn pages_reach_every_follower_once_however_wrong_the_count_is(
        people in prop::collection::btree_set(0_u64..5_000, 0..200), counted in 0_u64..500,
    ) {
        let followers: BTreeMap<_, _> =
            people.iter().map(|n| (follower_key(&person(*n)), person(*n))).collect();
        let mut reached = Vec::new();
        let mut pages = first_pages(counted, &SETTINGS);
        while let Some(page) = pages.pop() {
            let found = query(&followers, &page);
            prop_assert_eq!(&found, &query(&followers, &page), "a retry repeats one page");
            pages.extend(page.next(&found, &SETTINGS));
            reached.extend(found);
        }
        reached.sort();
        let mut expected: Vec<_> = followers.into_values().collect();
        expected.sort();
        prop_assert_eq!(reached, expected);
    }

    #[test]
    fn ranges_cover_all_slots_once(followers in 0_u64..20_000_000) {
        let pages = first_pages(followers, &FeedSettings::DEFAULT);
        prop_assert_eq!(pages[0].range.from, 0);
        prop_assert_eq!(pages.last().unwrap().range.to, u16::MAX);
        for pair in pages.windows(2) {
            prop_assert_eq!(pair[0].range.to + 1, pair[1].range.from);
        }
    }
}

#[test]
fn an_author_with_ten_thousand_followers_is_fanned_out_side_by_side() {
    assert_eq!(first_pages(200, &FeedSettings::DEFAULT).len(), 1);
    assert_eq!(first_pages(10_000, &FeedSettings::DEFAULT).len(), 25);
}

#[test]
fn what_is_pulled_private_or_deleted_is_not_fanned_out() {
    let pulled = Post { delivery: PostDelivery::Pull, ..post(1, 1) };
    assert_eq!(plan_push(&pulled, 10_000_000, &SETTINGS), FanOutPlan::Pulled);
    let private =
        Post { body: PostBody { privacy: Privacy::Private, ..PostBody::default() }, ..post(1, 1) };
    for post in [private, post(1, 1).deleted(at(2)).unwrap()] {
        assert_eq!(plan_push(&post, 9, &SETTINGS), FanOutPlan::Nothing);
    }
    assert_eq!(plan_purge(&post(1, 1), 9, &SETTINGS), FanOutPlan::Nothing);
    assert_eq!(plan_purge(&pulled.deleted(at(2)).unwrap(), 9, &SETTINGS), FanOutPlan::Pulled);
    let gone = plan_purge(&post(1, 1).deleted(at(2)).unwrap(), 9, &SETTINGS);
    assert!(matches!(gone, FanOutPlan::Pages(pages) if pages.len() == 1));
    assert!(
        matches!(plan_push(&post(1, 1), 9, &SETTINGS), FanOutPlan::Pages(pages) if pages.len() == 1)
    );
}

#[test]
fn who_was_away_for_a_week_gets_no_writes() {
    let week = 7 * 86_400;
    assert!(is_active(at(0), at(week - 1), &SETTINGS));
    assert!(!is_active(at(0), at(week), &SETTINGS));
    assert!(is_active(at(9), at(0), &SETTINGS), "a clock that lags behind");
}

#[test]
fn bands_go_by_tens() {
    for (followers, name) in
        [(0, "under-100"), (100, "under-1000"), (9_999, "under-10000"), (10_000, "10000-and-more")]
    {
        assert_eq!(follower_band(followers), name);
    }
}

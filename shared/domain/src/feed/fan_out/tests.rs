//! Every follower once, whatever is repeated.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::feed::Body;
use crate::feed::samples::{at, person, post};

const SETTINGS: Settings = Settings { page: 5, ..Settings::DEFAULT };

/// What a query between two keys finds.
fn query(followers: &BTreeMap<String, UserId>, page: &PageOfFollowers) -> Vec<UserId> {
    let (after, to) = page.keys();
    let range = (std::ops::Bound::Excluded(after), std::ops::Bound::Excluded(to));
    followers.range(range).take(SETTINGS.page).map(|(_, user)| user.clone()).collect()
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
        let pages = first_pages(followers, &Settings::DEFAULT);
        prop_assert_eq!(pages[0].range.from, 0);
        prop_assert_eq!(pages.last().unwrap().range.to, u16::MAX);
        for pair in pages.windows(2) {
            prop_assert_eq!(pair[0].range.to + 1, pair[1].range.from);
        }
    }
}

#[test]
fn an_author_with_ten_thousand_followers_is_fanned_out_side_by_side() {
    assert_eq!(first_pages(200, &Settings::DEFAULT).len(), 1);
    assert_eq!(first_pages(10_000, &Settings::DEFAULT).len(), 25);
}

#[test]
fn what_is_pulled_private_or_deleted_is_not_fanned_out() {
    let pulled = Post { fan: Fan::Pull, ..post(1, 1) };
    assert_eq!(plan(&pulled, 10_000_000, &SETTINGS), FanOut::Pulled);
    let private =
        Post { body: Body { privacy: Privacy::Private, ..Body::default() }, ..post(1, 1) };
    for post in [private, post(1, 1).deleted(at(2)).unwrap()] {
        assert_eq!(plan(&post, 9, &SETTINGS), FanOut::Nothing);
    }
    assert_eq!(purge(&post(1, 1), 9, &SETTINGS), FanOut::Nothing);
    assert_eq!(purge(&pulled.deleted(at(2)).unwrap(), 9, &SETTINGS), FanOut::Pulled);
    let gone = purge(&post(1, 1).deleted(at(2)).unwrap(), 9, &SETTINGS);
    assert!(matches!(gone, FanOut::Pages(pages) if pages.len() == 1));
    assert!(matches!(plan(&post(1, 1), 9, &SETTINGS), FanOut::Pages(pages) if pages.len() == 1));
}

#[test]
fn who_was_away_for_a_week_gets_no_writes() {
    let week = 7 * 86_400;
    assert!(is_written_to(at(0), at(week - 1), &SETTINGS));
    assert!(!is_written_to(at(0), at(week), &SETTINGS));
    assert!(is_written_to(at(9), at(0), &SETTINGS), "a clock that lags behind");
}

#[test]
fn bands_go_by_tens() {
    for (followers, name) in
        [(0, "under-100"), (100, "under-1000"), (9_999, "under-10000"), (10_000, "10000-and-more")]
    {
        assert_eq!(band(followers), name);
    }
}

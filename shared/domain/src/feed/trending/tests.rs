//! Heat fades, and pages hold still.

use proptest::prelude::*;

use super::*;
use crate::feed::samples::{at, id};

fn hours(given: &[(i64, u64)]) -> BTreeMap<i64, u64> {
    given.iter().map(|(hour, people)| (hour_of(at(0)) + hour, *people)).collect()
}

#[test]
fn heat_halves_in_six_hours() {
    let people = hours(&[(0, 8)]);
    for (hour, expected) in [(0, 8_000), (1, 7_128), (6, 4_000), (12, 2_000), (600, 0), (-1, 8_000)]
    {
        assert_eq!(trending_score(&people, at(hour * 3_600)), expected, "{hour}");
    }
    assert_eq!(trending_score(&hours(&[(0, u64::MAX), (1, 5)]), at(0)), u64::MAX);
}

#[test]
fn fewer_people_now_beat_more_people_yesterday() {
    let (old, new) = (hours(&[(0, 100)]), hours(&[(24, 10)]));
    let snapshot = TrendingSnapshot::new([(id(1), &old), (id(2), &new)], at(24 * 3_600));
    assert_eq!(snapshot.posts, [id(2), id(1)]);
    assert_eq!(snapshot.minute, TrendingSnapshot::minute_of(at(24 * 3_600 + 59)));
}

#[test]
fn what_stands_below_the_mark_is_cold_and_nothing_else_is() {
    for people in [1, 2, 40, 1_000_000] {
        let people = hours(&[(0, people)]);
        let stands = rank_key(&people, at(0)).unwrap();
        for hour in 0..400 {
            let later = at(hour * 3_600);
            // What is written down may be off by what whole numbers leave out.
            match rank_key(&people, later) {
                Some(now) if trending_score(&people, later) > 100 => {
                    assert!(now.abs_diff(stands) < 150, "{hour}");
                }
                Some(_) => assert!(stands + 1_500 > min_rank_key(later), "{hour}"),
                None => assert!(stands < min_rank_key(later), "{hour}"),
            }
        }
    }
}

#[test]
fn the_hotter_post_stands_higher_whenever_each_was_looked_at() {
    let (old, new) = (hours(&[(0, 100)]), hours(&[(24, 10)]));
    assert!(rank_key(&old, at(3_600)) < rank_key(&new, at(24 * 3_600)));
    let (more, less) = (hours(&[(0, 3)]), hours(&[(0, 2)]));
    assert!(rank_key(&more, at(9 * 3_600)) > rank_key(&less, at(0)));
}

#[test]
fn places_read_back_and_nothing_else_does() {
    let place = TrendingCursor { minute: 29_538_720, next: 40 };
    assert_eq!(TrendingCursor::parse(&place.text()), Ok(place));
    for text in ["", "1", "1.x", "1.100", "1.-1", "01.2", "1.+2", "1.2.3"] {
        assert!(TrendingCursor::parse(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn pages_of_a_snapshot_show_what_may_be_seen_once_and_are_full_until_the_end(
        people in prop::collection::vec(0_u64..40, 0..130), hidden in 1_usize..7, limit in 1_usize..30,
    ) {
        let totals: Vec<_> =
            (0_i64..).zip(&people).map(|(n, people)| (id(n), hours(&[(0, *people)]))).collect();
        let given = || totals.iter().map(|(post, people)| (*post, people));
        let snapshot = TrendingSnapshot::new(given(), at(0));
        prop_assert_eq!(&snapshot, &TrendingSnapshot::new(given().rev().chain(given()), at(0)));
        let may_see = |post: PostId| usize::from(post.bytes()[5]) % hidden != 1;
        let (mut from, mut seen) = (0, Vec::new());
        loop {
            let (page, next) = snapshot.page(from, limit, may_see);
            seen.extend(page.iter().copied());
            let Some(next) = next else { break };
            prop_assert_eq!(page.len(), limit);
            prop_assert_eq!(next.minute, snapshot.minute);
            from = next.next;
        }
        let all: Vec<_> = snapshot.posts.iter().copied().filter(|post| may_see(*post)).collect();
        prop_assert_eq!(seen, all);
    }
}

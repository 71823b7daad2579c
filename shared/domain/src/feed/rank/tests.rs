//! The formula as a table, and what holds for every order.

use proptest::prelude::*;

use super::*;
use crate::feed::samples::{at, id, post};

fn candidate(n: i64, author: u64) -> Candidate {
    Candidate {
        post: post(n, author),
        counts: Counts::default(),
        relationship: Relationship::default(),
        affinity: 0.0,
        seen: false,
    }
}

fn order(items: &[RankedItem]) -> Vec<PostId> {
    items.iter().map(RankedItem::id).collect()
}

#[test]
fn the_score_is_the_formula() {
    let hour = 3_600;
    for (age, likes, comments, shares, affinity, expected, reason) in [
        (0, 0, 0, 0, 0.0, 0.4, RankReason::Recent),
        (24 * hour, 0, 0, 0, 0.0, 0.147_152, RankReason::Recent),
        (24 * hour, 100, 50, 20, 0.0, 0.147_152 + 0.166_936, RankReason::Popular),
        (0, 0, 0, 0, 1.0, 0.7, RankReason::Recent),
        (24 * hour, 0, 0, 0, 0.5, 0.297_152, RankReason::Close),
        (-5, 0, 0, 0, 0.0, 0.4, RankReason::Recent),
        (10_000 * hour, 1, 0, 0, 0.0, 0.020_794, RankReason::Popular),
    ] {
        let counts = Counts { likes, comments, shares };
        let candidate = Candidate { counts, affinity, ..candidate(0, 1) };
        let item = score(candidate, &RankWeights::CURRENT, at(age));
        assert!((item.score.value() - expected).abs() < 2e-6, "{age}: {:?}", item.score);
        assert_eq!(item.why.reason, reason, "{age}");
    }
}

#[test]
fn versions_are_kept_and_told_apart() {
    assert_eq!(RankWeights::by_version(1), Some(RankWeights::PLAIN));
    assert_eq!(RankWeights::by_version(2), Some(RankWeights::CURRENT));
    assert_eq!((RankWeights::by_version(0), RankWeights::by_version(3)), (None, None));
}

#[test]
fn what_was_shown_comes_later_but_says_its_full_score() {
    let shown = Candidate { seen: true, ..candidate(9, 1) };
    let items = rank(vec![shown.clone(), candidate(8, 2)], &RankWeights::CURRENT, at(10));
    assert_eq!(order(&items), [id(8), id(9)]);
    assert!(items[1].why.seen && items[1].score >= items[0].score);
    let items = rank(vec![shown, candidate(8, 2)], &RankWeights::PLAIN, at(10));
    assert_eq!(order(&items), [id(9), id(8)]);
}

#[test]
fn no_author_has_more_than_three_of_ten_while_others_are_left() {
    let mut window: Vec<_> = (100..120).map(|n| candidate(n, 1)).collect();
    window.extend((0..14).map(|n| candidate(n, 2 + u64::try_from(n).unwrap())));
    let items = rank(window, &RankWeights::CURRENT, at(200));
    let by_one: Vec<_> =
        items.iter().map(|item| item.candidate.post.author.as_str() == "p1").collect();
    let most = by_one[..20].windows(10).map(|ten| ten.iter().filter(|one| **one).count()).max();
    assert_eq!(most, Some(3));
    assert!(by_one[20..].iter().all(|one| *one), "the rest has one author");
}

proptest! {
    #[test]
    fn ranking_leaves_nothing_out_and_does_not_ask_in_which_order_it_is_told(
        facts in prop::collection::vec((0_u64..5, 0_u64..1_000, 0.0..1.0_f64, any::<bool>()), 0..50),
        turn in 0_usize..50,
    ) {
        let mut window: Vec<_> = (0_i64..).zip(facts).map(|(n, (author, likes, affinity, seen))| {
            let counts = Counts { likes, ..Counts::default() };
            Candidate { counts, affinity, seen, ..candidate(n * 3_000, author) }
        }).collect();
        for weights in [RankWeights::PLAIN, RankWeights::CURRENT] {
            let items = rank(window.clone(), &weights, at(200_000));
            let mut ids = order(&items);
            if weights.author_cap == usize::MAX {
                prop_assert!(items.is_sorted_by(|a, b| (a.score, a.id()) >= (b.score, b.id())));
            }
            let turn = turn.min(window.len());
            window.rotate_left(turn);
            prop_assert_eq!(&ids, &order(&rank(window.clone(), &weights, at(200_000))));
            ids.sort();
            let mut all: Vec<_> = window.iter().map(|candidate| candidate.post.id).collect();
            all.sort();
            prop_assert_eq!(ids, all);
        }
    }

    #[test]
    fn more_of_anything_good_never_lowers_a_score(
        age in 0_i64..1_000_000, likes in 0_u64..1 << 40, more in 0_u64..1 << 40, affinity in 0.0..1.0_f64,
    ) {
        let with = |likes, affinity, at_second| {
            let counts = Counts { likes, ..Counts::default() };
            score(Candidate { counts, affinity, ..candidate(0, 1) }, &RankWeights::CURRENT, at(at_second)).score
        };
        prop_assert!(with(likes + more, affinity, age) >= with(likes, affinity, age));
        prop_assert!(with(likes, 1.0, age) >= with(likes, affinity, age));
        prop_assert!(with(likes, affinity, 0) >= with(likes, affinity, age));
    }
}

use proptest::prelude::*;
use sfv::{BareItem, List, ListEntry, Parser};

use super::*;

fn status(policy: &str, limit: i64, seconds: i64, remaining: i64, after: i64) -> PolicyStatus<'_> {
    PolicyStatus { policy, limit, window_ms: seconds * 1_000, remaining, reset_after_ms: after }
}

/// Each item's string and its parameters in order, as an independent parser reads them.
fn parsed(field: &str) -> Vec<(String, Vec<(String, i64)>)> {
    let list: List = Parser::new(field).parse().unwrap();
    let item = |entry| {
        let ListEntry::Item(item) = entry else { panic!("an item") };
        let BareItem::String(text) = item.bare_item else { panic!("a string") };
        let parameters = item.params.into_iter().map(|(name, value)| {
            let BareItem::Integer(value) = value else { panic!("an integer: {value:?}") };
            (name.as_str().to_owned(), i64::from(value))
        });
        (text.as_str().to_owned(), parameters.collect())
    };
    list.into_iter().map(item).collect()
}

#[test]
fn the_fields_read_as_the_draft_has_them() {
    let statuses = [
        status("links-hour", 10_000, 3_600, 9_999, 3_539_001),
        status("user-minute", 6_000, 60, 10, 1),
    ];
    let fields = rate_limit_headers(&statuses, 1_700_000_000_000).unwrap();
    assert_eq!(fields.policy, r#""links-hour";q=10000;w=3600, "user-minute";q=6000;w=60"#);
    assert_eq!(fields.current, r#""links-hour";r=9999;t=3540, "user-minute";r=10;t=1"#);
    assert_eq!((fields.limit, fields.remaining, fields.reset), (6_000, 10, 1_700_000_001));
}

#[test]
fn without_standings_there_is_nothing_to_say() {
    assert_eq!(rate_limit_headers(&[], 0), None);
}

#[test]
fn the_tightest_has_the_smallest_share_left_and_of_equals_the_latest_reset() {
    for (tight, other) in [
        (status("a", 100, 1, 9, 0), status("b", 10, 1, 1, 0)),
        (status("a", 10, 1, 0, 2), status("b", 1_000, 1, 0, 1)),
        (status("a", 0, 1, 0, 1), status("b", 10, 1, 1, 0)),
        (status("a", 10, 1, -5, 1), status("b", 10, 1, 0, 0)),
        (status("a", i64::MAX, 1, i64::MAX - 1, 0), status("b", i64::MAX, 1, i64::MAX, 0)),
    ] {
        assert_eq!(tightest(&[tight, other]), Some(&tight));
        assert_eq!(tightest(&[other, tight]), Some(&tight));
    }
}

proptest! {
    #[test]
    fn another_parser_reads_what_was_meant(
        raw in proptest::collection::vec(
            (any::<String>(), any::<i64>(), any::<i64>(), any::<i64>(), any::<i64>()), 1..6),
        small: bool, now_ms: i64,
    ) {
        let cut = |number: i64| if small { number % 100_000 } else { number };
        let statuses: Vec<_> = raw.iter().map(|(policy, limit, window, remaining, after)| PolicyStatus {
            policy,
            limit: cut(*limit),
            window_ms: cut(*window),
            remaining: cut(*remaining),
            reset_after_ms: cut(*after),
        }).collect();
        let fields = rate_limit_headers(&statuses, now_ms).unwrap();
        let (policy, current) = (parsed(&fields.policy), parsed(&fields.current));
        prop_assert_eq!((policy.len(), current.len()), (statuses.len(), statuses.len()));
        let whole = |number: i64| number.clamp(0, MAX_INTEGER);
        let up = |ms: i64| i64::try_from((i128::from(ms.max(0)) + 999) / 1_000).unwrap();
        for (status, (policy, current)) in statuses.iter().zip(policy.iter().zip(&current)) {
            let visible = |c| if (' '..='~').contains(&c) { c } else { '?' };
            let name: String = status.policy.chars().map(visible).collect();
            let said = [("q", whole(status.limit)), ("w", whole(up(status.window_ms)))];
            prop_assert_eq!(policy, &(name.clone(), said.map(|(p, v)| (p.to_owned(), v)).to_vec()));
            let said = [("r", whole(status.remaining)), ("t", whole(up(status.reset_after_ms)))];
            prop_assert_eq!(current, &(name, said.map(|(p, v)| (p.to_owned(), v)).to_vec()));
        }
        prop_assert!(fields.limit >= 0 && fields.remaining >= 0 && fields.reset >= 0);
    }

    #[test]
    fn no_other_has_a_smaller_share_left_than_the_tightest(
        raw in proptest::collection::vec((1..50_i64, 0..50_i64), 1..6)
    ) {
        let statuses: Vec<_> =
            raw.iter().map(|(limit, left)| status("a", *limit, 1, *left, 0)).collect();
        let tight = tightest(&statuses).unwrap();
        for other in &statuses {
            prop_assert!(tight.remaining * other.limit <= other.remaining * tight.limit);
        }
    }
}

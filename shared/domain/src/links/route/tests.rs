//! What visitors are answered, as tables and over many visitors.

use proptest::prelude::*;

use super::*;

const END_MS: i64 = 1_772_366_400_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

fn plain() -> Route {
    Route {
        to: "https://example.org/page".to_owned(),
        variants: Vec::new(),
        status: 302,
        expires_at: None,
        max_clicks: None,
        fallback: None,
        spent: false,
        forward_query: false,
        deleted: false,
        blocked: None,
        created_at: at(0),
        warnings: Vec::new(),
        title: None,
        description: None,
        image: None,
    }
}

fn split(weights: &[u32]) -> Route {
    let variants = weights.iter().zip(0..);
    let variants = variants
        .map(|(&weight, n)| RouteVariant { url: format!("https://example.org/{n}"), weight });
    Route { variants: variants.collect(), ..plain() }
}

fn variant(route: &Route, stable_hash: u64) -> Option<u8> {
    let decision = decide(route, stable_hash, "", at(0));
    let Decision::Redirect { variant, .. } = decision else { panic!("{decision:?}") };
    variant
}

#[test]
fn blocked_beats_deleted_beats_expired_beats_spent() {
    let spent = Route { spent: true, fallback: Some("https://example.org/f".into()), ..plain() };
    let expired = Route { expires_at: Some(at(END_MS)), ..spent.clone() };
    let deleted = Route { deleted: true, ..expired.clone() };
    let blocked = Route { blocked: Some("phishing".to_owned()), ..deleted.clone() };
    for (route, expected) in [
        (&spent, Decision::Fallback { location: "https://example.org/f" }),
        (&expired, Decision::Gone),
        (&deleted, Decision::NotFound),
        (&blocked, Decision::Blocked("phishing")),
    ] {
        assert_eq!(decide(route, 0, "", at(END_MS)), expected);
    }
    assert_eq!(decide(&Route { fallback: None, ..spent }, 0, "", at(0)), Decision::Gone);
}

#[test]
fn a_link_works_until_the_millisecond_in_which_it_expires() {
    let route = Route { expires_at: Some(at(END_MS)), ..plain() };
    let goes = |ms| matches!(decide(&route, 0, "", at(ms)), Decision::Redirect { .. });
    assert_eq!([END_MS - 1, END_MS, END_MS + 1].map(goes), [true, false, false]);
}

#[test]
fn a_query_goes_along_only_where_it_is_wanted() {
    let forwarding = Route { forward_query: true, status: 307, ..plain() };
    for (route, query, expected, status) in [
        (&plain(), "a=1", "https://example.org/page", 302),
        (&forwarding, "", "https://example.org/page", 307),
        (&forwarding, "a=1", "https://example.org/page?a=1", 307),
    ] {
        let location = expected.into();
        assert_eq!(
            decide(route, 0, query, at(0)),
            Decision::Redirect { location, status, variant: None }
        );
    }
}

#[test]
fn ways_without_weight_are_not_taken() {
    assert_eq!(variant(&split(&[0, 0]), 7), None);
    let route = split(&[0, 1, 0]);
    for stable_hash in 0..100 {
        assert_eq!(variant(&route, stable_hash), Some(1));
    }
}

#[test]
fn the_same_visitor_draws_other_lots_for_other_links() {
    let route = split(&[1, 1]);
    let same = (0..10_000_u64).filter(|&visitor| {
        variant(&route, stable_hash("first", visitor))
            == variant(&route, stable_hash("second", visitor))
    });
    let same = same.count();
    assert!((4_700..5_300).contains(&same), "{same} of 10,000 visitors got the same variant twice");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn visitors_are_shared_out_by_weight(
        weights in proptest::collection::vec(0_u32..100, 1..6),
        code in "[a-zA-Z0-9]{3,12}",
        first in any::<u64>(),
    ) {
        const VISITORS: u32 = 20_000;
        let route = split(&weights);
        let total: u32 = weights.iter().sum();
        prop_assume!(total > 0);
        let mut taken = vec![0_u32; weights.len()];
        for visitor in 0..VISITORS {
            let variant = variant(&route, stable_hash(&code, first.wrapping_add(visitor.into())));
            taken[usize::from(variant.unwrap())] += 1;
        }
        for (taken, weight) in taken.iter().zip(&weights) {
            let expected = VISITORS * weight / total;
            prop_assert!(taken.abs_diff(expected) < VISITORS / 50, "{taken:?} for {weights:?}");
        }
    }

    #[test]
    fn the_same_visitor_always_goes_the_same_way(
        weights in proptest::collection::vec(1_u32..100, 1..6),
        visitor in any::<u64>(),
        later in 0_i64..86_400_000,
    ) {
        let route = split(&weights);
        let stable_hash = stable_hash("code", visitor);
        prop_assert_eq!(decide(&route, stable_hash, "", at(0)), decide(&route, stable_hash, "", at(later)));
    }
}

//! Aggregation conserves clicks, in any batch and order; counters survive their flat names.

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

const CHROME: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/131.0.0.0 Safari/537.36";

fn click(at: &str) -> Click {
    Click {
        domain: String::new(),
        code: "abc".to_owned(),
        at: at.parse().unwrap(),
        visitor: 7,
        head: false,
        user_agent: Some(CHROME.to_owned()),
        referrer: None,
        country: None,
        variant: None,
        limited: false,
    }
}

fn counts_of(clicks: Vec<Click>) -> BTreeMap<LinkDay, ClickCounts> {
    aggregate(&ClickBatch { id: "b1".to_owned(), clicks })
}

/// The counts of a batch that is all about one link on one day.
fn only(clicks: Vec<Click>) -> ClickCounts {
    let days = counts_of(clicks);
    assert_eq!(days.len(), 1);
    days.into_values().next().unwrap()
}

/// `many` clicks of one visitor on one link, the last `spread_ms` after the first.
fn spread(many: usize, spread_ms: usize) -> Vec<Click> {
    let first = click("2026-11-16T13:00:00Z");
    (0..many)
        .map(|i| {
            let ms = i64::try_from(i * spread_ms / (many - 1)).unwrap();
            let at = Timestamp::from_millisecond(first.at.as_millisecond() + ms).unwrap();
            Click { at, ..first.clone() }
        })
        .collect()
}

#[test]
fn a_click_is_counted_in_each_dimension() {
    let referrer = Some("news.example".to_owned());
    let country = Some("DE".to_owned());
    let first = Click { referrer, country, variant: Some(0), ..click("2026-11-16T13:59:59.999Z") };
    let counts = only(vec![first, Click { visitor: 3, ..click("2026-11-16T09:00:00Z") }]);
    let expected = [
        ("n", 2),
        ("c#DE", 1),
        ("c#unknown", 1),
        ("r#direct", 1),
        ("r#news.example", 1),
        ("d#desktop", 2),
        ("b#Chrome", 2),
        ("v#0", 1),
        ("h#09", 1),
        ("h#13", 1),
    ];
    assert_eq!(attributes(&counts), expected.map(|(name, value)| (name.to_owned(), value)));
    assert_eq!(counts.visitors, [3, 7]);
}

#[test]
fn days_end_at_midnight_in_utc_and_links_are_told_apart() {
    let other = Click { domain: "go.example".to_owned(), ..click("2026-11-16T00:00:00Z") };
    let clicks = vec![click("2026-11-15T23:59:59.999Z"), click("2026-11-16T00:00:00Z"), other];
    let days: Vec<_> = counts_of(clicks).into_keys().map(|d| (d.domain, d.code, d.day)).collect();
    let day = |domain: &str, day: &str| (domain.to_owned(), "abc".to_owned(), day.to_owned());
    let expected = [day("", "2026-11-15"), day("", "2026-11-16"), day("go.example", "2026-11-16")];
    assert_eq!(days, expected);
}

#[test]
fn robots_and_previews_are_counted_apart_and_heads_not_at_all() {
    let agent =
        |name: &str| Click { user_agent: Some(name.to_owned()), ..click("2026-11-16T13:00:00Z") };
    let nameless = Click { user_agent: None, ..agent("") };
    let head = Click { head: true, ..agent(CHROME) };
    let counts = only(vec![agent("curl/8.5.0"), agent("Twitterbot/1.0"), nameless, head.clone()]);
    assert_eq!(counts, ClickCounts { bots: 2, previews: 1, ..ClickCounts::default() });
    assert!(counts_of(vec![head]).is_empty());
}

#[test]
fn a_storm_of_heads_gives_a_robot_away_on_every_link() {
    let head = Click { head: true, code: "other".to_owned(), ..click("2026-11-16T13:00:00Z") };
    for (heads, people) in [(BOT_HEADS - 1, 2), (BOT_HEADS, 1)] {
        let mut clicks = vec![head.clone(); heads];
        clicks.push(click("2026-11-16T14:00:00Z"));
        clicks.push(Click { visitor: 8, ..click("2026-11-16T14:00:00Z") });
        assert_eq!(only(clicks).clicks, people);
    }
}

#[test]
fn a_burst_of_clicks_on_one_link_gives_a_robot_away() {
    let table = [
        (BOT_BURST_CLICKS, 1_000, true),
        (BOT_BURST_CLICKS, 0, true),
        (BOT_BURST_CLICKS + 10, 1_500, true),
        (BOT_BURST_CLICKS - 1, 0, false),
        (BOT_BURST_CLICKS, 1_001, false),
    ];
    for (many, spread_ms, is_robot) in table {
        let counts = only(spread(many, spread_ms));
        assert_eq!(counts.bots > 0, is_robot, "{many} within {spread_ms} ms");
        assert_eq!(counts.clicks > 0, !is_robot);
    }
    let mut two_links = spread(BOT_BURST_CLICKS, 0);
    two_links[0].code = "other".to_owned();
    assert_eq!(counts_of(two_links).values().map(|counts| counts.bots).sum::<u64>(), 0);
}

#[test]
fn a_preview_that_hurries_stays_a_preview() {
    let mut clicks = spread(BOT_BURST_CLICKS, 0);
    for click in &mut clicks {
        click.user_agent = Some("WhatsApp/2".to_owned());
    }
    assert_eq!(only(clicks).previews, 20);
}

#[test]
fn keys_are_printable_and_keep_their_end() {
    for (text, expected) in [("news.example", "news.example"), ("", "unknown"), ("é\n#", "__#")] {
        assert_eq!(dimension_key(text), expected);
    }
    assert_eq!(
        dimension_key(&format!("{}.example", "a".repeat(200))),
        format!("{}.example", "a".repeat(92))
    );
}

#[test]
fn names_that_are_not_known_are_passed_over() {
    let mut counts = ClickCounts::default();
    for name in ["", "x", "pk", "z#DE", "c#", "#", "N", "cc#DE"] {
        counts.add_counter(name, 1);
    }
    counts.add_counter("c#DE", 0);
    assert_eq!(counts, ClickCounts::default());
    counts.add_counter("r#a#b", 2);
    counts.add_counter("n", u64::MAX);
    counts.add_counter("n", 1);
    assert_eq!((counts.referrers["a#b"], counts.clicks), (2, u64::MAX));
}

prop_compose! {
    fn any_click()(
        code in "[ab]",
        domain in prop_oneof![Just(String::new()), Just("go.example".to_owned())],
        ms in prop_oneof![0_i64..2_000, 0_i64..200_000_000],
        visitor in 0_u64..3,
        head in proptest::bool::weighted(0.2),
        user_agent in proptest::option::of(prop_oneof![
            4 => Just(CHROME.to_owned()),
            1 => Just("Twitterbot/1.0".to_owned()),
            1 => Just("curl/8.5.0".to_owned()),
            1 => "\\PC{0,20}",
        ]),
        referrer in proptest::option::of("\\PC{0,4}|[a-z.]{101}"),
        country in proptest::option::of("[A-C]{2}"),
        variant in proptest::option::of(0_u8..3),
    ) -> Click {
        let at = Timestamp::from_millisecond(1_794_787_200_000 + ms).unwrap();
        let limited = false;
        Click { domain, code, at, visitor, head, user_agent, referrer, country, variant, limited }
    }
}

fn any_clicks() -> impl Strategy<Value = Vec<Click>> {
    proptest::collection::vec(any_click(), 0..60)
}

proptest! {
    // A case is a whole batch, so fewer do.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_click_is_counted_once_on_its_day(clicks in any_clicks()) {
        let mut expected: BTreeMap<(String, String, String), u64> = BTreeMap::new();
        for click in clicks.iter().filter(|click| !click.head) {
            let day = click.at.to_string()[..10].to_owned();
            *expected.entry((click.domain.clone(), click.code.clone(), day)).or_default() += 1;
        }
        let total = |counts: &ClickCounts| counts.clicks + counts.bots + counts.previews;
        let days = counts_of(clicks);
        let counted = days.iter().map(|(d, counts)| {
            ((d.domain.clone(), d.code.clone(), d.day.clone()), total(counts))
        });
        prop_assert_eq!(counted.collect::<BTreeMap<_, _>>(), expected);
    }

    #[test]
    fn each_dimension_sums_up_to_the_people(clicks in any_clicks()) {
        for counts in counts_of(clicks).values() {
            let sum = |dimension: &Dimension| dimension.values().sum::<u64>();
            let ClickCounts { countries, referrers, devices, browsers, hours, .. } = counts;
            for dimension in [countries, referrers, devices, browsers, hours] {
                prop_assert_eq!(sum(dimension), counts.clicks);
                for key in dimension.keys() {
                    prop_assert!((1..=MAX_KEY_LENGTH).contains(&key.len()));
                    prop_assert!(key.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
                }
            }
            prop_assert!(sum(&counts.variants) <= counts.clicks);
            prop_assert_eq!(counts.visitors.is_empty(), counts.clicks == 0);
        }
    }

    #[test]
    fn the_order_of_the_clicks_changes_nothing(
        (clicks, shuffled) in any_clicks().prop_flat_map(|c| (Just(c.clone()), Just(c).prop_shuffle())),
    ) {
        prop_assert_eq!(counts_of(clicks), counts_of(shuffled));
    }

    #[test]
    fn counters_survive_their_flat_names(clicks in any_clicks()) {
        for mut counts in counts_of(clicks).into_values() {
            let mut read = ClickCounts::default();
            for (name, value) in attributes(&counts) {
                read.add_counter(&name, value);
            }
            counts.visitors.clear();
            prop_assert_eq!(read, counts);
        }
    }

    #[test]
    fn merging_adds_and_does_not_mind_the_order(a in any_clicks(), b in any_clicks()) {
        let whole = |clicks| counts_of(clicks).into_values().collect::<Vec<_>>();
        let merged = |all: Vec<&ClickCounts>| {
            let mut sum = ClickCounts::default();
            for counts in all {
                sum.merge(counts);
            }
            sum
        };
        let (a, b) = (whole(a), whole(b));
        let there = merged(a.iter().chain(&b).collect());
        prop_assert_eq!(&there, &merged(b.iter().chain(&a).collect()));
        prop_assert_eq!(there.clicks, a.iter().chain(&b).map(|counts| counts.clicks).sum::<u64>());
    }
}

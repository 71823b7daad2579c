use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

const SHORTEN: &str = "POST /api/v1/shorten";
const URLS: &str = "GET /api/v1/urls";
const NOW: i64 = 29_000_000 * MINUTE_MS + 30_000;

fn row(
    minute: i64,
    resource: &str,
    dimension: Dimension,
    entity: &str,
    counts: (u64, u64),
) -> UsageReport {
    let (resource, entity) = (resource.to_owned(), entity.to_owned());
    UsageReport { minute, resource, dimension, entity, asked: counts.0, denied: counts.1 }
}

fn entities(reports: &[UsageReport]) -> Vec<&str> {
    reports.iter().map(|report| report.entity.as_str()).collect()
}

#[test]
fn what_was_asked_and_denied_is_reported_by_minute_and_key() {
    let mut recorder = UsageRecorder::new();
    for (entity, units, denied, at) in [
        ("a", 2, false, NOW),
        ("a", 3, true, NOW + 29_999),
        ("a", 7, false, NOW + 30_000),
        ("b", 1, false, NOW),
    ] {
        recorder.record(SHORTEN, Dimension::User, entity, units, denied, at);
    }
    recorder.record(URLS, Dimension::User, "a", 4, false, NOW);
    recorder.record(SHORTEN, Dimension::Ip, "a", 5, false, NOW);
    let minute = NOW / MINUTE_MS;
    let expected = [
        row(minute, SHORTEN, Dimension::User, "a", (5, 3)),
        row(minute + 1, SHORTEN, Dimension::User, "a", (7, 0)),
        row(minute, SHORTEN, Dimension::Ip, "a", (5, 0)),
        row(minute, URLS, Dimension::User, "a", (4, 0)),
        row(minute, SHORTEN, Dimension::User, "b", (1, 0)),
    ];
    assert_eq!(recorder.drain(NOW + 60_000, MAX_REPORTS), expected);
    assert_eq!(recorder.drain(NOW + 60_000, MAX_REPORTS), [], "what was taken is gone");
}

#[test]
fn a_report_is_due_a_minute_after_the_last_if_there_is_something() {
    let mut recorder = UsageRecorder::default();
    assert!(!recorder.is_due(NOW), "nothing was seen");
    recorder.record(SHORTEN, Dimension::User, "a", 1, false, NOW);
    assert!(!recorder.is_due(NOW + 59_999), "a new node waits a minute as well");
    assert!(recorder.is_due(NOW + 60_000));
    assert!(!recorder.is_due(NOW - 59_999), "a clock that is a little behind");
    assert!(recorder.is_due(NOW - 60_000), "a clock that was set back");
    recorder.drain(NOW + 70_000, MAX_REPORTS);
    assert!(!recorder.is_due(NOW + 500_000), "nothing was seen since");
    recorder.record(SHORTEN, Dimension::User, "a", 1, false, NOW + 129_000);
    assert!(!recorder.is_due(NOW + 129_999));
    assert!(recorder.is_due(NOW + 130_000));
}

#[test]
fn only_the_most_denied_and_the_heaviest_of_the_others_leave() {
    let mut recorder = UsageRecorder::new();
    for (entity, units, denied) in [
        ("a", 1, true),
        ("b", 2, true),
        ("c", 9, false),
        ("d", 8, false),
        ("e", 7, false),
        ("f", 3, true),
    ] {
        recorder.record(SHORTEN, Dimension::User, entity, units, denied, NOW);
    }
    assert_eq!(entities(&recorder.clone().drain(NOW, 2)), ["f", "b", "c", "d"]);
    assert_eq!(entities(&recorder.clone().drain(NOW, 0)), [""; 0]);
    assert_eq!(entities(&recorder.drain(NOW, 4)), ["f", "b", "a", "c", "d", "e"]);
}

#[test]
fn a_key_that_took_anothers_place_is_reported_with_its_own_units_only() {
    let mut recorder = UsageRecorder::new();
    for entity in 0..MAX_KEYS {
        recorder.record(SHORTEN, Dimension::Ip, &entity.to_string(), 5, false, NOW);
    }
    recorder.record(SHORTEN, Dimension::Ip, "late", 2, true, NOW);
    let reports = recorder.drain(NOW, MAX_KEYS);
    assert_eq!(reports.len(), MAX_KEYS);
    assert_eq!(reports[0], row(NOW / MINUTE_MS, SHORTEN, Dimension::Ip, "late", (2, 2)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_node_stays_small_and_never_reports_more_than_there_was(
        notes in proptest::collection::vec((0_u32..8_000, 1_u32..9, any::<bool>()), 0..8_000),
        most in 1_usize..40,
    ) {
        let mut recorder = UsageRecorder::new();
        let mut exact: HashMap<String, (u64, u64)> = HashMap::new();
        for (entity, units, denied) in notes {
            let entity = (entity * entity / 8_000).to_string();
            recorder.record(SHORTEN, Dimension::Ip, &entity, units, denied, NOW);
            prop_assert!(recorder.heavy.len() <= 2_000);
            let count = exact.entry(entity).or_default();
            *count = (count.0 + u64::from(units), count.1 + if denied { units.into() } else { 0 });
        }
        let reports = recorder.drain(NOW, most);
        prop_assert!(reports.len() <= 2 * most);
        for report in reports {
            let (asked, denied) = exact[&report.entity];
            prop_assert!(report.asked <= asked && report.denied <= denied);
            prop_assert!(report.denied <= report.asked);
            if exact.len() <= 2_000 {
                prop_assert_eq!((report.asked, report.denied), (asked, denied));
            }
        }
    }
}

#[test]
fn demand_adds_up_resources_and_nodes_by_minute() {
    let first = UsageSeries::first_minute(NOW);
    assert_eq!(first, NOW / MINUTE_MS - 60);
    let rows = [
        row(first, SHORTEN, Dimension::User, "b", (5, 1)),
        row(first, URLS, Dimension::User, "b", (2, 1)),
        row(first + 59, SHORTEN, Dimension::User, "a", (9, 0)),
        row(first - 1, SHORTEN, Dimension::User, "a", (100, 100)),
        row(first + 60, SHORTEN, Dimension::User, "a", (100, 100)),
        row(i64::MIN, SHORTEN, Dimension::User, "c", (100, 100)),
    ];
    let all_series = UsageSeries::by_entity(rows, NOW);
    let one = |minute: usize, units: u64| {
        let mut minutes = [0; MINUTES];
        minutes[minute] = units;
        minutes
    };
    let series = |entity: &str, asked, denied| UsageSeries {
        entity: entity.to_owned(),
        first_minute: first,
        asked,
        denied,
    };
    assert_eq!(
        all_series,
        [series("a", one(59, 9), [0; MINUTES]), series("b", one(0, 7), one(0, 2))]
    );
}

#[test]
fn top_names_who_and_what_was_denied_most_and_adds_no_dimensions_up() {
    let minute = NOW / MINUTE_MS;
    let rows = [
        row(minute, SHORTEN, Dimension::Global, "*", (100, 30)),
        row(minute, SHORTEN, Dimension::User, "a", (50, 10)),
        row(minute - 59, SHORTEN, Dimension::User, "b", (40, 20)),
        row(minute, SHORTEN, Dimension::Ip, "a", (60, 25)),
        row(minute, URLS, Dimension::User, "a", (80, 15)),
        row(minute, URLS, Dimension::User, "c", (20, 0)),
        row(minute - 60, URLS, Dimension::User, "c", (1_000, 1_000)),
        row(minute + 1, URLS, Dimension::User, "c", (1_000, 1_000)),
    ];
    let top = TopDenied::of(rows.clone(), NOW, 10);
    let key = |dimension, entity: &str, asked, denied| DeniedKey {
        dimension,
        entity: entity.to_owned(),
        asked,
        denied,
    };
    let keys = [
        key(Dimension::User, "a", 130, 25),
        key(Dimension::Ip, "a", 60, 25),
        key(Dimension::User, "b", 40, 20),
    ];
    assert_eq!(top.keys, keys);
    let resource = |resource: &str, asked, denied| DeniedResource {
        resource: resource.to_owned(),
        asked,
        denied,
    };
    assert_eq!(top.resources, [resource(SHORTEN, 100, 30), resource(URLS, 100, 15)]);
    assert_eq!((top.asked, top.denied, top.rate), (200, 45, 0.225));
    let shorter = TopDenied::of(rows, NOW, 1);
    assert_eq!((shorter.keys.len(), shorter.resources.len(), shorter.asked), (1, 1, 200));
}

#[test]
fn without_reports_nothing_is_denied() {
    let top = TopDenied::of([], NOW, 10);
    assert_eq!((top.keys.len(), top.asked, top.denied, top.rate), (0, 0, 0, 0.0));
}

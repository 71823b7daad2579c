//! What was asked and refused lately: reports of many nodes add up.

use domain::limits::Dimension;
use domain::limits::history::UsageReport;
use tests::Lab;

use super::{NOW, at, limits, limits_in_lab};

fn report(minute: i64, entity: &str, asked: u64, denied: u64) -> UsageReport {
    UsageReport {
        minute: NOW / 60_000 + minute,
        resource: "POST /api/v1/shorten".to_owned(),
        dimension: Dimension::User,
        entity: entity.to_owned(),
        asked,
        denied,
    }
}

async fn seen(lab: &Lab, now_ms: i64) -> Vec<UsageReport> {
    let mut seen = limits(lab).usage_reports(at(now_ms)).await.unwrap();
    seen.sort_by(|one, other| (&one.entity, one.minute).cmp(&(&other.entity, other.minute)));
    seen
}

#[tokio::test(start_paused = true)]
async fn reports_of_a_key_and_minute_add_up_and_others_stay_apart() {
    let (lab, rows) = limits_in_lab();
    for report in [
        report(0, "ada", 5, 2),
        report(0, "ada", 7, 0),
        report(1, "ada", 1, 1),
        report(0, "bob", 3, 3),
    ] {
        rows.add_usage_report(&report).await.unwrap();
    }
    let other = UsageReport { dimension: Dimension::Tenant, ..report(0, "cyd", 4, 0) };
    rows.add_usage_report(&other).await.unwrap();
    let expected = [report(0, "ada", 12, 2), report(1, "ada", 1, 1), report(0, "bob", 3, 3), other];
    assert_eq!(seen(&lab, NOW + 60_000).await, expected);
}

#[tokio::test(start_paused = true)]
async fn this_hour_and_the_last_are_seen_and_no_other() {
    let (lab, rows) = limits_in_lab();
    // The test's time is the first minute of an hour.
    for minute in [-61, -60, -1, 0, 59, 60] {
        rows.add_usage_report(&report(minute, "ada", 1, 0)).await.unwrap();
    }
    let minutes = |seen: Vec<UsageReport>| -> Vec<i64> {
        seen.iter().map(|report| report.minute - NOW / 60_000).collect()
    };
    assert_eq!(minutes(seen(&lab, NOW).await), [-60, -1, 0, 59]);
    assert_eq!(minutes(seen(&lab, NOW + 3_600_000).await), [0, 59, 60]);
}

#[tokio::test(start_paused = true)]
async fn what_many_keys_asked_for_is_all_there() {
    let (lab, rows) = limits_in_lab();
    for key in 0..40 {
        rows.add_usage_report(&report(0, &format!("key-{key:02}"), key, key / 2)).await.unwrap();
    }
    let seen = seen(&lab, NOW).await;
    // A key that asked for nothing has nothing to show.
    assert_eq!(seen.len(), 39);
    assert_eq!(seen.iter().map(|report| report.asked).sum::<u64>(), (0..40).sum::<u64>());
}

//! Counting: debited, leases, and what a node gives back when it ends.

use std::time::Duration;

use domain::limits::counter::CounterRow;
use domain::limits::{Algorithm, Quota};
use local::faults::Fault;
use serde_json::Value;
use store::limits::CounterKey;
use tests::Lab;

use super::{CHECK, check, check_body, lab, limits, retry};
use crate::faults::crash_points::sweep;
use crate::limits::faults::setup;

#[test]
fn no_call_of_a_lease_can_fail_in_a_way_that_gives_units_that_were_not_debited() {
    sweep("lease and spend", 4, strike_lease);
    sweep("give back what is held", 2, strike_close);
}

#[test]
fn no_call_of_a_charged_request_can_fail_in_a_way_that_charges_half_of_it() {
    sweep("charge under two rules", 3, strike_pair);
}

/// Two quotas that the store alone counts: both are debited or none is.
async fn strike_pair(nth: u64, fault: Fault) -> bool {
    let lab = lab(&["/t/pair"]).await;
    let body = check_body("/t/pair", 2).to_string();
    lab.cloud.faults.inject(nth, fault);
    let (first, tries) = retry(&lab, "POST", CHECK, &body).await;
    lab.advance_seconds(2);
    let (second, more) = retry(&lab, "POST", CHECK, &body).await;
    let struck = lab.stop_faults();
    let context = format!("call {nth}, {fault:?}");
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (200, 200), "{context}");
    let user = counter(&lab, "pair-user", "ada").await;
    let tenant = counter(&lab, "pair-tenant", "acme").await;
    assert_eq!((user.used, user.window), (tenant.used, tenant.window), "{context}: all or none");
    // The second request at least met a store that answers.
    assert!((2..=2 * (tries + more)).contains(&user.used), "{context}: {user:?}");
    let told = [&first, &second].map(|answer| answer.text("rule").starts_with("pair"));
    let charged = 2 * told.iter().filter(|told| **told).count();
    let open = usize::try_from(units_without_store(&lab)).unwrap() / 2;
    let debited = usize::try_from(user.used).unwrap();
    assert!(debited + open >= charged, "{context}: {open} passed without the store, {user:?}");
    struck
}

/// Units that log lines say passed without the store.
fn units_without_store(lab: &Lab) -> i64 {
    let lines = lab.lines();
    let lines = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let units = lines.map(|line| {
        let of = |name: &str| line[name].as_f64().unwrap_or(0.0);
        of("LimitsOpen") + of("LimitsFrozen")
    });
    #[expect(clippy::cast_possible_truncation, reason = "counts of units are small")]
    let sum = units.sum::<f64>().round() as i64;
    sum
}

/// Spends three times, and by the second knows how fast; says how much under the rule.
async fn lease(lab: &Lab) -> i64 {
    let mut spent = 0;
    for _ in 0..3 {
        let body = check_body("/t/leased", 10).to_string();
        let (answer, _) = retry(lab, "POST", CHECK, &body).await;
        // A node that can't read the rules for a second goes by those it has, and says so.
        let held = answer.status == 200 && answer.text("rule") == "leased";
        spent += if held { 10 } else { 0 };
        lab.clock.advance_ms(50);
    }
    spent
}

async fn strike_lease(nth: u64, fault: Fault) -> bool {
    let lab = lab(&["/t/leased"]).await;
    lab.cloud.faults.inject(nth, fault);
    let spent = lease(&lab).await;
    let struck = lab.stop_faults();
    lab.cloud.functions.retire(Duration::ZERO).await;
    let row = counter(&lab, "leased", "ada").await;
    let context = format!("call {nth}, {fault:?}: {spent} spent, {row:?}");
    assert!(row.used + units_without_store(&lab) >= spent, "{context}");
    // What a node held when it died, or a write whose answer was lost.
    let lost = if struck { 80 } else { 0 };
    assert!(row.used <= spent + lost, "{context}");
    struck
}

async fn strike_close(nth: u64, fault: Fault) -> bool {
    let lab = lab(&["/t/leased"]).await;
    let spent = lease(&lab).await;
    let held = counter(&lab, "leased", "ada").await.used;
    assert!(held > spent, "{held} are held");
    lab.cloud.faults.inject(nth, fault);
    lab.cloud.functions.quiesce().await;
    lab.cloud.functions.retire(Duration::ZERO).await;
    let struck = lab.stop_faults();
    let row = counter(&lab, "leased", "ada").await;
    let context = format!("call {nth}, {fault:?}: {spent} spent, {row:?}");
    assert!([spent, held].contains(&row.used), "{context}");
    assert!(struck || row.used == spent, "{context}");
    let quota = Quota::new(Algorithm::SlidingWindow, 160, 60_000);
    let rest = quota.free(Some(&row), lab.clock.now_ms());
    assert_eq!(check(&lab, &check_body("/t/leased", rest)).await.status, 200, "{context}");
    assert_eq!(check(&lab, &check_body("/t/leased", 1)).await.status, 429, "{context}");
    struck
}

/// The counter of one of the rules for the caller of every check.
async fn counter(lab: &Lab, rule: &str, entity: &str) -> CounterRow {
    let rule = setup::rules().into_iter().find(|it| it.id == rule).unwrap();
    let key = CounterKey::new(&rule.id, &rule.quota, entity, 0);
    limits(lab).counter(&key).await.unwrap().unwrap_or_default()
}

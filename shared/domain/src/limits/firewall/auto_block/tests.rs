//! Who is reported, when, and how much is remembered.

use std::net::Ipv6Addr;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::limits::firewall::{Firewall, FirewallDecision, FirewallDraft, FirewallRequest};

const FEW: AutoBlock = AutoBlock { denials: 3, within_seconds: 10, block_seconds: 60 };

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn reported(offenders: &mut DenialTracker, times: &[i64]) -> Vec<i64> {
    let noted = |at: &&i64| offenders.record_denial(ip("192.0.2.1"), **at).is_some();
    times.iter().filter(noted).copied().collect()
}

#[test]
fn an_address_is_reported_when_it_was_refused_that_often_within_the_window() {
    for (times, reports) in [
        (vec![0, 1, 2], vec![2]),
        (vec![0, 5_000, 9_999], vec![9_999]),
        (vec![0, 5_000, 10_000], vec![]),
        (vec![0, 5_000, 10_000, 10_001, 10_002], vec![10_002]),
        // Silence while the block lasts, then the count begins at nothing.
        (vec![0, 1, 2, 3, 4, 5, 60_001], vec![2]),
        (vec![0, 1, 2, 60_002, 60_003, 60_004], vec![2, 60_004]),
    ] {
        assert_eq!(reported(&mut DenialTracker::new(FEW), &times), reports, "{times:?}");
    }
}

#[test]
fn a_report_says_who_how_often_and_since_when() {
    let mut offenders = DenialTracker::new(FEW);
    assert_eq!(offenders.record_denial(ip("::ffff:192.0.2.1"), 5), None);
    assert_eq!(offenders.record_denial(ip("192.0.2.1"), 6), None);
    assert_eq!(offenders.record_denial(ip("192.0.2.2"), 7), None);
    let offence = Offender { ip: ip("192.0.2.1"), denials: 3, since_ms: 5 };
    assert_eq!(offenders.record_denial(ip("192.0.2.1"), 8), Some(offence));
}

#[test]
fn a_clock_that_goes_back_begins_the_window_anew() {
    assert_eq!(reported(&mut DenialTracker::new(FEW), &[50_000, 50_001, 0, 1]), [0; 0]);
    assert_eq!(reported(&mut DenialTracker::new(FEW), &[50_000, 50_001, 0, 1, 2]), [2]);
    // What was blocked by the clock as it was is blocked until the clock is there again.
    assert_eq!(
        reported(&mut DenialTracker::new(FEW), &[50_000, 50_001, 50_002, 0, 1, 2]),
        [50_002]
    );
    let extremes = [i64::MAX, i64::MIN, i64::MAX, i64::MIN, 0];
    assert_eq!(reported(&mut DenialTracker::new(FEW), &extremes), [0; 0]);
}

#[test]
fn nothing_is_counted_when_it_is_off_and_counts_survive_other_settings() {
    let mut offenders = DenialTracker::new(AutoBlock { denials: 0, ..FEW });
    assert_eq!(reported(&mut offenders, &[0; 1_000]), [0; 0]);
    assert!(offenders.windows.is_empty());
    offenders.set_thresholds(AutoBlock { denials: 100, ..FEW });
    assert_eq!(reported(&mut offenders, &[0, 1, 2, 3]), [0; 0]);
    offenders.set_thresholds(FEW);
    assert_eq!(reported(&mut offenders, &[4]), [4]);
}

#[test]
fn memory_is_bounded_and_the_newest_addresses_and_the_blocked_stay() {
    let mut offenders = DenialTracker::new(FEW);
    assert_eq!(reported(&mut offenders, &[0, 1, 2]), [2]);
    for count in 0..20_000_u32 {
        let newcomer = IpAddr::V6(Ipv6Addr::from_bits(u128::from(count) << 64 | 1 << 127));
        assert_eq!(offenders.record_denial(newcomer, 3 + i64::from(count) / 10), None);
        assert!(offenders.windows.len() <= MAX_ADDRESSES);
        assert!(offenders.windows.contains_key(&newcomer));
    }
    assert!(offenders.windows.len() > MAX_ADDRESSES / 2);
    assert_eq!(reported(&mut offenders, &[4_000, 4_001, 4_002]), [0; 0]);
}

#[test]
fn windows_that_are_over_make_room_first() {
    let mut offenders = DenialTracker::new(FEW);
    let newcomer = |count: u32| IpAddr::V4(count.into());
    for count in 0..4_096 {
        offenders.record_denial(newcomer(count), if count < 4_000 { 0 } else { 9_000 });
    }
    offenders.record_denial(newcomer(5_000), 10_000);
    assert_eq!(offenders.windows.len(), 97);
}

#[test]
fn the_rule_for_an_address_refuses_it_until_the_block_ends() {
    for (offender, id, cidr, neighbour) in [
        ("192.0.2.1", "auto-192-0-2-1", "192.0.2.1/32", "192.0.2.2"),
        ("::ffff:192.0.2.1", "auto-192-0-2-1", "192.0.2.1/32", "192.0.2.0"),
        ("2001:db8:1:2::", "auto-20010db800010002", "2001:db8:1:2::/64", "2001:db8:1:3::"),
    ] {
        let rule = auto_block_rule(ip(offender), FEW, 1_000);
        assert_eq!((rule.id.as_str(), rule.cidrs[0].to_string().as_str()), (id, cidr));
        assert_eq!(rule.reason, "Refused 3 times within 10 s: blocked for 60 s.");
        assert!(rule.automatic);
        assert_eq!(FirewallRule::from_document(&rule.to_document()), Some(rule.clone()));
        let draft = FirewallDraft {
            action: FirewallAction::Deny,
            cidrs: vec![cidr.to_owned()],
            paths: Vec::new(),
            methods: Vec::new(),
            headers: Vec::new(),
            user_agents: Vec::new(),
            reason: rule.reason.clone(),
            expires_at: rule.expires_at,
        };
        let drafted = draft.into_rule(&rule.id, rule.version, Timestamp::UNIX_EPOCH);
        assert_eq!(drafted, Ok(FirewallRule { automatic: false, ..rule.clone() }));
        let firewall = Firewall::compile(vec![rule]);
        let refused = |text: &str, now_ms| {
            let asked =
                FirewallRequest { ip: Some(ip(text)), path: "/", method: "GET", header: &|_| None };
            firewall.evaluate(&asked, now_ms) != FirewallDecision::Pass
        };
        assert!(refused(offender, 60_999) && !refused(offender, 61_000), "{offender}");
        assert!(!refused(neighbour, 1_000), "{neighbour}");
    }
    assert_eq!(auto_block_rule(ip("::1"), FEW, i64::MAX).expires_at, Some(Timestamp::MAX));
    let (early, late) = (auto_block_rule(ip("::1"), FEW, 1), auto_block_rule(ip("::1"), FEW, 2));
    assert!(late.version > early.version);
}

#[test]
fn settings_are_checked_by_name_and_have_defaults() {
    let read = |value| serde_json::from_value::<AutoBlock>(value).unwrap();
    let usual = AutoBlock { denials: 100, within_seconds: 60, block_seconds: 600 };
    assert_eq!(read(json!({})), usual);
    assert_eq!(usual.checked(), Ok(usual));
    assert_eq!(read(json!({"denials": 0})).checked(), Ok(AutoBlock { denials: 0, ..usual }));
    for (settings, field) in [
        (json!({"denials": 1_000_001}), "denials"),
        (json!({"withinSeconds": 0}), "withinSeconds"),
        (json!({"withinSeconds": 3_601}), "withinSeconds"),
        (json!({"blockSeconds": 0}), "blockSeconds"),
        (json!({"blockSeconds": 604_801}), "blockSeconds"),
    ] {
        assert_eq!(read(settings).checked().unwrap_err().0, field);
    }
    assert!(serde_json::from_value::<AutoBlock>(json!({"seconds": 1})).is_err());
}

proptest! {
    #[test]
    fn reports_are_true_and_never_come_while_a_block_lasts(
        steps in prop::collection::vec(0_i64..8_000, 0..200),
        denials in 1_u32..6,
    ) {
        let settings = AutoBlock { denials, within_seconds: 10, block_seconds: 20 };
        let times: Vec<i64> =
            steps.iter().scan(0, |now, step| { *now += step; Some(*now) }).collect();
        let reports = reported(&mut DenialTracker::new(settings), &times);
        for report in &reports {
            let within = times.iter().filter(|at| (report - 9_999..=*report).contains(*at)).count();
            prop_assert!(within >= usize::try_from(denials).unwrap());
        }
        prop_assert!(reports.windows(2).all(|pair| pair[1] - pair[0] >= 20_000));
    }
}

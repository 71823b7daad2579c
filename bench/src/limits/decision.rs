//! One decision in process, beside `governor` and Limitador, in turns within the same run.
//!
//! Ours finds the rules for a path, a method and a caller, and spends held units under all of them or
//! none; the units were debited from a counter that all nodes share. `governor` has one quota, no
//! rules and no other node. Limitador has limits with conditions, and in memory no other node.

use domain::limits::ledger::MAX_KEYS;

use super::governor;
use super::ours::{By, CapacityUsed, Node, counted};
use super::timing::{Contestant, Latency, race, reading_ns};
use crate::Result;
use crate::table::{Table, Verdict, grouped};

const P50_AT_MOST_NS: f64 = 1_000.0;
const P99_AT_MOST_NS: f64 = 1_000_000.0;

/// Rules in the set, what they count by, keys that ask.
const CASES: [(usize, By, usize); 9] = [
    (1, By::User, 1),
    (1, By::User, 10_000),
    (1, By::Ip, 10_000),
    (100, By::User, 1),
    (100, By::User, 10_000),
    (10_000, By::User, 1),
    (10_000, By::User, 10_000),
    (5, By::All, 10_000),
    (10_000, By::All, 10_000),
];

/// What is compared: how much longer the first takes than the second.
const RATIOS: [(&str, &str); 4] = [
    ("ours: 1 rule (1 matches), 1 key", "governor: 1 limiter, no rules, 1 key"),
    ("ours: 5 rules (5 match), 10,000 keys", "governor: 5 limiters, no rules, 10,000 keys"),
    ("limitador: 1 limit (1 matches), 1 key", "ours: 1 rule (1 matches), 1 key"),
    ("limitador: 5 limits (5 match), 10,000 keys", "ours: 5 rules (5 match), 10,000 keys"),
];

pub(crate) fn measure() -> Result<Table> {
    let capacity = CapacityUsed::default();
    let mut contestants = Vec::new();
    for (rules, by, keys) in CASES {
        let what = format!("ours: {}", named(rules, "rule", by, keys));
        contestants.push(Contestant::new(what, counted(Node::new(rules, by, keys), &capacity)));
    }
    let bars = contestants.len();
    others(&mut contestants)?;
    let latencies = race(&mut contestants);

    let mut table = Table::new("One decision on held units, p50 · p99", "bar");
    for (place, (contestant, latency)) in contestants.iter().zip(&latencies).enumerate() {
        let (bar, verdict) =
            CASES.get(place).map_or(("", Verdict::Note), |case| bar(*case, *latency));
        table.row(&contestant.what, latency.to_string(), bar, verdict);
        if place + 1 == bars {
            let (decisions, asked) = (capacity.decisions.get(), capacity.asked.get());
            let what = format!("ours: store calls in {} decisions", grouped(decisions));
            table.row(&what, grouped(asked), "0", Verdict::Counted(asked == 0));
        }
    }
    let p50 = |what: &str| {
        let found = contestants.iter().position(|contestant| contestant.what == what);
        found.map_or(f64::NAN, |place| latencies[place].p50)
    };
    for (slow, fast) in RATIOS {
        let ratio = p50(slow) / p50(fast);
        if ratio.is_finite() {
            let what = format!("{slow}, by {fast}");
            table.row(&what, format!("{ratio:.1}"), "", Verdict::Note);
        }
    }
    let what = "keys that a function's node holds at once; this one was made larger";
    table.row(what, grouped(MAX_KEYS as u64), "", Verdict::Note);
    let what = "subtracted from single calls: a clock reading";
    table.row(what, format!("{:.0} ns", reading_ns()), "", Verdict::Note);
    Ok(table)
}

fn bar((rules, by, _): (usize, By, usize), latency: Latency) -> (&'static str, Verdict) {
    if by.rules() == 1 && rules == 1 {
        return ("p50 < 1 µs", Verdict::Speed(latency.p50 < P50_AT_MOST_NS));
    }
    ("p99 < 1 ms", Verdict::Speed(latency.p99 < P99_AT_MOST_NS))
}

fn others(contestants: &mut Vec<Contestant<'_>>) -> Result {
    for (limiters, keys) in [(1, 1), (1, 10_000), (5, 10_000)] {
        let (asked, callers) = (several(limiters, "limiter"), several(keys, "key"));
        let what = format!("governor: {asked}, no rules, {callers}");
        contestants.push(Contestant::new(what, governor::contestant(limiters, keys)));
    }
    with_limitador(contestants)
}

#[cfg(not(feature = "limitador"))]
#[expect(clippy::unnecessary_wraps, reason = "with Limitador something can go wrong")]
fn with_limitador(_: &mut Vec<Contestant<'_>>) -> Result {
    println!("`--features limitador` (after `-p bench`) compares with Limitador too.\n");
    Ok(())
}

#[cfg(feature = "limitador")]
fn with_limitador(contestants: &mut Vec<Contestant<'_>>) -> Result {
    use super::limitador;
    use super::limitador::Namespaces::{Many, One};

    let what = "limitador: 1 limit, 1 key, its context made before";
    contestants.push(Contestant::new(what, limitador::with_context()?));
    for (limits, each, keys, namespaces) in [
        (1, 1, 1, One),
        (1, 1, 10_000, One),
        (100, 1, 10_000, One),
        (10_000, 1, 10_000, One),
        (10_000, 1, 10_000, Many),
        (5, 5, 10_000, One),
    ] {
        let by = if each == 1 { By::User } else { By::All };
        let apart = if namespaces == Many { ", a namespace for each" } else { "" };
        let what = format!("limitador: {}{apart}", named(limits, "limit", by, keys));
        let contestant = limitador::contestant(limits, each, keys, namespaces)?;
        contestants.push(Contestant::new(what, contestant));
    }
    Ok(())
}

fn named(rules: usize, kind: &str, by: By, keys: usize) -> String {
    let matched = match by {
        By::User => "1 matches",
        By::Ip => "1 matches, by address",
        By::All => "5 match",
    };
    format!("{} ({matched}), {}", several(rules, kind), several(keys, "key"))
}

/// So many of something, of which there may be one.
fn several(count: usize, of: &str) -> String {
    format!("{} {of}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

//! One decision in process, beside `governor` and Limitador, in turns within the same run.
//!
//! Ours finds the rules for a path, a method and a caller, and spends held units under all of them or
//! none; the units were debited from a counter that all nodes share. `governor` has one quota, no
//! rules and no other node. Limitador has limits with conditions, and in memory no other node.

use std::error::Error;

use super::limitador::Namespaces::{Many, One};
use super::ours::{By, Node, Tally, counted};
use super::timing::{Contestant, Latency, race, reading_ns};
use super::{governor, limitador};
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

pub(crate) fn measure() -> Result<Table, Box<dyn Error>> {
    let tally = Tally::default();
    let mut contestants = Vec::new();
    for (rules, by, keys) in CASES {
        let what = format!("ours: {}", named(rules, "rules", by, keys));
        contestants.push(Contestant::new(what, counted(Node::new(rules, by, keys), &tally)));
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
            let (decisions, asked) = (tally.decisions.get(), tally.asked.get());
            let what = format!("ours: store calls in {} decisions", grouped(decisions));
            table.row(&what, grouped(asked), "0", Verdict::Counted(asked == 0));
        }
    }
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

fn others(contestants: &mut Vec<Contestant<'_>>) -> Result<(), Box<dyn Error>> {
    for (limiters, keys) in [(1, 1), (1, 10_000), (5, 10_000)] {
        let what = format!("governor: {limiters} limiters, no rules, {} keys", grouped(keys));
        let keys = usize::try_from(keys)?;
        contestants.push(Contestant::new(what, governor::contestant(limiters, keys)));
    }
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
        let what = format!("limitador: {}{apart}", named(limits, "limits", by, keys));
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
    let (rules, keys) = (grouped(rules as u64), grouped(keys as u64));
    format!("{rules} {kind} ({matched}), {keys} keys")
}

//! Ids: what one costs, whether the cap is sustained, and a simulation of very many.

mod simulation;

use crate::table::{Table, Verdict};
use domain::ids::{Generator, Id, IdLease, MachineShard, NextId, Proposal, RequestId, propose};
use std::hint::black_box;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const REPETITIONS: usize = 9;
const IDS_PER_REPETITION: u64 = 4_000_000;
const COSTS_AT_MOST_NS: f64 = 100.0;
const CAP_PER_MS: f64 = 4_096.0;
const HOUR_MS: u64 = 3_600_000;

/// Measures everything and says whether every bar of correctness was cleared.
pub(crate) fn run(simulated_ids: u64) -> bool {
    println!("Each cost is the median (and the least) of {REPETITIONS} runs.\n");
    let Some(start_ms) = lease(unix_ms()).map(|lease| lease.from_ms()) else {
        println!("The clock shows a time that ids cannot express.");
        return false;
    };
    costs(start_ms).print();
    cap().print();
    alternatives().print();
    simulation::measure(simulated_ids).print()
}

fn costs(start_ms: u64) -> Table {
    let mut table = Table::new("Cost, ns per id", "bar");
    let measure = |ids, issue: fn(u64, u64)| cost(ids, |ids| issue(start_ms, ids));
    for (what, issue) in [
        ("next(), 1,000 ids per ms", one_by_one as fn(u64, u64)),
        ("next() and a clock reading for each", with_readings),
        ("fill() of 1,000", in_batches),
    ] {
        let cost = measure(IDS_PER_REPETITION, issue);
        let verdict = Verdict::Speed(cost.median_ns < COSTS_AT_MOST_NS);
        table.row(what, cost.to_string(), "< 100", verdict);
    }
    let text = measure(IDS_PER_REPETITION / 8, spell);
    table.row("to_base62()", text.to_string(), "", Verdict::Note);
    table
}

/// Below the cap the clock moves on before the millisecond is spent.
fn one_by_one(start_ms: u64, ids: u64) {
    let Some(mut generator) = lease(start_ms).map(Generator::new) else {
        return;
    };
    for id in 0..ids {
        black_box(generator.next(black_box(start_ms + id / 1_000)));
    }
}

/// What a caller pays who asks the operating system for the time before every id. The reading is not
/// used: an id every 244 ns is the cap, and the loop would measure nothing else.
fn with_readings(start_ms: u64, ids: u64) {
    let Some(mut generator) = lease(start_ms).map(Generator::new) else {
        return;
    };
    for id in 0..ids {
        black_box(unix_ms());
        black_box(generator.next(black_box(start_ms + id / 1_000)));
    }
}

fn in_batches(start_ms: u64, ids: u64) {
    let Some(mut generator) = lease(start_ms).map(Generator::new) else {
        return;
    };
    let mut batch: Vec<Id> = Vec::with_capacity(1_000);
    for round in 0..ids / 1_000 {
        batch.clear();
        black_box(generator.fill(black_box(start_ms + round), 1_000, &mut batch));
        black_box(&batch);
    }
}

fn spell(start_ms: u64, ids: u64) {
    let Some(mut generator) = lease(start_ms).map(Generator::new) else {
        return;
    };
    for id in 0..ids {
        if let NextId::Id(id) = generator.next(start_ms + id / 1_000) {
            black_box(id.to_base62());
        }
    }
}

/// Runs into the cap with the real clock. A millisecond in which this thread was not scheduled is
/// gone, so a busy machine shows a little less.
fn cap() -> Table {
    let mut rates: Vec<f64> = (0..REPETITIONS).filter_map(|_| ids_per_ms()).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates.get(rates.len() / 2).copied().unwrap_or(0.0);
    let most = rates.last().copied().unwrap_or(0.0);
    let mut table = Table::new("Cap, ids per ms with the real clock", "bar");
    let verdict = Verdict::Speed(median >= CAP_PER_MS * 0.99);
    let measured = format!("{median:.0} ({most:.0})");
    table.row("one whole shard, median of 250 ms (most)", measured, "4,096 less 1 %", verdict);
    table
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn ids_per_ms() -> Option<f64> {
    let started_ms = unix_ms();
    let mut generator = lease(started_ms).map(Generator::new)?;
    let mut batch = Vec::with_capacity(4_096);
    let (mut now_ms, mut issued) = (started_ms, 0);
    while now_ms < started_ms + 250 {
        batch.clear();
        black_box(generator.fill(now_ms, 4_096, &mut batch));
        issued += batch.len();
        now_ms = unix_ms();
    }
    Some(issued as f64 / (now_ms - started_ms) as f64)
}

fn alternatives() -> Table {
    let mut table = Table::new("What a user would pick instead, ns per id", "how it differs");
    let mut note = |what: &str, cost: Cost, remark: &str| {
        table.row(what, cost.to_string(), remark, Verdict::Note);
    };
    note("uuid v7", cost(400_000, uuids), "128 bits, mostly random; ordered within a process");
    note(
        "tsid",
        cost(400_000, tsids),
        "node number to configure; runs ahead of the clock past its cap",
    );
    let sonyflakes = cost(2_560, sonyflakes);
    note("sonyflake", sonyflakes, "machine number to configure; 256 per 10 ms, then it sleeps");
    table
}

fn uuids(ids: u64) {
    for _ in 0..ids {
        black_box(uuid::Uuid::now_v7());
    }
}

fn tsids(ids: u64) {
    let mut factory = tsid::TsidFactory::with_node_bits(10, 1);
    for _ in 0..ids {
        black_box(factory.create());
    }
}

fn sonyflakes(ids: u64) {
    let Ok(flake) = sonyflake::Sonyflake::builder().machine_id(&|| Ok(1)).finalize() else {
        return;
    };
    for _ in 0..ids {
        let _ = black_box(flake.next_id());
    }
}

struct Cost {
    median_ns: f64,
    least_ns: f64,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ({:.1})", self.median_ns, self.least_ns)
    }
}

/// Times `issue(ids)` several times and divides by the ids.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn cost(ids: u64, issue: impl Fn(u64)) -> Cost {
    let mut costs: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let started = Instant::now();
            issue(ids);
            started.elapsed().as_secs_f64() * 1e9 / ids as f64
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    Cost { median_ns: costs[REPETITIONS / 2], least_ns: costs[0] }
}

/// An hour on a whole machine number, as if the store had granted it.
fn lease(now_ms: u64) -> Option<IdLease> {
    match propose(MachineShard::new(1)?, None, now_ms, HOUR_MS, RequestId(1)) {
        Proposal::Take(claim) => Some(claim.granted()),
        Proposal::Busy { .. } | Proposal::ClockOutOfEra => None,
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

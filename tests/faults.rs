//! Seeded faults: what holds afterwards, whatever went wrong on the way.
//!
//! A failure prints its seed; `SEED=n cargo test -p tests faults` runs that one alone, and
//! `SEEDS=n` takes another number of them.

mod accounts;
mod crash_points;
mod ids;
mod planted;

use std::collections::BTreeMap;

use local::faults::Fault;

/// How many seeds a scenario is run with.
const SEEDS: u64 = 1_000;

/// Runs `scenario` with every seed and prints what was injected.
fn sweep(name: &str, scenario: impl Fn(u64) -> Result<BTreeMap<Fault, u64>, String>) {
    let mut injected: BTreeMap<Fault, u64> = BTreeMap::new();
    let seeds = seeds();
    let count = seeds.end - seeds.start;
    for seed in seeds {
        match scenario(seed) {
            Ok(counts) => {
                for (fault, count) in counts {
                    *injected.entry(fault).or_default() += count;
                }
            }
            Err(violation) => panic!("{name}: seed {seed}: {violation}"),
        }
    }
    println!("{name}: {count} seeds held; injected {injected:?}");
}

#[expect(clippy::disallowed_methods, reason = "the seeds are the test runner's to choose")]
fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(SEEDS),
    }
}

/// Runs a scenario to its end on one thread with paused time.
fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(work)
}

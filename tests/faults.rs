//! Seeded faults: the invariants that hold after them.
//!
//! A failure prints its seed; `SEED=n cargo test -p tests faults` runs that one alone, and
//! `SEEDS=n` takes another number of them.

pub(crate) mod crash_points;
pub(crate) mod mutations;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tests::Result;

use local::faults::Fault;

/// How many seeds a scenario is run with.
const SEEDS: u64 = 1_000;

/// Runs `scenario` with every seed, on as many threads as there are cores, and prints what was
/// injected. A seed's run is deterministic; which thread it is on does not matter to it.
pub(crate) fn sweep(name: &str, scenario: impl Fn(u64) -> Result<BTreeMap<Fault, u64>> + Sync) {
    let seeds = seeds();
    let count = seeds.end - seeds.start;
    let next = AtomicU64::new(seeds.start);
    let injected: Mutex<BTreeMap<Fault, u64>> = Mutex::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    match scenario(seed) {
                        Ok(counts) => {
                            let mut injected = injected.lock().unwrap();
                            for (fault, count) in counts {
                                *injected.entry(fault).or_default() += count;
                            }
                        }
                        Err(violation) => panic!("{name}: seed {seed}: {violation}"),
                    }
                }
            });
        }
    });
    println!("{name}: {count} seeds held; injected {:?}", injected.into_inner().unwrap());
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
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(work)
}

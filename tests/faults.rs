//! Seeded faults: the invariants that hold after them.
//!
//! Each day begins with another seed, so that what is covered grows. A failure prints its seed:
//! `SEED=n cargo test --test suite faults` runs that one alone. `SEEDS=1000` takes more of them, from `SEED` on
//! if that is set, and prints how far it is.

pub(crate) mod crash_points;
pub(crate) mod mutations;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tests::Result;

use local::faults::Fault;

/// How many seeds a scenario is run with, unless `SEEDS` says otherwise.
const SEEDS: u64 = 100;

/// How far the first seeds of two days are apart.
const SEEDS_A_DAY: u64 = 10_000;

const DAY_SECONDS: u64 = 24 * 3600;

/// After so many seeds a line says how far it is.
const PROGRESS: u64 = 100;

/// Runs `scenario` with every seed, on as many threads as there are cores, and prints what was
/// injected. A seed's run is deterministic; which thread it is on does not matter to it.
pub(crate) fn sweep(name: &str, scenario: impl Fn(u64) -> Result<BTreeMap<Fault, u64>> + Sync) {
    let seeds = seeds();
    let count = seeds.end - seeds.start;
    println!("{name}: seeds from {}", seeds.start);
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
                            if (seed + 1 - seeds.start).is_multiple_of(PROGRESS) {
                                println!("{name}: {} of {count} seeds", seed + 1 - seeds.start);
                            }
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
    let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / DAY_SECONDS;
    let (first, usual) = match number("SEED") {
        Some(seed) => (seed, 1),
        None => (today * SEEDS_A_DAY, SEEDS),
    };
    first..first + number("SEEDS").unwrap_or(usual)
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

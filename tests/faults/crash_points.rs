//! Every call of every operation, each met by every fault, one at a time.
//!
//! The client repeats its request until it has an answer. Then the effect must be there exactly
//! once, whichever call it was that went wrong.

use local::faults::Fault;

use super::run;

pub(crate) const FAULTS: [Fault; 7] = [
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::CommitThenTimeout,
    Fault::CutBefore,
    Fault::Throttle,
    Fault::ServerError,
    Fault::TransactionConflict,
];

/// Strikes each call of `work` with each fault; `work` says whether there was such a call.
pub(crate) fn sweep<F: Future<Output = bool>>(
    name: &str,
    least: u64,
    work: impl Fn(u64, Fault) -> F,
) {
    let mut points = 0;
    for fault in FAULTS {
        let mut nth = 0;
        while run(work(nth, fault)) {
            nth += 1;
        }
        assert!(nth >= least, "{name} makes {nth} calls, not {least}");
        points += nth;
    }
    println!("crash points: {name}: {points} swept");
}

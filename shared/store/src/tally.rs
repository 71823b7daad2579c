//! Counts what a request costs at the store: calls and capacity units.
//!
//! The boundary opens a tally around each invocation; whatever the store does inside adds to it.
//! Outside one (in tests of the store itself) nothing is counted.

use std::cell::Cell;
use std::future::Future;

use aws_sdk_dynamodb::types::ConsumedCapacity;

/// Calls made and capacity consumed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Requests sent to DynamoDB, as the caller of the SDK sees them (retries not counted).
    pub calls: u32,
    /// Capacity units, reads and writes together as DynamoDB reports them per request.
    pub units: f64,
}

tokio::task_local! {
    static CURRENT: Cell<Tally>;
}

/// Runs `work` and says what it cost.
pub async fn counted<T>(work: impl Future<Output = T>) -> (T, Tally) {
    CURRENT
        .scope(Cell::new(Tally::default()), async {
            let answer = work.await;
            (answer, CURRENT.with(Cell::get))
        })
        .await
}

/// Notes one call that consumed `capacity`.
pub fn note<'a>(capacity: impl IntoIterator<Item = &'a ConsumedCapacity>) {
    let units: f64 = capacity.into_iter().filter_map(|used| used.capacity_units).sum();
    // Without an open tally there is nobody to tell.
    let _ = CURRENT.try_with(|current| {
        let tally = current.get();
        current.set(Tally { calls: tally.calls + 1, units: tally.units + units });
    });
}

//! Counts what a request costs at the store: calls and capacity units.
//!
//! The boundary opens a capacity around each invocation; whatever the store does inside adds to it.
//! Outside one (in tests of the store itself) nothing is metered.

use std::cell::Cell;
use std::future::Future;

use aws_sdk_dynamodb::types::ConsumedCapacity;

/// Calls made and capacity consumed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CapacityUsed {
    /// Requests sent to DynamoDB, as the caller of the SDK sees them (retries not metered).
    pub calls: u32,
    /// Capacity units, reads and writes together as DynamoDB reports them per request.
    pub units: f64,
}

tokio::task_local! {
    static CURRENT: Cell<CapacityUsed>;
}

/// Runs `work` and says what it cost.
pub async fn metered<T>(work: impl Future<Output = T>) -> (T, CapacityUsed) {
    CURRENT
        .scope(Cell::new(CapacityUsed::default()), async {
            let answer = work.await;
            (answer, CURRENT.with(Cell::get))
        })
        .await
}

/// Notes one call that consumed `capacity`.
pub fn record<'a>(capacity: impl IntoIterator<Item = &'a ConsumedCapacity>) {
    let units: f64 = capacity.into_iter().filter_map(|used| used.capacity_units).sum();
    // Without an open capacity there is nobody to tell.
    let _ = CURRENT.try_with(|current| {
        let capacity = current.get();
        current.set(CapacityUsed { calls: capacity.calls + 1, units: capacity.units + units });
    });
}

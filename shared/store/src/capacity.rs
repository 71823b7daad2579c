//! What an invocation costs at the store: calls and capacity units.
//!
//! The boundary meters each invocation with [`metered`]; every answer of DynamoDB that a client with the
//! [`CapacityInterceptor`] gets inside is added. Outside (in tests of the store itself) nothing is metered.

use std::cell::Cell;
use std::future::Future;

use aws_sdk_dynamodb::config::interceptors::{
    BeforeSerializationInterceptorContextMut, FinalizerInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::{
    batch_get_item, batch_write_item, delete_item, get_item, put_item, query, scan,
    transact_write_items, update_item,
};
use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity};

/// Calls made and capacity consumed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CapacityUsed {
    /// Requests that DynamoDB answered, as the caller of the SDK sees them (its retries are not counted).
    pub calls: u32,
    /// Capacity units, reads and writes together as DynamoDB reports them per request.
    pub units: f64,
}

tokio::task_local! {
    static CURRENT: Cell<CapacityUsed>;
}

/// Runs `work` and returns what it cost.
pub async fn metered<T>(work: impl Future<Output = T>) -> (T, CapacityUsed) {
    CURRENT
        .scope(Cell::new(CapacityUsed::default()), async {
            let output = work.await;
            (output, CURRENT.with(Cell::get))
        })
        .await
}

/// Adds one call that consumed `capacity` to the invocation that is running, if one is.
fn record<'a>(capacity: impl IntoIterator<Item = &'a ConsumedCapacity>) {
    let units: f64 = capacity.into_iter().filter_map(|used| used.capacity_units).sum();
    let _ = CURRENT.try_with(|current| {
        let used = current.get();
        current.set(CapacityUsed { calls: used.calls + 1, units: used.units + units });
    });
}

/// Asks DynamoDB with each request for the capacity that it consumes, and records the answer.
#[derive(Debug)]
pub struct CapacityInterceptor;

/// The SDK has an input and an output for each operation, and no trait over them.
macro_rules! operations {
    ($($module:ident::{$input:ident, $output:ident}),* $(,)?) => {
        impl Intercept for CapacityInterceptor {
            fn name(&self) -> &'static str {
                "CapacityInterceptor"
            }

            fn modify_before_serialization(
                &self,
                context: &mut BeforeSerializationInterceptorContextMut<'_>,
                _: &RuntimeComponents,
                _: &mut ConfigBag,
            ) -> Result<(), BoxError> {
                let input = context.input_mut();
                $(if let Some(input) = input.downcast_mut::<$module::$input>() {
                    input.return_consumed_capacity = Some(ReturnConsumedCapacity::Total);
                })*
                Ok(())
            }

            fn read_after_execution(
                &self,
                context: &FinalizerInterceptorContextRef<'_>,
                _: &RuntimeComponents,
                _: &mut ConfigBag,
            ) -> Result<(), BoxError> {
                match context.output_or_error() {
                    Some(Ok(output)) => {
                        $(if let Some(output) = output.downcast_ref::<$module::$output>() {
                            record(output.consumed_capacity());
                        })*
                    }
                    // Refused: a condition failed, or another transaction was in the way.
                    Some(Err(error)) if error.is_operation_error() => record([]),
                    Some(Err(_)) | None => {}
                }
                Ok(())
            }
        }
    };
}

operations! {
    batch_get_item::{BatchGetItemInput, BatchGetItemOutput},
    batch_write_item::{BatchWriteItemInput, BatchWriteItemOutput},
    delete_item::{DeleteItemInput, DeleteItemOutput},
    get_item::{GetItemInput, GetItemOutput},
    put_item::{PutItemInput, PutItemOutput},
    query::{QueryInput, QueryOutput},
    scan::{ScanInput, ScanOutput},
    transact_write_items::{TransactWriteItemsInput, TransactWriteItemsOutput},
    update_item::{UpdateItemInput, UpdateItemOutput},
}

//! Writes that may be repeated: a lost condition means there was nothing left to do.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::ConsumedCapacity;
use domain::Failure;

use crate::capacity;

/// Takes a lost condition for success, and counts the call either way.
pub fn settle<O, E>(
    action: &'static str,
    sent: Result<O, SdkError<E>>,
    capacity: impl FnOnce(&O) -> Option<&ConsumedCapacity>,
) -> Result<(), Failure>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match sent {
        Ok(done) => capacity::record(capacity(&done)),
        Err(error) if error.code() == Some("ConditionalCheckFailedException") => {
            capacity::record([])
        }
        Err(error) => return Err(Failure::new(action, error)),
    }
    Ok(())
}

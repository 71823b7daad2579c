//! Writes that may be repeated: a lost condition means there was nothing left to do.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use domain::{Failure, Result};

/// Takes a lost condition for success.
pub fn ignore_lost_condition<O, E>(action: &'static str, sent: Result<O, SdkError<E>>) -> Result
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match sent {
        Err(error) if error.code() != Some("ConditionalCheckFailedException") => {
            Err(Failure::new(action, error))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

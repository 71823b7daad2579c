//! Suppressed addresses, by a hash of the address.

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use domain::notifications::{Address, Suppression, SuppressionReason};
use domain::{Failure, Result};

use super::{Notifications, rows};
use store::row::number;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuppressOutcome {
    Written,
    /// The same or a better reason was there already, and stays.
    Kept,
}

impl Notifications {
    /// Suppresses an address, unless it is for the same reason or a better one already.
    pub async fn suppress(
        &self,
        address: &Address,
        suppression: &Suppression,
    ) -> Result<SuppressOutcome> {
        let mut row = rows::to_item(suppression)?;
        row.extend(rows::suppression_key(address));
        row.insert("strength".to_owned(), number(precedence(suppression.reason)));
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(row))
            .condition_expression("attribute_not_exists(pk) OR strength < :strength")
            .expression_attribute_values(":strength", number(precedence(suppression.reason)))
            .send()
            .await;
        match sent {
            Ok(_) => Ok(SuppressOutcome::Written),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(_)) => Ok(SuppressOutcome::Kept),
                _ => Err(Failure::new("suppress an address", error)),
            },
        }
    }

    /// Why an address gets nothing any more, if so; up to date.
    pub async fn suppression(&self, address: &Address) -> Result<Option<Suppression>> {
        let found = self.get(rows::suppression_key(address), "read a suppression").await?;
        found.as_ref().map(rows::from_item).transpose()
    }
}

/// A provider may be wrong about an address, less so about a bounce; a user's complaint always counts.
const fn precedence(reason: SuppressionReason) -> u8 {
    match reason {
        SuppressionReason::Refused => 1,
        SuppressionReason::Bounced => 2,
        SuppressionReason::Complained => 3,
    }
}

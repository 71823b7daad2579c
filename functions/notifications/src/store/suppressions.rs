//! Addresses that get nothing any more, known by what tells nobody the address.

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use domain::Failure;
use domain::notifications::{Address, Because, Suppression};

use super::{Notifications, rows};
use store::row::number;

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// It is written.
    Noted,
    /// The same or a better reason was there already, and stays.
    Stood,
}

impl Notifications {
    /// Suppresses an address, unless it is for the same reason or a better one already.
    pub async fn suppress(
        &self,
        address: &Address,
        suppression: &Suppression,
    ) -> Result<Noted, Failure> {
        let mut row = rows::plain(suppression)?;
        row.extend(rows::suppression_key(address));
        row.insert("strength".to_owned(), number(strength(suppression.because)));
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(row))
            .condition_expression("attribute_not_exists(pk) OR strength < :strength")
            .expression_attribute_values(":strength", number(strength(suppression.because)))
            .send()
            .await;
        match sent {
            Ok(_) => Ok(Noted::Noted),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(_)) => Ok(Noted::Stood),
                _ => Err(Failure::new("suppress an address", error)),
            },
        }
    }

    /// Why an address gets nothing any more, if so; up to date.
    pub async fn suppression(&self, address: &Address) -> Result<Option<Suppression>, Failure> {
        let found = self.get(rows::suppression_key(address), "read a suppression").await?;
        found.as_ref().map(rows::read).transpose()
    }
}

/// A provider may be wrong about who is there, less so about what came back; a person never is.
const fn strength(because: Because) -> u8 {
    match because {
        Because::Refused => 1,
        Because::Bounced => 2,
        Because::Complained => 3,
    }
}

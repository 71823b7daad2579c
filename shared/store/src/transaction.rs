//! Transactions: all conditions hold and everything is written, or nothing is.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update,
};
use domain::{Failure, Result};

use crate::row::{Item, number};

/// How a transaction ended.
#[derive(Debug)]
pub enum Transacted {
    /// Everything is written.
    Committed,
    /// Nothing is; for each item in order, whether its condition failed (and the row it failed on).
    Refused(Vec<Option<Item>>),
}

impl Transacted {
    /// The row that the condition of item `index` failed on.
    pub fn refused(&self, index: usize) -> Option<&Item> {
        match self {
            Self::Committed => None,
            Self::Refused(items) => items.get(index)?.as_ref(),
        }
    }
}

/// Conflicts pass within milliseconds: another transaction holds one of the items.
const CONFLICT_TRIES: u32 = 6;

/// How one try of a transaction ended.
#[derive(Debug)]
pub enum Tried {
    /// Committed, or refused by a condition.
    Ended(Transacted),
    /// Nothing is written: other transactions held these items, by their position.
    Conflicted(Vec<usize>),
}

/// Writes `items` as one transaction.
///
/// `token` names the request: a retry whose first try was committed is recognised by DynamoDB and
/// changes nothing. It must be new for each distinct request.
pub async fn transact(
    client: &Client,
    action: &'static str,
    items: Vec<TransactWriteItem>,
    token: &str,
) -> Result<Transacted> {
    let mut tries = 0;
    loop {
        tries += 1;
        match attempt(client, action, items.clone(), Some(token)).await? {
            Attempt::Ended(ended) => return Ok(ended),
            Attempt::Transient { failure, .. } if tries == CONFLICT_TRIES => return Err(failure),
            Attempt::Transient { .. } => {
                tokio::time::sleep(Duration::from_millis(10 << tries)).await;
            }
        }
    }
}

/// Tries `items` as one transaction, once. `None` if another transaction held one of them.
pub async fn transact_once(
    client: &Client,
    action: &'static str,
    items: Vec<TransactWriteItem>,
) -> Result<Option<Transacted>> {
    match attempt(client, action, items, None).await? {
        Attempt::Ended(ended) => Ok(Some(ended)),
        Attempt::Transient { is_conflict, failure, .. } => {
            if is_conflict {
                Ok(None)
            } else {
                Err(failure)
            }
        }
    }
}

/// Tries `items` as one transaction, once, and returns which items other transactions held.
pub async fn try_transact(
    client: &Client,
    action: &'static str,
    items: Vec<TransactWriteItem>,
) -> Result<Tried> {
    match attempt(client, action, items, None).await? {
        Attempt::Ended(ended) => Ok(Tried::Ended(ended)),
        Attempt::Transient { conflicting, .. } => Ok(Tried::Conflicted(conflicting)),
    }
}

/// The result of one request.
enum Attempt {
    Ended(Transacted),
    /// For reasons that pass within milliseconds.
    Transient {
        conflicting: Vec<usize>,
        is_conflict: bool,
        failure: Failure,
    },
}

async fn attempt(
    client: &Client,
    action: &'static str,
    items: Vec<TransactWriteItem>,
    token: Option<&str>,
) -> Result<Attempt> {
    let sent = client
        .transact_write_items()
        .set_transact_items(Some(items))
        .set_client_request_token(token.map(str::to_owned))
        .send()
        .await;
    let Err(error) = sent else { return Ok(Attempt::Ended(Transacted::Committed)) };
    let reasons = match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
            cancelled.cancellation_reasons()
        }
        Some(TransactWriteItemsError::TransactionInProgressException(_)) => &[],
        _ => return Err(Failure::new(action, error)),
    };
    if reasons.iter().any(is_lost_condition) {
        let refused = reasons.iter().map(lost_condition).collect();
        return Ok(Attempt::Ended(Transacted::Refused(refused)));
    }
    if !reasons.iter().all(|reason| is_transient(reason.code())) {
        return Err(Failure::new(action, error));
    }
    let is_conflict_reason =
        |reason: &CancellationReason| !matches!(reason.code(), None | Some("None"));
    let conflicting = (0..).zip(reasons).filter(|(_, reason)| is_conflict_reason(reason));
    Ok(Attempt::Transient {
        conflicting: conflicting.map(|(place, _)| place).collect(),
        is_conflict: reasons.iter().any(|reason| reason.code() == Some("TransactionConflict")),
        failure: Failure::new(action, error),
    })
}

fn is_lost_condition(reason: &CancellationReason) -> bool {
    reason.code() == Some("ConditionalCheckFailed")
}

fn lost_condition(reason: &CancellationReason) -> Option<Item> {
    is_lost_condition(reason).then(|| reason.item().cloned().unwrap_or_default())
}

/// Reasons that pass within milliseconds.
fn is_transient(code: Option<&str>) -> bool {
    matches!(
        code,
        None | Some(
            "None" | "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded"
        )
    )
}

/// Writes a row in the place of its version `before`; 0 means that there is none. A lost condition returns the row
/// that is there.
pub fn put_version(
    table: &str,
    item: Item,
    before: u64,
    action: &'static str,
) -> Result<TransactWriteItem> {
    let row = Put::builder()
        .table_name(table)
        .set_item(Some(item))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    let row = match before {
        0 => row.condition_expression("attribute_not_exists(pk)"),
        before => row
            .condition_expression("v = :before")
            .expression_attribute_values(":before", number(before)),
    };
    row.build().map(put).map_err(|cause| Failure::new(action, cause))
}

/// A put, as part of a transaction.
pub fn put(put: Put) -> TransactWriteItem {
    TransactWriteItem::builder().put(put).build()
}

/// An update, as part of a transaction.
pub fn update(update: Update) -> TransactWriteItem {
    TransactWriteItem::builder().update(update).build()
}

/// A delete, as part of a transaction.
pub fn delete(delete: Delete) -> TransactWriteItem {
    TransactWriteItem::builder().delete(delete).build()
}

/// A condition check, as part of a transaction.
pub fn check(check: ConditionCheck) -> TransactWriteItem {
    TransactWriteItem::builder().condition_check(check).build()
}

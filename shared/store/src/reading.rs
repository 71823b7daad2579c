//! Rows by their keys, up to date.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::KeysAndAttributes;
use domain::Failure;

use crate::row::Item;
use crate::schema::PK;

/// The store may answer for none of the rows so often in a row.
const TRIES: u32 = 8;

/// Reads one row.
pub async fn get(
    client: &Client,
    table: &str,
    key: Item,
    action: &'static str,
) -> Result<Option<Item>, Failure> {
    let found = client
        .get_item()
        .table_name(table)
        .set_key(Some(key))
        .consistent_read(true)
        .send()
        .await
        .map_err(|cause| Failure::new(action, cause))?;
    Ok(found.item)
}

/// Reads rows, a hundred at a time, until the store has answered for all of them. It leaves rows for later when
/// it is asked for more than it can take: then it is asked ever more slowly, and not for ever.
pub async fn get_all(
    client: &Client,
    table: &str,
    keys: Vec<Item>,
    action: &'static str,
) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    let mut left = keys;
    let mut in_vain = 0;
    while !left.is_empty() {
        let now: Vec<Item> = left.drain(..left.len().min(100)).collect();
        let asked_for = now.len();
        let asked = KeysAndAttributes::builder()
            .set_keys(Some(now))
            .consistent_read(true)
            .build()
            .map_err(|cause| Failure::new(action, cause))?;
        let found = client
            .batch_get_item()
            .request_items(table, asked)
            .send()
            .await
            .map_err(|cause| Failure::new(action, cause))?;
        let mut answered = found.responses.unwrap_or_default();
        items.extend(answered.remove(table).unwrap_or_default());
        let mut unanswered = found.unprocessed_keys.unwrap_or_default();
        let Some(unanswered) = unanswered.remove(table).map(|asked| asked.keys) else { continue };
        in_vain = if unanswered.len() < asked_for { 0 } else { in_vain + 1 };
        if in_vain == TRIES {
            return Err(Failure::new(action, "the store keeps leaving rows for later"));
        }
        left.extend(unanswered);
        tokio::time::sleep(Duration::from_millis(10 << in_vain)).await;
    }
    Ok(items.into_iter().filter(|item| item.contains_key(PK)).collect())
}

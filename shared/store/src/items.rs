//! Reads of items by their keys, strongly consistent.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::KeysAndAttributes;
use domain::{Failure, Result};

use crate::row::Item;
use crate::schema::PK;

/// DynamoDB may process none of the keys so often in a row.
const TRIES: u32 = 8;

/// Reads one row.
pub async fn get(
    client: &Client,
    table: &str,
    key: Item,
    action: &'static str,
) -> Result<Option<Item>> {
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

/// Reads items, a hundred at a time, until DynamoDB has processed all keys. It leaves keys unprocessed when it is
/// throttled: they are asked for again, ever more slowly, and not for ever.
pub async fn batch_get(
    client: &Client,
    table: &str,
    keys: Vec<Item>,
    action: &'static str,
) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    let mut left = keys;
    let mut without_progress = 0;
    while !left.is_empty() {
        let batch: Vec<Item> = left.drain(..left.len().min(100)).collect();
        let requested = batch.len();
        let request = KeysAndAttributes::builder()
            .set_keys(Some(batch))
            .consistent_read(true)
            .build()
            .map_err(|cause| Failure::new(action, cause))?;
        let found = client
            .batch_get_item()
            .request_items(table, request)
            .send()
            .await
            .map_err(|cause| Failure::new(action, cause))?;
        let mut responses = found.responses.unwrap_or_default();
        items.extend(responses.remove(table).unwrap_or_default());
        let mut unprocessed = found.unprocessed_keys.unwrap_or_default();
        let Some(unprocessed) = unprocessed.remove(table).map(|rest| rest.keys) else { continue };
        without_progress = if unprocessed.len() < requested { 0 } else { without_progress + 1 };
        if without_progress == TRIES {
            return Err(Failure::new(action, "DynamoDB keeps leaving keys unprocessed"));
        }
        left.extend(unprocessed);
        tokio::time::sleep(Duration::from_millis(10 << without_progress)).await;
    }
    Ok(items.into_iter().filter(|item| item.contains_key(PK)).collect())
}

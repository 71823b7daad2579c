//! Destinations that no link may lead to: hosts (with everything beneath them) and single URLs.

use domain::{Failure, Result, Timestamp};

use super::Links;
use store::ignore_lost_condition;
use store::row::{Builder, Item, ItemReader, instant, key, text};

const PK: &str = "blocklist";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlocklistEntry {
    /// `host:evil.example` or `url:<sha-256>`, as `Target::block_keys` writes them.
    pub key: String,
    pub reason: String,
    pub by: String,
    pub at: Timestamp,
}

impl Links {
    /// The whole list, by key.
    pub async fn blocklist(&self) -> Result<Vec<BlocklistEntry>> {
        let mut entries = Vec::new();
        let mut start = None;
        loop {
            let found = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression("pk = :list")
                .expression_attribute_values(":list", text(PK))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(|cause| Failure::new("read the blocklist", cause))?;
            for item in found.items() {
                entries.push(read(item)?);
            }
            start = found.last_evaluated_key;
            if start.is_none() {
                return Ok(entries);
            }
        }
    }

    /// Adds an entry; an existing one stays as it is.
    pub async fn block_destination(&self, entry: &BlocklistEntry) -> Result {
        let row = Builder::keyed(PK, &entry.key)
            .with("reason", text(&entry.reason))
            .with("added_by", text(&entry.by))
            .with("added_at", instant(entry.at));
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(row.build()))
            .condition_expression("attribute_not_exists(pk)")
            .send()
            .await;
        ignore_lost_condition("add to the blocklist", sent)
    }

    /// Removes an entry, if it exists.
    pub async fn unblock_destination(&self, entry_key: &str) -> Result {
        let sent = self
            .client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(key(PK, entry_key)))
            .condition_expression("attribute_exists(pk)")
            .send()
            .await;
        ignore_lost_condition("take off the blocklist", sent)
    }
}

fn read(item: &Item) -> Result<BlocklistEntry> {
    let row = ItemReader(item);
    Ok(BlocklistEntry {
        key: row.text("sk")?.to_owned(),
        reason: row.text("reason")?.to_owned(),
        by: row.text("added_by")?.to_owned(),
        at: row.instant("added_at")?,
    })
}

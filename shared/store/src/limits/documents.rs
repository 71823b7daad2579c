//! What admins decide: rules, overrides, settings and the firewall, as documents with a version.
//!
//! A change and the number that tells nodes of it are one transaction, so no node can see the number
//! and miss the change. Nodes read the number strongly consistent, and the documents after it.

use aws_sdk_dynamodb::types::{Delete, Put, Update};
use domain::{Failure, Result, Timestamp};

use super::Limits;
use crate::items;
use crate::row::{Builder, Item, ItemReader, instant, key, number, text};
use crate::schema::EXPIRES;
use crate::transaction::{Transacted, delete, put, transact, update};

const ACTION: &str = "change the configuration of limits";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentPart {
    /// Rules, overrides and settings.
    Rules,
    /// What admins put into the firewall.
    Firewall,
    /// What nodes put into it, for a while.
    Blocks,
}

impl DocumentPart {
    const fn pk(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Firewall => "firewall",
            Self::Blocks => "blocks",
        }
    }

    /// The number that grows when it changes.
    const fn counter(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Firewall | Self::Blocks => "firewall",
        }
    }
}

/// How often each part has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentVersions {
    /// Rules, overrides and settings.
    pub rules: u64,
    pub firewall: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitsDocument {
    /// Its name within its part.
    pub id: String,
    /// Grows with every change, from 1.
    pub version: u64,
    /// What was decided, as JSON; empty if it was decided that there be nothing.
    pub body: String,
    pub changed_by: String,
    pub changed_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveOutcome {
    /// It is there, and nodes will hear of it.
    Saved,
    /// Another request changed it since it was read.
    VersionConflict,
}

impl Limits {
    /// How often each part has changed.
    pub async fn versions(&self) -> Result<DocumentVersions> {
        let found = items::get(
            &self.client,
            &self.table,
            key("config", "version"),
            "read the version of the rules",
        )
        .await?;
        let item = found.unwrap_or_default();
        Ok(DocumentVersions {
            rules: ItemReader(&item).maybe_number("rules").unwrap_or(0),
            firewall: ItemReader(&item).maybe_number("firewall").unwrap_or(0),
        })
    }

    pub async fn documents(&self, part: DocumentPart) -> Result<Vec<LimitsDocument>> {
        let mut documents = Vec::new();
        let mut start: Option<Item> = None;
        loop {
            let page = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression("pk = :pk")
                .expression_attribute_values(":pk", text(part.pk()))
                .consistent_read(true)
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(|error| Failure::new("read the rules", error))?;
            for item in page.items() {
                documents.push(read(item)?);
            }
            start = page.last_evaluated_key().cloned();
            if start.is_none() {
                return Ok(documents);
            }
        }
    }

    pub async fn document(&self, part: DocumentPart, id: &str) -> Result<Option<LimitsDocument>> {
        let found =
            items::get(&self.client, &self.table, key(part.pk(), id), "read a rule").await?;
        found.as_ref().map(read).transpose()
    }

    /// Saves a document if the version before its own is what stands there. `token` names the
    /// request.
    pub async fn save(
        &self,
        part: DocumentPart,
        document: &LimitsDocument,
        token: &str,
    ) -> Result<SaveOutcome> {
        let expires = document.expires_at.map(|at| number(at.as_second() + 1));
        let item = Builder::keyed(part.pk(), &document.id)
            .with("v", number(document.version))
            .with("body", text(&document.body))
            .with("changed_by", text(&document.changed_by))
            .with("changed_at", instant(document.changed_at))
            .with_some("expires_at", document.expires_at.map(instant))
            .with_some(EXPIRES, expires)
            .build();
        let mut write = Put::builder().table_name(&self.table).set_item(Some(item));
        write = if document.version == 1 {
            write.condition_expression("attribute_not_exists(pk)")
        } else {
            write
                .condition_expression("v = :before")
                .expression_attribute_values(":before", number(document.version - 1))
        };
        let write = write.build().map_err(|error| Failure::new(ACTION, error))?;
        let items = vec![put(write), update(self.increment_version(part)?)];
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => SaveOutcome::Saved,
            Transacted::Refused(_) => SaveOutcome::VersionConflict,
        })
    }

    /// Removes a document if it is at that version.
    pub async fn remove(
        &self,
        part: DocumentPart,
        id: &str,
        version: u64,
        token: &str,
    ) -> Result<SaveOutcome> {
        let write = Delete::builder()
            .table_name(&self.table)
            .set_key(Some(key(part.pk(), id)))
            .condition_expression("v = :v")
            .expression_attribute_values(":v", number(version))
            .build()
            .map_err(|error| Failure::new(ACTION, error))?;
        let items = vec![delete(write), update(self.increment_version(part)?)];
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => SaveOutcome::Saved,
            Transacted::Refused(_) => SaveOutcome::VersionConflict,
        })
    }

    fn increment_version(&self, part: DocumentPart) -> Result<Update> {
        Update::builder()
            .table_name(&self.table)
            .set_key(Some(key("config", "version")))
            .update_expression("ADD #part :one")
            .expression_attribute_names("#part", part.counter())
            .expression_attribute_values(":one", number(1))
            .build()
            .map_err(|error| Failure::new(ACTION, error))
    }
}

fn read(item: &Item) -> Result<LimitsDocument> {
    let row = ItemReader(item);
    Ok(LimitsDocument {
        id: row.text("sk")?.to_owned(),
        version: row.number("v")?,
        body: row.text("body")?.to_owned(),
        changed_by: row.text("changed_by")?.to_owned(),
        changed_at: row.instant("changed_at")?,
        expires_at: row.maybe_instant("expires_at"),
    })
}

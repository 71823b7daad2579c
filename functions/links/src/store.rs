//! Links: created by one conditional put, amended by version, counted once.
//!
//! Rows, all under the table's one key schema:
//! `link#D#C / link` (the link on domain `D`, empty for our own), `link#D#C / report#…`,
//! `same#U#D#H / same` (the code of user `U`'s link on `D` whose terms hash to `H`),
//! `codes / codes` (the key of the permutation and the next free number),
//! `domain#N / claim#U` and `domain#N / domain` (claims, and the owner),
//! `blocklist / E`, `salt#DAY / salt`, `clicks#D#C / day#…`, `clicks#D#C / total#…`,
//! `clicks#D#C / visitors#…`, `batch#I / PART`, `sweep / cursor`.
//! `gsi1` lists a user's links and domains, and the reports; `gsi2` lists links by destination, for the
//! scan.

mod archive;
mod batches;
mod blocklist;
mod codes;
mod domains;
mod listing;
mod reports;
mod routes;
mod rows;
mod scan;
mod statistics;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};
use boundary::{Host, Misconfigured};
use domain::links::{Code, Link};
use domain::{Failure, Result};

use store::Idempotency;
use store::idempotency::{StoredResponse, Ticket};
use store::items;
use store::row::{Item, ItemReader, number, text};
use store::schema::{Projection, Schema};
use store::transaction::{Transacted, put, transact};

pub use archive::ClickArchive;
pub use batches::CountOutcome;
pub use blocklist::BlocklistEntry;
pub use domains::ProofOutcome;
pub use listing::{LinkFilter, OwnerList};
pub use reports::AbuseReport;
pub use scan::{ScanPage, ScannedLink};
pub use statistics::{DayStatistics, LinkStatistics};

/// Links, their counters and the salts that visitors are hashed with.
pub const TABLE: Schema = Schema {
    logical_id: "LinksTable",
    variable: "LINKS_TABLE",
    indexes: &[Projection::All, Projection::All],
    expiring: true,
};

/// The links table.
#[derive(Debug, Clone)]
pub struct Links {
    client: Client,
    table: String,
    once: Idempotency,
}

#[derive(Debug, PartialEq, Eq)]
pub enum CreateOutcome {
    Created,
    /// The code is another link's.
    Taken,
    /// The same user has an equal link already, under that code.
    Existing(Code),
    /// Another instance took the idempotency claim over; nothing is written.
    ClaimLost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmendOutcome {
    Amended,
    /// Another request changed it first.
    VersionChanged,
}

/// The row that makes a user's second request for one destination find the first one's link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DedupKey {
    /// Names user, domain and terms.
    pub key: String,
    /// The code it may lead to now, because that link no longer serves.
    pub replaces: Option<Code>,
}

impl Links {
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let table = host.vars.required(TABLE.variable)?;
        Ok(Self::new(host.aws.dynamodb(), table))
    }

    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let table = table.into();
        let once = Idempotency::new(client.clone(), &table);
        Self { client, table, once }
    }

    /// The idempotency rows that live in the same table.
    pub const fn once(&self) -> &Idempotency {
        &self.once
    }

    /// Creates `link`; with `dedup`, unless its owner has an equal one; with a ticket, its answer too.
    ///
    /// `token` names the request and is kept in the row: a put that was committed and then repeated
    /// by the SDK meets its own token and knows that it won.
    pub async fn create(
        &self,
        link: &Link,
        dedup: Option<&DedupKey>,
        answer: Option<(&Ticket, &StoredResponse)>,
        token: &str,
    ) -> Result<CreateOutcome> {
        const ACTION: &str = "create the link";
        if dedup.is_none() && answer.is_none() {
            return self.create_alone(link, token).await;
        }
        let new = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::link(link, token)))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let mut items = vec![put(new)];
        if let Some(dedup) = dedup {
            items.push(self.dedup_put(dedup, link)?);
        }
        let completion = items.len();
        if let Some((ticket, answer)) = answer {
            items.push(self.once.completion(ticket, answer)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if let Transacted::Committed = outcome {
            return Ok(CreateOutcome::Created);
        }
        // The instance that took the claim over may have made this very link.
        if outcome.refused(completion).is_some() {
            return Ok(CreateOutcome::ClaimLost);
        }
        if let (Some(_), Some(existing)) = (dedup, outcome.refused(1)) {
            return Ok(CreateOutcome::Existing(rows::read_code(ItemReader(existing))?));
        }
        Ok(CreateOutcome::Taken)
    }

    /// One write, nothing else: what most links cost.
    async fn create_alone(&self, link: &Link, token: &str) -> Result<CreateOutcome> {
        let existing = self.put_if(link, token, "attribute_not_exists(pk)", None).await?;
        Ok(match existing {
            None => CreateOutcome::Created,
            Some(item) if was_written_by(&item, token, link.version) => CreateOutcome::Created,
            Some(_) => CreateOutcome::Taken,
        })
    }

    /// Reads a link, strongly consistent.
    pub async fn find(&self, domain: &str, code: &Code) -> Result<Option<Link>> {
        let found = self.get(rows::link_key(domain, code), "read the link").await?;
        found.as_ref().map(rows::read_link).transpose()
    }

    async fn get(&self, key: Item, action: &'static str) -> Result<Option<Item>> {
        items::get(&self.client, &self.table, key, action).await
    }

    /// Replaces the version before `after` by it.
    pub async fn amend(&self, after: &Link, token: &str) -> Result<AmendOutcome> {
        let before = after.version - 1;
        let existing = self.put_if(after, token, "v = :before", Some(before)).await?;
        Ok(match existing {
            None => AmendOutcome::Amended,
            Some(item) if was_written_by(&item, token, after.version) => AmendOutcome::Amended,
            Some(_) => AmendOutcome::VersionChanged,
        })
    }

    /// Puts the row if the condition holds; otherwise returns the existing one.
    async fn put_if(
        &self,
        link: &Link,
        token: &str,
        condition: &str,
        before: Option<u64>,
    ) -> Result<Option<Item>> {
        let mut request = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(rows::link(link, token)))
            .condition_expression(condition)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        if let Some(before) = before {
            request = request.expression_attribute_values(":before", number(before));
        }
        match request.send().await {
            Ok(_) => Ok(None),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(lost)) => {
                    Ok(Some(lost.item().cloned().unwrap_or_default()))
                }
                _ => Err(Failure::new("write the link", error)),
            },
        }
    }

    fn dedup_put(&self, dedup: &DedupKey, link: &Link) -> Result<TransactWriteItem> {
        let condition = match dedup.replaces {
            None => "attribute_not_exists(pk)",
            Some(_) => "attribute_not_exists(pk) OR code = :replaced",
        };
        let mut new = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::dedup(&dedup.key, link)))
            .condition_expression(condition)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        if let Some(replaced) = &dedup.replaces {
            new = new.expression_attribute_values(":replaced", text(replaced.as_str()));
        }
        let new = new.build().map_err(|cause| Failure::new("remember the link", cause))?;
        Ok(put(new))
    }
}

/// Whether a row is what this very request wrote. It may have been marked as spent since, which makes
/// a version and leaves the token; any other change leaves its own.
fn was_written_by(item: &Item, token: &str, version: u64) -> bool {
    let row = ItemReader(item);
    let reached = row.maybe_number("v").is_some_and(|found: u64| found >= version);
    row.maybe_text("made_by") == Some(token) && reached
}

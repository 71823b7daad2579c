//! Links: claimed by one conditional put, amended by version, counted once.
//!
//! Rows, all under the table's one key schema:
//! `link#D#C / link` (the link on domain `D`, empty for our own), `link#D#C / report#…`,
//! `same#U#D#H / same` (the code that user `U` already has for what hashes to `H`),
//! `codes / codes` (the key of the permutation and the next free number),
//! `domain#N / claim#U` and `domain#N / domain` (claims, and who proved theirs),
//! `blocklist / E`, `salt#DAY / salt`, `clicks#D#C / day#…`, `clicks#D#C / total#…`,
//! `clicks#D#C / visitors#…`, `batch#I / batch`, `sweep / cursor`.
//! `gsi1` lists what is someone's; `gsi2` lists links by destination, for the scan.

mod archive;
mod batches;
mod blocklist;
mod codes;
mod domains;
mod listing;
mod reports;
mod routes;
mod rows;
mod statistics;
mod sweeps;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};
use boundary::{Host, Misconfigured};
use domain::Failure;
use domain::links::{Code, Link};

use store::Idempotency;
use store::idempotency::{StoredResponse, Ticket};
use store::row::{Item, Row, number, text};
use store::schema::{Projection, Schema};
use store::transaction::{Transacted, put, transact};

pub use archive::Archive;
pub use batches::Counted;
pub use blocklist::Entry;
pub use domains::Proven;
pub use listing::{Filter, Whose};
pub use reports::Report;
pub use statistics::{Day, Statistics};
pub use sweeps::{Seen, Stretch};

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

/// How a creation ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Created {
    /// The link is there.
    Created,
    /// The code was taken by another link.
    Taken,
    /// The same user has this very link already, under that code.
    Same(Code),
    /// The idempotency claim was taken over meanwhile; nothing is written.
    ClaimLost,
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amended {
    /// The next version is there.
    Amended,
    /// Someone else changed it first.
    Moved,
}

/// The row that makes a user's second request for one destination find the first one's link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Same {
    /// Names user, domain and terms.
    pub key: String,
    /// The code it may lead to now, because that link no longer serves.
    pub replaces: Option<Code>,
}

impl Links {
    /// Works on the table that `LINKS_TABLE` names.
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let table = host.vars.required(TABLE.variable)?;
        Ok(Self::new(host.aws.dynamodb(), table))
    }

    /// Works on `table`.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let table = table.into();
        let once = Idempotency::new(client.clone(), &table);
        Self { client, table, once }
    }

    /// The idempotency rows that live in the same table.
    pub const fn once(&self) -> &Idempotency {
        &self.once
    }

    /// Creates `link`; with `same`, unless its owner has it already; with a ticket, its answer too.
    ///
    /// `token` names the request and is kept in the row: a put that was committed and then repeated
    /// by the SDK meets its own token and knows that it won.
    pub async fn create(
        &self,
        link: &Link,
        same: Option<&Same>,
        answer: Option<(&Ticket, &StoredResponse)>,
        token: &str,
    ) -> Result<Created, Failure> {
        const ACTION: &str = "create the link";
        if same.is_none() && answer.is_none() {
            return self.create_alone(link, token).await;
        }
        let new = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::link(link, token)))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let mut items = vec![put(new)];
        if let Some(same) = same {
            items.push(self.same_put(same, link)?);
        }
        let completion = items.len();
        if let Some((ticket, answer)) = answer {
            items.push(self.once.completion(ticket, answer)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if let Transacted::Committed = outcome {
            return Ok(Created::Created);
        }
        // Whoever took the claim over may have made this very link.
        if outcome.refused(completion).is_some() {
            return Ok(Created::ClaimLost);
        }
        if let (Some(_), Some(met)) = (same, outcome.refused(1)) {
            return Ok(Created::Same(rows::read_code(Row(met))?));
        }
        Ok(Created::Taken)
    }

    /// One write, nothing else: what most links cost.
    async fn create_alone(&self, link: &Link, token: &str) -> Result<Created, Failure> {
        let met = self.put_if(link, token, "attribute_not_exists(pk)", None).await?;
        Ok(match met {
            None => Created::Created,
            Some(item) if is_own(&item, token, link.version) => Created::Created,
            Some(_) => Created::Taken,
        })
    }

    /// Reads a link, up to date.
    pub async fn find(&self, domain: &str, code: &Code) -> Result<Option<Link>, Failure> {
        let found = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(rows::link_key(domain, code)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|cause| Failure::new("read the link", cause))?;
        found.item().map(rows::read_link).transpose()
    }

    /// Replaces the version before `after` by it.
    pub async fn amend(&self, after: &Link, token: &str) -> Result<Amended, Failure> {
        let before = after.version - 1;
        let met = self.put_if(after, token, "v = :before", Some(before)).await?;
        Ok(match met {
            None => Amended::Amended,
            Some(item) if is_own(&item, token, after.version) => Amended::Amended,
            Some(_) => Amended::Moved,
        })
    }

    /// Puts the row if the condition holds; otherwise returns what stands there.
    async fn put_if(
        &self,
        link: &Link,
        token: &str,
        condition: &str,
        before: Option<u64>,
    ) -> Result<Option<Item>, Failure> {
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

    fn same_put(&self, same: &Same, link: &Link) -> Result<TransactWriteItem, Failure> {
        let condition = match same.replaces {
            None => "attribute_not_exists(pk)",
            Some(_) => "attribute_not_exists(pk) OR code = :replaced",
        };
        let mut new = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::same(&same.key, link)))
            .condition_expression(condition)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        if let Some(replaced) = &same.replaces {
            new = new.expression_attribute_values(":replaced", text(replaced.as_str()));
        }
        let new = new.build().map_err(|cause| Failure::new("remember the link", cause))?;
        Ok(put(new))
    }
}

/// Whether a row is what this very request wrote. It may have been marked as spent since, which makes
/// a version and leaves the token; any other change leaves its own.
fn is_own(item: &Item, token: &str, version: u64) -> bool {
    let row = Row(item);
    let reached = row.maybe_number("v").is_some_and(|found: u64| found >= version);
    row.maybe_text("made_by") == Some(token) && reached
}

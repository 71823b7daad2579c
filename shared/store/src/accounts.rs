//! Accounts: created once, amended by version, never without an admin.
//!
//! Rows: `user#U / account`, `key#K / key`, `user#U / audit#…`, and one `admins / admins` row whose
//! set holds every active admin, so that "the last admin stays" is a condition and not a count.
//! Every change and its audit row are one transaction; the audit row sits in the sparse part of
//! `gsi1` until its event is published, which makes it the outbox as well.

mod audits;
mod keys;
mod rows;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeValue, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use domain::accounts::{Account, AuditEntry, UserId};
use domain::{Failure, Result};

use crate::idempotency::{Idempotency, StoredResponse, Ticket};
use crate::items;
use crate::row::{key, number, text};
use crate::schema::{GSI1, GSI1_PK, GSI1_SK};
use crate::transaction::{Transacted, put, transact, update};

pub use keys::{KeyCreation, KeyRevocation};

#[derive(Debug, Clone)]
pub struct Accounts {
    client: Client,
    table: String,
    once: Idempotency,
}

#[derive(Debug, PartialEq, Eq)]
pub enum AccountCreation {
    Created,
    /// The user id belongs to another account.
    Taken,
    /// The claim on the idempotency key ran out meanwhile; nothing was written.
    ClaimLost,
}

#[derive(Debug, PartialEq, Eq)]
pub enum AccountAmendment {
    Amended,
    /// The account is not at the version the amendment was made from.
    Moved,
    LastAdmin,
}

/// A page of a list and where the next one starts.
#[derive(Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Pass this to get the next page; `None` on the last one.
    pub next: Option<String>,
}

impl Accounts {
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let table = table.into();
        let once = Idempotency::new(client.clone(), &table);
        Self { client, table, once }
    }

    /// The idempotency rows that live in the same table.
    pub const fn once(&self) -> &Idempotency {
        &self.once
    }

    /// Creates `account` and records it; with a ticket, its answer too.
    pub async fn create(
        &self,
        account: &Account,
        audit: &AuditEntry,
        answer: Option<(&Ticket, &StoredResponse)>,
        token: &str,
    ) -> Result<AccountCreation> {
        const ACTION: &str = "create the account";
        let new = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::account(account)))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let mut items = vec![put(new), self.audit_put(audit)?];
        if account.is_active_admin() {
            items.push(self.admins_update(&account.user_id, "ADD user_ids :one", None)?);
        }
        if let Some((ticket, answer)) = answer {
            items.push(self.once.completion(ticket, answer)?);
        }
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => AccountCreation::Created,
            refused @ Transacted::Refused(_) if refused.refused(0).is_some() => {
                AccountCreation::Taken
            }
            Transacted::Refused(_) => AccountCreation::ClaimLost,
        })
    }

    /// Reads an account, up to date.
    pub async fn find(&self, user_id: &UserId) -> Result<Option<Account>> {
        let found =
            items::get(&self.client, &self.table, rows::account_key(user_id), "read the account")
                .await?;
        found.as_ref().map(rows::read_account).transpose()
    }

    /// Replaces `before` by `after`, its next version, and keeps the set of admins in step.
    pub async fn amend(
        &self,
        before: &Account,
        after: &Account,
        audit: &AuditEntry,
        token: &str,
    ) -> Result<AccountAmendment> {
        const ACTION: &str = "amend the account";
        let next = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::account(after)))
            .condition_expression("v = :before")
            .expression_attribute_values(":before", number(before.version))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let mut items = vec![put(next), self.audit_put(audit)?];
        match (before.is_active_admin(), after.is_active_admin()) {
            (false, true) => {
                items.push(self.admins_update(&after.user_id, "ADD user_ids :one", None)?);
            }
            (true, false) => items.push(self.admins_update(
                &after.user_id,
                "DELETE user_ids :one",
                Some("size(user_ids) > :single"),
            )?),
            (true, true) | (false, false) => {}
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        Ok(match outcome {
            Transacted::Committed => AccountAmendment::Amended,
            Transacted::Refused(_) if outcome.refused(0).is_some() => AccountAmendment::Moved,
            Transacted::Refused(_) => AccountAmendment::LastAdmin,
        })
    }

    /// Accounts by user id, from the one after `after`.
    pub async fn list(&self, limit: i32, after: Option<&str>) -> Result<Page<Account>> {
        let start = after.map(|user_id| {
            let mut start = key(&format!("user#{user_id}"), "account");
            start.insert(GSI1_PK.to_owned(), text(rows::ALL_ACCOUNTS));
            start.insert(GSI1_SK.to_owned(), text(user_id));
            start
        });
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI1)
            .key_condition_expression("gsi1pk = :all")
            .expression_attribute_values(":all", text(rows::ALL_ACCOUNTS))
            .set_exclusive_start_key(start)
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("list the accounts", cause))?;
        let items = found.items().iter().map(rows::read_account).collect::<Result<Vec<_>, _>>()?;
        let next = found
            .last_evaluated_key()
            .and_then(|_| items.last())
            .map(|account| account.user_id.as_str().to_owned());
        Ok(Page { items, next })
    }

    fn admins_update(
        &self,
        user_id: &UserId,
        expression: &str,
        condition: Option<&str>,
    ) -> Result<TransactWriteItem> {
        let mut change = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key("admins", "admins")))
            .update_expression(expression)
            .set_condition_expression(condition.map(str::to_owned))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .expression_attribute_values(
                ":one",
                AttributeValue::Ss(vec![user_id.as_str().to_owned()]),
            );
        if condition.is_some() {
            change = change.expression_attribute_values(":single", number(1));
        }
        let change = change.build().map_err(|cause| Failure::new("update the admins", cause))?;
        Ok(update(change))
    }
}

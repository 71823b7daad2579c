//! The audit trail, which is also the outbox of account events.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use domain::accounts::{AuditEntry, UserId};
use domain::{Failure, Result};

use super::{Accounts, Page, rows};
use crate::row::{key, text};
use crate::schema::{GSI1, GSI1_PK, GSI1_SK};
use crate::transaction::put;

impl Accounts {
    /// The transaction item that records a change.
    pub(super) fn audit_put(&self, audit: &AuditEntry) -> Result<TransactWriteItem> {
        let row = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::audit(audit)))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|cause| Failure::new("build the audit row", cause))?;
        Ok(put(row))
    }

    /// What happened to an account, newest first.
    pub async fn trail(
        &self,
        user_id: &UserId,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<AuditEntry>> {
        let pk = rows::user_pk(user_id);
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :user AND begins_with(sk, :audit)")
            .expression_attribute_values(":user", text(&pk))
            .expression_attribute_values(":audit", text(rows::audit_sk("")))
            .set_exclusive_start_key(after.map(|id| key(&pk, &rows::audit_sk(id))))
            .scan_index_forward(false)
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("read the audit trail", cause))?;
        let items = found.items().iter().map(rows::read_audit).collect::<Result<Vec<_>, _>>()?;
        let next = found
            .last_evaluated_key()
            .and_then(|_| items.last())
            .map(|audit| audit.audit_id.clone());
        Ok(Page { items, next })
    }

    /// Changes up to `before` (an audit id: milliseconds first) whose event is not known to be out.
    pub async fn unpublished(&self, before: &str, limit: i32) -> Result<Vec<AuditEntry>> {
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI1)
            .key_condition_expression("gsi1pk = :unpublished AND gsi1sk < :before")
            .expression_attribute_values(":unpublished", text(rows::UNPUBLISHED))
            .expression_attribute_values(":before", text(before))
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("list unpublished changes", cause))?;
        found.items().iter().map(rows::read_audit).collect()
    }

    /// Takes a change out of the outbox; repeating it changes nothing.
    pub async fn mark_published(&self, audit: &AuditEntry) -> Result {
        self.client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&rows::user_pk(&audit.user_id), &rows::audit_sk(&audit.audit_id))))
            .update_expression(format!("REMOVE {GSI1_PK}, {GSI1_SK}"))
            .condition_expression("attribute_exists(pk)")
            .send()
            .await
            .map_err(|cause| Failure::new("mark a change as published", cause))?;
        Ok(())
    }
}

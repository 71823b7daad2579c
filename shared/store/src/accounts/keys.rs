//! API keys: looked up by id alone, listed by account, revoked for ever.

use aws_sdk_dynamodb::types::{ConditionCheck, Put, Update};
use domain::accounts::{ApiKey, AuditEntry, KeyId, UserId};
use domain::{Failure, Result, Timestamp};

use super::{Accounts, Page, rows};
use crate::idempotency::{StoredResponse, Ticket};
use crate::ignore_lost_condition;
use crate::items;
use crate::row::{instant, number, text};
use crate::schema::{GSI1, GSI1_PK, GSI1_SK};
use crate::transaction::{Transacted, check, put, transact, update};

/// Revoked keys are shown for this long before their rows go.
const REVOKED_KEPT_SECONDS: i64 = 30 * 24 * 3600;

#[derive(Debug, PartialEq, Eq)]
pub enum KeyCreation {
    Created,
    AccountDisabled,
    /// The claim on the idempotency key ran out meanwhile; nothing was written.
    ClaimLost,
}

#[derive(Debug, PartialEq, Eq)]
pub enum KeyRevocation {
    /// It works no more; nodes that remember it learn so within a minute.
    Revoked,
    Already,
    Unknown,
}

impl Accounts {
    /// Stores `key` if its account is still active.
    pub async fn create_key(
        &self,
        key: &ApiKey,
        audit: &AuditEntry,
        answer: Option<(&Ticket, &StoredResponse)>,
        token: &str,
    ) -> Result<KeyCreation> {
        const ACTION: &str = "create the key";
        let active = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(rows::account_key(&key.user_id)))
            .condition_expression("account_state = :active AND key_epoch = :epoch")
            .expression_attribute_values(":active", text("active"))
            .expression_attribute_values(":epoch", number(key.epoch))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let new = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::api_key(key)))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let mut items = vec![check(active), put(new), self.audit_put(audit)?];
        if let Some((ticket, answer)) = answer {
            items.push(self.once.completion(ticket, answer)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        Ok(match outcome {
            Transacted::Committed => KeyCreation::Created,
            Transacted::Refused(_) if outcome.refused(0).is_some() => KeyCreation::AccountDisabled,
            Transacted::Refused(_) if outcome.refused(1).is_some() => {
                return Err(Failure::new(ACTION, "96 random bits met a key id that is in use"));
            }
            Transacted::Refused(_) => KeyCreation::ClaimLost,
        })
    }

    /// Reads a key, up to date.
    pub async fn find_key(&self, key_id: &KeyId) -> Result<Option<ApiKey>> {
        let found =
            items::get(&self.client, &self.table, rows::key_key(key_id), "read the key").await?;
        found.as_ref().map(rows::read_key).transpose()
    }

    /// An account's keys, oldest first.
    pub async fn list_keys(
        &self,
        user_id: &UserId,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<ApiKey>> {
        let start = after.and_then(|order| {
            let mut start = rows::key_key(&KeyId::parse(order.split_once('#')?.1)?);
            start.insert(GSI1_PK.to_owned(), text(rows::keys_of(user_id)));
            start.insert(GSI1_SK.to_owned(), text(order));
            Some(start)
        });
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI1)
            .key_condition_expression("gsi1pk = :keys")
            .expression_attribute_values(":keys", text(rows::keys_of(user_id)))
            .set_exclusive_start_key(start)
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("list the keys", cause))?;
        let items = found.items().iter().map(rows::read_key).collect::<Result<Vec<_>, _>>()?;
        let next = found.last_evaluated_key().and_then(|_| items.last()).map(rows::key_order);
        Ok(Page { items, next })
    }

    /// Revokes a key of `user_id` and records it.
    pub async fn revoke_key(
        &self,
        user_id: &UserId,
        key_id: &KeyId,
        audit: &AuditEntry,
        token: &str,
    ) -> Result<KeyRevocation> {
        const ACTION: &str = "revoke the key";
        let revoke = Update::builder()
            .table_name(&self.table)
            .set_key(Some(rows::key_key(key_id)))
            .update_expression("SET revoked_at = :now, expires = :later")
            .condition_expression("user_id = :user AND attribute_not_exists(revoked_at)")
            .expression_attribute_values(":now", instant(audit.at))
            .expression_attribute_values(
                ":later",
                number(audit.at.as_second() + REVOKED_KEPT_SECONDS),
            )
            .expression_attribute_values(":user", text(user_id.as_str()))
            .return_values_on_condition_check_failure(
                aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure::AllOld,
            )
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let items = vec![update(revoke), self.audit_put(audit)?];
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => KeyRevocation::Revoked,
            refused @ Transacted::Refused(_) => match refused.refused(0) {
                Some(item) if !item.is_empty() => {
                    let theirs = rows::read_key(item)?.user_id == *user_id;
                    if theirs { KeyRevocation::Already } else { KeyRevocation::Unknown }
                }
                _ => KeyRevocation::Unknown,
            },
        })
    }

    /// Notes that a key was used in the hour that starts at `hour`; the latest hour stays.
    pub async fn record_key_use(&self, key_id: &KeyId, hour: Timestamp) -> Result {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(rows::key_key(key_id)))
            .update_expression("SET last_used_at = :hour")
            .condition_expression(
                "attribute_exists(pk) AND \
                 (attribute_not_exists(last_used_at) OR last_used_at < :hour)",
            )
            .expression_attribute_values(":hour", instant(hour))
            .send()
            .await;
        ignore_lost_condition("note a key's use", sent)
    }

    /// Marks a key as revoked because its account began `epoch`, at `at`; changes nothing when it is
    /// marked already or was made since.
    pub async fn retire_key(&self, key_id: &KeyId, epoch: u64, at: Timestamp) -> Result {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(rows::key_key(key_id)))
            .update_expression("SET revoked_at = :at, expires = :later")
            .condition_expression("epoch < :epoch AND attribute_not_exists(revoked_at)")
            .expression_attribute_values(":epoch", number(epoch))
            .expression_attribute_values(":at", instant(at))
            .expression_attribute_values(":later", number(at.as_second() + REVOKED_KEPT_SECONDS))
            .send()
            .await;
        ignore_lost_condition("retire a key", sent)
    }
}

//! A provider's circuit breaker: one row, replaced by its next version or not at all.

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;
use domain::notifications::{Breaker, CallCounts, ProviderName};
use domain::{Failure, Result, Timestamp};

use super::{Notifications, rows};
use store::row::{ItemReader, number, text};
use store::schema::PK;

const BREAKER: &str = "breaker";

/// How often other instances may be faster: each time, one of them got through.
const TRIES: usize = 32;

/// Whether a provider may be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialOutcome {
    /// By us, once; this is the row.
    Won(Breaker),
    /// Others were faster, or it is no time for it; this is the row.
    Lost(Breaker),
}

enum Put {
    Done,
    /// Another instance was faster; this is the row.
    Lost(Breaker),
}

impl Notifications {
    /// Reads what is known of a provider, up to date.
    pub async fn breaker(&self, provider: &ProviderName) -> Result<Breaker> {
        let found = self.get(rows::provider_key(provider, BREAKER), "read the breaker").await?;
        Ok(found.as_ref().map(rows::from_item).transpose()?.unwrap_or_default())
    }

    /// Reads what is known of several providers, up to date and in their order.
    pub async fn breakers(&self, providers: &[ProviderName]) -> Result<Vec<Breaker>> {
        let keys = providers.iter().map(|provider| rows::provider_key(provider, BREAKER));
        let found = self.get_all(keys.collect(), "read the breakers").await?;
        let read = |provider: &ProviderName| {
            let key = rows::provider_key(provider, BREAKER);
            let its = found.iter().find(|item| item.get(PK) == key.get(PK));
            its.map_or_else(|| Ok(Breaker::default()), rows::from_item)
        };
        providers.iter().map(read).collect()
    }

    /// Adds what a node has seen, and returns the row with it. Nothing that others add is lost.
    pub async fn record_calls(
        &self,
        provider: &ProviderName,
        calls: CallCounts,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Breaker> {
        let mut known = self.breaker(provider).await?;
        for _ in 0..TRIES {
            let after = known.with_calls(calls, now);
            match self.put_breaker(provider, &after, &token()).await? {
                Put::Done => return Ok(after),
                Put::Lost(current) => known = current,
            }
        }
        Err(Failure::new("add what was seen of a provider", "others are always faster"))
    }

    /// Begins a trial of a provider whose breaker is `known`: the winner may call it once.
    pub async fn begin_trial(
        &self,
        provider: &ProviderName,
        known: &Breaker,
        now: Timestamp,
        token: &str,
    ) -> Result<TrialOutcome> {
        let Some(after) = known.begin_trial(now) else {
            return Ok(TrialOutcome::Lost(known.clone()));
        };
        Ok(match self.put_breaker(provider, &after, token).await? {
            Put::Done => TrialOutcome::Won(after),
            Put::Lost(current) => TrialOutcome::Lost(current),
        })
    }

    /// Writes the next version. The row says who wrote it: the SDK repeats a request whose answer was
    /// lost, and then meets its own success.
    async fn put_breaker(
        &self,
        provider: &ProviderName,
        after: &Breaker,
        token: &str,
    ) -> Result<Put> {
        let mut row = rows::to_item(after)?;
        row.extend(rows::provider_key(provider, BREAKER));
        row.insert("written_by".to_owned(), text(token));
        let request = match after.version.saturating_sub(1) {
            0 => self.client.put_item().condition_expression("attribute_not_exists(pk)"),
            before => self
                .client
                .put_item()
                .condition_expression("v = :before")
                .expression_attribute_values(":before", number(before)),
        };
        let sent = request
            .table_name(&self.table)
            .set_item(Some(row))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        let Err(error) = sent else { return Ok(Put::Done) };
        let Some(PutItemError::ConditionalCheckFailedException(lost)) = error.as_service_error()
        else {
            return Err(Failure::new("write what was seen of a provider", error));
        };
        let Some(current) = lost.item() else { return Ok(Put::Lost(Breaker::default())) };
        if ItemReader(current).maybe_text("written_by") == Some(token) {
            return Ok(Put::Done);
        }
        Ok(Put::Lost(rows::from_item(current)?))
    }
}

//! What nodes have seen of a provider: one row, replaced by its next version or not at all.

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;
use domain::notifications::{Breaker, ProviderName, Seen};
use domain::{Failure, Timestamp};

use super::{Notifications, rows};
use store::row::{Row, number, text};
use store::schema::PK;

const BREAKER: &str = "breaker";

/// How often others may be faster before we give up: each time, one of them got through.
const TRIES: usize = 32;

/// Whether a provider may be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// By us, once; this is the row.
    Won(Breaker),
    /// Others were faster, or it is no time for it; this is the row.
    Lost(Breaker),
}

/// What came of a write.
enum Put {
    Done,
    /// Someone else was faster; this is the row.
    Lost(Breaker),
}

impl Notifications {
    /// Reads what is known of a provider, up to date.
    pub async fn breaker(&self, provider: &ProviderName) -> Result<Breaker, Failure> {
        let found = self.get(rows::provider_key(provider, BREAKER), "read the breaker").await?;
        Ok(found.as_ref().map(rows::read).transpose()?.unwrap_or_default())
    }

    /// Reads what is known of several providers, up to date and in their order.
    pub async fn breakers(&self, providers: &[ProviderName]) -> Result<Vec<Breaker>, Failure> {
        let keys = providers.iter().map(|provider| rows::provider_key(provider, BREAKER));
        let found = self.get_all(keys.collect(), "read the breakers").await?;
        let read = |provider: &ProviderName| {
            let key = rows::provider_key(provider, BREAKER);
            let its = found.iter().find(|item| item.get(PK) == key.get(PK));
            its.map_or_else(|| Ok(Breaker::default()), rows::read)
        };
        providers.iter().map(read).collect()
    }

    /// Adds what a node has seen, and returns the row with it. Nothing that others add is lost.
    pub async fn observe(
        &self,
        provider: &ProviderName,
        seen: Seen,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Breaker, Failure> {
        let mut known = self.breaker(provider).await?;
        for _ in 0..TRIES {
            let after = known.observed(seen, now);
            match self.put_breaker(provider, &after, &token()).await? {
                Put::Done => return Ok(after),
                Put::Lost(met) => known = met,
            }
        }
        Err(Failure::new("add what was seen of a provider", "others are always faster"))
    }

    /// Begins a trial of a provider whose breaker is `known`: whoever wins may speak to it once.
    pub async fn begin_trial(
        &self,
        provider: &ProviderName,
        known: &Breaker,
        now: Timestamp,
        token: &str,
    ) -> Result<Trial, Failure> {
        let Some(after) = known.begin_trial(now) else { return Ok(Trial::Lost(known.clone())) };
        Ok(match self.put_breaker(provider, &after, token).await? {
            Put::Done => Trial::Won(after),
            Put::Lost(met) => Trial::Lost(met),
        })
    }

    /// Writes the next version. The row says who wrote it: the SDK repeats a request whose answer was
    /// lost, and then meets its own success.
    async fn put_breaker(
        &self,
        provider: &ProviderName,
        after: &Breaker,
        token: &str,
    ) -> Result<Put, Failure> {
        let mut row = rows::plain(after)?;
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
        let Some(met) = lost.item() else { return Ok(Put::Lost(Breaker::default())) };
        if Row(met).maybe_text("written_by") == Some(token) {
            return Ok(Put::Done);
        }
        Ok(Put::Lost(rows::read(met)?))
    }
}

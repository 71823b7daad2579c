//! Quotas: windows of a fixed length, counted in one row for each subject and day.
//!
//! Every rule of a request is a counter in the same row, so one conditional write takes from all of
//! them or from none. A write that was committed and then repeated takes twice: the subject loses a
//! few units, and never gains one.

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure};
use domain::{Failure, Timestamp};

use super::Links;
use crate::row::{Item, Row, key, number};
use crate::schema::EXPIRES;
use crate::tally;

const DAY_SECONDS: i64 = 24 * 3600;

/// So many units in so many seconds; a day has a whole number of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Names the counter: letters and underscores.
    pub name: &'static str,
    /// Units in one window.
    pub limit: u32,
    /// The window.
    pub seconds: i64,
}

/// Whether units were granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// They are the subject's.
    Granted,
    /// At least one rule has too few left; nothing was taken.
    Denied {
        /// Seconds until every rule that is short has a new window.
        wait: i64,
    },
}

impl Rule {
    /// Which window of its day it is.
    fn window(&self, now: Timestamp) -> i64 {
        now.as_second().rem_euclid(DAY_SECONDS) / self.seconds.max(1)
    }

    /// The counter of that window.
    fn counter(&self, now: Timestamp) -> String {
        format!("{}_{}", self.name, self.window(now))
    }

    /// Seconds until the next window begins.
    pub fn resets_in(&self, now: Timestamp) -> i64 {
        self.seconds - now.as_second().rem_euclid(self.seconds.max(1))
    }
}

impl Links {
    /// Takes `units` from every rule of `subject`, or nothing.
    pub async fn take_units(
        &self,
        subject: &str,
        rules: &[Rule],
        units: u32,
        now: Timestamp,
    ) -> Result<Grant, Failure> {
        let day = now.as_second().div_euclid(DAY_SECONDS);
        let mut request = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&format!("quota#{subject}"), &day.to_string())))
            .expression_attribute_names("#expires", EXPIRES)
            .expression_attribute_values(":expires", number((day + 2) * DAY_SECONDS))
            .expression_attribute_values(":units", number(units));
        let (mut added, mut conditions) = (Vec::new(), Vec::new());
        for (index, rule) in rules.iter().enumerate() {
            let Some(room) = rule.limit.checked_sub(units) else {
                return Ok(denied(rules, units, &Item::new(), now));
            };
            added.push(format!("#c{index} :units"));
            conditions.push(format!("(attribute_not_exists(#c{index}) OR #c{index} <= :r{index})"));
            request = request
                .expression_attribute_names(format!("#c{index}"), rule.counter(now))
                .expression_attribute_values(format!(":r{index}"), number(room));
        }
        let sent = request
            .update_expression(format!("ADD {} SET #expires = :expires", added.join(", ")))
            .condition_expression(conditions.join(" AND "))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match sent {
            Ok(done) => {
                tally::note(done.consumed_capacity());
                Ok(Grant::Granted)
            }
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(lost)) => {
                    tally::note([]);
                    let row = lost.item().cloned().unwrap_or_default();
                    Ok(denied(rules, units, &row, now))
                }
                _ => Err(Failure::new("take from the quota", error)),
            },
        }
    }
}

/// Waiting for a window that has room would lead to another refusal.
fn denied(rules: &[Rule], units: u32, row: &Item, now: Timestamp) -> Grant {
    let is_short = |rule: &&Rule| {
        let used: u32 = Row(row).maybe_number(&rule.counter(now)).unwrap_or(0);
        used.saturating_add(units) > rule.limit
    };
    let waits = rules.iter().filter(is_short).map(|rule| rule.resets_in(now));
    Grant::Denied { wait: waits.max().unwrap_or(1) }
}

//! Jobs: each decision of the state machine is one transaction that names the version it leaves.
//!
//! Rows, all under the table's one key schema:
//! `job#J / job` (the job), `job#J / event#V` (the change that made version V), `job#J / payload`,
//! `job#J / child#C` (job C waits for job J), `types / T` (what was decided about type T),
//! `licence#T#S / licence` (holders of shard S, counted) and `licence#T#S / holder#J` (each of them),
//! `once#…` (answers to repeated submissions), `sweep / waiting` (where the last walk stopped).
//!
//! `gsi1` lists what is someone's and `gsi3` what there is, by id; both carry just enough to filter.
//! `gsi2` has what someone still has to look at, and nothing else: `queued#T#P` by the time from which
//! a job may run, `waiting#L` by age, `ended#L` until everyone was told.

mod apply;
mod assign;
mod children;
mod commit;
mod kinds;
mod licences;
mod listing;
mod queue;
mod rows;
mod submit;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::update_item::{UpdateItemError, UpdateItemOutput};
use aws_sdk_dynamodb::types::{
    ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};
use domain::jobs::{Job, JobId, Record, Worker};
use domain::{Failure, Timestamp};

use crate::Idempotency;
use crate::reading;
use crate::row::{Item, Row, number, text};
use crate::settle::settle;
use crate::tally;

pub use apply::Applied;
pub use assign::Assigned;
pub use children::Child;
pub use commit::{Change, Committed};
pub use kinds::Saved;
pub use licences::{Counted, Holder};
pub use listing::{JobFilter, Whose};
pub use submit::{Submitted, Wanted};

use crate::accounts::Page;

/// The jobs table.
#[derive(Debug, Clone)]
pub struct Jobs {
    client: Client,
    table: String,
    once: Idempotency,
}

/// What came of a heartbeat.
#[derive(Debug, PartialEq, Eq)]
pub enum Beaten {
    /// It was noted; this is the job now.
    Noted(Box<Job>),
    /// It is not that worker's any more; this is the job, if there is one.
    Refused(Option<Box<Job>>),
}

impl Jobs {
    /// Works on `table`.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let table = table.into();
        let once = Idempotency::new(client.clone(), &table);
        Self { client, table, once }
    }

    /// Reads a job, up to date.
    pub async fn find(&self, id: &JobId) -> Result<Option<Job>, Failure> {
        let found = self.get(rows::job_key(id), "read the job").await?;
        found.as_ref().map(rows::read_job).transpose()
    }

    /// Reads a job's payload: JSON.
    pub async fn payload(&self, id: &JobId) -> Result<Option<String>, Failure> {
        let found = self.get(rows::payload_key(id), "read the payload").await?;
        Ok(found.as_ref().and_then(|item| Row(item).maybe_text("payload")).map(str::to_owned))
    }

    /// Reads several jobs, in no order; those that do not exist are left out.
    pub async fn find_all(&self, ids: &[JobId]) -> Result<Vec<Job>, Failure> {
        let keys = ids.iter().map(rows::job_key).collect();
        self.get_all(keys, "read the jobs").await?.iter().map(rows::read_job).collect()
    }

    /// Notes that a worker is still at it: one small write, if it is that worker's job.
    pub async fn beat(
        &self,
        id: &JobId,
        worker: &Worker,
        attempt: u32,
        progress: Option<u8>,
        now: Timestamp,
    ) -> Result<Beaten, Failure> {
        let mut update = "SET beat_at = :now".to_owned();
        let mut request = self.client.update_item();
        if let Some(progress) = progress {
            update.push_str(", progress = :progress");
            request = request.expression_attribute_values(":progress", number(progress));
        }
        let sent = request
            .table_name(&self.table)
            .set_key(Some(rows::job_key(id)))
            .update_expression(update)
            .condition_expression("#status = :running AND attempt = :attempt AND worker = :worker")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":running", text("RUNNING"))
            .expression_attribute_values(":attempt", number(attempt))
            .expression_attribute_values(":worker", text(worker.as_str()))
            .expression_attribute_values(":now", text(now.to_string()))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match sent {
            Ok(done) => {
                tally::note(done.consumed_capacity());
                let item = done.attributes().cloned().unwrap_or_default();
                Ok(Beaten::Noted(Box::new(rows::read_job(&item)?)))
            }
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(lost)) => {
                    tally::note([]);
                    let job = lost.item().map(rows::read_job).transpose()?;
                    Ok(Beaten::Refused(job.map(Box::new)))
                }
                _ => Err(Failure::new("note a heartbeat", error)),
            },
        }
    }

    /// Notes that everyone was told of a job's end. Repeating it changes nothing.
    pub async fn settled(&self, job: &Job) -> Result<(), Failure> {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(rows::job_key(&job.id)))
            .update_expression("SET settled = :yes REMOVE gsi2pk, gsi2sk")
            .condition_expression("v = :v")
            .expression_attribute_values(
                ":yes",
                aws_sdk_dynamodb::types::AttributeValue::Bool(true),
            )
            .expression_attribute_values(":v", number(job.version))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        settle("note that a job is settled", sent, UpdateItemOutput::consumed_capacity)
    }

    /// Changes of a job after the version `after`, oldest first.
    pub async fn trail(
        &self,
        id: &JobId,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<Record>, Failure> {
        let from = after.and_then(|position| position.parse().ok()).unwrap_or(0_u64);
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk AND sk BETWEEN :from AND :to")
            .expression_attribute_values(":pk", text(rows::job_pk(id)))
            .expression_attribute_values(":from", text(rows::event_sk(from + 1)))
            .expression_attribute_values(":to", text("event#~"))
            .limit(limit)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|cause| Failure::new("read the trail", cause))?;
        tally::note(found.consumed_capacity());
        let items =
            found.items().iter().map(rows::read_record).collect::<Result<Vec<Record>, _>>()?;
        let more = found.last_evaluated_key().is_some();
        let next = items.last().filter(|_| more).map(|record| record.version.to_string());
        Ok(Page { items, next })
    }

    async fn get(&self, key: Item, action: &'static str) -> Result<Option<Item>, Failure> {
        reading::get(&self.client, &self.table, key, action).await
    }

    async fn get_all(&self, keys: Vec<Item>, action: &'static str) -> Result<Vec<Item>, Failure> {
        reading::get_all(&self.client, &self.table, keys, action).await
    }
}

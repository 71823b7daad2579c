//! Who waits for whom.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemOutput;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use domain::Failure;
use domain::jobs::JobId;

use super::{Jobs, rows};
use crate::row::{key, text};
use crate::settle::settle;
use crate::tally;

/// A job that waits for another.
pub type Child = JobId;

/// Edges read at once.
const PAGE: i32 = 100;

impl Jobs {
    /// Jobs that wait for `parent` and were not told of its end; at most a hundred, so ask again.
    pub async fn children(&self, parent: &JobId) -> Result<Vec<Child>, Failure> {
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk AND begins_with(sk, :child)")
            .expression_attribute_values(":pk", text(rows::job_pk(parent)))
            .expression_attribute_values(":child", text("child#"))
            .limit(PAGE)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|cause| Failure::new("read who waits for the job", cause))?;
        tally::note(found.consumed_capacity());
        Ok(found.items().iter().filter_map(rows::child_of).collect())
    }

    /// Forgets an edge that there is nothing to do about.
    pub async fn forget_child(&self, parent: &JobId, child: &JobId) -> Result<(), Failure> {
        let sent = self
            .client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(key(&rows::job_pk(parent), &rows::child_sk(child))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        settle("forget who waited for the job", sent, DeleteItemOutput::consumed_capacity)
    }
}
